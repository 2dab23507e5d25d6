//! Linux: pidfds, `/proc`, subreapers and signals at the parent's death.

pub(crate) mod family;
pub(crate) mod files;
pub(crate) mod notice;

use std::{
    ffi::c_ulong,
    fs, io,
    os::{
        fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd},
        unix::{fs::MetadataExt as _, net::UnixStream, process::CommandExt as _},
    },
    process::Command,
    sync::OnceLock,
    time::Duration,
};

use rustix::{
    io::Errno,
    process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal},
    time::ClockId,
};

use super::{Identity, State, Status};

/// The clock that counts suspends.
pub(crate) const BOOT: ClockId = ClockId::Boottime;
/// How often a family that is being ended is looked at: what is adopted tells nobody.
pub const STEP: Duration = Duration::from_millis(20);
/// Clock ticks per second in `/proc`: the same on every architecture that we build for.
const HERTZ: u64 = 100;

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
    let (boot_id, pid_namespace) = world()?;
    Ok(Some((Identity { pid, start_ticks, boot_id, pid_namespace }, state)))
}

/// The boot and the pid namespace that we live in, which are the same for as long as we do.
fn world() -> io::Result<(String, u64)> {
    static WORLD: OnceLock<(String, u64)> = OnceLock::new();
    if let Some(world) = WORLD.get() {
        return Ok(world.clone());
    }
    let boot_id = fs::read_to_string("/proc/sys/kernel/random/boot_id")?.trim().to_owned();
    let pid_namespace = fs::metadata("/proc/self/ns/pid")?.ino();
    Ok(WORLD.get_or_init(|| (boot_id, pid_namespace)).clone())
}

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

/// The inode of our time namespace.
///
/// # Errors
///
/// Those of `/proc`.
pub fn time_namespace() -> io::Result<u64> {
    Ok(fs::metadata("/proc/self/ns/time")?.ino())
}

/// Milliseconds since 1970 at which a process of that start began.
#[must_use]
pub fn started_ms(start_ticks: u64) -> Option<i64> {
    let now = crate::clock::now();
    let since_boot = i64::try_from(start_ticks.checked_mul(1000)? / HERTZ).ok()?;
    let up = i64::try_from(now.boot.as_millis()).ok()?;
    Some(now.wall.as_millisecond() - up + since_boot)
}

/// A pidfd: it means one process, whoever gets its number.
#[derive(Debug)]
pub(super) struct Handle(OwnedFd);

impl Handle {
    pub(super) fn open(pid: Pid) -> Result<Option<Self>, Errno> {
        Ok(Some(Self(pidfd_open(pid, PidfdFlags::empty())?)))
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }

    pub(super) fn signal(&self, signal: Signal) -> Result<(), Errno> {
        pidfd_send_signal(&self.0, signal)
    }

    /// `PIDFD_GET_INFO`, Linux 6.15.
    pub(super) fn status(&self) -> Option<Status> {
        let mut info = Info { mask: EXIT, rest: [0; 13], exit_code: 0 };
        // SAFETY: the request carries the size of the struct, which the kernel fills.
        #[expect(unsafe_code, reason = "neither std, nix nor rustix has this call")]
        let done = unsafe { nix::libc::ioctl(self.0.as_raw_fd(), GET_INFO, &raw mut info) };
        if done != 0 || info.mask & EXIT == 0 {
            return None;
        }
        let status = info.exit_code;
        let signal = status & 0x7f;
        Some(if signal == 0 { Status::Code((status >> 8) & 0xff) } else { Status::Signal(signal) })
    }
}

/// Whether the kernel can tell how the process of somebody else ended.
#[must_use]
pub fn has_status() -> bool {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let mut numbers = release.split('.').map(|part| part.parse::<u32>().unwrap_or(0));
    (numbers.next(), numbers.next()) >= (Some(6), Some(15))
}

/// `struct pidfd_info` of `linux/pidfd.h`, in its first size of 64 bytes.
#[repr(C)]
struct Info {
    mask: u64,
    rest: [u32; 13],
    exit_code: i32,
}

const EXIT: u64 = 1 << 3;
/// `_IOWR(0xFF, 11, struct pidfd_info)`.
const GET_INFO: nix::libc::Ioctl = 0xC040_FF0B_u32 as nix::libc::Ioctl;

/// A descriptor that is readable once process `pid` has ended; at once if there is none.
///
/// # Errors
///
/// For want of descriptors.
pub fn end_of(pid: u32) -> io::Result<OwnedFd> {
    let known = i32::try_from(pid).ok().and_then(Pid::from_raw);
    match known.map(|pid| pidfd_open(pid, PidfdFlags::empty())) {
        Some(Ok(fd)) => Ok(fd),
        Some(Err(err)) if err != Errno::SRCH => Err(err.into()),
        // Gone already: the end of a pair without another end is readable at once.
        _ => Ok(UnixStream::pair()?.0.into()),
    }
}

/// Sees to it that what loses its parent among our descendants becomes our own child.
///
/// # Errors
///
/// Those of `prctl(2)`.
pub fn adopt_orphans() -> io::Result<()> {
    Ok(rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?)
}

/// Makes the child of `command` get TERM when the thread that starts it ends, however it ends.
pub(crate) fn dies_with_us(command: &mut Command) {
    let parent = std::process::id();
    let tie = move || {
        rustix::process::set_parent_process_death_signal(Some(Signal::TERM))?;
        // It may have ended before the tie was made.
        let still = rustix::process::getppid().map(Pid::as_raw_nonzero);
        if still.is_some_and(|pid| u32::try_from(pid.get()) == Ok(parent)) {
            return Ok(());
        }
        Err(io::Error::from(io::ErrorKind::BrokenPipe))
    };
    // SAFETY: two system calls without memory of ours; the closure owns a number.
    #[expect(unsafe_code, reason = "std has no call for it")]
    unsafe {
        command.pre_exec(tie);
    }
}

/// Sees to it that what we start from now on gets no descriptor of ours but the standard ones:
/// whoever started us may have left a lock or a pipe open that would live on in a child.
///
/// # Errors
///
/// Those of `close_range(2)`.
pub fn bequeath_nothing() -> io::Result<()> {
    // Of the width that the variadic call reads. musl has no function of this name.
    let (first, last): (c_ulong, c_ulong) = (3, u32::MAX.into());
    let flags = c_ulong::from(nix::libc::CLOSE_RANGE_CLOEXEC);
    // SAFETY: nothing is closed; descriptors only get the close-on-exec flag.
    #[expect(unsafe_code, reason = "neither std, nix nor rustix has this call")]
    let done = unsafe { nix::libc::syscall(nix::libc::SYS_close_range, first, last, flags) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
