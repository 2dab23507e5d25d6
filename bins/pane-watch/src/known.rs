//! The panes that belong there: those named on the command line, and in files.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::Read as _,
    path::{Path, PathBuf},
};

use shared::{exit, file, roster};

use crate::args::Args;

/// How much of a file is read for its first line.
const HEAD: u64 = 4096;

/// The panes that belong there, beside the lead's.
#[derive(Debug)]
pub struct Known {
    named: BTreeSet<String>,
    files: BTreeMap<PathBuf, First>,
}

/// What the first line of a file was.
#[derive(Debug, Default)]
struct First {
    pane: Option<String>,
    is_odd: bool,
}

impl Known {
    /// Those of `args`, and `own`, the pane that we run in.
    #[must_use]
    pub fn new(args: &Args, own: Option<String>) -> Self {
        let absolute = |path: &PathBuf| std::path::absolute(path).ok();
        let files = args.known_file.iter().filter_map(absolute);
        Self {
            named: args.known.iter().cloned().chain(own).collect(),
            files: files.map(|path| (path, First::default())).collect(),
        }
    }

    /// The files, absolute.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.files.keys().map(PathBuf::as_path)
    }

    /// All of them as of now. A file that is gone, or empty because it is being written, keeps
    /// the pane that it named last.
    pub fn read(&mut self) -> BTreeSet<String> {
        for (path, first) in &mut self.files {
            first.read(path);
        }
        let filed = self.files.values().filter_map(|first| first.pane.clone());
        self.named.iter().cloned().chain(filed).collect()
    }
}

impl First {
    fn read(&mut self, path: &Path) {
        let Some(line) = first_line(path).filter(|line| !line.is_empty()) else { return };
        let is_odd = !roster::is_pane(&line);
        if is_odd && !self.is_odd {
            let message = format!("the first line of {} is no pane, as in %3", path.display());
            exit::warn("pane-watch", &message);
        }
        self.is_odd = is_odd;
        if !is_odd {
            self.pane = Some(line);
        }
    }
}

fn first_line(path: &Path) -> Option<String> {
    let (file, _) = file::open(path).ok()?;
    let mut bytes = Vec::new();
    file.take(HEAD).read_to_end(&mut bytes).ok()?;
    let first = bytes.split(|byte| *byte == b'\n').next()?;
    Some(String::from_utf8_lossy(first).trim().to_owned())
}
