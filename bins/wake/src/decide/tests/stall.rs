//! Conditions that stay as they are.

use super::script::{Play, play};

/// As many looks at R as there are times, each `step` seconds from `start`; nothing is printed.
fn looks(play: &mut Play, start: u64, step: u64, count: u64) {
    for look in 0..count {
        play.go_on(&format!("{}: A{{R}} => no_change", start + look * step));
    }
}

/// A watch that told R at 1000.
fn told() -> Play {
    play("given mask =fault:a 1000")
}

/// What is printed of a condition that holds for `hours`, looked at every `step` seconds.
fn lasting(step: u64, hours: u64) -> Vec<(u64, String)> {
    let mut play = Play::new();
    for look in 0..=hours * 3600 / step {
        let now = look * step * 1000;
        play.take("A{R}", now);
        let lines = play.print(now);
        play.lines.extend(lines.into_iter().map(|line| (now, line)));
    }
    play.lines.iter().map(|(at, line)| (at / 1000, line.reason.to_string())).collect()
}

/// `0 changed, 3600 verdict_stall`.
fn row(text: &str) -> Vec<(u64, String)> {
    let line = |text: &str| {
        let (at, reason) = text.split_once(' ').unwrap();
        (at.parse().unwrap(), reason.to_owned())
    };
    text.split(", ").map(line).collect()
}

#[test]
fn l1_a_stall_is_told_with_what_holds() {
    let mut play = told();
    looks(&mut play, 1100, 300, 11);
    play.go_on("4400: A{R} => wake verdict_stall {R} | masks {=fault:a:1000}; trips 1");
    let lead = &play.lines[0].1.lead;
    assert_eq!(lead, ": unchanged for 55 min over 12 looks: ");

    let mut play = told();
    play.go_on("--stall stop");
    looks(&mut play, 1100, 300, 11);
    play.go_on("4400: A{R} => stop_blocked verdict_stall {}");
}

#[test]
fn l2_many_looks_are_not_long_enough() {
    let mut play = told();
    looks(&mut play, 1100, 15, 120);
    play.go_on("2900: A{R} => wake verdict_stall {R}");
}

#[test]
fn l3_long_is_not_enough_looks() {
    looks(&mut told(), 1100, 300, 11);
}

#[test]
fn l4_a_quiet_look_breaks_it() {
    let mut play = told();
    looks(&mut play, 1100, 300, 11);
    play.go_on("4400: P => record_only | count 0");
}

#[test]
fn l5_another_reason_begins_it_anew() {
    let mut play = told();
    looks(&mut play, 1100, 300, 11);
    play.go_on("4400: A{R} reason=other => no_change | count 1; start 4400");
}

#[test]
fn l6_time_is_measured() {
    let mut play = told();
    looks(&mut play, 1100, 15, 16);
}

#[test]
fn l7_time_that_goes_backwards_is_no_stall() {
    let mut play = told();
    looks(&mut play, 1100, 300, 11);
    play.go_on("0: A{R} => wake repeat {R}");
}

#[test]
fn l8_a_bound_comes_first() {
    let mut play = told();
    play.go_on("--max-lifetime 4400");
    looks(&mut play, 1100, 300, 11);
    play.go_on("4400: A{R} => stop_budget max_lifetime {}");
}

#[test]
fn l9_a_late_end_is_an_end() {
    let mut play = told();
    looks(&mut play, 1100, 300, 11);
    play.go_on(
        "4400: P => record_only
         4700: S reason=done => stop_success done {}",
    );
}

#[test]
fn l10_ends_differ() {
    let last = |play: &Play| play.lines.last().unwrap().1.reason.to_string();
    let success = play("0: S => stop_success");
    let budget = play(
        "--max-wakes 1
                       given wakes 1
                       0: P => stop_budget",
    );
    let mut stall = told();
    stall.go_on("--stall stop");
    looks(&mut stall, 1100, 300, 11);
    stall.go_on("4400: A{R} => stop_blocked");
    let reasons = [last(&success), last(&budget), last(&stall)];
    assert_eq!(reasons, ["success", "max_wakes", "verdict_stall"]);
}

#[test]
fn l11_the_repeat_is_reached() {
    assert_eq!(lasting(300, 7), row("0 changed, 3600 verdict_stall, 21600 repeat"));
}

#[test]
fn l12_a_stall_is_told_ever_more_rarely() {
    let wanted = "0 changed, 3600 verdict_stall, 21600 repeat, 28800 verdict_stall, 43200 repeat, \
                  57600 verdict_stall, 64800 repeat, 86400 repeat";
    assert_eq!(lasting(300, 24), row(wanted));
}

#[test]
fn l13_other_cadences_stall_at_other_times() {
    for (step, stall) in [(15, Some(1815)), (60, Some(1860)), (900, Some(10_800)), (3600, None)] {
        let stall = stall.map_or(String::new(), |at| format!("{at} verdict_stall, "));
        assert_eq!(lasting(step, 7), row(&format!("0 changed, {stall}21600 repeat")), "{step}");
    }
}

#[test]
fn a_quiet_look_takes_its_rarity_back() {
    let mut play = Play::new();
    play.go_on("0: A{R} => wake {R}");
    looks(&mut play, 300, 300, 11);
    play.go_on(
        "3600: A{R} => wake verdict_stall {R} | trips 1
         3900: P => record_only | trips 0
         4200: P => no_change
         4500: A{R} => wake {R}",
    );
    looks(&mut play, 4800, 300, 11);
    play.go_on("8100: A{R} => wake verdict_stall {R}");
}

/// However rarely it is told, a stall needs no longer than a mask lasts.
#[test]
fn the_span_of_a_stall_has_an_end() {
    let mut play = told();
    looks(&mut play, 1100, 300, 1);
    let mut state = play.state();
    let stall = &mut state["subjects"]["r|probe|thing|s"]["stall"];
    *stall = serde_json::json!({"count": 1000, "start_ms": 0, "trips": 5});
    let state = crate::decide::State::from_json(&state.to_string()).unwrap();
    play.engine = Some(crate::decide::Engine::new(crate::decide::Policy::default(), state));
    play.go_on(
        "21599: A{R} => no_change
         21600: A{R} => wake verdict_stall {R}",
    );
}
