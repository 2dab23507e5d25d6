//! A stand-in for GitHub: the real `gh` talks plain HTTP to a server of ours on a Unix socket, by
//! its own setting `http_unix_socket`. All hosts, no network. It says what the test has written,
//! and remembers what it was asked. HTTP as little as `gh` needs takes a page of std, so there is
//! no server crate.

mod say;

use std::{
    collections::{BTreeMap, VecDeque},
    fmt::Write as _,
    fs,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    io::{BufRead as _, BufReader, Read as _, Write as _},
    os::unix::net::{UnixListener, UnixStream},
    path::PathBuf,
    process::Command,
    sync::{Arc, Mutex},
    thread,
};

pub use say::{Variables, answer, check, commit, context, points, pull, run, subjects};
use serde_json::{Value, json};

use crate::{Scene, command, git};

/// Names of the environment that would lead `gh` elsewhere.
const REMOVED: [&str; 7] = [
    "GH_HOST",
    "GH_REPO",
    "GITHUB_TOKEN",
    "GITHUB_ENTERPRISE_TOKEN",
    "GH_DEBUG",
    "XDG_STATE_HOME",
    "HTTPS_PROXY",
];

/// A made-up token, of the form of a real one.
pub const TOKEN: &str = "ghp_0123456789abcdefghijklmnopqrstuvwxyz";

/// One answer.
#[derive(Debug, Clone)]
pub struct Reply {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    kept_back: usize,
    hangs: bool,
}

impl Reply {
    /// 200 with this value.
    #[must_use]
    pub fn json(value: &Value) -> Self {
        Self::status(200, value)
    }

    /// A status with this value.
    #[must_use]
    pub fn status(status: u16, value: &Value) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: value.to_string().into(),
            kept_back: 0,
            hangs: false,
        }
    }

    /// The same with a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The same without the end of its body, as from a connection that broke.
    #[must_use]
    pub fn broken(mut self) -> Self {
        self.kept_back = self.body.len() / 2;
        self
    }

    /// No answer at all, on a connection that stays open.
    #[must_use]
    pub fn never() -> Self {
        Self { hangs: true, ..Self::status(200, &Value::Null) }
    }
}

/// One question.
#[derive(Debug, Clone)]
pub struct Asked {
    /// `GET`, `POST`.
    pub method: String,
    /// The path without the prefix that enterprise hosts have, and with its query.
    pub path: String,
    /// Headers, by their names in lower case.
    pub headers: BTreeMap<String, String>,
    /// The body of a document's request.
    pub body: Value,
    /// What it was answered with; 0: nothing.
    pub status: u16,
}

type Answer = Box<dyn FnMut(&Value) -> Reply + Send>;

#[derive(Default)]
struct Script {
    paths: BTreeMap<String, VecDeque<Reply>>,
    documents: Option<Answer>,
    asked: Vec<Asked>,
}

/// The server. It answers until the test ends.
#[derive(Clone)]
pub struct GitHub {
    home: PathBuf,
    script: Arc<Mutex<Script>>,
}

impl std::fmt::Debug for GitHub {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GitHub").field("home", &self.home).finish_non_exhaustive()
    }
}

impl GitHub {
    /// Listens in `scene`, whose folder is the home where `gh` finds its configuration.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "fixtures need no atomic write")]
    pub fn start(scene: &Scene) -> Self {
        let config = scene.dir(".config/gh");
        let socket = scene.join("github");
        let listener = UnixListener::bind(&socket).unwrap();
        let setting = format!("http_unix_socket: {}\n", socket.display());
        fs::write(config.join("config.yml"), setting).unwrap();
        let login = format!("github.com:\n    user: t\n    oauth_token: {TOKEN}\n");
        fs::write(config.join("hosts.yml"), login).unwrap();
        let github = Self { home: scene.path(), script: Arc::default() };
        let script = Arc::clone(&github.script);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let script = Arc::clone(&script);
                thread::spawn(move || serve(stream, &script));
            }
        });
        github
    }

    /// Makes `command`, and the `gh` that it runs, talk to this server.
    pub fn connect(&self, command: &mut Command) {
        for name in REMOVED {
            command.env_remove(name);
        }
        command
            .env("HOME", &self.home)
            .env_remove("XDG_CONFIG_HOME")
            .env("GH_CONFIG_DIR", self.home.join(".config/gh"))
            .env("DOORBELL_STORE", self.home.join("store"))
            .env("GH_TOKEN", TOKEN)
            .env("GH_ENTERPRISE_TOKEN", TOKEN);
    }

    /// Forgets the login.
    pub fn log_out(&self, command: &mut Command) {
        fs::remove_file(self.home.join(".config/gh/hosts.yml")).unwrap();
        command.env_remove("GH_TOKEN").env_remove("GH_ENTERPRISE_TOKEN");
    }

    /// Answers `path` with `replies`, one after the other; the last one stays.
    pub fn on(&self, path: &str, replies: impl IntoIterator<Item = Reply>) {
        let replies = replies.into_iter().collect();
        self.script.lock().unwrap().paths.insert(path.to_owned(), replies);
    }

    /// Answers documents, by their request's body.
    pub fn on_documents(&self, answer: impl FnMut(&Value) -> Reply + Send + 'static) {
        self.script.lock().unwrap().documents = Some(Box::new(answer));
    }

    /// Answers documents about pull requests: `pull` makes what is said of each number. Without
    /// one the answer says that there is none.
    pub fn on_pulls(&self, mut pull: impl FnMut(u64) -> Option<Value> + Send + 'static) {
        self.on_documents(move |body| {
            Reply::json(&answer(body, |variables| pull(variables.number)))
        });
    }

    /// What it was asked so far, in order.
    #[must_use]
    pub fn asked(&self) -> Vec<Asked> {
        self.script.lock().unwrap().asked.clone()
    }

    /// The statuses of the answers to `path`.
    #[must_use]
    pub fn statuses(&self, path: &str) -> Vec<u16> {
        let of_path = |asked: &Asked| (asked.path == path).then_some(asked.status);
        self.asked().iter().filter_map(of_path).collect()
    }
}

