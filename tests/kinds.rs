//! What a new kind of subject must pass: it is one executable, and no program of ours changes or
//! knows of it. The kinds here are those of `tests/kinds`.
#![expect(clippy::unwrap_used, reason = "tests fail by panic, and their helpers too")]

mod through;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;
use tests::{Scene, built, command, root};

/// What a kind leaves as it is.
const UNTOUCHED: [&str; 4] = ["bins/wake", "bins/probe-watch", "bins/classify", "shared"];
/// Where no word of a kind may stand.
const WORDLESS: [&str; 3] = ["bins/wake/src", "bins/probe-watch/src", "shared/src"];

/// The executables, in order.
fn kinds() -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join("tests/kinds")).unwrap();
    let mut kinds: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    kinds.sort();
    assert_eq!(kinds.len(), 3, "{kinds:?}");
    kinds
}

/// What a kind says of itself.
fn row(kind: &Path) -> Value {
    let out = command(kind).arg("describe").output().unwrap();
    serde_json::from_slice(&out.stdout).unwrap_or_else(|err| panic!("{}: {err}", kind.display()))
}

/// Every file below `top`, in order.
fn files(top: &Path) -> Vec<PathBuf> {
    let (mut found, mut open) = (Vec::new(), vec![top.to_owned()]);
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                open.push(entry.path());
            } else {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    assert!(!found.is_empty(), "{} is empty", top.display());
    found
}

/// The SHA-256 of every file that a kind leaves as it is.
fn hashes() -> BTreeMap<PathBuf, String> {
    let tops = UNTOUCHED.iter().map(|top| root().join(top));
    let all: Vec<PathBuf> = tops.flat_map(|top| files(&top)).collect();
    let out = command("sha256sum").args(&all).output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let hash = |line: &str| line.split_whitespace().next().unwrap().to_owned();
    let text = String::from_utf8(out.stdout).unwrap();
    let hashes: BTreeMap<PathBuf, String> = all.into_iter().zip(text.lines().map(hash)).collect();
    assert_eq!(hashes.len(), text.lines().count());
    hashes
}

/// A kind that is installed, described and looked through changes no file of the programs.
#[test]
fn a_kind_is_one_executable_and_changes_no_program() {
    // Built before, since that takes its time.
    drop(built("probe-watch"));
    let without = hashes();
    let scene = Scene::new();
    for kind in kinds() {
        let installed = scene.join(kind.file_name().unwrap());
        assert!(command("cp").arg(&kind).arg(&installed).status().unwrap().success());
        let kind = kind.file_name().unwrap().to_str().unwrap();
        assert!(row(&installed)["kind"] == kind, "{kind}");
        assert_eq!(check(&scene, kind), (Some(0), String::new()), "{kind}");
    }
    let with = hashes();
    let changed: Vec<&PathBuf> = with
        .iter()
        .filter(|(path, hash)| without.get(*path) != Some(hash))
        .map(|(p, _)| p)
        .collect();
    assert_eq!((changed, with.len()), (vec![], without.len()));
}

/// No commit that brought a kind touches a program.
#[test]
fn a_kind_comes_alone() {
    let git = |args: &[&str]| {
        let out = command("git").arg("-C").arg(root()).args(args).output().unwrap();
        assert!(out.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8(out.stdout).unwrap()
    };
    for kind in kinds() {
        let path = format!("tests/kinds/{}", kind.file_name().unwrap().to_str().unwrap());
        let brought = git(&["log", "--diff-filter=A", "--format=%H %P", "--", &path]);
        // A commit without a parent brings all there is.
        let commits = brought.lines().filter_map(|line| line.trim().split_once(' '));
        for (commit, _) in commits {
            let show = ["show", "--format=", "--name-only", commit, "--"];
            let touched = git(&[&show[..], &UNTOUCHED].concat());
            assert_eq!(touched, "", "the commit {commit} that brought {path}");
        }
    }
}

/// The words of a row that a program must not know.
fn words(row: &Value) -> BTreeSet<String> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let objectives = row["objectives"].as_array().into_iter().flatten().map(text);
    let keys = row["terminal_keys"].as_object().into_iter().flatten().map(|(key, _)| key.clone());
    objectives.chain(keys).chain([text(&row["kind"])]).map(|word| word.to_lowercase()).collect()
}

/// Which of `words` stand in `text`, in any case; and those of things that others watch.
fn known<'a>(text: &str, words: impl IntoIterator<Item = &'a String>) -> Vec<&'a str> {
    let text = text.to_lowercase();
    let mut known: Vec<&str> =
        words.into_iter().map(|word| &**word).filter(|word| text.contains(word)).collect();
    known.extend(["workflow", "mergeable"].iter().filter(|word| text.contains(*word)));
    let parted = text.match_indices("pull").any(|(at, pull)| {
        let rest = &text[at + pull.len()..];
        let after = rest.char_indices().nth(1).map_or("", |(next, _)| &rest[next..]);
        rest.starts_with("request") || after.starts_with("request")
    });
    known.extend(parted.then_some("pull.?request"));
    known
}

