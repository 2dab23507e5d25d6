//! What to print of the messages that come.

use std::{borrow::Cow, time::Duration};

use jiff::Timestamp;

use crate::head::{Fault, Head};

/// A message of the stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Its number in the stream.
    pub sequence: u64,
    /// When the stream received it, in seconds since 1970.
    pub received_at: i64,
    /// Its content.
    pub payload: Vec<u8>,
}

/// What to do with a message; all of them are acknowledged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer<'a> {
    /// Print this line, newline included.
    Print(Cow<'a, [u8]>),
    /// It was printed before.
    Again,
    /// It is no line.
    Malformed(Fault),
}

/// What was printed.
#[derive(Debug)]
pub struct Inbox {
    stream: String,
    annotate: bool,
    /// Whether the messages come in order, each to us.
    ordered: bool,
    created: Option<i128>,
    last: u64,
}

impl Inbox {
    /// `last` is the number of the last message printed, 0 for none, of the stream that was
    /// `created` then.
    #[must_use]
    pub fn new(
        stream: &str,
        annotate: bool,
        ordered: bool,
        (created, last): (Option<i128>, u64),
    ) -> Self {
        Self { stream: stream.to_owned(), annotate, ordered, created, last }
    }

    /// The stream was created at this time: another stream of the same name counts from 1.
    pub fn connected(&mut self, created: i128) {
        if self.created.replace(created).is_some_and(|known| known != created) {
            self.last = 0;
        }
    }

    /// When the stream was created, and the number of the last message printed, 0 for none.
    #[must_use]
    pub fn printed(&self) -> (Option<i128>, u64) {
        (self.created, self.last)
    }

    /// What to do with a message. It then counts as printed.
    pub fn take<'a>(&mut self, message: &'a Message) -> Answer<'a> {
        if self.ordered && message.sequence <= self.last {
            return Answer::Again;
        }
        self.last = self.last.max(message.sequence);
        let payload = &*message.payload;
        let payload = payload.strip_suffix(b"\n").unwrap_or(payload);
        if let Err(fault) = Head::of(payload) {
            return Answer::Malformed(fault);
        }
        let mut line = self.annotated(payload, message);
        // Between the members of an object a newline is a blank, and elsewhere there is none.
        line.iter_mut().filter(|byte| **byte == b'\n').for_each(|byte| *byte = b' ');
        line.push(b'\n');
        Answer::Print(Cow::Owned(line))
    }

    fn annotated(&self, payload: &[u8], message: &Message) -> Vec<u8> {
        let mut line = Vec::with_capacity(payload.len() + 128);
        let brace = payload.iter().rposition(|byte| *byte == b'}');
        let Some((inside, end)) = brace.and_then(|brace| payload.split_at_checked(brace)) else {
            return payload.to_vec();
        };
        line.extend(inside);
        if self.annotate {
            let inside = inside.trim_ascii();
            let comma = if inside.len() == 1 { "" } else { "," };
            let (stream, sequence) = (&self.stream, message.sequence);
            let at = Timestamp::from_second(message.received_at).unwrap_or_default();
            line.extend(
                format!(
                    r#"{comma}"relay_stream":"{stream}","relay_seq":{sequence},"relay_received_at":"{at}""#
                )
                .into_bytes(),
            );
        }
        line.extend(end);
        line
    }
}

/// How often messages that wait to be printed are kept from coming again.
#[must_use]
pub fn renew_every(ack_wait: Duration) -> Duration {
    ack_wait / 3
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(sequence: u64, payload: &str) -> Message {
        Message { sequence, received_at: 1_775_657_400, payload: payload.into() }
    }

    fn inbox(annotate: bool) -> Inbox {
        Inbox::new("fleet", annotate, true, (None, 0))
    }

    fn printed(inbox: &mut Inbox, sequence: u64, payload: &str) -> String {
        match inbox.take(&message(sequence, payload)) {
            Answer::Print(line) => String::from_utf8(line.into_owned()).unwrap(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn bytes_stay_as_they_came() {
        let line = r#" { "b":18446744073709551615,"s":"\u0041\/" } "#;
        assert_eq!(printed(&mut inbox(false), 1, line), format!("{line}\n"));
        assert_eq!(printed(&mut inbox(false), 1, "{\"a\":1}\r"), "{\"a\":1}\r\n");
        assert_eq!(printed(&mut inbox(false), 1, "{\"a\":1}\n"), "{\"a\":1}\n");
        assert_eq!(printed(&mut inbox(false), 1, "{\n \"a\": 1\n}\n"), "{  \"a\": 1 }\n");
    }

    #[test]
    fn annotations_stand_at_the_end_of_the_object() {
        let tail =
            r#""relay_stream":"fleet","relay_seq":7,"relay_received_at":"2026-04-08T14:10:00Z"}"#;
        let line = printed(&mut inbox(true), 7, r#"{"a":"}"}"#);
        assert_eq!(line, format!("{{\"a\":\"}}\",{tail}\n"));
        assert_eq!(printed(&mut inbox(true), 7, "{ }"), format!("{{ {tail}\n"));
    }

    #[test]
    fn what_was_printed_is_not_printed_again_unless_the_stream_is_another() {
        let mut inbox = Inbox::new("fleet", false, true, (Some(1), 6));
        inbox.connected(1);
        assert_eq!(inbox.take(&message(6, "{}")), Answer::Again);
        printed(&mut inbox, 7, "{}");
        assert_eq!(inbox.take(&message(7, "{}")), Answer::Again);
        inbox.connected(1);
        assert_eq!(inbox.take(&message(7, "{}")), Answer::Again);
        inbox.connected(2);
        printed(&mut inbox, 1, "{}");
        assert_eq!(inbox.printed(), (Some(2), 1));
    }

    #[test]
    fn of_a_shared_durable_the_messages_come_in_any_order() {
        let mut inbox = Inbox::new("fleet", false, false, (None, 0));
        printed(&mut inbox, 7, "{}");
        printed(&mut inbox, 3, "{}");
    }

    #[test]
    fn what_is_no_line_is_told() {
        for (payload, fault) in
            [("x", Fault::NotJson), ("", Fault::NotJson), ("[]", Fault::NotObject)]
        {
            assert_eq!(inbox(true).take(&message(1, payload)), Answer::Malformed(fault));
        }
    }
}
