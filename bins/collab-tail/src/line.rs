//! Bytes to lines: what of a line is matched and printed, and the hash of all of it.

use std::borrow::Cow;

use sha2::{Digest as _, Sha256};

use crate::hash::Hash;

/// How much of a line is matched and printed.
pub const MATCHED: usize = 65_536;
/// What editors put before the first line; it belongs to no line.
const BOM: &[u8] = b"\xef\xbb\xbf";

/// A line without its end.
#[derive(Debug, Clone)]
pub struct Line<'a> {
    /// Where it begins in its file.
    pub offset: u64,
    /// Its first bytes, all that is matched.
    pub head: &'a [u8],
    /// The hash of its clean text, when it is longer than `head`.
    long: Option<Hash>,
    /// The carriage returns before its newline.
    returns: usize,
}

impl Line<'_> {
    /// SHA-256 of the clean line and a newline.
    #[must_use]
    pub fn hash(&self) -> Hash {
        self.long.unwrap_or_else(|| Hash::of(&[clean(&decode(self.head)).as_bytes(), b"\n"]))
    }

    /// SHA-256 of the line as a shell reads it: with its carriage returns, without NUL. `None`
    /// where that is [`Line::hash`], or where the line is too long for it.
    #[must_use]
    pub fn raw_hash(&self) -> Option<Hash> {
        let is_clean = || {
            let text = decode(self.head);
            matches!(text, Cow::Borrowed(_)) && matches!(clean(&text), Cow::Borrowed(_))
        };
        if self.long.is_some() || (self.returns == 0 && is_clean()) {
            return None;
        }
        let mut raw: Vec<u8> = self.head.iter().copied().filter(|byte| *byte != 0).collect();
        raw.resize(raw.len() + self.returns, b'\r');
        Some(Hash::of(&[&raw, b"\n"]))
    }
}

/// The text that is matched: what isn't UTF-8 reads as U+FFFD.
#[must_use]
pub fn decode(head: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(head)
}

/// The text that is printed: each control character and line separator is one space.
#[must_use]
pub fn clean(text: &str) -> Cow<'_, str> {
    if text.chars().any(is_unfit) {
        return text.chars().map(|c| if is_unfit(c) { ' ' } else { c }).collect::<String>().into();
    }
    text.into()
}

fn is_unfit(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')
}

/// Joins the pieces of lines. Memory doesn't grow with a line.
#[derive(Debug, Clone, Default)]
pub struct Assembly {
    /// Where the line that has begun begins.
    offset: u64,
    begun: Vec<u8>,
    beyond: Option<Beyond>,
}

/// The part of a line that is hashed only.
#[derive(Debug, Clone, Default)]
struct Beyond {
    bytes: u64,
    sha: Sha256,
    /// The bytes of a character that isn't whole yet.
    torn: Vec<u8>,
    /// Carriage returns that belong to the line if something follows them.
    returns: usize,
}

impl Assembly {
    /// Begins at `offset`, the start of a line.
    #[must_use]
    pub fn at(offset: u64) -> Self {
        Self { offset, ..Self::default() }
    }

    /// Where the line that has begun begins, or the next one will.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// How many bytes the line has that has no newline yet.
    #[must_use]
    pub fn waiting(&self) -> u64 {
        self.begun.len() as u64 + self.beyond.as_ref().map_or(0, |beyond| beyond.bytes)
    }

    /// Hands each line that `piece` completes to `each`.
    pub fn feed(&mut self, mut piece: &[u8], mut each: impl FnMut(&Line<'_>)) {
        while let Some(at) = memchr::memchr(b'\n', piece) {
            let (line, rest) = (&piece[..at], &piece[at + 1..]);
            piece = rest;
            if self.begun.is_empty() && self.beyond.is_none() && at <= MATCHED {
                each(&whole(self.offset, line));
                self.offset += at as u64 + 1;
                continue;
            }
            self.keep(line);
            each(&self.line());
            *self = Self::at(self.offset + self.waiting() + 1);
        }
        self.keep(piece);
    }

    /// The line that has no newline yet, as if it came now. `None` when nothing has begun.
    #[must_use]
    pub fn last(&self) -> Option<Line<'_>> {
        (self.waiting() > 0).then(|| self.line())
    }

    fn keep(&mut self, part: &[u8]) {
        let room = part.len().min(MATCHED.saturating_sub(self.begun.len()));
        let (head, rest) = part.split_at(if self.beyond.is_none() { room } else { 0 });
        self.begun.extend(head);
        if rest.is_empty() {
            return;
        }
        let (offset, begun) = (self.offset, &self.begun);
        let beyond = self.beyond.get_or_insert_with(|| {
            let mut beyond = Beyond::default();
            beyond.hash(without_bom(offset, begun));
            beyond
        });
        beyond.bytes += rest.len() as u64;
        beyond.hash(rest);
    }

    fn line(&self) -> Line<'_> {
        match &self.beyond {
            None => whole(self.offset, &self.begun),
            Some(beyond) => {
                let head = without_bom(self.offset, &self.begun);
                let offset = self.offset + (self.begun.len() - head.len()) as u64;
                // The cut may be inside a character.
                let torn = head.len() - whole_characters(head);
                let head = &head[..head.len() - torn];
                Line { offset, head, long: Some(beyond.finish()), returns: 0 }
            }
        }
    }
}

