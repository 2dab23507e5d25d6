//! Reads one line as a JSON object: where its members lie, and that every byte of it is valid.
//! It copies nothing, recurses nowhere, and knows no key.

use std::ops::Range;

use memchr::memchr;

/// The space that nested values take: one entry for each container that is open, an object or
/// not. Kept by the caller, so that a line allocates nothing.
pub type Nest = Vec<bool>;

/// Where an object lies in its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Braces {
    /// The offset of the opening one.
    pub open: usize,
    /// The offset of the closing one.
    pub close: usize,
    /// Whether there is no member between them.
    pub empty: bool,
}

/// A string as it stands in the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Raw<'a> {
    bytes: &'a [u8],
    escaped: bool,
}

impl<'a> Raw<'a> {
    /// The string whose quotes are the first and last byte of `value`, a valid JSON value; `None`
    /// for a value of another type.
    #[must_use]
    pub fn of(value: &'a [u8]) -> Option<Self> {
        let bytes = value.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
        Some(Self { bytes, escaped: memchr(b'\\', bytes).is_some() })
    }

    /// The string that is meant, in UTF-8; half a surrogate pair becomes the three bytes that no
    /// valid text has, so that it equals none. `space` is used when there are escapes.
    pub fn text<'b>(self, space: &'b mut Vec<u8>) -> &'b [u8]
    where
        'a: 'b,
    {
        if !self.escaped {
            return self.bytes;
        }
        space.clear();
        let mut rest = self.bytes;
        while let Some((plain, escape)) =
            memchr(b'\\', rest).and_then(|at| rest.split_at_checked(at))
        {
            space.extend(plain);
            rest = unescape(escape, space);
        }
        space.extend(rest);
        space
    }
}

/// Reads `line` as one object with nothing but white space around it, and hands each of its
/// members to `member`: its key, and where its value lies. `None` when it is no such thing.
pub fn object<'a>(
    line: &'a [u8],
    nest: &mut Nest,
    member: impl FnMut(Raw<'a>, Range<usize>),
) -> Option<Braces> {
    let mut cursor = Cursor { bytes: line, at: 0, seen: 0 };
    if cursor.token()? != b'{' {
        return None;
    }
    let open = cursor.at;
    cursor.at += 1;
    let empty = cursor.token()? == b'}';
    if !empty {
        cursor.members(nest, member)?;
    }
    let close = cursor.at;
    cursor.at += 1;
    (cursor.token().is_none() && cursor.is_utf8()).then_some(Braces { open, close, empty })
}

/// Whether `line` is one JSON value of any type with nothing but white space around it.
#[must_use]
pub fn is_value(line: &[u8]) -> bool {
    let mut cursor = Cursor { bytes: line, at: 0, seen: 0 };
    cursor.value(&mut Nest::new()).is_some() && cursor.token().is_none() && cursor.is_utf8()
}

const EACH: u64 = u64::MAX / 255;
const HIGH_BITS: u64 = EACH << 7;

/// Where reading stands.
struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    /// All words that strings were read in, joined by "or": ASCII has no high bit.
    seen: u64,
}

