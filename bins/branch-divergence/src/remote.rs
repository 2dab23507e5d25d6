//! What the remote has, and how its commits come here.

use std::time::Duration;

use shared::clock;

use crate::{
    failure::{Asking, Failure, Trouble},
    git::{self, Answer},
};

/// What `auto` tries when the remote doesn't say what its HEAD is.
const USUAL: [&str; 4] = ["main", "master", "develop", "trunk"];

/// How often, and for how long, a fetch is tried whose lock another process holds.
const TRIES: u32 = 5;
const PATIENCE: Duration = Duration::from_secs(3);

/// The tip of `base` at `remote`. Git matches the ends of names, so only the line of exactly this
/// name counts.
///
/// # Errors
///
/// [`Failure`].
pub fn tip_of(asking: Asking<'_>, remote: &str, base: &str) -> Result<String, Failure> {
    let name = format!("refs/heads/{base}");
    let args = ["ls-remote", "--exit-code", "--end-of-options", remote, &name];
    let answer = asking.far(&args, Trouble::RemoteUnreachable)?;
    // Code 2: the remote answered, and nothing matched.
    if !answer.is_ok() && answer.code != 2 {
        return Err(refused(&answer));
    }
    let listing = answer.text();
    let tip = refs(&listing).find(|(_, found)| *found == name).map(|(id, _)| id.to_owned());
    tip.ok_or_else(|| base_missing(remote, base))
}

/// What `auto` stands for at `remote`, and its tip.
///
/// # Errors
///
/// [`Failure`].
pub fn find_base(asking: Asking<'_>, remote: &str) -> Result<(String, String), Failure> {
    let usual = USUAL.map(|name| format!("refs/heads/{name}"));
    let mut args = vec!["ls-remote", "--symref", "--end-of-options", remote, "HEAD"];
    args.extend(usual.iter().map(String::as_str));
    let answer = asking.far(&args, Trouble::RemoteUnreachable)?;
    if !answer.is_ok() {
        return Err(refused(&answer));
    }
    let listing = answer.text();
    let first_usual = || {
        usual.iter().find_map(|name| {
            let (id, _) = refs(&listing).find(|(_, found)| found == name)?;
            Some((name.strip_prefix("refs/heads/")?.to_owned(), id.to_owned()))
        })
    };
    let found = default_branch(&listing).or_else(first_usual);
    found.ok_or_else(|| base_missing(remote, "HEAD, main, master, develop or trunk"))
}

/// Whether the commit `tip` is here.
///
/// # Errors
///
/// [`Failure`].
pub fn has(asking: Asking<'_>, tip: &str) -> Result<bool, Failure> {
    let commit = format!("{tip}^{{commit}}");
    asking.here(&["cat-file", "-e", &commit]).map(|answer| answer.is_ok())
}

/// Fetches `base` into a ref of our own, and says what was fetched: `tip` may be old by then.
///
/// # Errors
///
/// [`Failure`].
pub fn fetch(asking: Asking<'_>, remote: &str, base: &str, tip: &str) -> Result<String, Failure> {
    let own = format!("refs/doorbell/{remote}/{base}");
    let answer = fetch_into(asking, remote, &format!("+refs/heads/{base}:{own}"))?;
    if answer.is_ok() {
        let fetched = asking.here(&["rev-parse", "--verify", "--quiet", &own])?;
        let fetched = Some(fetched).filter(Answer::is_ok).map(|answer| answer.text());
        return Ok(fetched.map_or_else(|| tip.to_owned(), |id| id.trim().to_owned()));
    }
    // The commits may have come although the ref couldn't be written.
    if has(asking, tip)? {
        return Ok(tip.to_owned());
    }
    Err(Failure::words(Trouble::FetchFailed, &answer))
}

/// Fetches `spec`, and tries again while another process holds a lock.
fn fetch_into(asking: Asking<'_>, remote: &str, spec: &str) -> Result<Answer, Failure> {
    let args = fetch_args(remote);
    let mut args: Vec<&str> = args.iter().map(String::as_str).collect();
    args.extend(["--end-of-options", remote, spec]);
    let last = clock::monotonic() + PATIENCE;
    for _ in 1..TRIES {
        let answer = asking.far(&args, Trouble::FetchFailed)?;
        let now = clock::now();
        let die = now.wall.subsec_nanosecond().unsigned_abs() % 401;
        let rest = Duration::from_millis(100 + u64::from(die));
        if !is_locked(&answer) || now.monotonic + rest > last {
            return Ok(answer);
        }
        // Without poll(2) there is no rest, and the next try comes at once.
        if asking.waiter.rest(rest).unwrap_or(false) {
            return Err(Failure::GivenUp);
        }
    }
    asking.far(&args, Trouble::FetchFailed)
}

