//! Blindness, what a state survives, and what is never in it.

use serde_json::Value;

use super::{
    inputs,
    script::{Play, play},
};
use crate::decide::{Engine, Input, Policy, Refused, State};

fn with_state(text: &str) -> Play {
    let mut play = Play::new();
    play.engine = Some(Engine::new(Policy::default(), State::from_json(text).unwrap()));
    play
}

#[test]
fn a_state_of_very_many_lines_is_searched_to_an_end() {
    let text = format!(r#"{{"version":1,"nonce":"5b1f0c9a7d3e4412","seq":{}}}"#, u64::MAX);
    assert!(!State::from_json(&text).unwrap().knows("0123456789abcdef"));
}

#[test]
fn x1_blindness_is_told_once() {
    let mut play = Play::new();
    for look in 1..=7 {
        let wanted = if look == 6 { "wake blind {}" } else { "retry_provider transient" };
        play.go_on(&format!("{look}: E:transient => {wanted}"));
    }
    assert_eq!(play.lines[0].1.lead, ": not seen for 6 looks (transient)");
}

#[test]
fn x2_blindness_is_a_level() {
    play(
        "given unseen 11
         0: E:transient => wake blind {}",
    );
}

#[test]
fn x3_a_whole_look_arms_it_again() {
    let mut play = Play::new();
    for look in 0..13 {
        let row = match look {
            6 => "P => record_only",
            5 | 12 => "E:transient => wake blind {}",
            _ => "E:transient => retry_provider",
        };
        play.go_on(&format!("{look}: {row}"));
    }
}

#[test]
fn x4_a_failed_look_is_not_a_quiet_one() {
    let mut play = Play::new();
    for look in 0..6 {
        let wanted = if look == 5 { "wake blind" } else { "retry_provider" };
        play.go_on(&format!("{look}: E:transient => {wanted}"));
    }
    play.go_on(
        "6: P => record_only
         7: E:transient => retry_provider | unseen 1",
    );
}

#[test]
fn x5_what_cannot_be_remembered_does_not_wait() {
    let mut play = play("0: {R}(9) => hold");
    play.engine().set_unwritable(true);
    play.go_on(
        "1: tick => wake store_failed {R}
         2: {R,L}(9) => wake store_failed {L}",
    );
}

#[test]
fn x6_without_a_memory_one_look_is_blindness() {
    let mut play = Play::new();
    play.engine().set_unwritable(true);
    play.go_on(
        "0: E:transient => wake blind {}
         1: E:transient => retry_provider",
    );
}

#[test]
fn x7_what_is_no_state_is_refused() {
    for text in ["not json", "[]", r#"{"version":1,"seq":NaN}"#, r#"{"version":1,"x":1e400}"#, ""] {
        let refused = State::from_json(text).err();
        assert!(matches!(refused, Some(Refused::Malformed(_))), "{text}: {refused:?}");
    }
}

#[test]
fn x7_a_bad_value_costs_its_field() {
    let mut play = with_state(
        r#"{"version":1,"seq":-1,"created_ms":true,"spent":[],"subjects":{
            "r|probe|thing|s":{"unseen":-3,"blind":1,"revision":"a","stall":7,"keys":{
                "=fault:a":{"told_ms":true,"since_ms":0},"=fault:b":{"told_ms":0},
                "=ready":{"told_ms":99999999999999999999999},"=jam":9}},
            "r|probe|thing|t":5,"nonsense":{}}}"#,
    );
    play.go_on("100: A{R,L,D} => wake {R,D} | unseen 0; revision \"a\"");
    assert_eq!(play.state()["subjects"].as_object().unwrap().len(), 1);
}

#[test]
fn x9_watches_have_claims_of_their_own() {
    let claim = |nonce: &str| {
        let mut engine = Engine::new(Policy::default(), State::new("w", nonce, 0));
        engine.take(Input::Look(&inputs::look("A{R}")), 0);
        engine.emission(0).unwrap().claim
    };
    assert_ne!(claim("5b1f0c9a7d3e4412"), claim("5b1f0c9a7d3e4413"));
}

#[test]
fn x10_subjects_that_look_alike_are_two_records() {
    let mut play = play(
        "0: A{R} of own.er/n#1 => wake {R}
         1: A{R} of own-er/n#1 => wake {R}",
    );
    assert_eq!(play.state()["subjects"].as_object().unwrap().len(), 2);
}

