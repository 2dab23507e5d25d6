//! Which lines pass. Pure: bytes in, verdicts out.
//!
//! Most lines hold none of the wanted types and can't match, so whole chunks are searched for the
//! types, and only the lines around a hit are parsed. A type of plain characters can also stand
//! escaped, as `\u0073tate`, and then holds `\u00`: that is searched for as well.

use std::{borrow::Cow, fmt};

use memchr::{memchr, memmem::Finder, memrchr};
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeSeed, IgnoredAny, MapAccess, Visitor},
};
use serde_json::value::RawValue;

use crate::event::SkipReason;

/// The bytes of every escape of a plain character.
const ESCAPE: &str = r"\u00";

/// Which lines pass.
#[derive(Debug)]
pub struct Filter {
    wanted: Vec<(String, Finder<'static>)>,
    escape: Finder<'static>,
    /// Whether the search of whole chunks finds every line that can match.
    is_searchable: bool,
}

/// What becomes of a line. Lines that are dropped in silence have no verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict<'a> {
    /// It passes as it stands, newline included.
    Pass(&'a [u8]),
    /// It is dropped and counted.
    Skip(Skip),
}

/// A line that is dropped and counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Skip {
    /// What is wrong with it.
    pub reason: SkipReason,
    /// Where it begins, among the bytes judged or in the file.
    pub offset: u64,
    /// Its length, newline included.
    pub bytes: u64,
}

impl Filter {
    /// Passes lines whose top-level `event` is one of `types`; all lines if there is none but
    /// empty ones.
    #[must_use]
    pub fn new(types: &[String]) -> Self {
        let types = types.iter().filter(|wanted| !wanted.is_empty());
        let wanted: Vec<(String, Finder<'static>)> = types
            .map(|wanted| (wanted.clone(), Finder::new(wanted.as_bytes()).into_owned()))
            .collect();
        let is_plain = |c: u8| c.is_ascii_alphanumeric() || b"_.-".contains(&c);
        let is_searchable = wanted.iter().all(|(wanted, _)| wanted.bytes().all(is_plain));
        Self { wanted, escape: Finder::new(ESCAPE).into_owned(), is_searchable }
    }

    /// The same without the search of whole chunks: it judges alike, but slower.
    #[must_use]
    pub fn line_by_line(mut self) -> Self {
        self.is_searchable = false;
        self
    }

    /// Judges `bytes`: whole lines.
    pub fn verdicts<'a>(&'a self, bytes: &'a [u8]) -> impl Iterator<Item = Verdict<'a>> {
        let all_pass = self.wanted.is_empty() && is_text(bytes);
        let mut next = if self.wanted.is_empty() || !self.is_searchable {
            Lines::Each
        } else {
            Lines::Hits(self.finders().map(|finder| finder.find(bytes)).collect())
        };
        let mut at = 0;
        std::iter::from_fn(move || {
            loop {
                let start = self.next_line(&mut next, bytes, at)?;
                let end = memchr(b'\n', &bytes[start..]).map_or(bytes.len(), |n| start + n + 1);
                at = end;
                let line = &bytes[start..end];
                let verdict = if all_pass { passed(line) } else { self.judge(line, start as u64) };
                if verdict.is_some() {
                    return verdict;
                }
            }
        })
    }

    /// Judges the last piece of a file, which has no newline and never will: `None` drops it.
    #[must_use]
    pub fn last_piece<'a>(&self, piece: &'a [u8], offset: u64) -> Option<Verdict<'a>> {
        if piece.trim_ascii().is_empty() {
            return None;
        }
        match str::from_utf8(piece).ok().and_then(|text| self.is_wanted(text).ok()) {
            Some(true) => Some(Verdict::Pass(piece)),
            Some(false) => None,
            None => Some(skip(SkipReason::Unterminated, offset, piece)),
        }
    }

    fn finders(&self) -> impl Iterator<Item = &Finder<'static>> {
        self.wanted.iter().map(|(_, finder)| finder).chain([&self.escape])
    }

    /// Where the next line begins, at `at` or later, that has to be judged.
    fn next_line(&self, next: &mut Lines, bytes: &[u8], at: usize) -> Option<usize> {
        let Lines::Hits(hits) = next else { return (at < bytes.len()).then_some(at) };
        let mut first = None;
        for (hit, finder) in hits.iter_mut().zip(self.finders()) {
            if hit.is_some_and(|hit| hit < at) {
                *hit = finder.find(&bytes[at..]).map(|hit| at + hit);
            }
            first = match (first, *hit) {
                (Some(first), Some(hit)) => Some(std::cmp::min::<usize>(first, hit)),
                (first, hit) => first.or(hit),
            };
        }
        let first = first?;
        Some(memrchr(b'\n', &bytes[at..first]).map_or(at, |newline| at + newline + 1))
    }

    fn judge<'a>(&self, line: &'a [u8], offset: u64) -> Option<Verdict<'a>> {
        let reason = match str::from_utf8(line) {
            Err(_) => SkipReason::NotUtf8,
            Ok(_) if memchr(0, line).is_some() => SkipReason::Nul,
            Ok(_) if self.wanted.is_empty() => return passed(line),
            Ok(text) if text.trim_ascii().is_empty() => return None,
            Ok(text) => match self.is_wanted(text) {
                Ok(true) => return Some(Verdict::Pass(line)),
                Ok(false) => return None,
                Err(_) => SkipReason::Malformed,
            },
        };
        let counts = self.wanted.is_empty()
            || self.wanted.iter().any(|(_, finder)| finder.find(line).is_some());
        counts.then(|| skip(reason, offset, line))
    }

    /// Whether `text`, a JSON object, passes.
    fn is_wanted(&self, text: &str) -> serde_json::Result<bool> {
        let Event(event) = serde_json::from_str(text)?;
        Ok(self.wanted.is_empty()
            || event.is_some_and(|event| self.wanted.iter().any(|(wanted, _)| *wanted == *event)))
    }
}

