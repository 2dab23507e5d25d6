//! Decisions on the looks at one subject.

use super::script::{Play, play};
use crate::decide::{Ends, Refused, State};

#[test]
fn w01_nothing_new_is_no_change() {
    play(
        "0: P => record_only pending
         1: P => no_change",
    );
}

#[test]
fn w02_another_fact_is_recorded() {
    play(
        "0: P => record_only pending
         1: P' => record_only pending",
    );
}

#[test]
fn w03_the_first_change_is_told_at_once() {
    play("100: A{R} => wake changed {R} | masks {=fault:a:100}");
}

#[test]
fn w04_a_follower_waits() {
    play(
        "100: A{R}   => wake {R}
         124: A{R,L} => hold
         364: A{R,L} => wake {L}",
    );
    play(
        "100: A{R}   => wake {R}
         124: A{R,L} => hold
         339.999: tick => none
         340: tick   => wake changed {L}
         364: A{R,L} => no_change",
    );
}

#[test]
fn w05_a_wait_is_over_when_it_is_reached() {
    play(
        "100:   A{R}   => wake {R}
         339.9: A{R,L} => hold
         340:   A{R,L} => wake {L}",
    );
}

#[test]
fn w06_what_is_masked_is_silent() {
    play(
        "0:  A{R} => wake {R}
         60: A{R} => no_change",
    );
}

#[test]
fn w07_what_still_holds_is_told_again() {
    play(
        "0:     A{R} => wake changed {R}
         21599: A{R} => no_change
         21600: A{R} => wake repeat {R}",
    );
}

#[test]
fn w08_an_immediate_key_waits_for_nothing() {
    play(
        "100: A{R}   => wake {R}
         124: A{R,X} => wake immediate {X}",
    );
}

#[test]
fn w09_an_immediate_key_is_masked_like_any_other() {
    play(
        "100: A{R}   => wake {R}
         124: A{R,X} => wake immediate {X}
         184: A{R,X} => no_change",
    );
}

#[test]
fn w10_an_immediate_key_takes_what_waits_along() {
    play(
        "100: A{R}     => wake {R}
         120: A{R,L}   => hold
         130: A{R,L,X} => wake immediate {X,L}",
    );
}

#[test]
fn w11_what_never_resets_outlives_a_revision() {
    play(
        "0:  A{T}@a => wake {T}
         10: A{T}@b => no_change | masks {~asks:0}",
    );
}

#[test]
fn w12_a_revision_ends_masks_but_not_a_sticky_group() {
    play(
        "0:   A{R,T}@a => wake {R,T}
         10:  A{R,T}@b => hold
         264: A{R,T}@b => wake {R} | masks {=fault:a:264, ~asks:0}",
    );
    play(
        "0:  A{R}@a => wake {R}
         10: A{R}@b => wake {R}",
    );
}

#[test]
fn w13_a_quiet_look_at_a_new_revision_resets() {
    play(
        "0: A{R}@a => wake {R}
         1: P@b    => record_only pending | masks {}
         2: A{R}@b => wake {R}",
    );
}

#[test]
fn w14_one_absence_at_the_same_revision_resets_nothing() {
    play(
        "0: A{R}@a => wake {R}
         1: P@a    => record_only
         2: A{R}@a => no_change",
    );
}

#[test]
fn w15_a_new_revision_ends_every_mask_of_the_old_one() {
    play(
        "given @a
         given mask =fault:b 0
         10: A{R}@b => wake {R} | masks {=fault:a:10}",
    );
}

#[test]
fn w16_the_mask_of_a_sibling_is_not_prolonged() {
    play(
        "given mask ~asks 0
         100: A{R,T} => wake {R} | masks {=fault:a:100, ~asks:0}",
    );
}

#[test]
fn w17_a_stamp_in_the_future_masks_nothing() {
    play(
        "given mask =fault:a 10000
         100: A{R} => wake {R} | masks {=fault:a:100}",
    );
}

#[test]
fn w18_an_old_mask_goes() {
    play(
        "given mask =old 0
         21700: A{R} => wake {R} | masks {=fault:a:21700}",
    );
}

#[test]
fn w19_two_scopes_are_two_keys() {
    play("0: A{k,~k} => wake {k,~k} | masks {=k:0, ~k:0}");
}

#[test]
fn w20_success_on_a_new_revision_is_looked_at_twice() {
    play(
        "0:  P@a => record_only
         10: S@b => wake new_revision {} | masks {}
         20: S@b => stop_success success {}",
    );
}

#[test]
fn w21_a_partial_success_is_blindness() {
    play(
        "0: S sup=transient => retry_provider transient
         1: S sup=transient => retry_provider
         2: S sup=transient => retry_provider
         3: S sup=transient => retry_provider
         4: S sup=transient => retry_provider
         5: S sup=transient => wake blind {}
         6: S sup=transient => retry_provider
         7: S sup=transient => retry_provider",
    );
    play(
        "--max-errors 3
         0: S sup=transient => retry_provider
         1: S sup=transient => retry_provider
         2: S sup=transient => stop_blocked max_errors {}",
    );
}

#[test]
fn w22_a_blocker_beats_a_failed_secondary_read() {
    play(
        "0: A{R} sup=transient => wake {R}
         1: A{R} sup=transient => retry_provider",
    );
}

