//! The stream: a line comes, and what is to be printed for it goes.

use std::io;

use shared::{
    clock::Now,
    line::{Event, Speaker},
};

use crate::{
    audience::{Part, Share},
    intake::Arrival,
    judge::{Judge, Judged},
    malformed::{self, Malformed, Notice, Reason},
    rules::Urgency,
    splice::{Key, splice},
};

/// What the stream remembers from line to line.
#[derive(Debug)]
pub struct Filter {
    judge: Judge,
    speaker: Speaker,
    min: Urgency,
    share: Share,
    malformed: Malformed,
    worst: Option<Urgency>,
    line: Vec<u8>,
}

impl Filter {
    /// `min` is the least urgency that passes.
    #[must_use]
    pub fn new(judge: Judge, speaker: Speaker, min: Urgency) -> Self {
        let (malformed, line) = (Malformed::default(), Vec::new());
        let share = Share::default();
        Self { judge, speaker, min, share, malformed, worst: None, line }
    }

    /// Gives only this share of it.
    #[must_use]
    pub fn with(self, share: Share) -> Self {
        Self { share, ..self }
    }

    /// What is to be printed for line `number` of the input: the line, with its urgency, or a
    /// notice that it was dropped, or nothing.
    ///
    /// # Errors
    ///
    /// None for lines of ours.
    pub fn take(
        &mut self,
        number: u64,
        arrival: Arrival<'_>,
        now: &Now,
    ) -> io::Result<Option<&[u8]>> {
        let reason = match arrival {
            Arrival::TooLong => Reason::TooLong,
            Arrival::Line(line) => match self.judge.judge(line) {
                Some(judged) => {
                    self.worst = self.worst.max(Some(judged.urgency()));
                    return self.write(line, judged);
                }
                None => malformed::reason(line),
            },
        };
        self.malformed.add(reason, number);
        self.notice(now)
    }

    /// The notice of malformed lines, if one is due.
    ///
    /// # Errors
    ///
    /// None for lines of ours.
    pub fn notice(&mut self, now: &Now) -> io::Result<Option<&[u8]>> {
        let notice = self.malformed.notice(now.monotonic);
        self.say_notice(notice, now)
    }

    /// The last notice, at the end.
    ///
    /// # Errors
    ///
    /// None for lines of ours.
    pub fn last_notice(&mut self, now: &Now) -> io::Result<Option<&[u8]>> {
        let notice = self.malformed.rest();
        self.say_notice(notice, now)
    }

    /// When a notice is due, on the monotonic clock.
    #[must_use]
    pub fn due(&self) -> Option<std::time::Duration> {
        self.malformed.due()
    }

    /// What is to be printed for an event of our own, which is judged as those of others are.
    ///
    /// # Errors
    ///
    /// None for events of ours.
    pub fn say(&mut self, event: &impl Event, now: &Now) -> io::Result<Option<&[u8]>> {
        let line = self.speaker.line(event, now.timestamp())?;
        let line = line.strip_suffix(b"\n").unwrap_or(&line);
        match self.judge.judge(line) {
            Some(judged) => self.write(line, judged),
            None => Ok(None),
        }
    }

    /// The code of `--exit-code` for all that came.
    #[must_use]
    pub fn verdict(&self) -> u8 {
        verdict(self.worst, self.malformed.any())
    }

    fn say_notice(&mut self, notice: Option<Notice>, now: &Now) -> io::Result<Option<&[u8]>> {
        notice.map_or(Ok(None), |notice| self.say(&notice, now))
    }

    fn write(&mut self, line: &[u8], judged: Judged) -> io::Result<Option<&[u8]>> {
        let urgency = judged.urgency();
        if urgency < self.min && !judged.is_reading {
            return Ok(None);
        }
        let value = match urgency {
            Urgency::Immediate => r#""immediate""#,
            Urgency::Warning => r#""warning""#,
            Urgency::Info => r#""info""#,
        };
        if !self.share.is_everything() {
            match self.share.of(line, value.trim_matches('"'))? {
                Part::Whole => {}
                Part::Nothing => return Ok(None),
                Part::Text(text) => {
                    self.line = text;
                    self.line.push(b'\n');
                    return Ok(Some(&self.line));
                }
            }
        }
        let unclassified = unclassified(&judged);
        let urgency = Key { name: "urgency", value: value.as_bytes(), at: judged.urgency };
        self.line.clear();
        splice(line, judged.braces, [Some(urgency), unclassified], &mut self.line);
        self.line.push(b'\n');
        Ok(Some(&self.line))
    }
}

/// The key that marks what no rule knows. One that is there stays and tells the truth.
pub(crate) fn unclassified(judged: &Judged) -> Option<Key<'static>> {
    let value: &[u8] = if judged.rule.is_none() { b"true" } else { b"false" };
    let at = judged.unclassified.clone();
    (judged.rule.is_none() || at.is_some()).then_some(Key { name: "unclassified", value, at })
}

