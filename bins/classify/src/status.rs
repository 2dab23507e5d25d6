//! Which monitors live, by the output of `supervise status` or by whether their files can be read.

use serde::Deserialize;

/// The names of monitors, each in one list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Monitors {
    /// They ended and nobody asked for it, or their output can't be read.
    pub dead: Vec<String>,
    /// They run.
    pub healthy: Vec<String>,
    /// They ended as they should.
    pub ended: Vec<String>,
}

/// What `supervise status` prints, as far as it matters here.
#[derive(Deserialize)]
struct Status {
    monitors: Vec<Monitor>,
}

#[derive(Deserialize)]
struct Monitor {
    name: String,
    alive: bool,
    #[serde(default)]
    ends: bool,
    exit_code: Option<i64>,
    end_reason: Option<String>,
}

impl Monitors {
    /// Sorts the monitors of a status.
    ///
    /// # Errors
    ///
    /// When `text` is no output of `supervise status`.
    pub fn of_status(text: &[u8]) -> Result<Self, serde_json::Error> {
        let status: Status = serde_json::from_slice(text)?;
        let mut monitors = Self::default();
        for monitor in status.monitors {
            let list = if monitor.alive {
                &mut monitors.healthy
            } else if monitor.ended() {
                &mut monitors.ended
            } else {
                &mut monitors.dead
            };
            list.push(monitor.name);
        }
        Ok(monitors)
    }

    /// Adds what is known of `name` from its file, unless something better is known.
    pub fn add(&mut self, name: &str, readable: bool) {
        let known = [&self.dead, &self.healthy, &self.ended];
        if known.into_iter().flatten().any(|known| known == name) {
            return;
        }
        let list = if readable { &mut self.healthy } else { &mut self.dead };
        list.push(name.to_owned());
    }
}

impl Monitor {
    /// Of a monitor that may not end by itself, an exit that nobody asked for is a death,
    /// whatever its code.
    fn ended(&self) -> bool {
        let stopped = self.end_reason.as_deref() == Some("stopped");
        stopped || (self.ends && self.exit_code == Some(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c13_each_monitor_is_in_one_list() {
        let text = br#"{"checked_at":"2026-04-08T14:10:00Z","monitors":[
            {"name":"heartbeat","task_id":"a","alive":true,"ends":false,"pid":1,"exit_code":null,"exit_signal":null,"end_reason":null},
            {"name":"gate","alive":false,"ends":false,"exit_code":0,"exit_signal":null,"end_reason":"exited"},
            {"name":"events","alive":false,"ends":false,"exit_code":null,"exit_signal":9,"end_reason":"exited"},
            {"name":"ci-status","alive":false,"ends":true,"exit_code":0,"exit_signal":null,"end_reason":"exited"},
            {"name":"ci-status-7","alive":false,"ends":true,"exit_code":4,"exit_signal":null,"end_reason":"exited"},
            {"name":"ci-status-8","alive":false,"ends":true,"exit_code":null,"exit_signal":15,"end_reason":"keeper_lost"},
            {"name":"divergence","alive":false,"ends":false,"exit_code":null,"exit_signal":15,"end_reason":"stopped"}]}"#;
        let mut monitors = Monitors::of_status(text).unwrap();
        assert_eq!(monitors.healthy, ["heartbeat"]);
        assert_eq!(monitors.dead, ["gate", "events", "ci-status-7", "ci-status-8"]);
        assert_eq!(monitors.ended, ["ci-status", "divergence"]);

        // What the status says outweighs the file; a name it doesn't have is judged by the file.
        let before = monitors.clone();
        for (name, readable) in [("heartbeat", false), ("gate", true), ("ci-status", false)] {
            monitors.add(name, readable);
        }
        assert_eq!(monitors, before);
        monitors.add("new", true);
        monitors.add("lost", false);
        assert_eq!(monitors.healthy, ["heartbeat", "new"]);
        assert_eq!(monitors.dead.last().map(String::as_str), Some("lost"));
    }

    #[test]
    fn anything_else_is_no_status() {
        for text in [
            "",
            "{}",
            "[]",
            "null",
            r#"{"monitors":[{"name":"x"}]}"#,
            r#"{"monitors":[{"alive":true}]}"#,
            r#"{"monitors":{}}"#,
            r#"{"monitors":[{"name":"x","alive":"yes"}]}"#,
            r#"{"monitors":[]} {}"#,
            r#"{"monitors":[{"name":"x","alive":false,"exit_code":"0"}]}"#,
        ] {
            assert!(Monitors::of_status(text.as_bytes()).is_err(), "{text}");
        }
        assert_eq!(Monitors::of_status(br#"{"monitors":[]}"#).unwrap(), Monitors::default());
    }
}
