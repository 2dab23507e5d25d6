//! A hash of a JSON text by what it means: blanks, the order of keys and the spelling of strings
//! make no difference.
//!
//! It is kept in cursor files, so it must stay the same from release to release. Nesting is
//! followed without recursion.

use std::borrow::Cow;

/// FNV-1a's start, and the factor of each step.
const START: u64 = 0xcbf2_9ce4_8422_2325;
const FACTOR: u64 = 0x0100_0000_01b3;

/// The hash of some bytes.
#[must_use]
pub fn of_bytes(bytes: &[u8]) -> u64 {
    spread(hash(START, bytes))
}

/// The hash of a text that is known to be JSON.
#[must_use]
pub fn of_json(text: &str) -> u64 {
    let mut levels = vec![Level::new(b'[')];
    let mut rest = text;
    while let Some(&byte) = rest.as_bytes().first() {
        let (token, after) = rest.split_at(token_len(rest.as_bytes()));
        rest = after;
        match byte {
            b'{' | b'[' => levels.push(Level::new(byte)),
            b'}' | b']' => {
                let inner = levels.pop().map_or(START, |level| spread(level.hash));
                add(&mut levels, inner);
            }
            b'"' => add(&mut levels, spread(hash(START ^ 1, spelled(token).as_bytes()))),
            b' ' | b'\t' | b'\n' | b'\r' | b',' | b':' => {}
            _ => add(&mut levels, of_bytes(token.as_bytes())),
        }
    }
    levels.pop().map_or(START, |level| spread(level.hash))
}

/// An array or object that has begun.
#[derive(Clone, Copy)]
struct Level {
    hash: u64,
    is_object: bool,
    key: Option<u64>,
}

impl Level {
    fn new(opening: u8) -> Self {
        Self { hash: hash(START, &[opening]), is_object: opening == b'{', key: None }
    }
}

/// Adds a key or a value to the innermost level: in an array by its place, in an object by its
/// key.
fn add(levels: &mut [Level], value: u64) {
    let Some(level) = levels.last_mut() else { return };
    match level.key.take() {
        Some(key) => {
            let pair = spread(hash(hash(START, &key.to_le_bytes()), &value.to_le_bytes()));
            level.hash = level.hash.wrapping_add(pair);
        }
        None if level.is_object => level.key = Some(value),
        None => level.hash = hash(level.hash, &value.to_le_bytes()),
    }
}

/// The length of the token that `bytes` begin with.
fn token_len(bytes: &[u8]) -> usize {
    match bytes.first() {
        Some(b'"') => {
            let mut escaped = false;
            let closing = bytes.iter().skip(1).position(|byte| {
                let closes = *byte == b'"' && !escaped;
                escaped = *byte == b'\\' && !escaped;
                closes
            });
            closing.map_or(bytes.len(), |at| at + 2)
        }
        Some(b'-' | b'0'..=b'9' | b'a'..=b'z') => {
            let ends = |byte: &u8| !byte.is_ascii_alphanumeric() && !b"+-.".contains(byte);
            bytes.iter().position(ends).unwrap_or(bytes.len())
        }
        // Of a text that isn't JSON after all, a character is a token.
        _ => 1 + bytes.iter().skip(1).take_while(|byte| **byte & 0xc0 == 0x80).count(),
    }
}

/// What a string token says, however it is escaped.
fn spelled(token: &str) -> Cow<'_, str> {
    if token.contains('\\')
        && let Ok(text) = serde_json::from_str::<String>(token)
    {
        return Cow::Owned(text);
    }
    Cow::Borrowed(token.trim_matches('"'))
}

fn hash(start: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(start, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(FACTOR))
}

/// Lets every bit depend on every other, so that sums of hashes don't cancel out (`MurmurHash3`'s
/// last step).
fn spread(mut hash: u64) -> u64 {
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ (hash >> 33)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    #[test]
    fn meaning_counts_and_spelling_does_not() {
        let same = [
            r#"{"a":[1,true,null],"b":{"c":"x/y"}}"#,
            "{ \"b\" : {\"c\":\"x\\/y\"},\n\t\"a\": [ 1, true,null ] }\r\n",
            r#"{"a":[1,true,null],"\u0062":{"c":"\u0078/y"}}"#,
        ];
        for text in same {
            assert_eq!(of_json(text), of_json(same[0]), "{text}");
        }
        let different = [
            r#"{"a":[true,1,null],"b":{"c":"x/y"}}"#,
            r#"{"a":[1,true],"b":{"c":"x/y"}}"#,
            r#"{"a":[1,true,null],"b":["c","x/y"]}"#,
            r#"{"a":["1",true,null],"b":{"c":"x/y"}}"#,
            r#"{"a":[1,true,null,[]],"b":{"c":"x/y"}}"#,
            r#"{"b":[1,true,null],"a":{"c":"x/y"}}"#,
            r#"[{"a":[1,true,null],"b":{"c":"x/y"}}]"#,
        ];
        for text in different {
            assert_ne!(of_json(text), of_json(same[0]), "{text}");
        }
        assert_ne!(of_json(r#"{"a":1,"b":2}"#), of_json(r#"{"a":2,"b":1}"#));
        assert_ne!(of_json(r#"["a","b"]"#), of_json(r#"["ab"]"#));
    }

    #[test]
    fn depth_costs_nothing() {
        let deep = format!("{}{}", "[".repeat(400_000), "]".repeat(400_000));
        assert_ne!(of_json(&deep), of_json("[]"));
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            ".{0,6}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                proptest::collection::btree_map(".{0,4}", inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn equal_values_have_equal_hashes(one in value(), other in value()) {
            let compact = one.to_string();
            let pretty = serde_json::to_string_pretty(&one).unwrap();
            prop_assert_eq!(of_json(&compact), of_json(&pretty));
            prop_assert_eq!(of_json(&compact) == of_json(&other.to_string()), one == other);
        }

        #[test]
        fn any_text_has_a_hash(text in ".*") {
            let _ = of_json(&text);
        }
    }
}