#[test]
fn no_program_knows_a_word_of_a_kind() {
    let words: BTreeSet<String> = kinds().iter().flat_map(|kind| words(&row(kind))).collect();
    assert!(words.len() >= 10, "{words:?}");
    let mut found = Vec::new();
    for path in WORDLESS.iter().flat_map(|top| files(&root().join(top))) {
        let text = fs::read_to_string(&path).unwrap();
        found.extend(
            known(&text, &words).into_iter().map(|word| format!("{}: {word}", path.display())),
        );
    }
    assert_eq!(found, [] as [&str; 0]);
}

#[test]
fn the_check_for_words_sees_them() {
    let words = BTreeSet::from(["queue-depth".to_owned()]);
    for (text, want) in [
        ("a Queue-Depth", &["queue-depth"][..]),
        ("PullRequest", &["pull.?request"]),
        ("pull_request", &["pull.?request"]),
        ("a pull request is", &["pull.?request"]),
        ("pulled requests, to pull", &[]),
        ("Mergeable workflows", &["workflow", "mergeable"]),
        ("nothing", &[]),
    ] {
        assert_eq!(known(text, &words), want, "{text}");
    }
}

/// What of the world outside, and of the rest of its crate, a module of `decide` names.
fn impurities(text: &str) -> Vec<String> {
    const WORLD: [&str; 7] = ["fs", "process", "env", "net", "thread", "time", "io"];
    // Of `tail` it keeps a place in a file, which the shell reads and writes.
    const PURE: [&str; 4] = ["reading", "line", "text", "tail"];
    let mut found = Vec::new();
    for (head, is_impure) in [
        ("std::", &(|word: &str| WORLD.contains(&word)) as &dyn Fn(&str) -> bool),
        ("core::", &|word| WORLD.contains(&word)),
        ("shared::", &|word| !PURE.contains(&word)),
        ("crate::", &|word| word != "decide"),
        ("super::super::super::", &|_| true),
    ] {
        for (at, _) in text.match_indices(head) {
            let rest = &text[at + head.len()..];
            let names = imported(rest);
            found.extend(
                names.into_iter().filter(|name| is_impure(name)).map(|n| format!("{head}{n}")),
            );
        }
    }
    found
}

/// The first names of what follows `std::`: one, or those of a list in braces.
fn imported(rest: &str) -> Vec<&str> {
    let word =
        |text: &'_ str| text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    let Some(list) = rest.strip_prefix('{') else { return vec![&rest[..word(rest)]] };
    let (mut names, mut depth, mut from) = (Vec::new(), 1, 0);
    for (at, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 1 => {}
            _ => continue,
        }
        if depth == 0 || (c == ',' && depth == 1) {
            let name = list[from..at].trim_start();
            names.push(&name[..word(name)]);
            from = at + 1;
        }
        if depth == 0 {
            break;
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

#[test]
fn decide_uses_nothing_of_the_world_or_of_its_program() {
    let mut found = Vec::new();
    for path in files(&root().join("bins/wake/src/decide")) {
        if path.components().any(|part| part.as_os_str() == "tests") {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let impure = impurities(&text);
        found.extend(impure.into_iter().map(|name| format!("{}: {name}", path.display())));
    }
    assert_eq!(found, [] as [&str; 0]);
}

#[test]
fn the_check_for_purity_sees_what_is_used() {
    for (text, want) in [
        ("use std::fs;", &["std::fs"][..]),
        ("use std::{collections::{BTreeMap, HashMap}, io};", &["std::io"]),
        ("use std::{\n    fmt,\n    time::Duration,\n};", &["std::time"]),
        ("let x = std::env::var(name);", &["std::env"]),
        ("use crate::decide::state; use crate::store;", &["crate::store"]),
        ("use shared::{reading::Look, clock};", &["shared::clock"]),
        ("use std::collections::BTreeMap; // iota, times", &[]),
    ] {
        assert_eq!(impurities(text), want, "{text}");
    }
}

/// How `probe-watch --check` ends for a kind that lies in `scene`, and what it says.
fn check(scene: &Scene, kind: &str) -> (Option<i32>, String) {
    let target = through::fixture(scene, kind);
    let mut program = built("probe-watch");
    program.current_dir(scene.path()).env("DOORBELL_STORE", scene.join("store"));
    program.args(["--check", "--probe", &format!("./{kind}"), &target]);
    if kind != "ledger" {
        program.arg("--set").arg(format!("root={}", scene.path().display()));
    }
    let out = program.output().unwrap();
    assert!(out.stdout.is_empty());
    (out.status.code(), String::from_utf8(out.stderr).unwrap())
}

#[test]
fn a_kind_that_breaks_a_rule_does_not_pass_the_check() {
    let scene = Scene::new();
    let kind = scene.join("queue-depth");
    let text = fs::read_to_string(root().join("tests/kinds/queue-depth")).unwrap();
    scene.write("broken", text.replace(r#"\"subject\":"#, r#"\"decision\":\"wake\",\"subject\":"#));
    assert!(command("install").arg(scene.join("broken")).arg(&kind).status().unwrap().success());
    let (code, said) = check(&scene, "queue-depth");
    assert_eq!(code, Some(4));
    assert!(said.contains("mail: its answer is rejected: decision"), "{said}");
}
