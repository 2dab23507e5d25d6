//! When a service wants to be left alone, all programs of this user leave it alone: a small file
//! per service in the store says until when.
//!
//! The time in it is wall time, since the monotonic clock means nothing to another process; so
//! that a wrong clock can't silence anyone for long, an hour is the most it counts for.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs,
    path::PathBuf,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{clock::Now, cursor, exit::Error, file, line, store};

/// The most that a cooldown counts for.
pub const LONGEST: Duration = Duration::from_hours(1);
/// What a service that says no time is left alone for.
pub const USUAL: Duration = Duration::from_mins(1);

const VERSION: u32 = 1;
/// The most bytes of a cooldown file.
const LIMIT: u64 = 4096;

/// The cooldowns of a store.
#[derive(Debug, Default)]
pub struct Cooldowns {
    root: Option<PathBuf>,
    // What this process knows itself counts even where the store can't be written.
    own: Mutex<BTreeMap<String, Timestamp>>,
}

#[derive(Serialize, Deserialize)]
struct Content {
    version: u32,
    not_before: String,
}

impl Cooldowns {
    /// Those below `root`, the store's; without one, this process's own alone.
    #[must_use]
    pub fn new(root: Option<PathBuf>) -> Self {
        Self { root, own: Mutex::default() }
    }

    /// Until when `scope` of `host` is to be left alone; `None` when it may be asked.
    #[must_use]
    pub fn until(&self, scope: &str, host: &str, now: &Now) -> Option<Timestamp> {
        let name = file_name(scope, host);
        let own = self.own.lock().unwrap_or_else(PoisonError::into_inner).get(&name).copied();
        let latest = [own, self.told(&name, now)].into_iter().flatten().max()?;
        (latest > now.wall).then(|| latest.min(after(now.wall, LONGEST)))
    }

    /// Leaves `scope` of `host` alone until `not_before`. What is longer already stays.
    ///
    /// # Errors
    ///
    /// When others can't be told; this process keeps to it all the same.
    pub fn set(
        &self,
        scope: &str,
        host: &str,
        not_before: Timestamp,
        now: &Now,
    ) -> Result<(), Error> {
        let not_before = not_before.min(after(now.wall, LONGEST));
        let name = file_name(scope, host);
        {
            let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
            let known = own.entry(name.clone()).or_insert(not_before);
            *known = not_before.max(*known);
        }
        let Some(root) = &self.root else { return Ok(()) };
        if self.told(&name, now).is_some_and(|told| told >= not_before) {
            return Ok(());
        }
        let dir = root.join("cooldown");
        store::make_private(&dir)?;
        let path = dir.join(name);
        let bytes = line::json(&Content { version: VERSION, not_before: not_before.to_string() });
        let written = bytes.and_then(|bytes| cursor::replace(&path, &bytes));
        written.map_err(|err| Error::io("write", &path, &err))
    }

    /// What the file says, an hour after its writing at most. One that can't be understood says
    /// nothing.
    fn told(&self, name: &str, now: &Now) -> Option<Timestamp> {
        let path = self.root.as_ref()?.join("cooldown").join(name);
        let content = file::read(&path, LIMIT).ok()?;
        let content: Content = serde_json::from_slice(&content.bytes).ok()?;
        let written = fs::metadata(&path).and_then(|meta| meta.modified()).ok()?;
        // A file from the future was written now.
        let written = Timestamp::try_from(written).ok()?.min(now.wall);
        let not_before: Timestamp = content.not_before.parse().ok()?;
        (content.version == VERSION).then(|| not_before.min(after(written, LONGEST)))
    }
}

fn after(time: Timestamp, span: Duration) -> Timestamp {
    time.checked_add(span).unwrap_or(Timestamp::MAX)
}

/// `SCOPE-HOST-DIGEST.json`: readable, and unique where the readable part is not.
fn file_name(scope: &str, host: &str) -> String {
    let mut name = String::new();
    for part in [scope, host] {
        let fit = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        name.extend(part.chars().take(60).map(|c| if fit(c) { c } else { '_' }));
        name.push('-');
    }
    let digest = line::digest(format!("{scope}\u{1f}{host}").as_bytes());
    // Writing to a string can't fail.
    let _ = write!(name, "{}.json", &digest[..10]);
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock;

    fn now() -> Now {
        clock::now()
    }

    fn later(seconds: u64) -> Timestamp {
        after(now().wall, Duration::from_secs(seconds))
    }

    #[test]
    fn one_program_says_it_and_all_keep_to_it() {
        let scene = tempfile::tempdir().unwrap();
        let [one, other] = [(); 2].map(|()| Cooldowns::new(Some(scene.path().to_owned())));
        assert_eq!(other.until("github-rest", "github.com", &now()), None);
        let until = later(30);
        one.set("github-rest", "github.com", until, &now()).unwrap();
        one.set("github-rest", "github.com", later(10), &now()).unwrap();
        for known in [&one, &other] {
            assert_eq!(known.until("github-rest", "github.com", &now()), Some(until));
            assert_eq!(known.until("github-graphql", "github.com", &now()), None);
            assert_eq!(known.until("github-rest", "github_com", &now()), None);
        }
        let mut entries = fs::read_dir(scene.path().join("cooldown")).unwrap();
        let name = entries.next().unwrap().unwrap().file_name().into_string().unwrap();
        assert!(name.starts_with("github-rest-github_com-") && name.len() == 38, "{name}");
    }

    #[test]
    fn an_hour_is_the_most() {
        let scene = tempfile::tempdir().unwrap();
        let cooldowns = Cooldowns::new(Some(scene.path().to_owned()));
        cooldowns.set("a", "b", later(1), &now()).unwrap();
        let path = scene.path().join("cooldown").join(file_name("a", "b"));
        cursor::replace(&path, br#"{"version":1,"not_before":"9999-01-01T00:00:00Z"}"#).unwrap();
        let fresh = Cooldowns::new(Some(scene.path().to_owned()));
        assert!(fresh.until("a", "b", &now()).unwrap() <= later(3600));
        // It counts from the writing, not from each reading.
        let mut far = now();
        far.wall = later(3700);
        assert_eq!(fresh.until("a", "b", &far), None);
    }

    #[test]
    fn what_is_no_cooldown_says_nothing() {
        let scene = tempfile::tempdir().unwrap();
        let cooldowns = Cooldowns::new(Some(scene.path().to_owned()));
        assert_eq!(cooldowns.until("a", "b", &now()), None);
        store::make_private(&scene.path().join("cooldown")).unwrap();
        let path = scene.path().join("cooldown").join(file_name("a", "b"));
        for text in ["", "{", "[]", r#"{"version":2,"not_before":"9999-01-01T00:00:00Z"}"#] {
            cursor::replace(&path, text.as_bytes()).unwrap();
            assert_eq!(cooldowns.until("a", "b", &now()), None, "{text}");
        }
    }

    #[test]
    fn a_store_that_cannot_be_written_is_an_error_and_the_cooldown_holds() {
        let scene = tempfile::tempdir().unwrap();
        cursor::replace(&scene.path().join("file"), b"").unwrap();
        let cooldowns = Cooldowns::new(Some(scene.path().join("file")));
        assert!(cooldowns.set("a", "b", later(30), &now()).is_err());
        assert!(cooldowns.until("a", "b", &now()).is_some());
    }
}
