//! Which monitors `spawn` starts: the four of an orchestration, or those of a manifest.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use shared::{
    exit::Error,
    file::{self, Unread},
};

use crate::{
    keeper::ask::Ready,
    place::{Place, given_name},
};

/// The most bytes of a manifest.
const LIMIT: u64 = 1 << 20;

/// A monitor to be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Monitor {
    /// Its name, and its `source`.
    pub name: String,
    /// Its command line.
    pub argv: Vec<String>,
    /// What proves it.
    pub ready: Ready,
}

/// The programs of this suite lie beside this one.
///
/// # Errors
///
/// When the system can't say where this program lies.
pub fn programs() -> Result<PathBuf, Error> {
    let own = std::env::current_exe().map_err(Error::on("find the programs beside this one"))?;
    Ok(own.parent().map_or_else(PathBuf::new, ToOwned::to_owned))
}

/// The four always-on monitors of an orchestration, with the names and intervals that it has
/// always given them, and a memory each.
#[must_use]
pub fn always_on(
    state_dir: Option<&str>,
    base: &str,
    programs: &Path,
    place: &Place,
) -> Vec<Monitor> {
    let monitor = |name: &str, program: &str, flags: &[&str]| {
        let mut argv = vec![programs.join(program).to_string_lossy().into_owned()];
        argv.extend(flags.iter().map(ToString::to_string));
        argv.push(format!("--source={name}"));
        let cursor = place.home(name).cursors().join(program);
        argv.push(format!("--cursor={}", cursor.display()));
        if program != "branch-divergence" {
            argv.extend(state_dir.iter().map(|dir| format!("--state-dir={dir}")));
        }
        Monitor { name: name.to_owned(), argv, ready: Ready::Notify }
    };
    let base = format!("--base={base}");
    vec![
        monitor("heartbeat", "heartbeat-watch", &["--poll-interval=60"]),
        // A person's open question is told once, also after a cold start.
        monitor("gate", "gate-watch", &["--emit-current"]),
        monitor("events", "event-tail", &["--filter=state_committed"]),
        monitor("divergence", "branch-divergence", &[&base, "--interval=300", "--threshold=5"]),
    ]
}

/// An entry of a Claude Code `monitors.json`.
#[derive(Debug, Deserialize)]
struct Entry {
    name: String,
    command: String,
}

/// The monitors of a manifest, each run by a shell and proven by being alive.
///
/// # Errors
///
/// A file that can't be read, or that names a monitor as no monitor can be named.
pub fn of_manifest(path: &Path) -> Result<Vec<Monitor>, Error> {
    let refused = |cause: &str| Error::usage(format!("unable to use {}: {cause}", path.display()));
    let content = file::read(path, LIMIT).map_err(|unread| match unread {
        Unread::Absent => refused("there is no such file"),
        Unread::TooLarge => refused("it has more than 1 MiB"),
        Unread::Moving => refused("it keeps changing"),
        Unread::Unreadable(cause) => refused(&cause),
    })?;
    let entries: Vec<Entry> = serde_json::from_slice(&content.bytes).map_err(|err| {
        refused(&format!("it is no list of monitors with name and command ({err})"))
    })?;
    let mut monitors: Vec<Monitor> = Vec::new();
    for Entry { name, command } in entries {
        let name =
            given_name(&name).map_err(|cause| refused(&format!("the name {name:?} {cause}")))?;
        if monitors.iter().any(|other| other.name == name) {
            return Err(refused(&format!("it names {name} twice")));
        }
        let argv = vec!["/bin/sh".to_owned(), "-c".to_owned(), command];
        monitors.push(Monitor { name, argv, ready: Ready::Alive });
    }
    Ok(monitors)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_of_claude_code_is_taken_as_it_is() {
        let scene = tempfile::tempdir().unwrap();
        let path = scene.path().join("monitors.json");
        let write = |text: &str| shared::cursor::replace(&path, text.as_bytes()).unwrap();
        write(
            r#"[{"name":"errors","command":"tail -F log | grep ERROR","description":"x","when":"always"}]"#,
        );
        let monitors = of_manifest(&path).unwrap();
        assert_eq!(monitors[0].argv, ["/bin/sh", "-c", "tail -F log | grep ERROR"]);
        assert_eq!((&*monitors[0].name, monitors[0].ready), ("errors", Ready::Alive));
        for bad in [
            "",
            "{}",
            r#"[{"name":"a"}]"#,
            r#"[{"name":"../a","command":"x"}]"#,
            r#"[{"name":"all","command":"x"}]"#,
            r#"[{"name":"a","command":"x"},{"name":"a","command":"y"}]"#,
        ] {
            write(bad);
            let err = of_manifest(&path).unwrap_err().to_string();
            assert!(err.contains("monitors.json"), "{err}");
        }
        assert!(of_manifest(&scene.path().join("none")).is_err());
    }
}
