//! What one line of prose says: a heading, a signature, something addressed, or nothing to us.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::{
    names::{self, Names, Route, is_name_byte},
    prose::{Kind, is_blank},
};

/// How a line reaches its reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Via {
    /// A routed heading.
    Heading,
    /// A line that begins with a name.
    Direct,
    /// A name in the middle of a line.
    Mention,
    /// DONE or BLOCKED of a worker of ours.
    Status,
}

/// What a line is to the listener.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reading<'a> {
    /// A heading: it closes the block before it.
    Heading(Heading),
    /// The author's name alone, without `@`: it closes the block above it.
    Signature(&'a str),
    /// Addressed to us.
    Event(Via),
    /// Nothing to us.
    Other,
}

/// What a heading says of the block that it opens.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Heading {
    /// We wrote it.
    pub own: bool,
    /// Who wrote it is known.
    pub known: bool,
    /// A worker of ours wrote it.
    pub worker: bool,
    /// It is addressed to us, or a post of our own.
    pub is_event: bool,
    /// Who wrote it, without `@`, as far as it says.
    pub author: Option<String>,
}

fn trim(text: &str) -> &str {
    text.trim_matches([' ', '\t', '\u{b}', '\u{c}'])
}

/// The text that the tests below see: without the backticks, so that a name in inline code counts.
#[must_use]
pub fn plain(line: &str) -> Cow<'_, str> {
    if line.contains('`') { line.replace('`', "").into() } else { line.into() }
}

/// Whether `line` could be anything but [`Reading::Other`]: decides most lines of a board by
/// their first byte.
#[must_use]
pub fn may_matter(line: &[u8], route: Route) -> bool {
    let first = line.iter().find(|byte| !is_blank(**byte));
    // `→` and `—` begin with 0xe2.
    if first.is_some_and(|first| b"#@-`\xe2".contains(first)) {
        return true;
    }
    let has = |word: &[u8]| memchr::memmem::find(line, word).is_some();
    let has_status = || {
        // Capitals are rare, and two of them are found faster than two words.
        memchr::memchr2(b'D', b'B', line).is_some() && (has(b"DONE") || has(b"BLOCKED"))
    };
    route == Route::Bounded && (memchr::memchr2(b'@', b'`', line).is_some() || has_status())
}

/// Reads a line (see [`plain`]) of a kind that isn't nothing. `of_worker`: it stands in the block
/// of a worker of ours.
#[must_use]
pub fn read<'a>(names: &Names, kind: Kind, line: &'a str, of_worker: bool) -> Reading<'a> {
    let line = trim(line);
    let is_status = |of_worker| {
        names.route() == Route::Bounded && has_status(line) && (of_worker || names.worker_in(line))
    };
    if kind == Kind::Quote {
        let counts = of_worker && is_status(true);
        return if counts { Reading::Event(Via::Status) } else { Reading::Other };
    }
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    if level > 0 && line.as_bytes().get(level).is_some_and(|byte| is_blank(*byte)) {
        let mut heading = heading(names, &line[level..]);
        heading.is_event |= is_status(heading.worker);
        return Reading::Heading(heading);
    }
    if let Some(author) = signature(line) {
        return Reading::Signature(author);
    }
    if is_direct(names, line) {
        return Reading::Event(Via::Direct);
    }
    let is_aside = line.starts_with('—') || line.starts_with("--");
    if names.route() == Route::Bounded && !is_aside && names.mentioned_in(line) {
        return Reading::Event(Via::Mention);
    }
    if is_status(of_worker) { Reading::Event(Via::Status) } else { Reading::Other }
}

/// The parts around the first `→`, else around the first `->`.
fn split_arrow(heading: &str) -> Option<(&str, &str)> {
    heading.split_once('→').or_else(|| heading.split_once("->"))
}

/// The recipient field: up to the summary.
fn recipient_field(after_arrow: &str) -> &str {
    let field = trim(after_arrow);
    let end = [field.find('—'), field.find(" - ")].into_iter().flatten().min();
    &field[..end.unwrap_or(field.len())]
}

