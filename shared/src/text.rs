//! Text that came from outside, made fit to print: cleaned, redacted, cut.

use std::{borrow::Cow, sync::LazyLock};

use regex_lite::Regex;
use serde::Serialize;

/// Free text in an event: a question, a board line, git's last words. Not for identities, which
/// stay exact.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Text {
    text: String,
    #[serde(skip)]
    cut: bool,
}

impl Text {
    /// Cleans `text`, redacts credentials, and cuts it to `limit` bytes at a character boundary.
    #[must_use]
    pub fn new(text: &str, limit: usize) -> Self {
        // What is beyond this can't show; a token that straddles the end is still seen whole.
        let near = head(text, limit.saturating_mul(4).saturating_add(4096));
        let redacted = redact(near);
        let clean = clean(&redacted);
        let kept = head(&clean, limit);
        Self { cut: kept.len() < clean.len() || near.len() < text.len(), text: kept.to_owned() }
    }

    /// The text as it is printed.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether something of it was cut off.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.cut
    }
}

/// The longest beginning of `text` that has at most `limit` bytes and ends between characters.
#[must_use]
pub fn head(text: &str, limit: usize) -> &str {
    &text[..text.floor_char_boundary(limit)]
}

/// Replaces what could move a cursor, end a line or hide: control characters, line and paragraph
/// separators, terminal escapes whole, and the marks that turn the direction of text.
#[must_use]
pub fn clean(text: &str) -> Cow<'_, str> {
    static ESCAPE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)?)").ok()
    });
    let plain = match &*ESCAPE {
        Some(escape) if text.contains('\x1b') => escape.replace_all(text, " "),
        _ => Cow::Borrowed(text),
    };
    if plain.chars().any(is_unfit) {
        return plain.chars().map(|c| if is_unfit(c) { ' ' } else { c }).collect::<String>().into();
    }
    plain
}

fn is_unfit(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Replaces what looks like a credential by `[redacted]`: the token forms that the large services
/// publish, passwords in URLs, `Authorization` values, private keys, and `name=value` pairs
/// whose name says that the value is a secret.
#[must_use]
pub fn redact(text: &str) -> Cow<'_, str> {
    if !bears_sign(text) {
        return Cow::Borrowed(text);
    }
    find_and_replace(text)
}

fn find_and_replace(text: &str) -> Cow<'_, str> {
    static SECRET: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(concat!(
            r"(?i:(?P<url>[a-z][a-z0-9+.-]*://)[^\s/@]+@)",
            r"|(gh[opusr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,})",
            r"|\b(sk-[A-Za-z0-9_-]{16,}|xox[a-z]-[A-Za-z0-9-]{10,}|(AKIA|ASIA)[A-Z0-9]{16})\b",
            r"|\bAIza[A-Za-z0-9_-]{30,}|\bnpm_[A-Za-z0-9]{30,}|\bpypi-[A-Za-z0-9_-]{30,}",
            r"|\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*",
            r"|(?i:(?P<bearer>\b(bearer|basic|authorization: *token) +)[A-Za-z0-9._~+/=-]{8,})",
            r"|-----BEGIN [A-Z ]*PRIVATE KEY-----(?s:.*?)(-----END [A-Z ]*PRIVATE KEY-----|$)",
            r#"|(?i:(?P<name>\b[a-z0-9_-]*(password|passwd|secret|token|api_?key)["']?[=:] ?["']?)[^\s"'&,;]{6,})"#,
        ))
        .ok()
    });
    let Some(secret) = &*SECRET else { return Cow::Borrowed("[redacted]") };
    secret.replace_all(text, |found: &regex_lite::Captures<'_>| {
        let kept = ["url", "bearer", "name"].iter().find_map(|name| found.name(name));
        let at = if found.name("url").is_some() { "@" } else { "" };
        format!("{}[redacted]{at}", kept.map_or("", |part| part.as_str()))
    })
}

