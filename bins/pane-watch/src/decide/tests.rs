use std::cell::RefCell;

use proptest::prelude::*;

use super::*;

const SERVER: Server = Server { pid: 50, start: 1_775_657_000 };

/// What is beside the listing, in seconds.
#[derive(Default)]
struct Facts {
    /// Pane and agent; the step is 1, the instance `i`.
    owners: Vec<(&'static str, &'static str)>,
    /// Items that were unregistered.
    fallen: Vec<&'static str>,
    /// An agent whose process ended, and when.
    ended: Option<(&'static str, u64)>,
    /// A process that began later than the machine.
    born: Option<(u32, u64)>,
}

impl World for Facts {
    fn owner(&self, row: &Row) -> Option<Owner> {
        let (_, agent) = self.owners.iter().find(|(pane, _)| *pane == row.pane)?;
        let owner =
            Owner { agent: (*agent).to_owned(), step: "1".to_owned(), instance: "i".to_owned() };
        self.stands(&owner).then_some(owner)
    }

    fn stands(&self, owner: &Owner) -> bool {
        !self.fallen.contains(&&*owner.agent)
    }

    fn ended(&self, owner: &Owner) -> Option<(u32, Duration)> {
        let (_, at) = self.ended.filter(|(agent, _)| *agent == owner.agent)?;
        Some((4177, Duration::from_secs(at)))
    }

    fn start(&self, pid: u32) -> Option<u64> {
        let (_, at) = self.born.filter(|(young, _)| *young == pid).unwrap_or((pid, 0));
        Some(at)
    }

    fn age(&self, start: u64, now: &Now) -> Duration {
        now.boot.saturating_sub(Duration::from_secs(start))
    }
}

fn row(pane: &str, pid: u32) -> Row {
    Row {
        session: "$0".to_owned(),
        window: "@0".to_owned(),
        pane: pane.to_owned(),
        pid,
        dead: false,
        status: None,
        signal: None,
        died: None,
        tty: "/dev/pts/9".to_owned(),
        server: SERVER,
    }
}

fn dead(pane: &str, pid: u32, status: Option<i64>, signal: Option<i64>) -> Row {
    Row { dead: true, status, signal, died: Some(1_775_657_398), ..row(pane, pid) }
}

/// A watch over `%0`, the lead's pane, to whose rows what a test lists is added.
struct Table {
    memory: Memory,
    facts: Facts,
    known: BTreeSet<String>,
    baseline: bool,
    once: bool,
    due: RefCell<Option<Duration>>,
}

impl Table {
    /// After a first sweep at 1000 s that found `%0` alone.
    fn new() -> Self {
        let mut table = Self::fresh();
        assert!(table.at(1000, &[]).is_empty());
        table
    }

    fn fresh() -> Self {
        Self {
            memory: Memory::default(),
            facts: Facts::default(),
            known: BTreeSet::new(),
            baseline: false,
            once: false,
            due: RefCell::new(None),
        }
    }

    /// Sweeps at a second; what is told, in short.
    fn at(&mut self, second: u64, rows: &[Row]) -> Vec<String> {
        self.look(second * 1000, rows, &[])
    }

    fn look(&mut self, ms: u64, rows: &[Row], lost: &[(&str, Lost)]) -> Vec<String> {
        let mut rows = rows.to_vec();
        if lost.iter().all(|(id, _)| *id != "%0") {
            rows.push(row("%0", 100));
        }
        let lost = lost.iter().map(|(id, lost)| ((*id).to_owned(), *lost)).collect();
        let time = Duration::from_millis(ms);
        let now = Now { wall: Timestamp::UNIX_EPOCH, boot: time, monotonic: time };
        let rules = Rules {
            lead: "%0",
            known: &self.known,
            untracked_after: Duration::from_secs(10),
            baseline: self.baseline,
            once: self.once,
            socket: "/s",
        };
        let outcome = sweep(&mut self.memory, &Seen { rows, lost }, &self.facts, &rules, &now);
        self.due.replace(outcome.due);
        outcome.events.iter().map(short).collect()
    }