impl Beyond {
    fn hash(&mut self, part: &[u8]) {
        let end = part.iter().rposition(|byte| *byte != b'\r').map_or(0, |at| at + 1);
        let (text, returns) = part.split_at(end);
        if !text.is_empty() {
            let returns = std::mem::take(&mut self.returns);
            self.torn.resize(self.torn.len() + returns, b'\r');
            self.torn.extend(text);
            let bytes = std::mem::take(&mut self.torn);
            let (whole, torn) = bytes.split_at(whole_characters(&bytes));
            self.sha.update(clean(&decode(whole)).as_bytes());
            self.torn = torn.to_vec();
        }
        self.returns += returns.len();
    }

    fn finish(&self) -> Hash {
        let mut sha = self.sha.clone();
        sha.update(decode(&self.torn).as_bytes());
        sha.update(b"\n");
        Hash(sha.finalize().into())
    }
}

fn whole(offset: u64, line: &[u8]) -> Line<'_> {
    let head = without_bom(offset, line);
    let offset = offset + (line.len() - head.len()) as u64;
    let end = head.iter().rposition(|byte| *byte != b'\r').map_or(0, |at| at + 1);
    let returns = head.len() - end;
    Line { offset, head: &head[..end], long: None, returns }
}

fn without_bom(offset: u64, line: &[u8]) -> &[u8] {
    if offset == 0 { line.strip_prefix(BOM).unwrap_or(line) } else { line }
}

/// The length of `bytes` without the beginning of a character at their end.
fn whole_characters(bytes: &[u8]) -> usize {
    let near = bytes.len().saturating_sub(3);
    let begun = bytes[near..].iter().rposition(|byte| *byte >= 0xc0);
    let Some(at) = begun.map(|at| near + at) else { return bytes.len() };
    let is_torn = str::from_utf8(&bytes[at..]).is_err_and(|err| err.error_len().is_none());
    if is_torn { at } else { bytes.len() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Seen = (u64, Vec<u8>, Hash);

    fn lines(pieces: &[&[u8]]) -> Vec<Seen> {
        let mut assembly = Assembly::default();
        let mut seen = Vec::new();
        for piece in pieces {
            assembly.feed(piece, |line| seen.push((line.offset, line.head.to_vec(), line.hash())));
        }
        seen.extend(assembly.last().map(|line| (line.offset, line.head.to_vec(), line.hash())));
        seen
    }

    fn hash(text: &str) -> Hash {
        Hash::of(&[text.as_bytes(), b"\n"])
    }

    #[test]
    fn ends_and_marks_belong_to_no_line() {
        let seen = lines(&[b"\xef\xbb\xbfa\r\r\nb\rc\n\nd\r"]);
        let want = [
            (3, b"a".to_vec(), hash("a")),
            (7, b"b\rc".to_vec(), hash("b c")),
            (11, vec![], hash("")),
            (12, b"d".to_vec(), hash("d")),
        ];
        assert_eq!(seen, want);
    }

    #[test]
    fn what_controls_a_terminal_is_a_space() {
        assert_eq!(clean("a\u{0}b\u{1b}[31mc\u{85}\u{2028}é"), "a b [31mc  é");
    }

    #[test]
    fn a_shells_hash_keeps_the_carriage_return() {
        let mut assembly = Assembly::default();
        let mut raw = Vec::new();
        assembly.feed(b"a\r\nb\na\tb\0\n", |line| raw.push(line.raw_hash()));
        assert_eq!(raw, [Some(hash("a\r")), None, Some(hash("a\tb"))]);
    }

    #[test]
    fn a_long_line_is_hashed_whole() {
        let long = format!("{}é{}", "x".repeat(MATCHED - 1), "\u{1b}é".repeat(90_000));
        let text = format!("{long}\r\r\n");
        for size in [1000, 4096, 65_536, 1 << 20] {
            let pieces: Vec<&[u8]> = text.as_bytes().chunks(size).collect();
            let seen = lines(&pieces);
            assert_eq!(seen.len(), 1);
            assert_eq!((seen[0].1.len(), seen[0].2), (MATCHED - 1, hash(&clean(&long))), "{size}");
        }
    }

    proptest! {
        #[test]
        fn pieces_make_no_difference(
            bytes in proptest::collection::vec(
                prop_oneof![4 => Just(b'a'), 2 => Just(b'\n'), 2 => Just(b'\r'), 1 => any::<u8>()], 0..300),
            size in 1usize..40,
            repeat in prop_oneof![9 => Just(1usize), 1 => Just(400)],
        ) {
            let bytes = bytes.repeat(repeat);
            let pieces: Vec<&[u8]> = bytes.chunks(size * repeat).collect();
            prop_assert_eq!(lines(&[&bytes]), lines(&pieces));
        }

        #[test]
        fn a_long_line_has_the_hash_of_its_clean_text(
            tail in proptest::collection::vec(any::<u8>(), 1..200),
            size in 1usize..100_000,
        ) {
            let mut line = vec![b'x'; MATCHED];
            line.extend(tail.iter().filter(|byte| **byte != b'\n'));
            let pieces: Vec<&[u8]> = line.chunks(size).collect();
            let text = String::from_utf8_lossy(&line);
            let end = text.trim_end_matches('\r');
            prop_assert_eq!(lines(&pieces)[0].2, hash(&clean(end)));
        }
    }
}
