//! Which repository is meant where none was named: the one that `gh` would take.

use std::time::Duration;

use shared::{
    exit::{Error, Reason},
    run::{self, Outcome},
    wait::Waiter,
};

use crate::target::{Repo, Slug, is_host, slug};

/// The host where no other is named.
const HOST: &str = "github.com";
/// How long git may take.
const DEADLINE: Duration = Duration::from_secs(30);
/// The names of remotes that `gh` prefers, in their order.
const PREFERRED: [&str; 3] = ["upstream", "github", "origin"];

/// Why there is no repository.
#[derive(Debug)]
pub enum Halt {
    /// We are asked to stop.
    Stopped,
    /// There is none.
    Failed(Error),
}

/// The repository of `--repo`, of `GH_REPO`, or of the current work tree's remotes. Its host is
/// decided here, once.
///
/// # Errors
///
/// [`Halt`].
pub fn resolve(given: Option<&Slug>, waiter: &Waiter) -> Result<Repo, Halt> {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let named_host = variable("GH_HOST").map(|host| host.to_ascii_lowercase());
    if let Some(host) = named_host.as_deref().filter(|host| !is_host(host)) {
        let message = format!("unable to use GH_HOST '{host}': it must be the name of a host");
        return Err(Halt::Failed(Error::usage(message)));
    }
    let host = named_host.as_deref().unwrap_or(HOST);
    if let Some(given) = given {
        return Ok(given.on(host));
    }
    if let Some(text) = variable("GH_REPO") {
        let by_address = address(&text);
        let found = slug(&text).map(|slug| slug.on(host)).or_else(|err| by_address.ok_or(err));
        return found.map_err(|allowed| {
            Halt::Failed(Error::usage(format!("unable to use GH_REPO '{text}': it {allowed}")))
        });
    }
    let remotes = git(&["remote", "-v"], waiter)?;
    let resolved = git(&["config", "--get-regexp", r"^remote\..*\.gh-resolved$"], waiter)?;
    choose(&remotes, &resolved, named_host.as_deref())
        .ok_or_else(|| missing("no remote of this work tree is on GitHub"))
}

fn missing(cause: &str) -> Halt {
    let message = format!("unable to find the repository: {cause} (give --repo OWNER/NAME)");
    Halt::Failed(Error::new(Reason::Missing, "repository_missing", message))
}

fn git(args: &[&str], waiter: &Waiter) -> Result<String, Halt> {
    match run::run(run::command("git").args(args), DEADLINE, waiter) {
        // 1 is git's way to say that there is no such setting.
        Ok(Outcome::Exited { status, stdout, .. }) if matches!(status.code(), Some(0 | 1)) => {
            Ok(String::from_utf8_lossy(&stdout).into_owned())
        }
        Ok(Outcome::Exited { .. }) => Err(missing("not inside a git repository")),
        Ok(Outcome::TimedOut) => Err(missing("git did not answer")),
        Ok(Outcome::Stopped) => Err(Halt::Stopped),
        Err(err) => Err(missing(&format!("unable to run git: {err}"))),
    }
}

/// What was resolved for a remote (`gh repo set-default`) counts first, then the names that `gh`
/// prefers, then the order in which git lists them.
fn choose(remotes: &str, resolved: &str, host: Option<&str>) -> Option<Repo> {
    let mut found: Vec<(&str, Repo)> = Vec::new();
    for line in remotes.lines() {
        let Some((name, rest)) = line.split_once('\t') else { continue };
        let Some(url) = rest.strip_suffix(" (fetch)") else { continue };
        found.extend(address(url).map(|repo| (name, repo)));
    }
    if let Some(host) = host
        && found.iter().any(|(_, repo)| repo.host == host)
    {
        found.retain(|(_, repo)| repo.host == host);
    }
    for line in resolved.lines() {
        let Some((key, value)) = line.split_once(' ') else { continue };
        let name = key.strip_prefix("remote.").and_then(|key| key.strip_suffix(".gh-resolved"));
        let Some((_, repo)) = found.iter().find(|(known, _)| Some(*known) == name) else {
            continue;
        };
        if value == "base" {
            return Some(repo.clone());
        }
        if let Ok(other) = slug(value) {
            return Some(other.on(&repo.host));
        }
    }
    let rank = |name: &str| PREFERRED.iter().position(|known| *known == name).unwrap_or(9);
    found.into_iter().min_by_key(|(name, _)| rank(name)).map(|(_, repo)| repo)
}

/// The repository that a remote's URL names: `https://H/O/N.git`, `ssh://git@H/O/N`, `git@H:O/N`.
fn address(url: &str) -> Option<Repo> {
    let (host, path) = match url.split_once("://") {
        Some(("https" | "http" | "ssh" | "git" | "git+ssh", rest)) => rest.split_once('/')?,
        Some(_) => return None,
        None => url.split_once(':')?,
    };
    let host = host.rsplit('@').next()?.split(':').next()?.to_ascii_lowercase();
    let host = if host == "ssh.github.com" { HOST } else { &host };
    let path = path.trim_matches('/');
    let (owner, name) = path.strip_suffix(".git").unwrap_or(path).split_once('/')?;
    Repo::of(host, owner, name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_names_a_repository() {
        for (url, want) in [
            ("https://github.com/o/n.git", Some("github.com/o/n")),
            ("https://user:secret@GitHub.com/o/n", Some("github.com/o/n")),
            ("git@github.com:o/n.git", Some("github.com/o/n")),
            ("ssh://git@ssh.github.com:443/o/n.git", Some("github.com/o/n")),
            ("ssh://git@ghe.corp/o/n/", Some("ghe.corp/o/n")),
            ("/srv/git/n.git", None),
            ("../n", None),
            ("file:///srv/o/n", None),
            ("https://github.com/n", None),
            ("https://github.com/a/b/c", None),
        ] {
            assert_eq!(address(url).map(|repo| repo.to_string()).as_deref(), want, "{url}");
        }
    }

    #[test]
    fn the_remote_is_chosen_as_gh_does() {
        let line = |name: &str, url: &str| format!("{name}\t{url} (fetch)\n{name}\t{url} (push)\n");
        let origin = line("origin", "git@github.com:me/n.git");
        let upstream = line("upstream", "https://github.com/o/n.git");
        let corp = line("a", "https://ghe.corp/o/n.git");
        let all = format!("{corp}{origin}{upstream}{}", line("local", "../x"));
        for (remotes, resolved, host, want) in [
            (&all, "", None, Some("github.com/o/n")),
            (&origin, "", None, Some("github.com/me/n")),
            (&all, "remote.origin.gh-resolved base\n", None, Some("github.com/me/n")),
            (&all, "remote.origin.gh-resolved them/n\n", None, Some("github.com/them/n")),
            (&all, "remote.gone.gh-resolved base\n", None, Some("github.com/o/n")),
            (&all, "", Some("ghe.corp"), Some("ghe.corp/o/n")),
            (&all, "", Some("evil.example"), Some("github.com/o/n")),
            (&String::new(), "", None, None),
        ] {
            let found = choose(remotes, resolved, host).map(|repo| repo.to_string());
            assert_eq!(found.as_deref(), want, "{resolved} {host:?}");
        }
    }
}
