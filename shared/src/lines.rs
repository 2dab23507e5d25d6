//! Splits bytes that come in pieces into lines, with a limit for each.

use memchr::memchr;

/// A line of the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Line<'a> {
    /// A line within the limit, as it stands: with its newline, but for [`Lines::finish`].
    Whole(&'a [u8]),
    /// A line beyond the limit was skipped; it had this many bytes, its newline included.
    TooLong(u64),
}

/// Joins the pieces of lines. Memory stays within the limit and a piece, whatever comes.
#[derive(Debug, Clone)]
pub struct Lines {
    begun: Vec<u8>,
    skipped: u64,
    limit: usize,
}

impl Lines {
    /// `limit` is the most bytes of a line, its newline not counted.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self { begun: Vec::new(), skipped: 0, limit }
    }

    /// The line that has no newline yet; empty when it is being skipped.
    #[must_use]
    pub fn begun(&self) -> &[u8] {
        &self.begun
    }

    /// How many bytes came since the last newline, skipped ones included.
    #[must_use]
    pub fn pending(&self) -> u64 {
        self.skipped + self.begun.len() as u64
    }

    /// Hands each line that `piece` completes to `each`.
    ///
    /// # Errors
    ///
    /// The first of `each`; the rest of the piece is then lost.
    pub fn feed<E>(
        &mut self,
        mut piece: &[u8],
        mut each: impl FnMut(Line<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        while let Some(at) = memchr(b'\n', piece) {
            let (line, rest) = piece.split_at(at + 1);
            piece = rest;
            if self.pending() == 0 && line.len() - 1 <= self.limit {
                each(Line::Whole(line))?;
                continue;
            }
            self.keep(line, self.limit + 1);
            if self.skipped > 0 {
                each(Line::TooLong(std::mem::take(&mut self.skipped)))?;
            } else {
                let begun = std::mem::take(&mut self.begun);
                let answer = each(Line::Whole(&begun));
                self.begun = begun;
                self.begun.clear();
                answer?;
            }
        }
        self.keep(piece, self.limit);
        Ok(())
    }

    /// The last line, if it had no newline, at the end of the input.
    pub fn finish(&mut self) -> Option<Vec<u8>> {
        self.skipped = 0;
        let last = std::mem::take(&mut self.begun);
        (!last.is_empty()).then_some(last)
    }

    /// Keeps `part` of a line, or only its length once the line is beyond `limit`.
    fn keep(&mut self, part: &[u8], limit: usize) {
        if self.skipped == 0 && self.begun.len() + part.len() <= limit {
            self.begun.extend(part);
            return;
        }
        self.skipped += (self.begun.len() + part.len()) as u64;
        // A long line is rare: its memory goes back.
        self.begun = Vec::new();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn split(limit: usize, pieces: &[&[u8]]) -> (Vec<String>, Option<Vec<u8>>) {
        let mut lines = Lines::new(limit);
        let mut seen = Vec::new();
        for piece in pieces {
            let fed = lines.feed(piece, |line| {
                seen.push(match line {
                    Line::Whole(line) => String::from_utf8_lossy(line).into_owned(),
                    Line::TooLong(bytes) => format!("+{bytes}"),
                });
                Ok::<(), ()>(())
            });
            assert_eq!(fed, Ok(()));
        }
        (seen, lines.finish())
    }

    #[test]
    fn a_line_is_whole_or_counted() {
        let (seen, last) = split(4, &[b"ab\n", b"1234\n12345\n", b"123", b"4\n12345", b"678\n\nx"]);
        assert_eq!(seen, ["ab\n", "1234\n", "+6", "1234\n", "+9", "\n"]);
        assert_eq!(last, Some(b"x".to_vec()));
    }

    proptest! {
        #[test]
        fn pieces_make_no_difference(
            bytes in proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b'a')], 0..200),
            cuts in proptest::collection::vec(0usize..200, 0..10),
            limit in 0usize..12,
        ) {
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let pieces: Vec<&[u8]> = cuts.windows(2).map(|cut| &bytes[cut[0]..cut[1]]).collect();
            let (whole, pieced) = (split(limit, &[&bytes]), split(limit, &pieces));
            prop_assert_eq!(&whole.0, &pieced.0);
            let expected: Vec<String> = bytes.split_inclusive(|byte| *byte == b'\n')
                .filter(|line| line.ends_with(b"\n"))
                .map(|line| if line.len() > limit + 1 { format!("+{}", line.len()) } else { String::from_utf8_lossy(line).into_owned() })
                .collect();
            prop_assert_eq!(whole.0, expected);
        }
    }
}
