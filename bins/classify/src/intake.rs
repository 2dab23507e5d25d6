//! From pieces of input to numbered lines that are worth judging.

use shared::lines::{Line, Lines};

const BOM: &[u8] = b"\xef\xbb\xbf";

/// A line of the input that isn't blank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrival<'a> {
    /// Its bytes without the newline.
    Line(&'a [u8]),
    /// It was longer than allowed.
    TooLong,
}

/// Joins pieces to lines and numbers them from 1, blank ones included.
#[derive(Debug)]
pub struct Intake {
    lines: Lines,
    number: u64,
}

impl Intake {
    /// `limit` is the most bytes of a line, its newline not counted.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self { lines: Lines::new(limit), number: 0 }
    }

    /// Hands each line that `piece` completes to `each`, with its number.
    ///
    /// # Errors
    ///
    /// The first of `each`.
    pub fn feed<E>(
        &mut self,
        piece: &[u8],
        mut each: impl FnMut(u64, Arrival<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let Self { lines, number } = self;
        lines.feed(piece, |line| {
            *number += 1;
            match line {
                Line::TooLong(_) => each(*number, Arrival::TooLong),
                Line::Whole(line) => content(line, *number)
                    .map_or(Ok(()), |content| each(*number, Arrival::Line(content))),
            }
        })
    }

    /// The same for a last line without newline, at the end of the input.
    ///
    /// # Errors
    ///
    /// That of `each`.
    pub fn finish<E>(
        &mut self,
        mut each: impl FnMut(u64, Arrival<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let number = self.number + 1;
        if self.lines.pending() > 0 && self.lines.begun().is_empty() {
            return each(number, Arrival::TooLong);
        }
        let last = self.lines.finish().unwrap_or_default();
        content(&last, number).map_or(Ok(()), |content| each(number, Arrival::Line(content)))
    }
}

/// A line without its newline and, at the start of the input, without the mark that editors put
/// there; `None` when it is blank.
fn content(line: &[u8], number: u64) -> Option<&[u8]> {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_prefix(BOM).filter(|_| number == 1).unwrap_or(line);
    let blank = line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r'));
    (!blank).then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(limit: usize, pieces: &[&[u8]]) -> Vec<(u64, Option<String>)> {
        let (mut intake, mut seen) = (Intake::new(limit), Vec::new());
        let mut each = |number, arrival: Arrival<'_>| {
            let text = |line: &[u8]| String::from_utf8(line.to_vec()).unwrap();
            seen.push((
                number,
                match arrival {
                    Arrival::Line(line) => Some(text(line)),
                    Arrival::TooLong => None,
                },
            ));
            Ok::<(), ()>(())
        };
        for piece in pieces {
            assert_eq!(intake.feed(piece, &mut each), Ok(()));
        }
        assert_eq!(intake.finish(each), Ok(()));
        seen
    }

    fn line(number: u64, text: &str) -> (u64, Option<String>) {
        (number, Some(text.to_owned()))
    }

    #[test]
    fn lines_are_numbered_and_blank_ones_dropped() {
        let seen = split(8, &[b"\xef\xbb\xbfa\r\n\n \t\r\nb", b"c\n\xef\xbb\xbfd"]);
        assert_eq!(seen, [line(1, "a\r"), line(4, "bc"), line(5, "\u{feff}d")]);
        assert_eq!(split(8, &[b"\n", b"", b" "]), []);
    }

    #[test]
    fn a_line_beyond_the_limit_is_told_wherever_it_ends() {
        assert_eq!(split(4, &[b"1234\n12345\nx\n"]), [line(1, "1234"), (2, None), line(3, "x")]);
        assert_eq!(split(4, &[b"123", b"45", b"6\nx"]), [(1, None), line(2, "x")]);
        assert_eq!(split(4, &[b"x\n123", b"45"]), [line(1, "x"), (2, None)]);
        assert_eq!(split(4, &[b"1234"]), [line(1, "1234")]);
    }
}
