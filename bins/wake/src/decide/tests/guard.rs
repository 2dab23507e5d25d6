//! What may leave at once, and what shares a line.

use super::script::Play;
use crate::decide::{Decision, Emission};

/// Takes an input for each of `count` subjects and prints after each, all at `now`.
fn each(play: &mut Play, input: &str, count: usize, now: u64) -> Vec<Emission> {
    let mut lines = Vec::new();
    for subject in 0..count {
        play.take(&format!("{input} of subject-{subject:02}"), now);
        lines.extend(play.print(now));
    }
    lines
}

fn only(mut lines: Vec<Emission>) -> Emission {
    assert_eq!(lines.len(), 1, "{lines:#?}");
    lines.remove(0)
}

#[test]
fn g1_a_burst_is_followed_by_one_folded_line() {
    let mut play = Play::new();
    assert_eq!(each(&mut play, "A{R}", 15, 0).len(), 10);
    assert_eq!(play.engine().next_at(), Some(2000));
    assert!(play.print(1999).is_empty());
    let line = only(play.print(2000));
    assert_eq!((line.reason.as_str(), line.subjects, line.items.len()), ("folded", 5, 5));
    assert_eq!(line.lead, "5 subjects: ");
    assert!(play.print(2000).is_empty());
}

#[test]
fn g2_the_urgent_come_first() {
    let mut play = Play::new();
    assert_eq!(each(&mut play, "A{R}", 12, 0).len(), 10);
    play.take("A{X} of urgent", 1000);
    assert!(play.print(1000).is_empty());
    let line = only(play.print(2000));
    let told: Vec<(&str, &str)> = line
        .items
        .iter()
        .map(|item| (&*item.entry.key, line.records[item.record].id.subject()))
        .collect();
    let wanted = [("jam", "urgent"), ("fault:a", "subject-10"), ("fault:a", "subject-11")];
    assert_eq!(told, wanted);
}

#[test]
fn g3_what_clears_while_it_waits_costs_nothing() {
    let mut play = Play::new();
    assert_eq!(each(&mut play, "A{R}", 11, 0).len(), 10);
    play.take("P of subject-10", 1000);
    assert!(play.print(2000).is_empty());
    play.take("A{X} of late", 2000);
    assert_eq!(only(play.print(2000)).items[0].entry.key, "jam");
}

#[test]
fn g4_many_share_one_line() {
    let mut play = Play::new();
    assert_eq!(each(&mut play, "A{R}", 10, 0).len(), 10);
    for subject in 0..30 {
        play.take(&format!("A{{R}} of many-{subject:02}"), 0);
    }
    let line = only(play.print(2000));
    assert_eq!((line.subjects, line.records.len(), line.items.len()), (30, 30, 30));
    let state = play.state();
    let told = |subject: u32| {
        state["subjects"][format!("r|probe|thing|many-{subject:02}")]["keys"]["=fault:a"]["told_ms"]
            .as_u64()
    };
    assert!((0..30).all(|subject| told(subject) == Some(2000)));
}

#[test]
fn g5_a_flood_is_few_lines_and_loses_nothing() {
    let (mut play, mut lines, mut told) = (Play::new(), 0, 0);
    let mut count = |printed: Vec<Emission>| {
        lines += printed.len();
        told += printed.iter().map(|line| line.items.len()).sum::<usize>();
    };
    for number in 0..3000 {
        let now = number * 10;
        play.take(&format!("once burst immediate id={number}"), now);
        count(play.print(now));
    }
    count(play.print(30_000));
    assert!(lines <= 25, "{lines}");
    assert_eq!(told, 3000);
}

#[test]
fn g6_ends_are_folded_too() {
    let mut play = Play::new();
    let lines = each(&mut play, "S reason=done", 12, 0);
    assert_eq!(lines.len(), 10);
    assert!(lines.iter().all(|line| line.decision == Decision::StopSuccess));
    let line = only(play.print(2000));
    assert_eq!((line.decision, line.reason.as_str()), (Decision::WakeActionable, "folded"));
    assert_eq!(line.items.len(), 2);
    for item in &line.items {
        let (decision, reason) = item.verdict.as_ref().unwrap();
        assert_eq!((*decision, reason.as_str()), (Decision::StopSuccess, "done"));
        assert_eq!((&*item.entry.key, &*item.entry.brief), ("done", "done: done"));
    }
}

