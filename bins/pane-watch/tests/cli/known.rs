//! Panes that belong there.

use tests::Running;

use crate::world::World;

#[test]
fn a_known_pane_is_skipped_until_it_goes() {
    let world = World::new();
    let (pane, died) = (world.idle(), world.idle());
    world.tmux.run(&["set-option", "-p", "-t", &died, "remain-on-exit", "on"]);
    // One that isn't there is merely unknown.
    let mut watch = world.watch(&["--known", &pane, "--known", &died, "--known", "%4242"]);
    world.tmux.run(&["kill-pane", "-t", &pane]);
    let gone = watch.event("known_pane_gone");
    assert_eq!((&gone["pane"], &gone["role"]), (&(*pane).into(), &"known".into()));
    nix::sys::signal::kill(world.tmux.pid_of(&died), nix::sys::signal::Signal::SIGKILL).unwrap();
    assert_eq!(watch.event("known_pane_gone")["pane"], *died);
    world.tmux.run(&["kill-pane", "-t", &died]);
    let marker = world.idle();
    assert_eq!(watch.event("untracked_pane")["pane"], *marker, "an end is told once");
}

#[test]
fn a_file_of_a_known_pane_is_read_again_when_it_changes() {
    let world = World::new();
    let (first, second) = (world.idle(), world.idle());
    let file = world.path("consultant");
    let mut watch = world.watch(&["--baseline", "--poll-interval=1h", "--known-file", &file]);
    world.scene.write("consultant", format!("{first}\nand more\n"));
    world.tmux.run(&["kill-pane", "-t", &first]);
    assert_eq!(watch.event("known_pane_gone")["pane"], *first);
    // Emptied, as by a shell that is about to write, it names what it named; then another.
    world.scene.write("consultant", "");
    world.scene.write("consultant", format!("{second}\n"));
    world.tmux.run(&["kill-pane", "-t", &second]);
    assert_eq!(watch.event("known_pane_gone")["pane"], *second);
}

#[test]
fn a_file_without_a_pane_keeps_the_last_and_is_warned_of_once() {
    let world = World::new();
    let pane = world.idle();
    world.scene.write("consultant", format!("{pane}\n"));
    let mut watch = world.watch(&["--known-file", &world.path("consultant")]);
    for text in ["nobody\n", "no one\n", ""] {
        world.scene.write("consultant", text);
        let marker = world.idle();
        assert_eq!(watch.event("untracked_pane")["pane"], *marker, "{text}");
    }
    std::fs::remove_file(world.scene.join("consultant")).unwrap();
    world.tmux.run(&["kill-pane", "-t", &pane]);
    assert_eq!(watch.event("known_pane_gone")["pane"], *pane);
    let stderr = watch.stop().stderr;
    assert_eq!(stderr.matches("warning:").count(), 1, "{stderr}");
    assert!(stderr.contains("consultant is no pane"), "{stderr}");
}

#[test]
fn the_pane_that_it_runs_in_is_known() {
    let world = World::new();
    let own = world.idle();
    let mut watch = world.command(&[]);
    watch.env("TMUX", format!("{},1,0", world.tmux.socket())).env("TMUX_PANE", &own);
    let mut watch = Running::ready(&world.scene, &mut watch);
    let marker = world.idle();
    assert_eq!(watch.event("untracked_pane")["pane"], *marker);
    world.tmux.run(&["kill-pane", "-t", &own]);
    assert_eq!(watch.event("known_pane_gone")["role"], "known");
}
