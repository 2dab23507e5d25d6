//! The format of the spool's segments: a first line with the version, then a line for each record.
//! Pure.

use shared::line::digest;

use crate::decide::outbox::{Item, Parcel};

/// The first line of a segment.
pub const FIRST: &[u8] = b"relay-spool 1\n";

/// What a record begins with besides its fields: a digest of the rest, which tells a record from
/// what a power failure left.
const DIGEST: usize = 16;

/// Appends the record of `item`: digest, number, message id, subject, line.
pub fn encode(item: &Item, out: &mut Vec<u8>) {
    let Item { parcel: Parcel { subject, id, line }, number, .. } = item;
    let mut rest = format!("{number} {id} {subject} ").into_bytes();
    rest.extend(line);
    out.extend(digest(&rest).into_bytes());
    out.push(b' ');
    out.extend(rest);
    out.push(b'\n');
}

/// Reads a record; `None` when it is damaged.
#[must_use]
pub fn decode(record: &[u8]) -> Option<Item> {
    let (sum, rest) = record.strip_suffix(b"\n")?.split_at_checked(DIGEST)?;
    let rest = rest.strip_prefix(b" ")?;
    if digest(rest).as_bytes() != sum {
        return None;
    }
    let mut fields = rest.splitn(4, |byte| *byte == b' ');
    let mut text = || str::from_utf8(fields.next()?).ok();
    let (number, id, subject) = (text()?.parse().ok()?, text()?.to_owned(), text()?.to_owned());
    let line = fields.next()?.to_vec();
    Some(Item { parcel: Parcel { subject, id, line }, number, place: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_as_it_was_written_or_not_at_all() {
        let parcel = Parcel {
            subject: "doorbell.h.s_".into(),
            id: "0".repeat(32),
            line: br#"{"a": "b  c"}"#.to_vec(),
        };
        let item = Item { parcel, number: 42, place: None };
        let mut record = Vec::new();
        encode(&item, &mut record);
        assert_eq!(decode(&record), Some(item));
        for at in 0..record.len() {
            let mut damaged = record.clone();
            damaged[at] ^= 1;
            assert_eq!(decode(&damaged), None);
            assert_eq!(decode(&record[..at]), None);
        }
    }
}
