//! One question asked of git: in which environment, for how long, and what came back.
//!
//! Knows nothing of what an answer means for the watch.

use std::{
    env,
    ffi::{OsStr, OsString},
    io,
    os::unix::process::ExitStatusExt as _,
    path::{Path, PathBuf},
    time::Duration,
};

use shared::{
    run::{self, Outcome},
    wait::Waiter,
};

/// Would lead git to another repository, or to other objects, than the one we are told to watch.
const REMOVED: [&str; 8] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
];

/// Nobody is there to answer a prompt, and nothing of the user's may be locked or fetched on the
/// way. The empty `GIT_ASKPASS` ends git's whole chain of askpass programs.
const SET: [(&str, &str); 7] = [
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_ASKPASS", ""),
    ("SSH_ASKPASS_REQUIRE", "never"),
    ("GCM_INTERACTIVE", "never"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("LC_ALL", "C"),
];

/// How long a question that stays on this machine may take.
const HERE: Duration = Duration::from_mins(1);

/// What git says after the words of a transport that failed.
const VAGUE: &str = "fatal: Could not read from remote";

/// Asks git about one repository.
#[derive(Debug)]
pub struct Git {
    dir: PathBuf,
    far: Duration,
    ssh: Option<OsString>,
}

/// What git said and how it ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answer {
    /// Its exit code; 128 and the signal's number when it was killed.
    pub code: i32,
    /// What it printed.
    pub stdout: Vec<u8>,
    /// What it complained of.
    pub stderr: String,
}

impl Answer {
    /// Whether git did what it was asked.
    #[must_use]
    pub fn is_ok(&self) -> bool {
        self.code == 0
    }

    /// What it printed, as text.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// The line of its complaint that names the cause. The last one often is advice, or says
    /// only that something before it went wrong.
    #[must_use]
    pub fn last_words(&self) -> String {
        let lines: Vec<&str> =
            self.stderr.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let lines = match lines.iter().rposition(|line| line.starts_with(VAGUE)) {
            Some(at) if at > 0 => &lines[..at],
            _ => &lines[..],
        };
        let names_cause = |line: &str| line.starts_with("fatal: ") || line.starts_with("error: ");
        let cause = lines.iter().rfind(|line| names_cause(line)).or(lines.last());
        cause.map_or_else(|| format!("git ended with code {}", self.code), |&line| line.to_owned())
    }
}

/// Why there is no answer.
#[derive(Debug)]
pub enum Silence {
    /// We are asked to stop, or the run is over.
    Stopped,
    /// Git took longer than it may; which question, and how long that is.
    Late(String),
    /// Git can't be run.
    Unable(io::Error),
}

impl Git {
    /// Asks about the repository at `dir`; `far` is how long a call to a remote may take.
    #[must_use]
    pub fn new(dir: &Path, far: Duration) -> Self {
        Self { dir: dir.to_owned(), far, ssh: None }
    }

    /// Where it asks.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Asks at `dir` from now on, and calls ssh in such a way that it never prompts.
    pub fn settle(&mut self, dir: PathBuf, ssh: &SshConfig) {
        let from_env = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
        self.dir = dir;
        self.ssh = ssh.command(from_env);
    }

    /// Asks what this machine can answer, with more `environment`.
    ///
    /// # Errors
    ///
    /// When there is no answer.
    pub fn here(
        &self,
        args: &[&str],
        environment: &[(&str, &OsStr)],
        waiter: &Waiter,
    ) -> Result<Answer, Silence> {
        self.ask(args, environment, HERE, waiter)
    }

    /// Asks what only a remote can answer.
    ///
    /// # Errors
    ///
    /// When there is no answer.
    pub fn far(&self, args: &[&str], waiter: &Waiter) -> Result<Answer, Silence> {
        self.ask(args, &[], self.far, waiter)
    }

    fn ask(
        &self,
        args: &[&str],
        environment: &[(&str, &OsStr)],
        limit: Duration,
        waiter: &Waiter,
    ) -> Result<Answer, Silence> {
        let mut command = run::command("git");
        command.arg("-C").arg(&self.dir).args(args);
        for name in REMOVED {
            command.env_remove(name);
        }
        command.envs(SET).envs(environment.iter().copied());
        command.envs(self.ssh.iter().map(|ssh| ("GIT_SSH_COMMAND", ssh)));
        match run::run(&mut command, limit, waiter).map_err(Silence::Unable)? {
            Outcome::Exited { status, stdout, stderr } => Ok(Answer {
                code: status.code().unwrap_or(128 + status.signal().unwrap_or(0)),
                stdout,
                stderr: String::from_utf8_lossy(&stderr).into_owned(),
            }),
            Outcome::Stopped => Err(Silence::Stopped),
            Outcome::TimedOut => {
                let verb = args.iter().find(|arg| !arg.starts_with('-') && !arg.contains('='));
                let verb = verb.copied().unwrap_or_default();
                Err(Silence::Late(format!("git {verb} took more than {} s", limit.as_secs_f64())))
            }
        }
    }
}

/// What the configuration says of ssh.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SshConfig {
    /// `core.sshCommand`.
    pub command: Option<String>,
    /// `ssh.variant`.
    pub variant: Option<String>,
}

