//! What of a board was read, known again by its content.
//!
//! A board is read in chunks, and each chunk is remembered by half its SHA-256. So an append is
//! told from a rewrite without keeping the text.

use std::{fs::File, io, os::unix::fs::FileExt as _};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use sha2::{Digest as _, Sha256};

use crate::hash::{hex, unhex};

/// The size of a chunk.
pub const CHUNK: usize = 65_536;
const CHUNK_BYTES: u64 = CHUNK as u64;

type Half = [u8; 16];

/// The part of a board that was read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Content {
    /// How much of it.
    pub bytes: u64,
    chunks: Vec<Half>,
    /// Where the lines end in the first chunk and in the last one: a board that became smaller
    /// ends inside a chunk, most often at the end of a line.
    first: Ends,
    last: Ends,
}

/// The ends of lines within one chunk, each with four bytes of the hash of all before it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Ends(Vec<(u32, [u8; 4])>);

/// Ends closer to each other than this are left out, so that a board of empty lines stays cheap.
const APART: usize = 16;

/// What a pass over a board came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scan {
    /// What was known is still so; this is known now.
    Same(Content),
    /// A known chunk reads otherwise; this is where it begins.
    Differs(u64),
    /// The file ended before its size.
    Cut,
}

impl Ends {
    fn of(chunk: &[u8]) -> Self {
        let mut ends = Vec::new();
        let mut sha = Sha256::new();
        let mut from = 0;
        for at in memchr::memchr_iter(b'\n', chunk) {
            if at + 1 < from + APART && from > 0 {
                continue;
            }
            sha.update(&chunk[from..=at]);
            from = at + 1;
            let hash = sha.clone().finalize();
            let end = u32::try_from(from).unwrap_or(u32::MAX);
            ends.push((end, [hash[0], hash[1], hash[2], hash[3]]));
        }
        Self(ends)
    }

    /// Whether `chunk` can be the beginning of the one that these ends are of.
    fn begin_with(&self, chunk: &[u8]) -> bool {
        let length = u32::try_from(chunk.len()).unwrap_or(u32::MAX);
        let known = self.0.partition_point(|(end, _)| *end <= length);
        let (end, hash) = match known.checked_sub(1).and_then(|at| self.0.get(at)) {
            Some((end, hash)) => (*end as usize, Some(hash)),
            None => (0, None),
        };
        let agrees = hash.is_none_or(|hash| Sha256::digest(&chunk[..end])[..4] == *hash);
        // A line that ends where none did. Ends that were left out are taken for such only when
        // they are far enough away.
        let rest = &chunk[end..];
        let next = memchr::memchr(b'\n', rest).map_or(0, |at| at + 1);
        agrees && (next == 0 || (next < APART && end > 0))
    }

    fn hex(&self) -> String {
        let bytes: Vec<u8> = self
            .0
            .iter()
            .flat_map(|(end, hash)| end.to_be_bytes().into_iter().chain(*hash))
            .collect();
        hex(&bytes)
    }

    fn parse(text: &str) -> Option<Self> {
        let mut bytes = vec![0; text.len() / 2];
        if !unhex(text.as_bytes(), &mut bytes) || !bytes.len().is_multiple_of(8) {
            return None;
        }
        let pair = |bytes: &[u8]| {
            let end = u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
            (end, [bytes[4], bytes[5], bytes[6], bytes[7]])
        };
        Some(Self(bytes.chunks_exact(8).map(pair).collect()))
    }
}

