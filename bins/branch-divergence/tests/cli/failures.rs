//! Remotes that hang, refuse, or are gone; locks; a rebase in the middle.

use std::{
    fs,
    io::{Read as _, Write as _},
    net::{TcpListener, TcpStream},
    os::unix::net::UnixDatagram,
    path::Path,
    process::Command,
    sync::mpsc::{Receiver, channel},
    thread,
    time::Duration,
};

use serde_json::json;
use tests::{Running, command, eventually, pause};

use crate::world::{EXE, Once, World, processes_with};

/// A server on this machine that gives each caller to `serve`, and tells of it.
fn server(serve: impl Fn(TcpStream) + Send + 'static) -> (String, Receiver<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("127.0.0.1:{}/x.git", listener.local_addr().unwrap().port());
    let (tell, called) = channel();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let _ = tell.send(());
            serve(stream);
        }
    });
    (url, called)
}

/// Accepts and never answers.
fn hanging() -> (String, Receiver<()>) {
    server(std::mem::forget)
}

/// Asks who is calling.
fn unauthorized() -> (String, Receiver<()>) {
    server(|mut stream| {
        let _ = stream.read(&mut [0; 4096]);
        let _ = stream.write_all(
            b"HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"x\"\r\n\
              Content-Length: 0\r\nConnection: close\r\n\r\n",
        );
    })
}

fn set_remote(world: &World, url: &str) {
    world.git("checkout", &["remote", "set-url", "origin", url]);
}

#[test]
fn d10_a_server_that_never_answers_is_given_up_in_time() {
    let world = World::new();
    let (url, _called) = hanging();
    set_remote(&world, &format!("http://{url}"));
    let once = world.once("checkout", &["--fetch-timeout", "1"]);
    let (reason, detail) = once.degraded();
    assert_eq!((reason, detail), ("remote_timeout", "git ls-remote took more than 1 s"));
    assert_eq!(once.lines[0]["retry_in_seconds"], 15);
    eventually("no git is left", || processes_with(&url).is_empty());
}

#[test]
fn d10_a_signal_ends_git_too() {
    let world = World::new();
    let (url, called) = hanging();
    set_remote(&world, &format!("http://{url}"));
    let program = world.start(&[]);
    called.recv_timeout(tests::PATIENCE).unwrap();
    let ended = program.stop();
    assert_eq!((ended.code, ended.lines.len(), &*ended.stderr), (Some(0), 0, ""));
    eventually("no git is left", || processes_with(&url).is_empty());
}

#[test]
fn a_wait_ends_in_time_though_the_server_hangs() {
    let world = World::new();
    let (url, _called) = hanging();
    set_remote(&world, &format!("http://{url}"));
    let ended = world.start(&["--wait", "1", "--fetch-timeout", "1h"]).end();
    assert_eq!((ended.code, ended.lines.len()), (Some(3), 0));
}

#[test]
fn a_service_manager_hears_from_it_while_the_server_hangs() {
    let world = World::new();
    let (url, _called) = hanging();
    set_remote(&world, &format!("http://{url}"));
    let socket = UnixDatagram::bind(world.path("notify")).unwrap();
    socket.set_read_timeout(Some(tests::PATIENCE)).unwrap();
    let mut program = world.on("checkout", &[]);
    program.env("NOTIFY_SOCKET", world.path("notify")).env("WATCHDOG_USEC", "100000");
    let program = Running::start(&mut program);
    for _ in 0..20 {
        let mut notice = [0; 64];
        let n = socket.recv(&mut notice).unwrap();
        assert_eq!(&notice[..n], b"WATCHDOG=1");
    }
    assert_eq!(program.stop().code, Some(0));
}

/// Runs the program under a terminal of its own; what is printed on that terminal.
fn under_a_terminal(world: &World, run: &mut Command) -> String {
    let out = world.path("out");
    let words = std::iter::once(run.get_program()).chain(run.get_args());
    let words: Vec<String> = words.map(|word| format!("'{}'", word.to_str().unwrap())).collect();
    let line = format!("{} >'{}' 2>&1", words.join(" "), out.display());
    let mut terminal = command("script");
    world.at_home(&mut terminal).args(["-qec", &line, "/dev/null"]);
    for (name, value) in run.get_envs() {
        if let Some(value) = value {
            terminal.env(name, value);
        }
    }
    let shown = terminal.output().unwrap();
    String::from_utf8(shown.stdout).unwrap()
}

#[test]
fn d11_a_login_is_asked_of_nobody() {
    let world = World::new();
    let (url, _called) = unauthorized();
    set_remote(&world, &format!("http://{url}"));
    let asked = world.path("asked");
    let askpass = world.script("askpass", &format!("touch '{}'\necho x", asked.display()));
    let askpass = askpass.to_str().unwrap();
    world.git("checkout", &["config", "core.askPass", askpass]);
    let mut program = world.on("checkout", &["--once"]);
    program.env("GIT_ASKPASS", askpass).env("SSH_ASKPASS", askpass).env("DISPLAY", ":0");
    let shown = under_a_terminal(&world, &mut program);
    assert_eq!(shown, "");
    let said = fs::read_to_string(world.path("out")).unwrap();
    let line: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert_eq!(
        (&line["event"], &line["reason"]),
        (&json!("monitor_degraded"), &json!("remote_auth"))
    );
    assert_eq!(line["retry_in_seconds"], 900);
    assert!(!asked.exists());
}

