//! GitHub through `gh api`: its login, its hosts, its proxies, and none of its own opinions.
//!
//! Calls, classifies what comes back, and leaves the service alone when that is asked for. Knows
//! nothing of what is read.

mod answer;
mod class;
mod pace;
mod reply;

use std::{
    io,
    path::PathBuf,
    process::Command,
    sync::{Mutex, PoisonError},
    thread,
    time::Duration,
};

pub use answer::{Answer, Refusal};
pub use class::{Class, Trouble};
use jiff::Timestamp;
pub use pace::Pace;
use reply::Reply;
use serde::de::DeserializeOwned;

use crate::{
    clock, cooldown,
    cooldown::Cooldowns,
    exit,
    run::{self, Outcome},
    wait::Waiter,
};

/// How long a call may take.
pub const DEADLINE: Duration = Duration::from_secs(30);
/// How many calls run at once.
const AT_ONCE: usize = 4;

/// Would lead `gh` to another host or repository, or make it talk as to a terminal.
const REMOVED: [&str; 6] =
    ["GH_HOST", "GH_REPO", "GH_FORCE_TTY", "CLICOLOR_FORCE", "GH_DEBUG", "DEBUG"];
/// Nobody is there to answer a prompt, and stdout is parsed.
const SET: [(&str, &str); 3] =
    [("GH_PROMPT_DISABLED", "1"), ("NO_COLOR", "1"), ("GH_NO_UPDATE_NOTIFIER", "1")];

/// Which of the two interfaces is asked. Each has a budget of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Api {
    /// Paths.
    Rest,
    /// Documents.
    Graphql,
}

impl Api {
    /// Its name in the store.
    #[must_use]
    pub fn scope(self) -> &'static str {
        match self {
            Self::Rest => "github-rest",
            Self::Graphql => "github-graphql",
        }
    }
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Silence {
    /// We are asked to stop.
    Stopped,
    /// Nobody was asked: the service wants to be left alone until then.
    Cooling(Timestamp),
    /// It was asked, in vain.
    Trouble(Trouble),
}

/// What a path holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Page {
    /// The same as when it had that tag. It cost nothing.
    Unchanged,
    /// This.
    Fresh {
        /// The bytes.
        body: Vec<u8>,
        /// What to ask with next time.
        etag: Option<String>,
    },
}

/// The value of a document's variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// A string, whatever it looks like.
    Text(String),
    /// A whole number.
    Number(u64),
}

/// The host that is asked, and how.
#[derive(Debug)]
pub struct Gh {
    program: &'static str,
    host: String,
    deadline: Duration,
    cooldowns: Cooldowns,
    // What was warned of already.
    warned: Mutex<bool>,
}

impl Gh {
    /// Asks `host` for `program`, whose name stands in warnings; `store` is the root of the store.
    #[must_use]
    pub fn new(program: &'static str, host: &str, store: Option<PathBuf>) -> Self {
        Self {
            program,
            host: host.to_owned(),
            deadline: DEADLINE,
            cooldowns: Cooldowns::new(store),
            warned: Mutex::default(),
        }
    }

    /// The host, pinned for good.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Until when `api` is to be left alone; `None` when it may be asked.
    #[must_use]
    pub fn cooling(&self, api: Api) -> Option<Timestamp> {
        self.cooldowns.until(api.scope(), &self.host, &clock::now())
    }

    /// Reads `path`, or learns that it is the same as when it had `etag`.
    ///
    /// # Errors
    ///
    /// [`Silence`].
    pub fn get(&self, path: &str, etag: Option<&str>, waiter: &Waiter) -> Result<Page, Silence> {
        let mut command = self.command(path);
        if let Some(etag) = etag {
            command.arg("-H").arg(format!("If-None-Match: {etag}"));
        }
        let reply = self.call(Api::Rest, &mut command, waiter)?;
        match reply.status() {
            Some(304) => Ok(Page::Unchanged),
            Some(200..=299) => {
                let etag = reply.header("etag").map(str::to_owned);
                Ok(Page::Fresh { etag, body: reply.into_body() })
            }
            _ => Err(self.refused(Api::Rest, &reply)),
        }
    }

    /// Has `document` answered.
    ///
    /// # Errors
    ///
    /// [`Silence`], also when the answer says that the budget is spent.
    pub fn ask(
        &self,
        document: &str,
        variables: &[(String, Value)],
        waiter: &Waiter,
    ) -> Result<Answer, Silence> {
        let mut command = self.command("graphql");
        command.arg("-f").arg(format!("query={document}"));
        for (name, value) in variables {
            // Raw fields stay strings; the others become what they look like.
            match value {
                Value::Text(text) => command.arg("-f").arg(format!("{name}={text}")),
                Value::Number(number) => command.arg("-F").arg(format!("{name}={number}")),
            };
        }
        let reply = self.call(Api::Graphql, &mut command, waiter)?;
        let Some(200..=299) = reply.status() else {
            return Err(self.refused(Api::Graphql, &reply));
        };
        let Some(errors) = answer::errors(reply.body()) else {
            return Err(Silence::Trouble(reply.malformed()));
        };
        if let Some(spent) = errors.iter().find(|error| error.class == Class::RateLimited) {
            return Err(self.throttled(Api::Graphql, &reply, spent.detail.clone()));
        }
        Ok(Answer::new(reply.into_body(), errors))
    }

    fn command(&self, path: &str) -> Command {
        let mut command = run::command("gh");
        command.envs(SET).args(["api", "--hostname", &self.host, "-i", path]);
        for name in REMOVED {
            command.env_remove(name);
        }
        command
    }

