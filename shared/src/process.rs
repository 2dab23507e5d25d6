//! Who a process is, since a pid alone is a number that the next stranger may get; and whatever
//! else differs from system to system.
//!
//! All of that is in `linux` and, for systems that have less, in `plain`, which does the same with
//! weaker means: nothing outside this module asks which system it is on. `--cfg doorbell_plain`
//! builds the plain one on Linux, where its tests run.

mod hold;
#[cfg(all(target_os = "linux", not(doorbell_plain)))]
mod linux;
#[cfg(not(all(target_os = "linux", not(doorbell_plain))))]
mod plain;

use std::{ffi::OsStr, fs::File, io};

use serde::{Deserialize, Serialize};

#[cfg(all(target_os = "linux", not(doorbell_plain)))]
use linux as system;
#[cfg(not(all(target_os = "linux", not(doorbell_plain))))]
use plain as system;

pub use hold::Hold;
pub(crate) use system::{BOOT, dies_with_us, files::reopenable};
pub use system::{
    STEP, adopt_orphans, bequeath_nothing, end_of,
    family::{Strays, left_by},
    files::{is_remote, lend, nameless},
    has_status, look,
    notice::{NoticeSocket, address},
    started_ms, time_namespace,
};

/// The variable in which a process carries the run that it is part of. Its value is as good as
/// unique, so it is proof of that.
pub const RUN: &str = "DOORBELL_RUN";

/// What tells a process from every other, on this machine and across reboots. Two are the same
/// process only if all four agree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// Its number in our pid namespace.
    pub pid: u32,
    /// When it started. On Linux in clock ticks since boot: field 22 of `/proc/PID/stat`, raw,
    /// since a derived wall time would move with every step of the clock. Elsewhere in seconds
    /// since 1970.
    pub start_ticks: u64,
    /// The boot it belongs to; empty where its start tells boots apart.
    pub boot_id: String,
    /// The inode of our pid namespace, where there are such.
    pub pid_namespace: u64,
}

/// What a process is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It runs, sleeps or is stopped.
    Alive,
    /// It has ended and waits to be reaped.
    Zombie,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// By itself, with this code.
    Code(i32),
    /// By this signal.
    Signal(i32),
}

/// Who we are.
///
/// # Errors
///
/// When the system doesn't let us look.
pub fn ourselves() -> io::Result<Identity> {
    let found = look(std::process::id())?;
    found.map(|(identity, _)| identity).ok_or_else(|| io::Error::other("no process has our pid"))
}

/// Whether this very process runs. One that can't be looked at is not known to be gone.
#[must_use]
pub fn is_alive(identity: &Identity) -> bool {
    match look(identity.pid) {
        Ok(found) => found.is_some_and(|(seen, state)| seen == *identity && state == State::Alive),
        Err(_) => true,
    }
}

/// `N` bytes from the system's random source.
///
/// # Errors
///
/// Those of reading it.
pub fn random<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    io::Read::read_exact(&mut File::open("/dev/urandom")?, &mut bytes)?;
    Ok(bytes)
}

/// What stands in the environment of whatever belongs to `run`.
fn mark(run: impl AsRef<OsStr>) -> Vec<u8> {
    [RUN.as_bytes(), b"=", run.as_ref().as_encoded_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use std::{
        os::fd::AsFd as _,
        process::{Child, Stdio},
        time::Duration,
    };

    use rustix::process::Signal;

    use super::*;
    use crate::{clock, run, wait};

    const LONG: Duration = Duration::from_secs(30);

    fn child() -> Child {
        run::command("cat").stdin(Stdio::piped()).spawn().unwrap()
    }

    #[test]
    fn a_process_is_alive_then_a_zombie_then_gone() {
        let mut child = child();
        let (born, state) = look(child.id()).unwrap().unwrap();
        assert_eq!(state, State::Alive);
        assert!(is_alive(&born));
        drop(child.stdin.take());
        let zombie = loop {
            let (identity, state) = look(child.id()).unwrap().unwrap();
            if state == State::Zombie {
                break identity;
            }
        };
        assert_eq!(zombie, born);
        assert!(!is_alive(&born));
        child.wait().unwrap();
        assert_ne!(look(born.pid).unwrap().map(|(identity, _)| identity), Some(born));
    }

    #[test]
    fn its_start_is_a_time() {
        let mut child = child();
        let now = clock::now().wall.as_millisecond();
        let (born, _) = look(child.id()).unwrap().unwrap();
        let began = started_ms(born.start_ticks).unwrap();
        assert!((now - 60_000..=now + 1000).contains(&began), "{began} {now}");
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn a_hold_signals_the_process_it_was_opened_for_and_no_other() {
        let (mut ours, mut other) = (child(), child());
        let identity = look(ours.id()).unwrap().unwrap().0;
        let hold = Hold::of(&identity).unwrap();
        assert_eq!((hold.identity(), hold.has_ended()), (&identity, false));
        let differs = Identity { start_ticks: identity.start_ticks + 1, ..identity };
        assert!(Hold::of(&differs).is_none());

        assert!(hold.signal(Signal::TERM).unwrap());
        assert!(hold.ends_by(clock::monotonic() + LONG).unwrap());
        ours.wait().unwrap();
        assert!(hold.has_ended() && !hold.signal(Signal::TERM).unwrap());
        assert!(Hold::of(hold.identity()).is_none());
        assert_eq!(other.try_wait().unwrap(), None);
        other.kill().unwrap();
        other.wait().unwrap();
    }

    #[test]
    fn the_end_of_a_child_and_of_a_stranger_is_told() {
        let mut ours = child();
        let mut shell = run::command("sh").args(["-c", "sleep 1000 & echo $!"]).spawn().unwrap();
        let mut pid = String::new();
        let said = shell.stdout.take().unwrap();
        io::BufRead::read_line(&mut io::BufReader::new(said), &mut pid).unwrap();
        shell.wait().unwrap();
        let stranger = Hold::open(pid.trim().parse().unwrap()).unwrap().unwrap().0;

        let ends = [end_of(ours.id()).unwrap(), end_of(stranger.identity().pid).unwrap()];
        for end in &ends {
            assert!(!wait::until_readable(end.as_fd(), clock::monotonic()).unwrap());
        }
        drop(ours.stdin.take());
        stranger.signal(Signal::KILL).unwrap();
        for end in &ends {
            assert!(wait::until_readable(end.as_fd(), clock::monotonic() + LONG).unwrap());
        }
        let pid = ours.id();
        ours.wait().unwrap();
        assert!(wait::until_readable(end_of(pid).unwrap().as_fd(), clock::monotonic()).unwrap());
    }

    #[test]
    fn a_child_reads_what_it_is_lent() {
        let mut file = nameless("lent").unwrap();
        io::Write::write_all(&mut file, b"inside").unwrap();
        io::Seek::rewind(&mut file).unwrap();
        let mut cat = run::command("cat");
        let path = lend(&file, &mut cat);
        assert_eq!(cat.arg(path).output().unwrap().stdout, b"inside");
        assert_eq!(run::command("ls").arg("/dev/fd/9").output().unwrap().stdout, b"");
    }
}
