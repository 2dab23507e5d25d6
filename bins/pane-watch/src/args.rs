//! The command line, and the server it means.

use std::{
    env,
    path::{self, Path, PathBuf},
    time::Duration,
};

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
    /// The pane whose window is swept [default: `$TMUX_PANE`]
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

/// The server and the pane that are meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The server's socket.
    pub socket: PathBuf,
    /// The lead's pane.
    pub lead: String,
    /// The pane that we run in, if it is on that server.
    pub own: Option<String>,
}

impl Args {
    /// The socket and the lead's pane. Nothing is guessed: tmux's own default is the window that
    /// the user happens to look at.
    ///
    /// # Errors
    ///
    /// No server, or no lead on it.
    pub fn place(&self) -> Result<Place, Error> {
        let var = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
        // Socket, process and session, in this order; only a path can hold a comma.
        let tmux = var("TMUX").and_then(|value| value.rsplitn(3, ',').last().map(PathBuf::from));
        let named = self.socket_name.as_ref().map(|name| {
            let uid = rustix::process::getuid().as_raw();
            let root = var("TMUX_TMPDIR").unwrap_or_else(|| "/tmp".to_owned());
            PathBuf::from(root).join(format!("tmux-{uid}")).join(name)
        });
        let asked = named.or_else(|| self.socket_path.clone()).or_else(|| tmux.clone());
        let socket = asked.ok_or_else(|| {
            Error::usage("unable to find the tmux server: give -L or -S, or run inside tmux")
        })?;
        let socket = canonical(&socket);
        let is_ours = tmux.is_some_and(|tmux| canonical(&tmux) == socket);
        let own = var("TMUX_PANE").filter(|_| is_ours);
        let lead = self.lead.clone().or_else(|| own.clone()).ok_or_else(|| {
            Error::usage("unable to find the lead's pane on that server: give --lead %N")
        })?;
        Ok(Place { socket, lead, own })
    }
}

/// The path by which a socket is the same for everybody, whether or not it is there.
fn canonical(path: &Path) -> PathBuf {
    let absolute = path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let parent = absolute.parent().and_then(|parent| parent.canonicalize().ok());
    match (parent, absolute.file_name()) {
        (Some(parent), Some(name)) => parent.join(name),
        _ => absolute,
    }
}