#[test]
fn w23_what_has_no_name_is_named_by_its_fingerprint() {
    let look = super::inputs::look("A{}");
    let key = format!("state:{}", &look.fingerprint[..16]);
    play(&format!("0: A{{}} => wake changed {{{key}}} | masks {{=state:{}:0}}", &key[6..]));
}

#[test]
fn w24_another_version_is_refused() {
    for (text, found) in
        [(r#"{"version":2}"#, "2"), (r#"{"version":"1"}"#, "\"1\""), ("{}", "missing")]
    {
        let refused = State::from_json(text).err();
        assert_eq!(refused, Some(Refused::Version(found.to_owned())), "{text}");
    }
}

#[test]
fn w25_what_has_ended_is_not_told_again() {
    play(
        "0:  B reason=closed => stop_blocked closed {}
         10: A{R} => silent-stop_blocked closed {}
         20: S    => silent-stop_blocked closed {}",
    );
    let mut play = play(
        "--max-wakes 1
         0:  A{R} => wake {R}
         10: A{R} => stop_budget max_wakes {}
         restart
         20: A{R} => again",
    );
    assert!(play.engine().is_over());
}

#[test]
fn w25_a_watch_that_ended_prints_its_last_line_again() {
    let mut play = play(
        "--max-wakes 1
         0:  A{R} => wake {R}
         10: A{R} => stop_budget max_wakes {}
         restart",
    );
    let before = play.lines.last().unwrap().1.claim.clone();
    assert!(!play.engine().is_over());
    let line = play.engine().emission(20_000).unwrap();
    assert_eq!((&line.claim, line.ends), (&before, Some(Ends::Watch)));
    assert_eq!(line.again, Some(format!("{{{before}}}")));
    play.engine().flushed(20_000);
    assert!(play.engine().is_over());
    assert_eq!(play.engine().emission(20_000), None);
}

/// Every row compares the entries of its verdict with those of its line; these tell none.
#[test]
fn w26_what_has_no_entries_names_none() {
    play(
        "--floor 1
          0: P => wake floor {}",
    );
    play(
        "--max-errors 1
          0: E:transient => stop_blocked max_errors {}",
    );
    play("0: S@a => stop_success {}");
}

#[test]
fn w27_blocked_is_an_end_whatever_was_seen() {
    play(
        "0: P => record_only
         1: B reason=closed => stop_blocked closed {}",
    );
}

#[test]
fn w28_the_reason_of_an_end_stays_though_the_fingerprint_is_known() {
    let mut play = Play::new();
    play.go_on("0: P => record_only");
    let mut state = play.state();
    let look = super::inputs::look("B reason=closed");
    state["subjects"]["r|probe|thing|s"]["fingerprint"] = look.fingerprint.into();
    let state = State::from_json(&state.to_string()).unwrap();
    play.engine = Some(crate::decide::Engine::new(crate::decide::Policy::default(), state));
    play.go_on("1: B reason=closed => stop_blocked closed {}");
}

#[test]
fn w29_a_relapse_is_news() {
    for key in ["R", "T"] {
        play(&format!(
            "0:   A{{{key}}} => wake {{{key}}}
             60:  P => quiet
             120: P => quiet
             180: A{{{key}}} => wake {{{key}}}"
        ));
        play(&format!(
            "0:   A{{{key}}} => wake {{{key}}}
             60:  P => quiet
             120: P part => quiet
             180: A{{{key}}} => no_change"
        ));
    }
}

#[test]
fn w30_a_turn_is_given_after_many_quiet_looks() {
    let mut play = play("--floor 10");
    for look in 1..10 {
        play.go_on(&format!("{look}: P => quiet"));
    }
    play.go_on(
        "10: P => wake floor {}
         11: P => no_change",
    );
}

#[test]
fn w31_a_floor_survives_a_kill() {
    let mut play = play(
        "--floor 2
                         0: P => quiet",
    );
    play.take("P", 1000);
    let line = play.engine().emission(1000).unwrap();
    play.engine().put_line("the line\n");
    play.go_on("restart");
    let again = play.engine().emission(9000).unwrap();
    assert_eq!((again.claim, again.again), (line.claim, Some("the line\n".to_owned())));
    play.engine().flushed(9000);
    assert_eq!(play.engine().emission(9000), None);
}

#[test]
fn w32_the_entries_of_a_failed_look_are_dropped() {
    play("0: E:transient{R} => retry_provider transient | unseen 1; keys {}");
}

#[test]
fn w33_nothing_seen_is_no_success() {
    for (look, reason) in
        [("S bare", "no_information"), ("S part", "incomplete"), ("S(2)", "unsettled")]
    {
        assert_eq!(super::inputs::look(look).reason, reason);
        play(&format!("0: {look} => record_only pending"));
    }
    play("0: S => stop_success success");
}

#[test]
fn w34_an_escalation_is_told_once() {
    play(
        "0:  A{k wake} => wake changed {k}
         10: A{k immediate} => wake immediate {k}
         20: A{k immediate} => no_change",
    );
}

#[test]
fn w35_success_must_be_said() {
    play("0: {M} => stop_blocked finished {M}");
}
