//! What the file of a gate, or of its record, says. Each key counts only with the right type,
//! keys that aren't read are skipped without recursion, and of a doubled key the last counts.

use std::{borrow::Cow, fmt};

use jiff::{Timestamp, civil::DateTime, tz::TimeZone};
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;
use shared::text::Text;

use crate::digest;

/// The most bytes of a gate's file.
pub const LIMIT: u64 = 1 << 20;
/// The most bytes of a question.
const QUESTION: usize = 160;
/// The most bytes of an option.
const OPTION: usize = 80;
/// How many work items are named.
const NAMED: usize = 5;

/// Why a file has nothing to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Flaw {
    /// It has no bytes but blanks.
    Empty,
    /// It is no JSON, or cut short.
    Malformed,
    /// It is JSON, but no object.
    NotObject,
    /// The system refuses to let it be read.
    Unreadable,
    /// It has more than a MiB.
    TooLarge,
}

/// What a file says that is remembered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// The hash of the content as JSON.
    pub digest: u64,
    /// When it was asked, as written.
    pub created_at: Option<String>,
    /// It says by itself that it is answered.
    pub answered: bool,
}

/// What a file says that is only told.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Texts {
    /// The question.
    pub question: Option<Text>,
    /// Work waits for the answer.
    pub blocking: bool,
    /// The option that the asker would take.
    pub recommended_option: Option<Text>,
    /// The work that waits.
    pub blocked: Option<Items>,
    /// The work that went on.
    pub unblocked: Option<Items>,
    /// The answer.
    pub chosen_option: Option<Text>,
    /// When it was given, as written.
    pub resolved_at: Option<Text>,
}

/// The ids of some work items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Items {
    /// The first few.
    pub named: Vec<String>,
    /// How many there are.
    pub count: usize,
}

/// A file's object, as far as it concerns us.
#[derive(Debug, Default)]
pub struct Content<'a> {
    text: &'a str,
    fields: Fields<'a>,
}

impl<'a> Content<'a> {
    /// Reads a file's text.
    ///
    /// # Errors
    ///
    /// [`Flaw`], when it is no JSON object.
    pub fn parse(text: &'a str) -> Result<Self, Flaw> {
        match serde_json::from_str(text) {
            Ok(fields) => Ok(Self { text, fields }),
            Err(_) if text.trim_ascii().is_empty() => Err(Flaw::Empty),
            Err(err) if err.is_data() && serde_json::from_str::<IgnoredAny>(text).is_ok() => {
                Err(Flaw::NotObject)
            }
            Err(_) => Err(Flaw::Malformed),
        }
    }

    /// What is to be remembered.
    #[must_use]
    pub fn facts(&self) -> Facts {
        Facts {
            digest: digest::of_json(self.text),
            created_at: string(self.fields.created_at),
            answered: string(self.fields.state).is_some_and(|state| state == "resolved"),
        }
    }

    /// What is to be told.
    #[must_use]
    pub fn texts(&self) -> Texts {
        let resolution: Resolution<'_> = parsed(self.fields.resolution).unwrap_or_default();
        Texts {
            question: text(string(self.fields.question), QUESTION),
            blocking: parsed(self.fields.blocking).unwrap_or_default(),
            recommended_option: text(option(self.fields.recommended_option), OPTION),
            blocked: items(self.fields.blocked_work_items),
            unblocked: items(self.fields.unblocked_work_items),
            chosen_option: text(option(resolution.chosen_option), OPTION),
            resolved_at: text(string(resolution.resolved_at), OPTION),
        }
    }
}

/// The text of a file: without a byte order mark, and with replacements where it isn't UTF-8.
#[must_use]
pub fn text_of(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes))
}

/// The moment that a file's text names; one without a zone is UTC.
#[must_use]
pub fn moment(text: &str) -> Option<Timestamp> {
    let naive = || TimeZone::UTC.to_timestamp(text.parse::<DateTime>().ok()?).ok();
    text.parse().ok().or_else(naive)
}

type Raw<'a> = Option<&'a RawValue>;

/// Declares an object of which some keys are read, each as it stands.
macro_rules! object {
    ($(#[$doc:meta])* $name:ident, $key:ident { $($field:ident: $variant:ident),+ }) => {
        $(#[$doc])*
        #[derive(Debug, Default)]
        struct $name<'a> { $($field: Raw<'a>),+ }

        #[derive(Deserialize)]
        #[serde(field_identifier, rename_all = "snake_case")]
        enum $key { $($variant,)+ #[serde(other)] Other }

        impl<'de> Deserialize<'de> for $name<'de> {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                struct InOrder;
                impl<'de> Visitor<'de> for InOrder {
                    type Value = $name<'de>;
                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str("an object")
                    }
                    fn visit_map<A: MapAccess<'de>>(
                        self,
                        mut map: A,
                    ) -> Result<Self::Value, A::Error> {
                        let mut found = $name::default();
                        while let Some(key) = map.next_key()? {
                            match key {
                                $($key::$variant => found.$field = Some(map.next_value()?),)+
                                $key::Other => drop(map.next_value::<IgnoredAny>()?),
                            }
                        }
                        Ok(found)
                    }
                }
                from.deserialize_map(InOrder)
            }
        }
    };
}

object! {
    /// A gate.
    Fields, FieldsKey {
        created_at: CreatedAt,
        state: State,
        question: Question,
        blocking: Blocking,
        recommended_option: RecommendedOption,
        blocked_work_items: BlockedWorkItems,
        unblocked_work_items: UnblockedWorkItems,
        resolution: Resolution
    }
}

