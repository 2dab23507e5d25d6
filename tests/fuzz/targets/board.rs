//! The reader of boards: pieces make no difference, in either mode, whatever the board holds.
#![no_main]

use std::rc::Rc;

use collab_tail::{
    names::{Names, Route},
    parser::{Parser, State},
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (bool, Vec<Vec<u8>>)| {
    let (strict, pieces) = input;
    let route = if strict { Route::Strict } else { Route::Bounded };
    let names = Rc::new(Names::new("lead", &["desk-4".to_owned()], route));
    let parse = |pieces: &[Vec<u8>]| {
        let mut told = Vec::new();
        let mut parser = Parser::new(Rc::clone(&names), State::default(), None, true);
        for piece in pieces {
            parser.feed(piece, &mut told);
        }
        (told, parser.state().clone(), parser.ahead())
    };
    assert_eq!(parse(&pieces), parse(&[pieces.concat()]));
});
