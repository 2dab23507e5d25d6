//! The table of scenarios.

mod world;

use proptest::prelude::*;
use shared::pidfile::Status;
use world::{
    Act::{self, *},
    OTHER, World, busy, silent,
};

use crate::seen::Named;

#[track_caller]
fn says(world: &World, want: &[&str]) {
    assert_eq!(world.run(), want, "{:?}", world.plan);
}

const KILLED: Act = Exit(Some(Status::Signal(9)));
const DONE: Act = Exit(Some(Status::Code(0)));

/// One write a second from `from` to `to`.
fn writes(from: u32, to: u32) -> Vec<(f64, Act)> {
    (from..=to).map(|at| (f64::from(at), Wrote(u64::from(at)))).collect()
}

/// A stream from 40 on, closed by the exit at 50.
fn stream(end: Act) -> World {
    busy(&[(40.0, Wrote(1)), (45.0, Wrote(2)), (49.9, Wrote(3)), (50.0, Closed), (50.0, end)])
}

#[test]
fn a_result_settles() {
    says(&busy(&[(100.0, Renamed)]), &["100:result_ready settled=rename"]);
    let paused = [(100.0, Wrote(1)), (110.0, Wrote(2)), (120.0, Wrote(3)), (130.0, Closed)];
    let steady = [writes(100, 129), vec![(130.0, Closed)]].concat();
    for plan in [&paused[..], &steady] {
        says(&busy(plan), &["130.1:result_ready settled=close"]);
    }
    says(&busy(&writes(100, 130)).polling(), &["132:result_ready settled=quiet"]);
    let plan = [(100.0, Wrote(1)), (110.0, Wrote(2))];
    says(&busy(&plan), &["140:result_ready settled=quiet"]);
    let plan = [(100.0, Made), (400.0, Wrote(5))];
    says(&busy(&plan).polling(), &["402:result_ready settled=quiet"]);
    let ready = ["100:result_ready settled=rename", "200:result_removed"];
    says(&busy(&[(100.0, Renamed), (200.0, Deleted)]), &ready);
    let endless = World { item: r#""timeout_sec":0"#, ..busy(&[]) };
    says(&endless.until(5000.0), &[]);
}

#[test]
fn an_open_restarts_the_wait_after_a_close_up_to_the_settle_time() {
    let mut plan = vec![(100.0, Wrote(1)), (100.0, Closed), (100.05, Opened)];
    says(&busy(&plan), &["100.2:result_ready settled=close"]);
    plan.extend((1..50).map(|n| (100.0 + f64::from(n) * 0.09, Opened)));
    says(&busy(&plan), &["102:result_ready settled=close"]);
}

#[test]
fn later_versions_are_told_when_they_are_wanted() {
    let plan = [(100.0, Renamed), (200.0, Wrote(7)), (201.0, Closed), (300.0, Renamed)];
    let mut world = busy(&plan);
    let first = "100:result_ready settled=rename";
    says(&world, &[first]);
    world.config.rewrites = true;
    let second = "201.1:result_ready settled=close rewrite=1";
    says(&world, &[first, second, "300:result_ready settled=rename rewrite=2"]);
}

#[test]
fn the_rule_of_the_seed_takes_any_content() {
    let mut world = busy(&[(100.0, Made), (110.0, Wrote(1)), (120.0, Wrote(2))]);
    world.config.no_settle = true;
    says(&world, &["110:result_ready settled=quiet"]);
}

#[test]
fn silence_is_a_stall_until_it_ends() {
    let stalled = "180:stalled episode=1 idle=180 files";
    let made = silent(&[(1.0, Made)]).until(1000.0);
    says(&made, &["181:stalled episode=1 idle=180 files"]);
    let ready = "900:result_ready settled=rename";
    says(&silent(&[(900.0, Renamed)]), &[stalled, "900:recovered by=result idle=900", ready]);
    let again = "480:stalled episode=2 idle=180 files";
    let world = silent(&[(300.0, Moved)]).until(1000.0);
    says(&world, &[stalled, "300:recovered by=progress idle=300", again]);
    let died = "252:process_died exited absent";
    says(&silent(&[(250.0, Exit(None))]), &[stalled, "252:recovered by=exit idle=252", died]);
    let blind = World { paths: false, touched: None, ..silent(&[]) };
    says(&blind.until(1000.0), &["180:stalled episode=1 idle=180 none"]);
    let late = World { late: 400.0, touched: Some(100.0), ..silent(&[]) };
    says(&late.until(600.0), &["0:stalled episode=1 idle=300 files"]);
    let own = World { item: r#""idle_stall_sec":60"#, ..silent(&[]) };
    says(&own.until(1000.0), &["60:stalled episode=1 idle=60 files"]);
}

#[test]
fn cpu_time_is_evidence_beside_a_stall() {
    let mut world = World { cpu: Some((0.4, 93.0)), ..silent(&[]) }.until(500.0);
    says(&world, &["180:stalled episode=1 idle=180 files cpu=0.4 tree=93"]);
    // Too short to say anything.
    world.item = r#""idle_stall_sec":4"#;
    says(&world, &["4:stalled episode=1 idle=4 files tree=93"]);
    world.item = r#""idle_stall_sec":1"#;
    says(&world, &["1:stalled episode=1 idle=1 files"]);
    // Over the silence, not over a life.
    (world.item, world.plan) = (r#""idle_stall_sec":60"#, vec![(30.0, Moved)]);
    says(&world, &["90:stalled episode=1 idle=60 files cpu=0.4 tree=93"]);
}

#[test]
fn time_that_nobody_saw_is_a_gap_and_not_silence() {
    let slept = silent(&[(100.0, Suspend(28_800))]).until(400.0);
    says(&slept, &["100:clock_gap", "280:stalled episode=1 idle=180 files"]);
    let mut charged = slept.clone();
    charged.config.count_suspend = true;
    let stalled = "100:stalled episode=1 idle=28900 files";
    says(&charged, &["100:clock_gap", stalled, "100:timeout_exceeded"]);
    let stood = silent(&[(100.0, Stand(300))]).until(700.0);
    says(&stood, &["400:clock_gap", "580:stalled episode=1 idle=180 files"]);
    // One that is open stays so.
    let open = silent(&[(200.0, Suspend(600))]).until(900.0);
    says(&open, &["180:stalled episode=1 idle=180 files", "200:clock_gap"]);
}

#[test]
fn an_exit_is_told_after_its_grace() {
    says(&busy(&[(50.0, Exit(None))]), &["52:process_died exited absent"]);
    let world = busy(&[(20.0, Made), (50.0, Exit(None))]);
    says(&world, &["52:process_died exited empty"]);
    let world = busy(&[(50.0, Exit(None)), (50.5, Renamed)]);
    says(&world, &["50.5:result_ready settled=rename"]);
    let world = busy(&[(50.0, Exit(None)), (60.0, Renamed)]);
    let late = "60:result_ready settled=rename after_death";
    says(&world, &["52:process_died exited absent", late]);
    // An exit with 0 is no result.
    says(&busy(&[(50.0, DONE)]), &["52:process_died exited absent"]);
    says(&busy(&[(70.0, Reused)]).polling(), &["72:process_died pid_reused absent"]);
}

#[test]
fn what_a_killed_writer_leaves_is_partial() {
    let partial = "52:process_died exited partial signal=9";
    says(&stream(KILLED), &[partial]);
    says(&stream(DONE), &["50:result_ready settled=exit"]);
    says(&stream(Exit(None)), &["52:result_ready settled=exit"]);
    let late = "60:result_ready settled=quiet after_death";
    let mut other = writes(40, 58);
    other.push((50.0, Exit(None)));
    says(&busy(&other).polling(), &["52:process_died exited partial", late]);
    // Of a writer that nobody watches, by the time.
    says(&busy(&[(49.0, Wrote(3)), (50.0, KILLED)]).polling(), &[partial]);
    let before = busy(&[(40.0, Wrote(3)), (50.0, KILLED)]).polling();
    says(&before, &["42:result_ready settled=quiet"]);
    // An end that takes its time between the two.
    let slow = [(49.0, Wrote(3)), (50.0, Closed), (50.01, Ending), (50.5, KILLED)];
    says(&busy(&slow), &["52.5:process_died exited partial signal=9"]);
    // A close and an exit that a late look finds together; then somebody writes it whole.
    let plan = [(49.0, Wrote(3)), (50.0, Closed), (50.01, Stand(5)), (50.02, KILLED)];
    let later = [(90.0, Wrote(9)), (91.0, Closed)];
    let whole = "91.1:result_ready settled=close after_death";
    let dead = "57:process_died exited partial signal=9";
    says(&busy(&[&plan[..], &later].concat()), &[dead, whole]);
}

#[test]
fn a_rewritten_pid_file_is_followed_once_its_process_is_dead() {
    let other = Says(Named::Alive(OTHER));
    let died = "52:process_died exited absent";
    let world = busy(&[(50.0, Exit(None)), (70.0, other)]).until(100.0);
    says(&world, &[died, "70:process_replaced"]);
    // Within the grace it is the same story.
    says(&busy(&[(50.0, Exit(None)), (51.0, other)]).until(100.0), &[]);
    let stalled = "180:stalled episode=1 idle=180 files";
    let world = silent(&[(200.0, Exit(None)), (201.0, other)]).until(250.0);
    says(&world, &[stalled, "201:recovered by=exit idle=201"]);
    // Its silence is its own.
    let again = "381:stalled episode=2 idle=180 files";
    says(&World { until: 500.0, ..world }, &[stalled, "201:recovered by=exit idle=201", again]);
    // While it lives it is kept.
    let changed = "50:item_degraded pid_changed";
    let restored = "70:item_restored pid_changed by=evidence";
    let back = busy(&[(50.0, other), (70.0, Says(Named::Alive(world::WHO)))]).until(100.0);
    says(&back, &[changed, restored]);
    let plan = [(50.0, other), (70.0, Exit(None)), (70.001, other)];
    says(&busy(&plan).until(100.0), &[changed, restored]);
    // What it says after the end is no news, nor that it went.
    for named in [Named::Missing, Named::Useless("pid_file_invalid")] {
        says(&busy(&[(50.0, Exit(None)), (60.0, Says(named))]), &[died]);
        says(&busy(&[(60.0, Says(named))]).until(1000.0), &[]);
    }
}

#[test]
fn time_runs_out_whatever_else() {
    let lost = World { named: Named::Missing, paths: false, ..busy(&[]) };
    let degraded = "15:item_degraded pid_file_missing";
    says(&lost, &[degraded, "1080:timeout_imminent", "1200:timeout_exceeded"]);
    for (late, want) in [
        (1300.0, &["0:timeout_exceeded"][..]),
        (1100.0, &["0:timeout_imminent", "100:timeout_exceeded"]),
    ] {
        let world = World { late, touched: Some(late), ..busy(&[]) };
        says(&world.until(300.0), want);
    }
    let world = World { item: r#""timeout_sec":180"#, ..silent(&[]) };
    let stalled = "180:stalled episode=1 idle=180 files";
    says(&world.until(300.0), &["162:timeout_imminent", stalled, "180:timeout_exceeded"]);
    // It is no failure: what comes later counts.
    let world = busy(&[(1250.0, Renamed)]);
    let (near, over) = ("1080:timeout_imminent", "1200:timeout_exceeded");
    says(&world, &[near, over, "1250:result_ready settled=rename"]);
}

#[test]
fn what_can_not_be_seen_is_told_and_cleared() {
    let gone = busy(&[(50.0, NoFolder), (200.0, Renamed)]);
    let restored = "200:item_restored result_dir_missing by=evidence";
    let ready = "200:result_ready settled=rename";
    says(&gone, &["110:item_degraded result_dir_missing", restored, ready]);
    says(&busy(&[(50.0, NoFolder), (100.0, Deleted)]).until(1000.0), &[]);
    let none = World { named: Named::None, ..busy(&[(100.0, Renamed)]) };
    let degraded = "0:item_degraded no_pid_file";
    let restored = "100:item_restored no_pid_file by=end";
    says(&none, &[degraded, restored, "100:result_ready settled=rename"]);
    // Made empty, then filled: a moment in between says nothing.
    let empty = World { named: Named::Useless("pid_file_invalid"), ..busy(&[]) };
    let filled = Says(Named::Alive(OTHER));
    let quick = World { plan: vec![(0.05, filled)], ..empty.clone() }.until(100.0);
    says(&quick, &[]);
    let slow = World { plan: vec![(20.0, filled)], ..empty }.until(100.0);
    let restored = "20:item_restored pid_file_invalid by=evidence";
    says(&slow, &["0.1:item_degraded pid_file_invalid", restored]);
}

#[test]
fn what_was_there_before_is_no_result() {
    let world = World { old: Some(-500.0), ..busy(&[(80.0, Renamed)]) };
    says(&world, &["0:result_stale", "80:result_ready settled=rename"]);
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        Just(Renamed),
        Just(Made),
        (1_u64..9).prop_map(Wrote),
        Just(Closed),
        Just(Opened),
        Just(Deleted),
        Just(NoFolder),
        Just(Exit(None)),
        Just(DONE),
        Just(KILLED),
        Just(Says(Named::Alive(OTHER))),
        Just(Says(Named::Missing)),
        Just(Moved),
        (1_u64..900).prop_map(Suspend),
    ]
}

proptest! {
    /// Whatever happens: what ends comes once, what is raised is cleared before the end, and
    /// nothing is told of an item after its result but that the result went.
    #[test]
    fn an_item_ends_once(
        plan in proptest::collection::vec((0.0_f64..1300.0, act()), 0..12),
        watched in any::<bool>(),
        rewrites in any::<bool>(),
    ) {
        let mut world = World { watched, ..silent(&plan) };
        world.config.rewrites = rewrites;
        let told = world.told();
        let names: Vec<&str> =
            told.iter().map(|(_, told)| told.name()).filter(|name| *name != "clock_gap").collect();
        let count = |name: &str| names.iter().filter(|told| **told == name).count();
        for once in ["result_removed", "timeout_imminent", "timeout_exceeded"] {
            prop_assert!(count(once) <= 1, "{once}: {names:?}");
        }
        prop_assert!(rewrites || count("result_ready") <= 1, "{names:?}");
        let (mut stalled, mut degraded) = (0, 0);
        for name in &names {
            match *name {
                "stalled" => stalled += 1,
                "recovered" => stalled -= 1,
                "item_degraded" => degraded += 1,
                "item_restored" => degraded -= 1,
                "process_died" | "result_ready" => {
                    prop_assert_eq!((stalled, degraded), (0, 0), "{:?}", names);
                }
                _ => {}
            }
            prop_assert!((0..=1).contains(&stalled) && degraded >= 0, "{names:?}");
        }
        if let Some(at) = names.iter().position(|name| *name == "result_ready") {
            let after = ["result_ready", "result_removed"];
            prop_assert!(names[at..].iter().all(|name| after.contains(name)), "{names:?}");
        }
    }
}
