//! Figures of `relay`, beside raw publishing through the same client to the same server:
//! `cargo bench -p relay`. A real server on the loopback, its store in a folder of its own.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "a measurement"
)]

#[expect(dead_code, reason = "the tests do more with a server")]
#[path = "../tests/cli/server.rs"]
mod server;

use std::{
    collections::VecDeque,
    fs::{self, File},
    future::IntoFuture as _,
    io::{BufRead as _, BufReader, Write as _},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use async_nats::jetstream::{self, message::PublishMessage};
use server::Server;
use tests::{Manager, Scene, command, cost::peak_of, pause};

const LINES: usize = 200_000;

fn relay(scene: &Scene, server: &Server, args: &[&str]) -> Command {
    let mut relay = command(env!("CARGO_BIN_EXE_relay"));
    relay.args(args).args(["--server", &server.url()]).env("DOORBELL_STORE", scene.join("store"));
    relay
}

fn main() {
    let scene = Scene::new();
    let server = Server::start(&scene);
    let pad = "x".repeat(230);
    let line = |n: usize| {
        format!(r#"{{"event":"gate_opened","source":"s","n":{n},"id":"{n:016x}","pad":"{pad}"}}"#)
    };
    let mut input = String::new();
    (0..LINES).for_each(|n| input.extend([line(n).as_str(), "\n"]));
    scene.write("in", &input);
    println!("{LINES} lines of {} bytes", input.len() / LINES);

    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let raw = runtime.block_on(raw(&server, &input));
    print("raw publishing, 1000 in flight", raw, None);

    let begun = Instant::now();
    let mut publisher = relay(&scene, &server, &["pub", "--stream", "fleet", "--create"]);
    let peak = peak_of(publisher.stdin(File::open(scene.join("in")).unwrap()).spawn().unwrap());
    print("relay pub", begun.elapsed(), Some(peak));

    let begun = Instant::now();
    let mut sub = relay(
        &scene,
        &server,
        &["sub", "--stream", "fleet", "--durable", "d", "--from", "all", "--once"],
    );
    let peak = peak_of(sub.stdout(File::create(scene.join("out")).unwrap()).spawn().unwrap());
    print("relay sub", begun.elapsed(), Some(peak));
    assert!(fs::read(scene.join("out")).unwrap() == input.as_bytes());

    latency(&scene, &server);
}

async fn raw(server: &Server, input: &str) -> Duration {
    let client = async_nats::connect(server.url()).await.unwrap();
    let streams = jetstream::new(client);
    let config = jetstream::stream::Config {
        name: "raw".to_owned(),
        subjects: vec!["raw.>".to_owned()],
        ..jetstream::stream::Config::default()
    };
    streams.create_stream(config).await.unwrap();
    let begun = Instant::now();
    let mut acks = VecDeque::new();
    for (number, line) in input.lines().enumerate() {
        let message = PublishMessage::build().message_id(number.to_string());
        let message = message.payload(line.to_owned().into());
        acks.push_back(streams.send_publish("raw.a.b", message).await.unwrap().into_future());
        if acks.len() == 1000 {
            acks.pop_front().unwrap().await.unwrap();
        }
    }
    for ack in acks {
        ack.await.unwrap();
    }
    begun.elapsed()
}

fn print(what: &str, time: Duration, peak: Option<u64>) {
    let rate = LINES as f64 / time.as_secs_f64();
    let peak =
        peak.map_or(String::new(), |kib| format!(", {:.1} MiB at most", kib as f64 / 1024.0));
    println!("{what}: {:.2} s, {rate:.0} lines/s{peak}", time.as_secs_f64());
}

fn latency(scene: &Scene, server: &Server) {
    let manager = Manager::listen(scene);
    let ready = |mut program: Command| {
        manager.manage(&mut program);
        let child = program.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        manager.ready();
        child
    };
    let mut publisher = ready(relay(scene, server, &["pub", "--stream", "fleet"]));
    let sub = ["sub", "--stream", "fleet", "--durable", "latency"];
    let mut sub = ready(relay(scene, server, &sub));
    let mut stdin = publisher.stdin.take().unwrap();
    let mut stdout = BufReader::new(sub.stdout.take().unwrap());
    let (mut times, mut line) = (Vec::new(), String::new());
    for n in 0..1000 {
        let begun = Instant::now();
        stdin.write_all(format!("{{\"event\":\"x\",\"n\":{n}}}\n").as_bytes()).unwrap();
        line.clear();
        stdout.read_line(&mut line).unwrap();
        times.push(begun.elapsed());
        pause(Duration::from_millis(2));
    }
    times.sort_unstable();
    println!("latency pub to sub: median {:?}, p99 {:?}", times[500], times[990]);
    drop(stdin);
    publisher.wait().unwrap();
    sub.kill().unwrap();
    sub.wait().unwrap();
}