#[test]
fn x12_unknown_fields_are_written_back() {
    let mut play = with_state(
        r#"{"version":1,"future":1,"spent":{"later":[2]},"subjects":{"r|probe|thing|s":{
            "soon":{"a":3},"keys":{"=fault:a":{"told_ms":0,"then":"4"}}}}}"#,
    );
    play.go_on("10: A{R} => no_change");
    let state = play.state();
    let record = &state["subjects"]["r|probe|thing|s"];
    assert_eq!((&state["future"], &state["spent"]["later"][0]), (&1.into(), &2.into()));
    assert_eq!(
        (&record["soon"]["a"], &record["keys"]["=fault:a"]["then"]),
        (&3.into(), &"4".into())
    );
}

#[test]
fn x13_a_key_without_a_scope_is_dropped() {
    let mut play = with_state(
        r#"{"version":1,"subjects":{"r|probe|thing|s":{"keys":{"red":{"told_ms":0}}}}}"#,
    );
    assert_eq!(
        play.state()["subjects"]["r|probe|thing|s"]["keys"],
        Value::Object([].into_iter().collect())
    );
}

#[test]
fn x18_the_same_calls_lead_to_the_same_state() {
    let run = || {
        let mut play = play("--group-wait 5 --floor 3");
        for (at, input) in [
            "A{R}(3)@a",
            "raised k immediate",
            "E:transient",
            "A{R,T}(0)@a part",
            "once o",
            "tick",
            "{M} of other",
            "P@b",
            "info",
            "cleared k",
            "raised k @h1",
            "A{X,C1}@b",
            "tick",
        ]
        .into_iter()
        .enumerate()
        {
            let now = at as u64 * 7000;
            play.take(input, now);
            play.print(now);
        }
        serde_json::to_string(play.engine().state()).unwrap()
    };
    let state = run();
    assert_eq!(state, run());
    let read = State::from_json(&state).unwrap();
    assert_eq!(serde_json::to_string(&read).unwrap(), state);
}

#[test]
fn x20_a_lasting_partial_look_is_told_once() {
    let mut play = Play::new();
    for look in 0..60 {
        let wanted = match look {
            0 => "wake changed {R}",
            5 => "wake blind {}",
            _ => "no_change",
        };
        play.go_on(&format!("{}: A{{R}} part => {wanted}", look * 30));
    }
    // The group has been over for long: a new key is told at once, and the next one waits.
    play.go_on(
        "1800: A{R,L} part => wake {L}
         1830: A{R,L,D} part => hold
         2040: tick => wake {D}",
    );
}

#[test]
fn x21_no_fact_is_in_the_state() {
    let mut play = play("0: A{R} => wake {R}");
    let mut look = inputs::look("P");
    look.facts = vec![("secret".to_owned(), "of-the-subject".into())];
    play.engine().take(Input::Look(&look), 1000);
    let state = play.state().to_string();
    assert!(!state.contains("secret") && !state.contains("of-the-subject"), "{state}");
}

#[test]
fn a_whole_state_is_read_and_written() {
    let text = r#"{"version":1,"watch":"ops","nonce":"5b1f0c9a7d3e4412","created_ms":1775657400000,"seq":7,"outcome":null,"emitting":null,
        "in_flight":{"claim":"b1946ac92492d234","stage":"dispatched","deadline_ms":1775664660000,"resend_ms":null,"line":"{…}","stamps":[["r|probe-watch|basin-level|mail","=depth:high"]]},
        "spent":{"wakes":7,"tokens_in":5200,"tokens_out":410,"tokens_known":true},"guard":{"tokens":9.5,"at_ms":1775657401000},
        "acks":{"dev":2049,"ino":131,"offset":812,"head":"aa","tail":"bb"},"ids":["4f1c22d09a7be310"],"counters":{"lines":912,"malformed":0,"once":0},
        "subjects":{
        "r|probe-watch|basin-level|mail":{"revision":"","fingerprint":"9c41","pending":null,"group_ms":1775657400000,"group_sticky":false,
         "unseen":0,"skipped_ms":null,"blind":false,"error_told":null,"quiet":0,"stall":{"count":0,"start_ms":null,"told":false,"trips":0},"note":null,"outcome":null,"input_ms":1775657400000,
         "keys":{"=depth:high":{"since_ms":1775657400000,"told_ms":1775657400000,"told_as":"wake","severity":"wake","brief":"120 jobs waiting, limit 100","absent":0,"active":true,"fresh":false}}},
        "e|heartbeat-watch|":{"revision":"","group_ms":null,"group_sticky":false,"note":null,"outcome":null,"input_ms":1775657395000,
         "keys":{"~lease:WI-014":{"since_ms":1775657395000,"severity":"wake","condition":"raised","brief":"lease expires in 300 s","active":true}}}}}"#;
    let wanted: Value = serde_json::from_str(text).unwrap();
    let state = State::from_json(text).unwrap();
    assert_eq!(serde_json::to_value(&state).unwrap(), wanted);
}

