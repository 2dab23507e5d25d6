//! Scripts: rows of `time: input => what follows`, played on an engine.
//!
//! What follows: `wake`, `hold`, `no_change`, `record_only`, `retry_provider`, `stop_…`, each
//! with its reason and the entries that it tells if they are written (`wake changed {R,L}`);
//! `quiet` is any decision that is not printed, `none` is none. `line` is a line, whatever the
//! verdict, `again` the same line as before, `nothing` no line, whatever the verdict. After a
//! bar come facts of the state: `masks {=fault:a:100}`, `unseen 1`.
//!
//! Every line is flushed at its time, and there is no tick but those written. What a verdict
//! names is what its line tells.

use shared::reading::Severity;

use super::inputs::{self, ms};
use crate::decide::{
    Ack, AckResult, Acks, Decision, Emission, Engine, Entry, Input, Ms, Policy, Stall, State,
    Verdict,
};

/// A script while it is played.
pub(super) struct Play {
    policy: Policy,
    given: serde_json::Value,
    pub(super) engine: Option<Engine>,
    /// All lines that were printed, with their times.
    pub(super) lines: Vec<(Ms, Emission)>,
}

/// Plays a script from its beginning, and gives the engine as it is left.
pub(super) fn play(script: &str) -> Play {
    let mut play = Play::new();
    play.go_on(script);
    play
}

impl Play {
    pub(super) fn new() -> Self {
        let state = State::new("w", "00112233aabbccdd", 0);
        let given = serde_json::to_value(&state).unwrap();
        Self { policy: Policy::default(), given, engine: None, lines: Vec::new() }
    }

    /// Plays more rows.
    pub(super) fn go_on(&mut self, script: &str) {
        for row in script.lines().map(str::trim).filter(|row| !row.is_empty()) {
            if row.starts_with("--") {
                flags(&mut self.policy, row);
            } else if let Some(fact) = row.strip_prefix("given ") {
                given(&mut self.given, fact);
            } else if row == "restart" {
                let state = self.state().to_string();
                let state = State::from_json(&state).unwrap();
                self.engine = Some(Engine::new(self.policy.clone(), state));
            } else {
                self.row(row);
            }
        }
    }

    pub(super) fn engine(&mut self) -> &mut Engine {
        let (policy, given) = (&self.policy, &self.given);
        self.engine.get_or_insert_with(|| {
            Engine::new(policy.clone(), State::from_json(&given.to_string()).unwrap())
        })
    }

    /// The state as it is written.
    pub(super) fn state(&mut self) -> serde_json::Value {
        serde_json::to_value(self.engine().state()).unwrap()
    }

    fn row(&mut self, row: &str) {
        let (time, rest) = row.split_once(':').unwrap();
        let (input, wanted) = rest.split_once("=>").unwrap();
        let (now, input) = (ms(time), input.trim());
        let (wanted, facts) = wanted.split_once('|').unwrap_or((wanted, ""));
        let verdicts = self.take(input, now);
        let lines = self.print(now);
        check(row, wanted.trim(), &verdicts, &lines);
        if wanted.trim() == "again" {
            let before = self.lines.last().map(|(_, line)| line.claim.clone());
            assert_eq!(before, lines.first().map(|line| line.claim.clone()), "{row}");
        }
        self.lines.extend(lines.into_iter().map(|line| (now, line)));
        for fact in facts.split(';').map(str::trim).filter(|fact| !fact.is_empty()) {
            self.fact(row, fact);
        }
    }

    /// Gives an input to the engine.
    pub(super) fn take(&mut self, input: &str, now: Ms) -> Vec<Verdict> {
        let claims: Vec<String> = self.lines.iter().map(|(_, line)| line.claim.clone()).collect();
        if let Some(line) = inputs::event(input) {
            return self.engine().take(Input::Event(&line.event), now).to_vec();
        }
        let mut words = input.split_whitespace();
        match words.next() {
            Some("tick") => self.engine().take(Input::Tick, now).to_vec(),
            Some("ack") => {
                let result = words.next().unwrap();
                let rest: Vec<&str> = words.collect();
                let claim = rest.iter().find_map(|word| word.strip_prefix('c'));
                let at = claim.map_or(claims.len(), |number| number.parse().unwrap());
                let ack = Ack { claim: &claims[at - 1], result: result_of(result, &rest) };
                self.engine().take(Input::Ack(&ack), now).to_vec()
            }
            _ => self.engine().take(Input::Look(&inputs::look(input)), now).to_vec(),
        }
    }