impl SshConfig {
    /// From `git config -z --get-regexp`: a key, a line feed, a value and a NUL each. The last
    /// of a key counts.
    #[must_use]
    pub fn parse(listing: &str) -> Self {
        let mut config = Self::default();
        for (key, value) in listing.split('\0').filter_map(|entry| entry.split_once('\n')) {
            match key {
                "core.sshcommand" => config.command = Some(value.to_owned()),
                "ssh.variant" => config.variant = Some(value.to_owned()),
                _ => {}
            }
        }
        config
    }

    /// The ssh command under which nothing is asked of a person and a dead host is given up
    /// soon; `None` leaves git to its own choice, where the program isn't OpenSSH.
    fn command(&self, env: impl Fn(&str) -> Option<OsString>) -> Option<OsString> {
        let variant = env("GIT_SSH_VARIANT").or_else(|| self.variant.clone().map(OsString::from));
        let foreign = variant.is_some_and(|name| name != "ssh" && name != "auto");
        if foreign || env("GIT_SSH").is_some() {
            return None;
        }
        let configured = self.command.clone().filter(|command| !command.is_empty());
        let mut command = env("GIT_SSH_COMMAND")
            .or_else(|| configured.map(OsString::from))
            .unwrap_or_else(|| "ssh".into());
        command.push(" -o BatchMode=yes -o ConnectTimeout=15");
        Some(command)
    }
}

/// Whether git would accept `name` for a branch, and nothing in it is special in a refspec or a
/// revision (`git-check-ref-format(1)`).
#[must_use]
pub fn is_branch_name(name: &str) -> bool {
    let plain = |c: char| !c.is_control() && !" :^~+?*[\\".contains(c);
    let part = |part: &str| {
        !part.is_empty()
            && !part.starts_with('.')
            && !part.ends_with('.')
            && !part.to_ascii_lowercase().ends_with(".lock")
    };
    name.chars().all(plain)
        && name.split('/').all(part)
        && !name.starts_with('-')
        && !name.contains("..")
        && !name.contains("@{")
        && !["@", "HEAD"].contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branch_names_are_gits() {
        for good in ["main", "a/b", "v1.x", "é", "a@b", "x-", "auto2"] {
            assert!(is_branch_name(good), "{good}");
        }
        for bad in [
            "", "-x", "a b", "a\tb", "a:b", "a^", "a~1", "+a", "a+b", "a@{1}", "a..b", "/a", "a/",
            "a//b", ".a", "a/.b", "a.lock", "a.lock/b", "a.", "a?", "a*", "[a", "a\\b", "@",
            "HEAD", "a\0b", "a\nb",
        ] {
            assert!(!is_branch_name(bad), "{bad:?}");
        }
    }

    #[test]
    fn d11_ssh_never_prompts_unless_it_is_not_openssh() {
        let ask = |config: &SshConfig, env: &[(&str, &str)]| {
            let env = env.to_vec();
            let found = config.command(|name| {
                env.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value))
            });
            found.map(|command| command.into_string().unwrap())
        };
        let options = "-o BatchMode=yes -o ConnectTimeout=15";
        let plain = SshConfig::default();
        let config = |listing: &str| SshConfig::parse(listing);
        assert_eq!(ask(&plain, &[]), Some(format!("ssh {options}")));
        assert_eq!(
            ask(&config("core.sshcommand\nssh -i key\0"), &[]),
            Some(format!("ssh -i key {options}"))
        );
        assert_eq!(
            ask(&config("core.sshcommand\nssh -i key\0"), &[("GIT_SSH_COMMAND", "ssh -4")]),
            Some(format!("ssh -4 {options}"))
        );
        assert_eq!(ask(&plain, &[("GIT_SSH", "plink")]), None);
        assert_eq!(ask(&config("ssh.variant\nputty\0"), &[]), None);
        assert_eq!(
            ask(&config("ssh.variant\nputty\0ssh.variant\nssh\0"), &[]),
            Some(format!("ssh {options}"))
        );
        assert_eq!(ask(&plain, &[("GIT_SSH_VARIANT", "simple")]), None);
    }

    #[test]
    fn the_last_words_name_the_cause() {
        for (stderr, want) in [
            ("", "git ended with code 128"),
            ("fatal: not a git repository\n", "fatal: not a git repository"),
            (
                "a@h: Permission denied (publickey).\r\nfatal: Could not read from remote repository.\n\n\
                 Please make sure you have the correct access rights\nand the repository exists.\n",
                "a@h: Permission denied (publickey).",
            ),
            (
                "fatal: Could not read from remote repository.\n\nPlease make sure\n",
                "fatal: Could not read from remote repository.",
            ),
            (
                "error: cannot lock ref 'x': File exists.\n\nAnother git process seems\n",
                "error: cannot lock ref 'x': File exists.",
            ),
            ("remote: gone\nssh: no route\n", "ssh: no route"),
            (
                "fatal: detected dubious ownership in '/r'\nTo add an exception, call:\n\n\tgit x\n\
                 fatal: Could not read from remote repository.\n",
                "fatal: detected dubious ownership in '/r'",
            ),
        ] {
            let answer = Answer { code: 128, stdout: Vec::new(), stderr: stderr.to_owned() };
            assert_eq!(answer.last_words(), want);
        }
    }
}
