//! A world that changes by a plan, and a clock that jumps to what is due.

use std::time::Duration;

use shared::{
    clock::Now,
    follow,
    pidfile::{Status, Who},
};

use crate::{
    desk::Desk,
    event::{Told, What},
    item::Config,
    seen::{Fate, Named, Progress, ResultSeen, Seen, Signal, Version},
    step::{due, step},
};

const EPOCH: i64 = 1_700_000_000;
const SWEEP: Duration = Duration::from_secs(30);

/// What happens.
#[derive(Debug, Clone, Copy)]
pub(super) enum Act {
    Renamed,
    Made,
    Wrote(u64),
    Closed,
    Opened,
    Deleted,
    NoFolder,
    /// It has begun to end.
    Ending,
    Exit(Option<Status>),
    Reused,
    Says(Named),
    Moved,
    /// The machine sleeps.
    Suspend(u64),
    /// We sleep.
    Stand(u64),
}

pub(super) const WHO: Who = Who { pid: 7, start_ticks: Some(70) };
pub(super) const OTHER: Who = Who { pid: 8, start_ticks: Some(80) };

/// How a world begins, and what happens in it. Times are seconds since the registration, without
/// those that the machine slept.
#[derive(Debug, Clone)]
pub(super) struct World {
    /// Members of the item's line.
    pub(super) item: &'static str,
    pub(super) config: Config,
    /// How long the agent runs already.
    pub(super) late: f64,
    pub(super) plan: Vec<(f64, Act)>,
    /// How often there is progress, up to the first exit or result.
    pub(super) every: Option<f64>,
    pub(super) until: f64,
    pub(super) named: Named,
    /// Whether there are progress paths.
    pub(super) paths: bool,
    /// The mtime of a result that is there.
    pub(super) old: Option<f64>,
    /// The mtime of the progress path.
    pub(super) touched: Option<f64>,
    pub(super) watched: bool,
    /// CPU use in percent, of the process and of its tree.
    pub(super) cpu: Option<(f64, f64)>,
}

pub(super) fn config() -> Config {
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
    }
}

/// A live process, a limit of 1200 s, progress every 30 s.
pub(super) fn busy(plan: &[(f64, Act)]) -> World {
    World {
        item: r#""timeout_sec":1200"#,
        config: config(),
        late: 0.0,
        plan: plan.to_vec(),
        every: Some(30.0),
        until: 1300.0,
        named: Named::Alive(WHO),
        paths: true,
        old: None,
        touched: Some(0.0),
        watched: true,
        cpu: None,
    }
}

/// The same in silence.
pub(super) fn silent(plan: &[(f64, Act)]) -> World {
    World { every: None, ..busy(plan) }
}

fn ns(at: f64) -> i128 {
    i128::from(EPOCH) * 1_000_000_000 + (at * 1e9) as i128
}

impl World {
    /// The same without inotify.
    pub(super) fn polling(self) -> Self {
        Self { watched: false, ..self }
    }

    pub(super) fn until(self, until: f64) -> Self {
        Self { until, ..self }
    }

    /// What is told, as `seconds:event`, registrations left out.
    pub(super) fn run(&self) -> Vec<String> {
        self.told().iter().map(|(at, told)| shown(*at, told)).collect()
    }

    pub(super) fn told(&self) -> Vec<(f64, Told)> {
        let mut run = Run::new(self);
        let mut out = Vec::new();
        loop {
            run.act();
            run.look();
            let at = run.at - run.slept;
            let told = std::mem::take(&mut run.desk.told).into_iter();
            out.extend(told.filter(|told| told.name() != "item_registered").map(|told| (at, told)));
            let next = run.next();
            if next - run.slept > self.until {
                return out;
            }
            // Sums of fractions lie a little beside what they mean.
            run.at = (next * 1e6).ceil() / 1e6;
        }
    }

    fn whole_plan(&self) -> Vec<(f64, Act)> {
        let mut plan = self.plan.clone();
        let end = plan.iter().find(|(_, act)| matches!(act, Act::Exit(_) | Act::Renamed));
        let end = end.map_or(self.until, |(at, _)| *at);
        if let Some(every) = self.every {
            let times = (1..).map(|n| f64::from(n) * every).take_while(|at| *at < end);
            plan.extend(times.map(|at| (at, Act::Moved)));
        }
        plan.sort_by(|a, b| a.0.total_cmp(&b.0));
        plan
    }
}

struct Run<'a> {
    world: &'a World,
    desk: Desk,
    plan: Vec<(f64, Act)>,
    /// The time, and how much of it the machine slept.
    at: f64,
    slept: f64,
    planned: Option<Duration>,
    result: ResultSeen,
    signals: Vec<Signal>,
    fate: Option<Fate>,
    ending: bool,
    named: Named,
    touched: Option<f64>,
}

impl<'a> Run<'a> {
    fn new(world: &'a World) -> Self {
        let mut run = Self {
            world,
            desk: Desk::new(world.config.clone(), "/".into()),
            plan: world.whole_plan(),
            at: 0.0,
            slept: 0.0,
            planned: None,
            result: ResultSeen::Absent,
            signals: Vec::new(),
            fate: None,
            ending: false,
            named: world.named,
            touched: world.touched,
        };
        if let Some(mtime) = world.old {
            run.result = file(1, mtime);
        }
        let text = format!(
            r#"{{"agent":"a","step":"1","result_path":"/r","started_at_epoch":{EPOCH},{}}}"#,
            world.item
        );
        let line = follow::Told::Line { number: 1, offset: 0, text: Some(text.as_bytes()) };
        let now = run.now();
        run.desk.take(line, false, &now);
        run
    }

