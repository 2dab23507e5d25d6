//! The sentence of a line: what a reader sees who looks no further.

use serde_json::Value;
use shared::text::{Text, clean};

use crate::{
    decide::{Emission, Entry, Item, RecordId},
    looks::Looks,
};

/// More of one item than any sentence has room for.
const ITEM: usize = 600;

/// A sentence that fits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sentence {
    /// It.
    pub text: String,
    /// Whether something of it was cut.
    pub is_cut: bool,
}

/// How many bytes `c` takes in a line.
fn width(c: char) -> usize {
    match c {
        '"' | '\\' | '\u{8}' | '\t' | '\n' | '\u{c}' | '\r' => 2,
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' => 6,
        _ => c.len_utf8(),
    }
}

/// How many bytes `text` takes in a line, without its quotes.
#[must_use]
pub fn encoded(text: &str) -> usize {
    text.chars().map(width).sum()
}

/// The longest beginning of `text` that takes at most `room` bytes in a line.
fn cut(text: &str, room: usize) -> &str {
    let mut used = 0;
    let end = text.char_indices().find(|(_, c)| {
        used += width(*c);
        used > room
    });
    &text[..end.map_or(text.len(), |(at, _)| at)]
}

/// The sentence of a line, of at most `room` bytes as encoded: lead, items, facts.
#[must_use]
pub fn sentence(emission: &Emission, looks: &Looks, room: usize) -> Sentence {
    let lead = lead(emission, looks);
    let mut text = cut(&lead, room).to_owned();
    let mut is_cut = text.len() < lead.len();
    let mut shown = 0;
    while let Some(item) = emission.items.get(shown).filter(|_| !is_cut) {
        let before = if shown > 0 { "; " } else { gap(&text) };
        let item = format!("{before}{}", words(emission, item));
        let left = emission.items.len() + emission.beyond - shown - 1;
        let free = room.saturating_sub(encoded(&text) + encoded(&more(left)));
        if encoded(&item) <= free {
            text += &item;
        } else if shown == 0 {
            text += cut(&item, free);
            is_cut = true;
        } else {
            break;
        }
        shown += 1;
    }
    let rest = more(emission.items.len() + emission.beyond - shown);
    if encoded(&text) + encoded(&rest) <= room {
        text += &rest;
    }
    if let (Some(record), false) = (only(emission), is_cut) {
        let free = room.saturating_sub(encoded(&text));
        text += &facts(looks.of(record).map_or(&[], |picture| &picture.facts), free);
    }
    Sentence { text, is_cut }
}

fn gap(lead: &str) -> &'static str {
    if lead.is_empty() || lead.ends_with(' ') { "" } else { ": " }
}

fn more(left: usize) -> String {
    if left == 0 { String::new() } else { format!(" (+{left} more)") }
}

/// The one record that a line is about, if it is about one.
#[must_use]
pub fn only(emission: &Emission) -> Option<&RecordId> {
    match &emission.records[..] {
        [record] if !emission.is_folded() => Some(&record.id),
        _ => None,
    }
}

fn lead(emission: &Emission, looks: &Looks) -> String {
    let lead = Text::new(&emission.lead, ITEM);
    let Some(record) = only(emission) else { return lead.as_str().to_owned() };
    let noun = looks.of(record).map(|picture| &*picture.noun).filter(|noun| !noun.is_empty());
    let noun = noun.map_or(String::new(), |noun| format!("{noun} "));
    let whose = format!("{noun}{}", clean(&subject(record)));
    if whose.is_empty() {
        return lead.as_str().trim_start_matches([':', ',', ' ']).to_owned();
    }
    whose + lead.as_str()
}

/// What a person calls the subject: of events, the source too.
fn subject(record: &RecordId) -> String {
    match (record.is_of_events(), record.subject()) {
        (true, "") => record.source().to_owned(),
        (true, subject) => format!("{} {subject}", record.source()),
        (false, subject) => subject.to_owned(),
    }
}

fn words(emission: &Emission, item: &Item) -> String {
    let told = told(&item.entry);
    let of = emission.records.get(item.record).filter(|_| emission.is_folded());
    let text = of.map_or(told.clone(), |record| format!("{} {told}", subject(&record.id)));
    Text::new(&text, ITEM).as_str().to_owned()
}