/// The code of `--exit-code`.
pub(crate) fn verdict(worst: Option<Urgency>, malformed: bool) -> u8 {
    match worst {
        Some(Urgency::Immediate) => 10,
        Some(Urgency::Warning) => 11,
        _ if malformed => 11,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use shared::clock;

    use super::*;
    use crate::rules;

    fn filter(min: Urgency) -> Filter {
        let speaker =
            Speaker { program: "classify", source: "classify".to_owned(), subject: String::new() };
        Filter::new(Judge::new(&rules::builtin().unwrap()), speaker, min)
    }

    fn passed(filter: &mut Filter, line: &[u8]) -> Vec<u8> {
        let passed = filter.take(1, Arrival::Line(line), &clock::now()).unwrap();
        passed.unwrap_or_default().to_vec()
    }

    fn text(filter: &mut Filter, line: &str) -> String {
        String::from_utf8(passed(filter, line.as_bytes())).unwrap()
    }

    const TABLE: [&str; 3] = [
        include_str!("../tests/data/immediate.ndjson"),
        include_str!("../tests/data/warning.ndjson"),
        include_str!("../tests/data/info.ndjson"),
    ];

    #[test]
    fn c03_no_other_byte_moves() {
        let line =
            r#"{"b":18446744073709551615,"a":1.0,"e":1e400,"event":"gate_opened","s":"\u0041\/" }"#;
        let (head, brace) = line.split_at(line.len() - 1);
        let want = format!("{head},\"urgency\":\"immediate\"{brace}\r\n");
        assert_eq!(text(&mut filter(Urgency::Info), &format!("{line}\r")), want);
    }

    #[test]
    fn c04_what_is_there_is_replaced_in_place() {
        let mut filter = filter(Urgency::Info);
        for (line, want) in [
            (
                r#"{"urgency":"info","event":"gate_opened"}"#,
                r#"{"urgency":"immediate","event":"gate_opened"}"#,
            ),
            (
                r#"{"\u0075rgency": {"a":[1]} ,"event":"x"}"#,
                r#"{"\u0075rgency": "warning" ,"event":"x","unclassified":true}"#,
            ),
            (
                r#"{"unclassified":1,"event":"x"}"#,
                r#"{"unclassified":true,"event":"x","urgency":"warning"}"#,
            ),
            (
                r#"{"unclassified":true,"event":"gate_opened"}"#,
                r#"{"unclassified":false,"event":"gate_opened","urgency":"immediate"}"#,
            ),
            (
                r#"{"urgency":"x","urgency":"y"}"#,
                r#"{"urgency":"x","urgency":"warning","unclassified":true}"#,
            ),
            ("{}", r#"{"urgency":"warning","unclassified":true}"#),
        ] {
            assert_eq!(text(&mut filter, line), format!("{want}\n"));
        }
        for line in TABLE.iter().flat_map(|lines| lines.lines()) {
            let once = text(&mut filter, line);
            assert_eq!(text(&mut filter, once.trim_end()), once);
        }
    }

    #[test]
    fn c07_lower_urgencies_are_left_out_but_readings() {
        for (min, dropped) in [(Urgency::Info, 0), (Urgency::Warning, 1), (Urgency::Immediate, 2)] {
            let mut filter = filter(min);
            for (level, lines) in TABLE.iter().rev().enumerate() {
                for line in lines.lines() {
                    let is_reading = line.starts_with(r#"{"event":"reading""#);
                    let want = is_reading || level >= dropped;
                    assert_eq!(!text(&mut filter, line).is_empty(), want, "{line}");
                }
            }
        }
    }

    #[test]
    fn c15_the_verdict_is_that_of_all_that_came() {
        let info = r#"{"event":"gate_changed"}"#;
        for (lines, code) in [
            (&[][..], 0),
            (&[info], 0),
            (&[info, r#"{"event":"gate_waiting"}"#], 11),
            (&[r#"{"event":"gate_opened"}"#, info], 10),
            (&["{bad"], 11),
            (&[info, "{bad", info], 11),
        ] {
            for min in [Urgency::Info, Urgency::Immediate] {
                let mut filter = filter(min);
                for line in lines {
                    passed(&mut filter, line.as_bytes());
                }
                assert_eq!(filter.verdict(), code, "{lines:?}");
            }
        }
    }

    #[test]
    fn notices_are_lines_of_ours_and_judged() {
        let mut own = filter(Urgency::Warning);
        let now = clock::now();
        let told = own.take(17, Arrival::TooLong, &now).unwrap().unwrap();
        let want = format!(
            r#"{{"event":"input_malformed","timestamp":"{}","source":"classify","reason":"too_long","count":1,"line":17,"key":"input:malformed","condition":"once","id":""#,
            now.timestamp()
        );
        let told = String::from_utf8(told.to_vec()).unwrap();
        assert!(told.starts_with(&want), "{told}");
        assert!(told.ends_with("\",\"urgency\":\"warning\"}\n"), "{told}");
        assert_eq!(own.take(18, Arrival::Line(b"x"), &now).unwrap(), None);
        assert_eq!(own.due(), Some(now.monotonic + std::time::Duration::from_mins(1)));
        assert!(own.last_notice(&now).unwrap().is_some());
        // Who wants what is immediate only doesn't want these.
        assert_eq!(filter(Urgency::Immediate).take(1, Arrival::TooLong, &now).unwrap(), None);
    }

    #[test]
    fn the_example_event_is_what_is_said() {
        let mut filter = filter(Urgency::Info);
        let told = malformed::InputMalformed { reason: Reason::NotJson, count: 3, line: 17 };
        let mut now = clock::now();
        now.wall = "2026-04-08T14:10:00Z".parse().unwrap();
        let said = filter.say(&Notice::InputMalformed(told), &now).unwrap().unwrap();
        ::tests::golden(&::tests::root().join("bins/classify/events/input_malformed.json"), said);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]

        #[test]
        fn twice_is_once(line in crate::testing::object()) {
            let mut filter = filter(Urgency::Info);
            let once = passed(&mut filter, &line);
            prop_assert!(!once.is_empty());
            let again = passed(&mut filter, once.strip_suffix(b"\n").unwrap());
            prop_assert_eq!(String::from_utf8(again), String::from_utf8(once));
        }
    }
}