fn heading(names: &Names, text: &str) -> Heading {
    let arrow = split_arrow(text);
    let before = arrow.map_or(text, |(before, _)| before);
    let field = arrow.map(|(_, after)| recipient_field(after));
    let signed = arrow.and_then(|(before, _)| names::all_in(before).next());
    let author = signed.map(str::to_owned);
    let mut heading = Heading { author, ..Heading::default() };
    if names.route() == Route::Bounded {
        for author in authors(before) {
            heading.known = true;
            heading.own |= names.is_own(&author);
            heading.worker |= names.is_worker(&author);
            heading.author = heading.author.or(Some(author));
        }
    }
    heading.own |= arrow.is_some() && names.mentioned_in(before);
    let addressed = field.is_some_and(|field| names.mentioned_in(field));
    heading.is_event = heading.own || addressed;
    if names.route() == Route::Bounded {
        heading.is_event |= field.is_some_and(|field| names.bare_in(field).is_some());
        heading.is_event |= names.mentioned_in(text);
    }
    heading
}

/// Whom a heading names as its authors. `before` is what stands before its arrow.
fn authors(before: &str) -> Vec<String> {
    let field = outside_parentheses(before);
    let end = [field.find('—'), field.find(" - ")].into_iter().flatten().min();
    let field = &field[..end.unwrap_or(field.len())];
    field.split('·').filter_map(author).map(str::to_owned).collect()
}

/// The first word of a piece, if it is a name: one with `@`, or one that stands alone.
fn author(piece: &str) -> Option<&str> {
    let mut words = piece.split([' ', '\t', '\u{b}', '\u{c}']).filter(|word| !word.is_empty());
    let first = words.next()?;
    let named = first.strip_prefix('@');
    let word = named.unwrap_or(first);
    let is_name = !word.is_empty() && word.bytes().all(is_name_byte);
    (is_name && (named.is_some() || words.next().is_none())).then_some(word)
}

/// `text` without each `( … )`. A parenthesis that isn't closed is text.
fn outside_parentheses(text: &str) -> Cow<'_, str> {
    let mut kept = Cow::Borrowed("");
    let mut rest = text;
    while let Some((before, group)) = rest.split_once('(')
        && let Some((_, after)) = group.split_once(')')
    {
        kept.to_mut().push_str(before);
        rest = after;
    }
    kept += rest;
    kept
}

/// The name in `— @name`, the whole of a line.
fn signature(line: &str) -> Option<&str> {
    let rest = line.strip_prefix('—').or_else(|| line.strip_prefix("--"))?;
    let name = trim(rest).strip_prefix('@')?;
    (!name.is_empty() && name.bytes().all(is_name_byte)).then_some(name)
}

fn is_direct(names: &Names, line: &str) -> bool {
    let separates = |rest: &str| trim(rest).starts_with([':', '-', '—']);
    if let Some(rest) = line.strip_prefix('→') {
        return names.name_at(trim(rest)).is_some_and(|rest| rest.is_empty() || separates(rest));
    }
    names.mention_at(line).is_some_and(separates)
}

/// Whether DONE or BLOCKED stands in the line as a word: `DONE_W3` is one, `TASK_DONE` isn't.
fn has_status(line: &str) -> bool {
    ["DONE", "BLOCKED"].iter().any(|word| {
        line.match_indices(word).any(|(at, _)| {
            let before = line[..at].chars().next_back();
            let after = line[at + word.len()..].chars().next();
            !before.is_some_and(|c| c == '_' || c.is_alphanumeric())
                && !after.is_some_and(char::is_alphanumeric)
        })
    })
}

/// The most recipients that are told of.
const RECIPIENTS: usize = 16;

