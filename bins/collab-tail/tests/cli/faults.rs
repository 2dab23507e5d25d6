//! What must be true whatever becomes of boards, and of the process amid its work.

use std::{
    fs,
    os::unix::{fs::PermissionsExt as _, net::UnixListener, process::CommandExt as _},
    time::Duration,
};

use tests::{Running, command, lines, pause};

use crate::desk::{Desk, Look, h, ids, line, ready, store};

#[test]
fn f10_what_is_no_board_is_said_and_the_others_go_on() {
    let desk = Desk::new();
    desk.write("good", "");
    assert!(command("mkfifo").arg(desk.path("fifo")).status().unwrap().success());
    let _ = desk.scene.dir("boards/folder");
    let _socket = UnixListener::bind(desk.path("socket")).unwrap();
    std::os::unix::fs::symlink("loop", desk.path("loop")).unwrap();
    std::os::unix::fs::symlink("/dev/null", desk.path("device")).unwrap();
    let names = ["fifo", "folder", "socket", "loop", "device"];
    let mut running = Running::start(&mut desk.command(&[&["@lead", "good"], &names[..]].concat()));
    for name in names {
        let warning = running.event("watch_warn");
        let want = if name == "loop" { "read-failed" } else { "temporarily-absent" };
        assert_eq!(warning["reason"], want, "{name}: {warning}");
        assert!(warning["detail"].is_string());
    }
    running.event("monitor_degraded");
    desk.append("good", h("a"));
    assert_eq!(running.event("collab_mail")["text"], line("a"));
    for name in names {
        let _ = fs::remove_file(desk.path(name));
        let _ = fs::remove_dir(desk.path(name));
        desk.write(name, "");
    }
    let (mut cleared, mut recovered) = (0, false);
    while cleared < names.len() || !recovered {
        let line = running.line();
        cleared += usize::from(line["condition"] == "cleared");
        recovered |= line["event"] == "monitor_recovered";
    }
    running.event("monitor_armed");
    assert_eq!(running.stop().code, Some(0));
}

#[test]
fn f10_a_board_that_may_not_be_read_is_said_until_it_may() {
    let desk = Desk::new();
    let exe = desk.scene.copy_of(env!("CARGO_BIN_EXE_collab-tail"));
    let home = desk.scene.dir("home");
    std::os::unix::fs::chown(home, Some(65_534), Some(65_534)).unwrap();
    desk.write("b", h("a"));
    let look = |mode| {
        fs::set_permissions(desk.path("b"), fs::Permissions::from_mode(mode)).unwrap();
        let mut command = command(&exe);
        command.current_dir(desk.scene.join("boards")).uid(65_534).gid(65_534);
        let out =
            command.args(["@lead", "b", "--once", "--store", "../home/store"]).output().unwrap();
        let stderr = String::from_utf8(out.stderr).unwrap();
        Look { code: out.status.code(), lines: lines(&out.stdout), stderr }
    };
    let refused = look(0);
    assert_eq!(
        (refused.code, refused.warnings()),
        (Some(4), vec![("read-failed".to_owned(), "raised".to_owned())])
    );
    assert_eq!(look(0o644).warnings(), [("read-failed".to_owned(), "cleared".to_owned())]);
}

#[test]
fn f11_a_board_replaced_1000_times_loses_and_repeats_nothing() {
    let desk = Desk::new();
    desk.write("b", "");
    let mut running = ready(&desk, &["@lead", "b", "--no-announce"]);
    let mut text = String::new();
    for n in 0..1000 {
        text += &h(&n.to_string());
        desk.replace("b", &text);
    }
    let mut told = Vec::new();
    while told.len() < 1000 {
        told.push(running.event("collab_mail")["text"].as_str().unwrap().to_owned());
    }
    assert_eq!(told, (0..1000).map(|n| line(&n.to_string())).collect::<Vec<_>>());
    assert!(running.stop().lines.is_empty());
}

