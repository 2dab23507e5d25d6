//! The kinds end to end: `probe-watch --emit readings … | wake`.

use std::process::Stdio;

use serde_json::{Value, json};
use tests::{Ended, Running, Scene, built, root};

/// Something for `kind` to look at in `scene`; the target that names it.
pub(crate) fn fixture(scene: &Scene, kind: &str) -> String {
    match kind {
        "workflow-run" => {
            run(scene, "completed", Some("success"));
            "https://ci.example/runs/42".to_owned()
        }
        "queue-depth" => {
            fill(scene, 120);
            "mail".to_owned()
        }
        "ledger" => ledger(scene, &["accepted", "accepted"]),
        other => panic!("say here what {other} looks at"),
    }
}

/// Writes what is told of run 42.
fn run(scene: &Scene, status: &str, conclusion: Option<&str>) {
    let _ = scene.dir("ci.example");
    let run = json!({"id": "ci.example/42", "name": "build", "head": "9f2c", "status": status,
        "conclusion": conclusion, "jobs": [{"name": "lint", "conclusion": null}]});
    scene.replace("ci.example/42.json", run.to_string());
}

/// Makes the queue have `depth` jobs, in one step.
fn fill(scene: &Scene, depth: usize) {
    let jobs = scene.dir(&format!("jobs-{depth}"));
    for n in 0..depth {
        scene.write(&format!("jobs-{depth}/{n}"), "");
    }
    std::os::unix::fs::symlink(jobs, scene.join("next")).unwrap();
    std::fs::rename(scene.join("next"), scene.join("mail")).unwrap();
}

/// A ledger with an entry in each of `states`; its path.
fn ledger(scene: &Scene, states: &[&str]) -> String {
    let line = |(n, state): (usize, &&str)| format!("entry-{n} {state}\n");
    scene.replace("book", states.iter().enumerate().map(line).collect::<String>());
    scene.join("book").display().to_string()
}

/// Starts the two programs; what `wake` says can be read. The probe looks `--once`, unless told
/// otherwise.
fn through(scene: &Scene, kind: &str, args: &[&str]) -> (Running, std::process::Child) {
    let store = scene.join("store");
    let mut source = built("probe-watch");
    source.current_dir(scene.path()).env("DOORBELL_STORE", &store);
    source.arg("--probe").arg(root().join("tests/kinds").join(kind));
    source.args(["--emit", "readings"]).args(args).stdout(Stdio::piped());
    let mut source = source.spawn().unwrap();
    let mut filter = built("wake");
    filter.args(["--watch", "w", "--verbose"]).env("DOORBELL_STORE", &store);
    filter.stdin(source.stdout.take().unwrap());
    (Running::start(&mut filter), source)
}

fn once(scene: &Scene, kind: &str, args: &[&str]) -> Ended {
    let (running, mut source) = through(scene, kind, &[args, &["--once"]].concat());
    let ended = running.end();
    source.wait().unwrap();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    ended
}

/// The one line of a look at run 42: event, decision and reason.
fn told_of_run(scene: &Scene) -> [String; 3] {
    let target = "https://ci.example/runs/42";
    let root = format!("root={}", scene.path().display());
    let ended = once(scene, "workflow-run", &[target, "--set", &root]);
    assert_eq!(ended.lines.len(), 1, "{:?}", ended.lines);
    short(&ended.lines[0])
}

fn short(line: &Value) -> [String; 3] {
    ["event", "decision", "reason"].map(|name| line[name].as_str().unwrap_or_default().to_owned())
}

#[test]
fn k01_k02_a_run_ends_as_it_ended() {
    for (conclusion, want) in [
        ("success", ["wake", "stop_success", "run_succeeded"]),
        ("failure", ["wake", "stop_blocked", "run_failed"]),
    ] {
        let scene = Scene::new();
        run(&scene, "completed", Some(conclusion));
        assert_eq!(told_of_run(&scene), want);
    }
}

#[test]
fn k03_a_run_in_progress_is_nothing_to_tell() {
    let scene = Scene::new();
    run(&scene, "in_progress", None);
    assert_eq!(told_of_run(&scene), ["verdict", "record_only", "pending"]);
}

#[test]
fn k04_a_conclusion_never_heard_of_is_no_success() {
    let scene = Scene::new();
    run(&scene, "completed", Some("levitated"));
    assert_eq!(told_of_run(&scene), ["wake", "stop_blocked", "run_conclusion_unknown"]);
}

#[test]
fn k05_an_answer_for_another_run_is_none() {
    let scene = Scene::new();
    run(&scene, "completed", Some("success"));
    let text = std::fs::read_to_string(scene.join("ci.example/42.json")).unwrap();
    scene.replace("ci.example/42.json", text.replace("ci.example/42", "ci.example/43"));
    assert_eq!(told_of_run(&scene), ["verdict", "retry_provider", "transient"]);
}

#[test]
fn k06_an_objective_of_another_kind_is_refused() {
    let scene = Scene::new();
    let target = fixture(&scene, "workflow-run");
    let mut program = built("probe-watch");
    program.args(["--probe"]).arg(root().join("tests/kinds/workflow-run"));
    program.args(["--objective", "all-accepted", &target]).current_dir(scene.path());
    let ended = Running::start(&mut program).end();
    assert_eq!((ended.code, ended.lines.len()), (Some(1), 0));
    assert!(
        ended.stderr.contains("all-accepted: a workflow-run has run_complete"),
        "{}",
        ended.stderr
    );
}

#[test]
fn k07_a_queue_is_told_again_after_it_was_low() {
    let scene = Scene::new();
    fill(&scene, 120);
    let args = ["mail", "--set", "limit=100", "--poll-interval", "1"];
    let (mut running, mut source) = through(&scene, "queue-depth", &args);
    assert_eq!(short(&running.line()), ["wake", "wake_actionable", "changed"]);
    let mut seen = Vec::new();
    let mut is_low = false;
    loop {
        let line = running.line();
        let [event, decision, _] = short(&line);
        if event == "wake" {
            assert_eq!(decision, "wake_actionable");
            assert!(is_low, "told again without having been low: {seen:?}");
            break;
        }
        seen.push(decision.clone());
        match &*decision {
            "no_change" if !is_low => {
                fill(&scene, 20);
                is_low = true;
            }
            "record_only" | "no_change" if is_low && line["masked"] == 0 => fill(&scene, 130),
            _ => {}
        }
    }
    assert!(seen.iter().all(|decision| decision == "no_change" || decision == "record_only"));
    assert_eq!(running.stop().code, Some(0));
    assert!(source.wait().unwrap().success());
}

#[test]
fn k08_a_ledger_ends_by_its_objective() {
    for (objective, states, want) in [
        ("all-accepted", ["accepted", "accepted"], ["wake", "stop_success", "ledger-accepted"]),
        ("all-closed", ["accepted", "rejected"], ["wake", "stop_blocked", "ledger-closed"]),
    ] {
        let scene = Scene::new();
        let book = ledger(&scene, &states);
        let ended = once(&scene, "ledger", &[&book, "--objective", objective]);
        assert_eq!(ended.lines.iter().map(short).collect::<Vec<_>>(), [want]);
    }
}
