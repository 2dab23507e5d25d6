//! What keeping costs: 1, 20 and 200 monitors under one store.

use std::{
    fs,
    process::{Command, Stdio},
    time::Duration,
};

use tests::{Scene, built_release, lines, pause};

use crate::measure::{Table, activity, median, ms, resident_kib, time};

struct Store {
    scene: Scene,
}

impl Store {
    fn supervise(&self, verb: &str) -> Command {
        let mut supervise = built_release("supervise");
        supervise.arg(verb).arg("--scope=bench").env("DOORBELL_STORE", self.scene.join("store"));
        supervise
    }

    /// The pids of all keepers.
    fn keepers(&self) -> Vec<u32> {
        let homes = fs::read_dir(self.scene.join("store/supervise/bench")).unwrap();
        let record = |home: fs::DirEntry| {
            let text = fs::read(home.path().join("record.json")).ok()?;
            let record: serde_json::Value = serde_json::from_slice(&text).ok()?;
            u32::try_from(record["keeper"]["pid"].as_u64()?).ok()
        };
        homes.filter_map(|home| record(home.unwrap())).collect()
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        let _ = self.supervise("stop").args(["all", "--grace=0.5"]).output();
    }
}

pub(crate) fn supervise(table: &mut Table) {
    for count in [1, 20, 200] {
        monitors(table, count);
    }
}

fn monitors(table: &mut Table, count: usize) {
    let store = Store { scene: Scene::new() };
    let state = store.scene.dir("state");
    let gate = built_release("gate-watch");
    let mut starts: Vec<Duration> = (0..count)
        .map(|n| {
            let mut start = store.supervise("start");
            start.arg(format!("m{n}")).arg("--").arg(gate.get_program());
            start.arg("--state-dir").arg(&state).stdout(Stdio::null());
            time(|| assert!(start.status().unwrap().success()))
        })
        .collect();
    let what = |act: &str| format!("supervise: {count} monitors, {act}");
    table.row(&what("start to ready"), &ms(median(&mut starts)), "", "", "< 20 ms");

    let mut statuses: Vec<Duration> = (0..20)
        .map(|_| {
            time(|| {
                let out = store.supervise("status").output().unwrap();
                assert_eq!(lines(&out.stdout)[0]["monitors"].as_array().unwrap().len(), count);
            })
        })
        .collect();
    table.row(&what("status"), &ms(median(&mut statuses)), "", "", "< 50 ms");

    let keepers = store.keepers();
    pause(Duration::from_secs(1));
    let before: Vec<(u64, u64)> = keepers.iter().map(|pid| activity(*pid)).collect();
    pause(Duration::from_secs(5));
    let after = keepers.iter().map(|pid| activity(*pid));
    let (wakes, ticks) = before.iter().zip(after).fold((0, 0), |sum, (before, after)| {
        (sum.0 + after.0 - before.0, sum.1 + after.1 - before.1)
    });
    let largest = keepers.iter().map(|pid| resident_kib(*pid)).max().unwrap_or(0);
    let own = keepers.iter().map(|pid| anonymous_kib(*pid)).max().unwrap_or(0);
    let shown = format!("{largest} KiB ({own} its own), 5 s: {wakes} wake-ups, {ticks} ticks");
    table.row(&what("a keeper at most"), &shown, "", "", "< 2048 KiB, 0, 0");

    let stop = time(|| {
        let out = store.supervise("stop").arg("all").output().unwrap();
        assert!(out.status.success());
    });
    table.row(&what("stop all"), &ms(stop), "", "", "< 1 s");
}

/// Memory that is not shared with the file of the program or its libraries.
fn anonymous_kib(pid: u32) -> u64 {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
