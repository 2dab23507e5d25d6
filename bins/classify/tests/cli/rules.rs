//! `--rules` and `--print-rules`.

use serde_json::Value;
use tests::{Scene, lines};

use crate::{TABLE, classify, clean, ended, fed};

fn urgencies(args: &[&str], input: &str) -> Vec<Value> {
    lines(clean(args, input).as_bytes()).iter().map(|line| line["urgency"].clone()).collect()
}

#[test]
fn c08_rules_of_a_file_come_first() {
    let scene = Scene::new();
    let path = scene.join("rules.json");
    let args = ["--rules", path.to_str().unwrap()];
    scene.write("rules.json", r#"[{"match":{"event":"gate_opened"},"urgency":"info"}]"#);
    for (urgency, table) in TABLE {
        for (line, passed) in table.lines().zip(lines(clean(&args, table).as_bytes())) {
            let want = if passed["event"] == "gate_opened" { "info" } else { urgency };
            assert_eq!(passed["urgency"], want, "{line}");
        }
    }
    scene.write(
        "rules.json",
        r#"[{"match":{"event":"gate_opened"},"urgency":"info"},{"match":{},"urgency":"info"}]"#,
    );
    for (_, table) in TABLE {
        assert!(urgencies(&args, table).iter().all(|urgency| urgency == "info"));
    }
    // The notice of a bad line is a line like any other.
    assert_eq!(urgencies(&args, "bad\n"), ["info"]);
}

#[test]
fn c09_bad_rules_are_named() {
    let scene = Scene::new();
    let path = scene.join("rules.json");
    for (text, words) in [
        (r#"[{"mach":{},"urgency":"info"}]"#, &["rule 1", "mach", "match, urgency and note"][..]),
        (r#"[{"match":{},"urgency":"high"}]"#, &["rule 1", "high", "immediate, warning and info"]),
        ("nonsense", &["not a JSON array of rules"]),
        (&" ".repeat((1 << 20) + 1), &["1 MiB"]),
    ] {
        scene.write("rules.json", text);
        let (code, stdout, stderr) =
            ended(&fed(&mut classify(&["--rules", path.to_str().unwrap()]), "{}\n"));
        assert_eq!((code, &*stdout), (1, ""), "{stderr}");
        assert!(stderr.contains(path.to_str().unwrap()), "{stderr}");
        assert!(words.iter().all(|word| stderr.contains(word)), "{stderr}");
        assert_eq!(stderr.matches('\n').count(), 1, "{stderr}");
    }
    for missing in ["none.json", "."] {
        let missing = scene.join(missing);
        let args = ["--rules", missing.to_str().unwrap()];
        let (code, stdout, stderr) = ended(&fed(&mut classify(&args), "{}\n"));
        assert_eq!(code, 4);
        let named = format!("classify: fatal: unable to read {}: ", missing.display());
        assert!(stderr.starts_with(&named), "{stderr}");
        // A reader of the stream hears of it; a reader of a table or a report gets none.
        let told = lines(stdout.as_bytes());
        assert_eq!(
            (&told[0]["event"], &told[0]["exit_code"]),
            (&"monitor_failed".into(), &4.into())
        );
        assert_eq!(told[0]["urgency"], "immediate");
        for other in ["--print-rules", "--report"] {
            let (code, stdout, _) = ended(&fed(&mut classify(&[args[0], args[1], other]), ""));
            assert_eq!((code, &*stdout), (4, ""));
        }
    }
}

#[test]
fn of_a_file_without_end_no_more_is_read_than_may_be_used() {
    let (code, _, stderr) = ended(&fed(&mut classify(&["--rules", "/dev/zero"]), ""));
    assert_eq!(code, 1);
    assert!(stderr.contains("at most 1 MiB"), "{stderr}");
    let status = ["--report", "--status", "/dev/zero"];
    let (code, stdout, stderr) = ended(&fed(&mut classify(&status), ""));
    assert_eq!((code, &*stdout), (4, ""));
    assert!(stderr.contains("not the output of supervise status"), "{stderr}");
}

#[test]
fn c10_what_is_printed_judges_as_before() {
    let scene = Scene::new();
    let path = scene.join("rules.json");
    let table = clean(&["--print-rules"], "");
    assert_eq!(table, include_str!("../../src/builtin.json"));
    scene.write("rules.json", &table);
    for (urgency, lines) in TABLE {
        let args = ["--rules", path.to_str().unwrap()];
        assert!(urgencies(&args, lines).iter().all(|found| found == urgency));
    }
}

#[test]
fn c10_the_rules_of_a_file_are_printed_first_one_a_line() {
    let scene = Scene::new();
    let path = scene.join("rules.json");
    let args = ["--print-rules", "--rules", path.to_str().unwrap()];
    scene.write(
        "rules.json",
        "[{\"note\":\"n\",\n\"urgency\":\"info\", \"match\":{\"a\":[1.0]}}, {\"match\":{\"b\":null},\"urgency\":\"warning\"}]",
    );
    let printed = clean(&args, "");
    let first = concat!(
        "[\n{\"match\":{\"a\":1.0},\"urgency\":\"info\",\"note\":\"n\"},\n",
        "{\"match\":{\"b\":null},\"urgency\":\"warning\"},\n{\"match\":{\"event\":\"heartbeat_warning\"",
    );
    assert!(printed.starts_with(first), "{printed}");
    assert!(printed.ends_with(include_str!("../../src/builtin.json").split_once('\n').unwrap().1));
    // The table that a rule for everything switches off isn't in force.
    scene.write("rules.json", r#"[{"match":{},"urgency":"info"}]"#);
    assert_eq!(clean(&args, ""), "[\n{\"match\":{},\"urgency\":\"info\"}\n]\n");
}

#[test]
fn c11_null_and_star() {
    let scene = Scene::new();
    let path = scene.join("rules.json");
    let input = "{}\n{\"conclusion\":null}\n{\"conclusion\":\"\"}\n{\"conclusion\":\"x\"}\n";
    for (value, want) in
        [("null", [true, true, false, false]), ("\"*\"", [false, false, true, true])]
    {
        let rule = format!(r#"[{{"match":{{"conclusion":{value}}},"urgency":"info"}}]"#);
        scene.write("rules.json", rule);
        let found = urgencies(&["--rules", path.to_str().unwrap()], input);
        assert_eq!(found.iter().map(|urgency| urgency == "info").collect::<Vec<_>>(), want);
    }
}
