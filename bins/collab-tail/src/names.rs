//! The names of one seat, and where they stand in a text.
//!
//! A name is one only if it isn't part of a longer word, in any script: what may stand beside it
//! differs with the mode.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How much counts as addressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Route {
    /// Only what is anchored on both sides: routed headings, direct lines.
    Strict,
    /// Mentions, bare recipients and the status of one's own workers, too.
    Bounded,
}

impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Strict => "strict",
            Self::Bounded => "bounded",
        })
    }
}

/// The listener and its aliases, without `@`, in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Names {
    list: Vec<String>,
    route: Route,
}

/// Whether `c` belongs to a word, so that a name beside it is part of a longer one.
fn is_word(c: char) -> bool {
    c == '_' || c == '-' || c.is_alphanumeric() || ('\u{300}'..='\u{36f}').contains(&c)
}

/// Whether a name can't begin right of `c`.
fn binds_left(c: char) -> bool {
    is_word(c) || c == '.' || c == '@'
}

/// Whether `c` can be part of an `@name` of anybody.
pub(crate) fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_.-".contains(&byte)
}

impl Names {
    /// The names of `listener` and `aliases`, as `route` reads them.
    #[must_use]
    pub fn new(listener: &str, aliases: &[String], route: Route) -> Self {
        let mut list: Vec<String> = Vec::with_capacity(1 + aliases.len());
        for name in std::iter::once(listener).chain(aliases.iter().map(String::as_str)) {
            let name = name.to_ascii_lowercase();
            if !list.contains(&name) {
                list.push(name);
            }
        }
        Self { list, route }
    }

    /// All of them, the listener first.
    #[must_use]
    pub fn list(&self) -> &[String] {
        &self.list
    }

    /// The mode they are read in.
    #[must_use]
    pub fn route(&self) -> Route {
        self.route
    }

    /// Whether `name`, without `@`, is one of ours.
    #[must_use]
    pub fn is_own(&self, name: &str) -> bool {
        self.list.iter().any(|own| own.eq_ignore_ascii_case(name))
    }

    /// Whether `name` is that of a worker of ours: `lead-w3`, `lead-r1`.
    #[must_use]
    pub fn is_worker(&self, name: &str) -> bool {
        self.worker_at(name).is_some_and(str::is_empty)
    }

    /// Whether an own `@name` stands anywhere in `text`.
    #[must_use]
    pub fn mentioned_in(&self, text: &str) -> bool {
        memchr::memchr_iter(b'@', text.as_bytes()).any(|at| {
            let before = text[..at].chars().next_back();
            !before.is_some_and(binds_left) && self.own_at(&text[at + 1..]).is_some()
        })
    }

    /// The first own name that stands in `text` without an `@`, as it is written there.
    #[must_use]
    pub fn bare_in<'a>(&self, text: &'a str) -> Option<&'a str> {
        let mut before = None;
        for (at, c) in text.char_indices() {
            if c.is_ascii_alphanumeric()
                && !before.is_some_and(binds_left)
                && let Some(rest) = self.own_at(&text[at..])
            {
                return Some(&text[at..text.len() - rest.len()]);
            }
            before = Some(c);
        }
        None
    }

    /// Whether the name of a worker of ours stands anywhere in `text`.
    #[must_use]
    pub fn worker_in(&self, text: &str) -> bool {
        let mut before = None;
        text.char_indices().any(|(at, c)| {
            let free = !before.is_some_and(|c| is_word(c) || c == '.');
            before = Some(c);
            let rest = (free && c.is_ascii_alphanumeric()).then(|| self.worker_at(&text[at..]));
            rest.flatten().is_some_and(|rest| !rest.chars().next().is_some_and(is_word))
        })
    }

    /// What follows an own `@name` at the very start of `text`.
    #[must_use]
    pub fn mention_at<'a>(&self, text: &'a str) -> Option<&'a str> {
        self.own_at(text.strip_prefix('@')?)
    }

    /// What follows an own name, with or without `@`, at the very start of `text`.
    #[must_use]
    pub fn name_at<'a>(&self, text: &'a str) -> Option<&'a str> {
        self.own_at(text.strip_prefix('@').unwrap_or(text))
    }

    /// What follows an own name at the start of `text`, if nothing there makes it a longer one.
    fn own_at<'a>(&self, text: &'a str) -> Option<&'a str> {
        self.list.iter().find_map(|own| {
            let rest = without_prefix(text, own)?;
            let binds = |c: char| is_word(c) || (c == '.' && self.route == Route::Strict);
            (!rest.chars().next().is_some_and(binds)).then_some(rest)
        })
    }

    /// What follows a worker's name at the start of `text`.
    fn worker_at<'a>(&self, text: &'a str) -> Option<&'a str> {
        self.list.iter().find_map(|own| {
            let rest = without_prefix(text, own)?.strip_prefix('-')?;
            let rest = rest.strip_prefix(['w', 'W', 'r', 'R'])?;
            let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            (end > 0).then(|| &rest[end..])
        })
    }
}

