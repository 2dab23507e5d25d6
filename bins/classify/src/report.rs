//! `--report`: a whole input sorted by urgency, as one object.

use std::{collections::VecDeque, io};

use shared::{clock::Now, line};

use crate::{
    filter::{unclassified, verdict},
    intake::Arrival,
    judge::Judge,
    rules::Urgency,
    splice::{Key, splice},
    status::Monitors,
};

/// The most bytes of lines that a report holds.
pub const MOST_BYTES: usize = 64 << 20;

/// What came so far.
#[derive(Debug)]
pub struct Report {
    judge: Judge,
    min: Urgency,
    most: usize,
    immediate: List,
    warning: List,
    info: List,
    malformed: u64,
    omitted: u64,
    worst: Option<Urgency>,
    space: Vec<u8>,
}

impl Report {
    /// `min` is the least urgency that is listed, `most` the bytes of lines that are held.
    #[must_use]
    pub fn new(judge: Judge, min: Urgency, most: usize) -> Self {
        Self {
            judge,
            min,
            most,
            immediate: List::default(),
            warning: List::default(),
            info: List::default(),
            malformed: 0,
            omitted: 0,
            worst: None,
            space: Vec::new(),
        }
    }

    /// Takes a line. `source`, a JSON string, is the name of the input it came from.
    pub fn take(&mut self, source: Option<&[u8]>, arrival: Arrival<'_>) {
        let judged = match arrival {
            Arrival::Line(line) => self.judge.judge(line).map(|judged| (line, judged)),
            Arrival::TooLong => None,
        };
        let Some((line, judged)) = judged else {
            self.malformed += 1;
            return;
        };
        let urgency = judged.urgency();
        self.worst = self.worst.max(Some(urgency));
        if urgency < self.min && !judged.is_reading {
            return;
        }
        let unclassified = unclassified(&judged);
        let source = source.map(|value| Key { name: "source", value, at: judged.source });
        self.space.clear();
        splice(line, judged.braces, [source, unclassified], &mut self.space);
        let list = match urgency {
            Urgency::Immediate => &mut self.immediate,
            Urgency::Warning => &mut self.warning,
            Urgency::Info => &mut self.info,
        };
        list.push(self.space.trim_ascii());
        self.fit();
    }

    /// Whether there is nothing to tell of but health.
    #[must_use]
    pub fn is_empty(&self, monitors: &Monitors) -> bool {
        let lists = [&self.immediate, &self.warning, &self.info];
        lists.iter().all(|list| list.lines.is_empty())
            && self.malformed == 0
            && self.omitted == 0
            && monitors.dead.is_empty()
            && monitors.ended.is_empty()
    }

    /// The code of `--exit-code`.
    #[must_use]
    pub fn verdict(&self, monitors: &Monitors) -> u8 {
        let dead = (!monitors.dead.is_empty()).then_some(Urgency::Immediate);
        verdict(self.worst.max(dead), self.malformed > 0)
    }

