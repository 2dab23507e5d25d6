//! The events, as they are printed.

use std::path::Path;

use serde::Serialize;
use shared::{
    line::{Condition, Event, Mark, digest},
    text::Text,
};

use crate::{
    grammar::Via,
    hash::Hash,
    names::Route,
    trouble::{Rewritten, Shrunk, Warning},
};

/// The longest path that a key holds.
const KEY_PATH: usize = 200;

/// What this program tells.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Told {
    /// The first complete look was taken.
    MonitorArmed(Armed),
    /// Somebody addressed the listener.
    CollabMail(Addressed),
    /// The listener's own post.
    SelfPost(Addressed),
    /// A board became smaller.
    FileShrunk(Shrunk),
    /// What was read of a board reads otherwise now.
    FileRewritten(Rewritten),
    /// Something is wrong with a board, or no longer.
    WatchWarn(Warning),
}

/// `monitor_armed`: what is watched from now on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Armed {
    /// The listener, with `@`.
    pub listener: String,
    /// What counts as addressed.
    pub route: Route,
    /// How many boards are watched.
    pub files: usize,
    /// What isn't seen.
    pub not_covered: Vec<&'static str>,
    /// Their canonical paths, as many as fit.
    pub watching: Vec<String>,
    /// When: part of the `id`.
    #[serde(skip)]
    pub said_at: String,
}

/// `collab_mail` and `self_post`: one line of a board.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Addressed {
    /// The listener, with `@`.
    pub listener: String,
    /// Who wrote it, with `@`, as far as the board says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// The line: without control characters and credentials, cut where it is too long.
    pub text: String,
    /// Whether it is a heading.
    pub heading: bool,
    /// How it reaches the listener.
    pub via: Via,
    /// To whom it is addressed, as written there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub recipients: Vec<String>,
    /// The board's canonical path.
    pub file: String,
    /// The line's number, from 1.
    pub line_number: u64,
    /// Where it begins.
    pub byte_offset: u64,
    /// SHA-256 of the clean line and a newline.
    pub hash: Hash,
    /// Which of the equal headings of its file it is, from 1.
    #[serde(skip)]
    pub occurrence: u32,
    /// Whether `text` was cut.
    #[serde(skip)]
    pub is_cut: bool,
}

impl Addressed {
    fn id(&self) -> String {
        let listener = self.listener.trim_start_matches('@');
        join(&[listener, &self.hash.to_string(), &self.occurrence.to_string()])
    }
}

impl Told {
    /// The event's name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::MonitorArmed(_) => "monitor_armed",
            Self::CollabMail(_) => "collab_mail",
            Self::SelfPost(_) => "self_post",
            Self::FileShrunk(_) => "file_shrunk",
            Self::FileRewritten(_) => "file_rewritten",
            Self::WatchWarn(_) => "watch_warn",
        }
    }

    /// The board, its matter, the condition and the count: what identifies an event about a board.
    fn about(&self) -> Option<(&str, &'static str, Condition, u64)> {
        match self {
            Self::FileShrunk(it) => Some((&it.file, "shrunk", Condition::Once, it.count)),
            Self::FileRewritten(it) => Some((&it.file, "rewritten", Condition::Once, it.count)),
            Self::WatchWarn(it) => Some((&it.file, it.reason.word(), it.condition(), it.count)),
            _ => None,
        }
    }
}

impl Event for Told {
    fn mark(&self) -> Mark {
        let key = match self {
            Self::MonitorArmed(_) => None,
            Self::CollabMail(it) => {
                Some((format!("mail:{}:{}", it.listener, it.id()), Condition::Once))
            }
            Self::SelfPost(it) => {
                Some((format!("self:{}:{}", it.listener, it.id()), Condition::Once))
            }
            _ => self.about().map(|(file, matter, condition, _)| {
                (format!("board:{}:{matter}", in_key(file)), condition)
            }),
        };
        let discriminator = match self {
            Self::MonitorArmed(armed) => armed.said_at.clone(),
            _ => String::new(),
        };
        Mark { key, discriminator }
    }

    fn id(&self) -> Option<String> {
        match self {
            Self::CollabMail(it) | Self::SelfPost(it) => Some(it.id()),
            _ => self.about().map(|(file, matter, condition, count)| {
                // The event's name says it where there is no reason of its own.
                let reason = if matches!(self, Self::WatchWarn(_)) { matter } else { "" };
                let condition = match condition {
                    Condition::Raised => "raised",
                    Condition::Cleared => "cleared",
                    Condition::Once => "once",
                };
                join(&[self.name(), file, reason, condition, &count.to_string()])
            }),
        }
    }

    fn is_cut(&self) -> bool {
        match self {
            Self::CollabMail(it) | Self::SelfPost(it) => it.is_cut,
            Self::WatchWarn(it) => it.detail.as_ref().is_some_and(Text::is_cut),
            _ => false,
        }
    }