/// `key: brief`, or the brief alone if it begins with the key.
fn told(entry: &Entry) -> String {
    let Entry { key, brief, .. } = entry;
    if brief.is_empty() {
        key.clone()
    } else if brief.starts_with(&**key) {
        brief.clone()
    } else {
        format!("{key}: {brief}")
    }
}

/// ` [name value, …]`, as many as there is room for.
fn facts(facts: &[(String, Value)], room: usize) -> String {
    let mut text = String::new();
    for (name, value) in facts {
        let value = match value {
            Value::String(value) => clean(value).into_owned(),
            Value::Number(_) | Value::Bool(_) => value.to_string(),
            Value::Null | Value::Array(_) | Value::Object(_) => continue,
        };
        let before = if text.is_empty() { " [" } else { ", " };
        let fact = format!("{before}{name} {value}");
        if encoded(&text) + encoded(&fact) + 1 > room {
            break;
        }
        text += &fact;
    }
    if text.is_empty() { text } else { text + "]" }
}

#[cfg(test)]
mod tests {
    use shared::reading::{Severity, Status, parse, settle::settle};

    use super::*;
    use crate::testing::{emission, item};

    fn looks() -> Looks {
        let line = br#"{"event":"reading","source":"p","kind":"basin","noun":"basin","subject":"mail","facts":{"depth":120,"limit":100,"deep":{},"who":"me"}}"#;
        let look = settle(parse::reading(line).unwrap().draft);
        assert_eq!(look.status, Status::Pending);
        let mut looks = Looks::default();
        looks.note(RecordId::of_readings("p", "basin", "mail"), &look);
        looks
    }

    fn text(emission: &Emission, room: usize) -> String {
        let sentence = sentence(emission, &looks(), room);
        assert!(encoded(&sentence.text) <= room, "{}", sentence.text);
        sentence.text
    }

    #[test]
    fn m4_the_sentence_says_what_changed() {
        let mut emission = emission(": ", &["mail"]);
        emission.items = vec![item(0, "depth:high", "120 jobs waiting, limit 100")];
        assert_eq!(
            text(&emission, 280),
            "basin mail: depth:high: 120 jobs waiting, limit 100 [depth 120, limit 100, who me]"
        );
        emission.items.push(item(0, "b", "b is said"));
        emission.items.push(item(0, "c", ""));
        assert_eq!(
            text(&emission, 80),
            "basin mail: depth:high: 120 jobs waiting, limit 100; b is said; c [depth 120]"
        );
        assert_eq!(
            text(&emission, 66),
            "basin mail: depth:high: 120 jobs waiting, limit 100 (+2 more)"
        );
        assert_eq!(text(&emission, 40), "basin mail: depth:high: 120 jo (+2 more)");
    }

    #[test]
    fn a_folded_line_names_each_subject() {
        let mut emission = emission("2 subjects: ", &["mail", "print"]);
        emission.items = vec![item(0, "a", "one"), item(1, "b", "two")];
        assert_eq!(text(&emission, 280), "2 subjects: mail a: one; print b: two");
    }

    #[test]
    fn an_end_is_told_before_its_entries() {
        let mut emission = emission(" ended: run (x)", &["mail"]);
        assert!(text(&emission, 280).starts_with("basin mail ended: run (x) ["));
        emission.items = vec![item(0, "run", "run over")];
        emission.items[0].entry.severity = Severity::Terminal;
        assert!(text(&emission, 280).starts_with("basin mail ended: run (x): run over ["));
        let watch = crate::testing::emission("watch ops ended: max_wakes spent (8 of 8)", &[]);
        assert_eq!(text(&watch, 280), "watch ops ended: max_wakes spent (8 of 8)");
    }

    #[test]
    fn quotes_and_wide_characters_count_as_they_are_encoded() {
        let mut emission = emission(": ", &["mail"]);
        emission.items = vec![item(0, "k", &"\"🦀".repeat(100))];
        for room in 0..120 {
            text(&emission, room);
        }
    }
}
