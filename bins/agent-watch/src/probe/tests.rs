use std::{io::Write as _, process::Stdio, time::Duration};

use ::tests::{Scene, command, eventually};
use shared::{clock, follow, pidfile::Named as File};

use super::*;
use crate::{desk::Desk, step::step};

/// A desk with one item, whose process runs until its stdin is closed.
struct World {
    scene: Scene,
    desk: Desk,
    probe: Probe,
}

impl World {
    fn new(pid: u32) -> Self {
        let scene = Scene::new();
        scene.replace("a.pid", pid.to_string());
        let args = ["agent-watch", "--items", "f", "--death-grace=0.001"];
        let config = <crate::args::Args as clap::Parser>::parse_from(args).config();
        let mut desk = Desk::new(config, scene.path());
        let line = br#"{"agent":"a","step":"1","result_path":"r","pid_file":"a.pid"}"#;
        let told = follow::Told::Line { number: 1, offset: 0, text: Some(line) };
        desk.take(told, false, &clock::now());
        Self { scene, desk, probe: Probe::default() }
    }

    fn look(&mut self) -> Seen {
        let now = clock::now();
        self.probe.keep(&self.desk.items);
        let Desk { config, items, .. } = &mut self.desk;
        let (key, item) = items.iter_mut().next().unwrap();
        let seen = self.probe.look(key, item, item.wants(config, false, &now), Some(Vec::new()));
        step(item, &seen, config, &now);
        seen
    }

    fn life(&self) -> Life {
        self.desk.items.values().next().unwrap().life
    }

    /// How many processes are waited for.
    fn waits(&self) -> usize {
        self.probe.ends(&self.desk.items).len()
    }
}

/// An end that is told, or that nobody waits for, stays readable: waiting for it would spin.
#[test]
fn an_end_is_waited_for_until_it_is_told_or_the_result_is_there() {
    for first in [Life::Died, Life::Ready] {
        let mut child = command("cat").stdin(Stdio::piped()).spawn().unwrap();
        let mut world = World::new(child.id());
        world.look();
        assert_eq!((world.life(), world.waits()), (Life::Running, 1));
        if first == Life::Ready {
            world.scene.replace("r", "done");
            // Nobody told of the rename, so that it settles by its age.
            world.desk.config.settle = Duration::from_nanos(1);
            eventually("it is ready", || {
                world.look();
                world.life() == Life::Ready
            });
            assert_eq!(world.waits(), 0);
        }
        drop(child.stdin.take());
        child.wait().unwrap();
        eventually("it is over", || {
            world.look();
            world.life() == first && world.waits() == 0
        });
        assert!(!world.probe.has_unheld(&world.desk.items));
    }
}

#[test]
fn a_process_that_can_not_be_held_is_looked_at() {
    let mut child = command("cat").stdin(Stdio::piped()).spawn().unwrap();
    let mut world = World::new(child.id());
    world.probe.pidfds = false;
    world.look();
    assert_eq!((world.waits(), world.probe.has_unheld(&world.desk.items)), (0, true));
    drop(child.stdin.take());
    child.wait().unwrap();
    assert!(matches!(pidfile::read(&world.scene.join("a.pid"), false), File::Gone(..)));
    eventually("it is dead", || {
        world.look();
        world.life() == Life::Died
    });
    assert!(!world.probe.has_unheld(&world.desk.items));
}

#[test]
fn a_result_is_what_its_metadata_says() {
    let scene = Scene::new();
    let seen = |name: &str| result(&scene.join(name));
    assert_eq!((seen("none"), seen("no/folder")), (ResultSeen::Absent, ResultSeen::NoFolder));
    let _ = scene.dir("folder");
    nix::unistd::mkfifo(&scene.join("fifo"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    std::os::unix::fs::symlink(scene.join("none"), scene.join("dangling")).unwrap();
    for name in ["folder", "fifo", "dangling"] {
        assert_eq!(seen(name), ResultSeen::Absent, "{name}");
    }
    scene.write("file", "12345");
    std::os::unix::fs::symlink(scene.join("file"), scene.join("link")).unwrap();
    let ResultSeen::File(version) = seen("file") else { panic!("{:?}", seen("file")) };
    assert_eq!((version.size, seen("link")), (5, ResultSeen::File(version)));
    let chmod = std::os::unix::fs::PermissionsExt::from_mode(0o0);
    fs::set_permissions(scene.join("file"), chmod).unwrap();
    assert_eq!(seen("file"), ResultSeen::File(version), "rights are no content");
}

#[test]
fn what_moves_is_seen_in_files_and_one_level_of_folders() {
    let scene = Scene::new();
    let _ = scene.dir("d/deep");
    scene.write("log", "x");
    let paths = ["log", "d", "none"].map(|name| scene.join(name).display().to_string());
    let look = || progress(&paths);
    let still = look();
    assert_eq!(look(), still, "looking changes nothing");
    let mut last = still.stamp;
    let mut moves = |what: &str| {
        let stamp = look().stamp;
        assert_ne!(stamp, last, "{what}");
        last = stamp;
    };
    scene.append("log", "y");
    moves("a file grows");
    scene.write("d/child", "x");
    moves("a child comes");
    scene.append("d/child", "y");
    moves("a child grows");
    scene.write("none", "x");
    moves("a path comes");
    fs::remove_file(scene.join("none")).unwrap();
    moves("a path goes");
    let before = look();
    let deep =
        fs::File::create(scene.join("d/deep/file")).and_then(|mut file| file.write_all(b"x"));
    deep.unwrap();
    assert_ne!(look(), before, "a folder's own stamp is that of its entries");
    let before = look();
    scene.append("d/deep/file", "y");
    assert_eq!(look(), before, "there is no recursion");
    assert_eq!(progress(&[]).newest, None);
}
