//! What does not fit, and what is said of it.

use std::{fs::File, process::Stdio};

use nix::sys::signal::Signal;
use tests::{Running, Scene, eventually, lines};

use crate::{Server, events, input, publish, published, relay, stored, subscribe};

#[test]
fn r08_bad_credentials_exit_2_and_say_no_secret() {
    let scene = Scene::new();
    let users = "authorization { users: [ { user: a, password: right-secret } ] }";
    let server = Server::with(&scene, users);
    for (user, code) in [("a:wrong-secret@", 2), ("", 2), ("a:right-secret@", 3)] {
        let url = format!("nats://{user}127.0.0.1:{}", server.port);
        for args in [&["pub"][..], &["sub", "--durable", "d"]] {
            let mut command = relay(&scene, args);
            scene.write("in", "{}\n");
            command.args(["--stream", "fleet"]).env("NATS_URL", &url);
            command.stdin(File::open(scene.join("in")).unwrap());
            let ended = Running::start(&mut command).end();
            assert_eq!(ended.code, Some(code), "{ended:?}");
            assert_eq!(events(&ended.lines), ["monitor_failed"]);
            assert!(!format!("{ended:?}").contains("-secret"), "{ended:?}");
        }
    }
    scene.write("creds", "no credentials: s3cret-seed");
    for file in ["creds", "none"] {
        let path = scene.join(file);
        let mut command = subscribe(&scene, &server, &["--creds", path.to_str().unwrap()]);
        let ended = Running::start(&mut command).end();
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(!format!("{ended:?}").contains("s3cret"), "{ended:?}");
    }
}

#[test]
fn r08_a_missing_stream_exits_3() {
    let scene = Scene::new();
    let server = Server::start(&scene);
    for args in [&["pub"][..], &["sub", "--durable", "d"]] {
        let mut command = relay(&scene, args);
        scene.write("in", "{}\n");
        command.args(["--stream", "none", "--server", &server.url()]);
        let ended = Running::start(command.stdin(File::open(scene.join("in")).unwrap())).end();
        assert_eq!(ended.code, Some(3), "{ended:?}");
        assert_eq!(ended.lines[0]["reason"], "stream_missing");
        assert_eq!(ended.stderr, "relay: fatal: unable to find the stream none\n");
    }
}

/// A line of so many bytes.
fn sized(size: usize) -> String {
    format!("{{\"event\":\"{}\"}}", "x".repeat(size - 12))
}

#[test]
fn r08_a_line_beyond_max_payload_is_skipped_and_counted() {
    let scene = Scene::new();
    let server = Server::with(&scene, "max_payload: 2000");
    let text = format!("{{}}\n{}\n{}\nno\n[1]\n", sized(2100), sized(1860));
    scene.write("in", &text);
    let mut publisher = publish(&scene, &server, &["--create", "--subject", "a.b"]);
    let ended = Running::start(publisher.stdin(File::open(scene.join("in")).unwrap())).end();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let told: Vec<_> = ended.lines.iter().map(|line| (&line["event"], &line["count"])).collect();
    let counts: u64 = ended.lines.iter().map(|line| line["count"].as_u64().unwrap()).sum();
    assert!(told.iter().all(|(event, _)| **event == "input_malformed"), "{told:?}");
    assert_eq!(counts, 3);
    assert!(ended.lines.iter().any(|line| line["reason"] == "too_long" || line["count"] != 1));
    assert_eq!(stored(&scene, &server, &[]), format!("{{}}\n{}\n", sized(1860)));
}

#[test]
fn a_line_of_any_size_around_the_limit_is_stored_or_told() {
    let scene = Scene::new();
    let server = Server::with(&scene, "max_payload: 1000");
    let text: String = (850..1010).flat_map(|size| [sized(size), "\n".to_owned()]).collect();
    scene.write("in", &text);
    let mut publisher = publish(&scene, &server, &["--create"]);
    publisher.stdin(File::open(scene.join("in")).unwrap());
    let ended = Running::start(&mut publisher).end();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let skipped: u64 = ended.lines.iter().map(|line| line["count"].as_u64().unwrap()).sum();
    let came = stored(&scene, &server, &[]);
    assert!(text.starts_with(&came));
    assert_eq!(came.lines().count() as u64 + skipped, 160);
    // The message id and the stream's name, with the names of both headers, take the rest.
    assert!(came.lines().last().unwrap().len() > 880, "{}", came.lines().last().unwrap().len());
}

