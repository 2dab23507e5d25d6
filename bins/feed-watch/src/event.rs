//! What it tells.

use serde::Serialize;
use shared::line::{self, Condition, Mark, mark};

/// A feed changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename = "feed_update")]
pub struct FeedUpdate {
    /// `feed_update`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// When it changed last.
    pub mtime: String,
    /// Which.
    pub path: String,
    /// What tells this version from others.
    #[serde(skip)]
    pub version: String,
}

impl line::Event for FeedUpdate {
    fn mark(&self) -> Mark {
        let long = self.path.len() > 200;
        let name = if long { line::digest(self.path.as_bytes()) } else { self.path.clone() };
        mark(&format!("feed:{name}"), Condition::Once, &[&self.version])
    }

    fn id(&self) -> Option<String> {
        let parts = ["feed-watch", "feed_update", &self.path, "", &self.version];
        Some(line::digest(parts.join("\u{1f}").as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_its_keys_in_order() {
        let update = FeedUpdate {
            kind: "feed_update",
            mtime: "2026-04-08T14:09:58Z".to_owned(),
            path: "/p/.bmb/consultant-feed.md".to_owned(),
            version: "1 2 3 4 5".to_owned(),
        };
        let at = "2026-04-08T14:10:00Z".parse().unwrap();
        let source = "feed-watch".to_owned();
        let speaker = line::Speaker { program: "feed-watch", source, subject: String::new() };
        let text = String::from_utf8(speaker.line(&update, at).unwrap()).unwrap();
        assert_eq!(text, include_str!("../events/feed_update.json"));
    }
}
