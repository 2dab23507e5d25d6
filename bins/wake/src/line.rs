//! The line: a head that a reader who cuts lines still gets whole, then as much as fits.

use std::{io, path::Path};

use jiff::Timestamp;
use serde::Serialize;
use shared::{
    line::{self, LIMIT},
    text::Text,
};

use crate::{
    decide::{Emission, Ends, Item, Ms, RecordId},
    looks::Looks,
    message,
    text::{self, Sentence},
};

/// The most bytes up to and including claim and evidence.
const HEAD: usize = 480;
/// The most bytes of the sentence, and the least that it gets.
const TEXT: usize = 280;
const LEAST_TEXT: usize = 100;
/// The longest path of evidence that a line carries.
const PATH: usize = 1024;
/// The most entries, and what is quoted of each and of context.
const ENTRIES: usize = 8;
const CONTEXT: usize = 3;
const BRIEF: usize = 120;

/// Who says a line, and when.
#[derive(Debug, Clone, Copy)]
pub struct Voice<'a> {
    /// The `source` of the line.
    pub source: &'a str,
    /// Its `timestamp`.
    pub timestamp: Timestamp,
}

/// A line of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// The line, newline included.
    pub bytes: Vec<u8>,
    /// Its sentence.
    pub text: String,
}

/// The time of an entry, to the second.
#[must_use]
pub fn stamp(at: Ms) -> String {
    let second = i64::try_from(at / 1000).ok();
    second.and_then(|second| Timestamp::from_second(second).ok()).unwrap_or_default().to_string()
}