/// Which lines of a chunk are judged.
enum Lines {
    /// Each of them.
    Each,
    /// Those that one of the finders finds something in: where each found something last.
    Hits(Vec<Option<usize>>),
}

fn is_text(bytes: &[u8]) -> bool {
    memchr(0, bytes).is_none() && str::from_utf8(bytes).is_ok()
}

fn passed(line: &[u8]) -> Option<Verdict<'_>> {
    (!line.trim_ascii().is_empty()).then_some(Verdict::Pass(line))
}

fn skip(reason: SkipReason, offset: u64, line: &[u8]) -> Verdict<'static> {
    Verdict::Skip(Skip { reason, offset, bytes: line.len() as u64 })
}

/// The top-level `event` of a JSON object: the last of them, if that is a string.
///
/// Nothing else in the object is taken apart, so that numbers of any size, any depth and broken
/// surrogates elsewhere are no reason to refuse it.
struct Event<'a>(Option<Cow<'a, str>>);

impl<'de> Deserialize<'de> for Event<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Top;
        impl<'de> Visitor<'de> for Top {
            type Value = Event<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Event<'de>, A::Error> {
                let mut event = None;
                while let Some(is_event) = map.next_key_seed(IsEvent)? {
                    if is_event {
                        event = Some(map.next_value::<&RawValue>()?);
                    } else {
                        map.next_value::<IgnoredAny>()?;
                    }
                }
                Ok(Event(event.and_then(|raw| string(raw.get()))))
            }
        }
        from.deserialize_map(Top)
    }
}

/// The string that `json` is, if it is one that UTF-8 can say.
fn string(json: &str) -> Option<Cow<'_, str>> {
    let inner = json.strip_prefix('"')?.strip_suffix('"')?;
    if memchr(b'\\', inner.as_bytes()).is_none() {
        return Some(Cow::Borrowed(inner));
    }
    serde_json::from_str(json).map(Cow::Owned).ok()
}

/// Whether a key is `event`. It is taken as bytes, which a lone surrogate fits into.
struct IsEvent;

