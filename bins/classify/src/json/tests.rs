//! What is an object, and what `serde_json` says to the same bytes.

use proptest::prelude::*;
use serde_json::value::RawValue;

use super::*;

/// Members as text, or none when the line is no object.
type Found = Option<Vec<(Vec<u8>, Vec<u8>)>>;

fn ours(line: &[u8]) -> Found {
    let mut found = Vec::new();
    let member = |key: Raw<'_>, at: Range<usize>| {
        found.push((key.text(&mut Vec::new()).to_vec(), line[at].to_vec()));
    };
    let braces = object(line, &mut Nest::new(), member)?;
    assert_eq!((line[braces.open], line[braces.close]), (b'{', b'}'));
    assert_eq!(braces.empty, found.is_empty());
    Some(found)
}

/// Whether `serde_json` takes the line for an object, and its members, unless a key holds
/// half a surrogate pair, which it can't keep.
fn theirs(line: &[u8]) -> (bool, Found) {
    let whole = str::from_utf8(line).ok().and_then(|text| serde_json::from_str(text).ok());
    let Some(whole): Option<&RawValue> = whole else { return (false, None) };
    let found = crate::rules::members(whole).map(|members| {
        let members = members.into_iter();
        members.map(|(key, value)| (key.into_bytes(), value.get().into())).collect()
    });
    (whole.get().starts_with('{'), found)
}

#[test]
fn an_object_is_read_whole() {
    let member = |key: &str, value: &str| (key.as_bytes().to_vec(), value.as_bytes().to_vec());
    for (line, want) in [
        ("{}", vec![]),
        (" { \t} \r", vec![]),
        (r#"{"a":1}"#, vec![member("a", "1")]),
        (
            r#"{"a":1,"a" : [{"a":"}"}] , "\u0061":null }"#,
            vec![member("a", "1"), member("a", r#"[{"a":"}"}]"#), member("a", "null")],
        ),
        (r#"{"\ud83d\ude00\n\/é":-0.5E+12}"#, vec![member("\u{1f600}\n/é", "-0.5E+12")]),
    ] {
        assert_eq!(ours(line.as_bytes()), Some(want), "{line}");
    }
}

#[test]
fn what_is_almost_an_object_is_none() {
    for line in [
        "",
        " ",
        "{",
        "}",
        "{,}",
        r#"{"a"}"#,
        r#"{"a":}"#,
        r#"{"a":1,}"#,
        "{a:1}",
        "[1]",
        r#"{"a":1}}"#,
        r#"{"a":1} {}"#,
        r#"{"a":01}"#,
        r#"{"a":1.}"#,
        r#"{"a":.5}"#,
        r#"{"a":+1}"#,
        r#"{"a":1e}"#,
        r#"{"a":-}"#,
        r#"{"a":NaN}"#,
        r#"{"a":tru}"#,
        r#"{"a":nulll}"#,
        r#"{"a":"\x"}"#,
        r#"{"a":"\u12g4"}"#,
        r#"{"a":"\u123"#,
        r#"{"a":"b}"#,
        r#"{"a":[1}}"#,
        r#"{"a":{]}"#,
        r#"{"a":[1,]}"#,
        r#"{"a":{"b"}}"#,
        "{\"a\":\"\t\"}",
        "{\"a\":\"\0\"}",
        "\u{feff}{}",
        "{}\u{a0}",
        "{'a':1}",
    ] {
        assert_eq!(ours(line.as_bytes()), None, "{line}");
    }
    assert_eq!(ours(b"{\"a\":\"\xff\"}"), None);
    assert_eq!(ours(b"{\"a\":\"01234567\xed\xa0\x80\"}"), None);
    assert!(is_value(b"[1]") && is_value(b" \"x\" ") && !is_value(b"1 2") && !is_value(b""));
}

#[test]
fn half_a_pair_of_surrogates_equals_no_text() {
    for half in [r#"{"\ud800":1}"#, r#"{"\udc00x":1}"#, r#"{"\ud800\ud800":1}"#] {
        let [(key, _)] = &ours(half.as_bytes()).unwrap()[..] else { panic!("{half}") };
        assert!(str::from_utf8(key).is_err());
    }
}

#[test]
fn depth_costs_no_stack() {
    let deep = |open: &str, close: &str| {
        let line = format!("{{\"a\":{}1{}}}", open.repeat(200_000), close.repeat(200_000));
        ours(line.as_bytes()).map(|found| found.len())
    };
    assert_eq!(deep("[", "]"), Some(1));
    assert_eq!(deep("{\"b\":", "}"), Some(1));
    assert_eq!(deep("[", "}"), None);
}

/// Lines that are JSON, or were before a few bytes were changed.
fn nearly_json() -> impl Strategy<Value = Vec<u8>> {
    let words = [
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"",
        "\\",
        " ",
        "\t",
        "\r",
        "0",
        "-1",
        "1.5e3",
        "1e400",
        "true",
        "false",
        "null",
        "\"event\"",
        "\"\\u0065vent\"",
        "\"x\"",
        "\"a long string of text\"",
        "\\u00e9",
        "\\ud83d\\ude00",
        "é",
        "\u{2028}",
        "{\"a\":1}",
        "[1,{\"b\":[]}]",
        "\"k\":",
        ",\"event\":",
        "\n",
        "\0",
        "\u{7f}",
    ];
    let soup = proptest::collection::vec(proptest::sample::select(words.to_vec()), 0..12)
        .prop_map(|words| words.concat().into_bytes());
    let change = (any::<proptest::sample::Index>(), any::<u8>(), 0..4u8);
    let changes = proptest::collection::vec(change, 0..3);
    (prop_oneof![3 => crate::testing::object(), 1 => soup], changes).prop_map(
        |(mut line, changes)| {
            for (at, byte, kind) in changes {
                if line.is_empty() {
                    break;
                }
                let at = at.index(line.len());
                match kind {
                    0 => line[at] = byte,
                    1 => line.insert(at, b"{}[],:\"\\ 0eE+-.tn\n"[usize::from(byte) % 18]),
                    2 => line.truncate(at),
                    _ => drop(line.remove(at)),
                }
            }
            line
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn serde_json_reads_the_same(line in nearly_json()) {
        let (found, (is_object, members)) = (ours(&line), theirs(&line));
        prop_assert_eq!(found.is_some(), is_object, "{}", String::from_utf8_lossy(&line));
        prop_assert!(members.is_none() || found == members, "{}", String::from_utf8_lossy(&line));
        let text = str::from_utf8(&line).unwrap_or("\0");
        prop_assert_eq!(is_value(&line), serde_json::from_str::<&RawValue>(text).is_ok());
    }
}
