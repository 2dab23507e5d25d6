//! Reads a board as it grows: bytes in, posts with their roles out. No IO.
//!
//! What it knows between two lines ([`State`]) can be saved, and reading goes on from there.

use std::{collections::BTreeMap, rc::Rc};

use serde::{Deserialize, Serialize};

use crate::{
    block::{Block, Post, Told},
    grammar::{self, Reading, Via},
    line::{self, Assembly, Line},
    names::Names,
    prose::{Fence, Kind, Open},
};

/// What is known after a whole line.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    /// Where the next line begins.
    pub parsed_bytes: u64,
    /// How many lines came before it.
    pub line_number: u64,
    /// The fence and the list items that it stands in.
    #[serde(flatten)]
    pub open: Open,
    /// The block that it belongs to.
    pub block: Block,
}

/// How often each event heading stands in the part of a board that was read; counted only where
/// repeats matter.
pub type Occurrences = BTreeMap<[u8; 16], u32>;

/// Reads one board for one listener.
#[derive(Debug, Clone)]
pub struct Parser {
    names: Rc<Names>,
    state: State,
    assembly: Assembly,
    occurrences: Option<Occurrences>,
    raw_hashes: bool,
}

/// What the last line would say if its newline came now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ahead {
    /// All that the look would then tell.
    pub told: Vec<Told>,
    /// Where the line begins.
    pub offset: u64,
    /// The fence that would then be open.
    pub fence: Option<Fence>,
}

impl Parser {
    /// Goes on from `state`. With `occurrences`, equal headings are counted on from there. With
    /// `raw_hashes`, posts carry the hash that a shell makes of their line.
    #[must_use]
    pub fn new(
        names: Rc<Names>,
        state: State,
        occurrences: Option<Occurrences>,
        raw_hashes: bool,
    ) -> Self {
        let assembly = Assembly::at(state.parsed_bytes);
        Self { names, state, assembly, occurrences, raw_hashes }
    }

    /// What is known after the last whole line.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The state and the counts, to be saved.
    #[must_use]
    pub fn into_parts(self) -> (State, Option<Occurrences>) {
        (self.state, self.occurrences)
    }

    /// How many bytes the line has that has no newline yet.
    #[must_use]
    pub fn waiting(&self) -> u64 {
        self.assembly.waiting()
    }

    /// Takes the next bytes of the board, however they are cut.
    pub fn feed(&mut self, bytes: &[u8], told: &mut Vec<Told>) {
        let Self { names, state, assembly, occurrences, raw_hashes } = self;
        let mut count = |post: &Post| {
            occurrences.as_mut().map_or(1, |counts| {
                let count = counts.entry(post.hash.half()).or_default();
                *count += 1;
                *count
            })
        };
        assembly.feed(bytes, |line| state.step(names, line, *raw_hashes, &mut count, told));
        state.parsed_bytes = assembly.offset();
    }

    /// The look ends: tells the headings that nothing followed.
    pub fn end_of_look(&mut self, told: &mut Vec<Told>) {
        self.state.block.end_of_look(told);
    }

    /// What would be, if the line that waits for its newline had it. `None`: no line waits.
    #[must_use]
    pub fn ahead(&self) -> Option<Ahead> {
        let line = self.assembly.last()?;
        let mut state = self.state.clone();
        let mut told = Vec::new();
        let mut count = |post: &Post| {
            let counts = self.occurrences.as_ref();
            counts.map_or(1, |counts| counts.get(&post.hash.half()).map_or(1, |n| n + 1))
        };
        state.step(&self.names, &line, self.raw_hashes, &mut count, &mut told);
        state.block.end_of_look(&mut told);
        Some(Ahead { told, offset: line.offset, fence: state.open.fence })
    }
}

