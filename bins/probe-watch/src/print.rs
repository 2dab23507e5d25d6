//! `--emit readings`: a look as `wake` reads it, in as many lines as it takes and no more than a
//! reading may have.

use std::io;

use jiff::Timestamp;
use shared::{reading::Look, text};

/// The most parts of a reading.
const PARTS: usize = 64;
/// To how many bytes briefs are cut, one after the other, when a reading has too many parts.
const BRIEFS: [usize; 3] = [120, 40, 0];

/// The lines of `look`, seen at `timestamp`.
///
/// # Errors
///
/// None for what fits the types.
pub fn lines(look: &Look, timestamp: Timestamp) -> io::Result<Vec<Vec<u8>>> {
    let mut lines = look.lines(&look.source, timestamp)?;
    if lines.len() <= PARTS {
        return Ok(lines);
    }
    let mut short = Look { truncated: true, ..look.clone() };
    for most in BRIEFS {
        for entry in &mut short.entries {
            entry.brief = text::head(&entry.brief, most).to_owned();
        }
        lines = short.lines(&look.source, timestamp)?;
        if lines.len() <= PARTS {
            return Ok(lines);
        }
    }
    // What is left out was not read, as far as anyone can tell who reads the rest.
    short.complete = false;
    while lines.len() > PARTS {
        let fewer = short.entries.len() * PARTS / (lines.len() + 1);
        short.entries.truncate(fewer);
        lines = short.lines(&look.source, timestamp)?;
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use shared::{
        line::LIMIT,
        reading::{parse, parts::Parts},
    };

    use super::*;

    fn look(answer: &str) -> Look {
        let fields = ["depth".to_owned()];
        let (source, kind, noun) = ("probe-watch", "basin-level", "basin");
        let frame = parse::Frame { source, kind, noun, fields: &fields };
        let mut draft = parse::answer(answer.as_bytes(), &frame).unwrap();
        draft.number = 17;
        shared::reading::settle::settle(draft)
    }

    fn printed(look: &Look) -> Vec<String> {
        let lines = lines(look, "2026-04-08T14:10:00Z".parse().unwrap()).unwrap();
        assert!(lines.iter().all(|line| line.len() <= LIMIT && line.ends_with(b"}\n")));
        lines.into_iter().map(|line| String::from_utf8(line).unwrap()).collect()
    }

    /// What a reader makes of the lines.
    fn read(lines: &[String]) -> Option<Look> {
        let mut joiner = Parts::new();
        lines.iter().filter_map(|line| joiner.join(parse::reading(line.as_bytes()).unwrap())).last()
    }

    #[test]
    fn a_reading_is_read_as_it_was_seen() {
        let look = look(
            r#"{"subject":"mail","entries":[{"key":"level:high","brief":"120 of 100"}],"facts":{"limit":100,"depth":120}}"#,
        );
        let lines = printed(&look);
        assert!(lines[0].contains(r#""facts":{"depth":120,"limit":100}"#), "{}", lines[0]);
        assert_eq!(read(&lines), Some(look));
    }

    #[test]
    fn a_failed_reading_says_why() {
        let answer = r#"{"subject":"mail","error":{"kind":"rate_limited","retry_at":"2026-04-08T14:25:00.5Z"}}"#;
        let line = printed(&look(answer)).remove(0);
        // Never before it.
        assert!(line.contains(r#""retry_at":"2026-04-08T14:25:01Z""#), "{line}");
        assert!(read(&[line]).unwrap().failure().is_some());
    }

    fn many(count: usize, key: usize, brief: usize) -> Look {
        let entry = |n: usize| {
            let (key, brief) = ("k".repeat(key - 4), "\\\"".repeat(brief / 2));
            format!(r#"{{"key":"{key}{n:04}","brief":"{brief}"}}"#)
        };
        let entries = (0..count).map(entry).collect::<Vec<_>>().join(",");
        look(&format!(
            r#"{{"subject":"mail","revision":"9f","entries":[{entries}],"facts":{{"a":1}}}}"#
        ))
    }

    #[test]
    fn a_long_reading_comes_in_parts_that_a_reader_joins() {
        let long = many(300, 30, 200);
        let lines = printed(&long);
        assert!(lines.len() > 12 && lines.len() <= PARTS);
        assert!(lines[1..].iter().all(|line| !line.contains("facts") && !line.contains("noun")));
        assert_eq!(read(&lines), Some(long));
    }

    #[test]
    fn briefs_are_cut_before_entries_are_left_out() {
        let long = many(1000, 60, 240);
        let joined = read(&printed(&long)).unwrap();
        assert_eq!((joined.entries.len(), joined.complete), (1000, true));
        assert!(joined.truncated && joined.entries[0].brief.len() <= 120);
        assert_eq!(joined.fingerprint, long.fingerprint);

        let joined = read(&printed(&many(1000, 200, 240))).unwrap();
        assert!(joined.entries.len() < 1000 && !joined.complete && joined.truncated);
    }
}
