//! What a watch saw and said, one line each, for people. A line that can't be written is lost.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};

use serde::Serialize;
use shared::line;

/// The size at which the file becomes the old one.
const LIMIT: u64 = 1 << 20;

/// What is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// A look said something else than the one before.
    Observed,
    /// A line was printed.
    Wake,
    /// A line was printed that ends something.
    Stop,
    /// Nobody answered a line.
    Unconfirmed,
}

/// One line of it. What doesn't apply is null.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Note<'a> {
    /// When, RFC 3339.
    pub at: String,
    /// What.
    pub what: What,
    /// The kind of the subject.
    pub kind: Option<&'a str>,
    /// The subject.
    pub subject: Option<&'a str>,
    /// The verdict.
    pub decision: Option<&'a str>,
    /// Its reason.
    pub reason: Option<&'a str>,
    /// The line's claim.
    pub claim: Option<&'a str>,
    /// What the look came to.
    pub fingerprint: Option<&'a str>,
}

impl Note<'_> {
    /// One that says no more than what and when.
    #[must_use]
    pub fn new(what: What, at: String) -> Self {
        let (kind, subject, decision, reason) = (None, None, None, None);
        Self { at, what, kind, subject, decision, reason, claim: None, fingerprint: None }
    }
}

/// The file.
#[derive(Debug)]
pub struct History {
    path: PathBuf,
    open: Option<(File, u64)>,
}

impl History {
    /// That of the watch in `folder`.
    #[must_use]
    pub fn new(folder: &Path) -> Self {
        Self { path: folder.join("history.ndjson"), open: None }
    }

    /// Appends a line in one write.
    pub fn append(&mut self, note: &Note<'_>) {
        if self.write(note).is_err() {
            // Perhaps the next finds the file again.
            self.open = None;
        }
    }

    fn write(&mut self, note: &Note<'_>) -> io::Result<()> {
        let mut bytes = line::json(note)?;
        bytes.push(b'\n');
        let (mut file, mut size) = match self.open.take() {
            Some(open) => open,
            None => open(&self.path)?,
        };
        if size >= LIMIT {
            fs::rename(&self.path, self.path.with_extension("ndjson.1"))?;
            (file, size) = open(&self.path)?;
        }
        file.write_all(&bytes)?;
        self.open = Some((file, size + bytes.len() as u64));
        Ok(())
    }
}

fn open(path: &Path) -> io::Result<(File, u64)> {
    let file = OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
    let size = file.metadata()?.len();
    Ok((file, size))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_file_becomes_the_old_one() {
        let scene = tempfile::tempdir().unwrap();
        let mut history = History::new(scene.path());
        let note = Note::new(What::Observed, "2026-01-01T00:00:00Z".to_owned());
        let size = |name: &str| fs::metadata(scene.path().join(name)).map_or(0, |meta| meta.len());
        history.append(&note);
        let one = size("history.ndjson");
        let lines = LIMIT / one + 2;
        (1..lines).for_each(|_| history.append(&note));
        assert!(size("history.ndjson.1") >= LIMIT && size("history.ndjson") < LIMIT);
        assert_eq!(size("history.ndjson.1") + size("history.ndjson"), lines * one);
        let text = fs::read_to_string(scene.path().join("history.ndjson")).unwrap();
        let want = r#"{"at":"2026-01-01T00:00:00Z","what":"observed","kind":null,"subject":null,"decision":null,"reason":null,"claim":null,"fingerprint":null}"#;
        assert_eq!(text.lines().next(), Some(want));
    }

    #[test]
    fn x22_a_failed_append_loses_itself_only() {
        let scene = tempfile::tempdir().unwrap();
        let folder = scene.path().join("later");
        let mut history = History::new(&folder);
        let note = Note::new(What::Stop, String::new());
        history.append(&note);
        fs::create_dir(&folder).unwrap();
        history.append(&note);
        history.append(&note);
        let text = fs::read_to_string(folder.join("history.ndjson")).unwrap();
        assert_eq!(text.lines().count(), 2);
    }
}
