use shared::reading::FaultKind;

use super::*;

const ROW: &str = r#"{"protocol":1,"kind":"basin","noun":"a basin","fields":["z","y"],"terminal_keys":{"full":"success","over":"success","burst":"blocked"}}"#;

fn judged(end: End, stdout: &str, stderr: &str, ids: &[&str]) -> Judged {
    let printed = Printed { end, stdout: stdout.into(), stderr: stderr.into() };
    let subject = |id: &&str| Subject {
        id: (*id).to_owned(),
        target: format!("https://{id}"),
        host: String::new(),
    };
    let subjects: Vec<Subject> = ids.iter().map(subject).collect();
    let asked: Vec<(&Subject, u64)> = subjects.iter().zip(7..).collect();
    judge(&printed, &asked, &Row::parse(ROW.as_bytes()).unwrap(), "probe-watch")
}

fn printed(stdout: &str, ids: &[&str]) -> Judged {
    judged(End::Exited(0), stdout, "", ids)
}

/// The one look that `line` is.
fn one(line: &str) -> Look {
    printed(line, &["A"]).looks.remove(0)
}

fn failure(look: &Look) -> Option<(FaultKind, &str)> {
    look.failure().map(|fault| (fault.kind, &*fault.reason))
}

#[test]
fn p01_a_subject_without_an_answer_was_not_seen() {
    let judged = printed("{\"subject\":\"A\"}\n{\"subject\":\"C\"}\n", &["A", "B", "C"]);
    let failures: Vec<_> = judged.looks.iter().map(failure).collect();
    assert_eq!(failures, [None, Some((FaultKind::Transient, "missing_result")), None]);
    let numbers: Vec<u64> = judged.looks.iter().map(|look| look.number).collect();
    assert_eq!(numbers, [7, 8, 9]);
    assert_eq!(judged.looks[0].noun, "a basin");
}

#[test]
fn p02_the_exit_status_says_nothing_of_those_who_have_an_answer() {
    let stdout = "{\"subject\":\"A\"}\n{\"subject\":\"B\"}";
    let looks = judged(End::Exited(1), stdout, "HTTP 404", &["A", "B", "C"]).looks;
    assert!(looks[0].is_whole() && looks[1].is_whole());
    assert_eq!(failure(&looks[2]), Some((FaultKind::NotFound, "not_found")));
}

#[test]
fn p03_p04_complaints_alone_tell_of_a_limit() {
    for stderr in ["API rate limit exceeded", "HTTP 403: You have exceeded a secondary rate limit"]
    {
        let looks = judged(End::Exited(1), "", stderr, &["A", "B"]).looks;
        let limited = |look: &Look| failure(look).is_some_and(|f| f.0 == FaultKind::RateLimited);
        assert!(looks.iter().all(limited), "{stderr}");
    }
}

#[test]
fn p05_lines_before_the_deadline_count_and_a_torn_one_does_not() {
    let stdout = "{\"subject\":\"A\"}\n{\"subject\":\"B\"}";
    let looks = judged(End::TimedOut, stdout, "", &["A", "B"]).looks;
    assert!(looks[0].is_whole());
    assert_eq!(failure(&looks[1]), Some((FaultKind::Transient, "timeout")));
}