#[test]
fn f12_a_board_cut_and_deleted_while_it_is_read_is_looked_at_again() {
    let desk = Desk::new();
    let text = "words of a board\n".repeat(60_000);
    desk.write("b", &text);
    let mut running = ready(&desk, &["@lead", "b", "--no-announce"]);
    for n in 0..20 {
        desk.write("b", &text[..n * 1000 / 17 * 17]);
        desk.remove("b");
        desk.write("b", &text);
    }
    desk.append("b", h("end"));
    loop {
        let line = running.line();
        if line["event"] == "collab_mail" {
            assert_eq!(line["text"], self::line("end"));
            break;
        }
    }
    let ended = running.stop();
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
}

#[test]
fn f13_an_editor_that_empties_a_file_first_has_not_shrunk_it() {
    let desk = Desk::new();
    let old = h("a") + &h("b");
    desk.write("b", &old);
    let mut running = ready(&desk, &["@lead", "b", "--no-announce"]);
    desk.write("b", "");
    pause(Duration::from_millis(50));
    desk.write("b", old + &h("c"));
    // Under load the pause may be longer than is waited for.
    let first = running.line();
    let mail = if first["event"] == "file_shrunk" { running.line() } else { first };
    assert_eq!(mail["text"], line("c"), "{mail}");
    assert!(running.stop().lines.is_empty());
}

#[test]
fn f14_however_a_board_is_spelt_it_is_one() {
    let desk = Desk::new();
    desk.write("b", "");
    fs::hard_link(desk.path("b"), desk.path("hard")).unwrap();
    std::os::unix::fs::symlink("b", desk.path("soft")).unwrap();
    let (absolute, dotted) = (desk.path("b"), "./../boards/b".to_owned());
    let all = ["b", &absolute, &dotted, "hard", "soft"];
    desk.look(&[&["@lead"], &all[..]].concat());
    desk.append("b", h("a"));
    assert_eq!(desk.look(&[&["@lead"], &all[..]].concat()).mail(), [line("a")]);
    desk.append("b", h("b"));
    let told: Vec<String> =
        all.iter().flat_map(|name| desk.look(&["@lead", name]).mail()).collect();
    assert_eq!(told, [line("b")]);
}

#[test]
fn f15_long_lines_and_piles_of_markers_are_read_in_one_go() {
    let desk = Desk::new();
    desk.write("b", "");
    desk.look(&["@lead", "b", "--route", "bounded"]);
    for piece in ["@lead", "- ", "> ", "```\n", "@lead @lead\n", "x"] {
        desk.write("b", piece.repeat((4 << 20) / piece.len()));
        let look = desk.look(&["@lead", "b", "--route", "bounded"]);
        assert!(matches!(look.code, Some(0 | 4)), "{piece}: {look:?}");
    }
    desk.write("b", format!("### @worker → @lead — {}\n", "x".repeat(4 << 20)));
    let look = desk.look(&["@lead", "b", "--route", "bounded"]);
    let mail = look.of("collab_mail")[0];
    assert_eq!(mail["truncated"], true);
    assert!(mail.to_string().len() <= 4096);
}

#[test]
fn f16_bytes_that_are_no_text_harm_no_other_line() {
    let desk = Desk::new();
    let name = "-x \"\u{1b}\n";
    desk.write(name, "");
    let out = |args: &[&str]| desk.command(args).output().unwrap();
    assert!(out(&["--once", "@lead", "--", name]).status.success());
    let mut bytes = b"\xff\xfe#\0 \0\r\0\n\0\r\r\0\xc3\n".to_vec();
    bytes.extend(h("a").into_bytes());
    bytes.extend("### @worker → @lead — \u{2028}b\u{85}".as_bytes());
    bytes.extend(b"\xf0\x9f\n");
    desk.append(name, bytes);
    let raw = out(&["--once", "@lead", "--", name]).stdout;
    assert_eq!(raw.split(|byte| *byte == b'\n').count(), 3);
    let told = lines(&raw);
    assert_eq!(
        (&told[0]["text"], &told[1]["text"]),
        (&line("a").into(), &"### @worker → @lead —  b \u{fffd}".into())
    );
    assert_eq!(told[0]["file"], desk.path(name));
}

