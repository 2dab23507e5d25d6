//! The table of scenarios: a world that changes by a plan, a clock that jumps to what is due.

use std::time::Duration;

use proptest::prelude::*;
use shared::{
    clock::Now,
    pidfile::{Status, Who},
    roster::{Place, Registered, parse},
};

use crate::{
    event::{Told, What},
    item::*,
    step::{due, step},
};

const EPOCH: i64 = 1_700_000_000;

#[derive(Debug, Clone, Copy)]
enum Act {
    Renamed,
    Made,
    Wrote(u64),
    Closed,
    Deleted,
    Exit(Option<Status>),
    Reused,
    NewPid,
    Moved,
    Suspend(u64),
}
use Act::*;

#[derive(Debug, Clone)]
struct World {
    item: String,
    config: Config,
    late: f64,
    plan: Vec<(f64, Act)>,
    every: Option<f64>,
    until: f64,
    named: Named,
    paths: bool,
    old: Option<f64>,
    touched: Option<f64>,
}

fn config() -> Config {
    let seconds = Duration::from_secs;
    Config {
        settle: seconds(2),
        settle_open: seconds(30),
        no_settle: false,
        death_grace: seconds(2),
        pid_grace: seconds(15),
        margin: 90,
        idle_stall: seconds(180),
        count_suspend: false,
        rewrites: false,
        once: false,
        polling: false,
    }
}

const WHO: Who = Who { pid: 7, start_ticks: Some(70) };

/// A live process, a limit of 1200 s, progress every 30 s.
fn busy(plan: &[(f64, Act)]) -> World {
    World {
        item: r#""timeout_sec":1200"#.to_owned(),
        config: config(),
        late: 0.0,
        plan: plan.to_vec(),
        every: Some(30.0),
        until: 1300.0,
        named: Named::Alive(WHO),
        paths: true,
        old: None,
        touched: Some(0.0),
    }
}

/// The same in silence.
fn silent(plan: &[(f64, Act)]) -> World {
    World { every: None, ..busy(plan) }
}

fn ns(at: f64) -> i128 {
    i128::from(EPOCH) * 1_000_000_000 + (at * 1e9) as i128
}

impl World {
    fn polling(mut self) -> Self {
        self.config.polling = true;
        self
    }

    /// What is told until `until`, as `seconds:event`.
    fn run(&self) -> Vec<String> {
        self.told().iter().map(|(at, told)| shown(*at, told)).collect()
    }

    fn told(&self) -> Vec<(f64, Told)> {
        let text = format!(
            r#"{{"agent":"a","step":"1","result_path":"/r","started_at_epoch":{EPOCH},{}}}"#,
            self.item
        );
        let place = Place { offset: 0, base: "/".as_ref(), wall: EPOCH as f64 + self.late };
        let Ok(shared::roster::Entry::Item(spec)) = parse(text.as_bytes(), place) else {
            panic!("{text}")
        };
        let mut slept = 0.0;
        let now = |at: f64, slept: f64| Now {
            wall: jiff::Timestamp::from_nanosecond(ns(self.late + at)).unwrap(),
            boot: Duration::from_secs_f64(1e6 + at),
            monotonic: Duration::from_secs_f64(1e6 + at - slept),
        };
        let entry = Registered { spec: *spec, blind: false, turn: 1 };
        let mut item = Item::new(entry, (ns(0.0), "line"), false, &self.config, &now(0.0, 0.0));
        let mut plan = self.plan.clone();
        if let Some(every) = self.every {
            let last = plan.iter().find(|(_, act)| matches!(act, Exit(_) | Renamed)).map(|p| p.0);
            let mut at = every;
            while at < last.unwrap_or(self.until) {
                plan.push((at, Moved));
                at += every;
            }
        }
        plan.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (mut at, mut out) = (0.0, Vec::new());
        let mut result = self.old.map(|mtime| (1, ns(mtime)));
        let (mut named, mut fate, mut touched) = (self.named, None, self.touched);
        let mut signals = Vec::new();
        loop {
            while plan.first().is_some_and(|(when, _)| *when <= at) {
                let (when, act) = plan.remove(0);
                match act {
                    Renamed => {
                        result = Some((5, ns(when)));
                        signals.push(Signal::Renamed);
                    }
                    Made => {
                        result = Some((0, ns(when)));
                        signals.push(Signal::Written);
                    }
                    Wrote(size) => {
                        result = Some((size, ns(when)));
                        signals.push(Signal::Written);
                    }
                    Closed => signals.push(Signal::Closed),
                    Deleted => result = None,
                    Exit(status) => fate = Some(Fate::Exited(status)),
                    Reused => fate = Some(Fate::Reused),
                    NewPid => {
                        named = Named::Alive(Who { pid: 8, start_ticks: Some(80) });
                    }
                    Moved => touched = Some(self.late + when),
                    Suspend(seconds) => {
                        slept += seconds as f64;
                        at += seconds as f64;
                        for later in &mut plan {
                            later.0 += seconds as f64;
                        }
                        out.push((at - slept, None));
                        let t = clock(&self.config, &now(at, slept));
                        item.idle.from = t;
                    }
                }
            }
            let clocks = now(at, slept);
            if self.config.polling {
                signals.clear();
            }
            let found = match result {
                None => ResultSeen::Absent,
                Some((size, mtime_ns)) => {
                    ResultSeen::File(Version { file: (1, 1), size, mtime_ns })
                }
            };
            let stamp = touched.filter(|_| self.paths);
            let seen = Seen {
                result: found,
                signals: std::mem::take(&mut signals),
                fate: fate.or(item.known.map(|_| Fate::Alive)),
                named,
                progress: Some(Progress {
                    stamp: stamp.map_or(0, |at| (at * 10.0) as u64 + 1),
                    newest: stamp.map(|at| (ns(at), "/p".to_owned())),
                }),
                cpu: None,
                tree: None,
            };
            let told = step(&mut item, &seen, &self.config, &clocks);
            out.extend(told.into_iter().map(|told| (at - slept, Some(told))));
            let next = due(&item, &self.config, &clocks)
                .map(|due| at + (due - clocks.monotonic).as_secs_f64());
            let planned = plan.first().map(|(when, _)| *when);
            let next = next.into_iter().chain(planned).fold(f64::INFINITY, f64::min);
            if next - slept > self.until {
                break;
            }
            // Sums of fractions lie a little beside what they mean.
            at = (next * 1e6).ceil() / 1e6;
        }
        let real = |(at, told): (f64, Option<Told>)| told.map(|told| (at, told));
        out.into_iter().filter_map(real).collect()
    }
}

