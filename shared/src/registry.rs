//! The registry as those follow it who judge none of its lines: what it holds at the start, or
//! after another file took its name, is history; what is appended is news.

use std::{
    fs,
    os::{fd::BorrowedFd, unix::fs::FileTypeExt as _},
    path::{Path, PathBuf},
    time::Duration,
};

use crate::{
    clock::Now,
    exit::Error,
    follow::{Follower, State, Told},
    health::{Health, Reasons},
};

/// What a reading brings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Said<'a> {
    /// All lines that follow in this reading are history.
    History,
    /// A line and where it begins. Lines that are too long are left out.
    Line(u64, &'a [u8]),
}

/// A registry that is followed.
#[derive(Debug)]
pub struct Registry {
    path: PathBuf,
    follower: Follower,
    reasons: Reasons,
    state: Option<State>,
}

impl Registry {
    /// Follows `path`, which may not exist yet.
    ///
    /// # Errors
    ///
    /// A working directory that is gone.
    pub fn new(path: &Path) -> Result<Self, Error> {
        let path = std::path::absolute(path).map_err(|err| Error::io("resolve", path, &err))?;
        let follower = Follower::new(Some(&path));
        Ok(Self { path, follower, reasons: Reasons::default(), state: None })
    }

    /// Where it is, absolute.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What is to be polled for more, when it is a FIFO.
    #[must_use]
    pub fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.follower.fd()
    }

    /// Hands what came since the last call to `each`, and says what there is to say of the
    /// registry itself: that it is missing or unreadable after it was there, and that it is back.
    ///
    /// # Errors
    ///
    /// What is neither a regular file nor a FIFO, or can't be read at the start.
    pub fn read(
        &mut self,
        retry: Duration,
        now: &Now,
        each: &mut impl FnMut(Said<'_>),
    ) -> Result<Vec<Health>, Error> {
        // One that never was has no history: whoever makes it speaks to us.
        let is_new = self.state == Some(State::Absent) && !self.reasons.holds("items_missing");
        let read = self.follower.read(&mut |told| match told {
            Told::Restart if is_new => {}
            Told::Restart => each(Said::History),
            Told::Line { offset, text: Some(text), .. } => each(Said::Line(offset, text)),
            Told::Line { .. } => {}
        });
        let before = self.state.replace(*read.as_ref().unwrap_or(&State::Read));
        let shown = self.path.display();
        let told = match &read {
            Ok(State::Absent) if before.is_none() || is_new => None,
            Ok(State::Absent) => {
                let detail = format!("{shown}: no such file");
                self.reasons.degrade("items_missing", &detail, retry, now)
            }
            Ok(_) => {
                let all = ["items_missing", "items_unreadable"].into_iter();
                return Ok(all.filter_map(|reason| self.reasons.recover(reason, now)).collect());
            }
            Err(err) if before.is_none() || is_odd(&self.path) => {
                return Err(Error::io("read the registry", &self.path, err));
            }
            Err(err) => {
                let detail = format!("{shown}: {err}");
                self.reasons.degrade("items_unreadable", &detail, retry, now)
            }
        };
        Ok(told.into_iter().collect())
    }
}

/// Whether there is something that is no registry.
fn is_odd(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|meta| !meta.is_file() && !meta.file_type().is_fifo())
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;
    use crate::clock;

    struct Desk {
        dir: tempfile::TempDir,
        registry: Registry,
    }

    impl Desk {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            let registry = Registry::new(&dir.path().join("items")).unwrap();
            Self { dir, registry }
        }

        fn append(&self, text: &str) {
            let mut options = fs::OpenOptions::new();
            let file = options.append(true).create(true).open(self.dir.path().join("items"));
            file.unwrap().write_all(text.as_bytes()).unwrap();
        }

        fn read(&mut self) -> String {
            let mut said = String::new();
            let health = self.registry.read(Duration::ZERO, &clock::now(), &mut |what| {
                said.push_str(match what {
                    Said::History => "history:",
                    Said::Line(_, text) => str::from_utf8(text).unwrap(),
                });
            });
            for event in health.unwrap() {
                let text = serde_json::to_string(&event).unwrap();
                said.push_str(if text.contains("degraded") { "-" } else { "+" });
            }
            said
        }
    }

    #[test]
    fn what_was_there_is_history_and_what_comes_is_news() {
        let mut desk = Desk::new();
        desk.append("a\n");
        assert_eq!(desk.read(), "history:a");
        desk.append("b\n");
        assert_eq!(desk.read(), "b");
        fs::remove_file(desk.registry.path()).unwrap();
        assert_eq!((desk.read(), desk.read()), ("-".to_owned(), String::new()));
        desk.append("c\n");
        assert_eq!(desk.read(), "history:c+");
    }

    #[test]
    fn one_that_never_was_is_waited_for_without_complaint() {
        let mut desk = Desk::new();
        assert_eq!((desk.read(), desk.read()), (String::new(), String::new()));
        desk.append("a\n");
        assert_eq!(desk.read(), "a");
    }

    #[test]
    fn what_is_no_registry_is_refused() {
        let mut desk = Desk::new();
        assert_eq!(desk.read(), "");
        fs::create_dir(desk.registry.path()).unwrap();
        assert!(desk.registry.read(Duration::ZERO, &clock::now(), &mut |_| ()).is_err());
    }
}