impl<'a> Cursor<'a> {
    fn next(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// The next byte that is no white space, left where it is.
    fn token(&mut self) -> Option<u8> {
        loop {
            match self.next()? {
                b' ' | b'\t' | b'\r' | b'\n' => self.at += 1,
                byte => return Some(byte),
            }
        }
    }

    /// Whether the strings that were read are UTF-8. Nothing but ASCII passes outside of them.
    fn is_utf8(&self) -> bool {
        self.seen & HIGH_BITS == 0 || str::from_utf8(self.bytes).is_ok()
    }

    /// Steps over the members of an object that has some, to its closing brace.
    fn members(
        &mut self,
        nest: &mut Nest,
        mut member: impl FnMut(Raw<'a>, Range<usize>),
    ) -> Option<()> {
        loop {
            let key = self.key()?;
            self.token()?;
            let start = self.at;
            self.value(nest)?;
            member(key, start..self.at);
            match self.token()? {
                b',' => self.at += 1,
                b'}' => return Some(()),
                _ => return None,
            }
        }
    }

    /// Steps over a key and its colon.
    fn key(&mut self) -> Option<Raw<'a>> {
        if self.token()? != b'"' {
            return None;
        }
        let start = self.at + 1;
        let escaped = self.string()?;
        let bytes = self.bytes.get(start..self.at - 1)?;
        if self.token()? != b':' {
            return None;
        }
        self.at += 1;
        Some(Raw { bytes, escaped })
    }

    /// Steps over a value, however deep it is.
    fn value(&mut self, nest: &mut Nest) -> Option<()> {
        nest.clear();
        loop {
            match self.token()? {
                b'"' => {
                    self.string()?;
                }
                b'{' => {
                    self.at += 1;
                    if self.token()? != b'}' {
                        nest.push(true);
                        self.key()?;
                        continue;
                    }
                    self.at += 1;
                }
                b'[' => {
                    self.at += 1;
                    if self.token()? != b']' {
                        nest.push(false);
                        continue;
                    }
                    self.at += 1;
                }
                b't' => self.word(b"true")?,
                b'f' => self.word(b"false")?,
                b'n' => self.word(b"null")?,
                _ => self.number()?,
            }
            if self.close(nest)? {
                return Some(());
            }
        }
    }

    /// After a value in a container: steps over what ends with it, and to the next value. True
    /// when no container is open any more.
    fn close(&mut self, nest: &mut Nest) -> Option<bool> {
        while let Some(in_object) = nest.last().copied() {
            match (self.token()?, in_object) {
                (b'}', true) | (b']', false) => {
                    nest.pop();
                    self.at += 1;
                }
                (b',', true) => {
                    self.at += 1;
                    self.key()?;
                    return Some(false);
                }
                (b',', false) => {
                    self.at += 1;
                    return Some(false);
                }
                _ => return None,
            }
        }
        Some(true)
    }

    /// Steps over a string, from its opening quote. Answers whether it has escapes.
    fn string(&mut self) -> Option<bool> {
        self.at += 1;
        let mut escaped = false;
        loop {
            self.plain();
            match self.next()? {
                b'"' => break,
                b'\\' => {
                    escaped = true;
                    self.escape()?;
                }
                _ => return None,
            }
        }
        self.at += 1;
        Some(escaped)
    }

    /// Steps to the next quote, backslash or control character, eight bytes at a time. Of the
    /// bytes that a subtraction flags, the lowest is always a right one.
    fn plain(&mut self) {
        while let Some(word) = self.bytes.get(self.at..).and_then(<[u8]>::first_chunk) {
            let word = u64::from_le_bytes(*word);
            self.seen |= word;
            let zeros = |word: u64| word.wrapping_sub(EACH) & !word;
            let control = word.wrapping_sub(EACH * 0x20) & !word;
            let quote = zeros(word ^ (EACH * u64::from(b'"')));
            let backslash = zeros(word ^ (EACH * u64::from(b'\\')));
            let special = (control | quote | backslash) & HIGH_BITS;
            if special != 0 {
                self.at += (special.trailing_zeros() / 8) as usize;
                return;
            }
            self.at += 8;
        }
        while let Some(byte) = self.next().filter(|byte| !matches!(byte, 0..0x20 | b'"' | b'\\')) {
            self.seen |= u64::from(byte);
            self.at += 1;
        }
    }

    fn escape(&mut self) -> Option<()> {
        self.at += 1;
        match self.next()? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => self.at += 1,
            b'u' => {
                let digits = self.bytes.get(self.at + 1..self.at + 5)?;
                digits.iter().all(u8::is_ascii_hexdigit).then_some(())?;
                self.at += 5;
            }
            _ => return None,
        }
        Some(())
    }

    fn word(&mut self, word: &[u8]) -> Option<()> {
        self.bytes.get(self.at..)?.starts_with(word).then(|| self.at += word.len())
    }

    fn number(&mut self) -> Option<()> {
        if self.next() == Some(b'-') {
            self.at += 1;
        }
        if self.next() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.next() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.next(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.next(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        Some(())
    }

    /// Steps over one digit or more.
    fn digits(&mut self) -> Option<()> {
        let start = self.at;
        while matches!(self.next(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        (self.at > start).then_some(())
    }
}

/// Appends what the escape at the beginning of `raw` means, and answers what follows it.
fn unescape<'a>(raw: &'a [u8], text: &mut Vec<u8>) -> &'a [u8] {
    let (byte, rest) = match raw {
        [_, b'u', rest @ ..] => return unescape_unit(rest, text),
        [_, b'b', rest @ ..] => (0x08, rest),
        [_, b'f', rest @ ..] => (0x0c, rest),
        [_, b'n', rest @ ..] => (b'\n', rest),
        [_, b'r', rest @ ..] => (b'\r', rest),
        [_, b't', rest @ ..] => (b'\t', rest),
        [_, byte, rest @ ..] => (*byte, rest),
        _ => return &[],
    };
    text.push(byte);
    rest
}

/// The same for `\u`, of which `raw` is the digits and the rest.
fn unescape_unit<'a>(raw: &'a [u8], text: &mut Vec<u8>) -> &'a [u8] {
    let Some((unit, mut rest)) = hex(raw) else { return &[] };
    let mut code = unit;
    if (0xd800..0xdc00).contains(&unit)
        && let Some((low, after)) = rest.strip_prefix(b"\\u").and_then(hex)
        && (0xdc00..0xe000).contains(&low)
    {
        code = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
        rest = after;
    }
    if let Some(c) = char::from_u32(code) {
        text.extend(c.encode_utf8(&mut [0; 4]).bytes());
    } else {
        let [_, _, high, low] = code.to_be_bytes();
        text.extend([0xe0 | high >> 4, 0x80 | (high & 15) << 2 | low >> 6, 0x80 | low & 63]);
    }
    rest
}

fn hex(raw: &[u8]) -> Option<(u32, &[u8])> {
    let (digits, rest) = raw.split_at_checked(4)?;
    let unit = u32::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()?;
    Some((unit, rest))
}

#[cfg(test)]
mod tests;
