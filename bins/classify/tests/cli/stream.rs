//! Lines that pass.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{Read as _, Write as _},
    os::fd::OwnedFd,
};

use nix::{fcntl::OFlag, unistd::pipe2};
use serde_json::{Value, json};
use tests::{Running, Scene, lines, root};

use crate::{TABLE, classify, clean, ended, fed};

const ONE: &str = "{\"event\":\"gate_opened\"}\n";

#[test]
fn c01_the_table_passes_with_its_urgencies() {
    for (urgency, lines) in TABLE {
        let want = lines.replace("}\n", &format!(",\"urgency\":\"{urgency}\"}}\n"));
        assert_eq!(clean(&[], lines), want);
    }
}

#[test]
fn c01_every_event_that_a_program_ships_is_classified() {
    let mut seen = BTreeMap::new();
    for tool in tests::tools() {
        let Ok(folder) = fs::read_dir(root().join(format!("bins/{tool}/events"))) else { continue };
        for path in folder.map(|entry| entry.unwrap().path()) {
            let line = fs::read_to_string(&path).unwrap();
            seen.insert(path, line.trim_end().to_owned());
        }
    }
    assert!(!seen.is_empty());
    let input: String = seen.values().flat_map(|line| [line, "\n"]).collect();
    let passed = lines(clean(&[], input).as_bytes());
    let lines: usize = seen.values().map(|line| line.lines().count()).sum();
    assert_eq!(passed.len(), lines, "an example is no line");
    let unknown: Vec<&Value> =
        passed.iter().filter(|line| line.get("unclassified") == Some(&Value::Bool(true))).collect();
    assert!(unknown.is_empty(), "no rule in bins/classify/src/builtin.json for {unknown:#?}");
}

#[test]
fn c02_what_is_unknown_is_a_warning() {
    let input = concat!(
        r#"{"event":"heartbeat_warning","severity":"panic"}"#,
        "\n",
        r#"{"event":"heartbeat_warning"}"#,
        "\n",
        r#"{"event":"ci_status","conclusion":"frobnicated"}"#,
        "\n",
        r#"{"event":"x"}"#,
        "\n",
        r#"{"event":7}"#,
        "\n",
        "{}\n",
    );
    let passed = clean(&[], input);
    assert!(passed.ends_with("\n{\"urgency\":\"warning\",\"unclassified\":true}\n"), "{passed}");
    let passed = lines(passed.as_bytes());
    assert_eq!(passed.len(), 6);
    for line in passed {
        assert_eq!((&line["urgency"], &line["unclassified"]), (&"warning".into(), &true.into()));
    }
}

#[test]
fn c03_bytes_stay_as_they_came() {
    let line =
        r#"{"b":18446744073709551615,"a":1.0,"e":1e400,"event":"gate_opened","s":"\u0041\/" "#;
    let passed = clean(&[], format!("{line}}}\r\n"));
    assert_eq!(passed, format!("{line},\"urgency\":\"immediate\"}}\r\n"));
}

/// What `jq` is known to print otherwise, and separators that some readers take for a newline.
#[test]
fn cl10_the_bytes_of_numbers_and_strings_pass() {
    for value in [
        "100000000000000000000",
        "1E2",
        "1.000",
        "-0",
        "0.1e-400",
        "1e1000",
        "3.0",
        "[1.10, 2]",
        "\"\\u00e9\\ud800\"",
        "\"\u{2028}\u{85}\u{7f}\"",
        "\"<\\/>\"",
        "{\"b\":1,\"a\":{}, \"b\" : 2}",
    ] {
        let passed = clean(&[], format!("{{\"event\":\"gate_opened\",\"v\":{value}}}\n"));
        assert_eq!(
            passed,
            format!("{{\"event\":\"gate_opened\",\"v\":{value},\"urgency\":\"immediate\"}}\n")
        );
    }
}

#[test]
fn c04_twice_is_once() {
    let all: String = TABLE.iter().map(|(_, lines)| *lines).collect();
    let once = clean(&[], all);
    assert_eq!(clean(&[], &once), once);
    let passed = clean(&[], "{\"urgency\":\"info\",\"event\":\"gate_opened\"}\n");
    assert_eq!(passed, "{\"urgency\":\"immediate\",\"event\":\"gate_opened\"}\n");
}

#[test]
fn c05_nested_keys_are_nobodys() {
    let input = concat!(
        r#"{"event":"gate_opened","p":{"event":"x","urgency":"info"}}"#,
        "\n",
        r#"{"event":"x","event":"gate_opened"}"#,
        "\n",
    );
    assert_eq!(clean(&[], input), input.replace("}\n", ",\"urgency\":\"immediate\"}\n"));
}

// jqlang/jq#1492: a bad line ended the filter.
#[test]
fn c06_cl04_bad_lines_are_counted_and_good_ones_pass() {
    let long = format!("{{\"a\":\"{}\"}}\n", "x".repeat(5_000_000));
    let bad: [&[u8]; 6] =
        [b"{bad\n", b"[1]\n", b"\"x\"\n", b"\xff\n", b"{\"a\":\"\0\"}\n", long.as_bytes()];
    let input = [ONE.as_bytes(), &bad.concat(), ONE.as_bytes()].concat();
    let output = fed(&mut classify(&[]), input);
    assert_eq!((output.status.code(), &*output.stderr), (Some(0), &b""[..]));
    let passed = lines(&output.stdout);
    let names: Vec<&str> = passed.iter().map(|line| line["event"].as_str().unwrap()).collect();
    assert_eq!(names, ["gate_opened", "input_malformed", "gate_opened", "input_malformed"]);
    let notice = |at: usize| json!([passed[at]["reason"], passed[at]["count"], passed[at]["line"]]);
    assert_eq!(notice(1), json!(["not_json", 1, 2]));
    assert_eq!(notice(3), json!(["not_object", 5, 3]));
    assert_eq!(passed[1]["urgency"], "warning");
    assert_ne!(passed[1]["id"], passed[3]["id"]);
}