#[test]
fn beyond_the_limit_a_key_is_told_at_once_and_forgotten() {
    let mut play = Play::new();
    let policy = Policy { keys: 2, group_wait: 100_000, ..Policy::default() };
    play.engine = Some(Engine::new(policy, State::new("w", "0", 0)));
    play.go_on(
        "0: raised a => hold
         1: raised b => hold",
    );
    assert!(play.engine().is_full());
    play.go_on(
        "2: raised c => wake {a,b,c} | masks {~a:2, ~b:2}
         300: raised c => wake {c} | masks {~a:2, ~b:2}",
    );
}

#[test]
fn beyond_the_limit_a_record_is_told_at_once_and_forgotten() {
    let mut play = Play::new();
    let policy = Policy { records: 1, group_wait: 100_000, ..Policy::default() };
    play.engine = Some(Engine::new(policy, State::new("w", "0", 0)));
    play.go_on(
        "0: A{R} of one => hold
         1: A{R} of two => wake store_failed {R}
         2: P of three => record_only",
    );
    assert_eq!(play.state()["subjects"].as_object().unwrap().len(), 1);
}

#[test]
fn an_old_record_is_forgotten() {
    let day = 86_400;
    let mut play = play("0: S of one => stop_success");
    play.go_on("1: P of two => record_only");
    play.take("tick", 29 * day * 1000);
    assert_eq!(play.state()["subjects"].as_object().unwrap().len(), 2);
    play.take("tick", 30 * day * 1000);
    assert_eq!(play.state()["subjects"].as_object().unwrap().len(), 1);
    play.take("tick", 30 * day * 1000 + 1000);
    assert_eq!(play.state()["subjects"].as_object().unwrap().len(), 0);
}

#[test]
fn what_waits_at_the_end_of_the_input_is_told() {
    let mut play = play(
        "--group-wait 240
         0: A{R}(3) => hold",
    );
    play.engine().end_of_input(1000);
    let lines = play.print(1000);
    assert_eq!((lines.len(), lines[0].reason.as_str()), (1, "input_ended"));
    play.engine().end_of_input(2000);
    assert!(play.print(2000).is_empty());
}

#[test]
fn a_watch_that_is_armed_again_keeps_its_masks() {
    let mut play = play(
        "--max-wakes 1
         0:  A{R} => wake {R}
         10: A{R} => stop_budget",
    );
    let mut state = State::from_json(&play.state().to_string()).unwrap();
    state.rearm(20_000);
    let policy = Policy { max_wakes: Some(1), ..Policy::default() };
    play.engine = Some(Engine::new(policy, state));
    play.go_on(
        "30:  A{R} => no_change
         300: A{R,L} => wake {L} | wakes 1",
    );
}

#[test]
fn a_subject_that_ended_can_be_watched_again() {
    let mut play = play(
        "0: A{R} => wake {R}
         1: {R,M} => stop_blocked finished {M}",
    );
    let mut state = State::from_json(&play.state().to_string()).unwrap();
    state.rearm(2000);
    play.engine = Some(Engine::new(Policy::default(), state));
    play.go_on("3: A{R} => no_change | masks {=fault:a:0}");
}

/// A claim that came back would be dropped by its reader.
#[test]
fn claims_do_not_come_back_when_their_number_is_lost() {
    let mut play = play("0: A{R} => wake {R}");
    let mut state = play.state();
    state["seq"] = "lost".into();
    play.engine =
        Some(Engine::new(Policy::default(), State::from_json(&state.to_string()).unwrap()));
    play.go_on("300: A{R,L} => wake {L}");
    assert_ne!(play.lines[0].1.claim, play.lines[1].1.claim);
}

#[test]
fn a_watch_without_a_time_of_creation_is_created_now() {
    let mut play = play("--max-lifetime 100");
    let mut state = play.state();
    state["created_ms"] = true.into();
    let policy = Policy { max_lifetime: Some(100_000), ..Policy::default() };
    play.engine = Some(Engine::new(policy, State::from_json(&state.to_string()).unwrap()));
    play.go_on(
        "1000: P => record_only
         1100: P => stop_budget max_lifetime {}",
    );
}

#[test]
fn stamps_from_the_future_keep_nothing_back() {
    let mut play = with_state(
        r#"{"version":1,"subjects":{
            "e|src|":{"keys":{"~k":{"told_ms":900000000}}},
            "e|src|s":{"group_ms":900000000,"keys":{"~o":{"since_ms":50000}}}}}"#,
    );
    play.take("tick", 100_000);
    let lines = play.print(100_000);
    let told: Vec<&str> = lines[0].items.iter().map(|item| &*item.entry.key).collect();
    assert_eq!(told, ["o", "k"]);
}