/// Lets `command`, a program that reads GitHub, watch something to which nothing happens: what
/// there is to say was said by an earlier run.
pub fn quiet(scene: &Scene, command_to_be: &mut Command) {
    let github = GitHub::start(scene);
    github.on("/repos/o/n/actions/runs/1", [Reply::json(&run(1, "in_progress", None))]);
    github.on_pulls(|number| Some(pull(number, &"a".repeat(40), &[check("test", "QUEUED", "")])));
    let program = command_to_be.get_program().to_owned();
    let is_ci = program.to_string_lossy().ends_with("ci-status");
    let target = if is_ci { "--run-id=1" } else { "1" };
    let cursor = scene.join("cursor").display().to_string();
    let args = [target, "--repo", "github.com/o/n", "--cursor", &cursor];
    let mut earlier = command(&program);
    git::blind(&mut earlier, scene);
    github.connect(&mut earlier);
    let out = earlier.args(args).arg("--once").output().unwrap();
    assert_eq!(out.status.code(), Some(0), "{}", String::from_utf8_lossy(&out.stderr));
    github.connect(command_to_be);
    command_to_be.args(args);
}

fn serve(stream: UnixStream, script: &Mutex<Script>) {
    let mut reader = BufReader::new(&stream);
    let Some(mut asked) = question(&mut reader) else { return };
    let reply = {
        let mut script = script.lock().unwrap();
        let mut reply = script.reply(&asked);
        condition(&asked, &mut reply);
        asked.status = if reply.hangs { 0 } else { reply.status };
        script.asked.push(asked);
        reply
    };
    if reply.hangs {
        // Until the one who asks goes away.
        let _ = reader.read(&mut [0]);
        return;
    }
    let mut head = format!("HTTP/1.1 {} Said\r\nConnection: close\r\n", reply.status);
    for (name, value) in &reply.headers {
        let _ = write!(head, "{name}: {value}\r\n");
    }
    let length = reply.body.len();
    let _ = write!(head, "Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n");
    let body = &reply.body[..reply.body.len() - reply.kept_back];
    let _ = (&stream).write_all(head.as_bytes()).and_then(|()| (&stream).write_all(body));
}

impl Script {
    fn reply(&mut self, asked: &Asked) -> Reply {
        let nowhere = Reply::status(404, &json!({"message": "Not Found"}));
        if asked.path == "/graphql" {
            return self.documents.as_mut().map_or(nowhere, |answer| answer(&asked.body));
        }
        let Some(replies) = self.paths.get_mut(&asked.path) else { return nowhere };
        if replies.len() > 1 { replies.pop_front() } else { replies.front().cloned() }
            .unwrap_or(nowhere)
    }
}

/// As GitHub does: what is asked for has a tag, and is not sent again to one who has it.
fn condition(asked: &Asked, reply: &mut Reply) {
    if asked.method != "GET" || reply.status != 200 || reply.hangs || reply.kept_back > 0 {
        return;
    }
    let mut hasher = DefaultHasher::new();
    reply.body.hash(&mut hasher);
    let tag = format!("W/\"{:016x}\"", hasher.finish());
    if asked.headers.get("if-none-match") == Some(&tag) {
        (reply.status, reply.body) = (304, Vec::new());
    }
    reply.headers.push(("ETag".to_owned(), tag));
}

fn question(reader: &mut BufReader<&UnixStream>) -> Option<Asked> {
    let mut line = String::new();
    let mut next = |reader: &mut BufReader<&UnixStream>| {
        line.clear();
        reader.read_line(&mut line).ok().filter(|n| *n > 0)?;
        Some(line.trim_end().to_owned())
    };
    let request = next(reader)?;
    let mut words = request.split(' ');
    let (method, path) = (words.next()?.to_owned(), words.next()?);
    let path = path.strip_prefix("/api/v3").or(path.strip_prefix("/api")).unwrap_or(path);
    let mut headers = BTreeMap::new();
    while let Some(line) = next(reader).filter(|line| !line.is_empty()) {
        let (name, value) = line.split_once(':')?;
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length").and_then(|text| text.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let body = serde_json::from_slice(&body).unwrap_or_default();
    Some(Asked { method, path: path.to_owned(), headers, body, status: 0 })
}
