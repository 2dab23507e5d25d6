//! From a line of the input to what the engine is told of it.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, Visitor},
};
use serde_json::value::RawValue;
use shared::{reading::parse::fold_source, text::Text};

use crate::decide::Event;

/// The most bytes of a brief.
const BRIEF: usize = 240;
/// The longest line that is kept as it is until somebody wants its brief.
const RAW: usize = 8 << 10;
/// The keys whose text is a brief, the best first.
const BRIEFS: [&str; 5] = ["text", "brief", "summary", "message", "detail"];
/// The envelope's keys, which say nothing that a brief should.
const ENVELOPE: [&str; 11] = [
    "event",
    "timestamp",
    "source",
    "subject",
    "key",
    "condition",
    "revision",
    "id",
    "truncated",
    "urgency",
    "unclassified",
];

/// What a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A reading, or a part of one.
    Reading,
    /// Another event.
    Event,
}

/// The members of a line that matter. A member of another type than text counts as absent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Message<'a> {
    event: Option<Cow<'a, str>>,
    source: Option<Cow<'a, str>>,
    subject: Option<Cow<'a, str>>,
    key: Option<Cow<'a, str>>,
    condition: Option<Cow<'a, str>>,
    urgency: Option<Cow<'a, str>>,
    revision: Option<Cow<'a, str>>,
    id: Option<Cow<'a, str>>,
    reason: Option<Cow<'a, str>>,
    briefs: [Option<Cow<'a, str>>; 5],
}

impl<'a> Message<'a> {
    /// Reads a line; none when it is no JSON object with a text `event`.
    #[must_use]
    pub fn read(line: &'a [u8]) -> Option<(Self, Kind)> {
        let message: Self = serde_json::from_slice(line).ok()?;
        let kind = match message.event.as_deref()? {
            "reading" => Kind::Reading,
            _ => Kind::Event,
        };
        Some((message, kind))
    }

    /// The source as part of a record's name.
    fn record_source(&self) -> Cow<'_, str> {
        let source = self.source.as_deref().unwrap_or_default();
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        if source.bytes().all(fits) { source.into() } else { fold_source(source).into() }
    }

    /// Hands the event that the line `line` stands for to `judge`.
    pub fn with_event<T>(&self, line: &[u8], judge: impl FnOnce(&Event<'_>) -> T) -> T {
        let source = self.record_source();
        let brief = self.brief(line);
        judge(&Event {
            name: self.event.as_deref().unwrap_or_default(),
            source: &source,
            subject: self.subject.as_deref(),
            key: self.key.as_deref().filter(|key| !key.is_empty()),
            condition: self.condition.as_deref(),
            urgency: self.urgency.as_deref(),
            revision: self.revision.as_deref(),
            id: self.id.as_deref(),
            reason: self.reason.as_deref(),
            brief: &brief,
        })
    }

    /// What an event says, in one line. Most of a stream is no more than context, of which hardly
    /// anything is ever told: that stays raw until then, for [`context`].
    fn brief<'l>(&self, line: &'l [u8]) -> Cow<'l, str> {
        if self.urgency.as_deref() == Some("info")
            && line.len() <= RAW
            && let Ok(raw) = str::from_utf8(line)
        {
            return raw.into();
        }
        self.said(line).as_str().to_owned().into()
    }

    fn said(&self, line: &[u8]) -> Text {
        match self.briefs.iter().flatten().next() {
            Some(brief) => Text::new(brief, BRIEF),
            None => Text::new(&scalars(line), BRIEF),
        }
    }
}

/// The brief of an event that was kept as context, cut to `limit` bytes.
#[must_use]
pub fn context(kept: &str, limit: usize) -> Text {
    match Message::read(kept.as_bytes()) {
        Some((message, _)) => Text::new(message.said(kept.as_bytes()).as_str(), limit),
        None => Text::new(kept, limit),
    }
}

/// The event's name and its own scalar members as `name=value`.
fn scalars(line: &[u8]) -> String {
    let Ok(Scalars(text)) = serde_json::from_slice(line) else { return String::new() };
    text
}

impl<'de> Deserialize<'de> for Message<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Message<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Message<'de>, A::Error> {
                let mut message = Message::default();
                while let Some(name) = map.next_key::<&RawValue>()? {
                    match message.member(&text(name).unwrap_or_default()) {
                        Some(member) => *member = text(map.next_value()?),
                        None => drop(map.next_value::<IgnoredAny>()?),
                    }
                }
                Ok(message)
            }
        }
        from.deserialize_map(Members)
    }
}

impl<'a> Message<'a> {
    fn member(&mut self, name: &str) -> Option<&mut Option<Cow<'a, str>>> {
        Some(match name {
            "event" => &mut self.event,
            "source" => &mut self.source,
            "subject" => &mut self.subject,
            "key" => &mut self.key,
            "condition" => &mut self.condition,
            "urgency" => &mut self.urgency,
            "revision" => &mut self.revision,
            "id" => &mut self.id,
            "reason" => &mut self.reason,
            _ => self.briefs.get_mut(BRIEFS.iter().position(|brief| *brief == name)?)?,
        })
    }
}

/// The text that a value is; none if it is another one, or no text that can be.
fn text(raw: &RawValue) -> Option<Cow<'_, str>> {
    let inner = raw.get().strip_prefix('"')?.strip_suffix('"')?;
    if inner.contains('\\') {
        serde_json::from_str(raw.get()).ok().map(Cow::Owned)
    } else {
        Some(inner.into())
    }
}