#[test]
fn d11_ssh_finds_no_terminal_and_is_told_not_to_ask() {
    let world = World::new();
    set_remote(&world, "ssh://nobody@localhost/x.git");
    let stub = format!(
        "echo \"$*\" >>'{0}.args'\nif (: </dev/tty) 2>/dev/null; then touch '{0}.tty'; fi\n\
         echo 'ssh: stub says no' >&2\nexit 255",
        world.path("stub").display()
    );
    let stub = world.script("stub", &stub);
    let mut program = world.on("checkout", &["--once"]);
    program.env("GIT_SSH_COMMAND", &stub).env("GIT_SSH_VARIANT", "ssh");
    let shown = under_a_terminal(&world, &mut program);
    assert_eq!(shown, "");
    let said = fs::read_to_string(world.path("out")).unwrap();
    assert!(said.contains("remote_unreachable") && said.contains("ssh: stub says no"), "{said}");
    let args = fs::read_to_string(world.path("stub.args")).unwrap();
    assert!(args.starts_with("-o BatchMode=yes -o ConnectTimeout=15 "), "{args}");
    assert!(!world.path("stub.tty").exists());
}

/// The path of the lock on our own ref.
fn own_lock(world: &World) -> String {
    let _ = world.scene.dir("checkout/.git/refs/doorbell/origin");
    "checkout/.git/refs/doorbell/origin/main.lock".to_owned()
}

#[test]
fn d12_a_lock_that_goes_within_a_second_is_waited_for() {
    let world = World::new();
    world.advance(6);
    let lock = own_lock(&world);
    world.scene.write(&lock, "");
    let mut program = world.start(&[]);
    pause(Duration::from_secs(1));
    fs::remove_file(world.path(&lock)).unwrap();
    assert_eq!(program.event("branch_divergence")["commits_behind"], 6);
    assert_eq!(program.stop().lines.len(), 0);
}

#[test]
fn d12_a_lock_that_stays_costs_the_ref_and_not_the_count() {
    let world = World::new();
    world.advance(6);
    let lock = own_lock(&world);
    world.scene.write(&lock, "");
    assert_eq!(world.once("checkout", &[]).event()["commits_behind"], 6);
    assert_eq!(world.fetched(), "");
    assert!(world.path(&lock).exists());
}

#[test]
fn d12_locks_of_the_user_are_no_matter() {
    let world = World::new();
    world.advance(6);
    for lock in ["refs/remotes/origin/main.lock", "index.lock", "HEAD.lock", "config.lock"] {
        world.scene.write(&format!("checkout/.git/{lock}"), "");
    }
    assert_eq!(world.once("checkout", &[]).event()["commits_behind"], 6);
}

/// Every lock in the git folder.
fn locks(dir: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            found.extend(locks(&path));
        } else if path.extension().is_some_and(|end| end == "lock") {
            found.push(path.display().to_string());
        }
    }
    found
}

/// Lets the first call of the remote's end through, and does `then` at every other.
fn second_call(world: &World, then: &str) {
    let seen = world.path("called");
    let text = format!(
        "if [ -e '{0}' ]; then {then}; fi\ntouch '{0}'\nexec git-upload-pack \"$@\"",
        seen.display()
    );
    let script = world.script("upload-pack", &text);
    let script = script.to_str().unwrap();
    world.git("checkout", &["config", "remote.origin.uploadpack", script]);
}

#[test]
fn a_fetch_that_hangs_is_ended_and_leaves_no_lock() {
    let world = World::new();
    world.advance(6);
    second_call(&world, "exec sleep 600");
    let once = world.once("checkout", &["--fetch-timeout", "1"]);
    assert_eq!(once.degraded(), ("remote_timeout", "git fetch took more than 1 s"));
    assert_eq!(locks(&world.path("checkout/.git")), [""; 0]);
}

#[test]
fn a_fetch_that_fails_is_told_and_tried_again() {
    let world = World::new();
    world.advance(6);
    second_call(&world, &format!("[ -e '{0}' ] || exit 1", world.path("healed").display()));
    let mut program = world.start(&["--interval", "1"]);
    let failed = program.event("monitor_degraded");
    assert_eq!(
        (&failed["reason"], &failed["retry_in_seconds"]),
        (&json!("fetch_failed"), &json!(1))
    );
    world.scene.write("healed", "");
    assert_eq!(program.event("monitor_recovered")["reason"], "fetch_failed");
    program.event("branch_divergence");
}

