//! What `gh api -i` printed: a status line, headers, a body; and what it complained of.

use std::time::Duration;

use jiff::Timestamp;
use serde::Deserialize;

use super::class::{self, Class, Trouble};
use crate::{clock::Now, cooldown};

/// `gh`'s exit code for want of a login.
const NO_LOGIN: i32 = 4;

/// A reply. The exit code does not decide: `gh` exits 1 for an answer that is there to be used.
#[derive(Debug)]
pub(super) struct Reply {
    code: Option<i32>,
    status: Option<u16>,
    headers: Vec<(String, String)>,
    printed: Vec<u8>,
    body_at: usize,
    stderr: String,
}

impl Reply {
    pub(super) fn new(code: Option<i32>, printed: Vec<u8>, stderr: &[u8]) -> Self {
        let stderr = String::from_utf8_lossy(stderr).into_owned();
        let (status, headers, body_at) = head(&printed).unwrap_or_default();
        Self { code, status, headers, printed, body_at, stderr }
    }

    /// `None`: nobody answered.
    pub(super) fn status(&self) -> Option<u16> {
        self.status
    }

    /// A header, by its name in lower case.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.headers.iter().filter(|(known, _)| known == name);
        found.next().map(|(_, value)| &**value)
    }

    pub(super) fn body(&self) -> &[u8] {
        self.printed.get(self.body_at..).unwrap_or_default()
    }

    pub(super) fn into_body(mut self) -> Vec<u8> {
        self.printed.drain(..self.body_at.min(self.printed.len()));
        self.printed
    }

    /// When the budget is whole again, if it is spent.
    pub(super) fn reset(&self) -> Option<Timestamp> {
        let left = self.header("x-ratelimit-remaining")?.trim().parse::<u64>().ok()?;
        let reset = self.header("x-ratelimit-reset")?.trim().parse().ok()?;
        if left > 0 { None } else { Timestamp::from_second(reset).ok() }
    }

    /// When it wants to be asked again, if it says so.
    pub(super) fn retry_at(&self, now: &Now) -> Option<Timestamp> {
        let seconds = self.header("retry-after").and_then(|text| text.trim().parse::<u64>().ok());
        let after = seconds.map(Duration::from_secs).map(|span| span.min(cooldown::LONGEST));
        after.and_then(|span| now.wall.checked_add(span).ok()).or_else(|| self.reset())
    }

    /// Why this reply is of no use.
    pub(super) fn trouble(&self, host: &str) -> Trouble {
        if self.status.is_none() && self.code == Some(NO_LOGIN) {
            let detail = format!("not logged in to {host}");
            return Trouble { class: Class::Authentication, detail, retry_at: None };
        }
        let words = self.words();
        Trouble { class: class::of_reply(self.status, &words), detail: words, retry_at: None }
    }

    /// An answer of the right status that is none.
    pub(super) fn malformed(&self) -> Trouble {
        let words = self.words();
        let what = if words.is_empty() { "no whole JSON" } else { &words };
        Trouble::malformed(&format!("an answer that can't be understood: {what}"))
    }

    /// What the service said, what `gh` said, or how it all began.
    fn words(&self) -> String {
        #[derive(Deserialize)]
        struct Said {
            message: String,
        }
        let status = self.status.map(|status| format!(" (HTTP {status})")).unwrap_or_default();
        if let Ok(Said { message }) = serde_json::from_slice(self.body()) {
            return format!("{message}{status}");
        }
        let last = self.stderr.lines().map(str::trim).rfind(|line| !line.is_empty());
        if let Some(line) = last {
            return line.strip_prefix("gh: ").unwrap_or(line).to_owned();
        }
        let printed = String::from_utf8_lossy(self.body());
        let first = printed.lines().map(str::trim).find(|line| !line.is_empty());
        first.map_or_else(|| format!("no answer{status}"), str::to_owned)
    }
}

