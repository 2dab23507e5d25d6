//! A system that has no more watches to give. The one test that takes a minute, so it is in the
//! first module and runs beside the others.

use serde_json::json;
use tests::command;

use crate::world::{EXE, World, health, item, ready, recovered, warned};

#[test]
fn h20_without_watches_the_sweep_goes_on_until_there_are_some() {
    let world = World::new();
    // A user namespace has a limit of its own, which spares the machine's.
    let script = r#"
        limit=/proc/sys/user/max_inotify_instances
        echo 0 >$limit
        (read -r _ <free; echo 100 >$limit) >/dev/null 2>&1 &
        exec "$@""#;
    assert!(command("mkfifo").arg(world.scene.join("free")).status().unwrap().success());
    let mut shell = command("unshare");
    shell.args(["--user", "--map-root-user", "sh", "-c", script, "sh", EXE]);
    shell.args(["--state-dir", "state", "--poll-interval", "0.5", "--alive", "10s"]);
    let mut running = ready(&world.scene, shell.current_dir(world.scene.path()));
    health(&mut running, "monitor_degraded", "watch_limit");
    world.commit(&[item("WI-1", 300)]);
    warned(&mut running, "WI-1", "warning");
    world.scene.append("free", "\n");
    // The system is asked again every minute.
    let recovery = loop {
        let line = running.line();
        if line["event"] != "monitor_alive" {
            break line;
        }
    };
    assert_eq!(
        (&recovery["event"], &recovery["reason"]),
        (&json!("monitor_recovered"), &json!("watch_limit"))
    );
    world.commit(&[item("WI-1", 3600)]);
    recovered(&mut running, "WI-1", "renewed");
    assert_eq!(running.stop().code, Some(0));
}
