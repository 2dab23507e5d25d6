use serde_json::Value;

use super::*;
use crate::event::What;

const WALL: i64 = 1_700_000_000;

fn config() -> Config {
    <crate::args::Args as clap::Parser>::parse_from(["agent-watch", "--items", "f"]).config()
}

fn at(wall: i64, boot: u64, monotonic: u64) -> Now {
    Now {
        wall: jiff::Timestamp::from_second(WALL + wall).unwrap(),
        boot: Duration::from_secs(boot),
        monotonic: Duration::from_secs(monotonic),
    }
}

fn desk() -> Desk {
    Desk::new(config(), "/b".into())
}

/// Reads a file of these lines from its beginning; `first` when the watch has just been started.
fn read(desk: &mut Desk, first: bool, lines: &[&str]) {
    let now = at(0, 1000, 1000);
    desk.take(follow::Told::Restart, true, &now);
    append(desk, lines);
    let origin = Origin { registry_ns: Some(5_000_000_000), process_ns: &|_| None };
    desk.read(Some(&origin).filter(|_| first), &now);
}

fn append(desk: &mut Desk, lines: &[&str]) {
    for (number, line) in (1..).zip(lines) {
        let offset = number * 1000;
        let told = follow::Told::Line { number, offset, text: Some(line.as_bytes()) };
        desk.take(told, true, &at(0, 1000, 1000));
    }
}

/// What was told since the last call, as `event agent facts`.
fn told(desk: &mut Desk) -> Vec<String> {
    let told = std::mem::take(&mut desk.told).into_iter();
    told.map(|told| {
        let value: Value = serde_json::to_value(&told).unwrap();
        let text = |key: &str| value[key].as_str().map(str::to_owned);
        let flags = ["replaced", "updated", "replayed", "blind"].into_iter();
        let flags = flags.filter(|key| value[*key] == true).map(str::to_owned);
        let words = [Some(told.name().to_owned()), text("agent"), text("reason"), text("field")];
        words.into_iter().flatten().chain(flags).collect::<Vec<_>>().join(" ")
    })
    .collect()
}

const A: &str = r#"{"agent":"a","step":"1","result_path":"r","started_at_epoch":1699999000}"#;
const B: &str = r#"{"agent":"b","step":"1","result_path":"s","started_at_epoch":1699999000}"#;

/// What went by between two passes, as gap, suspended and wall step.
fn gap(planned: Option<u64>, now: Now) -> Option<(u64, u64, i64)> {
    let mut desk = desk();
    let poll = Duration::from_secs(30);
    desk.pass(None, poll, &at(0, 1000, 1000));
    desk.pass(planned.map(Duration::from_secs), poll, &now);
    let value = serde_json::to_value(desk.told.first()?).unwrap();
    assert_eq!(desk.told.len(), 1);
    let number = |key: &str| value[key].as_i64().unwrap();
    let (gap, suspended) = (number("gap_sec"), number("suspended_sec"));
    Some((gap.unsigned_abs(), suspended.unsigned_abs(), number("wall_step_sec")))
}

#[test]
fn a_gap_is_a_suspend_or_a_pass_that_is_far_too_late() {
    // Nothing happened, or a step of the wall clock, which says nothing by itself.
    assert_eq!(gap(Some(1030), at(30, 1030, 1030)), None);
    assert_eq!(gap(Some(1030), at(7200, 1030, 1030)), None);
    // A pass before its time, and one as late as is allowed.
    assert_eq!(gap(Some(1030), at(5, 1005, 1005)), None);
    assert_eq!(gap(Some(1030), at(120, 1120, 1120)), None);
    assert_eq!(gap(None, at(9000, 10_000, 10_000)), None);
    // A suspend of one second, of two, of eight hours.
    assert_eq!(gap(Some(1030), at(31, 1031, 1030)), None);
    assert_eq!(gap(Some(1030), at(32, 1032, 1030)), Some((2, 2, 0)));
    assert_eq!(gap(Some(1030), at(28_830, 29_830, 1030)), Some((28_800, 28_800, 0)));
    // The clock was set while the machine slept.
    assert_eq!(gap(Some(1030), at(28_830 - 3600, 29_830, 1030)), Some((28_800, 28_800, -3600)));
    // A stopped process, alone and with a suspend.
    assert_eq!(gap(Some(1030), at(121, 1121, 1121)), Some((91, 0, 0)));
    assert_eq!(gap(Some(1030), at(721, 1721, 1121)), Some((691, 600, 0)));
}