#[test]
fn what_a_stream_refuses_waits_until_it_is_taken() {
    let scene = Scene::new();
    let server = Server::start(&scene);
    published(&scene, &server, "{\"event\":\"first\"}\n");
    let mut publisher = publish(&scene, &server, &["--subject", "other.{source}"]);
    scene.write("in", "{}\n");
    let ended = Running::start(publisher.stdin(File::open(scene.join("in")).unwrap())).end();
    assert_eq!(ended.code, Some(4));
    assert!(ended.stderr.contains("the stream fleet takes doorbell.*.*"), "{}", ended.stderr);
    assert_eq!(stored(&scene, &server, &[]), "{\"event\":\"first\"}\n");
    // The line is in the spool, and a template that fits gives it another subject.
    let ended = Running::start(publish(&scene, &server, &[]).stdin(Stdio::null())).end();
    assert_eq!((ended.code, &ended.lines), (Some(0), &Vec::new()), "{ended:?}");
    assert_eq!(stored(&scene, &server, &[]), "{}\n");
}

#[test]
fn a_second_reader_of_a_durable_says_so_and_exits_4_unless_both_share() {
    let scene = Scene::new();
    let server = Server::start(&scene);
    published(&scene, &server, "{\"event\":\"first\"}\n");
    let first = Running::ready(&scene, &mut subscribe(&scene, &server, &[]));
    let ended = Running::start(&mut subscribe(&scene, &server, &[])).end();
    assert_eq!(ended.code, Some(4));
    assert!(ended.stderr.contains("another reader has it"), "{}", ended.stderr);
    assert_eq!(ended.lines[0]["reason"], "durable_taken");
    assert_eq!(first.stop().code, Some(0));

    let share = ["--share", "--from", "all"];
    let mut one = Running::ready(&scene, &mut subscribe(&scene, &server, &share));
    let mut other = Running::ready(&scene, &mut subscribe(&scene, &server, &share));
    published(&scene, &server, &input(2_000));
    let mut came = Vec::new();
    eventually("all lines came", || {
        came.extend(one.so_far());
        came.extend(other.so_far());
        came.len() == 2_000
    });
}

#[test]
fn a_second_pub_needs_a_spool_of_its_own() {
    let scene = Scene::new();
    let server = Server::planned(&scene, "");
    let first = Running::ready(&scene, publish(&scene, &server, &[]).stdin(Stdio::piped()));
    let ended = Running::start(publish(&scene, &server, &[]).stdin(Stdio::null())).end();
    assert_eq!(ended.code, Some(4));
    assert!(ended.stderr.contains(&format!("held by pid {}", first.pid())), "{}", ended.stderr);
    let spool = scene.join("other");
    let mut own = publish(&scene, &server, &["--spool", spool.to_str().unwrap()]);
    assert_eq!(Running::start(own.stdin(Stdio::null())).end().code, Some(0));
}

#[test]
fn a_subject_and_a_start_choose_what_is_read() {
    let scene = Scene::new();
    let server = Server::start(&scene);
    let text = concat!(
        "{\"event\":\"x\",\"source\":\"a\"}\n",
        "{\"event\":\"x\",\"source\":\"a.b *>\"}\n",
        "{\"event\":\"x\"}\n"
    );
    published(&scene, &server, text);
    let of = |filter: &str, durable: &str, from: &str| {
        let mut sub = relay(&scene, &["sub", "--stream", "fleet", "--durable", durable, "--once"]);
        sub.args(["--server", &server.url(), "--subject", filter, "--from", from]);
        String::from_utf8(sub.output().unwrap().stdout).unwrap()
    };
    let all: Vec<&str> = text.split_inclusive('\n').collect();
    assert_eq!(of("doorbell.*.a", "a", "all"), all[0]);
    assert_eq!(of("doorbell.*.a_b___", "b", "all"), all[1]);
    assert_eq!(of("doorbell.*.unknown", "c", "all"), all[2]);
    assert_eq!(of(">", "d", "2"), all[1..].concat());
    assert_eq!(of(">", "e", "2020-01-01T00:00:00Z"), text);
    assert_eq!(of(">", "f", "new"), "");
}

#[test]
fn several_filters_are_refused_by_a_server_that_would_pass_over_them() {
    let scene = Scene::new();
    let server = Server::start(&scene);
    published(&scene, &server, "{\"event\":\"x\",\"source\":\"a\"}\n{\"event\":\"y\"}\n");
    let filters = ["--subject", "doorbell.*.a", "--subject", "doorbell.*.b", "--from", "all"];
    let out = subscribe(&scene, &server, &[&filters[..], &["--once"]].concat()).output().unwrap();
    // A server from 2.10 on knows them.
    let stderr = String::from_utf8(out.stderr).unwrap();
    match out.status.code() {
        Some(0) => assert_eq!(lines(&out.stdout).len(), 1),
        code => assert!(code == Some(4) && stderr.contains("from 2.10 on"), "{stderr}"),
    }
}

