//! The command line, and the server it means.

use std::{env, path::PathBuf, time::Duration};

use clap::{
    Parser,
    builder::{PossibleValuesParser, TypedValueParser},
};
use shared::{
    cli::{self, Running},
    exit::Error,
    roster,
};

const MS: Duration = Duration::from_millis(1);
const DAY: Duration = Duration::from_hours(24);

/// How far is looked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The lead's window.
    Window,
    /// The lead's session.
    Session,
    /// The whole server.
    Server,
}

/// Tells which panes of a tmux server died, went, or belong to nobody
#[derive(Debug, Clone, Parser)]
#[command(name = "pane-watch", version, args_override_self = true)]
pub struct Args {
    /// The server, by the name of its socket
    #[arg(short = 'L', value_name = "NAME", conflicts_with = "socket_path", value_parser = cli::name)]
    pub socket_name: Option<String>,
    /// The server, by the path of its socket
    #[arg(short = 'S', value_name = "PATH", value_parser = cli::path())]
    pub socket_path: Option<PathBuf>,
    /// The pane whose window is swept [default: $`TMUX_PANE`]
    #[arg(long, value_name = "%N", value_parser = pane)]
    pub lead: Option<String>,
    /// How far to look
    #[arg(long, value_name = "SCOPE", default_value = "window", value_parser = scope())]
    pub scope: Scope,
    /// A pane that belongs there; may be given several times
    #[arg(long, value_name = "%N", value_parser = pane)]
    pub known: Vec<String>,
    /// A file whose first line is such a pane; may be given several times
    #[arg(long, value_name = "PATH", value_parser = cli::path())]
    pub known_file: Vec<PathBuf>,
    /// The registry of agents
    #[arg(long, value_name = "PATH", value_parser = cli::path())]
    pub items: Option<PathBuf>,
    /// Look at least this often
    #[arg(long, visible_alias = "interval", value_name = "D", default_value = "5s", value_parser = cli::span(50 * MS, DAY))]
    pub poll_interval: Duration,
    /// How long one call of tmux may take
    #[arg(long, value_name = "D", default_value = "2s", value_parser = cli::span(MS, DAY))]
    pub call_timeout: Duration,
    /// The age below which a pane is not yet untracked
    #[arg(long, value_name = "D", default_value = "10s", value_parser = cli::span(MS, DAY))]
    pub untracked_after: Duration,
    /// Say nothing of untracked panes that the first sweep finds
    #[arg(long)]
    pub baseline: bool,
    /// Only sweep
    #[arg(long)]
    pub no_pidfd: bool,
    /// Remember in FILE what was told, and go on there at the next start
    #[arg(long, value_name = "FILE", value_parser = cli::path())]
    pub cursor: Option<PathBuf>,
    /// The flags that many programs take.
    #[command(flatten)]
    pub running: Running,
}

fn pane(text: &str) -> Result<String, String> {
    let is_pane = roster::is_pane(text);
    is_pane.then(|| text.to_owned()).ok_or_else(|| "must be % and a number, as in %3".to_owned())
}

fn scope() -> impl TypedValueParser<Value = Scope> {
    PossibleValuesParser::new(["window", "session", "server"]).map(|word| match &*word {
        "window" => Scope::Window,
        "session" => Scope::Session,
        _ => Scope::Server,
    })
}

impl Args {
    /// The socket and the lead's pane. Nothing is guessed: tmux's own default is the window that
    /// the user happens to look at.
    ///
    /// # Errors
    ///
    /// No server, or no lead on it.
    pub fn server(&self) -> Result<(PathBuf, String), Error> {
        let var = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
        let ours = var("TMUX").and_then(|value| value.split(',').next().map(PathBuf::from));
        let named = self.socket_name.as_ref().map(|name| {
            let uid = rustix::process::getuid().as_raw();
            let root = var("TMUX_TMPDIR").unwrap_or_else(|| "/tmp".to_owned());
            PathBuf::from(root).join(format!("tmux-{uid}")).join(name)
        });
        let asked = named.or_else(|| self.socket_path.clone());
        let socket = asked.or_else(|| ours.clone()).ok_or_else(|| {
            Error::usage("unable to find the tmux server: give -L or -S, or run inside tmux")
        })?;
        let own = ours.is_some_and(|ours| ours == socket);
        let lead = self.lead.clone().or_else(|| var("TMUX_PANE").filter(|_| own));
        let lead = lead.ok_or_else(|| {
            Error::usage("unable to find the lead's pane on that server: give --lead %N")
        })?;
        Ok((socket, lead))
    }
}
