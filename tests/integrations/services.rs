//! The units of systemd: each starts a program that tells of its readiness, with flags it takes.

use std::{fs, os::unix::fs::symlink};

use tests::{Scene, command, tools};

use crate::{calls::fault, integration, names, programs, text};

/// File names and texts.
fn units() -> Vec<(String, String)> {
    let names = names(integration("systemd")).into_iter();
    let units: Vec<_> = names
        .filter(|name| name.ends_with(".service"))
        .map(|name| (name.clone(), text(&format!("systemd/{name}"))))
        .collect();
    assert!(!units.is_empty());
    units
}

/// The command of a unit, as it would be for some instance.
fn start(unit: &str) -> String {
    let start = unit.lines().find_map(|line| line.strip_prefix("ExecStart=%h/.local/bin/"));
    let start = start.unwrap_or_else(|| panic!("no ExecStart: {unit}"));
    [("%S", "/s"), ("%f", "/f"), ("%i", "i"), ("$BOARDS", "/b1 /b2")]
        .iter()
        .fold(start.to_owned(), |start, (name, value)| start.replace(name, value))
}

#[test]
fn each_unit_starts_a_program_with_flags_that_it_takes() {
    for (name, unit) in units() {
        assert_eq!(fault(&start(&unit)), None, "{name}");
        assert!(unit.contains("\nType=notify\n"), "{name}");
        assert!(unit.contains(" --source="), "{name}");
        let (kind, _) = name.strip_prefix("doorbell-").unwrap().split_once('@').unwrap();
        assert!(text("systemd/README.md").contains(&format!("`doorbell-{kind}@`")), "{name}");
    }
}

/// What the unit says is what systemd understands: it warns of every key that it doesn't know.
#[test]
fn systemd_takes_each_unit() {
    if command("systemd-analyze").arg("--version").output().is_err() {
        println!("systemd-analyze is not here: nothing was verified");
        return;
    }
    let scene = Scene::new();
    let bin = scene.dir(".local/bin");
    for tool in tools() {
        symlink(programs().join(&tool), bin.join(&tool)).unwrap();
    }
    let verify = |name: &str| {
        let mut verify = command("systemd-analyze");
        verify.args(["verify", "--user", "--man=no"]).arg(scene.join(name));
        verify.env("HOME", scene.path()).env("XDG_RUNTIME_DIR", scene.path());
        verify.env("XDG_CONFIG_HOME", scene.join(".config")).output().unwrap()
    };
    for (name, unit) in units() {
        let instance = name.replace('@', "@tmp-x");
        scene.write(&instance, &unit);
        let out = verify(&instance);
        let complaints = String::from_utf8_lossy(&out.stderr);
        assert!(out.status.success() && !complaints.contains(&instance), "{name}: {complaints}");
        fs::remove_file(scene.join(&instance)).unwrap();
    }
    scene.write("bad@x.service", "[Service]\nExecStart=%h/.local/bin/none\nRestrat=no\n");
    let out = verify("bad@x.service");
    assert!(!out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
}
