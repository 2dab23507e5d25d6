//! The folder of a watch: its state, written whole or not at all, and the lock that makes it ours.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, BufWriter, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    time::Duration,
};

use shared::{
    clock, cursor,
    exit::{self, Error, Reason},
    file::{self, Unread},
    process, store,
};

use crate::decide::{Ms, Refused, State};

/// The most bytes of a state: above what the most keys take.
const LIMIT: u64 = 1 << 30;
/// How much of it is written at once.
const PIECE: usize = 64 << 10;
/// How long a change waits for others.
const PATIENCE: Duration = Duration::from_millis(250);
/// How long to wait after a save that failed.
pub const RETRY: Duration = Duration::from_secs(5);
/// Saving takes no more than one part in so many of the time.
const SHARE: u32 = 10;

/// The folder of the watch `name`.
///
/// # Errors
///
/// When no folder for state is known.
pub fn folder(given: Option<&Path>, name: &str) -> Result<PathBuf, Error> {
    Ok(store::root(given)?.join("wake").join(name))
}

/// What is remembered of the watch in `folder`; none when nothing is.
///
/// # Errors
///
/// A state of another version, or one that can't be read: it is left as it is.
pub fn read(folder: &Path) -> Result<Option<State>, Error> {
    match recall(folder)? {
        Recalled::Nothing => Ok(None),
        Recalled::Known(state) => Ok(Some(*state)),
        Recalled::Broken(cause) => {
            let path = folder.join("state.json");
            let message = format!("unable to read {}: {cause}", path.display());
            Err(Error::new(Reason::Runtime, "state_unreadable", message))
        }
    }
}

enum Recalled {
    Nothing,
    Known(Box<State>),
    Broken(String),
}

fn recall(folder: &Path) -> Result<Recalled, Error> {
    let path = folder.join("state.json");
    let unread = |cause: &str| {
        let message = format!("unable to read {}: {cause}", path.display());
        Error::new(Reason::Runtime, "state_unreadable", message)
    };
    let bytes = match file::read(&path, LIMIT) {
        Ok(content) => content.bytes,
        Err(Unread::Absent) => return Ok(Recalled::Nothing),
        Err(Unread::TooLarge) => return Err(unread("too large")),
        Err(Unread::Unreadable(cause)) => return Err(unread(&cause)),
        Err(Unread::Moving) => return Err(unread("another process writes it")),
    };
    let Ok(text) = str::from_utf8(&bytes) else {
        return Ok(Recalled::Broken("not UTF-8".to_owned()));
    };
    match State::from_json(text) {
        Ok(state) => Ok(Recalled::Known(Box::new(state))),
        Err(refused @ Refused::Malformed(_)) => Ok(Recalled::Broken(refused.to_string())),
        Err(refused @ Refused::Version(_)) => {
            let message = format!("unable to use {}: {refused}", path.display());
            Err(Error::new(Reason::Runtime, "unsupported_state_version", message))
        }
    }
}

/// A watch's folder, held.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    /// None when the folder is not writable: nobody else can write there either.
    _lock: Option<File>,
    cadence: Cadence,
}

impl Store {
    /// Takes the folder of the watch `name`, and recalls its state, or begins one at `now`.
    ///
    /// # Errors
    ///
    /// A folder that another process holds or others can write; a state of another version.
    pub fn open(folder: PathBuf, name: &str, now: Ms) -> Result<(Self, State), Error> {
        let lock = if make(&folder)? { hold(&folder.join("lock"))? } else { None };
        let state = match recall(&folder)? {
            Recalled::Known(state) => *state,
            Recalled::Nothing => fresh(name, now)?,
            Recalled::Broken(cause) => {
                set_aside(&folder, &cause);
                fresh(name, now)?
            }
        };
        Ok((Self { folder, _lock: lock, cadence: Cadence::default() }, state))
    }

    /// Where it is.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether a save is due, the input being drained or not.
    #[must_use]
    pub fn is_due(&self, now: Duration, drained: bool) -> bool {
        self.cadence.is_due(now, drained)
    }

    /// When a save is due though nothing follows, on the monotonic clock.
    #[must_use]
    pub fn due(&self) -> Option<Duration> {
        self.cadence.due()
    }

    /// The state has changed.
    pub fn touch(&mut self, now: Duration) {
        self.cadence.touch(now);
    }

    /// Writes the state whole.
    ///
    /// # Errors
    ///
    /// Those of the file system; the old file is then as it was.
    pub fn save(&mut self, state: &State) -> io::Result<()> {
        let begun = clock::monotonic();
        let saved = cursor::replace_with(&self.folder.join("state.json"), |file| {
            let mut file = BufWriter::with_capacity(PIECE, file);
            serde_json::to_writer(&mut file, state)?;
            file.write_all(b"\n")?;
            file.flush()
        });
        let ended = clock::monotonic();
        match &saved {
            Ok(()) => self.cadence.saved(begun, ended),
            Err(_) => self.cadence.failed(ended),
        }
        saved
    }