#[test]
fn objects_that_came_only_in_part_are_fetched_again() {
    let world = World::new();
    world.advance(6);
    // The tip alone, as a fetch that was killed can leave it.
    let tip = world.git("up", &["cat-file", "commit", "main"]);
    world.scene.write("tip", format!("{tip}\n"));
    let path = world.path("tip");
    let name =
        world.git("checkout", &["hash-object", "-t", "commit", "-w", path.to_str().unwrap()]);
    assert_eq!(name, world.tip());
    let mut program = world.start(&["--interval", "1"]);
    assert_eq!(program.event("monitor_degraded")["reason"], "fetch_failed");
    assert_eq!(program.event("monitor_recovered")["reason"], "fetch_failed");
    assert_eq!(program.event("branch_divergence")["commits_behind"], 6);
}

#[test]
fn d14_a_base_that_is_deleted_is_told_and_so_is_its_return() {
    let world = World::new();
    world.advance(6);
    let mut program = world.start(&["--interval", "1"]);
    program.event("branch_divergence");
    world.git("up", &["push", "-q", "origin", "main:kept", ":main"]);
    let missing = program.event("monitor_degraded");
    assert_eq!(
        (&missing["reason"], &missing["retry_in_seconds"]),
        (&json!("base_missing"), &json!(1))
    );
    assert!(missing["detail"].as_str().unwrap().contains("main"));
    world.advance(0);
    assert_eq!(program.event("monitor_recovered")["reason"], "base_missing");
    world.advance(1);
    assert_eq!(program.event("branch_divergence")["commits_behind"], 7);
}

#[test]
fn d15_a_password_in_a_url_is_shown_nowhere() {
    let world = World::new();
    let (url, _called) = unauthorized();
    for (url, reason) in [
        ("http://user:secret@127.0.0.1:1/x.git".to_owned(), "remote_unreachable"),
        (format!("http://user:secret@{url}"), "remote_auth"),
        ("http://user:secret@no-such-host.invalid/x.git".to_owned(), "remote_unreachable"),
        ("nonsense://user:secret@host/x.git".to_owned(), "remote_unreachable"),
    ] {
        set_remote(&world, &url);
        for emit in ["events", "readings"] {
            let once = world.once("checkout", &["--emit", emit]);
            let text = format!("{once:?}");
            assert!(!text.contains("secret"), "{text}");
            assert!(text.contains(reason), "{text}");
        }
    }
}

#[test]
fn d15_a_long_rebase_is_told_at_its_end_and_once() {
    let world = World::new();
    let mut stream = String::from("reset refs/heads/feature\nfrom refs/heads/feature^0\n\n");
    for n in 0..200 {
        let committer = format!("committer C <c@example.invalid> {} +0000", 1_700_000_000 + n);
        let file = format!("M 100644 inline file{n}");
        let lines =
            ["commit refs/heads/feature", &committer, "data 1", "x", &file, "data 1", "x", ""];
        stream += &lines.join("\n");
    }
    world.scene.write("stream", stream);
    let mut import = command("git");
    let import = world.at_home(&mut import).arg("-C").arg(world.path("checkout"));
    let import = import.args(["fast-import", "--quiet"]);
    let stream = fs::File::open(world.path("stream")).unwrap();
    assert!(import.stdin(stream).status().unwrap().success());
    world.git("checkout", &["reset", "-q", "--hard"]);
    world.advance(6);
    world.git("checkout", &["fetch", "-q"]);

    let mut program = world.start(&["--interval", "1"]);
    assert_eq!(program.event("branch_divergence")["commits_ahead"], 200);
    world.git("checkout", &["rebase", "-q", "origin/main"]);
    assert_eq!(program.so_far().len(), 0);
    let cleared = program.event("branch_divergence_cleared");
    assert_eq!((&cleared["commits_behind"], &cleared["commits_ahead"]), (&json!(0), &json!(200)));
    assert_eq!(cleared["head_branch"], "feature");
    assert_eq!(program.stop().lines.len(), 0);
}

#[test]
fn only_the_one_remote_is_contacted() {
    let world = World::new();
    world.advance(6);
    let (url, called) = hanging();
    world.git("checkout", &["remote", "add", "other", &format!("http://{url}")]);
    assert_eq!(world.once("checkout", &[]).event()["commits_behind"], 6);
    assert!(called.try_recv().is_err());
}

#[test]
fn a_remote_that_is_gone_is_told_once_and_nothing_is_cleared() {
    let world = World::new();
    world.advance(6);
    let mut program = Running::start(&mut world.on("checkout", &["--interval", "1"]));
    program.event("branch_divergence");
    fs::rename(world.path("remote.git"), world.path("away.git")).unwrap();
    let gone = program.event("monitor_degraded");
    assert_eq!(gone["reason"], "remote_unreachable");
    assert!(gone["detail"].as_str().unwrap().contains("remote.git"), "{gone}");
    fs::rename(world.path("away.git"), world.path("remote.git")).unwrap();
    assert_eq!(program.event("monitor_recovered")["reason"], "remote_unreachable");
    assert_eq!(program.stop().lines.len(), 0);
    assert!(
        Path::new(EXE).exists() && Once::of(&mut world.on("checkout", &["--once"])).code == Some(0)
    );
}
