//! The table, the grammar of rules, and the same answers by a slower way.

use proptest::prelude::*;
use serde_json::value::RawValue;

use super::*;
use crate::rules::{self, members};

fn judge(rules: &str) -> Judge {
    Judge::new(&rules::parse(rules.as_bytes()).unwrap())
}

fn builtin() -> Judge {
    Judge::new(&rules::builtin().unwrap())
}

/// The urgency by rule; `None` is unclassified.
fn by_rule(judge: &mut Judge, line: &str) -> Option<Urgency> {
    judge.judge(line.as_bytes()).unwrap_or_else(|| panic!("no object: {line}")).rule
}

const TABLE: [(Urgency, &str); 3] = [
    (Urgency::Immediate, include_str!("../../tests/data/immediate.ndjson")),
    (Urgency::Warning, include_str!("../../tests/data/warning.ndjson")),
    (Urgency::Info, include_str!("../../tests/data/info.ndjson")),
];

#[test]
fn c01_every_rule_of_the_table_has_a_line_with_its_urgency() {
    let mut judge = builtin();
    for (urgency, lines) in TABLE {
        for line in lines.lines() {
            assert_eq!(by_rule(&mut judge, line), Some(urgency), "{line}");
        }
    }
    // Each rule decides at least one of them: without it that line is judged otherwise.
    let all = rules::builtin().unwrap();
    for without in 0..all.len() {
        let mut rest = all.clone();
        let rule = rest.remove(without);
        let mut judge = Judge::new(&rest);
        let differs = |(urgency, lines): (Urgency, &str)| {
            lines.lines().any(|line| by_rule(&mut judge, line) != Some(urgency))
        };
        assert!(TABLE.into_iter().any(differs), "{rule:?} decides nothing");
    }
}

#[test]
fn c02_what_no_rule_knows_is_a_warning_and_unclassified() {
    let mut judge = builtin();
    for line in [
        r#"{"event":"heartbeat_warning","severity":"panic"}"#,
        r#"{"event":"heartbeat_warning"}"#,
        r#"{"event":"ci_status","status":"completed","conclusion":"frobnicated"}"#,
        r#"{"event":"x"}"#,
        r#"{"event":7}"#,
        "{}",
        r#"{"event":"Gate_opened"}"#,
        r#"{"event":["gate_opened"]}"#,
        r#"{"event":"branch_divergence","severity":"WARNING"}"#,
        r#"{"event":"condition_raised","severity":null}"#,
    ] {
        let judged = judge.judge(line.as_bytes()).unwrap();
        assert_eq!((judged.rule, judged.urgency()), (None, Urgency::Warning), "{line}");
    }
}

