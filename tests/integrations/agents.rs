//! What agents' harnesses read: the plugin of Claude Code, and the part for `AGENTS.md`.

use std::collections::BTreeSet;

use serde_json::Value;
use tests::{Scene, built, git, lines, tools};

use crate::{
    calls::{fault, shell_lines},
    integration, names, path, text,
};

const PLUGIN: &str = "claude-code";

fn json(path: &str) -> Value {
    serde_json::from_str(&text(path)).unwrap_or_else(|err| panic!("{path}: {err}"))
}

/// The keys of an object that are strings with something in them.
fn texts(object: &Value) -> BTreeSet<&str> {
    let pairs = object.as_object().unwrap().iter();
    pairs
        .filter(|(_, value)| value.as_str().is_some_and(|text| !text.trim().is_empty()))
        .map(|(key, _)| &**key)
        .collect()
}

fn monitors() -> Vec<Value> {
    json("claude-code/monitors/monitors.json").as_array().unwrap().clone()
}

/// Name and description of a skill, and what stands below them.
fn skill(name: &str) -> (String, String, String) {
    let text = text(&format!("{PLUGIN}/skills/{name}/SKILL.md"));
    let (head, body) = text.strip_prefix("---\n").unwrap().split_once("\n---\n").unwrap();
    let of = |key: &str| {
        let value = head.lines().find_map(|line| line.strip_prefix(&format!("{key}: ")));
        value.unwrap_or_else(|| panic!("the skill has no {key}")).to_owned()
    };
    // As Claude Code hands it over.
    (of("name"), of("description"), body.replace("${CLAUDE_SESSION_ID}", "0b9f"))
}

#[test]
fn the_plugin_says_who_it_is() {
    let plugin = json("claude-code/.claude-plugin/plugin.json");
    let wanted = BTreeSet::from(["description", "license", "name", "version"]);
    assert_eq!(texts(&plugin), wanted);
    assert_eq!(plugin["version"], env!("CARGO_PKG_VERSION"));

    let market = json(".claude-plugin/marketplace.json");
    assert!(texts(&market["owner"]).contains("name"));
    let listed = market["plugins"].as_array().unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!(
        (&listed[0]["name"], &listed[0]["description"]),
        (&plugin["name"], &plugin["description"])
    );
    let source = listed[0]["source"].as_str().unwrap().strip_prefix("./").unwrap();
    assert!(integration(source).join(".claude-plugin/plugin.json").exists(), "{source}");
}

#[test]
fn each_monitor_runs_a_program_of_ours() {
    let mut seen = BTreeSet::new();
    for monitor in monitors() {
        let keys = BTreeSet::from(["command", "description", "name", "when"]);
        assert_eq!(texts(&monitor), keys, "{monitor}");
        assert_eq!(monitor.as_object().unwrap().len(), keys.len(), "{monitor}");
        let (name, command) =
            (monitor["name"].as_str().unwrap(), monitor["command"].as_str().unwrap());
        assert_eq!(fault(command), None);
        assert!(command.contains(&format!(" --source {name}")), "{command}");
        match monitor["when"].as_str().unwrap() {
            "always" => {}
            when => {
                let skill = when.strip_prefix("on-skill-invoke:").unwrap();
                assert!(integration(PLUGIN).join("skills").join(skill).exists(), "{when}");
            }
        }
        assert!(seen.insert(name.to_owned()), "{name} twice");
    }
    assert!(!seen.is_empty());
}

#[test]
fn supervise_takes_the_manifest_as_it_is() {
    let scene = Scene::new();
    git::level_repository(&scene);
    let _ = scene.dir("world/.agent-atelier/human-gates/open");
    scene.write("world/.agent-atelier/human-gates/open/HDR-1.json", r#"{"question":"Which?"}"#);
    let supervise = |args: &[&str]| {
        let mut command = built("supervise");
        git::blind(&mut command, &scene);
        command.args(args).current_dir(scene.join("world")).env("PATH", path());
        let out = command.env("DOORBELL_STORE", scene.join("store")).output().unwrap();
        assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
        lines(&out.stdout).remove(0)
    };
    let manifest = integration("claude-code/monitors/monitors.json");
    let answer = supervise(&["spawn", "--manifest", manifest.to_str().unwrap()]);
    let spawned: BTreeSet<&String> = answer["spawned"].as_object().unwrap().keys().collect();
    let listed = monitors();
    assert_eq!(spawned.len(), listed.len(), "{answer}");
    assert!(
        listed
            .iter()
            .all(|monitor| answer["spawned"][&monitor["name"].as_str().unwrap()] != Value::Null)
    );

    let mut gate = Value::Null;
    tests::eventually("the open question is told", || {
        let report = supervise(&["check"]);
        assert_eq!(report["dead_monitors"], Value::Array(Vec::new()), "{report}");
        gate = report["immediate"][0].clone();
        gate != Value::Null
    });
    assert_eq!((&gate["gate_id"], &gate["source"]), (&"HDR-1".into(), &"gate".into()));
    let stopped = supervise(&["stop", "all"]);
    assert_eq!(stopped["stopped"].as_array().unwrap().len(), listed.len());
}

#[test]
fn each_skill_has_a_name_and_a_short_description() {
    let skills = names(integration("claude-code/skills"));
    assert!(!skills.is_empty());
    for folder in skills {
        let (name, description, _) = skill(&folder);
        assert_eq!(name, folder);
        // Harnesses cut long ones first.
        assert!((20..=200).contains(&description.len()), "{description}");
    }
}

#[test]
fn the_skill_and_the_notes_name_commands_that_run() {
    let faults = |text: &str| -> Vec<String> {
        let commands = shell_lines(text);
        assert!(commands.len() > 10, "{commands:?}");
        commands.into_iter().filter_map(fault).collect()
    };
    assert_eq!(faults(&skill("doorbell").2), [""; 0]);
    assert_eq!(faults(&text("codex/AGENTS.md")), [""; 0]);
}

#[test]
fn the_skill_has_every_watcher() {
    let body = skill("doorbell").2;
    let commands = shell_lines(&body);
    let has = |tool: &str, flag: &str| {
        commands.iter().any(|line| {
            let mut words = line.split_whitespace();
            words.next() == Some(tool) && line.contains(flag)
        })
    };
    let mut missing = Vec::new();
    for tool in tools() {
        let help = String::from_utf8(built(&tool).arg("--help").output().unwrap().stdout).unwrap();
        for (flag, wanted) in [("--max-runtime", " --max-runtime 29m"), ("--once", " --once")] {
            // A filter is no watcher: it looks at nothing.
            if help.contains("--once") && help.contains(flag) && !has(&tool, wanted) {
                missing.push(format!("{tool}{wanted}"));
            }
        }
    }
    assert_eq!(missing, [""; 0]);
    assert!(commands.iter().any(|line| line.starts_with("collab-tail ")));
}
