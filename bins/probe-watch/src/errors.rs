//! Why a subject has no answer: read from how the probe ended and what it complained of. Pure.

use std::io;

use rustix::io::Errno;
use shared::{
    reading::{Fault, FaultKind},
    text::Text,
};

/// What is looked for in a line, which is in lower case.
type Sign = fn(&str) -> bool;

/// How an invocation ended.
#[derive(Debug)]
pub enum End {
    /// It could not be started.
    Refused(io::Error),
    /// By itself, with this code.
    Exited(i32),
    /// A signal killed it.
    Killed(i32),
    /// It was killed at its deadline.
    TimedOut,
    /// It was killed because it printed more than anybody reads.
    Flooded,
}

/// Why the subject called by `names` has no answer. `others` are the names of all that have
/// none: what the probe complained of one of them says nothing of the rest.
#[must_use]
pub fn fault(end: &End, complaints: &str, names: &[&str], others: &[&[&str]]) -> Fault {
    let of_it = |line: &&str| {
        let says = |names: &[&str]| names.iter().any(|name| has_name(line, name));
        says(names) || !others.iter().any(|names| says(names))
    };
    let lines: Vec<&str> =
        complaints.lines().map(str::trim).filter(|line| !line.is_empty()).filter(of_it).collect();
    let told = |sign: Sign| lines.iter().find(|line| sign(&line.to_lowercase()));
    let fault = |kind: FaultKind, reason: &str, detail: &str| Fault {
        kind,
        reason: reason.to_owned(),
        detail: Text::new(detail, 120).as_str().to_owned(),
        attempted: true,
        retry_at: None,
    };
    let last = lines.last().copied().unwrap_or_default();
    let word = |kind: FaultKind, detail: &str| fault(kind, kind.word(), detail);

    if let End::Refused(err) = end
        && is_unrunnable(err)
    {
        return word(FaultKind::Setup, &err.to_string());
    }
    if matches!(end, End::Exited(126 | 127)) {
        return word(FaultKind::Setup, if last.is_empty() { "it could not run" } else { last });
    }
    if let Some(line) = told(lacks_program) {
        return word(FaultKind::Setup, line);
    }
    match end {
        End::Refused(err) if is_short_of_means(err) => {
            return fault(FaultKind::Transient, "no_resources", &err.to_string());
        }
        End::TimedOut => return fault(FaultKind::Transient, "timeout", last),
        End::Killed(signal) => {
            return fault(FaultKind::Transient, "killed", &format!("by signal {signal}"));
        }
        _ => {}
    }
    let signs: [(FaultKind, Sign); 4] = [
        (FaultKind::RateLimited, speaks_of_a_limit),
        (FaultKind::Authentication, speaks_of_a_login),
        (FaultKind::NotFound, speaks_of_an_absence),
        (FaultKind::Authorization, speaks_of_a_refusal),
    ];
    for (kind, sign) in signs {
        if let Some(line) = told(sign) {
            return word(kind, line);
        }
    }
    let detail = match end {
        End::Refused(err) => err.to_string(),
        End::Flooded => "it printed more than is read".to_owned(),
        End::Exited(code) if last.is_empty() => format!("no answer, exit status {code}"),
        _ => last.to_owned(),
    };
    fault(FaultKind::Transient, "missing_result", &detail)
}

fn is_unrunnable(err: &io::Error) -> bool {
    matches!(err.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied)
        || err.raw_os_error() == Some(Errno::NOEXEC.raw_os_error())
}

fn is_short_of_means(err: &io::Error) -> bool {
    let lacks = [Errno::AGAIN, Errno::MFILE, Errno::NFILE, Errno::NOMEM];
    lacks.iter().any(|lack| err.raw_os_error() == Some(lack.raw_os_error()))
}

/// `sh: NAME: command not found`, and the shells' `SCRIPT: NUMBER: NAME: not found`.
fn lacks_program(line: &str) -> bool {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let by_line = || {
        let mut parts = line.rsplit(": ");
        let (last, name, number) = (parts.next(), parts.next(), parts.next());
        last == Some("not found")
            && name.is_some_and(|name| !name.contains(char::is_whitespace))
            && number.is_some_and(is_number)
    };
    line.contains("command not found") || by_line()
}

fn speaks_of_a_limit(line: &str) -> bool {
    has_word(line, "429")
        || ["rate limit", "too many requests", "throttl"].iter().any(|sign| line.contains(sign))
}

fn speaks_of_a_login(line: &str) -> bool {
    has_word(line, "401")
        || ["unauthorized", "not logged in"].iter().any(|sign| line.contains(sign))
        || speaks_of_a_bad_login(line)
}

/// `bad credentials`, `the token has expired`: the fault and what has it are close together.
fn speaks_of_a_bad_login(line: &str) -> bool {
    const NEAR: usize = 3;
    let words: Vec<&str> = line.split(|c: char| !c.is_alphanumeric()).collect();
    let is_bad = |word: &&&str| ["bad", "invalid", "expired", "revoked"].contains(*word);
    let is_login = |word: &&str| ["token", "tokens", "credential", "credentials"].contains(word);
    let bad = words.iter().enumerate().filter(|(_, word)| is_bad(word));
    bad.into_iter().any(|(at, _)| {
        let near = at.saturating_sub(NEAR)..(at + NEAR + 1).min(words.len());
        words.get(near).is_some_and(|near| near.iter().any(is_login))
    })
}