#[test]
fn c05_the_top_level_counts_and_of_a_doubled_key_the_last() {
    let mut judge = builtin();
    for line in [
        r#"{"event":"gate_opened","p":{"event":"x","urgency":"info"}}"#,
        r#"{"event":"x","event":"gate_opened"}"#,
        r#"{"event":"x","\u0065v\u0065nt":"g\u0061te_opened"}"#,
        r#"{ "event" : "gate_opened" }"#,
    ] {
        assert_eq!(by_rule(&mut judge, line), Some(Urgency::Immediate), "{line}");
    }
    assert_eq!(by_rule(&mut judge, r#"{"event":"gate_opened","event":null}"#), None);
    // What the line before had doesn't linger.
    assert_eq!(by_rule(&mut judge, "{}"), None);
}

#[test]
fn c08_own_rules_come_first_and_a_last_one_for_everything_ends_the_table() {
    let both = |own: &str| {
        let mut rules = rules::parse(own.as_bytes()).unwrap();
        rules.extend(rules::builtin().unwrap());
        Judge::new(&rules)
    };
    let mut first = both(r#"[{"match":{"event":"gate_opened"},"urgency":"info"}]"#);
    assert_eq!(by_rule(&mut first, r#"{"event":"gate_opened"}"#), Some(Urgency::Info));
    assert_eq!(by_rule(&mut first, r#"{"event":"gate_resolved"}"#), Some(Urgency::Immediate));
    let mut all = both(r#"[{"match":{},"urgency":"info"}]"#);
    for line in [r#"{"event":"gate_opened"}"#, "{}", r#"{"event":"x"}"#] {
        assert_eq!(by_rule(&mut all, line), Some(Urgency::Info));
    }
}

#[test]
fn c11_null_fits_absent_and_a_star_fits_what_is_there() {
    let lines = [
        ("{}", true),
        (r#"{"conclusion":null}"#, true),
        (r#"{"conclusion":""}"#, false),
        (r#"{"conclusion":"x"}"#, false),
        (r#"{"conclusion":0}"#, false),
        (r#"{"conclusion":[]}"#, false),
        (r#"{"conclusion":"*"}"#, false),
    ];
    let mut null = judge(r#"[{"match":{"conclusion":null},"urgency":"info"}]"#);
    let mut star = judge(r#"[{"match":{"conclusion":"*"},"urgency":"info"}]"#);
    for (line, is_null) in lines {
        assert_eq!(by_rule(&mut null, line).is_some(), is_null, "{line}");
        assert_eq!(by_rule(&mut star, line).is_some(), !is_null, "{line}");
    }
}

// SigNoz/signoz#4970: a level that nobody knows was shown as information.
#[test]
fn cl01_an_unknown_level_is_never_info() {
    let mut judge = builtin();
    for level in ["", "info", "notice", "INFO", "debug"] {
        let line = format!(r#"{{"event":"heartbeat_warning","severity":"{level}"}}"#);
        assert_eq!(judge.judge(line.as_bytes()).unwrap().urgency(), Urgency::Warning, "{level}");
    }
}

// open-telemetry/opentelemetry-collector-contrib#13002: what a missing severity means is a choice.
#[test]
fn cl03_a_missing_severity_can_be_asked_for() {
    let mut judge = judge(r#"[{"match":{"event":"x","severity":null},"urgency":"immediate"}]"#);
    assert_eq!(by_rule(&mut judge, r#"{"event":"x"}"#), Some(Urgency::Immediate));
    assert_eq!(by_rule(&mut judge, r#"{"event":"x","severity":"low"}"#), None);
}

#[test]
fn cl09_the_events_of_the_original_scripts_are_as_urgent_as_they_were() {
    let mut judge = builtin();
    for (line, want) in [
        (r#"{"event":"heartbeat_warning","severity":"expired"}"#, Urgency::Immediate),
        (r#"{"event":"heartbeat_warning","severity":"warning"}"#, Urgency::Warning),
        (r#"{"event":"gate_resolved","gate_id":"HDR-007"}"#, Urgency::Immediate),
        (r#"{"event":"gate_opened","gate_id":"HDR-007"}"#, Urgency::Immediate),
        (
            r#"{"event":"ci_status","status":"completed","conclusion":"success"}"#,
            Urgency::Immediate,
        ),
        (
            r#"{"event":"ci_status","status":"completed","conclusion":"failure"}"#,
            Urgency::Immediate,
        ),
        (r#"{"event":"branch_divergence","severity":"critical"}"#, Urgency::Immediate),
        (r#"{"event":"branch_divergence","severity":"warning"}"#, Urgency::Warning),
        (r#"{"event":"state_committed","revision":41}"#, Urgency::Info),
    ] {
        assert_eq!(by_rule(&mut judge, line), Some(want), "{line}");
    }
}

#[test]
fn numbers_compare_as_text_and_strings_as_what_they_mean() {
    let mut judge = judge(
        r#"[{"match":{"a":[1.0,18446744073709551616,true]},"urgency":"info"},
            {"match":{"a":"é/"},"urgency":"warning"},{"match":{"a":[]},"urgency":"immediate"}]"#,
    );
    for (value, want) in [
        ("1.0", Some(Urgency::Info)),
        ("18446744073709551616", Some(Urgency::Info)),
        ("true", Some(Urgency::Info)),
        (r#""\u00e9\/""#, Some(Urgency::Warning)),
        (r#""é/""#, Some(Urgency::Warning)),
        ("1", None),
        ("1.00", None),
        ("1e0", None),
        ("false", None),
        (r#""1.0""#, None),
        (r#""true""#, None),
        ("[1.0]", None),
    ] {
        assert_eq!(by_rule(&mut judge, &format!(r#"{{"a":{value}}}"#)), want, "{value}");
    }
}

/// The first rule that fits, found without any table.
fn plainly(rules: &[Rule], line: &str) -> Option<Urgency> {
    let whole: &RawValue = serde_json::from_str(line).unwrap();
    let members = members(whole).unwrap();
    let text = |raw: &str| serde_json::from_str::<String>(raw).ok();
    let fits = |(key, wants): &(String, Vec<Want>)| {
        let value = members.iter().rev().find(|(known, _)| known == key);
        let value = value.map(|(_, raw)| raw.get()).filter(|raw| *raw != "null");
        wants.iter().any(|want| match want {
            Want::Nothing => value.is_none(),
            Want::Anything => value.is_some(),
            Want::Bare(bare) => value == Some(bare),
            Want::Text(want) => value.and_then(text).as_ref() == Some(want),
        })
    };
    rules.iter().find(|rule| rule.conditions.iter().all(fits)).map(|rule| rule.urgency)
}

fn some_rules() -> impl Strategy<Value = String> {
    let want = prop_oneof![
        3 => crate::testing::scalar(),
        1 => proptest::collection::vec(crate::testing::scalar(), 0..3)
            .prop_map(|list| format!("[{}]", list.join(",")))
    ];
    let condition = (crate::testing::key(), want).prop_map(|(key, want)| format!("{key}:{want}"));
    let urgency = proptest::sample::select(vec!["info", "warning", "immediate"]);
    let rule = (proptest::collection::vec(condition, 0..3), urgency).prop_map(|(all, urgency)| {
        format!(r#"{{"match":{{{}}},"urgency":"{urgency}"}}"#, all.join(","))
    });
    proptest::collection::vec(rule, 0..6).prop_map(|rules| format!("[{}]", rules.join(",")))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn the_tables_change_no_answer(
        text in some_rules(),
        lines in proptest::collection::vec(crate::testing::object(), 1..4),
    ) {
        let rules = rules::parse(text.as_bytes()).unwrap();
        let mut judge = Judge::new(&rules);
        for line in lines {
            let line = String::from_utf8(line).unwrap();
            prop_assert_eq!(by_rule(&mut judge, &line), plainly(&rules, &line), "{} {}", text, line);
        }
    }
}
