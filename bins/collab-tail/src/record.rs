//! `--format text`: the records that callers of the older tool parse, letter for letter.

use shared::{line::LIMIT, text};

use crate::event::{Addressed, Told};

/// The record for `event`, newline included. `None`: it has none. `typed` is the listener as it
/// was typed, with `@`.
#[must_use]
pub fn of(event: &Told, typed: &str) -> Option<String> {
    let post = |what: &str, it: &Addressed| {
        format!("{what}-{typed} file={} hash={} :: {}", it.file, it.hash, it.text)
    };
    let record = match event {
        Told::CollabMail(it) => post("NEW-FOR", it),
        Told::SelfPost(it) => post("SELF-POST", it),
        Told::FileShrunk(it) => format!(
            "SHRINK file={} old_bytes={} new_bytes={} delta_bytes={}",
            it.file, it.old_bytes, it.new_bytes, it.delta_bytes
        ),
        Told::WatchWarn(it) if it.action.is_some() => {
            format!("WATCH-WARN file={} reason={} action=retry", it.file, it.reason.word())
        }
        Told::MonitorArmed(_) | Told::FileRewritten(_) | Told::WatchWarn(_) => return None,
    };
    Some(line(&record))
}

/// What is said of an event that has no record, on stderr.
#[must_use]
pub fn aside(event: &Told) -> Option<String> {
    match event {
        Told::FileRewritten(it) => Some(format!(
            "{} was rewritten from byte {} on ({} bytes, before {})",
            it.file, it.from_byte, it.new_bytes, it.old_bytes
        )),
        Told::WatchWarn(it) => Some(format!("{}: {} is over", it.file, it.reason.word())),
        _ => None,
    }
}

/// The two records of every start.
#[must_use]
pub fn armed(typed: &str, files: usize, state: &str, not_covered: &[&str]) -> [String; 2] {
    [
        line(&format!("MONITOR-ARMED name={typed} files={files} state={state}")),
        line(&format!("WILL-NOT-CATCH :: {}", not_covered.join("; "))),
    ]
}

/// One line: without control characters, cut where it is too long for one write.
fn line(record: &str) -> String {
    let record: String = record.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if record.len() < LIMIT {
        return record + "\n";
    }
    format!("{}…\n", text::head(&record, LIMIT - "…\n".len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        grammar::Via,
        hash::Hash,
        trouble::{Shrunk, Trouble, Warning},
    };

    fn mail(text: &str) -> Told {
        Told::CollabMail(Addressed {
            listener: "@lead".into(),
            author: None,
            text: text.into(),
            heading: true,
            via: Via::Heading,
            recipients: Vec::new(),
            file: "/b\n/c.md".into(),
            line_number: 1,
            byte_offset: 0,
            hash: Hash([0xab; 32]),
            occurrence: 1,
            is_cut: false,
        })
    }

    #[test]
    fn records_are_as_the_older_tool_wrote_them() {
        let hash = "ab".repeat(32);
        let record = of(&mail("### @w → @LEAD"), "@LEAD").unwrap();
        assert_eq!(record, format!("NEW-FOR-@LEAD file=/b /c.md hash={hash} :: ### @w → @LEAD\n"));
        let shrunk = Shrunk {
            file: "/b".into(),
            old_bytes: 123,
            new_bytes: 80,
            delta_bytes: 43,
            rewritten: true,
            count: 1,
        };
        let record = of(&Told::FileShrunk(shrunk), "@lead").unwrap();
        assert_eq!(record, "SHRINK file=/b old_bytes=123 new_bytes=80 delta_bytes=43\n");
        let warning = Warning::raised("/b".into(), Trouble::HashFailed, "x", 1);
        let record = of(&Told::WatchWarn(warning), "@lead").unwrap();
        assert_eq!(record, "WATCH-WARN file=/b reason=hash-failed action=retry\n");
        let over = Told::WatchWarn(Warning::cleared("/b".into(), Trouble::HashFailed, 1));
        assert_eq!((of(&over, "@lead"), aside(&over).is_some()), (None, true));
    }

    #[test]
    fn a_long_record_is_cut_between_characters() {
        let record = of(&mail(&"é".repeat(4000)), "@lead").unwrap();
        assert!(record.ends_with("é…\n") && (LIMIT - 1..=LIMIT).contains(&record.len()));
    }
}
