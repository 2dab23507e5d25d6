//! Events, in one record.

use super::script::{Play, play};

#[test]
fn v1_what_is_raised_is_a_level() {
    play(
        "0:     raised k => wake changed {k}
         10:    raised k => no_change
         21599: tick => none
         21600: tick => wake repeat {k}",
    );
}

#[test]
fn v2_what_is_cleared_loses_its_mask() {
    play(
        "0:   raised k  => wake {k}
         60:  cleared k => quiet
         120: raised k  => hold
         239: tick => none
         240: tick => wake {k}",
    );
}

#[test]
fn v3_what_clears_before_it_was_told_is_not_told() {
    play(
        "0:   raised a  => wake {a}
         10:  raised b  => hold
         20:  cleared b => quiet
         240: tick => none",
    );
}

#[test]
fn v4_an_immediate_clear_is_told() {
    play(
        "0:  raised k immediate  => wake {k}
         30: cleared k immediate => wake immediate {cleared:k} | keys {}",
    );
}

#[test]
fn v5_info_is_context() {
    let play = play(
        "0: info => none
         1: raised k => wake {k}
         2: raised x immediate => wake {x}",
    );
    let context = |at: usize| (play.lines[at].1.context_count, play.lines[at].1.context.len());
    assert_eq!((context(0), context(1)), ((1, 1), (0, 0)));
}

#[test]
fn v5_the_newest_context_stays() {
    let mut play = Play::new();
    for number in 0..40 {
        play.go_on(&format!("0: info brief={number} => none"));
    }
    play.go_on("1: raised k => wake {k}");
    let line = &play.lines[0].1;
    let wanted: Vec<String> = (8..40).map(|number| number.to_string()).collect();
    assert_eq!((line.context_count, &line.context), (40, &wanted));
}

#[test]
fn v6_what_happens_once_is_told_once() {
    play(
        "0:   once a => wake {a}
         1:   once b => hold
         2:   once c => hold
         240: tick => wake {b,c} | keys {}",
    );
}

#[test]
fn v7_an_escalation_is_told_once() {
    play(
        "0:  raised k warning   => wake {k}
         30: raised k immediate => wake immediate {k}
         40: raised k immediate => no_change",
    );
}

#[test]
fn v8_an_immediate_event_does_not_wait_for_its_group() {
    play(
        "0: raised a => wake {a}
         5: raised b immediate => wake immediate {b}",
    );
}

#[test]
fn v9_a_line_that_is_sent_again_is_dropped() {
    play(
        "0:   once a id=7 => wake {a}
         300: once a id=7 => none
         301: once a id=8 => wake {a}",
    );
}

#[test]
fn v9_a_line_that_is_sent_again_after_a_restart_is_dropped() {
    play(
        "0: once a id=7 => wake {a}
         restart
         300: once a id=7 => none",
    );
}

#[test]
fn v10_a_new_revision_is_a_new_condition() {
    play(
        "0:   raised k @h1 => wake {k}
         300: raised k @h2 => wake changed {k}",
    );
    play(
        "0:   raised k @h1 of s => wake {k}
         300: raised o @h2 of s => wake {o} | masks {=o:300}",
    );
}

#[test]
fn v11_a_bare_event_happens_once() {
    play("0: event x => wake {x#1} | keys {}");
}

#[test]
fn v13_health_is_a_condition() {
    play(
        "0:  event monitor_degraded reason=blind => wake {monitor:src:blind}
         10: event monitor_recovered reason=blind => quiet | keys {}",
    );
    play("0: event monitor_alive => none");
    play("0: event monitor_armed => none");
}

/// A source that learns the revision of what it said before has nothing new to say.
#[test]
fn a_condition_that_gets_a_revision_is_the_same() {
    play(
        "0:   raised k     => wake {k}
         300: raised k @h1 => no_change | masks {=k:0}
         310: cleared k    => record_only cleared | keys {}",
    );
}

#[test]
fn an_info_clear_is_a_clear_and_context() {
    let play = play(
        "0:   raised k => wake {k}
         10:  cleared k info => record_only | keys {}
         300: raised k => wake changed {k}",
    );
    assert_eq!(play.lines[1].1.context_count, 1);
}

#[test]
fn a_clear_of_what_was_never_raised_is_nothing() {
    play("0: cleared k => none");
}