#[test]
fn a_gap_begins_every_silence_anew_but_one_that_was_told() {
    let mut desk = desk();
    append(&mut desk, &[A, B]);
    for item in desk.items.values_mut() {
        item.idle.cpu = Some((item.at, 7));
        item.idle.open = item.entry.spec.agent == "b";
    }
    let poll = Duration::from_secs(30);
    desk.pass(None, poll, &at(0, 1000, 1000));
    let now = at(600, 1600, 1030);
    desk.pass(Some(Duration::from_secs(1030)), poll, &now);
    let t = clock(&desk.config, &now);
    let silence = |agent: &str| {
        let idle = &desk.items[&(agent.to_owned(), "1".to_owned())].idle;
        (idle.from == t, idle.cpu.is_none())
    };
    assert_eq!((silence("a"), silence("b")), ((true, true), (false, false)));
}

#[test]
fn what_stands_at_the_end_of_the_file_is_replayed() {
    let mut desk = desk();
    let gone = r#"{"op":"unregister","agent":"a","step":"1"}"#;
    read(&mut desk, true, &[A, r#"{"shutdown_request":true}"#, B, "x", B, A, gone]);
    assert_eq!(told(&mut desk), ["item_rejected not_json", "item_registered b replayed"]);
    assert!(!desk.shutdown);
    // A start that no line gives is the process's, or the file's.
    let since = r#"{"agent":"c","step":"1","result_path":"r"}"#;
    let mut other = self::desk();
    read(&mut other, true, &[since]);
    assert_eq!(other.items.values().next().unwrap().started, (5_000_000_000, "registry"));
    append(&mut desk, &[r#"{"shutdown_request":true}"#, A]);
    assert!(desk.shutdown);
}

#[test]
fn a_file_that_is_read_again_repeats_nothing_and_loses_nothing() {
    let mut desk = desk();
    read(&mut desk, true, &[A, B, r#"{"blind_phase":true}"#]);
    assert_eq!(told(&mut desk).len(), 2);
    read(&mut desk, false, &[B]);
    assert!(told(&mut desk).is_empty() && desk.items.len() == 2);
    assert!(desk.items.values().all(|item| item.entry.blind), "nothing was said of the phase");
    desk.items.values_mut().for_each(|item| item.replayed = false);
    // What stands from before can be meant by a line of the new file.
    let one = r#"{"blind_phase":false,"agent":"b"}"#;
    read(&mut desk, false, &[one, r#"{"op":"unregister","agent":"a","step":"1"}"#]);
    assert_eq!(told(&mut desk), ["item_removed a unregister blind"]);
    assert!(!desk.items.values().next().unwrap().entry.blind);
    read(&mut desk, false, &[r#"{"op":"unregister","agent":"x","step":"1"}"#]);
    assert_eq!(told(&mut desk), ["item_rejected no_match"]);
}

#[test]
fn an_item_is_updated_in_place_or_replaced() {
    let mut desk = desk();
    append(&mut desk, &[A, A, &A.replace('}', ",\"pane\":\"%1\"}")]);
    assert_eq!(told(&mut desk), ["item_registered a", "item_registered a updated"]);
    desk.items.values_mut().next().unwrap().timer = Timer::Exceeded;
    append(&mut desk, &[&A.replace('}', ",\"timeout_sec\":9}")]);
    assert_eq!(desk.items.values().next().unwrap().timer, Timer::None);
    append(&mut desk, &[&A.replace("\"r\"", "\"q\"")]);
    assert!(desk.items.values().next().unwrap().fresh, "a new baseline");
    let _ = told(&mut desk);
    append(&mut desk, &[&A.replace("1699999000", "1699999001")]);
    assert_eq!(told(&mut desk), ["item_removed a replaced", "item_registered a replaced"]);
}

#[test]
fn a_result_that_two_live_items_wait_for_is_named() {
    let mut desk = desk();
    let same = B.replace("\"s\"", "\"r\"");
    append(&mut desk, &[A, &same]);
    let shared = |desk: &Desk| {
        let Some(Told::Item(event)) = desk.told.last() else { panic!("{:?}", desk.told) };
        match &event.what {
            What::Registered { shares_result_with, .. } => shares_result_with.clone(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(shared(&desk), Some(vec!["a/1".to_owned()]));
    desk.items.values_mut().for_each(|item| item.life = Life::Ready);
    append(&mut desk, &[&same.replace("\"b\"", "\"c\"")]);
    assert_eq!(shared(&desk), None);
}

#[test]
fn a_shutdown_tells_of_each_item_that_is_open() {
    let mut desk = desk();
    append(&mut desk, &[A, B]);
    desk.items.values_mut().next().unwrap().life = Life::Ready;
    let _ = told(&mut desk);
    append(&mut desk, &[r#"{"shutdown_request":true}"#]);
    assert_eq!(told(&mut desk), ["item_removed b shutdown"]);
    assert!(desk.shutdown && desk.items.is_empty());
}

#[test]
fn a_wait_is_over_when_all_ended_or_one() {
    let ends = |lives: &[Life], removed: &[&str]| {
        let mut desk = desk();
        append(&mut desk, &[A, B]);
        for (item, life) in desk.items.values_mut().zip(lives) {
            item.life = *life;
        }
        for agent in removed {
            append(&mut desk, &[&format!(r#"{{"op":"unregister","agent":"{agent}","step":"1"}}"#)]);
        }
        (desk.over(Until::All), desk.over(Until::Any))
    };
    let (all, any) = (desk().over(Until::All), desk().over(Until::Any));
    assert_eq!((all, any), (None, None), "without any item the wait goes on");
    assert_eq!(ends(&[Life::Running, Life::Dying], &[]), (None, None));
    assert_eq!(ends(&[Life::Ready, Life::Stalled], &[]), (None, Some(true)));
    assert_eq!(ends(&[Life::Ready, Life::Removed], &[]), (Some(true), Some(true)));
    assert_eq!(ends(&[Life::Died, Life::Ready], &[]), (Some(false), Some(false)));
    assert_eq!(ends(&[Life::Running, Life::Running], &["b"]), (None, Some(false)));
    assert_eq!(ends(&[Life::Ready, Life::Running], &["b"]), (Some(false), Some(true)));
    assert_eq!(ends(&[Life::Ready, Life::Ready], &["b"]), (Some(true), Some(true)));
}

#[test]
fn the_1025th_item_is_one_too_many() {
    let mut desk = desk();
    for n in 0..1025 {
        append(&mut desk, &[&A.replace("\"a\"", &format!("\"a{n}\""))]);
    }
    assert_eq!(desk.items.len(), 1024);
    assert_eq!(told(&mut desk).last().unwrap(), "item_rejected too_many_items");
    // Nor is there room for it in a file that was made anew, as those that stand stay.
    read(&mut desk, false, &[B, &A.replace("\"a\"", "\"a7\"")]);
    assert_eq!(desk.items.len(), 1024);
    let rejected = &desk.told.last().map(|told| serde_json::to_value(told).unwrap()).unwrap();
    assert_eq!((&rejected["reason"], &rejected["line_no"]), (&"too_many_items".into(), &1.into()));
}
