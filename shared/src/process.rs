//! Who a process is: a pid alone is a number that the next stranger may get.

use std::{fs, io, os::unix::fs::MetadataExt as _};

use serde::{Deserialize, Serialize};

/// What tells a process from every other, on this machine and across reboots. Two are the same
/// process only if all four agree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// Its number in our pid namespace.
    pub pid: u32,
    /// When it started, in clock ticks since boot: field 22 of `/proc/PID/stat`, raw, since a
    /// derived wall time would move with every step of the clock.
    pub start_ticks: u64,
    /// The boot it belongs to.
    pub boot_id: String,
    /// The inode of our pid namespace.
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

/// Looks at process `pid`. `None`: there is no such process.
///
/// # Errors
///
/// When `/proc` can't be read, which says nothing of the process.
pub fn look(pid: u32) -> io::Result<Option<(Identity, State)>> {
    let stat = match fs::read(format!("/proc/{pid}/stat")) {
        Ok(stat) => stat,
        // ESRCH: it ended between the opening and the reading.
        Err(err)
            if err.kind() == io::ErrorKind::NotFound
                || err.raw_os_error() == Some(nix::libc::ESRCH) =>
        {
            return Ok(None);
        }
        Err(err) => return Err(err),
    };
    let (state, start_ticks) = parse(&stat)
        .ok_or_else(|| io::Error::other(format!("/proc/{pid}/stat has another form")))?;
    let boot_id = fs::read_to_string("/proc/sys/kernel/random/boot_id")?.trim().to_owned();
    let pid_namespace = fs::metadata("/proc/self/ns/pid")?.ino();
    Ok(Some((Identity { pid, start_ticks, boot_id, pid_namespace }, state)))
}

/// The inode of our time namespace.
///
/// # Errors
///
/// Those of `/proc`.
pub fn time_namespace() -> io::Result<u64> {
    Ok(fs::metadata("/proc/self/ns/time")?.ino())
}

/// Whether this very process runs. One that can't be looked at is not known to be gone.
#[must_use]
pub fn is_alive(identity: &Identity) -> bool {
    match look(identity.pid) {
        Ok(found) => found.is_some_and(|(seen, state)| seen == *identity && state == State::Alive),
        Err(_) => true,
    }
}

/// Sees to it that what we start from now on gets no descriptor of ours but the standard ones:
/// whoever started us may have left a lock or a pipe open that would live on in a child.
///
/// # Errors
///
/// Those of `close_range(2)`.
pub fn bequeath_nothing() -> io::Result<()> {
    // SAFETY: nothing is closed; descriptors only get the close-on-exec flag.
    #[expect(unsafe_code, reason = "neither std, nix nor rustix has this call")]
    let done = unsafe { nix::libc::close_range(3, u32::MAX, CLOEXEC) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

const CLOEXEC: nix::libc::c_int = nix::libc::CLOSE_RANGE_CLOEXEC.cast_signed();

/// The state and field 22. The name in parentheses may hold anything, parentheses and bytes that
/// are no text included, so everything is counted from the last one.
fn parse(stat: &[u8]) -> Option<(State, u64)> {
    let after_name = stat.iter().rposition(|byte| *byte == b')')? + 1;
    let rest = str::from_utf8(stat.get(after_name..)?).ok()?;
    let mut fields = rest.split_ascii_whitespace();
    let state = match fields.next()? {
        "Z" | "X" | "x" => State::Zombie,
        _ => State::Alive,
    };
    // The state is field 3.
    Some((state, fields.nth(22 - 4)?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run;

    #[test]
    fn a_name_can_hold_anything() {
        let fields = "1 1 1 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 8123 0 0";
        for name in ["sh", "a b", "x) Z 1 (", ")", "\u{fffd}"] {
            let stat = format!("77 ({name}) S {fields}\n");
            assert_eq!(parse(stat.as_bytes()), Some((State::Alive, 8123)), "{name}");
        }
        let mut stat = b"77 (\xff\xfe) Z ".to_vec();
        stat.extend(fields.as_bytes());
        assert_eq!(parse(&stat), Some((State::Zombie, 8123)));
        for bad in ["", "77 (sh", "77 (sh) S", "77 (sh) S 1 2 3"] {
            assert_eq!(parse(bad.as_bytes()), None, "{bad}");
        }
    }

    #[test]
    fn a_process_is_alive_then_a_zombie_then_gone() {
        let mut child = run::command("cat").stdin(std::process::Stdio::piped()).spawn().unwrap();
        let (born, state) = look(child.id()).unwrap().unwrap();
        assert_eq!(state, State::Alive);
        drop(child.stdin.take());
        let zombie = loop {
            let (identity, state) = look(child.id()).unwrap().unwrap();
            if state == State::Zombie {
                break identity;
            }
        };
        assert_eq!(zombie, born);
        child.wait().unwrap();
        assert_ne!(look(born.pid).unwrap().map(|(identity, _)| identity), Some(born));
    }
}
