//! The envelope: how an event becomes one line of at most 4096 bytes.

use std::{fmt, io};

use jiff::Timestamp;
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{MapAccess, Visitor},
};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::text;

/// The most bytes of a line of ours, its newline included: what a pipe takes in one piece
/// (`PIPE_BUF` on Linux), so that several programs can share a pipe without tearing.
pub const LIMIT: usize = 4096;

/// What a key is from now on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// It holds.
    Raised,
    /// It no longer does.
    Cleared,
    /// It was an occurrence.
    Once,
}

/// What identifies an emission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// The condition that the event is about, and what it is from now on. Health events have none.
    pub key: Option<(String, Condition)>,
    /// What tells this event from another of its key: facts of the world, never the time of
    /// telling, so that a line told again has its `id` again. Parts are joined by [`mark`].
    pub discriminator: String,
}

/// A mark with a key.
#[must_use]
pub fn mark(key: &str, condition: Condition, parts: &[&str]) -> Mark {
    Mark { key: Some((short_key(key), condition)), discriminator: parts.join("\u{1f}") }
}

/// An event, told through [`crate::session::Session::tell`]. It serialises as one flat object
/// whose first key is `event` (`#[serde(tag = "event")]`); the rest of the envelope is ours.
pub trait Event: Serialize {
    /// What identifies it.
    fn mark(&self) -> Mark;

    /// Its `id`, where the page of its program has another formula than the common one.
    fn id(&self) -> Option<String> {
        None
    }

    /// The subject's revision, which ends what was raised of another one.
    fn revision(&self) -> Option<&str> {
        None
    }

    /// Whether it ends a `--wait`: it tells more than that something is watched.
    fn is_news(&self) -> bool {
        true
    }

    /// Whether text in it was cut already.
    fn is_cut(&self) -> bool {
        false
    }

    /// The keys whose text is cut first when the line would be too long. Identities come last.
    #[must_use]
    fn free_text() -> &'static [&'static str]
    where
        Self: Sized,
    {
        &[]
    }
}

/// Who speaks: the same in every line of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Speaker {
    /// The program's name; part of every `id`.
    pub program: &'static str,
    /// The `source` of its lines: its name, or what `--source` says.
    pub source: String,
    /// What it watches, canonical, as part of every `id`; empty for none.
    pub subject: String,
}

