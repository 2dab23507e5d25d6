use super::*;

fn read(text: &str) -> Result<Entry, Fault> {
    let place = Place { offset: 7, base: Path::new("/b"), wall: 1000.0 };
    parse(text.as_bytes(), place)
}

fn spec(text: &str) -> Spec {
    match read(text) {
        Ok(Entry::Item(spec)) => *spec,
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_item_has_defaults_and_absolute_paths() {
    let spec = spec(r#"{"agent":"executor","step":10.5,"result_path":"r.md","x":[1]}"#);
    assert_eq!((&*spec.step, &*spec.result_path), ("10.5", "/b/r.md"));
    assert_eq!((spec.timeout, spec.reporting, spec.instance.len()), (None, Reporting::Filtered, 8));
}

#[test]
fn each_bad_field_is_named() {
    for (fields, field, reason) in [
        (r#""agent":"a b","step":"1""#, "agent", "bad_value"),
        (r#""agent":"../x","step":"1""#, "agent", "bad_value"),
        (r#""agent":".","step":"1""#, "agent", "bad_value"),
        (r#""step":"1""#, "agent", "missing"),
        (r#""agent":"a""#, "step", "missing"),
        (r#""agent":"a","step":[]"#, "step", "wrong_type"),
        (r#""agent":"a","step":"1","blind_phase":"no""#, "blind_phase", "wrong_type"),
        (r#""agent":"a","step":"1","timeout_sec":-1"#, "timeout_sec", "out_of_range"),
        (r#""agent":"a","step":"1","timeout_sec":1e400"#, "timeout_sec", "out_of_range"),
        (r#""agent":"a","step":"1","timeout_sec":"9""#, "timeout_sec", "wrong_type"),
        (r#""agent":"a","step":"1","started_at_epoch":1301"#, "started_at_epoch", "out_of_range"),
        (r#""agent":"a","step":"1","idle_stall_sec":0"#, "idle_stall_sec", "out_of_range"),
        (r#""agent":"a","step":"1","pane":"1""#, "pane", "bad_value"),
        (r#""agent":"a","step":"1","id":"a b""#, "id", "bad_value"),
        (r#""agent":"a","step":"1","pid_file":"""#, "pid_file", "bad_value"),
    ] {
        let line = format!(r#"{{"result_path":"r",{fields}}}"#);
        assert_eq!(read(&line), Err(fault(field, reason)), "{line}");
    }
    for (line, reason) in [("{", "not_json"), ("[]", "not_object"), ("{}", "unknown_line")] {
        assert_eq!(read(line), Err(Fault { field: None, reason }));
    }
}

#[test]
fn control_lines_are_told_apart_in_their_order() {
    assert_eq!(read(r#"{"shutdown_request":true,"ack":"x"}"#), Ok(Entry::Shutdown));
    assert_eq!(read(r#"{"ack":"stalled","agent":"a"}"#), Ok(Entry::Ack));
    let blind = Entry::Blind { on: true, agent: None, step: None };
    assert_eq!(read(r#"{"blind_phase":true}"#), Ok(blind));
    let unregister = read(r#"{"op":"unregister","agent":"a","step":5}"#);
    assert_eq!(unregister, Ok(Entry::Unregister(("a".to_owned(), "5".to_owned()))));
    let everywhere = read(r#"{"blind_phase":false,"step":"5"}"#);
    assert_eq!(everywhere, Err(fault("agent", "missing")));
}

#[test]
fn a_file_that_says_nothing_of_a_phase_ends_none() {
    let key = ("a".to_owned(), "1".to_owned());
    let item = r#"{"agent":"a","step":"1","result_path":"r","started_at_epoch":9}"#;
    let of = |lines: &[&str]| {
        let mut roster = Roster::default();
        for line in lines {
            roster.apply(read(line).unwrap()).unwrap();
        }
        roster
    };
    let on = r#"{"blind_phase":true}"#;
    for (again, blind) in [
        (&[item][..], true),
        (&[], true),
        (&[item, r#"{"blind_phase":false,"agent":"a"}"#], false),
        (&[r#"{"blind_phase":false}"#, item], false),
        (&[r#"{"shutdown_request":true}"#, item], false),
        (&[&item.replace("\"r\"", "\"r\",\"blind_phase\":false")], false),
    ] {
        let mut roster = of(&[item, on]);
        roster.merge(of(again), |_, _| ());
        assert_eq!(roster.items[&key].blind, blind, "{again:?}");
    }
    // Nor for those to come.
    let mut roster = of(&[on]);
    roster.merge(of(&[]), |_, _| ());
    roster.apply(read(item).unwrap()).unwrap();
    assert!(roster.items[&key].blind);
}

#[test]
fn what_stands_is_what_was_said_last() {
    let mut roster = Roster::default();
    let mut say = |line: &str| read(line).and_then(|entry| roster.apply(entry));
    let key = |agent: &str| (agent.to_owned(), "1".to_owned());
    let item = r#"{"agent":"a","step":"1","result_path":"r","started_at_epoch":9}"#;
    assert_eq!(say(item), Ok(Effect::Added(key("a"))));
    assert_eq!(say(item), Ok(Effect::Updated(key("a"), false)));
    assert_eq!(say(&item.replace("\"r\"", "\"s\"")), Ok(Effect::Updated(key("a"), true)));
    assert_eq!(say(&item.replace('9', "8")), Ok(Effect::Added(key("a"))));
    assert_eq!(say(r#"{"blind_phase":true,"agent":"b"}"#), Err(no_match()));
    assert_eq!(say(r#"{"blind_phase":true}"#), Ok(Effect::Blind(vec![key("a")])));
    assert_eq!(say(&item.replace("\"a\"", "\"b\"")), Ok(Effect::Added(key("b"))));
    assert_eq!(say(r#"{"op":"unregister","agent":"c","step":1}"#), Err(no_match()));
    assert_eq!(say(r#"{"shutdown_request":true}"#), Ok(Effect::Shutdown));
    assert_eq!(say(item), Ok(Effect::Added(key("a"))));
    assert!(!roster.items[&key("a")].blind);
}