type Head = (Option<u16>, Vec<(String, String)>, usize);

/// The status, the headers, and where the body begins. `gh` ends the status line with a bare
/// newline and the others with a carriage return too.
fn head(printed: &[u8]) -> Option<Head> {
    let mut at = 0;
    let mut next = || {
        let rest = printed.get(at..)?;
        let end = rest.iter().position(|byte| *byte == b'\n')?;
        at += end + 1;
        Some((String::from_utf8_lossy(rest.get(..end)?).trim_end().to_owned(), at))
    };
    let (line, mut body_at) = next()?;
    let status = line.strip_prefix("HTTP/")?.split(' ').nth(1)?.parse().ok()?;
    let mut headers = Vec::new();
    while let Some((line, after)) = next() {
        body_at = after;
        if line.is_empty() {
            break;
        }
        let (name, value) = line.split_once(':')?;
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    Some((Some(status), headers, body_at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock;

    fn reply(printed: &str, stderr: &str) -> Reply {
        Reply::new(Some(1), printed.as_bytes().to_vec(), stderr.as_bytes())
    }

    #[test]
    fn a_reply_is_taken_apart() {
        let reply = reply("HTTP/2.0 200 OK\nEtag: W/\"a\"\r\nX-A: b: c\r\n\r\n{\"a\":1}\n", "");
        assert_eq!((reply.status(), reply.header("etag")), (Some(200), Some("W/\"a\"")));
        assert_eq!((reply.header("x-a"), reply.body()), (Some("b: c"), &b"{\"a\":1}\n"[..]));
        assert_eq!(reply.into_body(), b"{\"a\":1}\n");
    }

    #[test]
    fn what_is_no_reply_has_no_status() {
        for printed in ["", "HTTP/1.1", "error connecting\n", "HTTP/1.1 x\n\n", "{\"a\":1}"] {
            assert_eq!(reply(printed, "").status(), None, "{printed}");
        }
        // Text on stdout alone is kept.
        assert_eq!(reply("error connecting\n", "").trouble("h").detail, "error connecting");
    }

    #[test]
    fn retry_after_wins_over_the_reset() {
        let now = clock::now();
        let spent = "X-Ratelimit-Remaining: 0\r\nX-Ratelimit-Reset: 32503680000\r\n";
        let head = "HTTP/1.1 403 Forbidden\n";
        let at = |headers: &str| reply(&format!("{head}{headers}\r\n"), "").retry_at(&now);
        let span = |at: Timestamp| at.duration_since(now.wall).as_secs();
        assert_eq!(at(&format!("Retry-After: 60\r\n{spent}")).map(span), Some(60));
        assert_eq!(at(spent), Timestamp::from_second(32_503_680_000).ok());
        assert_eq!(at(&spent.replace(": 0", ": 7")), None);
        assert_eq!(at("Retry-After: soon\r\n"), None);
        assert_eq!(at("Retry-After: 999999999\r\n").map(span), Some(3600));
    }

    #[test]
    fn the_words_are_githubs_own() {
        let trouble = |printed: &str, stderr: &str| reply(printed, stderr).trouble("h").detail;
        let json = "HTTP/1.1 404 Not Found\n\r\n{\"message\":\"Not Found\"}";
        assert_eq!(trouble(json, "gh: Not Found (HTTP 404)\n"), "Not Found (HTTP 404)");
        assert_eq!(trouble("HTTP/1.1 502 Bad Gateway\n\r\n<html>", "gh: HTTP 502\n"), "HTTP 502");
        assert_eq!(
            trouble("", "error connecting to h\ncheck your connection\n"),
            "check your connection"
        );
        assert_eq!(trouble("", ""), "no answer");
        let login = Reply::new(Some(4), Vec::new(), b"please run: gh auth login\n").trouble("h");
        assert_eq!((login.class, &*login.detail), (Class::Authentication, "not logged in to h"));
    }
}