    fn now(&self) -> Now {
        let wall = ns(self.world.late + self.at);
        Now {
            wall: jiff::Timestamp::from_nanosecond(wall).unwrap(),
            boot: Duration::from_secs_f64(1e6 + self.at),
            monotonic: Duration::from_secs_f64(1e6 + self.at - self.slept),
        }
    }

    /// Does what is planned for now.
    fn act(&mut self) {
        while self.plan.first().is_some_and(|(when, _)| *when <= self.at) {
            let (when, act) = self.plan.remove(0);
            let mut wrote = |size, signal| {
                self.result = file(size, when);
                self.signals.push(signal);
            };
            match act {
                Act::Renamed => wrote(5, Signal::Renamed),
                Act::Made => wrote(0, Signal::Written),
                Act::Wrote(size) => wrote(size, Signal::Written),
                Act::Closed => self.signals.push(Signal::Closed),
                Act::Opened => self.signals.push(Signal::Opened),
                Act::Deleted => self.result = ResultSeen::Absent,
                Act::NoFolder => self.result = ResultSeen::NoFolder,
                Act::Ending => self.ending = true,
                Act::Exit(status) => self.fate = Some(Fate::Exited(status)),
                Act::Reused => self.fate = Some(Fate::Reused),
                Act::Says(named) => self.says(named),
                Act::Moved => self.touched = Some(self.world.late + when),
                Act::Stand(seconds) => self.at += seconds as f64,
                Act::Suspend(seconds) => {
                    self.at += seconds as f64;
                    self.slept += seconds as f64;
                    self.plan.iter_mut().for_each(|(at, _)| *at += seconds as f64);
                }
            }
        }
    }

    /// A process that is dead is let go of for one that lives.
    fn says(&mut self, named: Named) {
        self.named = named;
        let dead = self.fate.is_some_and(|fate| fate != Fate::Alive);
        self.fate = self.fate.filter(|_| !dead || !matches!(named, Named::Alive(_)));
    }

    fn look(&mut self) {
        let now = self.now();
        self.desk.pass(self.planned, SWEEP, &now);
        let newest = self.touched.filter(|_| self.world.paths);
        let ticks = |pct: f64| (pct * self.at) as u64;
        let watched = self.world.watched;
        let signals = std::mem::take(&mut self.signals);
        let Desk { config, items, told, .. } = &mut self.desk;
        let item = items.values_mut().next().unwrap();
        let wants = item.wants(config, true, &now);
        let seen = Seen {
            signals: if watched { signals } else { Vec::new() },
            watched,
            fate: item.known.map(|_| self.fate.unwrap_or(Fate::Alive)),
            ending: self.ending,
            named: self.named,
            progress: Some(Progress {
                stamp: newest.map_or(0, |at| (at * 10.0) as u64 + 1),
                newest: newest.map(|at| (ns(at), "/p".to_owned())),
            }),
            cpu: self.world.cpu.filter(|_| wants.cpu).map(|(own, _)| (ticks(own), 'S')),
            tree: self.world.cpu.filter(|_| wants.tree).map(|(_, tree)| ticks(tree)),
            ..Seen::only(self.result)
        };
        told.extend(step(item, &seen, config, &now));
    }

    /// When something is due, or happens.
    fn next(&mut self) -> f64 {
        let now = self.now();
        let item = self.desk.items.values().next().unwrap();
        self.planned = due(item, &self.desk.config, &now);
        let due = self.planned.map(|due| self.at + (due - now.monotonic).as_secs_f64());
        let planned = self.plan.first().map(|(when, _)| *when);
        due.into_iter().chain(planned).fold(f64::INFINITY, f64::min)
    }
}

fn file(size: u64, mtime: f64) -> ResultSeen {
    ResultSeen::File(Version { file: (1, 1), size, mtime_ns: ns(mtime) })
}

fn shown(at: f64, told: &Told) -> String {
    let at = (at * 10.0).round() / 10.0;
    let Told::Item(item) = told else { return format!("{at}:{}", told.name()) };
    let facts = match &item.what {
        What::Ready { settled, after_death, rewrite, .. } => {
            let late = if *after_death { " after_death" } else { "" };
            let again = if *rewrite > 0 { format!(" rewrite={rewrite}") } else { String::new() };
            format!(" settled={settled}{late}{again}")
        }
        What::Died { reason, result, exit_signal, .. } => {
            let signal = exit_signal.map_or_else(String::new, |signal| format!(" signal={signal}"));
            format!(" {reason} {result}{signal}")
        }
        What::Stalled { idle_sec, episode, evidence, cpu_pct, tree_cpu_pct, .. } => {
            let pct = |name: &str, pct: Option<f64>| {
                pct.map_or_else(String::new, |pct| format!(" {name}={pct}"))
            };
            let cpu = pct("cpu", *cpu_pct) + &pct("tree", *tree_cpu_pct);
            format!(" episode={episode} idle={idle_sec} {evidence}{cpu}")
        }
        What::Recovered { idle_sec, by, .. } => format!(" by={by} idle={idle_sec}"),
        What::Reason { reason } => format!(" {reason}"),
        What::Restored { reason, by } => format!(" {reason} by={by}"),
        _ => String::new(),
    };
    format!("{at}:{}{facts}", item.event)
}
