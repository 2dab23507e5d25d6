//! What it tells.

use serde::Serialize;
use shared::line::{self, Condition, Mark, mark};

/// Beyond this many bytes a key has its path's digest instead.
const LONGEST_KEY: usize = 200;

/// `feed_update`: a feed changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename = "feed_update")]
pub struct FeedUpdate {
    /// `feed_update`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// When its content changed last, RFC 3339 in UTC.
    pub mtime: String,
    /// Which, absolute.
    pub path: String,
    /// What tells this version from others.
    #[serde(skip)]
    pub version: String,
}

impl line::Event for FeedUpdate {
    fn mark(&self) -> Mark {
        let mut key = format!("feed:{}", self.path);
        if key.len() > LONGEST_KEY {
            key = format!("feed:{}", line::digest(self.path.as_bytes()));
        }
        mark(&key, Condition::Once, &[&self.version])
    }

    fn id(&self) -> Option<String> {
        let parts = ["feed-watch", "feed_update", &self.path, "", &self.version];
        Some(line::digest(parts.join("\u{1f}").as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn update(path: &str) -> FeedUpdate {
        FeedUpdate {
            kind: "feed_update",
            mtime: "2026-04-08T14:09:58Z".to_owned(),
            path: path.to_owned(),
            version: "1 2 3 4 5".to_owned(),
        }
    }

    fn line(update: &FeedUpdate) -> String {
        let at = "2026-04-08T14:10:00Z".parse().unwrap();
        let source = "feed-watch".to_owned();
        let speaker = line::Speaker { program: "feed-watch", source, subject: String::new() };
        String::from_utf8(speaker.line(update, at).unwrap()).unwrap()
    }

    #[test]
    fn a_line_has_its_keys_in_order() {
        let text = line(&update("/p/.bmb/consultant-feed.md"));
        assert_eq!(text, include_str!("../events/feed_update.json"));
    }

    #[test]
    fn a_long_path_is_a_digest_in_the_key() {
        let key = |length: usize| {
            let path = format!("/{}", "x".repeat(length - 1));
            let value: serde_json::Value = serde_json::from_str(&line(&update(&path))).unwrap();
            (value["key"].as_str().unwrap().to_owned(), path)
        };
        let (short, path) = key(195);
        assert_eq!(short, format!("feed:{path}"));
        let (long, path) = key(196);
        assert_eq!(long, format!("feed:{}", line::digest(path.as_bytes())));
    }

    #[test]
    fn g10_a_path_of_4000_bytes_is_one_line_of_at_most_4096() {
        for path in ["a".repeat(4000), "a b\"c\n".repeat(660)] {
            let text = line(&update(&path));
            assert!(text.len() <= 4096 && text.trim_end().lines().count() == 1, "{text}");
            let value: serde_json::Value = serde_json::from_str(&text).unwrap();
            assert_eq!(value["truncated"], true, "{text}");
        }
    }
}
