//! What to do with what was seen: pure, with the clock and chance handed in.

pub mod inbox;
pub mod malformed;
pub mod outbox;
pub mod tries;

/// What went wrong with a connection, which has ended with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// What kind of thing.
    pub kind: Kind,
    /// The cause, for a person.
    pub detail: String,
}

/// What kind of trouble; what follows is [`tries::Tries::down`]'s.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// No server was reached, or the connection broke.
    Unreachable,
    /// A server was reached, but its streams don't answer.
    Unavailable,
    /// The server doesn't let us in, or doesn't let us do this.
    Unauthorized,
    /// The stream doesn't exist.
    NoStream,
    /// The stream takes no line as long as the first that isn't acknowledged.
    TooLong,
    /// The first line that isn't acknowledged was refused, or its acknowledgement didn't come.
    NotStored,
    /// Another reader has the durable.
    Taken,
    /// Something of the command line doesn't fit what is there.
    Unsuitable,
}

impl Trouble {
    /// Makes one; `detail` is made fit to print, without what looks like a credential.
    #[must_use]
    pub fn new(kind: Kind, detail: impl AsRef<str>) -> Self {
        let detail = shared::text::redact(detail.as_ref()).into_owned();
        Self { kind, detail: shared::text::clean(&detail).into_owned() }
    }
}