/// Whether `text` has any of the words without which nothing in it is a credential. Most has none
/// of them, and to know that costs a fraction of the search for the forms themselves.
fn bears_sign(text: &str) -> bool {
    const SIGNS: [&str; 25] = [
        "://",
        "gho_",
        "ghp_",
        "ghu_",
        "ghs_",
        "ghr_",
        "github_pat_",
        "glpat-",
        "sk-",
        "xox",
        "akia",
        "asia",
        "aiza",
        "npm_",
        "pypi-",
        "eyj",
        "bearer",
        "basic",
        "authorization",
        "private key",
        "passw",
        "secret",
        "token",
        "api_key",
        "apikey",
    ];
    let text = text.to_ascii_lowercase();
    SIGNS.iter().any(|sign| text.contains(sign))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_form_of_a_credential_bears_a_sign() {
        let long = "a1B2".repeat(10);
        for text in [
            format!("ftp://u:{long}@h"),
            format!("ghs_{long}"),
            format!("github_pat_{long}"),
            format!("glpat-{long}"),
            format!("sk-{long}"),
            format!("xoxb-{long}"),
            "AKIAABCDEFGHIJKLMNOP".to_owned(),
            "ASIAABCDEFGHIJKLMNOP".to_owned(),
            format!("AIza{long}"),
            format!("npm_{long}"),
            format!("pypi-{long}"),
            format!("eyJ{long}.{long}."),
            format!("BEARER {long}"),
            format!("Basic {long}"),
            format!("authorization: token {long}"),
            format!("-----BEGIN PRIVATE KEY-----{long}"),
            format!("PassWord={long}"),
            format!("my_passwd: {long}"),
            format!("SECRET={long}"),
            format!("x-token:{long}"),
            format!("apikey={long}"),
            format!("API_KEY={long}"),
        ] {
            assert!(redact(&text).contains("[redacted]"), "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_bears_no_sign_is_left_as_it_is(
            parts in proptest::collection::vec(prop_oneof![
                Just("gh"), Just("p_"), Just("token"), Just("="), Just("a1B2a1B2a1B2a1B2a1B2a1B2"),
                Just("://"), Just("x"), Just("@"), Just(" "), Just("sk"), Just("-"), Just("api"),
                Just("_"), Just("KEY"), Just("ASIA"), Just("ABCDEFGHIJKLMNOP"), Just("pass"),
            ], 0..12),
        ) {
            let text = parts.concat();
            prop_assert!(bears_sign(&text) || !find_and_replace(&text).contains("[redacted]"));
        }
    }

    #[test]
    fn credentials_are_redacted_before_the_text_is_cut() {
        let token = format!("ghp_{}", "a1B2".repeat(9));
        for (text, want) in [
            (format!("push with {token} now"), "push with [redacted] now"),
            ("http://user:secret@host/x".to_owned(), "http://[redacted]@host/x"),
            ("Authorization: Bearer abcdefgh1234".to_owned(), "Authorization: Bearer [redacted]"),
            ("api_key=\"0123456789\" rest".to_owned(), "api_key=\"[redacted]\" rest"),
            ("no token here".to_owned(), "no token here"),
            ("x AKIAABCDEFGHIJKLMNOP y".to_owned(), "x [redacted] y"),
        ] {
            assert_eq!(redact(&text), want);
        }
        let long = format!("{}{token}", "x".repeat(150));
        assert!(!Text::new(&long, 160).as_str().contains("ghp_"));
    }

    #[test]
    fn nothing_that_moves_a_cursor_or_ends_a_line_stays() {
        let text = Text::new("a\x1b[31mred\x1b[0m\nb\u{2028}c\u{85}d\u{202e}e\0", 80);
        assert_eq!(text.as_str(), "a red  b c d e ");
        assert!(!text.is_cut());
    }

    #[test]
    fn text_is_cut_between_characters() {
        let text = Text::new("ééé", 5);
        assert_eq!((text.as_str(), text.is_cut()), ("éé", true));
        assert!(Text::new(&"x".repeat(100_000), 10).is_cut());
    }
}
