//! Lines that go through, whatever is killed meanwhile.

use std::{
    collections::HashSet,
    fs::{self, File},
    io::Write as _,
    ops::Range,
    process::Stdio,
    time::Duration,
};

use nix::sys::signal::Signal;
use serde_json::Value;
use tests::{Running, Scene, eventually, pause};

use crate::{Server, drained, events, input, publish, published, relay, stored, subscribe};

#[test]
fn r01_a_hundred_thousand_lines_arrive_once_in_order_and_byte_identical() {
    let scene = Scene::new();
    let server = Server::start(&scene);
    let lines = input(100_000);
    published(&scene, &server, &lines);
    assert!(stored(&scene, &server, &[]) == lines, "other bytes");
}

#[test]
fn r02_a_server_that_is_killed_ten_times_loses_and_doubles_nothing() {
    let scene = Scene::new();
    let mut server = Server::start(&scene);
    published(&scene, &server, "{\"event\":\"first\"}\n");
    let lines = input(30_000);
    let mut sub =
        Running::start(&mut subscribe(&scene, &server, &["--ack-wait", "1", "--from", "all"]));
    assert_eq!(sub.line()["event"], "first");
    let mut publisher = publish(&scene, &server, &[]);
    let publisher = publisher.stdin(Stdio::piped()).stdout(Stdio::null()).spawn();
    let mut publisher = publisher.unwrap();
    let mut stdin = publisher.stdin.take().unwrap();
    let all: Vec<&str> = lines.split_inclusive('\n').collect();
    for piece in all.chunks(3000) {
        stdin.write_all(piece.concat().as_bytes()).unwrap();
        server.kill();
        server.again();
    }
    drop(stdin);
    assert!(publisher.wait().unwrap().success());
    let mut came = String::new();
    while came.len() < lines.len() {
        let line = sub.raw();
        if !line.contains("\"monitor_") {
            came.push_str(&line);
        }
    }
    assert!(came == lines, "lines are lost, doubled or out of order");
    assert_eq!(sub.stop().code, Some(0));
    let want = format!("{{\"event\":\"first\"}}\n{lines}");
    assert!(drained(&scene, &server, "all") == want, "the stream has other lines");
}

