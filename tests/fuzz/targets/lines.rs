//! The line reader: pieces make no difference, and no line is longer than allowed.
#![no_main]

use std::convert::Infallible;

use libfuzzer_sys::fuzz_target;
use shared::lines::{Line, Lines};

fn split(limit: usize, pieces: &[&[u8]]) -> (Vec<Result<Vec<u8>, u64>>, Option<Vec<u8>>) {
    let mut lines = Lines::new(limit);
    let mut seen = Vec::new();
    for piece in pieces {
        let Ok(()) = lines.feed::<Infallible>(piece, |line| {
            seen.push(match line {
                Line::Whole(line) => Ok(line.to_vec()),
                Line::TooLong(bytes) => Err(bytes),
            });
            Ok(())
        });
    }
    (seen, lines.finish())
}

fuzz_target!(|input: (u8, Vec<Vec<u8>>)| {
    let (limit, pieces) = (usize::from(input.0), input.1);
    let whole = pieces.concat();
    let pieces: Vec<&[u8]> = pieces.iter().map(Vec::as_slice).collect();
    let found = split(limit, &pieces);
    assert_eq!(found, split(limit, &[&whole]));
    for line in found.0.iter().flatten() {
        assert!(line.ends_with(b"\n") && line.len() <= limit + 1);
    }
});