/// Ends that name an entry are folded with it.
#[test]
fn g6_an_end_is_folded_with_its_entry() {
    let mut play = Play::new();
    each(&mut play, "A{R}", 10, 0);
    play.take("{M} of one", 0);
    play.take("A{X} of two", 0);
    let line = only(play.print(2000));
    let keys: Vec<&str> = line.items.iter().map(|item| &*item.entry.key).collect();
    assert_eq!(keys, ["jam", "finished"]);
    assert!(line.items[0].verdict.is_none() && line.items[1].verdict.is_some());
}

/// The bucket holds no more than a burst, however long nothing was printed.
#[test]
fn the_guard_fills_up_to_a_burst() {
    let mut play = Play::new();
    each(&mut play, "A{R}", 10, 0);
    assert_eq!(each(&mut play, "A{R,X}", 10, 1_000_000).len(), 10);
    play.take("A{X} of late", 1_000_000);
    assert!(play.print(1_000_000).is_empty());
}

/// Of very many entries the first are listed, and all are masked.
#[test]
fn of_a_thousand_and_more_entries_the_rest_is_counted() {
    let mut play = Play::new();
    each(&mut play, "A{R}", 10, 0);
    for key in 0..1200 {
        play.take(&format!("raised k{key:04}"), key);
    }
    play.take("raised last immediate", 1300);
    let line = only(play.print(2000));
    assert_eq!((line.items.len(), line.beyond, line.records.len()), (1000, 201, 1));
    assert_eq!((&*line.items[0].entry.key, &*line.items[1].entry.key), ("last", "k0000"));
    let keys = play.state()["subjects"]["e|src|"]["keys"].as_object().unwrap().clone();
    assert!(keys.len() == 1201 && keys.values().all(|key| key["told_ms"] == 2000));
}

/// What is urgent takes along what comes while it waits for the guard.
#[test]
fn what_waits_for_the_guard_takes_others_along() {
    let mut play = Play::new();
    assert_eq!(each(&mut play, "A{X}(3)", 11, 0).len(), 10);
    play.take("A{R,X}(3) of subject-10", 1000);
    assert_eq!(only(play.print(2000)).items.len(), 2);
}

/// That a subject is not seen is not told when it is seen again.
#[test]
fn blindness_that_is_over_before_it_is_told_is_not_told() {
    let mut play = Play::new();
    each(&mut play, "A{R}", 10, 0);
    for _ in 0..6 {
        play.take("E:transient of late", 0);
    }
    play.take("P of late", 1000);
    assert!(play.print(2000).is_empty());
}

#[test]
fn the_end_of_the_input_does_not_wait_for_the_guard() {
    let mut play = Play::new();
    play.go_on("--group-wait 240");
    each(&mut play, "A{X}", 10, 0);
    each(&mut play, "A{R,X}", 2, 0);
    play.engine().end_of_input(1);
    let line = only(play.print(1));
    assert_eq!((line.reason.as_str(), line.items.len()), ("folded", 2));
}

/// A repeat that waits for the guard is left out when a look misses the condition.
#[test]
fn a_repeat_that_clears_while_it_waits_is_left_out() {
    let mut play = Play::new();
    play.go_on("0: A{R} of late => wake {R}");
    let later = 21_600_000;
    assert_eq!(each(&mut play, "A{R}", 10, later).len(), 10);
    play.take("A{R} of late", later);
    play.take("P of late", later + 1000);
    assert!(play.print(later + 2000).is_empty());
}

#[test]
fn what_becomes_urgent_while_it_waits_is_told_as_that() {
    let mut play = Play::new();
    each(&mut play, "A{R}", 10, 0);
    play.take("A{k wake} of late", 0);
    play.take("A{k immediate} of late", 1000);
    let line = only(play.print(2000));
    assert_eq!((line.reason.as_str(), line.items.len()), ("immediate", 1));
    play.go_on("3: A{k immediate} of late => no_change");
}