    fn call(&self, api: Api, command: &mut Command, waiter: &Waiter) -> Result<Reply, Silence> {
        let over = waiter.end().is_some_and(|end| clock::monotonic() >= end);
        // Of many calls none is begun any more that would only have to be ended.
        if over || waiter.rest(Duration::ZERO).unwrap_or(false) {
            return Err(Silence::Stopped);
        }
        if let Some(until) = self.cooling(api) {
            return Err(Silence::Cooling(until));
        }
        let trouble = |class, detail: String| {
            Err(Silence::Trouble(Trouble { class, detail, retry_at: None }))
        };
        match run::run(command, self.deadline, waiter) {
            Ok(Outcome::Exited { status, stdout, stderr }) => {
                let reply = Reply::new(status.code(), stdout, &stderr);
                self.mind_budget(api, &reply);
                Ok(reply)
            }
            Ok(Outcome::TimedOut) => {
                let seconds = self.deadline.as_secs();
                trouble(Class::Transient, format!("no answer from gh within {seconds} s"))
            }
            Ok(Outcome::Stopped) => Err(Silence::Stopped),
            Err(err) if err.kind() == io::ErrorKind::NotFound => {
                trouble(Class::Setup, "gh not found in PATH".to_owned())
            }
            Err(err) if err.kind() == io::ErrorKind::PermissionDenied => {
                trouble(Class::Setup, format!("unable to run gh: {err}"))
            }
            Err(err) => trouble(Class::Transient, format!("unable to run gh: {err}")),
        }
    }

    /// An answer that came, but was the last that the budget pays for.
    fn mind_budget(&self, api: Api, reply: &Reply) {
        let now = clock::now();
        if matches!(reply.status(), Some(200..=299))
            && let Some(reset) = reply.reset().filter(|reset| *reset > now.wall)
        {
            self.cool(&[api], reset);
        }
    }

    fn refused(&self, api: Api, reply: &Reply) -> Silence {
        let trouble = reply.trouble(&self.host);
        if trouble.class == Class::RateLimited {
            return self.throttled(api, reply, trouble.detail);
        }
        Silence::Trouble(trouble)
    }

    fn throttled(&self, api: Api, reply: &Reply, detail: String) -> Silence {
        let now = clock::now();
        let told = reply.retry_at(&now).filter(|at| *at > now.wall);
        let usual = now.wall.checked_add(cooldown::USUAL).unwrap_or(now.wall);
        let both = class::is_secondary(&detail);
        let apis: &[Api] = if both { &[Api::Rest, Api::Graphql] } else { &[api] };
        self.cool(apis, told.unwrap_or(usual));
        Silence::Trouble(Trouble { class: Class::RateLimited, detail, retry_at: told })
    }

    fn cool(&self, apis: &[Api], until: Timestamp) {
        let now = clock::now();
        for api in apis {
            if let Err(err) = self.cooldowns.set(api.scope(), &self.host, until, &now) {
                let mut warned = self.warned.lock().unwrap_or_else(PoisonError::into_inner);
                if !std::mem::replace(&mut *warned, true) {
                    exit::warn(self.program, &format!("{err}: other programs don't know"));
                }
            }
        }
    }
}

/// A path, and what it held when it was read last.
#[derive(Debug, Clone)]
pub struct Cached<T> {
    path: String,
    known: Option<(String, T)>,
}

impl<T: Clone + DeserializeOwned> Cached<T> {
    /// Nothing was read yet.
    #[must_use]
    pub fn new(path: String) -> Self {
        Self { path, known: None }
    }

    /// Whether it was read before.
    #[must_use]
    pub fn is_known(&self) -> bool {
        self.known.is_some()
    }

    /// What the path holds now.
    ///
    /// # Errors
    ///
    /// [`Silence`], also when it holds something else than a `T`.
    pub fn read(&mut self, gh: &Gh, waiter: &Waiter) -> Result<T, Silence> {
        let etag = self.known.as_ref().map(|(etag, _)| &**etag);
        let unfit = |what: &str| Silence::Trouble(Trouble::malformed(what));
        match gh.get(&self.path, etag, waiter)? {
            Page::Unchanged => match &self.known {
                Some((_, value)) => Ok(value.clone()),
                None => Err(unfit("unchanged, but never read")),
            },
            Page::Fresh { body, etag } => {
                let value: T = serde_json::from_slice(&body)
                    .map_err(|err| unfit(&format!("an answer that can't be understood: {err}")))?;
                self.known = etag.map(|etag| (etag, value.clone()));
                Ok(value)
            }
        }
    }
}

/// Looks at `items`, four at a time, and returns what each look came to, in their order.
pub fn side_by_side<T: Send, R: Send>(
    items: &mut [T],
    look: impl Fn(&mut T) -> R + Sync,
) -> Vec<R> {
    let look = &look;
    let mut results = Vec::with_capacity(items.len());
    for items in items.chunks_mut(AT_ONCE) {
        if let [item] = items {
            results.push(look(item));
            continue;
        }
        thread::scope(|scope| {
            let looks: Vec<_> =
                items.iter_mut().map(|item| scope.spawn(move || look(item))).collect();
            results.extend(looks.into_iter().map(|begun| match begun.join() {
                Ok(result) => result,
                Err(panic) => std::panic::resume_unwind(panic),
            }));
        });
    }
    results
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn results_keep_the_order_of_their_items_and_no_more_than_four_run() {
        let (running, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let mut items: Vec<usize> = (0..11).collect();
        let doubled = side_by_side(&mut items, |item| {
            most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            running.fetch_sub(1, Ordering::SeqCst);
            *item * 2
        });
        assert_eq!(doubled, (0..11).map(|item| item * 2).collect::<Vec<_>>());
        assert!(most.load(Ordering::SeqCst) <= AT_ONCE);
    }
}