object! {
    /// The answer to a gate.
    Resolution, ResolutionKey { chosen_option: ChosenOption, resolved_at: ResolvedAt }
}

/// The ids of an array of strings, of which only the first few are kept.
impl<'de> Deserialize<'de> for Items {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Counting;
        impl<'de> Visitor<'de> for Counting {
            type Value = Items;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of strings")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Items, A::Error> {
                let mut items = Items { named: Vec::new(), count: 0 };
                while let Some(id) = seq.next_element::<String>()? {
                    items.count += 1;
                    if items.named.len() < NAMED {
                        items.named.push(id);
                    }
                }
                Ok(items)
            }
        }
        from.deserialize_seq(Counting)
    }
}

fn parsed<'a, T: Deserialize<'a>>(raw: Raw<'a>) -> Option<T> {
    serde_json::from_str(raw?.get()).ok()
}

fn string(raw: Raw<'_>) -> Option<String> {
    parsed(raw)
}

/// An option is a string, or a number taken as its text.
fn option(raw: Raw<'_>) -> Option<String> {
    let is_number = |text: &&str| text.starts_with(|c: char| c == '-' || c.is_ascii_digit());
    string(raw).or_else(|| raw.map(RawValue::get).filter(is_number).map(str::to_owned))
}

fn text(raw: Option<String>, limit: usize) -> Option<Text> {
    raw.filter(|text| !text.is_empty()).map(|text| Text::new(&text, limit))
}

fn items(raw: Raw<'_>) -> Option<Items> {
    parsed(raw).filter(|items: &Items| items.count > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(json: &str) -> Texts {
        Content::parse(json).unwrap().texts()
    }

    fn shown(text: Option<&Text>) -> Option<&str> {
        text.map(Text::as_str)
    }

    #[test]
    fn a_gate_says_what_it_asks() {
        let gate = r#"{"id":"HDR-7","created_at":"2026-04-08T14:00:00Z","state":"open",
            "question":"Drop it?","blocking":true,"recommended_option":"no","options":[{"a":[1]}],
            "blocked_work_items":["1","2","3","4","5","6"],"resolution":null}"#;
        let facts = Content::parse(gate).unwrap().facts();
        assert_eq!(facts.created_at.as_deref(), Some("2026-04-08T14:00:00Z"));
        assert!(!facts.answered);
        let texts = texts(gate);
        assert_eq!(shown(texts.question.as_ref()), Some("Drop it?"));
        assert_eq!(shown(texts.recommended_option.as_ref()), Some("no"));
        assert!(texts.blocking);
        let blocked = texts.blocked.unwrap();
        assert_eq!((blocked.named.len(), blocked.count), (5, 6));
        assert_eq!(texts.chosen_option, None);
    }

    #[test]
    fn a_record_says_what_was_chosen() {
        let record = r#"{"state":"resolved","unblocked_work_items":["WI-1"],
            "resolution":{"chosen_option":2,"resolved_at":"2026-04-08T16:00:00Z","note":"x"}}"#;
        assert!(Content::parse(record).unwrap().facts().answered);
        let texts = texts(record);
        assert_eq!(shown(texts.chosen_option.as_ref()), Some("2"));
        assert_eq!(shown(texts.resolved_at.as_ref()), Some("2026-04-08T16:00:00Z"));
        assert_eq!(texts.unblocked.unwrap().named, ["WI-1"]);
    }

    #[test]
    fn a_value_of_another_type_says_nothing() {
        let odd = r#"{"created_at":5,"state":["resolved"],"question":{},"blocking":"yes",
            "recommended_option":true,"blocked_work_items":["a",7],"unblocked_work_items":[],
            "resolution":"drop it"}"#;
        assert_eq!(texts(odd), Texts::default());
        let facts = Content::parse(odd).unwrap().facts();
        assert_eq!((facts.created_at, facts.answered), (None, false));
        assert_eq!(shown(texts(r#"{"question":"a","question":"b"}"#).question.as_ref()), Some("b"));
        assert_eq!(
            shown(texts(r#"{"recommended_option":-1.5e3}"#).recommended_option.as_ref()),
            Some("-1.5e3")
        );
    }

    #[test]
    fn what_is_no_object_has_a_flaw() {
        for (text, flaw) in [
            ("", Flaw::Empty),
            (" \n", Flaw::Empty),
            ("{\"a\":", Flaw::Malformed),
            ("[1,", Flaw::Malformed),
            ("\0\0\0", Flaw::Malformed),
            ("{} {}", Flaw::Malformed),
            ("[1]", Flaw::NotObject),
            ("null", Flaw::NotObject),
            ("\"x\"", Flaw::NotObject),
        ] {
            assert_eq!(Content::parse(text).unwrap_err(), flaw, "{text:?}");
        }
    }

    #[test]
    fn depth_and_odd_bytes_are_read() {
        let deep = format!("{{\"x\":{}{},\"question\":\"q\"}}", "[".repeat(9999), "]".repeat(9999));
        assert_eq!(shown(texts(&deep).question.as_ref()), Some("q"));
        let bytes = b"\xef\xbb\xbf{\"question\":\"a\xffb\"}\r\n";
        assert_eq!(shown(texts(&text_of(bytes)).question.as_ref()), Some("a\u{fffd}b"));
    }

    #[test]
    fn a_moment_without_a_zone_is_utc() {
        let utc = moment("2026-04-08T14:00:00Z");
        assert!(utc.is_some());
        assert_eq!(moment("2026-04-08T14:00:00"), utc);
        assert_eq!(moment("2026-04-08 23:00:00+09:00"), utc);
        assert_eq!(moment("tomorrow"), None);
    }
}
