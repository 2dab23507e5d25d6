use serde_json::json;

use super::*;

fn line(more: &Value) -> Vec<u8> {
    let mut line = json!({"event": "reading", "source": "p", "subject": "s"});
    if let (Value::Object(line), Value::Object(more)) = (&mut line, more) {
        line.extend(more.clone());
    }
    line.to_string().into_bytes()
}

fn taken(more: &Value) -> Draft {
    reading(&line(more)).unwrap().draft
}

fn rule(more: &Value) -> String {
    reading(&line(more)).unwrap_err().rule
}

#[test]
fn the_example_of_the_page_is_read() {
    let text = br#"{"event":"reading","timestamp":"2026-04-08T14:10:00Z","source":"probe-watch","subject":"mail","kind":"basin-level","noun":"basin","look":17,"complete":true,"status":"actionable","reason":"","entries":[{"key":"level:high","severity":"wake","resets_on":"revision","brief":"120 litres"}],"facts":{"level":120,"at":100},"error":null}"#;
    let Part { draft, part, parts } = reading(text).unwrap();
    assert_eq!((part, parts, draft.number), (1, 1, 17));
    assert_eq!((&*draft.name.source, &*draft.name.kind), ("probe-watch", "basin-level"));
    assert_eq!((&*draft.noun, draft.status), ("basin", Some(Status::Actionable)));
    assert_eq!(draft.entries[0].engine_key(), "=level:high");
    let names: Vec<&str> = draft.facts.iter().map(|(name, _)| &**name).collect();
    assert_eq!(names, ["level", "at"]);
    assert_eq!((draft.error, draft.truncated, draft.complete), (None, false, true));
}

#[test]
fn what_is_absent_has_its_default() {
    let draft = taken(&json!({}));
    assert_eq!((&*draft.name.kind, draft.number, draft.complete), ("p", 0, true));
    assert_eq!((draft.status, draft.pending, &*draft.revision), (None, None, ""));
    let draft = taken(&json!({"source": "Build Host.1", "entries": [{"key": "k"}]}));
    assert_eq!((&*draft.name.source, &*draft.name.kind), ("Build_Host.1", "build-host-1"));
    let entry = &draft.entries[0];
    assert_eq!((entry.severity, entry.resets_on), (Severity::Wake, ResetsOn::Revision));
}

#[test]
fn e8_whatever_breaks_a_rule_is_a_failed_look() {
    for more in [
        json!({"status": "frob"}),
        json!({"status": 1}),
        json!({"kind": "No Kind"}),
        json!({"kind": 1}),
        json!({"noun": null}),
        json!({"look": 0}),
        json!({"look": "1"}),
        json!({"look": 1, "part": 2}),
        json!({"look": 1, "part": 1, "parts": 65}),
        json!({"part": 1, "parts": 2}),
        json!({"revision": 7}),
        json!({"complete": "no"}),
        json!({"reason": []}),
        json!({"pending": -1}),
        json!({"pending": 1.5}),
        json!({"pending": true}),
        json!({"entries": {}}),
        json!({"entries": ["k"]}),
        json!({"entries": [{}]}),
        json!({"entries": [{"key": ""}]}),
        json!({"entries": [{"key": "~x"}]}),
        json!({"entries": [{"key": "=x"}]}),
        json!({"entries": [{"key": "k", "severity": "info"}]}),
        json!({"entries": [{"key": "k", "resets_on": "always"}]}),
        json!({"entries": [{"key": "k", "brief": 1}]}),
        json!({"entries": [{"key": "k"}, {"key": "k"}]}),
        json!({"entries": vec![json!({"key": "k"}); 1001]}),
        json!({"facts": []}),
        json!({"error": "gone"}),
        json!({"error": {"kind": 1}}),
        json!({"error": {"attempted": 0}}),
        json!({"error": {"retry_at": "soon"}}),
        json!({"truncated": 1}),
    ] {
        let broken = reading(&line(&more)).unwrap_err();
        let look = broken.look().unwrap();
        assert_eq!((&*look.subject, look.status), ("s", Status::ProviderError), "{more}");
        let fault = look.failure().unwrap();
        assert_eq!((fault.kind, &*fault.reason), (FaultKind::Transient, "malformed"), "{more}");
    }
    assert!(rule(&json!({"pending": "many"})).contains("pending"));
    let both = json!({"entries": [{"key": "k"}, {"key": "k", "resets_on": "never"}]});
    assert_eq!(taken(&both).entries.len(), 2);
}

