//! A block: from a heading, or from what follows a signature, to the next of the two. It decides
//! whether what is addressed to us in it is mail or a post of our own.

use serde::{Deserialize, Serialize};

use crate::{
    grammar::{Heading, Via},
    hash::Hash,
};

/// The most bytes of an author's name that are kept.
const AUTHOR: usize = 128;

/// A line that is addressed to us.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Post {
    /// Where it begins in its file.
    pub offset: u64,
    /// How many bytes of it are matched and printed.
    pub length: u32,
    /// Its number, from 1.
    pub line_number: u64,
    /// Of the clean line.
    pub hash: Hash,
    /// Of the line as it stands, where an older tool's memory goes by that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw_hash: Option<Hash>,
    /// How it reaches us.
    pub via: Via,
    /// Which of the equal headings of its file it is, from 1.
    pub occurrence: u32,
}

/// A post whose role is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// The line.
    pub post: Post,
    /// It is our own.
    pub own: bool,
    /// Who wrote it, as far as the block says.
    pub author: Option<String>,
}

/// What is known of the block that the next line belongs to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Block {
    /// We wrote it.
    pub own: bool,
    /// A heading opened it.
    pub opened: bool,
    /// Who wrote it is known (`bounded`).
    pub known: bool,
    /// A worker of ours wrote it (`bounded`).
    pub worker: bool,
    /// Who wrote it, without `@`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// What is addressed to us in it and wasn't told, in order.
    pub pending: Vec<Post>,
}

impl Block {
    /// A heading came: it closes this block and opens its own.
    pub fn heading(&mut self, heading: &Heading, post: Option<Post>, told: &mut Vec<Told>) {
        self.tell_all(told);
        *self = Self {
            own: heading.own,
            opened: true,
            known: heading.known,
            worker: heading.worker,
            author: heading.author.as_deref().map(cut),
            pending: post.into_iter().collect(),
        };
        self.tell_known(told);
    }

    /// A line came that is addressed to us.
    pub fn event(&mut self, post: Post, told: &mut Vec<Told>) {
        // The same again is told, or not, with the one before it.
        let is_repeated = |last: &Post| last.hash == post.hash && post.via != Via::Heading;
        if !self.pending.last().is_some_and(is_repeated) {
            self.pending.push(post);
        }
        self.tell_known(told);
    }

    /// A signature came: it closes this block, and what follows has no author yet.
    pub fn signature(&mut self, author: &str, own: bool, told: &mut Vec<Told>) {
        // A heading of ours over what somebody else signed was only the frame for it.
        if self.own && !own {
            self.pending.retain(|post| post.via != Via::Heading);
        }
        self.own = own;
        self.author = Some(cut(author));
        self.tell_all(told);
        *self = Self::default();
    }

    /// The look ends: headings don't wait for what may follow.
    pub fn end_of_look(&mut self, told: &mut Vec<Told>) {
        let (headings, held) =
            self.pending.drain(..).partition(|post: &Post| post.via == Via::Heading);
        self.pending = headings;
        self.tell_all(told);
        self.pending = held;
    }

    /// What a known author of a block that isn't ours says needs no signature.
    fn tell_known(&mut self, told: &mut Vec<Told>) {
        if self.known && !self.own {
            self.tell_all(told);
        }
    }

    fn tell_all(&mut self, told: &mut Vec<Told>) {
        let (own, author) = (self.own, &self.author);
        told.extend(self.pending.drain(..).map(|post| Told { post, own, author: author.clone() }));
    }
}

fn cut(author: &str) -> String {
    shared::text::head(author, AUTHOR).to_owned()
}
