//! Bounds of a watch, and looks that did not see.

use super::script::play;

#[test]
fn b1_a_lifetime_ends_a_watch() {
    play(
        "--max-lifetime 100
         given created 1000
         1099: A{R}   => wake {R}
         1100: A{R,L} => stop_budget max_lifetime {}",
    );
    let mut play = play(
        "--max-lifetime 100
         given created 1000
         1099: A{R} => wake {R}",
    );
    assert_eq!(play.engine().next_at(), Some(1_100_000));
    play.go_on("1100: tick => stop_budget max_lifetime {}");
    assert_eq!(play.engine().next_at(), None);
}

#[test]
fn b2_the_lines_of_a_watch_are_counted() {
    play(
        "--max-wakes 8
         given wakes 8
         0: A{R} => stop_budget max_wakes {} | wakes 8",
    );
}

#[test]
fn b3_the_tokens_of_a_watch_are_counted() {
    play(
        "--max-tokens 250000
         given tokens 150000 100000
         0: A{R} => stop_budget max_tokens {}",
    );
    play(
        "--max-tokens 250000
         given tokens 150000 99999
         0: A{R} => wake {R}",
    );
}

#[test]
fn b4_isolated_failures_end_nothing() {
    let mut play = play("--max-errors 2");
    for look in 1..=20 {
        let input = if matches!(look, 1 | 4 | 7) { "E:transient" } else { "P" };
        play.go_on(&format!("{look}: {input} => quiet"));
    }
    play.go_on("21: P => quiet | unseen 0");
}

#[test]
fn b6_the_bounds_have_an_order() {
    play(
        "--max-lifetime 100 --max-wakes 8 --max-tokens 250000
         given wakes 8
         given tokens 150000 100000
         100: A{R} => stop_budget max_lifetime {}",
    );
    play(
        "--max-wakes 8 --max-tokens 250000
         given wakes 8
         given tokens 150000 100000
         100: A{R} => stop_budget max_wakes {}",
    );
}

#[test]
fn b7_a_spent_bound_buys_no_other_turn() {
    let play = play(
        "--max-wakes 2
         0:   A{R}   => wake {R}
         300: A{R,L} => wake {L}
         600: A{R,L} => stop_budget max_wakes {}
         900: A{R,L,X} => silent-stop_budget max_wakes {} | wakes 2",
    );
    assert_eq!(play.lines.len(), 3);
}

/// What waits for the guard is not bought with a lifetime that is over by then.
#[test]
fn b7_nor_does_one_that_is_spent_while_a_line_waits() {
    let mut play = play("--max-lifetime 1");
    for subject in 0..11 {
        play.take(&format!("A{{R}} of {subject}"), 0);
        let lines = play.print(0).len();
        assert_eq!(lines, usize::from(subject < 10));
    }
    let lines = play.print(1000);
    let [line] = lines.as_slice() else { panic!("{lines:#?}") };
    assert_eq!((line.reason.as_str(), line.items.len()), ("max_lifetime", 0));
}

#[test]
fn e1_too_many_errors_running_end_a_subject() {
    play(
        "--max-errors 3
         0: E:transient    => retry_provider transient
         1: E:rate_limited => retry_provider rate_limited
         2: E:transient    => stop_blocked max_errors {}",
    );
}

#[test]
fn e2_what_cannot_heal_ends_a_subject() {
    for kind in ["authentication", "authorization", "not_found", "setup"] {
        play(&format!(
            "0: E:{kind} => stop_blocked {kind} {{}}
             1: E:{kind} => silent-stop_blocked {kind} {{}}"
        ));
        play(&format!(
            "--keep-going
             0: E:{kind} => wake {kind} {{}}
             1: E:{kind} => retry_provider {kind}
             2: P => record_only
             3: E:{kind} => wake {kind} {{}}"
        ));
    }
}

#[test]
fn e3_a_skipped_look_counts_nothing() {
    play(
        "--max-errors 3
         given unseen 2
         0: E:rate_limited skipped => retry_provider rate_limited | unseen 2",
    );
}

#[test]
fn e4_an_attempted_look_counts() {
    play(
        "--max-errors 3
         given unseen 2
         0: E:rate_limited => stop_blocked max_errors {}",
    );
}

#[test]
fn e5_a_bound_comes_before_a_skipped_look() {
    play(
        "--max-wakes 1
         given wakes 1
         0: E:rate_limited skipped => stop_budget max_wakes {}",
    );
}

#[test]
fn e6_what_cannot_heal_need_not_be_attempted() {
    play("0: E:authentication skipped => stop_blocked authentication {}");
}

#[test]
fn e8_a_malformed_reading_is_a_failed_look() {
    let line = br#"{"event":"reading","source":"probe","subject":"s","status":"frob"}"#;
    let look = shared::reading::parse::reading(line).unwrap_err().look().unwrap();
    let fault = look.failure().unwrap();
    assert_eq!((fault.kind.word(), fault.reason.as_str()), ("transient", "malformed"));
    let mut play = play("");
    let verdicts = play.engine().take(crate::decide::Input::Look(&look), 0);
    assert_eq!(verdicts[0].decision.word(), "retry_provider");
    assert_eq!(verdicts[0].reason.as_str(), "transient");
}

#[test]
fn e9_nothing_but_skips_is_blindness_too() {
    let mut play = play("");
    for look in 0..60 {
        let wanted = if look == 30 { "wake blind {}" } else { "retry_provider rate_limited" };
        play.go_on(&format!("{}: E:rate_limited skipped => {wanted}", look * 60));
    }
}

#[test]
fn e9_an_attempt_ends_a_row_of_skips() {
    play(
        "0:    E:rate_limited skipped => retry_provider
         900:  E:rate_limited => retry_provider
         1800: E:rate_limited skipped => retry_provider
         3599: E:rate_limited skipped => retry_provider
         3600: E:rate_limited skipped => wake blind {}",
    );
}
