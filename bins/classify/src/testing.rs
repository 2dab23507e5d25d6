//! Generators that several modules' tests share.

use proptest::{prelude::*, sample::select};

/// A JSON object as it may stand in a line: odd spacing, escapes, doubled keys, numbers that no
/// type holds, nested values.
pub(crate) fn object() -> impl Strategy<Value = Vec<u8>> {
    let members = proptest::collection::vec((key(), value()), 0..6);
    (members, space(), space()).prop_map(|(members, before, after)| {
        let members: Vec<String> =
            members.iter().map(|(key, value)| format!("{before}{key}{after}:{value}")).collect();
        format!("{before}{{{}{after}}}{before}", members.join(",")).into_bytes()
    })
}

/// One of a few keys, so that they meet, in several spellings.
pub(crate) fn key() -> impl Strategy<Value = String> {
    select(vec![
        r#""event""#,
        r#""\u0065vent""#,
        r#""state""#,
        r#""urgency""#,
        r#""\u0075rgency""#,
        r#""unclassified""#,
        r#""source""#,
        r#""a""#,
        r#""""#,
        r#""é\n""#,
        r#""a key that is longer than a word""#,
    ])
    .prop_map(str::to_owned)
}

/// A value with the space around it.
pub(crate) fn value() -> impl Strategy<Value = String> {
    let nested = scalar().prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3)
                .prop_map(|list| format!("[{}]", list.join(","))),
            proptest::collection::vec((key(), inner), 0..3).prop_map(|members| {
                let members: Vec<String> =
                    members.iter().map(|(key, value)| format!("{key}:{value}")).collect();
                format!("{{{}}}", members.join(", "))
            }),
        ]
    });
    (space(), nested, space()).prop_map(|(before, value, after)| format!("{before}{value}{after}"))
}

/// A value without parts.
pub(crate) fn scalar() -> impl Strategy<Value = String> {
    select(vec![
        "null",
        "true",
        "false",
        "0",
        "1",
        "1.0",
        "-1e400",
        "18446744073709551616",
        r#""""#,
        r#""*""#,
        r#""x""#,
        r#""\u0078""#,
        r#""reading""#,
        r#""gate_opened""#,
        r#""ci_status""#,
        r#""failure""#,
        r#""info""#,
        r#""a \"quoted\" text, {with} [all] of: it \\""#,
        r#""é \ud83d\ude00""#,
    ])
    .prop_map(str::to_owned)
}

fn space() -> impl Strategy<Value = &'static str> {
    prop_oneof![4 => Just(""), 1 => select(vec![" ", "\t", " \r", "  "])]
}
