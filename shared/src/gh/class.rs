//! What kind of trouble it is, by what was said.

use jiff::Timestamp;

/// A kind of trouble. The names are the reasons that are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Asked too often.
    RateLimited,
    /// The login is missing, wrong or over.
    Authentication,
    /// The login may not see this.
    Authorization,
    /// There is no such thing, or the login may not know of it.
    NotFound,
    /// `gh` is missing.
    Setup,
    /// Everything else: it may be better next time.
    Transient,
}

impl Class {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::RateLimited,
        Self::Authentication,
        Self::Authorization,
        Self::NotFound,
        Self::Setup,
        Self::Transient,
    ];

    /// The reason that is printed.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::RateLimited => "rate_limited",
            Self::Authentication => "authentication",
            Self::Authorization => "authorization",
            Self::NotFound => "not_found",
            Self::Setup => "setup",
            Self::Transient => "transient",
        }
    }
}

/// Trouble, in whose words, and when to try again if that was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// What kind.
    pub class: Class,
    /// The words.
    pub detail: String,
    /// Not before.
    pub retry_at: Option<Timestamp>,
}

impl Trouble {
    /// An answer that can't be understood.
    #[must_use]
    pub fn malformed(detail: &str) -> Self {
        Self { class: Class::Transient, detail: detail.to_owned(), retry_at: None }
    }
}

/// By the status of a reply and its words. The limit is looked for first: a 403 that speaks of
/// one is a throttle.
pub(super) fn of_reply(status: Option<u16>, words: &str) -> Class {
    let words = words.to_ascii_lowercase();
    let says = |any: &[&str]| any.iter().any(|word| words.contains(word));
    if status == Some(429) || says(LIMITS) {
        return Class::RateLimited;
    }
    match status {
        Some(401) => Class::Authentication,
        Some(403) => Class::Authorization,
        Some(404) => Class::NotFound,
        None if says(&["bad credentials", "token has expired", "gh auth login"]) => {
            Class::Authentication
        }
        None if says(&["saml", "insufficient", "missing required scope"]) => Class::Authorization,
        _ => Class::Transient,
    }
}

const LIMITS: &[&str] = &["rate limit", "too many requests", "secondary limit", "abuse"];

/// By the type of an error and its message.
pub(super) fn of_error(kind: &str, message: &str) -> Class {
    match kind {
        "RATE_LIMITED" | "RATE_LIMIT" => Class::RateLimited,
        "NOT_FOUND" => Class::NotFound,
        "FORBIDDEN" | "INSUFFICIENT_SCOPES" => of_reply(Some(403), message),
        "UNAUTHENTICATED" | "UNAUTHORIZED" => of_reply(Some(401), message),
        _ => of_reply(None, message),
    }
}

/// Whether these are the words of the limit that counts bursts over both interfaces.
pub(super) fn is_secondary(words: &str) -> bool {
    let words = words.to_ascii_lowercase();
    words.contains("secondary") || words.contains("abuse")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_is_classified_by_its_status_and_words() {
        for (status, words, class) in [
            (Some(429), "", Class::RateLimited),
            (Some(403), "You have exceeded a secondary rate limit", Class::RateLimited),
            (Some(403), "API rate limit exceeded for user ID 1", Class::RateLimited),
            (Some(403), "You have triggered an abuse detection mechanism", Class::RateLimited),
            (None, "Too Many Requests", Class::RateLimited),
            (Some(401), "Bad credentials", Class::Authentication),
            (
                None,
                "To get started with GitHub CLI, please run:  gh auth login",
                Class::Authentication,
            ),
            (
                Some(403),
                "Resource protected by organization SAML enforcement",
                Class::Authorization,
            ),
            (Some(403), "Resource not accessible by integration", Class::Authorization),
            (Some(404), "Not Found", Class::NotFound),
            (Some(500), "", Class::Transient),
            (Some(502), "Bad Gateway", Class::Transient),
            (None, "dial tcp: lookup api.github.com: no such host", Class::Transient),
            (None, "x509: certificate has expired or is not yet valid", Class::Transient),
            (None, "unexpected EOF", Class::Transient),
        ] {
            assert_eq!(of_reply(status, words), class, "{status:?} {words}");
        }
    }

    #[test]
    fn an_error_is_classified_by_its_type_and_message() {
        for (kind, message, class) in [
            ("RATE_LIMITED", "API rate limit exceeded", Class::RateLimited),
            ("NOT_FOUND", "Could not resolve to a Repository", Class::NotFound),
            ("FORBIDDEN", "Resource not accessible", Class::Authorization),
            ("FORBIDDEN", "you have exceeded a secondary rate limit", Class::RateLimited),
            ("INSUFFICIENT_SCOPES", "needs read:org", Class::Authorization),
            ("", "Something went wrong while executing your query", Class::Transient),
            ("A_NEW_WORD", "", Class::Transient),
        ] {
            assert_eq!(of_error(kind, message), class, "{kind} {message}");
        }
    }
}
