//! What waits, and for what.

use super::script::{Play, play};
use crate::decide::{Engine, Policy, State};

/// Rows after `--group-wait 240`.
fn waits(script: &str) -> Play {
    let mut play = play("--group-wait 240");
    play.go_on(script);
    play
}

#[test]
fn h1_staggered_faults_are_one_wake() {
    let rows = "34:   {R}(24)   => hold
                295:  {R,L}(12) => hold
                1200: {R,L}(0)  => wake changed {R,L}";
    waits(rows);
    play(rows);
    waits(
        "--pending-gate off
         34:  {R}(24)   => hold
         295: {R,L}(12) => wake {R,L}",
    );
}

#[test]
fn h2_an_entry_has_its_own_wait() {
    waits(
        "0:   {R}(0) => hold
         239: {R}(0) => hold
         240: {R}(0) => wake {R}",
    );
}

#[test]
fn h3_nothing_waits_longer_than_the_longest_wait() {
    waits(
        "0:    {R}(5)   => hold
         1799: {R,L}(5) => hold
         1800: {R,L}(5) => wake max_wait {R,L}",
    );
    waits(
        "0:    {R}(5)   => hold
         1799: {R,L}(5) => hold
         1800: tick     => wake max_wait {R,L}",
    );
}

#[test]
fn h4_the_longest_wait_may_be_shorter_than_the_own_one() {
    play(
        "--group-wait 100 --max-wait 5
         0:  {R}(1) => hold
         10: {R}(1) => wake {R}",
    );
}

#[test]
fn h5_what_never_resets_ignores_the_gate() {
    let rows = "0:   {C1,R}(4) => hold
                240: {C1,R}(4) => wake {C1}";
    waits(rows).go_on(
        "241: {R}(0) => hold
         480: {R}(0) => wake {R}",
    );
    let mut play = waits("--group-interval 0");
    play.go_on(rows);
    play.go_on("241: {R}(0) => wake {R}");
}

#[test]
fn h6_a_joiner_has_its_own_wait() {
    waits(
        "0:   {C1,R}(4) => hold
         240: {C1,R}(4) => wake {C1}
         250: {R,C2}(4) => hold
         300: {R,C2,C3}(4) => hold
         490: {R,C2,C3}(4) => wake {C2,C3}",
    );
}

#[test]
fn h7_what_cleared_before_it_was_told_is_not_told() {
    waits(
        "0:   {R}(3) => hold
         300: {L}(0) => hold
         540: {L}(0) => wake {L}",
    );
}

#[test]
fn h8_what_never_resets_is_not_dropped() {
    waits(
        "0:   {C1}(0) => hold
         240: {}(0)   => wake {C1}",
    );
}

#[test]
fn h9_a_revision_ends_what_it_held() {
    waits(
        "0:   {R}(0)@a => hold
         300: {}(0)@b  => quiet | keys {}",
    );
}

#[test]
fn h10_fresh_keys_do_not_ride() {
    waits(
        "0:   {C1}(3)@a => hold
         300: {D}(0)@b  => wake {C1}
         540: {D}(0)@b  => wake {D}",
    );
}

#[test]
fn h11_a_brief_is_refreshed_and_the_time_kept() {
    let play = waits(
        r#"0:   {R "1"}(0) => hold
           144: {R "2"}(0) => hold
           288: {R "3"}(0) => wake {R}"#,
    );
    let entry = &play.lines[0].1.items[0].entry;
    assert_eq!((entry.since, entry.brief.as_str()), (0, "3"));
}

#[test]
fn h12_a_masked_immediate_key_hides_nobody() {
    play(
        "--group-wait 0
         0:   {X}   => wake immediate {X}
         60:  {X,R} => hold
         240: {X,R} => wake changed {R}",
    );
    play(
        "--group-wait 0 --group-interval 0
         0:  {X}   => wake {X}
         60: {X,R} => wake {R}",
    );
}

#[test]
fn h13_an_end_beats_what_is_held() {
    waits(
        "0:  {R}(3)    => hold
         10: S{R,M}(0) => stop_success finished {M}",
    );
}

#[test]
fn h14_what_is_told_is_told() {
    waits(
        "0:   {R}(0) => hold
         240: {R}(0) => wake {R}
         241: {R}(0) => no_change",
    );
}

#[test]
fn h15_a_held_key_from_the_future_is_taken_as_new() {
    let mut play = waits(
        "given held =fault:a 9000
         100: {R}(0) => hold
         340: {R}(0) => wake {R}",
    );
    assert_eq!(play.lines[0].1.items[0].entry.since, 100_000);
    assert_eq!(
        play.state()["subjects"]["r|probe|thing|s"]["keys"]["=fault:a"]["since_ms"],
        100_000
    );
}

#[test]
fn h16_a_held_key_without_a_time_is_taken_as_new() {
    let text = r#"{"version":1,"subjects":{"r|probe|thing|s":{"keys":{"=fault:a":{}}}}}"#;
    let policy = Policy { group_wait: 240_000, ..Policy::default() };
    let mut play = Play::new();
    play.engine = Some(Engine::new(policy, State::from_json(text).unwrap()));
    play.go_on(
        "100: {R}(0) => hold
         340: {R}(0) => wake {R}",
    );
    assert_eq!(play.lines[0].1.items[0].entry.since, 100_000);
}

/// What went before it was told is told once, and forgotten like anything that was told.
#[test]
fn what_is_told_after_it_went_is_forgotten_after_two_looks() {
    waits(
        "0:   {T}(0) => hold
         10:  {R}(0) => hold
         240: tick   => wake {T,R}
         250: {R}(0) => no_change
         260: {R}(0) => no_change | keys {=fault:a}
         270: {R,T}(0) => hold
         510: {R,T}(0) => wake {T}",
    );
}
