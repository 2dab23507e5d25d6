//! The flags, the envelope, and the older format.

use tests::{Manager, Running};

use crate::desk::{Desk, h, line};

fn code(desk: &Desk, args: &[&str]) -> (Option<i32>, String, String) {
    let out = desk.command(args).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (out.status.code(), text(out.stdout), text(out.stderr))
}

#[test]
fn help_and_version_are_no_errors() {
    let desk = Desk::new();
    for flag in ["-h", "--help", "-V", "--version"] {
        let (code, stdout, stderr) = code(&desk, &[flag]);
        assert_eq!(
            (code, stdout.contains("collab-tail") || flag == "-h", &*stderr),
            (Some(0), true, ""),
            "{flag}"
        );
    }
}

#[test]
fn a_bad_line_is_one_line_and_makes_nothing() {
    let desk = Desk::new();
    desk.write("b", "");
    let aliases: Vec<String> = (0..16).map(|n| format!("--alias=@a{n}")).collect();
    let mut many = vec!["@lead", "b"];
    many.extend(aliases.iter().map(String::as_str));
    for (args, names) in [
        (&["@", "b"][..], "64 letters"),
        (&["@@x", "b"], "@@x"),
        (&["..", "b"], ".."),
        (&["@a b", "b"], "@a b"),
        (&["@-x", "b"], "@-x"),
        (&["@lead"], "FILE"),
        (&["@lead", ""], "FILE"),
        (&["--unknown", "b"], "--unknown"),
        (&["@lead", "b", "--poll-interval", "0"], "0.01 to 604800"),
        (&["@lead", "b", "--route", "loose"], "strict"),
        (&many, "15"),
    ] {
        let (code, stdout, stderr) = code(&desk, args);
        assert_eq!(
            (code, &*stdout, stderr.lines().count()),
            (Some(1), "", 1),
            "{args:?}: {stderr}"
        );
        assert!(
            stderr.starts_with("collab-tail: fatal: unable to read the command line: "),
            "{stderr}"
        );
        assert!(stderr.contains(names), "{args:?}: {stderr}");
    }
    assert!(!desk.scene.join("store").exists());
}

#[test]
fn a_wait_ends_with_mail_or_without() {
    let desk = Desk::new();
    desk.write("b", "");
    desk.look_b();
    let (none, lines, _) = code(&desk, &["@lead", "b", "--wait", "0.2", "--no-announce"]);
    assert_eq!((none, &*lines), (Some(3), ""));
    let running = Running::ready(
        &desk.scene,
        &mut desk.command(&["@lead", "b", "--wait", "30", "--no-announce"]),
    );
    desk.append("b", h("a"));
    let ended = running.end();
    assert_eq!((ended.code, ended.lines[0]["text"].as_str()), (Some(0), Some(&*line("a"))));
}

#[test]
fn it_says_when_it_begins_lives_and_ends() {
    let desk = Desk::new();
    desk.write("b", "");
    let args = ["@lead", "b", "--alive", "0.1", "--max-runtime", "0.5", "--source", "mail"];
    let running = Running::start(&mut desk.command(&args));
    let ended = running.end();
    let events: Vec<&str> =
        ended.lines.iter().map(|line| line["event"].as_str().unwrap()).collect();
    assert_eq!((ended.code, events[0], events[1]), (Some(0), "monitor_armed", "monitor_alive"));
    assert_eq!(ended.lines.last().unwrap()["reason"], "max_runtime");
    assert!(ended.lines.iter().all(|line| line["source"] == "mail"));
}

#[test]
fn a_watch_is_ready_while_mail_is_held_and_a_line_waits() {
    let desk = Desk::new();
    desk.write("b", "@lead: may I?\nand then");
    let manager = Manager::listen(&desk.scene);
    let mut command = desk.command(&["@lead", "b"]);
    manager.manage(&mut command);
    let mut running = Running::start(&mut command);
    manager.ready();
    let armed = running.event("monitor_armed");
    assert_eq!(
        (&armed["route"], &armed["watching"][0]),
        (&"strict".into(), &desk.path("b").into())
    );
    desk.append("b", "\n— @worker\n");
    assert_eq!(running.event("collab_mail")["text"], "@lead: may I?");
}

#[test]
fn text_is_the_older_records_and_nothing_else() {
    let desk = Desk::new();
    desk.write("b", "```\n");
    let (exit, stdout, stderr) =
        code(&desk, &["LEAD", "b", "missing", "--format", "text", "--once"]);
    let lines: Vec<&str> = stdout.lines().collect();
    let state = desk.scene.join("store/collab-tail/lead").display().to_string();
    assert_eq!((exit, lines.len()), (Some(4), 4), "{stdout}");
    assert_eq!(lines[0], format!("MONITOR-ARMED name=@LEAD files=2 state={state}"));
    assert!(lines[1].starts_with("WILL-NOT-CATCH :: a rewrite is told at the next look"));
    assert_eq!(
        lines[2],
        format!("WATCH-WARN file={} reason=unclosed-fence action=retry", desk.path("b"))
    );
    assert_eq!(
        lines[3],
        format!("WATCH-WARN file={} reason=temporarily-absent action=retry", desk.path("missing"))
    );
    assert!(stderr.contains("boards_unseen"), "{stderr}");
    desk.write("missing", h("a"));
    desk.append("b", "```\n");
    let (_, stdout, stderr) = code(&desk, &["LEAD", "b", "missing", "--format", "text", "--once"]);
    assert!(stdout.lines().nth(2).unwrap().starts_with("NEW-FOR-@LEAD file="), "{stdout}");
    assert_eq!(stderr.matches(" is over").count(), 2, "{stderr}");
}

#[test]
fn credentials_on_a_board_are_not_passed_on() {
    let desk = Desk::new();
    desk.write("b", "");
    desk.look_b();
    let token = format!("ghp_{}", "a1B2".repeat(9));
    desk.append("b", h(&format!("use {token}")));
    let look = desk.look_b();
    assert_eq!(look.mail(), [line("use [redacted]")]);
    let hash = collab_tail::hash::Hash::of(&[h(&format!("use {token}")).as_bytes()]);
    assert_eq!(look.lines[0]["hash"], hash.to_string());
}

#[test]
fn a_store_that_others_can_write_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let desk = Desk::new();
    desk.write("b", "");
    let store = desk.scene.dir("store");
    std::fs::set_permissions(&store, std::fs::Permissions::from_mode(0o777)).unwrap();
    let look = desk.look_b();
    assert_eq!((look.code, look.lines[0]["reason"].as_str()), (Some(4), Some("store_refused")));
    assert!(look.stderr.contains("others can write there"), "{}", look.stderr);
}
