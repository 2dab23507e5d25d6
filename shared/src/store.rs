//! Where programs with state of their own keep it, and that nobody else can write there.

use std::{
    env,
    ffi::OsString,
    fs::{self, DirBuilder},
    io,
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _},
    path::{Path, PathBuf},
};

use crate::exit::{Error, Reason};

/// What others than the owner could do to a folder: write in it.
const WRITABLE_BY_OTHERS: u32 = 0o022;

/// The store's root, absolute: `given` (`--store`), else `$DOORBELL_STORE`, else `doorbell` in
/// `$XDG_STATE_HOME` or in `~/.local/state`. Nothing is made or opened: that is [`make_private`]'s.
///
/// # Errors
///
/// When none of them names a folder.
pub fn root(given: Option<&Path>) -> Result<PathBuf, Error> {
    let named = resolve(given, |name| env::var_os(name)).ok_or_else(|| {
        refused("unable to find the store: neither --store, DOORBELL_STORE, XDG_STATE_HOME nor HOME names a folder".to_owned())
    })?;
    std::path::absolute(&named).map_err(|err| Error::io("resolve", &named, &err))
}

/// An empty variable is an unset one, and a relative `XDG_STATE_HOME` is to be ignored (the XDG
/// base directory specification).
fn resolve(given: Option<&Path>, var: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let var = |name: &str| var(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let state = || var("XDG_STATE_HOME").filter(|dir| dir.is_absolute());
    let home = || var("HOME").map(|home| home.join(".local/state"));
    given
        .filter(|dir| !dir.as_os_str().is_empty())
        .map(Path::to_owned)
        .or_else(|| var("DOORBELL_STORE"))
        .or_else(|| state().or_else(home).map(|dir| dir.join("doorbell")))
}

/// Makes `dir` and its missing parents, 0700. A folder that is there already has to be ours, and
/// only ours to write.
///
/// # Errors
///
/// Those of the file system; a folder of another user or writable by others is refused and left
/// as it is.
pub fn make_private(dir: &Path) -> Result<(), Error> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(dir);
    made.map_err(|err| Error::io("make the folder", dir, &err))?;
    check_private(dir)
}

/// Refuses a folder or file that isn't ours, or that others can write.
///
/// # Errors
///
/// The refusal; those of the file system.
pub fn check_private(path: &Path) -> Result<(), Error> {
    let meta = fs::metadata(path).map_err(|err| Error::io("look at", path, &err))?;
    let ours = rustix::process::geteuid().as_raw();
    let cause = if meta.uid() != ours {
        format!("it belongs to user {}, not to {ours}", meta.uid())
    } else if meta.mode() & WRITABLE_BY_OTHERS != 0 {
        format!("others can write there (mode {:04o})", meta.mode() & 0o7777)
    } else {
        return Ok(());
    };
    Err(refused(format!("unable to use {}: {cause}", path.display())))
}

/// Whether there is something at `path`. What can't be looked at is an error, not an absence.
///
/// # Errors
///
/// Those of the file system.
pub fn exists(path: &Path) -> Result<bool, Error> {
    match fs::symlink_metadata(path) {
        Ok(_) => Ok(true),
        Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(err) => Err(Error::io("look at", path, &err)),
    }
}

fn refused(message: String) -> Error {
    Error::new(Reason::Runtime, "store_refused", message)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn resolved(given: Option<&str>, vars: &[(&str, &str)]) -> Option<PathBuf> {
        let var = |name: &str| vars.iter().find(|(known, _)| *known == name).map(|(_, v)| v.into());
        resolve(given.map(Path::new), var)
    }

    #[test]
    fn the_nearest_wish_counts() {
        let all = [("DOORBELL_STORE", "/d"), ("XDG_STATE_HOME", "/x"), ("HOME", "/h")];
        for (given, vars, want) in [
            (Some("s"), &all[..], Some("s")),
            (Some(""), &all, Some("/d")),
            (None, &all, Some("/d")),
            (None, &all[1..], Some("/x/doorbell")),
            (None, &all[2..], Some("/h/.local/state/doorbell")),
            (None, &[("DOORBELL_STORE", ""), ("HOME", "/h")], Some("/h/.local/state/doorbell")),
            (None, &[("XDG_STATE_HOME", "x"), ("HOME", "/h")], Some("/h/.local/state/doorbell")),
            (None, &[("HOME", "")], None),
        ] {
            assert_eq!(resolved(given, vars), want.map(PathBuf::from), "{given:?} {vars:?}");
        }
    }

    #[test]
    fn what_is_made_is_private_and_stays_usable() {
        let scene = tempfile::tempdir().unwrap();
        let dir = scene.path().join("a/b");
        for _ in 0..2 {
            make_private(&dir).unwrap();
        }
        for dir in [&*dir, dir.parent().unwrap()] {
            assert_eq!(fs::metadata(dir).unwrap().mode() & 0o777, 0o700);
        }
    }

    #[test]
    fn a_folder_that_others_can_write_is_refused_and_left() {
        let scene = tempfile::tempdir().unwrap();
        let dir = scene.path().join("open");
        for mode in [0o770, 0o707, 0o1777] {
            let _ = fs::create_dir(&dir);
            fs::set_permissions(&dir, fs::Permissions::from_mode(mode)).unwrap();
            let err = make_private(&dir).unwrap_err();
            assert_eq!((err.reason(), err.word()), (Reason::Runtime, "store_refused"));
            assert_eq!(fs::metadata(&dir).unwrap().mode() & 0o7777, mode);
        }
        fs::set_permissions(&dir, fs::Permissions::from_mode(0o755)).unwrap();
        make_private(&dir).unwrap();
    }

    #[test]
    fn a_folder_of_another_user_is_refused() {
        // Only root can give a folder away; for others, root's own is at hand.
        let scene = tempfile::tempdir().unwrap();
        let foreign = if rustix::process::geteuid().is_root() {
            let dir = scene.path().join("foreign");
            fs::create_dir(&dir).unwrap();
            std::os::unix::fs::chown(&dir, Some(65_534), None).unwrap();
            dir
        } else {
            PathBuf::from("/")
        };
        let err = make_private(&foreign).unwrap_err().to_string();
        assert!(err.contains("belongs to user"), "{err}");
    }

    #[test]
    fn a_file_in_the_way_is_an_error() {
        let scene = tempfile::tempdir().unwrap();
        crate::cursor::replace(&scene.path().join("file"), b"").unwrap();
        assert!(make_private(&scene.path().join("file/a")).is_err());
        assert!(!exists(&scene.path().join("none")).unwrap());
        assert!(exists(&scene.path().join("file")).unwrap());
    }
}