impl Content {
    /// Reads `file` up to `size`, from the start of the chunk that holds `start`, compares what is
    /// known, and hands the bytes from `from` on to `each`.
    ///
    /// What is known beyond `size` isn't compared.
    ///
    /// # Errors
    ///
    /// Those of reading.
    pub fn scan(
        &self,
        file: &File,
        size: u64,
        start: u64,
        from: u64,
        mut each: impl FnMut(u64, &[u8]),
    ) -> io::Result<Scan> {
        let start = index(start.min(from));
        let mut buffer = vec![0; CHUNK.min(usize::try_from(size).unwrap_or(CHUNK).max(1))];
        let mut found = Self { bytes: size, ..self.clone() };
        found.chunks.truncate(start);
        let mut offset = start as u64 * CHUNK_BYTES;
        while offset < size {
            let length = usize::try_from(size - offset).map_or(CHUNK, |left| left.min(CHUNK));
            let chunk = &mut buffer[..length];
            if !read_full(file, chunk, offset)? {
                return Ok(Scan::Cut);
            }
            let known = self.chunks.get(index(offset)).zip(self.length_of(index(offset)));
            let Some(half) = compare(chunk, known) else { return Ok(Scan::Differs(offset)) };
            found.chunks.push(half);
            // The text moved on, so the ends are those of another chunk.
            if offset == 0 && self.bytes < CHUNK_BYTES {
                found.first = Ends::of(chunk);
            }
            if offset > 0 && offset + CHUNK_BYTES >= size {
                found.last = Ends::of(chunk);
            }
            let skip = usize::try_from(from.saturating_sub(offset)).unwrap_or(length).min(length);
            if skip < length {
                each(offset + skip as u64, &chunk[skip..]);
            }
            offset += length as u64;
        }
        Ok(Scan::Same(found))
    }

    /// Whether the first chunk reads as it did.
    ///
    /// # Errors
    ///
    /// Those of reading.
    pub fn begins_same(&self, file: &File) -> io::Result<bool> {
        let head = self.bytes.min(CHUNK_BYTES);
        let same = self.scan(file, head, 0, 0, |_, _| {})?;
        Ok(matches!(same, Scan::Same(_)))
    }

    /// Compares the first `size` bytes of `file`, which are fewer than were read: [`Scan::Same`]
    /// says nothing but that.
    ///
    /// # Errors
    ///
    /// Those of reading.
    pub fn scan_below(&self, file: &File, size: u64) -> io::Result<Scan> {
        // Whole chunks by their hash, the rest by the lines that end in it.
        let whole = size / CHUNK_BYTES * CHUNK_BYTES;
        let scan = self.scan(file, whole, 0, 0, |_, _| {})?;
        let at = index(whole);
        let ends = match at {
            0 => &self.first,
            at if at + 1 == self.chunks.len() => &self.last,
            _ => return Ok(scan),
        };
        let mut rest = vec![0; usize::try_from(size - whole).unwrap_or(0)];
        Ok(match scan {
            Scan::Same(_) if !read_full(file, &mut rest, whole)? => Scan::Cut,
            Scan::Same(_) if !ends.begin_with(&rest) => Scan::Differs(whole),
            scan => scan,
        })
    }

    /// How many bytes of a known chunk were read.
    fn length_of(&self, index: usize) -> Option<usize> {
        let left = self.bytes.checked_sub(index as u64 * CHUNK_BYTES)?;
        Some(usize::try_from(left).map_or(CHUNK, |left| left.min(CHUNK)))
    }
}

fn index(offset: u64) -> usize {
    usize::try_from(offset / CHUNK_BYTES).unwrap_or(usize::MAX)
}

/// The hash of a chunk. `None`: its known part reads otherwise. Less than the known part says
/// nothing of it.
fn compare(chunk: &[u8], known: Option<(&Half, usize)>) -> Option<Half> {
    let mut sha = Sha256::new();
    let mut rest = chunk;
    if let Some((half, length)) = known
        && length <= chunk.len()
    {
        let (read, new) = chunk.split_at(length);
        sha.update(read);
        rest = new;
        if sha.clone().finalize()[..16] != *half {
            return None;
        }
    }
    sha.update(rest);
    let mut half = [0; 16];
    half.copy_from_slice(&sha.finalize()[..16]);
    Some(half)
}

/// False: the file ended before.
fn read_full(file: &File, chunk: &mut [u8], offset: u64) -> io::Result<bool> {
    match file.read_exact_at(chunk, offset) {
        Ok(()) => Ok(true),
        Err(err) if err.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(err) => Err(err),
    }
}

#[derive(Serialize, Deserialize)]
struct Saved {
    read_bytes: u64,
    chunks: String,
    first_lines: String,
    last_lines: String,
}