fn shown(at: f64, told: &Told) -> String {
    let Told::Item(item) = told else { return told.name().to_owned() };
    let at = (at * 10.0).round() / 10.0;
    let facts = match &item.what {
        What::Ready { settled, after_death, .. } => {
            format!(" settled={settled}{}", if *after_death { " after_death" } else { "" })
        }
        What::Died { reason, result, exit_signal, .. } => {
            let signal = exit_signal.map_or_else(String::new, |signal| format!(" signal={signal}"));
            let reason = if *reason == "exited" { "" } else { reason };
            format!(" {result}{signal}{reason}")
        }
        What::Stalled { idle_sec, episode, evidence, .. } => {
            format!(" episode={episode} idle={idle_sec} {evidence}")
        }
        What::Recovered { idle_sec, by, .. } => format!(" by={by} idle={idle_sec}"),
        What::Reason { reason } => format!(" {reason}"),
        _ => String::new(),
    };
    format!("{at}:{}{facts}", item.event)
}

#[track_caller]
fn says(world: &World, want: &[&str]) {
    assert_eq!(world.run(), want, "{:?}", world.plan);
}

const KILLED: Act = Exit(Some(Status::Signal(9)));
const DONE: Act = Exit(Some(Status::Code(0)));

/// A stream from 40 on, closed by the exit at 50.
fn stream(end: Act) -> World {
    busy(&[(40.0, Wrote(1)), (45.0, Wrote(2)), (49.9, Wrote(3)), (50.0, Closed), (50.0, end)])
}