impl State {
    fn step(
        &mut self,
        names: &Names,
        line: &Line<'_>,
        raw_hashes: bool,
        count: &mut impl FnMut(&Post) -> u32,
        told: &mut Vec<Told>,
    ) {
        self.line_number += 1;
        let kind = self.open.read(line.head, self.line_number);
        if kind == Kind::Nothing || !grammar::may_matter(line.head, names.route()) {
            // A quoted status has its words further on, which `may_matter` looks for too.
            return;
        }
        let text = line::decode(line.head);
        let plain = grammar::plain(&text);
        let mut post = |via| {
            let mut post = Post {
                offset: line.offset,
                length: u32::try_from(line.head.len()).unwrap_or(u32::MAX),
                line_number: self.line_number,
                hash: line.hash(),
                raw_hash: raw_hashes.then(|| line.raw_hash()).flatten(),
                via,
                occurrence: 1,
            };
            if via == Via::Heading {
                post.occurrence = count(&post);
            }
            post
        };
        match grammar::read(names, kind, &plain, self.block.worker) {
            Reading::Heading(heading) => {
                let post = heading.is_event.then(|| post(Via::Heading));
                self.block.heading(&heading, post, told);
            }
            Reading::Event(via) => self.block.event(post(via), told),
            Reading::Signature(author) => {
                let own = names.is_own(author) || names.is_own(author.trim_end_matches('.'));
                self.block.signature(author, own, told);
            }
            Reading::Other => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::names::Route;

    fn parser(route: Route) -> Parser {
        let names = Rc::new(Names::new("lead", &["desk-4".to_owned()], route));
        Parser::new(names, State::default(), Some(Occurrences::new()), true)
    }

    /// Posts as `M2` or `S1`: role and line.
    fn roles(told: &[Told]) -> Vec<String> {
        let role = |own| if own { 'S' } else { 'M' };
        told.iter().map(|told| format!("{}{}", role(told.own), told.post.line_number)).collect()
    }

    #[test]
    fn a_post_knows_its_place_and_author() {
        let board = "\u{feff}### @worker → @lead — x\n### n\n@lead: y\n— @tester\n";
        let mut parser = parser(Route::Strict);
        let mut told = Vec::new();
        parser.feed(board.as_bytes(), &mut told);
        assert_eq!(roles(&told), ["M1", "M3"]);
        let places: Vec<_> = told.iter().map(|told| (told.post.offset, told.post.length)).collect();
        assert_eq!(places, [(3, 27), (37, 8)]);
        let authors: Vec<_> = told.iter().map(|told| told.author.as_deref()).collect();
        assert_eq!(authors, [Some("worker"), Some("tester")]);
        assert_eq!(parser.state().parsed_bytes, board.len() as u64);
    }

    #[test]
    fn a_last_line_is_looked_at_and_not_taken() {
        let mut parser = parser(Route::Strict);
        let mut told = Vec::new();
        parser.feed("### @worker → @lead — x".as_bytes(), &mut told);
        assert!(told.is_empty() && parser.state().parsed_bytes == 0);
        assert_eq!(roles(&parser.ahead().unwrap().told), ["M1"]);
        parser.feed(b"\n```", &mut told);
        assert!(parser.ahead().unwrap().fence.is_some() && parser.state().open.fence.is_none());
        assert_eq!(parser.waiting(), 3);
    }

    #[test]
    fn equal_headings_are_counted() {
        let mut parser = parser(Route::Strict);
        let mut told = Vec::new();
        parser.feed("### @w → @lead\n### @w → @lead\n### @w → @lead".as_bytes(), &mut told);
        let ahead = parser.ahead().unwrap().told;
        let counts: Vec<u32> = told.iter().chain(&ahead).map(|told| told.post.occurrence).collect();
        assert_eq!(counts, [1, 2, 3]);
    }

    /// Lines that touch every rule, and bytes that touch none.
    fn board() -> impl Strategy<Value = Vec<u8>> {
        let lines = [
            "### @worker → @lead — x",
            "### @lead → @worker — y",
            "### lead (14:05)",
            "### worker",
            "### lead-w3",
            "## n",
            "@lead: hi",
            "→ lead",
            "cc @desk-4",
            "— @worker",
            "— @lead.",
            "DONE",
            "> DONE",
            "```",
            "~~~",
            "- item",
            "    @lead: in an item",
            "<!-- @lead: x -->",
            "> @lead: x",
            "",
            "\u{feff}",
            "text",
            "@lead",
            "### @worker → @lead — `x`\r",
        ];
        let line = prop_oneof![
            12 => proptest::sample::select(lines.to_vec()).prop_map(|line| line.as_bytes().to_vec()),
            1 => proptest::collection::vec(any::<u8>(), 0..20),
            1 => Just(vec![b'x'; 70_000]),
        ];
        let end = prop_oneof![9 => Just(&b"\n"[..]), 1 => Just(&b""[..])];
        proptest::collection::vec((line, end), 0..30).prop_map(|lines| {
            lines.into_iter().flat_map(|(line, end)| [&line, end].concat()).collect()
        })
    }

    fn route() -> impl Strategy<Value = Route> {
        prop_oneof![Just(Route::Strict), Just(Route::Bounded)]
    }

    proptest! {
        #[test]
        fn any_split_of_the_bytes_tells_the_same(
            board in board(),
            route in route(),
            cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..20),
        ) {
            let mut whole = (parser(route), Vec::new());
            whole.0.feed(&board, &mut whole.1);
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(board.len() + 1)).collect();
            cuts.extend([0, board.len()]);
            cuts.sort_unstable();
            let mut pieced = (parser(route), Vec::new());
            for cut in cuts.windows(2) {
                pieced.0.feed(&board[cut[0]..cut[1]], &mut pieced.1);
            }
            prop_assert_eq!(&whole.1, &pieced.1);
            prop_assert_eq!(whole.0.state(), pieced.0.state());
            prop_assert_eq!(whole.0.ahead(), pieced.0.ahead());
        }

        #[test]
        fn saving_and_loading_between_any_lines_changes_nothing(board in board(), route in route()) {
            let mut whole = (parser(route), Vec::new());
            whole.0.feed(&board, &mut whole.1);
            let mut saved = (parser(route), Vec::new());
            for line in board.split_inclusive(|byte| *byte == b'\n') {
                saved.0.feed(line, &mut saved.1);
                if saved.0.waiting() == 0 {
                    let names = Rc::clone(&saved.0.names);
                    let (state, occurrences) = saved.0.into_parts();
                    let state = serde_json::from_slice(&serde_json::to_vec(&state).unwrap()).unwrap();
                    saved.0 = Parser::new(names, state, occurrences, true);
                }
            }
            prop_assert_eq!(&whole.1, &saved.1);
            prop_assert_eq!(whole.0.ahead(), saved.0.ahead());
        }

        #[test]
        fn looks_between_lines_tell_the_same_lines(board in board(), route in route()) {
            let mut whole = (parser(route), Vec::new());
            whole.0.feed(&board, &mut whole.1);
            whole.0.end_of_look(&mut whole.1);
            let mut looked = (parser(route), Vec::new());
            for line in board.split_inclusive(|byte| *byte == b'\n') {
                looked.0.feed(line, &mut looked.1);
                looked.0.end_of_look(&mut looked.1);
            }
            // But for headings, whose block a signature may turn afterwards.
            let others = |told: &[Told]| {
                let mut others: Vec<Told> =
                    told.iter().filter(|told| told.post.via != Via::Heading).cloned().collect();
                others.sort_by_key(|told| told.post.line_number);
                others
            };
            prop_assert_eq!(others(&whole.1), others(&looked.1));
            let headings = |told: &[Told]| {
                let numbers = told.iter().filter(|told| told.post.via == Via::Heading);
                numbers.map(|told| told.post.line_number).collect::<std::collections::BTreeSet<_>>()
            };
            prop_assert!(headings(&looked.1).is_superset(&headings(&whole.1)));
        }

        #[test]
        fn bounded_tells_every_direct_line_that_strict_tells(board in board()) {
            let told = |route| {
                let mut parser = (parser(route), Vec::new());
                parser.0.feed(&board, &mut parser.1);
                let direct = parser.1.iter().filter(|told| told.post.via == Via::Direct);
                direct.map(|told| told.post.hash).collect::<std::collections::BTreeSet<_>>()
            };
            prop_assert!(told(Route::Bounded).is_superset(&told(Route::Strict)));
        }
    }
}
