//! What is checked before the first look, and `--check`.

use tests::{Ended, command};

use crate::world::{ASKED, EXE, World};

/// Ends with usage, in one line that says all of `words`; nothing was asked.
fn refused(world: &World, args: &[&str], words: &[&str]) -> Ended {
    let ended = world.end(args);
    assert_eq!((ended.code, ended.lines.len()), (Some(1), 0), "{args:?}: {}", ended.stderr);
    assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.stderr);
    assert!(ended.stderr.starts_with("probe-watch: fatal: unable to "), "{}", ended.stderr);
    for word in words {
        assert!(ended.stderr.contains(word), "{word}: {}", ended.stderr);
    }
    assert!(world.requests().is_empty());
    ended
}

#[test]
fn p10_a_target_that_can_never_be_valid_is_named() {
    let world = World::new("exit 1");
    let ended = refused(&world, &["A", "::"], &["watch :::", "[A-Za-z0-9$()/. -]+"]);
    assert!(!ended.stderr.contains("A:"), "{}", ended.stderr);
    world.scene.write("row", ASKED);
    let identity = r#"for t; do case $t in ::) echo '{"target":"::","error":"expected HOST"}' ;;
        *) echo "{\"target\":\"$t\",\"id\":\"$t\"}" ;; esac; done"#;
    world.scene.write("identity", identity);
    let ended = refused(&world, &["A", "::"], &["watch ::: expected HOST"]);
    assert!(!ended.stderr.contains("A:"), "{}", ended.stderr);
}

#[test]
fn p24_the_interval_has_the_probes_range() {
    let world = World::new("exit 1");
    world.scene.write("row", r#"{"protocol":1,"kind":"basin","target_pattern":"."}"#);
    for interval in ["14", "86401"] {
        refused(&world, &["A", "--poll-interval", interval], &["15 to 86400", interval]);
    }
}

#[test]
fn k06_what_the_probe_does_not_know_is_refused() {
    let world = World::new("exit 1");
    let row = r#"{"protocol":1,"kind":"basin","target_pattern":".","min_interval_seconds":1,
        "objectives":["full","empty"],"options":{"limit":"integer"}}"#;
    world.scene.write("row", row);
    refused(&world, &["A", "--objective", "half"], &["half", "full, empty"]);
    refused(&world, &["A", "--set", "size=1"], &["size", "limit"]);
    refused(&world, &["A", "--set", "limit=much"], &["limit=much", "a whole number"]);
    refused(&world, &[], &["TARGET"]);
    refused(&world, &["A", "--emit", "all"], &["--emit"]);
}

#[test]
fn p21_no_probe_no_run() {
    let world = World::new("exit 1");
    let nothing = ["./nothing", "nope", "/", "row"];
    let before = world.scene.tree();
    for probe in nothing {
        let ended = world.end(&["A", "--probe", probe, "--cursor", "cursor"]);
        assert_eq!(ended.code, Some(2), "{probe}: {}", ended.stderr);
        assert!(ended.stderr.contains(&format!("the probe {probe}: ")), "{}", ended.stderr);
        assert_eq!(
            (ended.lines.len(), &*ended.lines[0]["event"].to_string()),
            (1, "\"monitor_failed\"")
        );
    }
    assert_eq!(world.scene.tree(), before);
}

#[test]
fn a_row_that_is_none_is_refused() {
    let world = World::new("exit 1");
    for (row, said) in [
        ("", "not JSON"),
        ("{}", "protocol is not 1"),
        (r#"{"protocol":1,"kind":"basin","max_subjects":26}"#, "max_subjects"),
    ] {
        world.scene.write("row", row);
        let ended = world.end(&["A"]);
        assert_eq!(ended.code, Some(2), "{}", ended.stderr);
        assert!(ended.stderr.contains(said), "{}", ended.stderr);
    }
    world.scene.write("row", ASKED);
    world.scene.write("identity", "echo 'no idea' >&2; exit 1");
    let ended = world.end(&["A"]);
    assert_eq!(ended.code, Some(4));
    assert!(ended.stderr.contains("identity: exit status: 1: no idea"), "{}", ended.stderr);
}

#[test]
fn check_names_every_broken_rule() {
    let world = World::saying(&[r#"{"subject":"A","entries":[{"key":"k"}]}"#]);
    let check = |targets: &[&str]| {
        let ended = world.end(&[targets, &["--check"]].concat());
        assert_eq!(ended.lines.len(), 0);
        (ended.code, ended.stderr.lines().map(str::to_owned).collect::<Vec<_>>())
    };
    assert_eq!(check(&["A"]), (Some(0), vec![]));
    let answer = "{\"subject\":\"A\",\"status\":\"frob\"}\nnothing\n{\"subject\":\"Z\"}\n";
    world.scene.write("answers/last", answer);
    let (code, lines) = check(&["A", "B"]);
    assert_eq!((code, lines.len()), (Some(4), 4), "{lines:?}");
    for (line, said) in
        lines.iter().zip(["status", "not JSON", "Z: nobody asked", "B: there is no answer"])
    {
        assert!(line.starts_with("probe-watch: warning: ") && line.contains(said), "{line}");
    }
    world.scene.write("row", r#"{"protocol":2,"kind":"Basin"}"#);
    let (code, lines) = check(&["A"]);
    assert_eq!((code, lines.len()), (Some(4), 2), "{lines:?}");
}

#[test]
fn help_says_what_the_flags_are() {
    let out = command(EXE).arg("--help").output().unwrap();
    let text = String::from_utf8(out.stdout).unwrap();
    for flag in ["--probe", "--objective", "--set", "--emit", "--call-timeout", "--check"] {
        assert!(text.contains(flag), "{flag}");
    }
    assert_eq!(out.status.code(), Some(0));
}
