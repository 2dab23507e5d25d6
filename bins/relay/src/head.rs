//! What of a line matters: that it is a JSON object, and the few members that name it. Pure.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Serialize,
    de::{Deserializer, IgnoredAny, MapAccess, Visitor},
};
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

/// Why a line is no event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// It is no JSON value.
    NotJson,
    /// It is a JSON value of another type.
    NotObject,
    /// It isn't UTF-8.
    NotUtf8,
    /// It holds a NUL.
    Nul,
    /// It is longer than the server or the stream takes.
    TooLong,
}

/// The members that a subject or an identity is made of, where they are strings. Of a doubled
/// member the last counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Head<'a> {
    /// `source`.
    pub source: Option<Cow<'a, str>>,
    /// `event`.
    pub event: Option<Cow<'a, str>>,
    /// `urgency`.
    pub urgency: Option<Cow<'a, str>>,
    /// Whether there is an `id`.
    pub has_id: bool,
}

impl<'a> Head<'a> {
    /// Reads a line without its newline.
    ///
    /// # Errors
    ///
    /// What it is instead of an object. A line with several faults has the first of `not_utf8`,
    /// `nul`, the others.
    pub fn of(line: &'a [u8]) -> Result<Self, Fault> {
        let text = str::from_utf8(line).map_err(|_| Fault::NotUtf8)?;
        serde_json::from_str(text).map_err(|_| {
            if text.contains('\0') {
                Fault::Nul
            } else if serde_json::from_str::<IgnoredAny>(text).is_ok() {
                Fault::NotObject
            } else {
                Fault::NotJson
            }
        })
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Head<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Head<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Head<'de>, A::Error> {
                let mut head = Head::default();
                while let Some(Name(name)) = map.next_key()? {
                    match &*name {
                        "source" => head.source = string(map.next_value()?),
                        "event" => head.event = string(map.next_value()?),
                        "urgency" => head.urgency = string(map.next_value()?),
                        "id" => head.has_id = string(map.next_value()?).is_some(),
                        _ => {
                            map.next_value::<IgnoredAny>()?;
                        }
                    }
                }
                Ok(head)
            }
        }
        from.deserialize_map(Members)
    }
}

/// A member's name, borrowed where it has no escapes.
#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

/// The string that a value is. Half a surrogate pair makes it none.
fn string(value: &RawValue) -> Option<Cow<'_, str>> {
    let text = value.get();
    match text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
        Some(plain) if !plain.contains('\\') => Some(Cow::Borrowed(plain)),
        Some(_) => serde_json::from_str(text).ok().map(Cow::Owned),
        None => None,
    }
}

/// The identity of a message: the first 32 hex digits of the SHA-256 of host and line, and of
/// `position` for a line that has no `id` and so may come twice with the same bytes.
#[must_use]
pub fn message_id(host: &str, line: &[u8], position: Option<u64>) -> String {
    let mut hash = Sha256::new();
    hash.update(host);
    hash.update([0x1f]);
    hash.update(line);
    if let Some(position) = position {
        hash.update([0x1f]);
        hash.update(position.to_string());
    }
    let mut hex = String::with_capacity(32);
    for byte in hash.finalize().iter().take(16) {
        for digit in [byte >> 4, byte & 15] {
            hex.extend(char::from_digit(u32::from(digit), 16));
        }
    }
    hex
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_its_members_or_its_first_fault() {
        let line = br#"{"a":{"event":"no"},"event":"x\u0041","source":7,"id":"1","urgency":"info","source":"s"}"#;
        let head = Head::of(line).unwrap();
        assert_eq!(head.event.as_deref(), Some("xA"));
        assert_eq!(head.source.as_deref(), Some("s"));
        assert_eq!(head.urgency.as_deref(), Some("info"));
        assert!(head.has_id);
        assert_eq!(Head::of(b"{}"), Ok(Head::default()));
        assert_eq!(
            Head::of(br#"{"id":null,"event":["x"],"source":"\ud800"}"#),
            Ok(Head::default())
        );
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(10_000), "]".repeat(10_000));
        assert_eq!(Head::of(deep.as_bytes()), Ok(Head::default()));
        for (line, want) in [
            (&b"{bad"[..], Fault::NotJson),
            (b"[1]", Fault::NotObject),
            (b" null ", Fault::NotObject),
            (b"{} {}", Fault::NotJson),
            (b"\xff", Fault::NotUtf8),
            (b"{\"a\":\"\xff\0\"}", Fault::NotUtf8),
            (b"{\"a\":\"\0\"}", Fault::Nul),
        ] {
            assert_eq!(Head::of(line), Err(want), "{}", String::from_utf8_lossy(line));
        }
    }

    #[test]
    fn an_identity_is_that_of_host_and_line_and_where_needed_of_the_position() {
        let id = message_id("a", b"{}", None);
        assert_eq!(id.len(), 32);
        assert_eq!(id, message_id("a", b"{}", None));
        for other in [
            message_id("b", b"{}", None),
            message_id("a", b"{ }", None),
            message_id("a", b"{}", Some(1)),
            message_id("a", b"{}", Some(2)),
        ] {
            assert_ne!(id, other);
        }
    }
}