#[test]
fn c07_what_is_below_min_is_left_out() {
    let all: String = TABLE.iter().map(|(_, lines)| *lines).collect();
    for (min, words) in [("warning", &["immediate", "warning"][..]), ("immediate", &["immediate"])]
    {
        let passed = lines(clean(&["--min", min], &all).as_bytes());
        let count = TABLE.iter().filter(|(word, _)| words.contains(word));
        assert_eq!(passed.len(), count.map(|(_, lines)| lines.lines().count()).sum::<usize>() + 1);
        for line in passed {
            assert!(
                words.contains(&line["urgency"].as_str().unwrap()) || line["event"] == "reading"
            );
        }
    }
}

#[test]
fn blank_lines_and_a_byte_order_mark_go_and_a_last_line_needs_no_newline() {
    let input = format!("\u{feff}{ONE}\n \t\r\n{}", ONE.trim_end());
    let want = "{\"event\":\"gate_opened\",\"urgency\":\"immediate\"}\n";
    assert_eq!(clean(&[], input), want.repeat(2));
    assert_eq!(clean(&[], ""), "");
}

#[test]
fn a_longer_line_passes_whole_when_it_is_allowed() {
    let line = format!("{{\"event\":\"gate_opened\",\"a\":\"{}\"", "x".repeat(3_000_000));
    let passed = clean(&["--max-line", "4M"], format!("{ONE}{line}}}\n{ONE}"));
    assert_eq!(lines(passed.as_bytes()).len(), 3);
    assert!(passed.contains(&format!("{line},\"urgency\":\"immediate\"}}\n")));
    let (_, passed, _) = ended(&fed(&mut classify(&["--max-line=4K"]), "x".repeat(4097)));
    assert!(passed.contains(r#""reason":"too_long","count":1,"line":1"#), "{passed}");
}

#[test]
fn depth_is_no_danger() {
    let deep = |close: &str| {
        let (open, close) = ("[".repeat(500_000), close.repeat(500_000));
        format!("{{\"event\":\"gate_opened\",\"a\":{open}{close}}}\n")
    };
    let passed = clean(&["--max-line", "2M"], deep("]") + &deep("}") + ONE);
    let tail = passed.lines().skip(1).collect::<Vec<_>>().join("\n");
    let tail = lines(tail.as_bytes());
    assert_eq!(
        (&tail[0]["reason"], &tail[1]["event"]),
        (&"not_json".into(), &"gate_opened".into())
    );
    assert!(passed.starts_with("{\"event\":\"gate_opened\",\"a\":[[["));
}

#[test]
fn c16_a_line_is_told_at_once() {
    let mut run = Running::start(&mut classify(&[]));
    let mut stdin = run.stdin().unwrap();
    for _ in 0..3 {
        stdin.write_all(ONE.as_bytes()).unwrap();
        assert_eq!(run.event("gate_opened")["urgency"], "immediate");
    }
    // Half a line waits for its other half.
    stdin.write_all(b"{\"event\":").unwrap();
    stdin.write_all(b"\"gate_changed\"}\n").unwrap();
    assert_eq!(run.event("gate_changed")["urgency"], "info");
    drop(stdin);
    let ended = run.end();
    assert_eq!((ended.code, ended.lines.len(), &*ended.stderr), (Some(0), 0, ""));
}

/// A pipe whose every read is one write of the other end.
fn packets() -> (File, OwnedFd) {
    let (reader, writer) = pipe2(OFlag::O_DIRECT | OFlag::O_CLOEXEC).unwrap();
    (reader.into(), writer)
}

#[test]
fn lines_share_a_write_whole_and_a_longer_one_leaves_alone() {
    let scene = Scene::new();
    let long = format!("{{\"event\":\"gate_opened\",\"a\":\"{}\"}}\n", "x".repeat(9000));
    scene.write("in", format!("{}{long}{ONE}{}", TABLE[0].1, TABLE[1].1));
    let (mut reader, writer) = packets();
    let input = File::open(scene.join("in")).unwrap();
    let mut child = classify(&[]).stdin(input).stdout(writer).spawn().unwrap();
    let (mut seen, mut piece) = (Vec::new(), [0; 8192]);
    loop {
        let n = reader.read(&mut piece).unwrap();
        if n == 0 {
            break;
        }
        assert!(n <= 4096);
        seen.push(String::from_utf8(piece[..n].to_vec()).unwrap());
    }
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let begins = seen.iter().position(|write| write.contains("xxx")).unwrap();
    assert!(seen[begins - 1].ends_with("}\n") && seen[begins].starts_with("{\"event\""));
    assert!(seen[begins + 2].ends_with("x\",\"urgency\":\"immediate\"}\n"));
    seen.drain(begins..begins + 3);
    assert!(seen.iter().all(|write| write.starts_with('{') && write.ends_with("}\n")));
    let lines: usize = seen.iter().map(|write| write.lines().count()).sum();
    assert_eq!(lines, 1 + TABLE[0].1.lines().count() + TABLE[1].1.lines().count());
    assert!(seen.len() < lines / 4, "{} writes for {lines} lines", seen.len());
}

#[test]
fn own_lines_have_the_source_that_was_given() {
    let (code, passed, _) = ended(&fed(&mut classify(&["--source", "sorter"]), "bad\n"));
    assert_eq!(code, 0);
    assert!(passed.contains(r#""source":"sorter","reason":"not_json""#), "{passed}");
}