    /// Prints all that is to be printed.
    pub(super) fn print(&mut self, now: Ms) -> Vec<Emission> {
        let (engine, mut lines) = (self.engine(), Vec::new());
        while let Some(line) = engine.emission(now) {
            engine.put_line(&format!("{{{}}}", line.claim));
            engine.flushed(now);
            lines.push(line);
        }
        lines
    }

    fn fact(&mut self, row: &str, fact: &str) {
        let state = self.state();
        let (what, wanted) = fact.split_once(' ').unwrap();
        let record = state["subjects"].as_object().unwrap().values().next().unwrap_or(&state);
        let got = match what {
            "masks" => masks(record),
            "keys" => names(record),
            "wakes" => state["spent"]["wakes"].to_string(),
            "tokens" => format!("{}+{}", state["spent"]["tokens_in"], state["spent"]["tokens_out"]),
            "tokens_known" => state["spent"]["tokens_known"].to_string(),
            "guard" => state["guard"]["tokens"].to_string(),
            "count" | "start" | "trips" => {
                let name = if what == "start" { "start_ms" } else { what };
                let value = record["stall"][name].as_u64();
                let unit = if what == "start" { 1000 } else { 1 };
                value.map_or("none".to_owned(), |value| (value / unit).to_string())
            }
            _ => record[what].to_string(),
        };
        assert_eq!(got, wanted.replace(", ", ","), "{fact} after {row}");
    }
}

fn result_of(word: &str, rest: &[&str]) -> AckResult {
    let tokens = rest.iter().find_map(|word| word.split_once('+'));
    match word {
        "dispatched" => AckResult::Dispatched,
        "busy" => AckResult::Busy,
        "unavailable" => AckResult::Unavailable,
        "completed" => AckResult::Completed {
            tokens_in: tokens.map(|(tokens, _)| tokens.parse().unwrap()),
            tokens_out: tokens.map(|(_, tokens)| tokens.parse().unwrap()),
            stalled: rest.contains(&"approval_stall"),
        },
        other => panic!("{other:?} is no result"),
    }
}

fn keys(record: &serde_json::Value) -> impl Iterator<Item = (&String, &serde_json::Value)> {
    record["keys"].as_object().unwrap().iter()
}

/// `{=fault:a:100}`: the told keys and their times.
fn masks(record: &serde_json::Value) -> String {
    let told = keys(record).filter_map(|(name, key)| Some((name, key["told_ms"].as_u64()?)));
    let told: Vec<String> = told.map(|(name, at)| format!("{name}:{}", at / 1000)).collect();
    format!("{{{}}}", told.join(","))
}

fn names(record: &serde_json::Value) -> String {
    format!("{{{}}}", keys(record).map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(","))
}

/// Compares what was judged and printed with what is wanted.
fn check(row: &str, wanted: &str, verdicts: &[Verdict], lines: &[Emission]) {
    let got = format!("{row}\n verdicts {verdicts:#?}\n lines {lines:#?}");
    let (words, entries) = match wanted.find('{') {
        Some(at) => (wanted[..at].trim(), Some(inputs::list(&wanted[at..]))),
        None => (wanted, None),
    };
    let (word, reason) = words.split_once(' ').unwrap_or((words, ""));
    match word {
        "none" => assert!(verdicts.is_empty() && lines.is_empty(), "{got}"),
        "nothing" => assert!(lines.is_empty(), "{got}"),
        "again" => assert!(lines.len() == 1 && lines[0].again.is_some(), "{got}"),
        "line" => {
            assert_eq!(lines.len(), 1, "{got}");
            assert!(reason.is_empty() || lines[0].reason.as_str() == reason, "{got}");
            same(&got, entries, lines[0].items.iter().map(|item| &item.entry));
        }
        "quiet" => {
            let is_quiet = verdicts.iter().all(|verdict| !verdict.decision.is_printed());
            assert!(is_quiet && lines.is_empty(), "{got}");
        }
        _ => {
            let [verdict] = verdicts else { panic!("{got}") };
            let (is_silent, word) = match word.strip_prefix("silent-") {
                Some(word) => (true, word),
                None => (false, word),
            };
            let (decision, reason) = match word {
                "wake" => (Decision::WakeActionable, reason),
                "hold" => (Decision::RecordOnly, "held"),
                word => (Decision::of(word).unwrap_or_else(|| panic!("{word}?")), reason),
            };
            assert_eq!(verdict.decision, decision, "{got}");
            assert!(reason.is_empty() || verdict.reason.as_str() == reason, "{got}");
            let is_printed = decision.is_printed() && !is_silent;
            assert_eq!(lines.len(), usize::from(is_printed), "{got}");
            same(&got, entries, verdict.entries.iter());
            if let [line] = lines {
                assert_eq!((line.decision, &line.reason), (decision, &verdict.reason), "{got}");
                same_entries(&got, verdict, line);
            }
        }
    }
}