    /// Tries to write beside the state, as a save would.
    ///
    /// # Errors
    ///
    /// Those of the file system.
    pub fn probe(&self) -> io::Result<()> {
        let path = self.folder.join(format!("state.json.tmp.{}", std::process::id()));
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&path)?;
        fs::remove_file(path)
    }
}

/// A state without a past.
///
/// # Errors
///
/// When the system has no random numbers.
pub fn fresh(name: &str, now: Ms) -> Result<State, Error> {
    let random = process::random::<16>().map_err(Error::on("draw a random number"))?;
    Ok(State::new(name, &shared::line::digest(&random), now))
}

/// Makes the folder; false when it can't be.
fn make(folder: &Path) -> Result<bool, Error> {
    match store::make_private(folder) {
        Ok(()) => Ok(true),
        Err(err) if err.word() == "store_refused" => Err(err),
        Err(_) => Ok(false),
    }
}

/// Takes the lock, which then holds our pid. None when the folder is not ours to write.
fn hold(path: &Path) -> Result<Option<File>, Error> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600);
    let Ok(mut file) = options.open(path) else { return Ok(None) };
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let holder = fs::read_to_string(path).unwrap_or_default();
            let holder = holder.trim();
            let message = format!("unable to lock {}: process {holder} holds it", path.display());
            return Err(Error::new(Reason::Runtime, "lock_held", message));
        }
        Err(TryLockError::Error(err)) => return Err(Error::io("lock", path, &err)),
    }
    // A full disk is told when the state is written; the lock holds without a name in it.
    let _ = file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id()));
    Ok(Some(file))
}

/// Keeps what is no state beside the fresh one.
fn set_aside(folder: &Path, cause: &str) {
    let (state, bad) = (folder.join("state.json"), folder.join("state.bad"));
    let kept = match fs::rename(&state, &bad) {
        Ok(()) => format!("it is kept as {}", bad.display()),
        Err(err) => format!("and can't be kept: {err}"),
    };
    let message = format!("unable to use {}: {cause}; {kept}", state.display());
    exit::warn("wake", &message);
}

/// When the state is saved between lines.
#[derive(Debug, Default)]
struct Cadence {
    /// The first change that is not saved.
    changed: Option<Duration>,
    not_before: Duration,
}

impl Cadence {
    fn touch(&mut self, now: Duration) {
        self.changed.get_or_insert(now);
    }

    fn due(&self) -> Option<Duration> {
        self.changed.map(|changed| (changed + PATIENCE).max(self.not_before))
    }

    fn is_due(&self, now: Duration, drained: bool) -> bool {
        self.due().is_some_and(|due| due <= now || (drained && self.not_before <= now))
    }

    /// The changes stay to be saved.
    fn failed(&mut self, ended: Duration) {
        self.changed.get_or_insert(ended);
        self.not_before = ended + RETRY;
    }

    fn saved(&mut self, begun: Duration, ended: Duration) {
        self.changed = None;
        self.not_before = ended + ended.saturating_sub(begun) * (SHARE - 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn the_state_is_saved_when_the_input_is_drained_or_soon_and_never_all_the_time() {
        let mut cadence = Cadence::default();
        assert!(!cadence.is_due(ms(0), true) && cadence.due().is_none());
        cadence.touch(ms(1000));
        cadence.touch(ms(1100));
        assert!(cadence.is_due(ms(1000), true) && !cadence.is_due(ms(1249), false));
        assert!(cadence.is_due(ms(1250), false));
        assert_eq!(cadence.due(), Some(ms(1250)));

        cadence.saved(ms(1250), ms(1350));
        cadence.touch(ms(1400));
        assert!(!cadence.is_due(ms(2249), true) && cadence.is_due(ms(2250), true));
        assert_eq!(cadence.due(), Some(ms(2250)));
    }

    #[test]
    fn the_folder_is_held_once() {
        let scene = tempfile::tempdir().unwrap();
        let folder = scene.path().join("wake/ops");
        let (mut store, state) = Store::open(folder.clone(), "ops", 7).unwrap();
        store.save(&state).unwrap();
        let err = Store::open(folder.clone(), "ops", 8).unwrap_err();
        assert_eq!((err.reason(), err.word()), (Reason::Runtime, "lock_held"));
        drop(store);
        let (_, again) = Store::open(folder, "ops", 9).unwrap();
        assert_eq!(again.created, 7);
    }
}