/// `text` without `prefix`, which is ASCII, in either case.
fn without_prefix<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let (head, rest) = text.split_at_checked(prefix.len())?;
    head.eq_ignore_ascii_case(prefix).then_some(rest)
}

/// The `@names` of anybody in `text`, without their `@` and a full stop after them.
pub fn all_in(text: &str) -> impl Iterator<Item = &str> {
    memchr::memchr_iter(b'@', text.as_bytes()).filter_map(move |at| {
        if text[..at].chars().next_back().is_some_and(binds_left) {
            return None;
        }
        let rest = &text[at + 1..];
        let end = rest.bytes().position(|byte| !is_name_byte(byte)).unwrap_or(rest.len());
        let name = rest[..end].trim_end_matches('.');
        (!name.is_empty()).then_some(name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(route: Route) -> Names {
        Names::new("lead", &["Desk-4".to_owned()], route)
    }

    #[test]
    fn a_longer_word_is_no_name() {
        for route in [Route::Strict, Route::Bounded] {
            for text in [
                "ops@lead",
                ".@lead",
                "@@lead",
                "_@lead_",
                "@lead-2",
                "@leads",
                "@leadさん",
                "@leadß",
                "ñ@lead",
                "-@lead",
                "@lead_x",
                "@leade\u{301}",
                "@lead\u{301}",
            ] {
                assert!(!names(route).mentioned_in(text), "{text} {route}");
            }
            for text in [
                "(@lead)",
                "**@lead**",
                "[@lead](u)",
                "@tester/@lead",
                "@lead's",
                "@lead’s",
                "“@lead”",
                "@lead?",
                "@LEAD,",
                "x @desk-4",
                "#@lead",
                "@",
                "@lead—x",
            ] {
                assert_eq!(names(route).mentioned_in(text), text != "@", "{text} {route}");
            }
        }
    }

    #[test]
    fn a_full_stop_ends_a_name_in_bounded_only() {
        for text in ["@lead.", "@lead.md"] {
            assert!(!names(Route::Strict).mentioned_in(text));
            assert!(names(Route::Bounded).mentioned_in(text));
        }
    }

    #[test]
    fn bare_names_stand_alone() {
        let bare = |text| names(Route::Bounded).bare_in(text);
        assert_eq!(bare("worker, **Lead**"), Some("Lead"));
        assert_eq!(bare("leader, lead"), Some("lead"));
        assert_eq!(bare("lead.md"), Some("lead"));
        for text in ["misleading", "lead-2", "x.lead", "@lead", "xzzz", ""] {
            assert_eq!(bare(text), None, "{text}");
        }
    }

    #[test]
    fn workers_have_a_number() {
        let names = names(Route::Bounded);
        for text in ["lead-w3", "(@lead-r12)", "lead-w1. DONE", "desk-4-w2"] {
            assert!(names.worker_in(text), "{text}");
        }
        for text in
            ["lead-wx", "xlead-w1", ".lead-w1", "lead-x1", "lead-w1a", "lead-w", "lead-w1-2"]
        {
            assert!(!names.worker_in(text), "{text}");
        }
        assert!(names.is_worker("Lead-w3") && !names.is_worker("lead-w1.5"));
    }

    #[test]
    fn names_of_anybody_are_found() {
        let found: Vec<&str> = all_in("@a, ops@b, (@c.d), @e. @@f @").collect();
        assert_eq!(found, ["a", "c.d", "e"]);
    }
}