/// The names that are wanted are those that are told, in any order.
fn same<'a>(got: &str, wanted: Option<Vec<&str>>, told: impl Iterator<Item = &'a Entry>) {
    let Some(wanted) = wanted else { return };
    let mut wanted: Vec<String> = wanted.into_iter().map(inputs::name).collect();
    // What is told once has its id in its key; a row may leave it out.
    let plain = |entry: &Entry| match entry.key.split_once('#') {
        Some((key, _)) if !wanted.iter().any(|name| name.contains('#')) => key.to_owned(),
        _ => entry.key.clone(),
    };
    let mut told: Vec<String> = told.map(plain).collect();
    wanted.sort();
    told.sort();
    assert_eq!(told, wanted, "{got}");
}

fn same_entries(got: &str, verdict: &Verdict, line: &Emission) {
    let mut named: Vec<&Entry> = verdict.entries.iter().collect();
    let mut told: Vec<&Entry> = line.items.iter().map(|item| &item.entry).collect();
    named.sort_by(|one, other| one.key.cmp(&other.key));
    told.sort_by(|one, other| one.key.cmp(&other.key));
    assert_eq!(named, told, "{got}");
    let rank = |entry: &Entry| entry.severity != Severity::Immediate;
    assert!(line.items.iter().map(|item| &item.entry).is_sorted_by_key(rank), "{got}");
}

/// `--group-wait 240 --stall stop`, as on the command line.
fn flags(policy: &mut Policy, row: &str) {
    let mut words = row.split_whitespace();
    while let Some(flag) = words.next() {
        let mut value = || words.next().unwrap();
        match flag {
            "--group-wait" => policy.group_wait = ms(value()),
            "--group-interval" => policy.group_interval = ms(value()),
            "--max-wait" => policy.max_wait = ms(value()),
            "--repeat-interval" => policy.repeat_interval = ms(value()),
            "--pending-gate" => policy.pending_gate = value() == "on",
            "--stall" if value() == "stop" => policy.stall = Stall::Stop,
            "--floor" => policy.floor = value().parse().ok(),
            "--max-errors" => policy.max_errors = value().parse().ok(),
            "--max-lifetime" => policy.max_lifetime = Some(ms(value())),
            "--max-wakes" => policy.max_wakes = value().parse().ok(),
            "--max-tokens" => policy.max_tokens = value().parse().ok(),
            "--keep-going" => policy.keep_going = true,
            "--acks" => policy.acks = Some(Acks::default()),
            other => panic!("{other:?} is no flag of a script"),
        }
    }
}

/// `created 1000`, `wakes 8`, `tokens 150000 100000`; of the record `@a`, `unseen 11`,
/// `mask =fault:a 100`, `held =fault:a 100`.
fn given(state: &mut serde_json::Value, fact: &str) {
    let mut words = fact.split_whitespace();
    let (what, mut next) = (words.next().unwrap(), || words.next().unwrap());
    match what {
        "created" => state["created_ms"] = ms(next()).into(),
        "wakes" => state["spent"]["wakes"] = next().parse::<u64>().unwrap().into(),
        "tokens" => {
            state["spent"]["tokens_in"] = next().parse::<u64>().unwrap().into();
            state["spent"]["tokens_out"] = next().parse::<u64>().unwrap().into();
        }
        _ => {
            let record = &mut state["subjects"]["r|probe|thing|s"];
            let mut key = |name: &str, stamp: &str, at: &str| {
                record["keys"][name][stamp] = ms(at).into();
                record["keys"][name]["severity"] = "wake".into();
            };
            match what {
                "mask" => key(next(), "told_ms", next()),
                "held" => key(next(), "since_ms", next()),
                "unseen" => record["unseen"] = next().parse::<u64>().unwrap().into(),
                revision => record["revision"] = revision.trim_start_matches('@').into(),
            }
        }
    }
}
