//! Lines whose readers answer.

use super::script::{Play, play};
use crate::decide::Ends;

#[test]
fn a1_one_claim_is_out_at_a_time() {
    play(
        "--acks
         0:   A{R}   => wake {R}
         300: A{R,L} => nothing
         700: ack completed => line changed {L}",
    );
}

#[test]
fn a2_a_busy_reader_gets_the_same_line_again() {
    play(
        "--acks
         0:   A{R} => wake {R}
         120: ack busy => nothing
         134: tick => nothing
         135: tick => again | wakes 1; guard 9.0
         135: tick => nothing",
    );
}

#[test]
fn a3_a_busy_reader_is_not_waited_for_beyond_the_lifetime() {
    let play = play(
        "--acks --max-lifetime 20
         given created 100
         105: A{R} => wake {R}
         110: ack busy => nothing
         119: tick => nothing
         120: tick => stop_budget max_lifetime {}
         125: tick => silent-stop_budget max_lifetime {}",
    );
    assert_eq!(play.lines.len(), 2);
}

#[test]
fn a4_a_line_that_nobody_confirms_is_told_again() {
    let mut play = play(
        "--acks
         100:  A{R} => wake {R}
         120:  ack dispatched => nothing
         4000: A{R} => nothing
         7379: tick => nothing",
    );
    assert_eq!(play.engine().next_at(), Some(7_380_000));
    play.go_on("7380: tick => wake unconfirmed {R}");
    assert_ne!(play.lines[0].1.claim, play.lines[1].1.claim);
}

#[test]
fn a4_what_is_gone_by_then_is_not() {
    play(
        "--acks
         100:  A{R} => wake {R}
         200:  P => nothing
         7360: tick => none | masks {}",
    );
}

/// The first deadline counts from the flush.
#[test]
fn a4_without_any_answer_the_deadline_is_the_same_time_after_the_line() {
    play(
        "--acks
         100:  A{R} => wake {R}
         7359: tick => nothing
         7360: tick => wake unconfirmed {R}",
    );
}

#[test]
fn a4_an_end_that_nobody_confirms_is_told_again() {
    let play = play(
        "--acks
         0:    {M} => stop_blocked finished {M}
         7260: tick => line finished {M}",
    );
    assert_eq!(play.lines[1].1.ends, Some(Ends::Subject));
}

#[test]
fn a5_without_a_reader_the_watch_ends() {
    let mut play = play(
        "--acks
         0:  A{R} => wake {R}
         10: ack unavailable => stop_blocked reader_unavailable {}
         restart",
    );
    let claim = play.lines[1].1.claim.clone();
    let again = play.engine().emission(20_000).unwrap();
    assert_eq!((again.claim, again.ends), (claim.clone(), Some(Ends::Watch)));
    assert_eq!(again.again, Some(format!("{{{claim}}}")));
}

#[test]
fn a6_a_claim_is_charged_once() {
    play(
        "--acks
         0:  A{R} => wake {R}
         10: ack completed 5200+410 => nothing | tokens 5200+410
         11: ack completed 5200+410 => nothing | tokens 5200+410; tokens_known true",
    );
}

#[test]
fn a7_an_answer_may_not_know_its_tokens() {
    play(
        "--acks
         0:  A{R} => wake {R}
         10: ack completed => nothing | tokens 0+0; tokens_known false",
    );
}

#[test]
fn a8_a_claim_outlives_a_restart() {
    let mut play = play(
        "--acks
         0:   A{R} => wake {R}
         restart
         10:  tick => nothing
         300: A{R,L} => nothing",
    );
    let claim = play.lines[0].1.claim.clone();
    assert_eq!(play.state()["in_flight"]["claim"], claim);
    play.go_on("400: ack completed => line {L}");
}

#[test]
fn a9_a_line_that_was_to_be_repeated_is_repeated_after_a_restart() {
    let mut play = play(
        "--acks
         0:   A{R} => wake {R}
         120: ack busy => nothing
         restart",
    );
    play.go_on("200: tick => again");
}

#[test]
fn a12_a_reader_that_waits_for_a_person_ends_the_watch() {
    play(
        "--acks
         0:  A{R} => wake {R}
         10: ack completed 1+1 approval_stall => stop_blocked approval_stall {} | tokens 1+1",
    );
}

#[test]
fn tokens_that_end_a_watch_end_it_before_another_turn() {
    play(
        "--acks --max-tokens 10
         0:   A{R} => wake {R}
         300: A{R,L} => nothing
         310: ack completed 5+5 => stop_budget max_tokens {} | tokens 5+5",
    );
}

#[test]
fn answers_to_other_claims_are_ignored() {
    let mut play = Play::new();
    play.go_on(
        "--acks
         0:   A{R} => wake {R}
         10:  ack completed 1+1 => nothing
         300: A{R,L} => wake {L}
         310: ack completed c1 7+7 => nothing | tokens 1+1
         320: ack completed c2 1+1 => nothing | tokens 2+2",
    );
    let known: Vec<String> = play.lines.iter().map(|(_, line)| line.claim.clone()).collect();
    assert!(known.iter().all(|claim| play.engine().state().knows(claim)));
    assert!(!play.engine().state().knows("0000000000000000"));
}

/// The process was killed with the line out and the state not knowing it.
#[test]
fn an_answer_proves_that_its_line_is_out() {
    let mut play = play("--acks");
    play.take("A{R}", 0);
    let line = play.engine().emission(0).unwrap();
    play.engine().put_line("the line");
    play.lines.push((0, line));
    play.go_on(
        "restart
         10:  ack completed 3+4 => nothing | tokens 3+4; masks {=fault:a:10}
         300: A{R,L} => wake {L}",
    );
}

/// Whatever woke the program: a bound that is spent comes before a line that is to be repeated.
#[test]
fn a3_a_line_is_not_repeated_beyond_the_lifetime() {
    let mut play = play(
        "--acks --max-lifetime 20
         0:  A{R} => wake {R}
         10: ack busy => nothing",
    );
    let lines = play.print(30_000);
    assert_eq!((lines.len(), lines[0].reason.as_str()), (1, "max_lifetime"));
}