/// All of `fetch` that doesn't depend on the branch. The empty `--refmap` keeps git from moving
/// the user's tracking ref along; hooks and reflogs of theirs are not for refs of ours.
fn fetch_args(remote: &str) -> Vec<String> {
    let settings = [
        "maintenance.auto=false",
        "gc.auto=0",
        "core.hooksPath=/dev/null",
        "core.logAllRefUpdates=false",
        &format!("remote.{remote}.followRemoteHEAD=never"),
    ];
    let flags = [
        "fetch",
        "--quiet",
        "--refmap=",
        "--no-tags",
        "--no-write-fetch-head",
        "--no-recurse-submodules",
        "--no-auto-maintenance",
        "--no-prune",
    ];
    let settings = settings.iter().flat_map(|setting| ["-c", setting]);
    settings.chain(flags).map(str::to_owned).collect()
}

/// The pairs of a listing of refs: id and name.
fn refs(listing: &str) -> impl Iterator<Item = (&str, &str)> {
    let is_id = |id: &str| id.len() >= 40 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    let pairs = listing.lines().filter_map(|line| line.split_once('\t'));
    pairs.filter(move |(id, _)| is_id(id))
}

/// The branch that the remote's HEAD names, and its tip. The name comes from outside.
fn default_branch(listing: &str) -> Option<(String, String)> {
    let pairs = listing.lines().filter_map(|line| line.split_once('\t'));
    let mut heads = pairs.filter(|(_, name)| *name == "HEAD").map(|(what, _)| what);
    let branch = heads.find_map(|what| what.strip_prefix("ref: refs/heads/"))?;
    let (id, _) = refs(listing).find(|(_, name)| *name == "HEAD")?;
    git::is_branch_name(branch).then(|| (branch.to_owned(), id.to_owned()))
}

fn is_locked(answer: &Answer) -> bool {
    !answer.is_ok() && answer.stderr.contains(".lock': File exists")
}

fn base_missing(remote: &str, base: &str) -> Failure {
    Failure::Blind(Trouble::BaseMissing, format!("the remote {remote} has no branch {base}"))
}

/// Git's words when the remote can't be asked, or when it wants to know who asks.
fn refused(answer: &Answer) -> Failure {
    const SIGNS: [&str; 9] = [
        "Authentication failed",
        "could not read Username",
        "could not read Password",
        "Permission denied",
        "Host key verification failed",
        "returned error: 401",
        "returned error: 403",
        "HTTP 401",
        "HTTP 403",
    ];
    let sign = answer.stderr.lines().find(|line| SIGNS.iter().any(|sign| line.contains(sign)));
    match sign {
        Some(line) => Failure::Blind(Trouble::RemoteAuth, line.trim().to_owned()),
        None => Failure::words(Trouble::RemoteUnreachable, answer),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(stderr: &str) -> Failure {
        let answer = Answer { code: 128, stdout: Vec::new(), stderr: stderr.to_owned() };
        refused(&answer)
    }

    #[test]
    fn a_lost_login_is_told_from_an_unreachable_remote() {
        for words in [
            "fatal: Authentication failed for 'https://h/x'",
            "fatal: could not read Username for 'https://h': terminal prompts disabled",
            "fatal: could not read Password for 'https://u@h': terminal prompts disabled",
            "git@h: Permission denied (publickey).\nfatal: Could not read from remote repository.",
            "Host key verification failed.\r\nfatal: Could not read from remote repository.",
            "fatal: unable to access 'https://h/': The requested URL returned error: 403",
            "error: RPC failed; HTTP 401 curl 22",
        ] {
            let Failure::Blind(trouble, detail) = refusal(words) else { panic!("{words}") };
            assert_eq!(trouble, Trouble::RemoteAuth, "{words}");
            assert!(!detail.contains("Could not read from"), "{detail}");
        }
        for words in [
            "ssh: connect to host h port 22: Connection refused\nfatal: Could not read from remote repository.",
            "fatal: '/x/401.git' does not appear to be a git repository",
            "",
        ] {
            let Failure::Blind(trouble, _) = refusal(words) else { panic!("{words}") };
            assert_eq!(trouble, Trouble::RemoteUnreachable, "{words}");
        }
    }

    #[test]
    fn the_default_branch_is_what_the_remotes_head_names() {
        let id = "e913ed80b53a806b4658dca014f25758b700995f";
        let listing =
            |head: &str| format!("ref: {head}\tHEAD\n{id}\tHEAD\n{id}\trefs/heads/main\n");
        let found = |head: &str| default_branch(&listing(head)).map(|(name, _)| name);
        assert_eq!(found("refs/heads/dev/x").as_deref(), Some("dev/x"));
        assert_eq!(found("refs/heads/a:refs/heads/b"), None);
        assert_eq!(found("refs/tags/v1"), None);
        assert_eq!(default_branch(&format!("{id}\trefs/heads/main\n")), None);
        assert_eq!(default_branch("ref: refs/heads/main\tHEAD\n"), None);
    }

    #[test]
    fn only_lines_of_ids_and_names_are_refs() {
        let id = "e913ed80b53a806b4658dca014f25758b700995f";
        let listing =
            format!("warning: x\ty\n{id}\trefs/heads/x/refs/heads/main\n{id}\trefs/heads/main\n");
        let names: Vec<&str> = refs(&listing).map(|(_, name)| name).collect();
        assert_eq!(names, ["refs/heads/x/refs/heads/main", "refs/heads/main"]);
    }
}