impl Speaker {
    /// The line for `event`, newline included.
    ///
    /// # Errors
    ///
    /// When `event` isn't an object whose first key is `event`, which no event of ours is.
    pub fn line<E: Event>(&self, event: &E, timestamp: Timestamp) -> io::Result<Vec<u8>> {
        let body = json(event)?;
        let Mark { key, discriminator } = event.mark();
        let (name, rest) = split_name(&body).ok_or_else(|| io::Error::other("not an event"))?;
        let key_text = key.as_ref().map(|(key, _)| key.as_str());
        let id = event.id().unwrap_or_else(|| self.id(name, key_text, &discriminator));

        let mut line =
            format!(r#"{{"event":"{name}","timestamp":"{timestamp}","source":"#).into_bytes();
        line.extend(json(&self.source)?);
        line.extend(rest.as_bytes());
        if let Some((key, condition)) = &key {
            line.extend(br#","key":"#);
            line.extend(json(key)?);
            line.extend(br#","condition":"#);
            line.extend(json(condition)?);
        }
        if let Some(revision) = event.revision() {
            line.extend(br#","revision":"#);
            line.extend(json(revision)?);
        }
        line.extend(format!(r#","id":"{id}""#).into_bytes());
        if event.is_cut() {
            line.extend(br#","truncated":true"#);
        }
        line.extend(b"}\n");
        if line.len() > LIMIT { fit(&line, E::free_text()) } else { Ok(line) }
    }

    fn id(&self, event: &str, key: Option<&str>, discriminator: &str) -> String {
        let subject = Some(&*self.subject).filter(|subject| !subject.is_empty());
        let parts = [Some(self.program), Some(event), subject, key, Some(discriminator)];
        let parts: Vec<&str> = parts.into_iter().flatten().collect();
        digest(parts.join("\u{1f}").as_bytes())
    }
}

/// The first 16 hex digits of the SHA-256 of `bytes`.
#[must_use]
pub fn digest(bytes: &[u8]) -> String {
    let mut hex = String::with_capacity(16);
    for byte in Sha256::digest(bytes).iter().take(8) {
        for digit in [byte >> 4, byte & 15] {
            hex.extend(char::from_digit(u32::from(digit), 16));
        }
    }
    hex
}

/// A key of at most 200 bytes: a longer one keeps 183 and gets `#` and its digest.
#[must_use]
pub fn short_key(key: &str) -> String {
    if key.len() <= 200 {
        return key.to_owned();
    }
    format!("{}#{}", text::head(key, 183), digest(key.as_bytes()))
}

/// `{"event":"NAME"REST}` as (`NAME`, `REST`).
fn split_name(body: &[u8]) -> Option<(&str, &str)> {
    let body = str::from_utf8(body).ok()?;
    body.strip_prefix(r#"{"event":""#)?.strip_suffix('}')?.split_once('"')
}

/// Cuts texts until the line fits: the longest of `free` first, then whatever is longest.
/// The lines of a thousand identities are the only ones that come here.
fn fit(line: &[u8], free: &[&str]) -> io::Result<Vec<u8>> {
    let Fields(mut fields) = serde_json::from_slice(line)?;
    fields.retain(|(key, _)| key != "truncated");
    loop {
        let mut out = b"{".to_vec();
        for (key, value) in &fields {
            out.extend(json(key)?);
            out.push(b':');
            out.extend(json(value)?);
            out.push(b',');
        }
        out.extend(br#""truncated":true}"#);
        out.push(b'\n');
        if out.len() <= LIMIT {
            return Ok(out);
        }
        let excess = out.len() - LIMIT;
        let longest = |among: &dyn Fn(&str) -> bool| {
            let sizes = fields.iter().enumerate().filter(|(_, (key, _))| among(key));
            sizes
                .map(|(at, (_, value))| (value.to_string().len(), at))
                .filter(|(size, _)| *size > 40)
                .max()
        };
        let envelope = ["event", "timestamp", "source", "key", "condition", "revision", "id"];
        let (_, at) = longest(&|key| free.contains(&key))
            .or_else(|| longest(&|key| !envelope.contains(&key)))
            .or_else(|| longest(&|key| key == "source"))
            .ok_or_else(|| io::Error::other("an event is too long"))?;
        shorten(&mut fields[at].1, excess);
    }
}

/// Takes at least one and about `excess` bytes from the end of a value.
fn shorten(value: &mut Value, excess: usize) {
    match value {
        Value::String(text) => {
            let escaped = value_len(text);
            let keep =
                text.len().saturating_sub(1) * escaped.saturating_sub(excess) / escaped.max(1);
            text.truncate(text.floor_char_boundary(keep));
        }
        Value::Array(list) if list.len() > 1 => {
            list.pop();
        }
        Value::Array(list) if list.first().is_some_and(Value::is_string) => {
            shorten(&mut list[0], excess);
        }
        other => *other = Value::Null,
    }
}

fn value_len(text: &str) -> usize {
    json(&text).map_or(text.len(), |bytes| bytes.len())
}

/// The keys of an object in their order.
pub(crate) struct Fields(pub(crate) Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Fields;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Fields(fields))
            }
        }
        from.deserialize_map(InOrder)
    }
}

/// Serialises for a line: compact, and with those characters escaped that some readers take for
/// the end of a line (U+0085, U+2028, U+2029) or that a terminal obeys (U+007F to U+009F).
///
/// # Errors
///
/// Those of `value`'s own `Serialize`.
pub fn json(value: &(impl Serialize + ?Sized)) -> io::Result<Vec<u8>> {
    let mut out = Vec::with_capacity(256);
    value.serialize(&mut serde_json::Serializer::with_formatter(&mut out, Escaping))?;
    Ok(out)
}

struct Escaping;

impl serde_json::ser::Formatter for Escaping {
    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        out: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut rest = fragment;
        let escaped = |c: char| matches!(c, '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}');
        while let Some(at) = rest.find(escaped) {
            out.write_all(&rest.as_bytes()[..at])?;
            let mut after = rest[at..].chars();
            for c in after.by_ref().take(1) {
                write!(out, "\\u{:04x}", u32::from(c))?;
            }
            rest = after.as_str();
        }
        out.write_all(rest.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Debug, Serialize)]
    #[serde(tag = "event", rename = "gate_opened")]
    struct Opened {
        gate_id: String,
        question: String,
        items: Vec<String>,
    }

    impl Event for Opened {
        fn mark(&self) -> Mark {
            mark(&format!("gate:{}", self.gate_id), Condition::Raised, &["1", "2"])
        }
        fn free_text() -> &'static [&'static str] {
            &["question"]
        }
    }

    fn speaker() -> Speaker {
        Speaker { program: "gate-watch", source: "gate".into(), subject: "/p".into() }
    }

    fn line_of(gate_id: &str, question: &str, items: &[String]) -> String {
        let event =
            Opened { gate_id: gate_id.into(), question: question.into(), items: items.to_vec() };
        String::from_utf8(speaker().line(&event, Timestamp::UNIX_EPOCH).unwrap()).unwrap()
    }

    #[test]
    fn the_envelope_has_its_order() {
        let id = digest("gate-watch\u{1f}gate_opened\u{1f}/p\u{1f}gate:A\u{1f}1\u{1f}2".as_bytes());
        let want = format!(
            concat!(
                r#"{{"event":"gate_opened","timestamp":"1970-01-01T00:00:00Z","source":"gate","#,
                r#""gate_id":"A","question":"?","items":[],"key":"gate:A","condition":"raised","id":"{}"}}"#,
                "\n"
            ),
            id
        );
        assert_eq!(line_of("A", "?", &[]), want);
    }

    #[test]
    fn a_revision_stands_before_the_id() {
        #[derive(Serialize)]
        #[serde(tag = "event", rename = "red")]
        struct Red {
            n: u8,
        }
        impl Event for Red {
            fn mark(&self) -> Mark {
                mark("red:a", Condition::Raised, &[])
            }
            fn revision(&self) -> Option<&str> {
                Some("24ba8")
            }
        }
        let line = speaker().line(&Red { n: 1 }, Timestamp::UNIX_EPOCH).unwrap();
        let text = String::from_utf8(line).unwrap();
        let end = r#""n":1,"key":"red:a","condition":"raised","revision":"24ba8","id":""#;
        assert!(text.contains(end), "{text}");
    }

    #[test]
    fn what_readers_take_for_an_end_of_line_is_escaped() {
        let line = line_of("a\u{85}\u{2028}\u{9b}\n", "?", &[]);
        assert!(line.contains(r#""gate_id":"a\u0085\u2028\u009b\n""#), "{line}");
    }

    #[test]
    fn the_longest_text_is_cut_first_and_identities_last() {
        let line = line_of("A", &"x".repeat(9000), &["WI-1".into()]);
        let value: Value = serde_json::from_str(&line).unwrap();
        assert_eq!((line.len(), &value["truncated"]), (LIMIT, &Value::Bool(true)));
        assert_eq!((&value["gate_id"], &value["items"][0]), (&"A".into(), &"WI-1".into()));
    }

    #[test]
    fn a_long_key_keeps_a_head_and_a_digest() {
        let long = "é".repeat(300);
        let Some((key, _)) = mark(&long, Condition::Once, &[]).key else { panic!("no key") };
        assert!(key.len() <= 200 && key.ends_with(&format!("#{}", digest(long.as_bytes()))));
    }

    proptest! {
        #[test]
        fn every_line_fits_and_parses(
            id in ".{0,3000}",
            question in ".{0,6000}",
            items in proptest::collection::vec(".{0,300}", 0..40),
        ) {
            let line = line_of(&id, &question, &items);
            prop_assert!(line.len() <= LIMIT && line.ends_with('\n'));
            prop_assert_eq!(line.trim_end_matches('\n').lines().count(), 1);
            let value: Value = serde_json::from_str(&line).unwrap();
            prop_assert_eq!(&value["event"], "gate_opened");
            prop_assert!(value["id"].as_str().is_some_and(|id| id.len() == 16));
        }
    }
}