#[test]
fn r03_a_pub_that_is_killed_and_started_again_with_the_same_input_doubles_nothing() {
    let scene = Scene::new();
    let server = Server::start(&scene);
    published(&scene, &server, "{\"event\":\"first\",\"id\":\"0\"}\n");
    let lines = input(20_000);
    scene.write("in", &lines);
    for round in 0..5 {
        let mut publisher = publish(&scene, &server, &[]);
        let mut child = publisher
            .stdin(File::open(scene.join("in")).unwrap())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        pause(Duration::from_millis(30 * round));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    published(&scene, &server, &lines);
    let came = stored(&scene, &server, &[]);
    assert!(came == format!("{{\"event\":\"first\",\"id\":\"0\"}}\n{lines}"), "{}", came.len());
}

/// Runs a sub that wrote lines which it has not acknowledged, as far as the server knows, and kills
/// it. Returns these lines: not all there are when the server stood before it had sent them.
fn written_but_not_acknowledged(scene: &Scene, server: &mut Server, args: &[&str]) -> Vec<String> {
    let mut sub = Running::ready(scene, &mut subscribe(scene, server, args));
    let mut came = vec![sub.raw()];
    server.signal(Signal::SIGSTOP);
    while came.len() < 10
        && let Some(line) = sub.raw_within(Duration::from_secs(2))
    {
        came.push(line);
    }
    if args.contains(&"--dedup") {
        eventually("it is noted", || noted(scene) >= came.len());
    }
    // The acknowledgements are on their way to a server that will never read them.
    server.kill();
    let _ = sub.kill();
    server.again();
    came
}

/// How many lines a sub remembers.
fn noted(scene: &Scene) -> usize {
    let text = fs::read_to_string(scene.join("dedup")).unwrap_or_default();
    let content: Value = serde_json::from_str(&text).unwrap_or_default();
    content["sequence"].as_u64().unwrap_or(0).try_into().unwrap()
}

/// What the next sub prints of ten lines of which one that was killed had written some.
fn again_after_a_kill(dedup: bool) -> Range<usize> {
    let scene = Scene::new();
    let mut server = Server::start(&scene);
    let lines = input(10);
    published(&scene, &server, &lines);
    let file = scene.join("dedup");
    let args: &[&str] = if dedup { &["--dedup", file.to_str().unwrap()] } else { &[] };
    let args = [&["--from", "all"], args].concat();
    let before = written_but_not_acknowledged(&scene, &mut server, &args);
    assert!(lines.starts_with(&before.concat()), "{before:?}");
    let written = if dedup { noted(&scene) } else { before.len() };
    published(&scene, &server, "{\"event\":\"marker\"}\n");
    let mut sub = Running::start(&mut subscribe(&scene, &server, &args));
    let mut again = Vec::new();
    loop {
        let line = sub.raw();
        if line.contains("marker") {
            break;
        }
        again.push(line);
    }
    assert!(lines.ends_with(&again.concat()), "other bytes");
    10 - again.len()..written
}

#[test]
fn r04_a_sub_that_is_killed_between_write_and_ack_repeats_the_same_bytes() {
    let mut rounds = (0..5).map(|_| again_after_a_kill(false));
    let repeats = rounds.any(|lines| {
        assert!(lines.start <= lines.end, "lost: {lines:?}");
        !lines.is_empty()
    });
    assert!(repeats, "no sub was killed in between");
}

#[test]
fn r04_with_dedup_it_repeats_nothing_that_it_remembers() {
    let lines = again_after_a_kill(true);
    assert_eq!(lines.start, lines.end);
}

#[test]
fn r05_without_any_server_all_is_spooled_and_sent_in_order_once_there_is_one() {
    let scene = Scene::new();
    let mut server = Server::planned(&scene, "");
    let lines = input(5_000);
    scene.write("in", &lines);
    let mut publisher = publish(&scene, &server, &["--create", "--drain-timeout", "60"]);
    publisher.stdin(File::open(scene.join("in")).unwrap());
    let mut running = Running::start(&mut publisher);
    let degraded = running.event("monitor_degraded");
    assert_eq!(degraded["reason"], "server_unreachable");
    eventually("everything is in the spool", || has_spooled(&scene, &lines));
    server.again();
    assert_eq!(running.event("monitor_recovered")["reason"], "server_unreachable");
    let ended = running.end();
    assert_eq!((ended.code, ended.lines.len()), (Some(0), 0), "{ended:?}");
    assert!(stored(&scene, &server, &[]) == lines);
    assert_eq!(spooled(&scene), 0);
}

#[test]
fn what_could_not_be_sent_in_time_is_sent_first_by_the_next_run() {
    let scene = Scene::new();
    let mut server = Server::planned(&scene, "");
    scene.write("in", input(3_000));
    let mut publisher = publish(&scene, &server, &["--create", "--drain-timeout", "0.3"]);
    publisher.stdin(File::open(scene.join("in")).unwrap());
    let ended = Running::start(&mut publisher).end();
    assert_eq!(ended.code, Some(4));
    assert_eq!(events(&ended.lines), ["monitor_degraded", "monitor_failed"]);
    assert_eq!(ended.lines[1]["reason"], "not_sent");
    assert!(ended.stderr.starts_with("relay: fatal: unable to send all within 0.3 s"));
    server.again();
    published(&scene, &server, "{\"event\":\"last\"}\n");
    let want = format!("{}{{\"event\":\"last\"}}\n", input(3_000));
    assert!(stored(&scene, &server, &[]) == want, "other lines");
}

#[test]
fn what_a_killed_pub_had_spooled_is_sent_by_the_next_run() {
    let scene = Scene::new();
    let mut server = Server::planned(&scene, "");
    let mut running = Running::start(publish(&scene, &server, &[]).stdin(Stdio::piped()));
    running.event("monitor_degraded");
    let lines = input(3_000);
    let mut stdin = running.stdin().unwrap();
    stdin.write_all(lines.as_bytes()).unwrap();
    eventually("everything is in the spool", || has_spooled(&scene, &lines));
    let _ = running.kill();
    server.again();
    published(&scene, &server, "");
    assert!(stored(&scene, &server, &[]) == lines, "other lines");
}

#[test]
fn r06_a_full_spool_stops_reading_loses_nothing_and_goes_on_after() {
    let scene = Scene::new();
    let mut server = Server::planned(&scene, "");
    let lines = input(4_000);
    let args = ["--create", "--spool-max", "256K", "--drain-timeout", "60"];
    let mut running = Running::start(publish(&scene, &server, &args).stdin(Stdio::piped()));
    let mut stdin = running.stdin().unwrap();
    let fed = lines.clone();
    let feeder = std::thread::spawn(move || stdin.write_all(fed.as_bytes()).unwrap());
    let mut reasons = vec![running.event("monitor_degraded"), running.event("monitor_degraded")];
    assert!(reasons.iter().any(|event| event["reason"] == "spool_full"), "{reasons:?}");
    assert!(!feeder.is_finished(), "it reads on");
    assert!(spooled(&scene) <= 256 << 10);
    server.again();
    reasons.extend([running.event("monitor_recovered"), running.event("monitor_recovered")]);
    feeder.join().unwrap();
    let ended = running.end();
    assert_eq!((ended.code, ended.lines.len()), (Some(0), 0), "{ended:?}");
    assert!(stored(&scene, &server, &[]) == lines);
}

#[test]
fn r07_the_leader_of_three_servers_is_killed_and_no_line_is_lost() {
    let scene = Scene::new();
    let mut servers = Server::cluster(&scene);
    let urls: Vec<String> = servers.iter().map(Server::url).collect();
    let urls = urls.join(",");
    let lines = input(20_000);
    let mut publisher = relay(&scene, &["pub", "--stream", "fleet", "--create", "--replicas", "3"]);
    publisher.args(["--server", &urls, "--drain-timeout", "60"]).stdin(Stdio::piped());
    let mut running = Running::start(&mut publisher);
    let mut stdin = running.stdin().unwrap();
    let half = lines[..lines.len() / 2].rfind('\n').unwrap() + 1;
    let (head, tail) = lines.split_at(half);
    stdin.write_all(head.as_bytes()).unwrap();
    let mut sub = relay(&scene, &["sub", "--stream", "fleet", "--durable", "d", "--from", "all"]);
    sub.args(["--server", &urls, "--ack-wait", "2"]);
    eventually("the stream is there", || {
        let mut once = relay(&scene, &["sub", "--stream", "fleet", "--durable", "probe", "--once"]);
        once.args(["--server", &urls]).output().unwrap().status.success()
    });
    let leader = leader(&urls);
    let tail = tail.to_owned();
    let feeder = std::thread::spawn(move || stdin.write_all(tail.as_bytes()));
    servers[leader].kill();
    let fed = feeder.join().unwrap();
    let ended = running.end();
    assert!(fed.is_ok(), "{ended:?}");
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let mut missing: HashSet<&str> = lines.split_inclusive('\n').collect();
    let mut sub = Running::start(&mut sub);
    while !missing.is_empty() {
        missing.remove(&*sub.raw());
    }
    drop(sub);
    drop(servers);
}

/// Which of the servers leads the stream, by its name n0, n1, n2.
fn leader(urls: &str) -> usize {
    let servers: Vec<async_nats::ServerAddr> =
        urls.split(',').map(|url| url.parse().unwrap()).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let ask = async || {
        let client = async_nats::connect(servers.clone()).await.ok()?;
        let stream = async_nats::jetstream::new(client).get_stream("fleet").await.ok()?;
        stream.cached_info().cluster.as_ref()?.leader.clone()
    };
    let mut leader = String::new();
    eventually("the stream has a leader", || {
        leader = runtime.block_on(ask()).unwrap_or_default();
        !leader.is_empty()
    });
    leader.strip_prefix('n').unwrap().parse().unwrap()
}

/// A third of the rounds for each of the three, one after the other, at moments that chance picks.
#[test]
fn killing_server_pub_and_sub_at_random_moments_loses_no_line() {
    let scene = Scene::new();
    let mut server = Server::start(&scene);
    published(&scene, &server, "{\"event\":\"first\"}\n");
    let out = scene.join("out");
    let open = || fs::OpenOptions::new().create(true).append(true).open(&out).unwrap();
    let reader = |server: &Server| {
        subscribe(&scene, server, &["--from", "all", "--ack-wait", "1"])
            .stdout(open())
            .spawn()
            .unwrap()
    };
    let mut sub = reader(&server);
    let rounds = 30;
    let lines = input(600 * rounds);
    let all: Vec<&str> = lines.split_inclusive('\n').collect();
    for (round, piece) in all.chunks(600).enumerate() {
        let number = u64::try_from(round).unwrap();
        scene.write("in", piece.concat());
        let start = |server: &Server| {
            let mut publisher = publish(&scene, server, &["--drain-timeout", "30"]);
            publisher
                .stdin(File::open(scene.join("in")).unwrap())
                .stdout(Stdio::null())
                .spawn()
                .unwrap()
        };
        let mut publisher = start(&server);
        pause(Duration::from_millis(number * 7919 % 60));
        match round % 3 {
            0 => {
                server.kill();
                server.again();
            }
            1 => {
                publisher.kill().unwrap();
                publisher.wait().unwrap();
                publisher = start(&server);
            }
            _ => {
                sub.kill().unwrap();
                sub.wait().unwrap();
                sub = reader(&server);
            }
        }
        assert!(publisher.wait().unwrap().success());
    }
    let mut missing: HashSet<&str> = all.iter().copied().collect();
    eventually("every line is there", || {
        let came = fs::read_to_string(&out).unwrap_or_default();
        came.split_inclusive('\n').for_each(|line| {
            missing.remove(line);
        });
        missing.is_empty()
    });
    sub.kill().unwrap();
    sub.wait().unwrap();
    assert!(drained(&scene, &server, "all").ends_with(&lines), "the stream has other lines");
}

/// Whether the last of `lines` is in the spool.
fn has_spooled(scene: &Scene, lines: &str) -> bool {
    let last = lines.trim_end().rsplit('\n').next().unwrap();
    let Ok(entries) = fs::read_dir(scene.join("store/relay/fleet")) else { return false };
    let mut texts = entries.filter_map(|entry| fs::read_to_string(entry.ok()?.path()).ok());
    texts.any(|text| text.contains(&format!("{last}\n")))
}

/// How many bytes of lines are in the spool.
fn spooled(scene: &Scene) -> u64 {
    let Ok(entries) = fs::read_dir(scene.join("store/relay/fleet")) else { return 0 };
    let segments = entries
        .filter_map(Result::ok)
        .filter(|entry| entry.path().extension().is_some_and(|extension| extension == "spool"));
    segments.filter_map(|entry| entry.metadata().ok()).map(|meta| meta.len()).sum()
}
