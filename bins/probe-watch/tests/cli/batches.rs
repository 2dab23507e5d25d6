//! Who is asked together, and what the probe is told.

use serde_json::{Value, json};

use crate::world::{ASKED, World};

/// Answers for all who are asked for.
const ALL: &str = r#"
for request in requests/*-$$; do tr '{' '\n' <$request | sed -n 's/.*"id":"\([^"]*\)".*/{"subject":"\1"}/p'; done
"#;

fn ids(request: &Value) -> Vec<&str> {
    let subjects = request["subjects"].as_array().unwrap();
    subjects.iter().map(|subject| subject["id"].as_str().unwrap()).collect()
}

fn numbers(count: usize) -> Vec<String> {
    (0..count).map(|n| format!("s{n}")).collect()
}

#[test]
fn p07_p08_an_invocation_is_for_25() {
    for (count, want) in [(50, vec![25, 25]), (26, vec![1, 25])] {
        let world = World::new(ALL);
        let targets = numbers(count);
        let targets: Vec<&str> = targets.iter().map(|target| &**target).collect();
        let ended = world.look(&targets);
        assert_eq!((ended.code, ended.lines.len()), (Some(0), count), "{}", ended.stderr);
        let mut sizes: Vec<usize> =
            world.requests().iter().map(|request| ids(request).len()).collect();
        sizes.sort_unstable();
        assert_eq!(sizes, want);
    }
}

#[test]
fn p08_two_hosts_are_never_asked_together() {
    let world = World::new(ALL);
    world.scene.write("row", ASKED);
    let identity =
        r#"for t; do echo "{\"target\":\"$t\",\"id\":\"$t\",\"host\":\"${t%/*}\"}"; done"#;
    world.scene.write("identity", identity);
    let ended = world.look(&["a/1", "b/1", "a/2", "b/2"]);
    assert_eq!((ended.code, ended.lines.len()), (Some(0), 4), "{}", ended.stderr);
    let mut asked: Vec<(String, Vec<String>)> = Vec::new();
    for request in world.requests() {
        let ids = ids(&request).iter().map(|id| (*id).to_owned()).collect();
        asked.push((request["host"].as_str().unwrap().to_owned(), ids));
    }
    asked.sort();
    let of = |host: &str| (host.to_owned(), vec![format!("{host}/1"), format!("{host}/2")]);
    assert_eq!(asked, [of("a"), of("b")]);
}

#[test]
fn p09_the_same_subject_twice_is_read_once() {
    let world = World::new(ALL);
    world.scene.write("row", ASKED);
    world.scene.write("identity", r#"for t; do echo "{\"target\":\"$t\",\"id\":\"x\"}"; done"#);
    let ended = world.look(&["A", "a"]);
    assert_eq!((ended.code, ended.lines.len()), (Some(0), 1));
    assert_eq!(
        world.requests()[0]["subjects"],
        json!([{"id": "x", "target": "A", "previous": null}])
    );
}

#[test]
fn a_request_says_all_that_the_probe_has_to_know() {
    let first = r#"{"subject":"A","revision":"9f2c","facts":{"status":"busy"}}"#;
    let world = World::saying(&[first, r#"{"subject":"A","complete":false}"#]);
    let row = r#"{"protocol":1,"kind":"basin","target_pattern":".","objectives":["full","empty"],
        "options":{"limit":"integer","root":"string"},"min_interval_seconds":1,"timeout_seconds":7}"#;
    world.scene.write("row", row);
    let set = ["--set", "limit=100", "--set", "root=/x=y", "--emit", "readings"];
    let mut running = world.start(&[&["A"], &set[..]].concat());
    (0..3).for_each(|_| drop(running.event("reading")));
    assert_eq!(running.stop().code, Some(0));
    let requests = world.requests();
    let request = &requests[0];
    assert_eq!(
        [&request["protocol"], &request["kind"], &request["objective"], &request["timeout_ms"]],
        [&json!(1), &json!("basin"), &json!("full"), &json!(7000)]
    );
    assert_eq!(
        (&request["host"], &request["options"]),
        (&json!(""), &json!({"limit": 100, "root": "/x=y"}))
    );
    assert!(request["now"].as_str().unwrap().ends_with('Z'));
    assert_eq!(request["subjects"], json!([{"id": "A", "target": "A", "previous": null}]));
    // The last whole answer, whatever came after it.
    for request in &requests[1..3] {
        let previous = &request["subjects"][0]["previous"];
        assert_eq!(
            (&previous["revision"], &previous["facts"]),
            (&json!("9f2c"), &json!({"status": "busy"}))
        );
    }
}

#[test]
fn p19_as_many_run_at_once_as_there_are_jobs() {
    // The first four end only when four have begun.
    let world = World::new(
        r#"
mkdir -p begun runs; : >begun/$$; : >runs/$$; ls runs | wc -l >count.$$
until [ $(ls begun | wc -l) -ge 4 ]; do sleep 0.05; done
sleep 0.2
sed 's/.*"subjects":\[{"id":"\([^"]*\)".*/{"subject":"\1"}/' requests/*-$$; rm runs/$$
"#,
    );
    world.scene.write("row", ASKED);
    let identity = r#"for t; do echo "{\"target\":\"$t\",\"id\":\"$t\",\"host\":\"$t\"}"; done"#;
    world.scene.write("identity", identity);
    let targets = numbers(10);
    let targets: Vec<&str> = targets.iter().map(|target| &**target).collect();
    let ended = world.look(&targets);
    assert_eq!((ended.code, ended.lines.len()), (Some(0), 10), "{:?}", ended.lines);
    let counts = std::fs::read_dir(world.scene.path()).unwrap().filter_map(|entry| {
        let path = entry.unwrap().path();
        path.extension().filter(|_| path.file_stem().is_some_and(|stem| stem == "count"))?;
        std::fs::read_to_string(&path).unwrap().trim().parse::<u32>().ok()
    });
    let counts: Vec<u32> = counts.collect();
    assert_eq!(counts.len(), 10);
    assert!(counts.iter().all(|count| *count <= 4), "{counts:?}");
}

#[test]
fn p16_no_shell_sees_a_target() {
    let world = World::new(r#"sed 's/.*"id":"\([^"]*\)".*/{"subject":"\1"}/' requests/*-$$"#);
    let ended = world.look(&["$(touch p)"]);
    assert_eq!((ended.code, &ended.lines[0]["subject"]), (Some(0), &json!("$(touch p)")));
    assert!(!world.scene.join("p").exists());

    world.scene.write("row", ASKED);
    world.scene.write("identity", r#"echo "{\"target\":\"$1\",\"id\":\"x\"}""#);
    world.observe(r#"echo '{"subject":"x"}'"#);
    assert_eq!(world.look(&["$(touch p)"]).code, Some(0));
    assert!(!world.scene.join("p").exists());
}
