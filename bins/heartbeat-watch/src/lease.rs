//! The lease grammar: which texts are times, and which instant each of them means.

use std::rc::Rc;

use jiff::civil::{DateTime, date};

const EPOCH: DateTime = date(1970, 1, 1).at(0, 0, 0, 0);

/// The end of a lease, cut to the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct End {
    /// Seconds since 1970 in UTC; below zero before.
    pub second: i64,
    /// Whether the text names no zone and was taken as UTC.
    pub naive: bool,
}

/// What an item has for a lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lease {
    /// Nothing: absent or null.
    Absent,
    /// A string that is a time.
    Until(End, Rc<str>),
    /// A string that is no time.
    Malformed(Rc<str>),
    /// Another value, as its JSON text.
    NotString(Rc<str>),
}

impl Lease {
    /// Reads a string.
    #[must_use]
    pub fn of(text: Rc<str>) -> Self {
        match parse(&text) {
            Some(end) => Self::Until(end, text),
            None => Self::Malformed(text),
        }
    }

    /// The string as it stands in the file, or another value's JSON text.
    #[must_use]
    pub fn text(&self) -> Option<&Rc<str>> {
        match self {
            Self::Absent => None,
            Self::Until(_, text) | Self::Malformed(text) | Self::NotString(text) => Some(text),
        }
    }
}

/// The instant that `text` means, if it is a time: RFC 3339 with the liberties that writers take.
/// A fraction is cut off, second 60 is the next minute's 00, and no zone is UTC.
#[must_use]
pub fn parse(text: &str) -> Option<End> {
    let mut scan = Scan(text.as_bytes());
    let year = scan.number(4).filter(|year| *year > 0)?;
    scan.one_of(b"-")?;
    let month = scan.number(2)?;
    scan.one_of(b"-")?;
    let day = scan.number(2)?;
    scan.one_of(b"Tt ")?;
    let hour = scan.number(2)?;
    scan.one_of(b":")?;
    let minute = scan.number(2)?;
    scan.one_of(b":")?;
    let second = scan.number(2).filter(|second| *second <= 60)?;
    scan.fraction()?;
    let (east, naive) = scan.zone()?;

    let small = |number: i16| i8::try_from(number).ok();
    // The calendar alone decides, so that every year up to 9999 can be used: jiff's `Timestamp`
    // ends a day before 9999-12-31T23:59:59Z, which writers take for "never".
    let to_minute =
        DateTime::new(year, small(month)?, small(day)?, small(hour)?, small(minute)?, 0, 0).ok()?;
    let since_epoch = to_minute.duration_since(EPOCH).as_secs();
    Some(End { second: since_epoch + i64::from(second) - east, naive })
}

/// What of the text is still to be read.
struct Scan<'a>(&'a [u8]);

