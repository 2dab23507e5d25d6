//! The lines that wait for their acknowledgements, in order.
//!
//! A connection takes lines in order and acknowledges them in order. When it ends, all that was
//! not acknowledged is sent again from the first one on; what had been stored is known to the
//! server by its message id.

use std::collections::VecDeque;

/// The most lines that wait in memory, and about the most bytes of them.
pub const LINES: usize = 1000;
const BYTES: usize = 4 << 20;

/// What a message has besides its headers' values: their names, and the ends of lines.
const HEADERS: usize = "NATS/1.0\r\nNats-Msg-Id: \r\nNats-Expected-Stream: \r\n\r\n".len();

/// A message as it is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parcel {
    /// The subject.
    pub subject: String,
    /// The message id.
    pub id: String,
    /// The line, without its newline.
    pub line: Vec<u8>,
}

/// Where the spool has a line: right before this point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The segment's number.
    pub segment: u64,
    /// The end of the line's record in it.
    pub offset: u64,
}

/// A line that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// What is sent.
    pub parcel: Parcel,
    /// The number of the line in its input.
    pub number: u64,
    /// Where the spool has it, if it does.
    pub place: Option<Place>,
}

/// The lines in memory.
#[derive(Debug)]
pub struct Outbox {
    waiting: VecDeque<(Item, bool)>,
    sent: usize,
    bytes: usize,
    /// The most bytes of a line, once a server said so.
    limit: Option<usize>,
    overhead: usize,
    acked: Option<Place>,
}

impl Outbox {
    /// An empty one for messages to `stream`.
    #[must_use]
    pub fn new(stream: &str) -> Self {
        let overhead = HEADERS + 32 + stream.len();
        Self { waiting: VecDeque::new(), sent: 0, bytes: 0, limit: None, overhead, acked: None }
    }

    /// Whether another line may wait here.
    #[must_use]
    pub fn has_room(&self) -> bool {
        self.waiting.len() < LINES && self.bytes < BYTES
    }

    /// Whether nothing waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// How many wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Adds a line behind all others.
    pub fn push(&mut self, item: Item) {
        self.bytes += item.parcel.line.len();
        self.waiting.push_back((item, false));
    }

    /// There is a new connection, to a server that takes messages of `max_payload` bytes.
    pub fn connected(&mut self, max_payload: usize) {
        self.sent = 0;
        self.limit = Some(max_payload.saturating_sub(self.overhead));
    }

    /// What is to be sent now. Lines that no server of this kind takes are left out, and their
    /// numbers given to `too_long`.
    pub fn send(&mut self, mut too_long: impl FnMut(u64)) -> Vec<Parcel> {
        let limit = self.limit.unwrap_or(usize::MAX);
        let mut parcels = Vec::new();
        let unsent = self.waiting.iter_mut().take(LINES).skip(self.sent);
        for (item, dropped) in unsent.filter(|(_, out)| !out) {
            if item.parcel.line.len() > limit {
                *dropped = true;
                too_long(item.number);
            } else {
                parcels.push(item.parcel.clone());
            }
        }
        self.sent = self.waiting.len().min(LINES);
        self.pass_dropped();
        parcels
    }

    /// The next `count` lines that were sent are stored.
    pub fn stored(&mut self, count: usize) {
        for _ in 0..count {
            self.pass_dropped();
            self.pop();
        }
        self.pass_dropped();
    }

    /// The stream takes no line like the first one. Its number.
    pub fn refused(&mut self) -> Option<u64> {
        self.pass_dropped();
        let (first, dropped) = self.waiting.front_mut()?;
        *dropped = true;
        let number = first.number;
        self.pass_dropped();
        Some(number)
    }

    /// The lines that only memory has.
    pub fn unspooled(&mut self) -> impl Iterator<Item = &mut Item> {
        let only_here = |(item, dropped): &&mut (Item, bool)| item.place.is_none() && !*dropped;
        self.waiting.iter_mut().filter(only_here).map(|(item, _)| item)
    }

    /// Up to where the spool's lines are done with, when that is news.
    pub fn done(&mut self) -> Option<Place> {
        self.acked.take()
    }