#[test]
fn a_result_settles() {
    says(&busy(&[(100.0, Renamed)]), &["100:result_ready settled=rename"]);
    let paused = [(100.0, Wrote(1)), (110.0, Wrote(2)), (120.0, Wrote(3)), (130.0, Closed)];
    let mut steady: Vec<(f64, Act)> =
        (100_u32..130).map(|at| (f64::from(at), Wrote(u64::from(at)))).collect();
    steady.push((130.0, Closed));
    for plan in [&paused[..], &steady] {
        says(&busy(plan), &["130.1:result_ready settled=close"]);
    }
    let dense: Vec<(f64, Act)> =
        (100_u32..=130).map(|at| (f64::from(at), Wrote(u64::from(at)))).collect();
    says(&busy(&dense).polling(), &["132:result_ready settled=quiet"]);
    let plan = [(100.0, Wrote(1)), (110.0, Wrote(2))];
    says(&busy(&plan), &["140:result_ready settled=quiet"]);
    let plan = [(100.0, Made), (400.0, Wrote(5))];
    says(&busy(&plan).polling(), &["402:result_ready settled=quiet"]);
    let ready = ["100:result_ready settled=rename", "200:result_removed"];
    says(&busy(&[(100.0, Renamed), (200.0, Deleted)]), &ready);
    let mut endless = busy(&[]);
    (endless.item, endless.until) = (r#""timeout_sec":0"#.to_owned(), 5000.0);
    says(&endless, &[]);
}

#[test]
fn silence_is_a_stall_until_it_ends() {
    let until = |at, mut world: World| {
        world.until = at;
        world
    };
    let stalled = "180:stalled episode=1 idle=180 files";
    says(&until(1000.0, silent(&[(1.0, Made)])), &["181:stalled episode=1 idle=180 files"]);
    let world = silent(&[(900.0, Renamed)]);
    let ready = "900:result_ready settled=rename";
    says(&world, &[stalled, "900:recovered by=result idle=900", ready]);
    let world = until(1000.0, silent(&[(300.0, Moved)]));
    let again = "480:stalled episode=2 idle=180 files";
    says(&world, &[stalled, "300:recovered by=progress idle=300", again]);
    let world = silent(&[(250.0, Exit(None))]);
    says(&world, &[stalled, "252:recovered by=exit idle=252", "252:process_died absent"]);
    let mut blind = until(1000.0, silent(&[]));
    (blind.paths, blind.touched) = (false, None);
    says(&blind, &["180:stalled episode=1 idle=180 none"]);
    let mut late = until(600.0, silent(&[]));
    (late.late, late.touched) = (400.0, Some(100.0));
    says(&late, &["0:stalled episode=1 idle=300 files"]);
    // The gap itself is the desk's to tell.
    says(
        &until(400.0, silent(&[(100.0, Suspend(28800))])),
        &["280:stalled episode=1 idle=180 files"],
    );
}

#[test]
fn an_exit_is_told_after_its_grace() {
    says(&busy(&[(50.0, Exit(None))]), &["52:process_died absent"]);
    says(&busy(&[(20.0, Made), (50.0, Exit(None))]), &["52:process_died empty"]);
    let world = busy(&[(50.0, Exit(None)), (50.5, Renamed)]);
    says(&world, &["50.5:result_ready settled=rename"]);
    let world = busy(&[(50.0, Exit(None)), (60.0, Renamed)]);
    let late = "60:result_ready settled=rename after_death";
    says(&world, &["52:process_died absent", late]);
    says(&stream(KILLED), &["52:process_died partial signal=9"]);
    says(&stream(DONE), &["50:result_ready settled=exit"]);
    says(&stream(Exit(None)), &["52:result_ready settled=exit"]);
    let mut other: Vec<(f64, Act)> =
        (40_u32..=58).map(|at| (f64::from(at), Wrote(u64::from(at)))).collect();
    other.push((50.0, Exit(None)));
    let late = "60:result_ready settled=quiet after_death";
    says(&busy(&other).polling(), &["52:process_died partial", late]);
    says(&busy(&[(70.0, Reused)]).polling(), &["72:process_died absentpid_reused"]);
    let world = busy(&[(50.0, Exit(None)), (70.0, NewPid)]);
    let told = world.run();
    assert_eq!(told[..2], ["52:process_died absent", "70:process_replaced"]);
}

#[test]
fn time_runs_out_whatever_else() {
    let mut lost = busy(&[]);
    (lost.named, lost.paths) = (Named::Missing, false);
    let degraded = "15:item_degraded pid_file_missing";
    says(&lost, &[degraded, "1080:timeout_imminent", "1200:timeout_exceeded"]);
    for (late, want) in [
        (1300.0, &["0:timeout_exceeded"][..]),
        (1100.0, &["0:timeout_imminent", "100:timeout_exceeded"]),
    ] {
        let mut world = busy(&[]);
        (world.late, world.touched, world.until) = (late, Some(late), 300.0);
        says(&world, want);
    }
    let mut world = silent(&[]);
    (world.item, world.until) = (r#""timeout_sec":180"#.to_owned(), 300.0);
    let stalled = "180:stalled episode=1 idle=180 files";
    says(&world, &["162:timeout_imminent", stalled, "180:timeout_exceeded"]);
}

#[test]
fn what_was_there_before_is_no_result() {
    let mut world = busy(&[(80.0, Renamed)]);
    world.old = Some(-500.0);
    says(&world, &["0:result_stale", "80:result_ready settled=rename"]);
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        Just(Renamed),
        Just(Made),
        (1_u64..9).prop_map(Wrote),
        Just(Closed),
        Just(Deleted),
        Just(Exit(None)),
        Just(DONE),
        Just(KILLED),
        Just(NewPid),
        Just(Moved),
    ]
}

proptest! {
    /// Whatever happens: what ends comes once, what is raised is cleared before the end, and
    /// nothing is told of an item after its result but that the result went.
    #[test]
    fn an_item_ends_once(
        plan in proptest::collection::vec((0.0_f64..1300.0, act()), 0..12),
        polling in any::<bool>(),
    ) {
        let mut world = silent(&plan);
        world.config.polling = polling;
        let told = world.told();
        let names: Vec<&str> = told.iter().map(|(_, told)| told.name()).collect();
        let count = |name: &str| names.iter().filter(|told| **told == name).count();
        for once in ["result_ready", "result_removed", "timeout_imminent", "timeout_exceeded"] {
            prop_assert!(count(once) <= 1, "{once}: {names:?}");
        }
        prop_assert!(count("stalled") <= count("recovered") + 1);
        let mut open = false;
        for name in &names {
            match *name {
                "stalled" => { prop_assert!(!open); open = true; }
                "recovered" => { prop_assert!(open); open = false; }
                "process_died" | "result_ready" => prop_assert!(!open, "{names:?}"),
                _ => {}
            }
        }
        if let Some(at) = names.iter().position(|name| *name == "result_ready") {
            prop_assert!(names[at + 1..].iter().all(|name| *name == "result_removed"), "{names:?}");
        }
    }
}