/// What [`scalars`] answers.
struct Scalars(String);

impl<'de> Deserialize<'de> for Scalars {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Scalars;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Scalars, A::Error> {
                let (mut name, mut said) = (Cow::default(), String::new());
                while let Some(member) = map.next_key::<&RawValue>()? {
                    let (member, value) = (text(member).unwrap_or_default(), map.next_value()?);
                    if member == "event" {
                        name = text(value).unwrap_or_default();
                    }
                    let is_own = !ENVELOPE.contains(&&*member) && said.len() < RAW;
                    if let Some(value) = scalar(value).filter(|_| is_own) {
                        said.extend([" ", &*member, "=", &*value]);
                    }
                }
                Ok(Scalars(name.into_owned() + &said))
            }
        }
        from.deserialize_map(InOrder)
    }
}

/// A number is told as it is written: it may be larger than any that can be counted with.
fn scalar(raw: &RawValue) -> Option<Cow<'_, str>> {
    match raw.get().as_bytes().first()? {
        b'"' => text(raw),
        b'n' | b'[' | b'{' => None,
        _ => Some(raw.get().into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn brief(line: &str) -> String {
        let (message, kind) = Message::read(line.as_bytes()).unwrap();
        assert_eq!(kind, Kind::Event);
        message.with_event(line.as_bytes(), |event| event.brief.to_owned())
    }

    #[test]
    fn a_line_is_a_reading_an_event_or_neither() {
        let kind = |line: &str| Message::read(line.as_bytes()).map(|(_, kind)| kind);
        assert_eq!(kind(r#"{"event":"reading"}"#), Some(Kind::Reading));
        assert_eq!(kind(r#"{"a":[{}],"event":"\u0072eading"}"#), Some(Kind::Reading));
        assert_eq!(kind(r#"{"event":"x","detail":{"a":[1,null]},"id":7}"#), Some(Kind::Event));
        for line in [r#"{"a":"#, "[]", "1", "{}", r#"{"event":1}"#, r#"{"event":"x"} x"#, ""] {
            assert_eq!(kind(line), None, "{line}");
        }
        assert_eq!(Message::read(b"{\"event\":\"\xff\"}"), None);
    }

    #[test]
    fn what_matters_of_an_event_is_passed_on() {
        let line = br#"{"event":"x","timestamp":"t","source":"a b","subject":"s","key":"k","condition":"raised","revision":"r","id":"i","reason":"why","urgency":"immediate","text":"said"}"#;
        let (message, _) = Message::read(line).unwrap();
        let want = Event {
            name: "x",
            source: "a_b",
            subject: Some("s"),
            key: Some("k"),
            condition: Some("raised"),
            urgency: Some("immediate"),
            revision: Some("r"),
            id: Some("i"),
            reason: Some("why"),
            brief: "said",
        };
        message.with_event(line, |event| assert_eq!(*event, want));
        let bare = br#"{"event":"x"}"#;
        let (message, _) = Message::read(bare).unwrap();
        let want = Event { name: "x", brief: "x", ..Event::default() };
        message.with_event(bare, |event| assert_eq!(*event, want));
    }

    #[test]
    fn the_brief_is_the_best_text_or_what_the_event_counts() {
        for (line, want) in [
            (r#"{"event":"x","detail":"d","summary":"s"}"#, "s"),
            (r#"{"event":"x","detail":"d","text":{"a":1}}"#, "d"),
            (r#"{"event":"x","n":5,"b":true,"who":"me","no":null,"l":[1]}"#, "x n=5 b=true who=me"),
            (r#"{"n":1.5,"event":"x","id":"7","urgency":"warning"}"#, "x n=1.5"),
            (
                r#"{"n":1e999,"\u0065vent":"\u0078","o":-0.10,"a\n":"\"b"}"#,
                "x n=1e999 o=-0.10 a =\"b",
            ),
        ] {
            assert_eq!(brief(line), want, "{line}");
        }
        let token = format!("ghp_{}", "a1B2".repeat(9));
        let long = format!("{}{token}", "x".repeat(230));
        let cut = brief(&format!(r#"{{"event":"x","text":"{long}"}}"#));
        assert!(cut.len() <= 240 && !cut.contains("ghp_"));
    }

    #[test]
    fn a_member_that_is_no_text_costs_no_more_than_itself() {
        let digits = "9".repeat(400);
        for odd in [&*digits, "1e400", r#""\ud800""#, "[[{}]]", "null", "true"] {
            let line = format!(
                r#"{{"event":"x","source":{odd},"subject":{odd},"reason":{odd},"text":{odd},"key":"k"}}"#
            );
            let (message, _) = Message::read(line.as_bytes()).unwrap();
            let key = message.with_event(line.as_bytes(), |event| {
                assert_eq!((event.name, event.source, event.subject), ("x", "", None), "{odd}");
                assert!(event.reason.is_none() && event.brief.starts_with('x'), "{odd}");
                event.key.map(str::to_owned)
            });
            assert_eq!(key.as_deref(), Some("k"), "{odd}");
        }
    }

    #[test]
    fn context_is_made_fit_when_it_is_told() {
        let line = r#"{"event":"x","urgency":"info","text":"password=hunter22 a\u2028b"}"#;
        assert_eq!(brief(line), line);
        assert_eq!(context(line, 120).as_str(), "password=[redacted] a b");
        assert_eq!(context("a brief", 3).as_str(), "a b");
    }
}
