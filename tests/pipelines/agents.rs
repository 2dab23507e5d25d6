//! The agents' programs joined as their page joins them: three sources in one pipe, a lead and a
//! consultant behind it, and an agent in a pane of its own.

use std::{fs, path::Path};

use serde_json::Value;
use tests::{Running, Scene, built, command, eventually, tmux::Tmux};

/// The page's example, with an agent that waits to be told, sources that say when they see and end
/// with the shell whatever happens, and an end that says how it went.
const WIRING: &str = r#"
set -o pipefail
D=$PWD/.bmb/run; mkdir -p "$D"; R=$D/exec-result.md
P=$(tmux split-window -t "$TMUX_PANE" -dPF '#{pane_id}' \
  "$BIN/supervise exec --record $D/executor.pid -- sh $PWD/agent $R")
printf '{"agent":"executor","step":"5","result_path":"%s","pid_file":"%s","progress_paths":["%s"],"timeout_sec":1200,"started_at_epoch":%s,"pane":"%s"}\n' \
  "$R" "$D/executor.pid" "$D/executor.log" "$(date +%s)" "$P" >> "$D/watch.ndjson"

{ agent-watch --parent-pid $$ --items "$D/watch.ndjson" &
  pane-watch --parent-pid $$ --announce --items "$D/watch.ndjson" --known-file .bmb/consultant-pane-id &
  feed-watch --parent-pid $$ --announce --items "$D/watch.ndjson" .bmb/consultant-feed.md & wait; } |
  tee -p >(classify --audience consultant --format consultant >> "$D/consultant.ndjson") |
  nudge --acks "$D/watch.ndjson" | classify --audience lead --format lead
echo "ended $?"
"#;

/// Writes its result once `go` is there, and lives on until `end` is.
const AGENT: &str = r#"
until [ -e go ]; do sleep 0.05; done
echo 'PASS' > "$1.tmp"; mv "$1.tmp" "$1"
until [ -e end ]; do sleep 0.05; done
"#;

const ITEMS: &str = ".bmb/run/watch.ndjson";

/// The next line to the lead that says this.
fn lead_hears(lead: &mut Running, what: &str) -> String {
    loop {
        let line = lead.raw();
        if line.contains(what) {
            return line;
        }
    }
}

fn consultant(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn start(scene: &Scene) -> Running {
    let tmux = Tmux::start(scene);
    let agent_watch = built("agent-watch");
    let bin = Path::new(agent_watch.get_program()).parent().unwrap().to_owned();
    scene.write("agent", AGENT);
    scene.append(".bmb/consultant-feed.md", "hello\n");
    let mut bash = command("bash");
    bash.args(["-c", WIRING]).current_dir(scene.path()).env("BIN", &bin);
    let path = std::env::var("PATH").unwrap();
    bash.env("PATH", format!("{}:{path}", bin.display()));
    bash.env("TMUX", format!("{},1,0", tmux.socket())).env("TMUX_PANE", &tmux.pane);
    scene.hold(tmux);
    Running::start(&mut bash)
}

/// Registers a tester that would tell everything if the phase weren't blind.
fn register(scene: &Scene, step: &str, result: &str) {
    let run = scene.join(".bmb/run");
    let (result, pid) = (run.join(result), run.join("tester.pid"));
    let line = format!(
        "{{\"agent\":\"tester\",\"step\":\"{step}\",\"result_path\":\"{}\",\"pid_file\":\"{}\",\"consultant_reporting\":\"full\"}}\n",
        result.display(),
        pid.display()
    );
    scene.append(ITEMS, line);
}

/// What is told of a result, but for the time.
fn complete(scene: &Scene, agent: &str, step: &str, result: &str) -> Value {
    serde_json::json!({
        "event": "agent_complete", "step": step, "agent": agent, "source": "monitor",
        "result": scene.join(".bmb/run").join(result).display().to_string(),
    })
}

#[test]
fn a_lead_hears_all_and_a_consultant_what_the_phase_allows() {
    let scene = Scene::new();
    let heard = scene.dir(".bmb/run").join("consultant.ndjson");
    let mut lead = start(&scene);
    for _ in 0..3 {
        let armed = lead_hears(&mut lead, "state=monitor_armed");
        assert!(armed.starts_with("[MONITOR] agent=- step=- state=monitor_armed ts="), "{armed}");
    }

    scene.write("go", "");
    let ready = lead_hears(&mut lead, "state=result_ready");
    let result = scene.join(".bmb/run/exec-result.md").display().to_string();
    let want = format!("[MONITOR] agent=executor step=5 state=result_ready file={result} ts=");
    assert!(ready.starts_with(&want), "{ready}");
    eventually("the consultant hears it too", || consultant(&heard).len() == 1);

    // A tester in a blind phase: that it is done, and not what it found or how it ended.
    scene.append(ITEMS, "{\"blind_phase\":true}\n");
    let mut tester = command("sleep").arg("1000").spawn().unwrap();
    scene.replace(".bmb/run/tester.pid", tester.id().to_string());
    for (step, result) in [("6", "test-result.md"), ("7", "never.md")] {
        register(&scene, step, result);
        lead_hears(&mut lead, &format!("agent=tester step={step} state=item_registered"));
    }
    scene.replace(".bmb/run/test-result.md", "FAIL: 3 of 9\n");
    lead_hears(&mut lead, "agent=tester step=6 state=result_ready");
    tester.kill().unwrap();
    tester.wait().unwrap();
    lead_hears(&mut lead, "agent=tester step=7 state=process_died");
    scene.append(".bmb/consultant-feed.md", "more\n");
    eventually("the consultant hears of the feed", || consultant(&heard).len() == 3);

    scene.append(ITEMS, "{\"shutdown_request\":true}\n");
    lead_hears(&mut lead, "state=monitor_stopped reason=shutdown_request");
    lead_hears(&mut lead, "ended 0");
    scene.write("end", "");
    let mut told = consultant(&heard);
    for line in &mut told {
        line.as_object_mut().unwrap().remove("ts").unwrap();
    }
    let want = [
        complete(&scene, "executor", "5", "exec-result.md"),
        complete(&scene, "tester", "6", "test-result.md"),
        serde_json::json!({"type": "feed_update", "source": "monitor"}),
    ];
    assert_eq!(told, want);
}