impl<'de> DeserializeSeed<'de> for IsEvent {
    type Value = bool;
    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<bool, D::Error> {
        from.deserialize_bytes(self)
    }
}

impl Visitor<'_> for IsEvent {
    type Value = bool;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }
    fn visit_bytes<E>(self, key: &[u8]) -> Result<bool, E> {
        Ok(key == b"event")
    }
    fn visit_str<E>(self, key: &str) -> Result<bool, E> {
        Ok(key == "event")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What passes and what is counted, in order.
    fn judged(filter: &Filter, bytes: &[u8]) -> Vec<String> {
        let verdicts = filter.verdicts(bytes).map(|verdict| match verdict {
            Verdict::Pass(line) => String::from_utf8_lossy(line).into_owned(),
            Verdict::Skip(Skip { reason, offset, bytes }) => format!("{reason:?} {offset}+{bytes}"),
        });
        verdicts.collect()
    }

    fn filter(types: &[&str]) -> Filter {
        Filter::new(&types.iter().map(|&text| text.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn t01_the_top_level_event_counts_however_it_is_written() {
        let lines = [
            "{\"event\":\"state_committed\",\"revision\":1}\n",
            "{\"event\":\"other\"}\n",
            "{\"event\": \"state_committed\"}\n",
            "{\"event\":\"state\\u005fcommitted\"}\n",
            "{\"\\u0065vent\":\"state_committed\"}\n",
        ];
        let seen = judged(&filter(&["state_committed"]), lines.concat().as_bytes());
        assert_eq!(seen, [lines[0], lines[2], lines[3], lines[4]]);
    }

    #[test]
    fn t02_a_type_elsewhere_is_no_match_and_no_object_is_malformed() {
        let lines = concat!(
            "{\"event\":\"o\",\"p\":{\"event\":\"state_committed\"}}\n",
            "{\"event\":\"o\",\"s\":\"\\\"event\\\":\\\"state_committed\\\"\"}\n",
            "{\"event\":\"state_committed\",\"event\":\"o\"}\n",
            "[{\"event\":\"state_committed\"}]\n",
        );
        let seen = judged(&filter(&["state_committed"]), lines.as_bytes());
        assert_eq!(seen, ["Malformed 136+30"]);
    }

    #[test]
    fn t03_without_a_filter_all_text_passes_unchanged() {
        let lines = [
            "{\"z\":18446744073709551615,\"f\":1.0,\"e\":1e400}\r\n",
            "plain text\n",
            "{\"s\":\"\u{2028}\"}\n",
        ];
        let mut text = lines.concat();
        text.push_str("\n\r\n  \n");
        assert_eq!(judged(&filter(&[]), text.as_bytes()), lines);
        assert_eq!(judged(&filter(&[""]), text.as_bytes()), lines);
        let seen = judged(&filter(&[]), b"a\n\xff\n\0\nb\n\n");
        assert_eq!(seen, ["a\n", "NotUtf8 2+2", "Nul 4+2", "b\n"]);
    }

    #[test]
    fn t04_with_a_filter_only_lines_with_a_type_are_counted() {
        let text = concat!(
            "{\"event\":\"o\0\"}\n",
            "{\"event\":\"a\",\"revision\":4}\n",
            "{\"event\":\"a\" bad\n",
            "{\"event\":\"a\"}{\"event\":\"a\"}\n",
            "x{\"event\":\"a\"}\n",
            "{\"event\":\"a\0\"}\n",
            "not json\n",
        );
        let seen = judged(&filter(&["a"]), text.as_bytes());
        let expected = [
            "{\"event\":\"a\",\"revision\":4}\n",
            "Malformed 42+17",
            "Malformed 59+27",
            "Malformed 86+15",
            "Nul 101+15",
        ];
        assert_eq!(seen, expected);
        let seen = judged(&filter(&["a"]), b"{\"event\":\"a\",\"s\":\"\xff\"}\n{\"s\":\"\xff\"}\n");
        assert_eq!(seen, ["NotUtf8 0+22"]);
    }

    #[test]
    fn nothing_but_the_event_is_a_reason_to_refuse_an_object() {
        let deep = "[".repeat(200) + &"]".repeat(200);
        let passing = [
            "{\"event\":\"a\",\"n\":1e400}\n".to_owned(),
            format!("{{\"event\":\"a\",\"deep\":{deep}}}\n"),
            "{\"event\":\"a\",\"s\":\"\\ud800\"}\n".to_owned(),
            "{\"event\":\"a\",\"\\ud800\":1}\n".to_owned(),
            "{\"event\":\"a\",\"s\":\"\\u0000\"}\r\n".to_owned(),
            "{\"event\":5,\"event\":\"a\"}\n".to_owned(),
        ];
        assert_eq!(judged(&filter(&["a"]), passing.concat().as_bytes()), passing);
        let silent = "{\"event\":5,\"a\":1}\n{\"event\":\"\\ud800a\"}\n{\"event\":[\"a\"]}\n{\"event\":\"a\",\"event\":null}\n{\"event\":\"A\"}\n";
        assert_eq!(judged(&filter(&["a"]), silent.as_bytes()), [""; 0]);
    }

    #[test]
    fn types_of_any_characters_match() {
        let text = "{\"event\":\"a\\/b\"}\n{\"event\":\"a/b\"}\n{\"event\":\"x\"}\n{\"event\":\"é\"}\n{\"event\":\"\\u00e9\"}\n";
        assert_eq!(judged(&filter(&["a/b"]), text.as_bytes()).len(), 2);
        assert_eq!(judged(&filter(&["a/b", "x", "é"]), text.as_bytes()).len(), 5);
    }

    #[test]
    fn a_last_piece_passes_if_it_is_a_whole_object() {
        let (all, some) = (filter(&[]), filter(&["a"]));
        assert_eq!(all.last_piece(b"{\"b\":1}", 5), Some(Verdict::Pass(b"{\"b\":1}")));
        assert_eq!(
            some.last_piece(b"{\"event\":\"a\"}", 5),
            Some(Verdict::Pass(b"{\"event\":\"a\"}"))
        );
        assert_eq!(some.last_piece(b"{\"event\":\"b\"}", 5), None);
        let cut = Skip { reason: SkipReason::Unterminated, offset: 5, bytes: 5 };
        assert_eq!(some.last_piece(b"{\"eve", 5), Some(Verdict::Skip(cut)));
        assert_eq!(all.last_piece(b"{\"eve", 5), Some(Verdict::Skip(cut)));
        assert_eq!(all.last_piece(b" \r", 5), None);
    }

    /// Pieces of lines that are likely to be near a match.
    const PARTS: [&[u8]; 17] = [
        b"{\"event\":\"ab\"}",
        b"{\"event\":\"a",
        b"\\u0062",
        b"\\u0061",
        b"ab",
        b"\"}",
        b",\"event\":",
        b"\"ab\"",
        b"{\"x\":{\"event\":\"ab\"}}",
        b"{",
        b"}",
        b" ",
        b"\r",
        b"\\",
        b"\0",
        b"\xff",
        b"5",
    ];

    fn line() -> impl Strategy<Value = Vec<u8>> {
        let parts = proptest::collection::vec(proptest::sample::select(&PARTS[..]), 0..6);
        parts.prop_map(|parts| [&parts.concat()[..], b"\n"].concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        #[test]
        fn the_search_of_chunks_judges_like_the_parse_of_each_line(
            lines in proptest::collection::vec(line(), 0..12),
            types in prop_oneof![
                Just(vec!["ab"]), Just(vec!["ab", "b"]), Just(vec!["event"]), Just(vec!["a", "5"])
            ],
        ) {
            let bytes = lines.concat();
            let (searched, parsed) = (filter(&types), filter(&types).line_by_line());
            prop_assert!(searched.is_searchable && !parsed.is_searchable);
            prop_assert_eq!(judged(&searched, &bytes), judged(&parsed, &bytes));
        }
    }
}