/// To whom a line that is an event is addressed, as it is written there.
#[must_use]
pub fn recipients(names: &Names, via: Via, line: &str) -> Vec<String> {
    let line = &*plain(line);
    let line = trim(line);
    let at = |name: &str| format!("@{name}");
    match via {
        Via::Heading => {
            let field = split_arrow(line).map_or("", |(_, after)| recipient_field(after));
            let mut found: Vec<String> = names::all_in(field).map(at).take(RECIPIENTS).collect();
            let bare = names.bare_in(field).filter(|_| {
                names.route() == Route::Bounded
                    && !names.mentioned_in(field)
                    && found.len() < RECIPIENTS
            });
            found.extend(bare.map(str::to_owned));
            found
        }
        Via::Direct => {
            let text = trim(line.strip_prefix('→').unwrap_or(line));
            let rest = names.name_at(text).map_or(0, str::len);
            vec![text[..text.len() - rest].to_owned()]
        }
        Via::Mention => names::all_in(line).map(at).take(RECIPIENTS).collect(),
        Via::Status => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bounded() -> Names {
        Names::new("lead", &[], Route::Bounded)
    }

    fn heading_of(line: &str) -> Heading {
        let Reading::Heading(heading) = read(&bounded(), Kind::Prose, line, false) else {
            panic!("no heading: {line}")
        };
        heading
    }

    #[test]
    fn authors_stand_alone_or_have_an_at() {
        for (line, author) in [
            ("### @worker — x", Some("worker")),
            ("### worker (14:05)", Some("worker")),
            ("### 14:05 · worker", Some("worker")),
            ("### worker · desk-4 → lead", Some("worker")),
            ("### @worker for x", Some("worker")),
            ("### worker said hi", None),
            ("### worker, tester", None),
            ("### worker: x", None),
            ("### **worker**", None),
            ("### 14:05 worker", None),
            ("### worker (a — b) — x", Some("worker")),
            ("### a (x) b", None),
            ("### worker (a · b)", Some("worker")),
            ("### x, y · worker (1) (2)", Some("worker")),
            ("### worker (x", None),
            ("### — x", None),
        ] {
            let heading = heading_of(line);
            assert_eq!(
                (heading.author.as_deref(), heading.known),
                (author, author.is_some()),
                "{line}"
            );
        }
    }

    #[test]
    fn signatures_are_a_name_alone() {
        for (line, name) in [
            ("— @worker", Some("worker")),
            ("--@lead.", Some("lead.")),
            ("—\t@a_b-c.d", Some("a_b-c.d")),
            ("--- @worker", None),
            ("— worker", None),
            ("- @worker", None),
            ("— @worker, for @lead", None),
            ("— @", None),
        ] {
            assert_eq!(signature(line), name, "{line}");
        }
    }

    #[test]
    fn status_words_are_words() {
        for line in ["DONE_W3", "**DONE**", "not DONE yet", "x (BLOCKED)"] {
            assert!(has_status(line), "{line}");
        }
        for line in ["TASK_DONE", "UNDONE", "DONE1", "Done", "DONEé", "éDONE", "BLOCKEDX"] {
            assert!(!has_status(line), "{line}");
        }
    }

    #[test]
    fn recipients_are_as_written() {
        let names = bounded();
        for (via, line, want) in [
            (Via::Heading, "### @w → @Lead, @tester — for @x", &["@Lead", "@tester"][..]),
            (Via::Heading, "### w → `lead`, @tester", &["@tester", "lead"]),
            (Via::Heading, "### Minutes for @lead", &[]),
            (Via::Direct, "→ lead: x", &["lead"]),
            (Via::Direct, "  @LEAD : x @y", &["@LEAD"]),
            (Via::Mention, "ask @tester or @lead.", &["@tester", "@lead"]),
            (Via::Status, "lead-w3 DONE @lead", &[]),
        ] {
            assert_eq!(recipients(&names, via, line), want, "{line}");
        }
    }

    #[test]
    fn what_cannot_matter_is_other() {
        for (route, matters) in [(Route::Strict, false), (Route::Bounded, true)] {
            for line in ["see @lead", "x DONE", "x BLOCKED", "a ` b"] {
                assert_eq!(may_matter(line.as_bytes(), route), matters, "{line}");
            }
            assert!(!may_matter(b"plain text, error, PR, done", route));
            assert!(may_matter("  → lead".as_bytes(), route));
        }
    }
}