    fn pass_dropped(&mut self) {
        while self.waiting.front().is_some_and(|(_, dropped)| *dropped) {
            self.pop();
        }
    }

    fn pop(&mut self) {
        if let Some((item, _)) = self.waiting.pop_front() {
            self.sent = self.sent.saturating_sub(1);
            self.bytes -= item.parcel.line.len();
            self.acked = item.place.or(self.acked);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn item(number: u64, length: usize) -> Item {
        let line = vec![b'x'; length];
        let place = Some(Place { segment: 1, offset: number });
        let parcel = Parcel { subject: "s".into(), id: number.to_string(), line };
        Item { parcel, number, place }
    }

    fn ids(parcels: &[Parcel]) -> Vec<u64> {
        parcels.iter().map(|parcel| parcel.id.parse().unwrap()).collect()
    }

    #[test]
    fn what_was_not_acknowledged_is_sent_again_in_order() {
        let mut outbox = Outbox::new("s");
        (1..=5).for_each(|number| outbox.push(item(number, 1)));
        outbox.connected(1000);
        assert_eq!(ids(&outbox.send(|_| ())), [1, 2, 3, 4, 5]);
        assert_eq!(ids(&outbox.send(|_| ())), [0; 0]);
        outbox.stored(2);
        outbox.push(item(6, 1));
        outbox.connected(1000);
        assert_eq!(ids(&outbox.send(|_| ())), [3, 4, 5, 6]);
        assert_eq!(outbox.done(), Some(Place { segment: 1, offset: 2 }));
        assert_eq!(outbox.done(), None);
    }

    #[test]
    fn a_line_that_is_too_long_is_told_once_and_left_out() {
        let mut outbox = Outbox::new("s");
        let most = 1000 - HEADERS - 33;
        for (number, length) in [(1, most + 1), (2, most), (3, most + 1), (4, 1), (5, most + 1)] {
            outbox.push(item(number, length));
        }
        outbox.connected(1000);
        let mut told = Vec::new();
        assert_eq!(ids(&outbox.send(|number| told.push(number))), [2, 4]);
        outbox.connected(1000);
        assert_eq!(ids(&outbox.send(|number| told.push(number))), [2, 4]);
        assert_eq!(told, [1, 3, 5]);
        assert_eq!(outbox.unspooled().count(), 0);
        outbox.stored(2);
        assert!(outbox.is_empty());
        assert_eq!(outbox.done(), Some(Place { segment: 1, offset: 5 }));
    }

    #[test]
    fn a_refused_line_is_passed() {
        let mut outbox = Outbox::new("s");
        (1..=3).for_each(|number| outbox.push(item(number, 1)));
        outbox.connected(1000);
        outbox.send(|_| ());
        outbox.stored(1);
        assert_eq!(outbox.refused(), Some(2));
        outbox.connected(1000);
        assert_eq!(ids(&outbox.send(|_| ())), [3]);
    }

    proptest! {
        #[test]
        fn no_line_is_lost_or_out_of_order(
            steps in proptest::collection::vec((0u8..4, 1usize..6), 1..60),
        ) {
            // A server that stores a prefix of what is sent, acknowledges a prefix of that, and
            // knows ids again.
            let (mut outbox, mut next) = (Outbox::new("s"), 1);
            let (mut stored, mut flight) = (Vec::new(), VecDeque::new());
            let mut store = |id: u64| if !stored.contains(&id) { stored.push(id) };
            outbox.connected(1000);
            for (step, count) in steps.into_iter().chain([(3, 1), (1, 1000), (2, 1000)]) {
                match step {
                    0 => (0..count).for_each(|_| { outbox.push(item(next, 1)); next += 1; }),
                    1 => flight.extend(ids(&outbox.send(|_| ()))),
                    2 => {
                        let acks = count.min(flight.len());
                        flight.drain(..acks).for_each(&mut store);
                        outbox.stored(acks);
                    }
                    _ => {
                        flight.drain(..).take(count).for_each(&mut store);
                        outbox.connected(1000);
                    }
                }
            }
            prop_assert!(outbox.is_empty());
            prop_assert_eq!(stored, (1..next).collect::<Vec<_>>());
        }
    }
}