#[test]
fn p13_p18_answers_that_break_a_rule_are_malformed() {
    let entry = |entry: &str| format!(r#"{{"subject":"A","entries":[{entry}]}}"#);
    let many = (0..1001).map(|n| format!(r#"{{"key":"k{n}"}}"#)).collect::<Vec<_>>().join(",");
    for line in [
        entry(r#"{"key":"fault:a"},{"key":"fault:a"}"#),
        entry(r#"{"key":"~x"}"#),
        entry(r#"{"key":"=x"}"#),
        entry(r#"{"key":""}"#),
        entry(r#"{"key":"a","severity":"info"}"#),
        entry(r#"{"key":"a","resets_on":"sometimes"}"#),
        entry(&many),
        entry("7"),
        r#"{"subject":"A","status":"frob"}"#.to_owned(),
        r#"{"subject":"A","pending":-1}"#.to_owned(),
        r#"{"subject":"A","complete":"yes"}"#.to_owned(),
        r#"{"subject":"A","facts":[]}"#.to_owned(),
        r#"{"subject":"A","status":"provider_error","entries":[{"key":"a"}]}"#.to_owned(),
    ] {
        assert_eq!(failure(&one(&line)), Some((FaultKind::Transient, "malformed")), "{line}");
    }
    assert!(one(&entry(r#"{"key":"a"},{"key":"a","resets_on":"never"}"#)).is_whole());
}

#[test]
fn p14_long_keys_stay_apart() {
    let key = |end: &str| format!("{}{end}", "x".repeat(219));
    let line = format!(
        r#"{{"subject":"A","entries":[{{"key":"{}"}},{{"key":"{}"}}]}}"#,
        key("a"),
        key("b")
    );
    let keys: Vec<String> = one(&line).entries.into_iter().map(|entry| entry.key).collect();
    assert!(keys.len() == 2 && keys[0] != keys[1]);
    assert!(keys.iter().all(|key| key.len() <= 200));
}

#[test]
fn p17_a_success_that_is_not_whole_is_none() {
    let look = one(r#"{"subject":"A","status":"success","complete":false,"facts":{"z":1}}"#);
    assert_eq!((look.status, &*look.reason), (Status::Pending, "incomplete"));
}

#[test]
fn p20_order_says_nothing() {
    let line = |entries: &str, facts: &str| {
        one(&format!(
            r#"{{"subject":"A","status":"blocked","entries":[{entries}],"facts":{{{facts}}}}}"#
        ))
        .fingerprint
    };
    let (a, b) = (r#"{"key":"a"}"#, r#"{"key":"b"}"#);
    assert_eq!(
        line(&format!("{a},{b}"), r#""n":1,"m":{"p":1,"q":2}"#),
        line(&format!("{b},{a}"), r#""m":{"q":2,"p":1},"n":1"#)
    );
}

#[test]
fn p22_a_probe_does_not_decide() {
    for key in ["event", "decision", "verdict"] {
        let judged = printed(&format!(r#"{{"subject":"A","{key}":"wake"}}"#), &["A"]);
        assert_eq!(failure(&judged.looks[0]), Some((FaultKind::Transient, "malformed")));
        assert_eq!(judged.broken.len(), 1);
        assert!(judged.broken[0].rule.contains(key), "{:?}", judged.broken);
    }
}

#[test]
fn p23_text_is_clean_redacted_and_short() {
    let hostile = format!(
        r#"{{"subject":"A","entries":[{{"key":"a","brief":"\u001b[31mred\u001b[0m\nat https://u:secret@h/ {}"}}],"facts":{{"y":"b\u2028c","z":"t ghp_{}","more":"{}"}}}}"#,
        "x".repeat(300),
        "a1B2".repeat(9),
        "y".repeat(2000),
    );
    let look = one(&hostile);
    let brief = &look.entries[0].brief;
    assert!(brief.starts_with(" red  at https://[redacted]@h/ x") && brief.len() <= 240, "{brief}");
    let facts: Vec<(&str, &str)> =
        look.facts.iter().map(|(name, value)| (&**name, value.as_str().unwrap())).collect();
    assert_eq!(facts, [("z", "t [redacted]"), ("y", "b c")]);
    assert!(look.truncated);
}

#[test]
fn p26_output_without_end_answers_nothing() {
    let judged = judged(End::Flooded, "y\ny\n", "", &["A"]);
    assert_eq!(failure(&judged.looks[0]), Some((FaultKind::Transient, "missing_result")));
    assert!(judged.broken.iter().any(|broken| broken.rule.contains("4194304")));
    let long =
        format!("{{\"subject\":\"A\",\"x\":\"{}\"}}\n{{\"subject\":\"B\"}}\n", "x".repeat(LINE));
    let looks = printed(&long, &["A", "B"]).looks;
    assert_eq!(failure(&looks[0]), Some((FaultKind::Transient, "missing_result")));
    assert!(looks[1].is_whole());
}

#[test]
fn the_first_answer_counts_and_one_nobody_asked_for_does_not() {
    let stdout = concat!(
        r#"{"subject":"A","reason":"first"}"#,
        "\n",
        r#"{"subject":"A","reason":"second"}"#,
        "\n",
        r#"{"subject":"Z"}"#,
        "\nnoise\nnoise\n"
    );
    let judged = printed(stdout, &["A"]);
    assert_eq!((judged.looks.len(), &*judged.looks[0].reason), (1, "first"));
    let subjects: Vec<&str> = judged.broken.iter().map(|broken| &*broken.subject).collect();
    assert_eq!(subjects, ["A", "Z", ""]);
}

#[test]
fn an_answers_own_error_counts() {
    let look =
        one(r#"{"subject":"A","error":{"kind":"rate_limited","retry_at":"2026-04-08T14:25:00Z"}}"#);
    let fault = look.failure().unwrap();
    assert_eq!((fault.kind, fault.attempted), (FaultKind::RateLimited, true));
    assert!(fault.retry_at.is_some());
    let partial = r#"{"subject":"A","complete":false,"pending":3,"entries":[{"key":"job:lint"}],"facts":{"status":"in_progress"},"error":{"kind":"transient","detail":"cut off"}}"#;
    let look = one(partial);
    assert_eq!((look.status, look.failure()), (Status::Actionable, None));
    assert!(!look.is_whole());
}

#[test]
fn terminal_keys_say_how_a_subject_ended() {
    let status = |keys: &[&str], rest: &str| {
        let entry = |key: &&str| format!(r#"{{"key":"{key}","severity":"terminal"}}"#);
        let entries = keys.iter().map(entry).collect::<Vec<_>>().join(",");
        one(&format!(r#"{{"subject":"A","entries":[{entries}]{rest}}}"#)).status
    };
    assert_eq!(status(&["full"], ""), Status::Success);
    assert_eq!(status(&["full", "over"], ""), Status::Success);
    assert_eq!(status(&["burst"], ""), Status::Blocked);
    assert_eq!(status(&["full", "burst"], ""), Status::Blocked);
    assert_eq!(status(&["never heard of"], ""), Status::Blocked);
    assert_eq!(status(&["burst"], r#","status":"success""#), Status::Blocked);
    assert_eq!(status(&["full"], r#","pending":2"#), Status::Pending);
}
