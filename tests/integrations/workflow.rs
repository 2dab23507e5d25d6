//! The workflow of the public repository says what the repository says.

use std::{collections::BTreeSet, fs};

use tests::root;

use crate::names;

fn workflow() -> String {
    fs::read_to_string(root().join(".github/workflows/ci.yml")).unwrap()
}

#[test]
fn every_fuzz_target_is_fuzzed() {
    let files = names(root().join("tests/fuzz/targets"));
    let targets: BTreeSet<&str> = files.iter().map(|name| name.trim_end_matches(".rs")).collect();
    let text = workflow();
    let line = text.lines().find_map(|line| line.trim().strip_prefix("target: [")).unwrap();
    let fuzzed: BTreeSet<&str> = line.trim_end_matches(']').split(", ").collect();
    assert_eq!(fuzzed, targets);
}

#[test]
fn the_oldest_compiler_is_the_promised_one() {
    let msrv = env!("CARGO_PKG_RUST_VERSION");
    let text = workflow();
    for wanted in [format!("cargo +{msrv} check"), format!("toolchain install {msrv} ")] {
        assert!(text.contains(&wanted), "no {wanted:?}");
    }
}

#[test]
fn it_may_read_and_runs_nobody_elses_moving_code() {
    let text = workflow();
    assert!(text.contains("\npermissions:\n  contents: read\n"));
    assert!(!text.contains(": write") && !text.contains("secrets."));
    let actions: Vec<&str> =
        text.lines().filter_map(|line| line.split_once("uses: ")).map(|(_, uses)| uses).collect();
    assert!(!actions.is_empty());
    for uses in actions {
        let (_, pin) = uses.split_once('@').unwrap();
        let hash = pin.split_once(" # v").unwrap().0;
        assert!(hash.len() == 40 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()), "{uses}");
    }
}

#[test]
fn each_script_that_it_runs_is_there() {
    let text = workflow();
    let scripts: BTreeSet<&str> =
        text.lines().filter_map(|line| line.trim().strip_prefix("- run: tests/")).collect();
    assert!(scripts.contains("run"));
    for script in scripts {
        assert!(root().join("tests").join(script).exists(), "tests/{script}");
    }
}