    /// When the next look was asked for, in milliseconds.
    fn due(&self) -> Option<u128> {
        self.due.borrow().map(|due| due.as_millis())
    }
}

fn short(event: &Event) -> String {
    let of = |of: &Of| of.agent.clone().unwrap_or_else(|| "-".to_owned());
    match event {
        Event::PaneDead(it) => {
            let (status, signal) = (it.exit_status, it.exit_signal);
            format!("dead {} {} {status:?} {signal:?}", it.pane.pane, of(&it.of))
        }
        Event::PaneGone(it) => {
            format!(
                "gone {} {} {} {:?}",
                it.pane.pane,
                of(&it.of),
                it.process_alive,
                it.exit_status
            )
        }
        Event::UntrackedPane(it) => format!("untracked {} {}", it.pane.pane, it.preexisting),
        Event::PaneOutlivedAgent(it) => {
            format!("outlived {} {} {} {}", it.pane.pane, of(&it.of), it.agent_pid, it.since_sec)
        }
        Event::KnownPaneGone(it) => format!("known {} {}", it.pane.pane, it.role),
        Event::TmuxServerGone(it) => format!("server {}", it.panes),
    }
}

const NONE: [&str; 0] = [];

#[test]
fn g8_a_pane_that_ends_is_gone_or_dead() {
    let mut table = Table::new();
    table.at(1001, &[row("%1", 1), row("%2", 2)]);
    assert_eq!(
        table.look(1_002_000, &[row("%2", 2)], &[("%1", Lost::Gone(false))]),
        ["gone %1 - false None"]
    );
    assert_eq!(table.at(1003, &[dead("%2", 2, Some(3), None)]), ["dead %2 - Some(3) None"]);
    assert_eq!(table.at(1004, &[dead("%2", 2, Some(3), None)]), NONE);
    // A corpse that is taken away is gone, with what is known of its end.
    let corpse = [("%2", Lost::Gone(false))];
    assert_eq!(table.look(1_005_000, &[], &corpse), ["gone %2 - false Some(3)"]);
}

#[test]
fn g8_a_signal_and_the_time_of_an_end_are_told() {
    let mut table = Table::new();
    assert_eq!(table.at(1001, &[dead("%1", 1, None, Some(9))]), ["dead %1 - None Some(9)"]);
    let mut memory = Memory::default();
    let rules = Rules {
        lead: "%0",
        known: &BTreeSet::new(),
        untracked_after: Duration::ZERO,
        baseline: false,
        once: false,
        socket: "/s",
    };
    let time = Duration::from_secs(1);
    let now = Now { wall: Timestamp::UNIX_EPOCH, boot: time, monotonic: time };
    let seen = Seen { rows: vec![dead("%1", 1, Some(0), None)], ..Seen::default() };
    let told = sweep(&mut memory, &seen, &Facts::default(), &rules, &now).events;
    let [Event::PaneDead(it)] = &*told else { panic!("{told:?}") };
    assert_eq!(it.died_at.as_deref(), Some("2026-04-08T14:09:58Z"));
}

#[test]
fn g8_a_death_without_status_gets_more_looks() {
    let mut table = Table::new();
    let corpse = [dead("%1", 1, None, None)];
    assert_eq!((table.look(1_001_000, &corpse, &[]), table.due()), (vec![], Some(1_001_010)));
    // A look that came for another reason is none of these.
    assert_eq!((table.look(1_001_004, &corpse, &[]), table.due()), (vec![], Some(1_001_010)));
    assert_eq!((table.look(1_001_010, &corpse, &[]), table.due()), (vec![], Some(1_001_025)));
    assert_eq!((table.look(1_001_025, &corpse, &[]), table.due()), (vec![], Some(1_001_100)));
    assert_eq!((table.look(1_001_100, &corpse, &[]), table.due()), (vec![], Some(1_001_400)));
    assert_eq!(table.look(1_001_400, &corpse, &[]), ["dead %1 - None None"]);
    assert_eq!((table.look(1_001_401, &corpse, &[]), table.due()), (vec![], None));

    let mut table = Table::new();
    table.look(1_001_000, &corpse, &[]);
    assert_eq!(
        table.look(1_001_010, &[dead("%1", 1, Some(3), None)], &[]),
        ["dead %1 - Some(3) None"]
    );

    let mut table = Table::new();
    table.once = true;
    assert_eq!(table.at(1001, &corpse), ["dead %1 - None None"]);
}

#[test]
fn g8_each_incarnation_has_its_events() {
    let mut table = Table::new();
    for (second, pid) in [(1001, 1), (1002, 2), (1003, 3)] {
        assert_eq!(table.at(second, &[row("%1", pid)]), ["untracked %1 false"], "{pid}");
        assert_eq!(table.at(second, &[row("%1", pid)]), NONE);
    }
}

#[test]
fn g8_a_pane_that_comes_back_into_the_scope_is_the_same() {
    let mut table = Table::new();
    assert_eq!(table.at(1001, &[row("%1", 1)]), ["untracked %1 false"]);
    assert_eq!(table.look(1_002_000, &[], &[("%1", Lost::Moved)]), NONE);
    assert_eq!(
        server_gone(&table.memory, "/s").iter().map(short).collect::<Vec<_>>(),
        ["server 1"]
    );
    assert_eq!(table.at(1003, &[row("%1", 1)]), NONE);
    assert_eq!(
        server_gone(&table.memory, "/s").iter().map(short).collect::<Vec<_>>(),
        ["server 2"]
    );
}

#[test]
fn g8_an_untracked_pane_is_alive_unknown_and_of_age() {
    let mut table = Table::new();
    table.facts.born = Some((1, 1001));
    assert_eq!((table.at(1001, &[row("%1", 1)]), table.due()), (vec![], Some(1_011_010)));
    assert_eq!(table.look(1_010_999, &[row("%1", 1)], &[]), NONE);
    assert_eq!(table.look(1_011_010, &[row("%1", 1)], &[]), ["untracked %1 false"]);

    let mut table = Table::fresh();
    assert_eq!(table.at(1000, &[row("%1", 1)]), ["untracked %1 true"]);
    let mut table = Table::fresh();
    table.baseline = true;
    assert_eq!(table.at(1000, &[row("%1", 1)]), NONE);
    assert_eq!(table.at(1001, &[row("%1", 1), row("%2", 2)]), ["untracked %2 false"]);
    // Another process in it is no longer what the first sweep found.
    assert_eq!(table.at(1002, &[row("%1", 3), row("%2", 2)]), ["untracked %1 false"]);
}

#[test]
fn g8_a_tracked_pane_is_its_agents_until_the_item_falls() {
    let mut table = Table::new();
    table.facts.owners = vec![("%1", "executor")];
    assert_eq!(table.at(1001, &[row("%1", 1)]), NONE);
    // A pid that is gone tells nothing any more, but what was known of the pane stays.
    table.facts.owners.clear();
    assert_eq!(table.at(1002, &[row("%1", 1)]), NONE);
    let corpse = dead("%1", 1, Some(0), None);
    let mut other = Table { memory: table.memory.clone(), ..Table::fresh() };
    assert_eq!(other.at(1003, &[corpse]), ["dead %1 executor Some(0) None"]);
    let mut other = Table { memory: table.memory.clone(), ..Table::fresh() };
    let gone = [("%1", Lost::Gone(true))];
    assert_eq!(other.look(1_003_000, &[], &gone), ["gone %1 executor true None"]);
    table.facts.fallen = vec!["executor"];
    assert_eq!(table.at(1003, &[row("%1", 1)]), ["untracked %1 false"]);
}

#[test]
fn g8_a_pane_outlives_its_agent_by_thirty_seconds() {
    let mut table = Table::new();
    table.facts.owners = vec![("%1", "executor")];
    table.facts.ended = Some(("executor", 1005));
    assert_eq!((table.at(1005, &[row("%1", 1)]), table.due()), (vec![], Some(1_035_000)));
    assert_eq!(table.look(1_034_999, &[row("%1", 1)], &[]), NONE);
    assert_eq!(table.at(1036, &[row("%1", 1)]), ["outlived %1 executor 4177 31"]);
    assert_eq!((table.at(1099, &[row("%1", 1)]), table.due()), (vec![], None));

    // Neither a pane that died, nor one that belongs there anyway, outlives anybody.
    let mut table = Table::new();
    table.facts.owners = vec![("%1", "executor"), ("%2", "executor")];
    table.facts.ended = Some(("executor", 1005));
    table.known = ["%2".to_owned()].into();
    let rows = [dead("%1", 1, Some(0), None), row("%2", 2)];
    assert_eq!(table.at(1099, &rows), ["dead %1 executor Some(0) None"]);
}

#[test]
fn g8_known_panes_that_went_or_died_are_told_once() {
    let mut table = Table::new();
    table.known = ["%1".to_owned(), "%2".to_owned(), "%9".to_owned()].into();
    assert_eq!(table.at(1001, &[row("%1", 1), row("%2", 2)]), NONE);
    assert_eq!(
        table.look(1_002_000, &[row("%2", 2)], &[("%1", Lost::Gone(false))]),
        ["known %1 known"]
    );
    assert_eq!(table.at(1003, &[dead("%2", 2, None, None)]), ["known %2 known"]);
    assert_eq!(table.look(1_004_000, &[], &[("%2", Lost::Gone(false))]), NONE);
    assert_eq!(
        table.look(1_005_000, &[row("%3", 3)], &[("%0", Lost::Gone(false))]),
        ["untracked %3 false", "known %0 lead"]
    );
}

#[test]
fn g8_the_lead_is_remembered_where_it_was() {
    let mut table = Table::new();
    let around = |table: &Table| table.memory.around.clone().unwrap();
    assert_eq!((&*around(&table).window, around(&table).is_left), ("@0", false));
    table.look(1_001_000, &[row("%1", 1)], &[("%0", Lost::Gone(false))]);
    assert_eq!((&*around(&table).window, around(&table).is_left), ("@0", true));
}

#[test]
fn what_is_remembered_outlives_the_process() {
    let mut table = Table::new();
    table.at(1001, &[row("%1", 1), dead("%2", 2, Some(0), None)]);
    let text = serde_json::to_string(&table.memory).unwrap();
    assert_eq!(serde_json::from_str::<Memory>(&text).unwrap(), table.memory);
}

proptest! {
    /// Whatever the panes do: each end is told, and nothing twice.
    #[test]
    fn every_end_is_told_once(plan in proptest::collection::vec((1_u32..4, 0_u8..5), 0..60)) {
        let mut table = Table::new();
        let mut panes: BTreeMap<String, Row> = BTreeMap::new();
        let (mut told, mut pids, mut second) = (Vec::new(), 1000, 1000);
        let (mut deaths, mut departures) = (0, 0);
        for (n, act) in plan {
            let id = format!("%{n}");
            second += 100;
            let mut lost = Vec::new();
            match (act, panes.remove(&id)) {
                // A new pane, or another process in an old one.
                (0, _) => {
                    pids += 1;
                    panes.insert(id.clone(), row(&id, pids));
                }
                (1, Some(alive)) if !alive.dead => {
                    deaths += 1;
                    panes.insert(id.clone(), dead(&id, alive.pid, Some(1), None));
                }
                (2, Some(_)) => {
                    departures += 1;
                    lost.push((&*id, Lost::Gone(false)));
                }
                (_, Some(same)) => drop(panes.insert(id.clone(), same)),
                (_, None) => {}
            }
            let rows: Vec<Row> = panes.values().cloned().collect();
            told.extend(table.look(second * 1000, &rows, &lost));
        }
        let count = |word: &str| told.iter().filter(|said| said.starts_with(word)).count();
        prop_assert_eq!((count("dead"), count("gone")), (deaths, departures));
        prop_assert_eq!(count("untracked"), (pids - 1000) as usize);
    }
}
