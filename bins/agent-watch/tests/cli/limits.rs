//! A system that gives no watches, and gives them again.

use std::{io::Write as _, process::Stdio};

use crate::*;

/// Runs the watch in a user namespace of its own, whose limit is raised once `raise` is there.
const SCRIPT: &str = r#"
set -eu
echo 0 > "/proc/sys/user/$3"
"$1" --items "$2/items" --no-announce --settle=1h --settle-open=1h --poll-interval=0.2 \
  --death-grace=0.2 --parent-pid $$ &
until [ -e "$2/raise" ]; do sleep 0.05; done
echo 1000 > "/proc/sys/user/$3"
wait $!
"#;

/// Without inotify what was written just before a kill is no result. Once there are watches again
/// it is the close that tells.
#[test]
fn a_watch_that_was_refused_is_taken_again() {
    for limit in ["max_inotify_watches", "max_inotify_instances"] {
        let scene = Scene::new();
        let mut unshare = command("unshare");
        unshare.args(["--user", "--map-root-user", "bash", "-c", SCRIPT, "bash", EXE]);
        unshare.arg(scene.path()).arg(limit).stdin(Stdio::null());
        let mut watch = Running::start(&mut unshare);
        assert_eq!(next(&mut watch, "monitor_degraded")["reason"], "watch_limit", "{limit}");
        let agent = Agent::start(&scene, "blind");
        scene.append("items", line(&scene, "blind", &pid_file(&scene, "blind")));
        next(&mut watch, "item_registered");
        scene.write("blind.md", "part");
        agent.end();
        let died = next(&mut watch, "process_died");
        assert_eq!(died["result"], "partial", "{limit}");

        scene.write("raise", "");
        assert_eq!(next(&mut watch, "monitor_recovered")["reason"], "watch_limit");
        let agent = Agent::start(&scene, "seen");
        scene.append("items", line(&scene, "seen", &pid_file(&scene, "seen")));
        next(&mut watch, "item_registered");
        let mut file = fs::File::create(scene.join("seen.md")).unwrap();
        file.write_all(b"done").unwrap();
        agent.end();
        assert_eq!(next(&mut watch, "process_died")["result"], "partial", "{limit}");
        // It was another that wrote, and it closes what it wrote.
        drop(file);
        let ready = next(&mut watch, "result_ready");
        assert_eq!((&ready["agent"], &ready["settled"]), (&"seen".into(), &"close".into()));
        scene.append("items", "{\"shutdown_request\":true}\n");
        assert_eq!(watch.end().code, Some(0));
    }
}
