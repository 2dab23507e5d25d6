//! SHA-256 as boards and the store write it.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use sha2::{Digest as _, Sha256};

/// A SHA-256.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Hash(pub [u8; 32]);

impl Hash {
    /// Of `parts`, one after the other.
    #[must_use]
    pub fn of(parts: &[&[u8]]) -> Self {
        let mut sha = Sha256::new();
        for part in parts {
            sha.update(part);
        }
        Self(sha.finalize().into())
    }

    /// Reads 64 lower-case hex digits.
    #[must_use]
    pub fn parse(text: &[u8]) -> Option<Self> {
        let mut hash = [0; 32];
        unhex(text, &mut hash).then_some(Self(hash))
    }

    /// The first half: enough to tell chunks and lines apart.
    #[must_use]
    pub fn half(self) -> [u8; 16] {
        let mut half = [0; 16];
        half.copy_from_slice(&self.0[..16]);
        half
    }
}

/// Lower-case hex.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    text
}

/// Fills `out` from twice as many lower-case hex digits; false when `text` is something else.
#[must_use]
pub fn unhex(text: &[u8], out: &mut [u8]) -> bool {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    if text.len() != out.len() * 2 {
        return false;
    }
    for (pair, out) in text.chunks_exact(2).zip(out) {
        let (Some(high), Some(low)) = (digit(pair[0]), digit(pair[1])) else { return false };
        *out = high << 4 | low;
    }
    true
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Hash {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Hash {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'_, str>>::deserialize(from)?;
        Self::parse(text.as_bytes()).ok_or_else(|| D::Error::custom("not 64 hex digits"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex_goes_both_ways() {
        let hash = Hash::of(&["### @worker → @lead — tests are green".as_bytes(), b"\n"]);
        let text = hash.to_string();
        assert_eq!(text, "a4c839533db9d52bea1b75f404b94173faafa96dcb1697745e3d36e815a7f8e0");
        assert_eq!(Hash::parse(text.as_bytes()), Some(hash));
        for bad in ["", &text[1..], &text.to_uppercase(), &text.replace('a', "g")] {
            assert_eq!(Hash::parse(bad.as_bytes()), None, "{bad}");
        }
    }
}
