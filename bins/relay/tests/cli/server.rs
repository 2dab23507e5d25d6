//! A real server, or a cluster of three, on free ports of the loopback; gone with its test.

use std::{
    fs,
    net::TcpListener,
    path::PathBuf,
    process::{Child, Stdio},
};

use tests::{Scene, command, eventually};

/// A free port. Somebody else may take it before it is used; a server that then doesn't start
/// fails its test with its log.
pub(crate) fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// A server with a store of its own that outlives it.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) port: u16,
    child: Option<Child>,
    config: PathBuf,
    log: PathBuf,
}

impl Server {
    /// Starts one with `JetStream`.
    pub(crate) fn start(scene: &Scene) -> Self {
        let server = Self::planned(scene, "");
        server.started()
    }

    /// Starts one whose configuration has `more`.
    pub(crate) fn with(scene: &Scene, more: &str) -> Self {
        Self::planned(scene, more).started()
    }

    /// A server that isn't started yet.
    pub(crate) fn planned(scene: &Scene, more: &str) -> Self {
        Self::named(scene, "server", free_port(), more)
    }

    fn named(scene: &Scene, name: &str, port: u16, more: &str) -> Self {
        let dir = scene.dir(name);
        let store = dir.join("store");
        let text = format!(
            "server_name: {name}\nlisten: \"127.0.0.1:{port}\"\njetstream {{ store_dir: \"{}\", max_file_store: 1G }}\n{more}\n",
            store.display()
        );
        scene.write(&format!("{name}/conf"), text);
        Self { port, child: None, config: dir.join("conf"), log: dir.join("log") }
    }

    /// Three servers that know each other, started.
    pub(crate) fn cluster(scene: &Scene) -> Vec<Self> {
        let routes: Vec<u16> = (0..3).map(|_| free_port()).collect();
        let known: Vec<String> =
            routes.iter().map(|port| format!("\"nats://127.0.0.1:{port}\"")).collect();
        let server = |(number, route): (usize, &u16)| {
            let more = format!(
                "cluster {{ name: c, listen: \"127.0.0.1:{route}\", routes: [{}] }}",
                known.join(", ")
            );
            Self::named(scene, &format!("n{number}"), free_port(), &more)
        };
        let servers: Vec<Self> = routes.iter().enumerate().map(server).collect();
        servers.into_iter().map(Self::started).collect()
    }

    fn started(mut self) -> Self {
        self.again();
        self
    }

    /// Starts it (again), and waits until it takes connections.
    pub(crate) fn again(&mut self) {
        let log = fs::OpenOptions::new().create(true).append(true).open(&self.log).unwrap();
        let mut server = command("nats-server");
        server.arg("-c").arg(&self.config).stdout(Stdio::null()).stderr(log);
        self.child = Some(server.spawn().unwrap());
        let port = self.port;
        eventually("the server takes connections", || {
            std::net::TcpStream::connect(("127.0.0.1", port)).is_ok()
        });
    }

    /// Kills it on the spot.
    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    /// Stops or continues it (SIGSTOP, SIGCONT).
    pub(crate) fn signal(&self, signal: nix::sys::signal::Signal) {
        let pid = self.child.as_ref().unwrap().id();
        nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid.try_into().unwrap()), signal)
            .unwrap();
    }

    pub(crate) fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