#[test]
fn a_line_that_names_nothing_is_no_look() {
    for text in [
        &br#"{"event":"reading","source":"p"}"#[..],
        br#"{"event":"reading","source":"p","subject":""}"#,
        br#"{"event":"reading","source":"p","subject":7}"#,
        br#"{"event":"reading","source":7,"subject":"s"}"#,
        br#"{"event":"reading","source":"p","subject":"s","pending":1e400}"#,
        br#"{"event":"reading","source":"p","subject":"s","pending":NaN}"#,
        b"[]",
        b"{",
    ] {
        assert_eq!(reading(text).unwrap_err().look(), None, "{}", String::from_utf8_lossy(text));
    }
    let huge = format!(r#"{{"source":"p","subject":"s","pending":1{}}}"#, "0".repeat(400));
    assert_eq!(reading(huge.as_bytes()).unwrap_err().look(), None);
}

#[test]
fn p14_long_names_stay_apart() {
    let long = |end: &str| format!("{}{end}", "é".repeat(120));
    let keys = [long("a"), long("b")];
    let draft = taken(&json!({
        "subject": keys[0], "revision": long("r"),
        "entries": [{"key": keys[0]}, {"key": keys[1]}],
    }));
    assert!(draft.name.subject.len() <= 200 && draft.revision.len() <= 128);
    let [a, b] = [&draft.entries[0].key, &draft.entries[1].key];
    assert!(a != b && a.len() <= 200 && b.len() <= 200);
}

#[test]
fn words_are_folded() {
    let draft = taken(&json!({"reason": "Not so-good", "error": {"kind": "odd", "reason": "9 x"}}));
    assert_eq!(draft.reason, "_ot_so_good");
    let fault = draft.error.unwrap();
    assert_eq!((fault.kind, &*fault.reason), (FaultKind::Transient, "__x"));
    let draft = taken(&json!({"reason": "x".repeat(60), "error": {"kind": "not_found"}}));
    assert_eq!(draft.reason.len(), 40);
    let fault = draft.error.unwrap();
    assert_eq!((&*fault.reason, fault.attempted), ("not_found", true));
}

#[test]
fn p23_hostile_text_is_cleaned_redacted_and_cut() {
    let hostile = format!("\u{1b}[31mhttp://me:secret@host\n{}", "x".repeat(300));
    let draft = taken(&json!({
        "noun": hostile, "entries": [{"key": "k", "brief": hostile}],
        "facts": {"a\nb": hostile, "deep": [{"x": hostile}]},
        "error": {"detail": hostile},
    }));
    let brief = &draft.entries[0].brief;
    let detail = draft.error.unwrap().detail;
    let facts = format!("{:?}", draft.facts);
    for (text, most) in [(&draft.noun, 40), (brief, 240), (&detail, 120), (&facts, 2000)] {
        assert!(
            text.len() <= most && !text.contains("secret") && !text.contains('\u{1b}'),
            "{text}"
        );
        assert!(!text.contains('\n') && !text.contains("\\n"), "{text}");
    }
    assert!(draft.truncated);
}

#[test]
fn facts_that_do_not_fit_are_left_out() {
    let draft = taken(&json!({"facts": {"a": "x".repeat(2000), "b": 1}}));
    assert_eq!(draft.facts, [("b".to_owned(), Value::from(1))]);
    assert!(draft.truncated && !taken(&json!({"facts": {"b": 1}})).truncated);
}

const FIELDS: [&str; 2] = ["z", "y"];

fn answered(text: &str) -> Result<Draft, Broken> {
    let fields = FIELDS.map(str::to_owned);
    let frame = Frame { source: "probe-watch", kind: "basin", noun: "a basin", fields: &fields };
    answer(text.as_bytes(), &frame)
}

#[test]
fn an_answer_has_its_name_from_the_probe() {
    let text = r#"{"subject":"s","kind":"else","facts":{"a":1,"y":2,"z":3}}"#;
    let draft = answered(text).unwrap();
    assert_eq!((&*draft.name.source, &*draft.name.kind), ("probe-watch", "basin"));
    let names: Vec<&str> = draft.facts.iter().map(|(name, _)| &**name).collect();
    assert_eq!((&*draft.noun, names), ("a basin", vec!["z", "y", "a"]));
}

#[test]
fn p22_a_probe_does_not_decide() {
    for key in DECISIONS {
        let broken = answered(&format!(r#"{{"subject":"s","{key}":"wake"}}"#)).unwrap_err();
        assert!(broken.rule.contains(key) && broken.name.is_some());
    }
}

#[test]
fn p13_a_failed_answer_has_no_entries_and_a_partial_one_keeps_them() {
    let entries = r#""entries":[{"key":"k"}]"#;
    let error = r#""error":{"kind":"transient"}"#;
    assert!(answered(&format!(r#"{{"subject":"s",{entries},{error}}}"#)).is_err());
    let told = r#""status":"provider_error""#;
    assert!(answered(&format!(r#"{{"subject":"s",{told},{entries}}}"#)).is_err());
    let partial = format!(r#"{{"subject":"s","complete":false,{entries},{error}}}"#);
    let look = settle(answered(&partial).unwrap());
    assert_eq!((look.status, look.entries.len()), (Status::Actionable, 1));
}