#[test]
fn annotations_say_where_a_line_was() {
    let scene = Scene::new();
    let server = Server::start(&scene);
    published(&scene, &server, "{\"event\":\"x\"}\n");
    let line = stored(&scene, &server, &["--annotate"]);
    let start = r#"{"event":"x","relay_stream":"fleet","relay_seq":1,"relay_received_at":"20"#;
    assert!(line.starts_with(start) && line.ends_with("Z\"}\n"), "{line}");
}

#[test]
fn a_reader_that_leaves_and_signals_end_it_with_0_and_leave_the_rest() {
    let scene = Scene::new();
    let server = Server::start(&scene);
    published(&scene, &server, &input(5_000));
    let mut sub = subscribe(&scene, &server, &["--from", "all", "--ack-wait", "1"]);
    let mut child = sub.stdout(Stdio::piped()).spawn().unwrap();
    let mut first = [0; 100];
    std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut first).unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let rest = subscribe(&scene, &server, &["--once"]).output().unwrap().stdout;
    assert!(input(5_000).as_bytes().ends_with(&rest) && rest.len() > 1000, "{}", rest.len());

    for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP] {
        let sub = Running::ready(&scene, &mut subscribe(&scene, &server, &[]));
        sub.signal(signal);
        let ended = sub.end();
        assert_eq!((ended.code, &*ended.stderr), (Some(0), ""));
        let publisher = Running::ready(&scene, publish(&scene, &server, &[]).stdin(Stdio::piped()));
        publisher.signal(signal);
        let ended = publisher.end();
        assert_eq!((ended.code, &*ended.stderr), (Some(0), ""));
    }
}

#[test]
fn once_without_a_server_is_incomplete() {
    let scene = Scene::new();
    let server = Server::planned(&scene, "");
    let ended = Running::start(&mut subscribe(&scene, &server, &["--once"])).end();
    assert_eq!((ended.code, events(&ended.lines)), (Some(4), vec!["monitor_degraded".to_owned()]));
}

#[test]
fn a_run_ends_after_its_time_and_with_its_parent() {
    let scene = Scene::new();
    let server = Server::start(&scene);
    published(&scene, &server, "{}\n");
    for time in [true, false] {
        for command in [subscribe(&scene, &server, &[]), publish(&scene, &server, &[])] {
            let mut command = command;
            // The pid of a process that is gone: one that we have waited for.
            let mut gone = tests::command("true").spawn().unwrap();
            gone.wait().unwrap();
            if time {
                command.args(["--max-runtime", "0.2"]);
            } else {
                command.args(["--parent-pid", &gone.id().to_string()]);
            }
            let ended = Running::start(command.stdin(Stdio::piped())).end();
            assert_eq!(ended.code, Some(0), "{ended:?}");
            let want: &[&str] = if time { &["monitor_stopped"] } else { &[] };
            assert_eq!(events(&ended.lines), want);
        }
    }
}

#[test]
fn tls_needs_the_authority_that_signed_for_the_server() {
    let scene = Scene::new();
    // An authority, and a server's key that it signed for the loopback.
    let script = r#"set -e
        key="-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"
        openssl req -x509 $key -keyout ca.key -out ca.pem -subj /CN=ca -days 3650
        openssl req $key -keyout key.pem -out csr -subj /CN=server
        echo subjectAltName=IP:127.0.0.1 >extensions
        openssl x509 -req -in csr -CA ca.pem -CAkey ca.key -CAcreateserial -out cert.pem \
            -days 3650 -extfile extensions"#;
    let made = tests::command("sh").args(["-c", script]).current_dir(scene.path()).output();
    assert!(made.unwrap().status.success(), "openssl has to be installed");
    let (cert, key) = (scene.join("cert.pem"), scene.join("key.pem"));
    let tls =
        format!("tls {{ cert_file: \"{}\", key_file: \"{}\" }}", cert.display(), key.display());
    let server = Server::with(&scene, &tls);
    let ca = scene.join("ca.pem");
    let trust = ["--tls-ca", ca.to_str().unwrap()];
    scene.write("in", "{}\n");
    let mut publisher = publish(&scene, &server, &["--create"]);
    publisher.args(trust).stdin(File::open(scene.join("in")).unwrap());
    assert_eq!(Running::start(&mut publisher).end().code, Some(0));
    assert_eq!(stored(&scene, &server, &trust), "{}\n");
    let ended = Running::start(&mut subscribe(&scene, &server, &["--once"])).end();
    assert_eq!(ended.code, Some(4));
    let detail = ended.lines[0]["detail"].as_str().unwrap();
    assert!(detail.contains("certificate"), "{detail}");
}