impl Scan<'_> {
    fn one_of(&mut self, allowed: &[u8]) -> Option<u8> {
        let (first, rest) = self.0.split_first().filter(|(first, _)| allowed.contains(first))?;
        self.0 = rest;
        Some(*first)
    }

    fn number(&mut self, digits: usize) -> Option<i16> {
        (0..digits).try_fold(0, |number: i16, _| {
            let digit = self.one_of(b"0123456789")?;
            number.checked_mul(10)?.checked_add(i16::from(digit - b'0'))
        })
    }

    /// None, or a mark and at least one digit.
    fn fraction(&mut self) -> Option<()> {
        if self.one_of(b".,").is_some() {
            self.number(1)?;
            while self.number(1).is_some() {}
        }
        Some(())
    }

    /// The end of the text: the zone's seconds east of UTC, and whether there is none.
    fn zone(&mut self) -> Option<(i64, bool)> {
        if self.0.is_empty() {
            return Some((0, true));
        }
        let east = match self.one_of(b"Zz+-")? {
            b'Z' | b'z' => 0,
            sign => {
                let hours = self.number(2).filter(|hours| *hours < 24)?;
                let _ = self.one_of(b":");
                let minutes = self.number(2).filter(|minutes| *minutes < 60)?;
                let east = i64::from(hours) * 3600 + i64::from(minutes) * 60;
                if sign == b'+' { east } else { -east }
            }
        };
        self.0.is_empty().then_some((east, false))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(text: &str) -> i64 {
        text.parse::<jiff::Timestamp>().unwrap().as_second()
    }

    #[test]
    fn one_instant_has_many_spellings() {
        let instant = at("2026-04-08T14:15:00Z");
        for text in [
            "2026-04-08T14:15:00Z",
            "2026-04-08t14:15:00z",
            "2026-04-08 14:15:00Z",
            "2026-04-08T14:15:00.75Z",
            "2026-04-08T14:15:00,999999999999Z",
            "2026-04-08T14:14:60Z",
            "2026-04-08T23:15:00+09:00",
            "2026-04-08T06:15:00-0800",
            "2026-04-09T14:14:00+23:59",
            "2026-04-08T14:15:00-00:00",
        ] {
            assert_eq!(parse(text), Some(End { second: instant, naive: false }), "{text}");
        }
        let naive = Some(End { second: instant, naive: true });
        assert_eq!(parse("2026-04-08T14:15:00"), naive);
        assert_eq!(parse("2026-04-08 14:15:00.5"), naive);
    }

    #[test]
    fn every_year_can_be_used() {
        let never = at("9999-12-30T21:59:59Z") + 26 * 3600;
        assert_eq!(parse("9999-12-31T23:59:59Z").unwrap().second, never);
        assert_eq!(parse("9999-12-31T23:59:59.999Z").unwrap().second, never);
        assert_eq!(parse("9999-12-31T23:59:59-23:59").unwrap().second, never + 86_340);
        assert_eq!(parse("0001-01-01T00:00:00Z").unwrap().second, at("0001-01-01T00:00:00Z"));
        assert_eq!(parse("1969-12-31T23:59:59.9Z").unwrap().second, -1);
        assert_eq!(parse("2028-02-29T00:00:00Z").unwrap().second, at("2028-02-29T00:00:00Z"));
    }

    #[test]
    fn nothing_else_is_a_time() {
        for text in [
            "",
            "tomorrow",
            "@1790000000",
            "1790000000",
            "2026-04-08",
            "2026-02-30T00:00:00Z",
            "2026-02-29T00:00:00Z",
            "0000-01-01T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-00-01T00:00:00Z",
            "2026-04-08T24:00:00Z",
            "2026-04-08T14:60:00Z",
            "2026-04-08T14:15:61Z",
            "2026-04-08T14:15Z",
            "2026-04-08T14:15:00.Z",
            "2026-04-08T14:15:00 Z",
            "2026-04-08T14:15:00Z ",
            " 2026-04-08T14:15:00Z",
            "2026-04-08  14:15:00Z",
            "2026-04-08T14:15:00+09",
            "2026-04-08T14:15:00+24:00",
            "2026-04-08T14:15:00+09:60",
            "2026-04-08T14:15:00ZZ",
            "2026-04-08T14:15:00Z[UTC]",
            "+002026-04-08T14:15:00Z",
            "２０２６-04-08T14:15:00Z",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_jiff_prints_is_read_as_it_was(second in -62_135_596_800_i64..253_402_207_200) {
            let text = jiff::Timestamp::from_second(second).unwrap().to_string();
            prop_assert_eq!(parse(&text), Some(End { second, naive: false }));
        }

        #[test]
        fn no_text_is_too_strange(text in "\\PC{0,40}") {
            let _ = parse(&text);
        }

        #[test]
        fn nearly_a_time_is_read_or_refused(text in "[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}([.,][0-9]*)?([Zz]|[+-][0-9]{2}:?[0-9]{2})?") {
            let _ = parse(&text);
        }
    }
}
