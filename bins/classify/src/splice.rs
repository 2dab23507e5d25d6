//! Writes keys into an object whose other bytes stay as they are.

use std::ops::Range;

use crate::json::Braces;

/// A key to write.
#[derive(Debug, Clone)]
pub struct Key<'a> {
    /// Its name, which needs no escapes.
    pub name: &'static str,
    /// Its value, JSON.
    pub value: &'a [u8],
    /// The value that is there already, to be replaced.
    pub at: Option<Range<usize>>,
}

/// Appends `line` to `out`: the values of `keys` that are there replaced, the other keys before
/// the closing brace.
pub fn splice<const N: usize>(
    line: &[u8],
    braces: Braces,
    mut keys: [Option<Key<'_>>; N],
    out: &mut Vec<u8>,
) {
    // Absent keys come after all that are there, in the order given.
    keys.sort_by_key(|key| match key {
        Some(Key { at: Some(at), .. }) => at.start,
        _ => braces.close,
    });
    let mut from = 0;
    let mut comma = !braces.empty;
    for key in keys.iter().flatten() {
        let at = key.at.clone().unwrap_or(braces.close..braces.close);
        out.extend(line.get(from..at.start).unwrap_or_default());
        from = at.end;
        if key.at.is_none() {
            if std::mem::replace(&mut comma, true) {
                out.push(b',');
            }
            out.push(b'"');
            out.extend(key.name.bytes());
            out.extend(b"\":");
        }
        out.extend(key.value);
    }
    out.extend(line.get(from..).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::json::{self, Nest};

    fn key(name: &'static str, value: &'static str, at: Option<Range<usize>>) -> Key<'static> {
        Key { name, value: value.as_bytes(), at }
    }

    fn spliced<const N: usize>(line: &[u8], keys: [Option<Key<'_>>; N]) -> String {
        let braces = json::object(line, &mut Nest::new(), |_, _| {}).unwrap();
        let mut out = Vec::new();
        splice(line, braces, keys, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn keys_go_in_place_or_before_the_brace() {
        for (line, a, b, want) in [
            ("{}", None, None, r#"{"a":1,"b":2}"#),
            (" { } \r", None, None, " { \"a\":1,\"b\":2} \r"),
            (r#"{"x":[{}] }"#, None, None, r#"{"x":[{}] ,"a":1,"b":2}"#),
            (r#"{"a": 7 }"#, Some(6..7), None, r#"{"a": 1 ,"b":2}"#),
            (r#"{"b":77}"#, None, Some(5..7), r#"{"b":2,"a":1}"#),
            (r#"{"b":77,"a":8}"#, Some(12..13), Some(5..7), r#"{"b":2,"a":1}"#),
        ] {
            assert_eq!(
                spliced(line.as_bytes(), [Some(key("a", "1", a)), Some(key("b", "2", b))]),
                want,
                "{line}"
            );
        }
        assert_eq!(spliced(b"{}", [None, Some(key("b", "2", None))]), r#"{"b":2}"#);
        assert_eq!(spliced(b"{ }\r", [None, None]), "{ }\r");
    }

    proptest! {
        #[test]
        fn no_other_byte_moves(line in crate::testing::object()) {
            let mut last = None;
            let braces = json::object(&line, &mut Nest::new(), |_, at| last = Some(at)).unwrap();
            let (name, value) = ("n", b"[1]".as_slice());
            let replaced = Key { name, value, at: last.clone() };
            let mut out = Vec::new();
            splice(&line, braces, [Some(Key { name, value, at: None }), Some(replaced)], &mut out);
            let at = last.unwrap_or(braces.close..braces.close);
            let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
            let (head, tail) = (text(&line[..at.start]), text(&line[braces.close..]));
            let middle = text(&line[at.end..braces.close]);
            let want = if braces.empty {
                format!(r#"{head}"n":[1],"n":[1]{tail}"#)
            } else {
                format!(r#"{head}[1]{middle},"n":[1]{tail}"#)
            };
            prop_assert_eq!(text(&out), want);
        }
    }
}
