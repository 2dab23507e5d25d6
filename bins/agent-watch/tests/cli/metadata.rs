//! Whatever the name of a result, nobody opens it: its first lines hold the verdict.

use std::{
    collections::BTreeSet,
    os::unix::{fs::MetadataExt as _, process::CommandExt as _},
    path::Path,
};

use crate::*;

/// Calls that open, make, change or end something.
const CALLS: &str = "trace=/^(open|creat|kill|tkill|tgkill|pidfd_send|unlink|rename|link|symlink|\
                     mkdir|mknod|truncate|chmod|fchmod|chown|lchown|utime)";

/// `program`, run by somebody who may not read what isn't his, with its calls written to `trace`.
fn traced(scene: &Scene, program: &Path) -> Command {
    // Apart from what is watched, or each call would make another.
    let _ = scene.dir("trace");
    let all = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    fs::set_permissions(scene.join("trace"), all).unwrap();
    let mut strace = command("strace");
    strace.args(["-f", "-e", CALLS, "-o"]).arg(scene.join("trace/calls")).arg(program);
    strace.uid(65_534).gid(65_534);
    strace
}

/// The lines of the trace that name something below the scene, as the name and the call.
fn below(scene: &Scene) -> Vec<(String, String)> {
    let trace = fs::read_to_string(scene.join("trace/calls")).unwrap();
    let root = format!("{}/", scene.path().display());
    let named = trace.lines().filter_map(|line| {
        let (_, rest) = line.split_once(&root)?;
        Some((rest.split('"').next()?.to_owned(), line.to_owned()))
    });
    named.filter(|(name, _)| name != "exe").collect()
}

/// Results of every kind, all of one agent.
fn set(scene: &Scene) -> Agent {
    nix::unistd::mkfifo(&scene.join("fifo.md"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    scene.write("secret.md", "FAIL");
    scene.write("lies-elsewhere", "FAIL");
    std::os::unix::fs::symlink(scene.join("lies-elsewhere"), scene.join("link.md")).unwrap();
    for name in ["secret.md", "lies-elsewhere"] {
        let none = std::os::unix::fs::PermissionsExt::from_mode(0o0);
        fs::set_permissions(scene.join(name), none).unwrap();
    }
    let _ = scene.dir("work");
    scene.write("work/notes", "x");
    scene.write("log", "x");
    let agent = Agent::start(scene, "stuck");
    for name in ["fifo", "secret", "link", "written"] {
        scene.append("items", line(scene, name, &pid_file(scene, "stuck")));
    }
    agent
}

/// When each was read last.
fn reads(scene: &Scene) -> [(i64, i64); 3] {
    ["secret.md", "log", "work/notes"].map(|name| {
        let meta = fs::metadata(scene.join(name)).unwrap();
        (meta.atime(), meta.atime_nsec())
    })
}

/// Has results come in place, by rename and go; and a stall, its end, and another.
fn play(scene: &Scene, watch: &mut Running) {
    next(watch, "item_registered");
    scene.write("written.md", "FAIL");
    let mut open = BTreeSet::from(["secret", "link", "written"]);
    while !open.is_empty() {
        let ready = next(watch, "result_ready");
        open.remove(ready["agent"].as_str().unwrap());
        assert_ne!(ready["agent"], "fifo");
    }
    scene.replace("written.md", "FAIL again");
    next(watch, "result_ready");
    fs::remove_file(scene.join("written.md")).unwrap();
    next(watch, "result_removed");
    let more = format!(
        ",\"idle_stall_sec\":0.3,\"progress_paths\":[\"{}\",\"{}\"]",
        scene.join("log").display(),
        scene.join("work").display()
    );
    scene.append("items", line(scene, "stuck", &(pid_file(scene, "stuck") + &more)));
    next(watch, "stalled");
    scene.append("log", "y");
    next(watch, "recovered");
    next(watch, "stalled");
}

#[test]
fn no_result_or_progress_file_is_ever_opened() {
    let scene = Scene::new();
    let exe = scene.copy_of(EXE);
    let _agent = set(&scene);
    let before = reads(&scene);
    let mut strace = traced(&scene, &exe);
    strace.arg("--items").arg(scene.join("items")).args(["--settle=0.1", "--poll-interval=0.1"]);
    let mut watch = Running::start(strace.args(["--no-announce", "--rewrites"]));
    play(&scene, &mut watch);
    assert_eq!(reads(&scene), before, "looking renews nothing");
    scene.append("items", "{\"shutdown_request\":true}\n");
    assert_eq!(watch.end().code, Some(0));

    let seen = below(&scene);
    let names: BTreeSet<&str> = seen.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, BTreeSet::from(["items", "stuck.pid", "work"]), "{seen:#?}");
    for (name, call) in &seen {
        let reads = call.contains("O_RDONLY") && !call.contains("O_CREAT");
        let lists = call.contains("O_DIRECTORY") && call.contains("O_NOFOLLOW");
        assert!(reads && (name != "work" || lists), "{call}");
    }
    let trace = fs::read_to_string(scene.join("trace/calls")).unwrap();
    let sends = |line: &&str| line.contains("kill(") || line.contains("send_signal");
    let signals: Vec<&str> =
        trace.lines().filter(sends).filter(|line| !line.contains(", 0)")).collect();
    assert!(signals.is_empty(), "{signals:?}");
    let changes = ["creat(", "unlink", "rename", "link(", "linkat", "mkdir", "mknod", "truncate"];
    let change = changes.iter().find(|verb| trace.contains(*verb));
    assert_eq!(change, None, "{trace}");
}

/// The check above can fail: it sees who does open a result.
#[test]
fn a_reader_would_be_seen() {
    let scene = Scene::new();
    let exe = scene.copy_of("/bin/cat");
    scene.write("secret.md", "FAIL");
    let mut strace = traced(&scene, &exe);
    let out = strace.arg(scene.join("secret.md")).output().unwrap();
    assert_eq!(out.stdout, b"FAIL");
    let names: Vec<String> = below(&scene).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["secret.md"]);
}
