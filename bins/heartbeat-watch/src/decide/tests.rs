//! The page's table. The present is 14:10:00Z of 2026-04-08; `WI-1 s1 14:15` is an implementing
//! item, its owner, its lease; `WI-1 =done` one with another status.

mod health;
mod leases;
mod properties;

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::*;

const SECOND: Duration = Duration::from_secs(1);

/// A monitor's memory, its flags, and the clocks.
struct World {
    memory: Memory,
    rules: Rules,
    now: Now,
    wal: Option<Wal>,
}

impl World {
    fn new() -> Self {
        let rules = Rules {
            warn_before: Duration::from_mins(10),
            grace: Duration::ZERO,
            poll_interval: Duration::from_mins(1),
            emit_renewals: false,
            tell_recovered: true,
            patient: true,
        };
        let wall = "2026-04-08T14:10:00Z".parse().unwrap();
        let now =
            Now { wall, boot: Duration::from_hours(100), monotonic: Duration::from_hours(50) };
        Self { memory: Memory::default(), rules, now, wal: None }
    }

    fn with(change: impl FnOnce(&mut Rules)) -> Self {
        let mut world = Self::new();
        change(&mut world.rules);
        world
    }

    /// Lets time pass on all three clocks.
    fn pass(&mut self, span: Duration) -> &mut Self {
        self.shift(i64::try_from(span.as_millis()).unwrap(), span, span)
    }

    /// Moves each clock on its own; the wall clock in milliseconds, in both directions.
    fn shift(&mut self, wall_ms: i64, boot: Duration, monotonic: Duration) -> &mut Self {
        self.now.wall += jiff::SignedDuration::from_millis(wall_ms);
        self.now.boot += boot;
        self.now.monotonic += monotonic;
        self
    }

    fn until(&mut self, clock: &str) -> &mut Self {
        let at: jiff::Timestamp = format!("2026-04-08T{clock}Z").parse().unwrap();
        let span = Duration::try_from(at.duration_since(self.now.wall)).unwrap();
        // In steps that are no gap.
        let step = Duration::from_secs(30);
        let mut left = span;
        while left > step {
            self.pass(step).tick();
            left -= step;
        }
        self.pass(left)
    }

    /// A pass that sees nothing new and is not to judge.
    fn tick(&mut self) {
        self.memory.run.clocks.pass(self.rules.poll_interval, &self.now);
        self.memory.run.clocks.plan(self.now.monotonic + self.rules.poll_interval, &self.now);
    }

    fn seen(&mut self, store: Result<&Store, Blind>) -> Outcome {
        decide(&mut self.memory, &self.rules, Seen { store, wal: self.wal }, &self.now)
    }

    fn blind(&mut self, trouble: Trouble) -> Outcome {
        self.seen(Err(Blind { trouble, detail: "/p: cause".to_owned() }))
    }

    fn read(&mut self, items: &[&str]) -> Outcome {
        self.seen(Ok(&store(items)))
    }

    /// What is said of these items.
    fn look(&mut self, items: &[&str]) -> Vec<String> {
        self.read(items).events.iter().map(brief).collect()
    }

    fn due_in(&self, outcome: &Outcome) -> Duration {
        outcome.due.unwrap().checked_sub(self.now.monotonic).unwrap()
    }
}

fn store(items: &[&str]) -> Store {
    let items: Vec<Value> = items.iter().map(|text| item(text)).collect();
    Store::read(json!({"revision": 41, "items": items}).to_string().as_bytes()).unwrap()
}

/// `ID OWNER LEASE`, the lease being a time of the day or any JSON; `ID =STATUS`; or any JSON.
fn item(text: &str) -> Value {
    let words: Vec<&str> = text.splitn(3, ' ').collect();
    match *words {
        [id, status] if status.starts_with('=') => json!({"id": id, "status": &status[1..]}),
        [id, owner, lease] if !text.starts_with('{') => {
            let lease = match lease.len() {
                5 if lease.contains(':') => json!(format!("2026-04-08T{lease}:00Z")),
                8 if lease.contains(':') => json!(format!("2026-04-08T{lease}Z")),
                _ => serde_json::from_str(lease).unwrap(),
            };
            json!({"id": id, "status": "implementing", "owner_session_id": owner, "lease_expires_at": lease})
        }
        _ => serde_json::from_str(text).unwrap(),
    }
}

/// An event in a few words.
fn brief(event: &Event) -> String {
    let mut text = match event {
        Event::HeartbeatWarning(event) => {
            let severity = event.severity.word();
            format!("{severity} {} {}", event.name, event.remaining_seconds)
        }
        Event::HeartbeatRecovered(event) => {
            format!("{} {} {}", event.reason.word(), event.name, event.previous_severity.word())
        }
        Event::HeartbeatInvalid(event) => format!("{} {}", event.reason.word(), event.name),
    };
    let flags = serde_json::to_value(event).unwrap();
    for flag in ["lease_naive", "renewed", "resumed", "wal_pending", "duplicate"] {
        if flags[flag] == true {
            let _ = write!(text, " {flag}");
        }
    }
    text
}

fn reasons(health: &[Health]) -> Vec<String> {
    let values = health.iter().map(|event| serde_json::to_value(event).unwrap());
    let word = |value: &Value| value.as_str().unwrap().trim_start_matches("monitor_").to_owned();
    values.map(|value| format!("{} {}", word(&value["event"]), word(&value["reason"]))).collect()
}
