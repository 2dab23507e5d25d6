//! The four always-on monitors of an orchestration, with the names and intervals that the
//! orchestration has always given them.

use crate::args::Up;

/// A monitor: its name, its program, its flags.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Monitor {
    /// Its `source` in every line.
    pub name: &'static str,
    /// The program, which lies beside this one.
    pub program: &'static str,
    /// Its command line.
    pub args: Vec<String>,
}

/// The monitors that `up` runs.
#[must_use]
pub fn always_on(up: &Up) -> Vec<Monitor> {
    let state_dir = |mut args: Vec<String>| {
        args.extend(up.state_dir.iter().map(|dir| format!("--state-dir={dir}")));
        args
    };
    let flags = |flags: &[&str]| flags.iter().map(ToString::to_string).collect::<Vec<_>>();
    vec![
        monitor("heartbeat", "heartbeat-watch", state_dir(flags(&["--poll-interval=60"]))),
        // A person's open question is told once, also after a cold start.
        monitor("gate", "gate-watch", state_dir(flags(&["--emit-current"]))),
        monitor("events", "event-tail", state_dir(flags(&["--filter=state_committed"]))),
        monitor(
            "divergence",
            "branch-divergence",
            flags(&[&format!("--base={}", up.base), "--interval=300", "--threshold=5"]),
        ),
    ]
}

fn monitor(name: &'static str, program: &'static str, mut args: Vec<String>) -> Monitor {
    args.push(format!("--source={name}"));
    Monitor { name, program, args }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_folder_reaches_those_that_watch_it() {
        let up = Up {
            state_dir: Some("a b".into()),
            base: "trunk".into(),
            min: "info".into(),
            parent_pid: None,
        };
        let given: Vec<bool> = always_on(&up)
            .iter()
            .map(|monitor| monitor.args.contains(&"--state-dir=a b".to_owned()))
            .collect();
        assert_eq!(given, [true, true, true, false]);
        assert!(always_on(&up)[3].args.contains(&"--base=trunk".to_owned()));
    }
}