    /// Hands the report to `print`, in pieces: one line.
    ///
    /// # Errors
    ///
    /// Those of `print`.
    pub fn print(
        &self,
        monitors: &Monitors,
        now: &Now,
        mut print: impl FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        print(format!(r#"{{"checked_at":"{}","immediate":["#, now.timestamp()).as_bytes())?;
        self.immediate.print(&mut print)?;
        print(br#"],"warning":["#)?;
        self.warning.print(&mut print)?;
        print(br#"],"info":["#)?;
        self.info.print(&mut print)?;
        print(br#"],"dead_monitors":"#)?;
        print(&line::json(&monitors.dead)?)?;
        print(br#","healthy_monitors":"#)?;
        print(&line::json(&monitors.healthy)?)?;
        print(format!(r#","malformed":{},"ended":"#, self.malformed).as_bytes())?;
        print(&line::json(&monitors.ended)?)?;
        if self.omitted > 0 {
            print(format!(r#","omitted":{}"#, self.omitted).as_bytes())?;
        }
        print(b"}\n")
    }

    /// Drops the oldest of the least urgent lines until the rest fits.
    fn fit(&mut self) {
        let lists = [&mut self.info, &mut self.warning, &mut self.immediate];
        let mut held: usize = lists.iter().map(|list| list.bytes).sum();
        for list in lists {
            while held > self.most
                && let Some(dropped) = list.pop()
            {
                held -= dropped;
                self.omitted += 1;
            }
        }
    }
}

/// Lines of one urgency, the oldest first.
#[derive(Debug, Default)]
struct List {
    lines: VecDeque<Box<[u8]>>,
    bytes: usize,
}

impl List {
    fn push(&mut self, line: &[u8]) {
        self.bytes += line.len();
        self.lines.push_back(line.into());
    }

    /// Drops the oldest line; answers how many bytes it had.
    fn pop(&mut self) -> Option<usize> {
        let dropped = self.lines.pop_front()?.len();
        self.bytes -= dropped;
        Some(dropped)
    }

    fn print(&self, print: &mut impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        for (at, line) in self.lines.iter().enumerate() {
            if at > 0 {
                print(b",")?;
            }
            print(line)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::rules;

    fn report(min: Urgency, most: usize) -> Report {
        Report::new(Judge::new(&rules::builtin().unwrap()), min, most)
    }

    fn printed(report: &Report, monitors: &Monitors) -> String {
        let mut text = Vec::new();
        let now = shared::clock::now();
        let mut add = |piece: &[u8]| {
            text.extend(piece);
            Ok(())
        };
        report.print(monitors, &now, &mut add).unwrap();
        let text = String::from_utf8(text).unwrap();
        let (head, rest) = text.split_once(r#"Z","#).unwrap();
        assert!(head.starts_with(r#"{"checked_at":"20"#), "{head}");
        assert!(rest.ends_with("}\n") && rest.matches('\n').count() == 1);
        assert!(serde_json::from_str::<Value>(&text).is_ok(), "{text}");
        rest.to_owned()
    }

    const EMPTY: &str = concat!(
        r#""immediate":[],"warning":[],"info":[],"dead_monitors":[],"healthy_monitors":[],"#,
        r#""malformed":0,"ended":[]}"#,
        "\n"
    );

    #[test]
    fn c14_nothing_came() {
        let report = report(Urgency::Info, 100);
        assert_eq!(printed(&report, &Monitors::default()), EMPTY);
        let mut monitors = Monitors::default();
        monitors.add("gate", true);
        assert!(report.is_empty(&monitors));
        assert_eq!(report.verdict(&monitors), 0);
        monitors.add("events", false);
        assert!(!report.is_empty(&monitors));
        assert_eq!(report.verdict(&monitors), 10);
        let ended = Monitors { ended: vec!["ci-status".to_owned()], ..Monitors::default() };
        assert!(!report.is_empty(&ended));
    }

    #[test]
    fn lines_keep_their_bytes_but_for_source_and_unclassified() {
        let mut report = report(Urgency::Info, 1000);
        for (source, line) in [
            (None, r#" {"event":"gate_opened","a":1.0,"urgency":"info"} "#),
            (Some(r#""gate""#), r#"{"event":"gate_opened", "source" : "x" }"#),
            (Some(r#""gate""#), r#"{"event":"x"}"#),
            (None, r#"{"event":"y","unclassified":false}"#),
            (None, r#"{"event":"gate_changed","unclassified":true}"#),
            (Some(r#""gate""#), "{}"),
        ] {
            report.take(source.map(str::as_bytes), Arrival::Line(line.as_bytes()));
        }
        report.take(None, Arrival::Line(b"{bad"));
        report.take(None, Arrival::TooLong);
        let want = concat!(
            r#""immediate":[{"event":"gate_opened","a":1.0,"urgency":"info"},"#,
            r#"{"event":"gate_opened", "source" : "gate" }],"warning":["#,
            r#"{"event":"x","source":"gate","unclassified":true},"#,
            r#"{"event":"y","unclassified":true},{"source":"gate","unclassified":true}],"#,
            r#""info":[{"event":"gate_changed","unclassified":false}],"#,
            r#""dead_monitors":[],"healthy_monitors":[],"malformed":2,"ended":[]}"#,
            "\n"
        );
        assert_eq!(printed(&report, &Monitors::default()), want);
    }

    #[test]
    fn the_oldest_and_least_urgent_go_first() {
        let line = |event: &str, n: u32| format!(r#"{{"event":"{event}","n":{n}}}"#);
        let info = line("gate_changed", 1).len();
        let mut report = report(Urgency::Info, 4 * info);
        let mut kept = |event: &str, n: u32| {
            report.take(None, Arrival::Line(line(event, n).as_bytes()));
            let text: Value =
                serde_json::from_str(&format!("{{{}", printed(&report, &Monitors::default())))
                    .unwrap();
            let numbers = |list: &str| {
                let numbers = text[list].as_array().unwrap().iter();
                numbers.map(|event| event["n"].as_u64().unwrap()).collect::<Vec<u64>>()
            };
            let lists = [numbers("immediate"), numbers("warning"), numbers("info")];
            (lists, text.get("omitted").and_then(Value::as_u64))
        };
        for n in 1..4 {
            kept("gate_changed", n);
        }
        assert_eq!(kept("gate_waiting", 4), ([vec![], vec![4], vec![1, 2, 3]], None));
        assert_eq!(kept("gate_opened", 5), ([vec![5], vec![4], vec![2, 3]], Some(1)));
        assert_eq!(kept("gate_opened", 6), ([vec![5, 6], vec![4], vec![3]], Some(2)));
        assert_eq!(kept("gate_opened", 7), ([vec![5, 6, 7], vec![4], vec![]], Some(3)));
        assert_eq!(kept("gate_changed", 8), ([vec![5, 6, 7], vec![4], vec![]], Some(4)));
        assert_eq!(kept("gate_opened", 9), ([vec![5, 6, 7, 9], vec![], vec![]], Some(5)));
        assert_eq!(kept("gate_opened", 1), ([vec![6, 7, 9, 1], vec![], vec![]], Some(6)));
    }

    #[test]
    fn what_is_left_out_counts_in_the_verdict() {
        let mut report = report(Urgency::Immediate, 1000);
        for line in [r#"{"event":"gate_changed"}"#, r#"{"event":"reading"}"#, "{}"] {
            report.take(None, Arrival::Line(line.as_bytes()));
        }
        let text = printed(&report, &Monitors::default());
        assert!(
            text.starts_with(r#""immediate":[],"warning":[],"info":[{"event":"reading"}],"#),
            "{text}"
        );
        assert_eq!(report.verdict(&Monitors::default()), 11);
    }
}