fn speaks_of_an_absence(line: &str) -> bool {
    has_word(line, "404") || ["not found", "does not exist"].iter().any(|sign| line.contains(sign))
}

fn speaks_of_a_refusal(line: &str) -> bool {
    has_word(line, "403")
        || ["forbidden", "permission", "access denied"].iter().any(|sign| line.contains(sign))
}

/// Whether `word` stands in `line` with nothing alphanumeric beside it.
fn has_word(line: &str, word: &str) -> bool {
    stands(line, word, |c| c.is_alphanumeric() || c == '_')
}

/// Whether `line` names `name`: `a` is not named by `a-b` or `/a.b`.
fn has_name(line: &str, name: &str) -> bool {
    stands(line, name, |c| c.is_alphanumeric() || c == '_' || c == '-')
}

fn stands(line: &str, word: &str, goes_on: impl Fn(char) -> bool) -> bool {
    !word.is_empty()
        && line.match_indices(word).any(|(at, _)| {
            let (before, after) = (line.get(..at), line.get(at + word.len()..));
            let before = before.and_then(|text| text.chars().next_back());
            let after = after.and_then(|text| text.chars().next());
            !before.is_some_and(&goes_on) && !after.is_some_and(&goes_on)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(end: &End, complaints: &str) -> (&'static str, String) {
        let fault = fault(end, complaints, &["mail"], &[&["mail"]]);
        (fault.kind.word(), fault.reason)
    }

    #[test]
    fn the_first_sign_that_matches_decides() {
        for (complaints, want) in [
            ("p: line 3: jq: command not found", "setup"),
            ("/p: 3: jq: not found", "setup"),
            ("1: jq: not found", "setup"),
            ("HTTP 404: mail: not found", "not_found"),
            ("API rate limit exceeded", "rate_limited"),
            ("HTTP 403 Forbidden: secondary rate limit", "rate_limited"),
            ("Too Many Requests", "rate_limited"),
            ("request throttled", "rate_limited"),
            ("error 429.", "rate_limited"),
            ("HTTP 401", "authentication"),
            ("You are not logged in", "authentication"),
            ("Bad credentials", "authentication"),
            ("invalid access token", "authentication"),
            ("the token has expired", "authentication"),
            ("invalid input", "transient"),
            ("HTTP 404", "not_found"),
            ("queue does not exist", "not_found"),
            ("HTTP 403", "authorization"),
            ("Permission denied", "authorization"),
            ("Access denied", "authorization"),
            ("port 4290, line 1403", "transient"),
            ("", "transient"),
        ] {
            assert_eq!(kind(&End::Exited(1), complaints).0, want, "{complaints}");
        }
        assert_eq!(kind(&End::Exited(0), "").1, "missing_result");
    }

    #[test]
    fn the_end_of_the_probe_is_a_sign_too() {
        for (end, want) in [
            (End::Refused(io::ErrorKind::NotFound.into()), ("setup", "setup")),
            (End::Refused(io::ErrorKind::PermissionDenied.into()), ("setup", "setup")),
            (End::Refused(Errno::NOEXEC.into()), ("setup", "setup")),
            (End::Exited(126), ("setup", "setup")),
            (End::Exited(127), ("setup", "setup")),
            (End::Refused(Errno::AGAIN.into()), ("transient", "no_resources")),
            (End::Refused(Errno::MFILE.into()), ("transient", "no_resources")),
            (End::Refused(Errno::IO.into()), ("rate_limited", "rate_limited")),
            (End::TimedOut, ("transient", "timeout")),
            (End::Killed(9), ("transient", "killed")),
            (End::Flooded, ("rate_limited", "rate_limited")),
        ] {
            let (kind, reason) = kind(&end, "HTTP 429");
            assert_eq!((kind, &*reason), want, "{end:?}");
        }
    }

    #[test]
    fn a_complaint_that_names_a_subject_is_about_that_one_alone() {
        let of = |names: &[&str], complaints: &str| {
            let others: [&[&str]; 2] = [&["h/4", "4"], &["h/42", "42"]];
            fault(&End::Exited(1), complaints, names, &others).kind
        };
        let complaints = "h/42: HTTP 404\n";
        assert_eq!(of(&["h/42", "42"], complaints), FaultKind::NotFound);
        assert_eq!(of(&["h/4", "4"], complaints), FaultKind::Transient);
        for names in [["h/42", "42"], ["h/4", "4"]] {
            assert_eq!(of(&names, "HTTP 429"), FaultKind::RateLimited);
            assert_eq!(of(&names, "HTTP 429\nh/7 of nobody"), FaultKind::RateLimited);
        }
    }

    #[test]
    fn what_is_told_is_clean() {
        let line = format!("push with ghp_{}\x1b[31m failed", "a1B2".repeat(9));
        let fault = fault(&End::Exited(1), &line, &["a"], &[&["a"]]);
        assert_eq!(fault.detail, "push with [redacted]  failed");
    }
}