#[test]
fn f17_a_board_of_tomorrow_repeats_and_holds_nothing() {
    let desk = Desk::new();
    desk.write("b", "");
    desk.look_b();
    desk.append("b", h("a") + "### @worker → @lead — half");
    let file = fs::File::options().append(true).open(desk.path("b")).unwrap();
    #[expect(clippy::disallowed_methods, reason = "a fixture of a clock set back")]
    file.set_modified(std::time::SystemTime::now() + Duration::from_hours(24)).unwrap();
    assert_eq!(desk.look_b().mail(), [line("a")]);
    assert!(desk.look_b().is_silent());
}

#[test]
fn f18_polling_alone_delivers_and_is_no_degradation() {
    let desk = Desk::new();
    desk.write("b", "");
    let mut running =
        ready(&desk, &["@lead", "b", "--poll-only", "--interval", "0.05", "--no-announce"]);
    desk.append("b", h("a"));
    assert_eq!(running.event("collab_mail")["text"], line("a"));
    assert!(running.stop().lines.is_empty());
}

#[test]
fn f18_without_watches_the_sweep_delivers() {
    let desk = Desk::new();
    desk.write("b", "");
    let script = r#"echo 0 >/proc/sys/user/max_inotify_instances; exec "$@""#;
    let mut shell = command("unshare");
    shell.args([
        "--user",
        "--map-root-user",
        "sh",
        "-c",
        script,
        "sh",
        env!("CARGO_BIN_EXE_collab-tail"),
    ]);
    shell.args(["@lead", "b", "--interval", "0.2"]).current_dir(desk.scene.join("boards"));
    shell.env("DOORBELL_STORE", desk.scene.join("store"));
    let mut running = Running::start(&mut shell);
    assert_eq!(running.event("monitor_degraded")["reason"], "watch_limit");
    running.event("monitor_armed");
    desk.append("b", h("a"));
    assert_eq!(running.event("collab_mail")["text"], line("a"));
}

#[test]
fn f19_an_open_fence_is_one_warning_and_silences_no_other_board() {
    let desk = Desk::new();
    for board in ["b", "c", "d"] {
        desk.write(board, "");
    }
    let mut running = ready(&desk, &["@lead", "b", "c", "d", "--no-announce", "--interval", "0.1"]);
    desk.append("c", "```\n");
    assert_eq!(running.event("watch_warn")["reason"], "unclosed-fence");
    for n in 0..5 {
        desk.append("d", h(&n.to_string()));
        assert_eq!(running.event("collab_mail")["text"], line(&n.to_string()));
    }
    desk.append("c", format!("{}```\n{}", h("code"), h("real")));
    assert_eq!(running.event("watch_warn")["condition"], "cleared");
    assert_eq!(running.event("collab_mail")["text"], line("real"));
}

#[test]
fn f20_a_stop_amid_many_leaves_the_rest_for_the_next_start() {
    let desk = Desk::new();
    desk.write("b", "");
    let mut running = ready(&desk, &["@lead", "b", "--no-announce"]);
    desk.append("b", (0..10_000).map(|n| h(&n.to_string())).collect::<String>());
    let mut told = vec![running.event("collab_mail")["id"].as_str().unwrap().to_owned()];
    let ended = running.stop();
    assert_eq!(ended.code, Some(0));
    told.extend(ids(&ended.lines));
    told.extend(ids(&desk.look_b().lines));
    assert_eq!(told.len(), 10_000);
    told.sort();
    told.dedup();
    assert_eq!(told.len(), 10_000);
}

#[test]
fn f21_the_dead_among_many_records_are_left_out() {
    let desk = Desk::new();
    let board: String = (0..11_000).map(|n| h(&n.to_string())).collect();
    desk.write("b", &board);
    desk.look_b();
    let records = || fs::read_to_string(store(&desk, "seen")).unwrap().lines().count() - 1;
    assert_eq!(records(), 11_000);
    desk.write("b", &board[..h("0").len() * 5]);
    assert_eq!(desk.look_b().of("file_shrunk").len(), 1);
    assert_eq!(records(), 5);
    desk.append("b", h("0") + &h("new"));
    assert_eq!(desk.look_b().mail(), [line("new")]);
}