impl Serialize for Content {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let chunks = hex(self.chunks.as_flattened());
        let (first_lines, last_lines) = (self.first.hex(), self.last.hex());
        Saved { read_bytes: self.bytes, chunks, first_lines, last_lines }.serialize(to)
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let saved = Saved::deserialize(from)?;
        let count = usize::try_from(saved.read_bytes.div_ceil(CHUNK_BYTES)).unwrap_or(0);
        let bad = || D::Error::custom("chunks don't fit their bytes");
        // Checked before anything is reserved for it.
        if Some(saved.chunks.len()) != count.checked_mul(32) {
            return Err(bad());
        }
        let mut chunks = vec![Half::default(); count];
        if !unhex(saved.chunks.as_bytes(), chunks.as_flattened_mut()) {
            return Err(bad());
        }
        let first = Ends::parse(&saved.first_lines).ok_or_else(bad)?;
        let last = Ends::parse(&saved.last_lines).ok_or_else(bad)?;
        Ok(Self { bytes: saved.read_bytes, chunks, first, last })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &[u8]) -> File {
        let mut file = tempfile::tempfile().unwrap();
        io::Write::write_all(&mut file, text).unwrap();
        file
    }

    fn read(text: &[u8]) -> Content {
        let Scan::Same(content) =
            Content::default().scan(&file(text), text.len() as u64, 0, 0, |_, _| {}).unwrap()
        else {
            panic!("not read")
        };
        content
    }

    fn lines(n: usize) -> Vec<u8> {
        (0..n)
            .flat_map(|n| format!("line {n} of a board, with some words\n").into_bytes())
            .collect()
    }

    #[test]
    fn an_append_hands_over_what_is_new() {
        let old = lines(5000);
        let new = lines(8000);
        let known = read(&old);
        let (before, after) = (old.len(), new.len());
        for (start, from, size) in [
            (0, 0, after),
            (0, before, after),
            (before, before, after),
            (before, before - 10, before),
        ] {
            let mut seen: Vec<u8> = Vec::new();
            let mut next = from as u64;
            let scan =
                known.scan(&file(&new), size as u64, start as u64, from as u64, |at, bytes| {
                    assert_eq!(at, next);
                    next += bytes.len() as u64;
                    seen.extend(bytes);
                });
            assert_eq!(scan.unwrap(), Scan::Same(read(&new[..size])));
            assert_eq!(seen, &new[from..size]);
        }
    }

    #[test]
    fn a_changed_byte_is_found_in_its_chunk() {
        let text = lines(6000);
        let known = read(&text);
        for at in [0, 70_000, text.len() - 1] {
            let mut other = text.clone();
            other[at] ^= 1;
            let scan = known.scan(&file(&other), other.len() as u64, 0, 0, |_, _| {}).unwrap();
            assert_eq!(scan, Scan::Differs(at as u64 / CHUNK_BYTES * CHUNK_BYTES));
        }
        let scan = known.scan(&file(&text), text.len() as u64 + 1, 0, 0, |_, _| {}).unwrap();
        assert_eq!(scan, Scan::Cut);
    }

    #[test]
    fn what_a_cut_leaves_is_known_again() {
        let text = lines(6000);
        let known = read(&text);
        let second = text[..100_000].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
        for size in [0, 1, 37, 40, second, 2 * CHUNK, text.len() - 37, text.len() - 1] {
            let scan = known.scan_below(&file(&text), size as u64).unwrap();
            assert!(matches!(scan, Scan::Same(_)), "{size}");
        }
        for size in [37, 2000, CHUNK, text.len() - 37] {
            let mut other = text[..size].to_vec();
            other[20] = b'!';
            let scan = known.scan_below(&file(&other), size as u64).unwrap();
            assert_eq!(scan, Scan::Differs(0), "{size}");
        }
        assert_eq!(known.scan_below(&file(b"other\n"), 6).unwrap(), Scan::Differs(0));
        assert_eq!(known.scan_below(&file(b"x"), 6).unwrap(), Scan::Cut);
    }

    #[test]
    fn it_is_saved_and_loaded() {
        let known = read(&lines(6000));
        let text = serde_json::to_string(&known).unwrap();
        assert_eq!(serde_json::from_str::<Content>(&text).unwrap(), known);
        let huge =
            r#"{"read_bytes":18446744073709551615,"chunks":"","first_lines":"","last_lines":""}"#;
        assert!(serde_json::from_str::<Content>(huge).is_err());
    }
}