/// Makes the line of `emission`, whose evidence is at a path or nowhere.
///
/// # Errors
///
/// None for what an engine answers.
pub fn compose(
    emission: &Emission,
    looks: &Looks,
    voice: Voice<'_>,
    evidence: Option<&Path>,
) -> io::Result<Line> {
    // JSON has no way to say a path that is no text.
    let path = evidence.and_then(Path::to_str);
    let (mut out, Sentence { text, is_cut }) = first(emission, looks, voice, path)?;
    let mut rest = Rest { out: &mut out, room: LIMIT, is_cut };
    rest.room -= format!(r#","id":"{}","truncated":true}}.."#, emission.claim).len();
    rest.subject(emission)?;
    rest.entries(emission)?;
    rest.context(emission)?;
    let truncated = if rest.is_cut { r#","truncated":true"# } else { "" };
    out.extend(format!(",\"id\":\"{}\"{truncated}}}\n", emission.claim).into_bytes());
    Ok(Line { bytes: out, text })
}

/// The head, and the sentence in it.
fn first(
    emission: &Emission,
    looks: &Looks,
    voice: Voice<'_>,
    path: Option<&str>,
) -> io::Result<(Vec<u8>, Sentence)> {
    let reason = serde_json::to_string(emission.reason.as_str())?;
    let before = format!(
        r#"{{"event":"wake","timestamp":"{}","source":"{}","decision":"{}","reason":{reason},"text":"#,
        voice.timestamp, voice.source, emission.decision,
    );
    let after = |evidence: &str| format!(r#","claim":"{}","evidence":{evidence}"#, emission.claim);
    let room = |after: &str| HEAD.saturating_sub(before.len() + after.len() + 2).min(TEXT);
    let quoted = path.map(line::json).transpose()?.map(String::from_utf8);
    let quoted = quoted.transpose().map_err(io::Error::other)?;
    let mut tail = after(quoted.as_deref().unwrap_or("null"));
    let mut sentence_room = room(&tail);
    if let Some(path) = quoted.filter(|_| sentence_room < LEAST_TEXT) {
        tail = after("null");
        sentence_room = room(&tail);
        if path.len() <= PATH {
            tail.extend([r#","evidence_path":"#, &*path]);
        }
    }
    let sentence = text::sentence(emission, looks, sentence_room);
    let mut out = before.into_bytes();
    out.extend(line::json(&*sentence.text)?);
    out.extend(tail.into_bytes());
    Ok((out, sentence))
}

/// An entry as it is told.
#[derive(Serialize)]
struct Entry<'a> {
    key: &'a str,
    severity: &'static str,
    condition: &'static str,
    since: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    repeat: bool,
    brief: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    subject: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
}

fn entry<'a>(item: &'a Item, of: Option<&'a RecordId>, brief: &'a str) -> Entry<'a> {
    let verdict = item.verdict.as_ref().filter(|_| of.is_some());
    Entry {
        key: &item.entry.key,
        severity: item.entry.severity.word(),
        condition: item.entry.condition.word(),
        since: stamp(item.entry.since),
        repeat: item.entry.repeat,
        brief,
        kind: of.and_then(RecordId::kind),
        subject: of.map(RecordId::subject).filter(|subject| !subject.is_empty()),
        decision: verdict.map(|(decision, _)| decision.word()),
        reason: verdict.map(|(_, reason)| reason.as_str()),
    }
}

/// What follows the head, while it fits.
struct Rest<'a> {
    out: &'a mut Vec<u8>,
    room: usize,
    is_cut: bool,
}

impl Rest<'_> {
    /// Adds `,"name":value`; false when it doesn't fit beside `reserve` bytes.
    fn add(&mut self, name: &str, value: &[u8], reserve: usize) -> bool {
        let field = [format!(r#","{name}":"#).as_bytes(), value].concat();
        let fits = self.out.len() + field.len() + reserve <= self.room;
        if fits {
            self.out.extend(field);
        }
        fits
    }

    /// What the line is about.
    fn subject(&mut self, emission: &Emission) -> io::Result<()> {
        let of = text::only(emission).filter(|_| emission.ends != Some(Ends::Watch));
        if let Some(record) = of {
            if let Some(kind) = record.kind() {
                self.add("kind", &line::json(kind)?, 0);
            }
            if !record.subject().is_empty() {
                self.add("subject", &line::json(record.subject())?, 0);
            }
            let revision = emission.records.first().map_or("", |told| &*told.revision);
            // Both can be long only when they are made of control characters.
            if !revision.is_empty() && self.out.len() < LIMIT / 2 {
                self.add("revision", &line::json(revision)?, 0);
            }
        }
        if emission.is_folded() {
            self.add("subjects", emission.subjects.to_string().as_bytes(), 0);
        }
        if let Some(ends) = emission.ends {
            let ends = if ends == Ends::Watch { "watch" } else { "subject" };
            self.add("ends", &line::json(ends)?, 0);
        }
        Ok(())
    }

    fn entries(&mut self, emission: &Emission) -> io::Result<()> {
        let (mut list, mut shown) = (b"[".to_vec(), 0);
        let reserve = r#","entries":,"more":99999999,"context_count":99999999]"#.len();
        for item in emission.items.iter().take(ENTRIES) {
            let record = emission.records.get(item.record).map(|told| &told.id);
            let of = record.filter(|_| emission.is_folded());
            let brief = Text::new(&item.entry.brief, BRIEF);
            let json = line::json(&entry(item, of, brief.as_str()))?;
            if self.out.len() + list.len() + json.len() + reserve > self.room {
                break;
            }
            list.extend(if shown > 0 { &b","[..] } else { b"" });
            list.extend(json);
            self.is_cut |= brief.is_cut();
            shown += 1;
        }
        list.push(b']');
        self.add("entries", &list, 0);
        let all = emission.items.len() + emission.beyond;
        if shown < all {
            self.add("more", (all - shown).to_string().as_bytes(), 0);
        }
        Ok(())
    }

    /// The newest of what was no more than context, as many as fit.
    fn context(&mut self, emission: &Emission) -> io::Result<()> {
        if emission.context_count == 0 {
            return Ok(());
        }
        let newest = &emission.context[emission.context.len().saturating_sub(CONTEXT)..];
        let briefs: Vec<Text> = newest.iter().map(|kept| message::context(kept, BRIEF)).collect();
        for from in 0..briefs.len() {
            let json = line::json(&briefs[from..])?;
            if self.add("context", &json, r#","context_count":99999999"#.len()) {
                self.is_cut |= from > 0 || briefs.iter().any(Text::is_cut);
                break;
            }
        }
        self.add("context_count", emission.context_count.to_string().as_bytes(), 0);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt as _;

    use proptest::prelude::*;
    use serde_json::Value;
    use shared::reading::{parse, settle::settle};

    use super::*;
    use crate::{
        decide::{Decision, Reason},
        testing::{emission, item},
    };

    fn made(emission: &Emission, source: &str, path: Option<&str>) -> (String, Value) {
        let voice = Voice { source, timestamp: Timestamp::UNIX_EPOCH };
        let line = compose(emission, &Looks::default(), voice, path.map(Path::new)).unwrap();
        assert!(line.bytes.len() <= LIMIT && line.bytes.ends_with(b"}\n"), "{}", line.bytes.len());
        let text = String::from_utf8(line.bytes).unwrap();
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["text"], line.text);
        (text, value)
    }

    #[test]
    fn the_example_is_a_line() {
        let look = br#"{"event":"reading","source":"p","kind":"basin","noun":"basin","subject":"mail","facts":{"level":120,"limit":100}}"#;
        let look = settle(parse::reading(look).unwrap().draft);
        let mut looks = Looks::default();
        looks.note(RecordId::of_readings("p", "basin", "mail"), &look);
        let mut emission = emission(": ", &["mail"]);
        emission.items = vec![item(0, "level:high", "120 litres, limit 100")];
        let voice = Voice { source: "wake", timestamp: "2026-04-08T14:10:00Z".parse().unwrap() };
        let path = Path::new("/var/lib/doorbell/wake/ops/b1946ac92492d234.json");
        let line = compose(&emission, &looks, voice, Some(path)).unwrap();
        ::tests::golden(&::tests::root().join("bins/wake/events/wake.json"), &line.bytes);
    }

    #[test]
    fn m1_the_head_fits_whatever_comes() {
        let mut emission = emission(": ", &["mail"]);
        let wide = "\"🦀\\".repeat(40);
        emission.items =
            (0..8).map(|n| item(0, &format!("{n}{}", "k".repeat(199)), &wide)).collect();
        emission.reason = Reason::new(&"r".repeat(40));
        let path = format!("/{}", "p".repeat(89));
        let (text, value) = made(&emission, &"s".repeat(64), Some(&path));
        let head = &text[..text.floor_char_boundary(480)];
        assert!(head.contains(r#""claim":"b1946ac92492d234""#) && head.contains(&path), "{head}");
        let shown = value["entries"].as_array().unwrap().len();
        let more = usize::try_from(value["more"].as_u64().unwrap_or(0)).unwrap();
        assert!(shown > 0 && shown + more == 8 && value["truncated"] == true);
    }

    #[test]
    fn a_line_about_no_entry_lists_none() {
        let (_, value) = made(&emission(": ", &["mail"]), "wake", None);
        assert_eq!((&value["entries"], value.get("more")), (&Value::Array(vec![]), None));
    }

    #[test]
    fn m2_a_long_path_follows_the_head() {
        let mut emission = emission(": ", &["mail"]);
        emission.items = vec![item(0, "k", "b")];
        let path = format!("/{}", "p".repeat(299));
        let (text, value) = made(&emission, "wake", Some(&path));
        assert_eq!((&value["evidence"], &value["evidence_path"]), (&Value::Null, &path.into()));
        assert!(text[..480].contains(r#""evidence":null"#));
        let odd = Path::new(std::ffi::OsStr::from_bytes(b"/p\xff"));
        let voice = Voice { source: "wake", timestamp: Timestamp::UNIX_EPOCH };
        let line = compose(&emission, &Looks::default(), voice, Some(odd)).unwrap();
        assert!(serde_json::from_slice::<Value>(&line.bytes).unwrap()["evidence"].is_null());
        let far = format!("/{}", "p".repeat(2000));
        let (_, value) = made(&emission, "wake", Some(&far));
        assert!(value["evidence"].is_null() && value.get("evidence_path").is_none());
    }

    #[test]
    fn names_of_nothing_but_control_characters_leave_room_for_an_entry() {
        let subject = "\u{1}".repeat(200);
        let mut emission = emission(": ", &[&subject]);
        emission.records[0].revision = "\u{2}".repeat(128);
        emission.items = vec![item(0, &"\u{3}".repeat(200), &"\"".repeat(240))];
        emission.context = vec!["\"".repeat(240); 4];
        emission.context_count = 9;
        let (_, value) = made(&emission, "wake", None);
        assert_eq!(value["entries"].as_array().unwrap().len(), 1);
        assert_eq!((&value["subject"], &value["context_count"]), (&subject.into(), &9.into()));
    }

    #[test]
    fn m6_no_control_character_and_no_separator_is_raw() {
        let mut emission = emission(": ", &["ma\nil"]);
        emission.items = vec![item(0, "k\u{1b}\u{2028}", "a\nb\u{1b}[1m\u{2028}c\u{85}")];
        let (text, value) = made(&emission, "wake", None);
        let raw = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
        assert!(!text.trim_end_matches('\n').contains(raw), "{text}");
        assert!(!value["text"].as_str().unwrap().contains(raw));
        assert_eq!(value["entries"][0]["key"], "k\u{1b}\u{2028}");
    }

    #[test]
    fn a_folded_line_says_of_each_entry_whose_it_is() {
        let mut emission = emission("2 subjects: ", &["mail", "print"]);
        emission.items = vec![item(0, "a", "one"), item(1, "b", "two")];
        emission.items[1].verdict = Some((Decision::StopSuccess, Reason::new("done")));
        emission.context = ["x", "y", "z", "w"].map(str::to_owned).to_vec();
        emission.context_count = 40;
        let (text, value) = made(&emission, "wake", None);
        assert_eq!((&value["subjects"], value.get("subject")), (&2.into(), None));
        let last = &value["entries"][1];
        assert_eq!((&last["subject"], &last["kind"]), (&"print".into(), &"basin".into()));
        assert_eq!((&last["decision"], &last["reason"]), (&"stop_success".into(), &"done".into()));
        assert!(text.contains(r#""context":["y","z","w"],"context_count":40,"id""#), "{text}");
    }

    fn any_text() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            Just("\u{1}".to_owned()),
            Just("\"".to_owned()),
            Just("🦀".to_owned()),
            Just("k".to_owned()),
            Just("\u{2028}".to_owned()),
            Just("|".to_owned()),
        ];
        (piece, 1usize..200)
            .prop_map(|(piece, times)| shared::text::head(&piece.repeat(times), 200).to_owned())
    }

    proptest! {
        #[test]
        fn every_line_fits_and_says_whose_it_is(
            subjects in proptest::collection::vec(any_text(), 1..4),
            entries in proptest::collection::vec((any_text(), any_text(), 0usize..3), 0..20),
            revision in any_text(),
            context in proptest::collection::vec(any_text(), 0..5),
            (source, reason, path) in (1usize..=64, any_text(), 0usize..1500),
        ) {
            let subjects: Vec<&str> = subjects.iter().map(String::as_str).collect();
            let mut emission = emission(": ", &subjects);
            if subjects.len() == 1 {
                emission.reason = Reason::new(&reason);
            }
            emission.records[0].revision = shared::text::head(&revision, 128).to_owned();
            let item = |(key, brief, of): &(String, String, usize)| {
                item(of % subjects.len(), key, brief)
            };
            emission.items = entries.iter().map(item).collect();
            emission.context_count = context.len() as u64;
            emission.context = context;
            let path = format!("/{}", "p".repeat(path));
            let (text, value) = made(&emission, &"s".repeat(source), Some(&path));
            let head = &text[..text.floor_char_boundary(HEAD)];
            prop_assert!(head.contains(r#""claim":"b1946ac92492d234","evidence":"#), "{}", head);
            prop_assert!(value["evidence"].is_null() || head.contains(&path), "{}", head);
            prop_assert!(text::encoded(value["text"].as_str().unwrap()) <= TEXT);
            let shown = value["entries"].as_array().map_or(0, Vec::len);
            let more = usize::try_from(value["more"].as_u64().unwrap_or(0)).unwrap();
            prop_assert_eq!(shown + more, entries.len());
            prop_assert_eq!(shown > 0, !entries.is_empty());
        }
    }
}
