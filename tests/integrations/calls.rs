//! Commands in papers: each names a program of ours and flags that it takes.

use tests::{built, tools};

/// What is wrong with a command line, if anything. Its values are judged, too: a program reads its
/// command line in order, and `--help` at its end keeps it from doing anything.
pub(crate) fn fault(line: &str) -> Option<String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    if line.contains(['|', ';', '&', '<', '>', '`', '"', '\'', '\\', '$']) {
        return Some(format!("{line}: no plain command"));
    }
    let (own, other) = match words.iter().position(|word| *word == "--") {
        Some(at) => (&words[..at], Some(words[at + 1..].join(" "))),
        None => (&words[..], None),
    };
    let (program, args) = own.split_first()?;
    if !tools().iter().any(|tool| tool == program) {
        return Some(format!("{line}: no program of ours"));
    }
    let out = built(program).args(args).arg("--help").output().unwrap();
    if !out.status.success() {
        return Some(format!("{line}: {}", String::from_utf8_lossy(&out.stderr)));
    }
    other.and_then(|inner| fault(&inner))
}

/// The lines of the shell blocks in a Markdown text.
pub(crate) fn shell_lines(markdown: &str) -> Vec<&str> {
    let mut lines = Vec::new();
    let mut inside = false;
    for line in markdown.lines() {
        match (inside, line) {
            (false, "```sh") => inside = true,
            (true, "```") => inside = false,
            (true, line) => lines.push(line),
            (false, _) => {}
        }
    }
    lines
}

#[test]
fn a_command_that_would_fail_is_found() {
    assert_eq!(fault("gate-watch --once --emit-current"), None);
    assert_eq!(fault("supervise start gate -- gate-watch --emit-current"), None);
    for bad in [
        "gate-watch --no-such-flag",
        "gate-watch --poll-interval never",
        "gate-watches --once",
        "gate-watch --once | classify",
        "supervise start gate -- gate-watch --no-such-flag",
        "supervise begin gate",
    ] {
        assert!(fault(bad).is_some(), "{bad}");
    }
}
