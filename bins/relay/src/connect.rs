//! One connection to a server, and what its errors mean to us.

use std::{
    env,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use async_nats::{
    Client, ConnectErrorKind, ConnectOptions, Event, ServerAddr, ServerError,
    jetstream::{
        self, ErrorCode,
        context::{GetStreamError, GetStreamErrorKind},
    },
};
use shared::{
    exit::{Error, Reason},
    file::{self, Unread},
};
use tokio::sync::mpsc;

use crate::{
    args::Common,
    decide::{Kind, Trouble},
};

/// How long a server has to answer a connect or a request.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often a silent connection is proved; after the second proof that fails it is lost.
const PROOF: Duration = Duration::from_secs(10);
/// Longer than any run of the client's own reconnecting, which isn't wanted.
const NEVER: Duration = Duration::from_hours(24 * 366);

/// Where to connect, and as whom.
#[derive(Debug, Clone)]
pub struct Target {
    servers: Vec<ServerAddr>,
    creds: Option<PathBuf>,
    tls_ca: Option<PathBuf>,
    name: &'static str,
}

impl Target {
    /// From the flags, then the environment, as the NATS tools have it.
    ///
    /// # Errors
    ///
    /// A URL that isn't one; a file that can't be read.
    pub fn new(common: &Common, name: &'static str) -> Result<Self, Error> {
        let mut urls = common.server.clone();
        if urls.is_empty() {
            let listed = env::var("NATS_URL").ok().filter(|listed| !listed.is_empty());
            let listed = listed.unwrap_or_else(|| "127.0.0.1".to_owned());
            urls.extend(listed.split(',').map(|url| url.trim().to_owned()));
        }
        let servers = urls.iter().map(|url| url.parse::<ServerAddr>()).collect::<Result<_, _>>();
        // What is wrong with a URL isn't said with it: it may hold a password.
        let servers = servers.map_err(|_| {
            Error::usage(
                "unable to use a server's URL: must be nats://HOST:PORT or tls://HOST:PORT",
            )
        })?;
        let creds = common.creds.clone().or_else(|| {
            env::var_os("NATS_CREDS").filter(|path| !path.is_empty()).map(PathBuf::from)
        });
        for path in creds.iter().chain(&common.tls_ca) {
            readable(path)?;
        }
        Ok(Self { servers, creds, tls_ca: common.tls_ca.clone(), name })
    }

    async fn options(&self) -> Result<ConnectOptions, Trouble> {
        let mut options = ConnectOptions::new()
            .name(self.name)
            .connection_timeout(PATIENCE)
            .request_timeout(Some(PATIENCE))
            .ping_interval(PROOF);
        if let Some(creds) = &self.creds {
            options = options.credentials_file(creds).await.map_err(|_| {
                let told = format!("unable to use {}: not a credentials file", creds.display());
                Trouble::new(Kind::Unauthorized, told)
            })?;
        }
        if let Some(ca) = &self.tls_ca {
            options = options.add_root_certificates(ca.clone()).require_tls(true);
        }
        let user = self.servers.iter().find_map(|server| {
            Some((server.username()?.to_owned(), server.password().map(str::to_owned)))
        });
        Ok(match user {
            Some((user, Some(password))) => options.user_and_password(user, password),
            Some((token, None)) => options.token(token),
            None => options,
        })
    }

    fn said(&self) -> String {
        let server = |server: &ServerAddr| format!("{}:{}", server.host(), server.port());
        self.servers.iter().map(server).collect::<Vec<_>>().join(", ")
    }
}

fn readable(path: &Path) -> Result<(), Error> {
    let cause = match file::open(path) {
        Ok(_) => return Ok(()),
        Err(Unread::Unreadable(cause)) => cause,
        Err(_) => "no such file".to_owned(),
    };
    let message = format!("unable to read {}: {cause}", path.display());
    Err(Error::new(Reason::Missing, "not_authorized", message))
}

/// A connection.
#[derive(Debug)]
pub struct Connection {
    /// The client.
    pub client: Client,
    /// Its streams.
    pub streams: jetstream::Context,
    troubles: mpsc::UnboundedReceiver<Trouble>,
}

impl Connection {
    /// Connects, once.
    ///
    /// # Errors
    ///
    /// Why there is no connection.
    pub async fn open(target: &Target) -> Result<Self, Trouble> {
        let (tell, troubles) = mpsc::unbounded_channel();
        let connected = Arc::new(AtomicBool::new(false));
        let was = Arc::clone(&connected);
        let options = target.options().await?;
        let options = options
            .reconnect_delay_callback(move |_| {
                if was.load(Ordering::Relaxed) { NEVER } else { Duration::ZERO }
            })
            .event_callback(move |event| {
                if let Some(trouble) = trouble_of(&event) {
                    let _ = tell.send(trouble);
                }
                std::future::ready(())
            });
        let client = options.connect(target.servers.clone()).await.map_err(|err| {
            let kind = match err.kind() {
                ConnectErrorKind::AuthorizationViolation | ConnectErrorKind::Authentication => {
                    Kind::Unauthorized
                }
                _ => Kind::Unreachable,
            };
            Trouble::new(kind, format!("unable to connect to {}: {}", target.said(), told(&err)))
        })?;
        connected.store(true, Ordering::Relaxed);
        let mut streams = jetstream::new(client.clone());
        streams.set_timeout(PATIENCE);
        Ok(Self { client, streams, troubles })
    }

    /// The end of the connection, when it comes.
    pub async fn trouble(&mut self) -> Trouble {
        let lost = || Trouble::new(Kind::Unreachable, "the connection to the server was lost");
        self.troubles.recv().await.unwrap_or_else(lost)
    }

    /// Sends what is still to be sent, and waits until the server has it.
    pub async fn finish(self) {
        let _ = tokio::time::timeout(PATIENCE, self.client.flush()).await;
    }
}

fn trouble_of(event: &Event) -> Option<Trouble> {
    match event {
        Event::Disconnected | Event::Closed => {
            Some(Trouble::new(Kind::Unreachable, "the connection to the server was lost"))
        }
        Event::ServerError(ServerError::AuthorizationViolation) => {
            Some(Trouble::new(Kind::Unauthorized, "unable to stay connected: not authorized"))
        }
        Event::ServerError(ServerError::Other(said))
            if said.to_ascii_lowercase().contains("permissions violation") =>
        {
            Some(Trouble::new(Kind::Unauthorized, format!("unable to use the server: {said}")))
        }
        _ => None,
    }
}

/// An error and its causes, in one line.
pub fn told(err: &dyn std::error::Error) -> String {
    let mut told = err.to_string();
    let mut cause = err.source();
    while let Some(err) = cause {
        let more = err.to_string();
        if !told.contains(&more) {
            told = format!("{told}: {more}");
        }
        cause = err.source();
    }
    told
}

/// What it means that the stream can't be asked.
#[must_use]
pub fn no_stream(stream: &str, err: &GetStreamError) -> Trouble {
    match err.kind() {
        GetStreamErrorKind::JetStream(err) if err.error_code() == ErrorCode::STREAM_NOT_FOUND => {
            Trouble::new(Kind::NoStream, format!("unable to find the stream {stream}"))
        }
        _ => Trouble::new(
            Kind::Unavailable,
            format!("unable to ask for the stream {stream}: {}", told(err)),
        ),
    }
}

/// Whether an answer says that the servers are not at their best, and not that we asked for
/// something wrong: a cluster that forms, or has lost its leader.
#[must_use]
pub fn is_passing(err: &jetstream::Error) -> bool {
    [
        ErrorCode::CLUSTER_INCOMPLETE,
        ErrorCode::CLUSTER_NO_PEERS,
        ErrorCode::CLUSTER_NOT_ACTIVE,
        ErrorCode::CLUSTER_NOT_ASSIGNED,
        ErrorCode::CLUSTER_NOT_AVAILABLE,
        ErrorCode::CLUSTER_NOT_LEADER,
        ErrorCode::INSUFFICIENT_RESOURCES,
        ErrorCode::JETSTREAM_NOT_ENABLED,
        ErrorCode::JETSTREAM_NOT_ENABLED_FOR_ACCOUNT,
        ErrorCode::RAFT_GENERAL,
        ErrorCode::STREAM_OFFLINE,
    ]
    .contains(&err.error_code())
}
