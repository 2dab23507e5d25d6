//! `--dedup`: the number of the last message written outlives the process.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use shared::{
    exit::{self, Error, Reason},
    file,
};

const VERSION: u32 = 1;
/// The most bytes of the file.
const LIMIT: u64 = 64 << 10;

/// The file.
#[derive(Debug)]
pub struct Dedup {
    path: PathBuf,
    temporary: PathBuf,
    stream: String,
    durable: String,
}

#[derive(Debug, Serialize, Deserialize)]
struct Content {
    version: u32,
    stream: String,
    durable: String,
    /// When the stream was created, in nanoseconds since 1970, as text: more than a number holds.
    created: Option<String>,
    sequence: u64,
}

/// The stream's time of creation, and the number of the last message written.
pub type Last = (Option<i128>, u64);

impl Dedup {
    /// Opens the file, which need not exist.
    ///
    /// # Errors
    ///
    /// A file of another version or another durable, which is left as it is; the file system's.
    pub fn open(path: &Path, stream: &str, durable: &str) -> Result<(Self, Last), Error> {
        let mut temporary = path.as_os_str().to_owned();
        temporary.push(format!(".tmp.{}", std::process::id()));
        let dedup = Self {
            path: path.to_owned(),
            temporary: temporary.into(),
            stream: stream.to_owned(),
            durable: durable.to_owned(),
        };
        let last = dedup.load()?;
        Ok((dedup, last))
    }

    fn load(&self) -> Result<Last, Error> {
        let read = file::read_if_there(&self.path, LIMIT);
        let read = read.map_err(|err| Error::io("read", &self.path, &err))?;
        let Some(bytes) = read else { return Ok((None, 0)) };
        let refused = |cause: &str| {
            let message = format!("unable to use {}: {cause}", self.path.display());
            Err(Error::new(Reason::Runtime, "dedup_refused", message))
        };
        let Ok(content) = serde_json::from_slice::<Content>(&bytes) else {
            if serde_json::from_slice::<serde_json::Value>(&bytes).is_ok() {
                return refused("it is no file of this program");
            }
            exit::warn("relay", &format!("{} is broken: starting anew", self.path.display()));
            return Ok((None, 0));
        };
        if content.version != VERSION {
            return refused("it is of another version");
        }
        if (&content.stream, &content.durable) != (&self.stream, &self.durable) {
            return refused("it belongs to another stream or durable");
        }
        Ok((content.created.and_then(|created| created.parse().ok()), content.sequence))
    }

    /// Remembers what was written. It survives the end of the process at any moment; what the
    /// end of the machine leaves of it is as old as it may be.
    ///
    /// # Errors
    ///
    /// The file system's.
    pub fn save(&self, (created, sequence): Last) -> Result<(), Error> {
        let content = Content {
            version: VERSION,
            stream: self.stream.clone(),
            durable: self.durable.clone(),
            created: created.map(|created| created.to_string()),
            sequence,
        };
        let mut options = OpenOptions::new();
        let written = serde_json::to_vec(&content).map_err(io::Error::from).and_then(|mut line| {
            line.push(b'\n');
            let mut file = options
                .write(true)
                .create(true)
                .truncate(true)
                .mode(0o600)
                .open(&self.temporary)?;
            file.write_all(&line)?;
            fs::rename(&self.temporary, &self.path)
        });
        written.map_err(|err| Error::io("write", &self.path, &err))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_file_is_refused_at_once() {
        let scene = tempfile::tempdir().unwrap();
        let fifo = scene.path().join("fifo");
        nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRUSR).unwrap();
        for path in [&*fifo, Path::new("/dev/zero"), scene.path()] {
            assert!(Dedup::open(path, "fleet", "seat").is_err(), "{path:?}");
        }
    }

    #[test]
    fn what_was_saved_is_known_and_what_is_not_ours_is_left() {
        let scene = tempfile::tempdir().unwrap();
        let path = scene.path().join("dedup");
        let (dedup, last) = Dedup::open(&path, "fleet", "seat").unwrap();
        assert_eq!(last, (None, 0));
        let saved = (Some(1_775_657_400_123_456_789), u64::MAX);
        dedup.save(saved).unwrap();
        assert_eq!(Dedup::open(&path, "fleet", "seat").unwrap().1, saved);
        assert!(Dedup::open(&path, "fleet", "other").is_err());
        for (text, refused) in [
            (r#"{"version":2,"stream":"fleet","durable":"seat","sequence":1}"#, true),
            (r#"{"other":1}"#, true),
            ("", false),
            (r#"{"version":1,"#, false),
        ] {
            shared::cursor::replace(&path, text.as_bytes()).unwrap();
            assert_eq!(Dedup::open(&path, "fleet", "seat").is_err(), refused, "{text}");
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
    }
}