    fn free_text() -> &'static [&'static str] {
        &["text", "watching"]
    }
}

fn join(parts: &[&str]) -> String {
    digest(parts.join("\u{1f}").as_bytes())
}

fn in_key(path: &str) -> String {
    if path.len() > KEY_PATH { digest(path.as_bytes()) } else { path.to_owned() }
}

/// A path as it is printed.
#[must_use]
pub fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use serde_json::Value;
    use shared::line::{LIMIT, Speaker};

    use super::*;
    use crate::trouble::{How, Trouble};

    fn line(event: &Told) -> String {
        let speaker = Speaker {
            program: "collab-tail",
            source: "collab-tail".into(),
            subject: String::new(),
        };
        let at: Timestamp = "2026-04-08T14:10:00Z".parse().unwrap();
        String::from_utf8(speaker.line(event, at).unwrap()).unwrap()
    }

    fn mail(text: &str) -> Addressed {
        Addressed {
            listener: "@lead".into(),
            author: Some("@worker".into()),
            text: text.into(),
            heading: true,
            via: Via::Heading,
            recipients: vec!["@lead".into()],
            file: "/srv/boards/lane-3.md".into(),
            line_number: 118,
            byte_offset: 5120,
            hash: Hash::of(&["### @worker → @lead — tests are green\n".as_bytes()]),
            occurrence: 1,
            is_cut: false,
        }
    }

    #[test]
    fn every_event_is_as_its_example() {
        let file = "/srv/boards/lane-3.md".to_owned();
        let post = Addressed {
            author: Some("@lead".into()),
            recipients: vec!["@worker".into()],
            line_number: 120,
            byte_offset: 5300,
            hash: Hash::of(&["### @lead → @worker — go on\n".as_bytes()]),
            ..mail("### @lead → @worker — go on")
        };
        let shrunk = Shrunk {
            file: file.clone(),
            old_bytes: 123,
            new_bytes: 80,
            delta_bytes: 43,
            rewritten: false,
            count: 1,
        };
        let rewritten = Rewritten {
            file: file.clone(),
            how: How::Edited,
            from_byte: 65_536,
            old_bytes: 70_000,
            new_bytes: 70_210,
            count: 1,
        };
        let mut fence = Warning::raised(file.clone(), Trouble::UnclosedFence, "", 1);
        fence.line_number = Some(42);
        let armed = Armed {
            listener: "@lead".into(),
            route: Route::Strict,
            files: 1,
            not_covered: vec!["the death of this process"],
            watching: vec![file],
            said_at: "2026-04-08T14:10:00Z".into(),
        };
        for event in [
            Told::MonitorArmed(armed),
            Told::CollabMail(mail("### @worker → @lead — tests are green")),
            Told::SelfPost(post),
            Told::FileShrunk(shrunk),
            Told::FileRewritten(rewritten),
            Told::WatchWarn(fence),
        ] {
            let path = format!("{}/events/{}.json", env!("CARGO_MANIFEST_DIR"), event.name());
            ::tests::golden(Path::new(&path), line(&event).as_bytes());
        }
    }

    #[test]
    fn the_id_of_a_post_is_of_listener_hash_and_occurrence() {
        let id = |mail: Addressed| {
            let value: Value = serde_json::from_str(&line(&Told::CollabMail(mail))).unwrap();
            value["id"].as_str().unwrap().to_owned()
        };
        assert_eq!(id(mail("x")), "973fc023deb3f405");
        assert_ne!(id(Addressed { occurrence: 2, ..mail("x") }), "973fc023deb3f405");
        assert_ne!(id(Addressed { listener: "@b".into(), ..mail("x") }), "973fc023deb3f405");
    }

    #[test]
    fn the_text_is_cut_before_the_path() {
        let long = Addressed { file: format!("/{}", "p".repeat(2000)), ..mail(&"x".repeat(3900)) };
        let line = line(&Told::CollabMail(long));
        let value: Value = serde_json::from_str(&line).unwrap();
        assert!(line.len() <= LIMIT && value["truncated"] == true);
        assert_eq!(value["file"].as_str().map(str::len), Some(2001));
    }

    #[test]
    fn a_long_path_is_a_digest_in_a_key() {
        let file = format!("/{}", "p".repeat(200));
        let warning = Warning::cleared(file.clone(), Trouble::ReadFailed, 2);
        let value: Value = serde_json::from_str(&line(&Told::WatchWarn(warning))).unwrap();
        assert_eq!(value["key"], format!("board:{}:read-failed", digest(file.as_bytes())));
        assert_eq!(value["condition"], "cleared");
        assert!(value.get("action").is_none());
    }
}
