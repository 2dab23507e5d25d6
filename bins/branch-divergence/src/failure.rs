//! Why a look could not see, and the questions to git that can fail in that way.

use std::ffi::OsStr;

use shared::wait::Waiter;

use crate::git::{Answer, Git, Silence};

/// Why a look could not see. The name in `snake_case` is the reason that is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trouble {
    /// The remote wants to know who asks.
    RemoteAuth,
    /// The remote didn't answer in time.
    RemoteTimeout,
    /// The remote can't be asked.
    RemoteUnreachable,
    /// The remote has no such branch.
    BaseMissing,
    /// The remote answered, but its commits couldn't be had or counted.
    FetchFailed,
    /// HEAD has no commit yet.
    HeadUnborn,
    /// The repository is gone.
    RepositoryGone,
}

impl Trouble {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::RemoteAuth,
        Self::RemoteTimeout,
        Self::RemoteUnreachable,
        Self::BaseMissing,
        Self::FetchFailed,
        Self::HeadUnborn,
        Self::RepositoryGone,
    ];

    /// The reason that is printed.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::RemoteAuth => "remote_auth",
            Self::RemoteTimeout => "remote_timeout",
            Self::RemoteUnreachable => "remote_unreachable",
            Self::BaseMissing => "base_missing",
            Self::FetchFailed => "fetch_failed",
            Self::HeadUnborn => "head_unborn",
            Self::RepositoryGone => "repository_gone",
        }
    }

    /// Whether a change in the repository can end it, without the remote.
    #[must_use]
    pub fn is_local(self) -> bool {
        matches!(self, Self::HeadUnborn | Self::RepositoryGone)
    }
}

/// Why there is no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// It was given up: we are asked to stop, or a rebase has begun to move HEAD about.
    GivenUp,
    /// It could not be seen; the detail is git's own words.
    Blind(Trouble, String),
}

impl Failure {
    /// Blindness in git's own words.
    #[must_use]
    pub fn words(trouble: Trouble, answer: &Answer) -> Self {
        Self::Blind(trouble, answer.last_words())
    }
}

/// Git, and what ends the wait for it.
#[derive(Debug, Clone, Copy)]
pub struct Asking<'a> {
    /// Whom to ask.
    pub git: &'a Git,
    /// What ends the wait.
    pub waiter: &'a Waiter,
}

impl Asking<'_> {
    /// Asks what this machine can answer.
    ///
    /// # Errors
    ///
    /// [`Failure`], when there is no answer.
    pub fn here(&self, args: &[&str]) -> Result<Answer, Failure> {
        self.here_with(args, &[])
    }

    /// The same, with more environment.
    ///
    /// # Errors
    ///
    /// As [`Asking::here`].
    pub fn here_with(
        &self,
        args: &[&str],
        environment: &[(&str, &OsStr)],
    ) -> Result<Answer, Failure> {
        let answer = self.git.here(args, environment, self.waiter);
        answer.map_err(|silence| failure(silence, Trouble::FetchFailed, Trouble::FetchFailed))
    }

    /// Asks what only the remote can answer; `otherwise` is the trouble when git can't be run.
    ///
    /// # Errors
    ///
    /// As [`Asking::here`].
    pub fn far(&self, args: &[&str], otherwise: Trouble) -> Result<Answer, Failure> {
        let answer = self.git.far(args, self.waiter);
        answer.map_err(|silence| failure(silence, Trouble::RemoteTimeout, otherwise))
    }
}

fn failure(silence: Silence, late: Trouble, unable: Trouble) -> Failure {
    match silence {
        Silence::Stopped => Failure::GivenUp,
        Silence::Late(what) => Failure::Blind(late, what),
        Silence::Unable(err) => Failure::Blind(unable, format!("unable to run git: {err}")),
    }
}
