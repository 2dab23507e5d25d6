//! Where monitors live: `<store>/supervise/<scope>/<name>/`, one folder each, no daemon.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use shared::{
    cli,
    exit::{Error, Reason},
    folder::canonical,
    line::digest,
    store,
};

/// What means every monitor of a scope.
pub const ALL: &str = "all";

/// The name that a monitor is given.
///
/// # Errors
///
/// Why it can't have that name.
pub fn given_name(text: &str) -> Result<String, String> {
    if text == ALL {
        return Err("must not be all, which means every monitor".to_owned());
    }
    cli::name(text)
}

/// A scope of a store: the monitors of one work tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    dir: PathBuf,
}

impl Place {
    /// `store` and `scope` are the flags' values. Without a scope it is the git work tree one
    /// stands in, else the current folder, so that two repositories never share a name.
    ///
    /// # Errors
    ///
    /// A store that belongs to another user, or that others can write, is refused.
    pub fn new(store: Option<&Path>, scope: Option<&str>) -> Result<Self, Error> {
        let root = store::root(store)?;
        let scope = match scope {
            Some(name) => name.to_owned(),
            None => scope_of(&env::current_dir().map_err(Error::on("find the current folder"))?),
        };
        let all = root.join("supervise");
        let dir = all.join(scope);
        for folder in [&root, &all, &dir] {
            if store::exists(folder)? {
                store::check_private(folder)?;
            }
        }
        Ok(Self { dir })
    }

    /// The folder of monitor `name`.
    #[must_use]
    pub fn home(&self, name: &str) -> Home {
        Home { dir: self.dir.join(name) }
    }

    /// The names of all monitors that were ever proven here, in order.
    ///
    /// # Errors
    ///
    /// When the folder can't be listed.
    pub fn names(&self) -> Result<Vec<String>, Error> {
        let entries = match fs::read_dir(&self.dir) {
            Ok(entries) => entries,
            Err(err) if err.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(err) => return Err(Error::io("list", &self.dir, &err)),
        };
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|err| Error::io("list", &self.dir, &err))?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            if cli::name(&name).is_ok() && self.home(&name).is_known() {
                names.push(name);
            }
        }
        names.sort();
        Ok(names)
    }

    /// The monitors meant by `wanted`, each once: these, or all for none or `all`.
    ///
    /// # Errors
    ///
    /// A name that was never seen here.
    pub fn choose(&self, wanted: &[String]) -> Result<Vec<String>, Error> {
        if wanted.iter().all(|name| name == ALL) {
            return self.names();
        }
        let mut chosen: Vec<String> = Vec::new();
        for name in wanted {
            if !self.home(name).is_known() {
                let message =
                    format!("unable to find a monitor {name}: none of this name was started here");
                return Err(Error::new(Reason::NotFound, "no_such_monitor", message));
            }
            if !chosen.contains(name) {
                chosen.push(name.clone());
            }
        }
        Ok(chosen)
    }
}

/// The folder of one monitor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    dir: PathBuf,
}

impl Home {
    /// The folder at `dir`.
    #[must_use]
    pub fn at(dir: PathBuf) -> Self {
        Self { dir }
    }

    /// The folder itself.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Makes it and the folders above it, private.
    ///
    /// # Errors
    ///
    /// Those of the file system; a folder of somebody else is refused.
    pub fn make(&self) -> Result<(), Error> {
        store::make_private(&self.dir)
    }

    /// Whether a monitor was started here that was not undone.
    #[must_use]
    pub fn is_known(&self) -> bool {
        self.record().exists() || self.ends().exists()
    }

    /// Held by the keeper for as long as it lives.
    #[must_use]
    pub fn lock(&self) -> PathBuf {
        self.dir.join("lock")
    }

    /// Who the keeper and the monitor are.
    #[must_use]
    pub fn record(&self) -> PathBuf {
        self.dir.join("record.json")
    }

    /// The monitor's lines.
    #[must_use]
    pub fn log(&self) -> PathBuf {
        self.dir.join("log.ndjson")
    }

    /// The lines before those.
    #[must_use]
    pub fn old_log(&self) -> PathBuf {
        self.dir.join("log.1.ndjson")
    }

    /// Where in all lines there ever were the log begins.
    #[must_use]
    pub fn log_place(&self) -> PathBuf {
        self.dir.join("log.json")
    }

    /// The end of what it said on stderr.
    #[must_use]
    pub fn stderr(&self) -> PathBuf {
        self.dir.join("stderr.log")
    }

    /// One line for each exit and each stop.
    #[must_use]
    pub fn ends(&self) -> PathBuf {
        self.dir.join("ends.ndjson")
    }

    /// The keeper's counters.
    #[must_use]
    pub fn counters(&self) -> PathBuf {
        self.dir.join("counters.json")
    }

    /// How long a stop that is under way leaves the monitor.
    #[must_use]
    pub fn stop_request(&self) -> PathBuf {
        self.dir.join("stop.json")
    }

    /// Where readers and the monitor itself remember how far they are.
    #[must_use]
    pub fn cursors(&self) -> PathBuf {
        self.dir.join("cursors")
    }
}

/// A folder's name and 8 hex digits of its canonical path, for the work tree around `from`.
fn scope_of(from: &Path) -> String {
    let tree = from.ancestors().find(|dir| dir.join(".git").exists()).unwrap_or(from);
    let tree = canonical(tree);
    let name = tree.file_name().map(|name| name.to_string_lossy().into_owned());
    let name = name.unwrap_or_else(|| "root".to_owned());
    let fits = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let mut name: String = name.chars().map(|c| if fits(c) { c } else { '_' }).take(48).collect();
    if !name.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        name.insert(0, 'x');
    }
    let hex = digest(tree.as_os_str().as_encoded_bytes());
    format!("{name}-{}", &hex[..8])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_is_a_name_and_belongs_to_one_folder() {
        let scene = tempfile::tempdir().unwrap();
        let mut scopes = Vec::new();
        for name in ["a/tree", "b/tree", "c/.hidden", "d/with blank é", "e/-dash"] {
            let dir = scene.path().join(name);
            fs::create_dir_all(dir.join(".git")).unwrap();
            fs::create_dir_all(dir.join("sub")).unwrap();
            let scope = scope_of(&dir.join("sub"));
            assert_eq!(scope, scope_of(&dir));
            assert_eq!(cli::name(&scope), Ok(scope.clone()));
            scopes.push(scope);
        }
        assert!(scopes[0].starts_with("tree-") && scopes[1].starts_with("tree-"));
        scopes.dedup();
        assert_eq!(scopes.len(), 5);
        assert!(scope_of(Path::new("/")).starts_with("root-"));
    }
}
