use proptest::prelude::*;

use super::*;

const STALLED: &str = r#"{"event":"stalled","source":"w","agent":"a","step":"5","instance":"i","key":"agent:a/5:stalled","condition":"raised","id":"1"}"#;

fn seconds(at: u64) -> Duration {
    Duration::from_secs(at)
}

/// What is said when, of lines that come when.
fn said(plan: &[(u64, &str)]) -> Vec<(u64, u32, bool)> {
    let on = vec!["stalled".to_owned(), "process_died".to_owned()];
    let mut nudges = Nudges::new(Rules { on, after: seconds(120), max: 3 });
    let mut said = Vec::new();
    for at in 0..1000 {
        for (_, line) in plan.iter().filter(|(when, _)| *when == at) {
            nudges.take(line.as_bytes(), seconds(at));
        }
        let due = nudges.due(seconds(at));
        said.extend(due.into_iter().map(|said| (at, said.nudge_count, said.is_final)));
    }
    said
}

const ALL: [(u64, u32, bool); 3] = [(120, 1, false), (240, 2, false), (360, 3, true)];

#[test]
fn g7_without_an_answer_it_is_said_three_times_and_no_more() {
    assert_eq!(said(&[(0, STALLED)]), ALL);
    assert_eq!(said(&[(0, STALLED), (10, STALLED), (500, STALLED)]), ALL);
}

#[test]
fn g7_an_answer_ends_it_and_no_other_does() {
    let ack = r#"{"ack":"stalled","agent":"a"}"#;
    assert_eq!(said(&[(0, STALLED), (130, ack)]), ALL[..1]);
    assert_eq!(said(&[(5, ack), (6, STALLED)]).len(), 3);
    for other in [
        r#"{"ack":"stalled","agent":"b"}"#,
        r#"{"ack":"stalled","agent":"a","step":"6"}"#,
        r#"{"ack":"stalled","id":"2"}"#,
        r#"{"ack":"stalled","agent":"a","claim":"x"}"#,
        r#"{"ack":"process_died","agent":"a"}"#,
        r#"{"ack":"nudge_repeat","agent":"a"}"#,
        r#"{"ack":"stalled"}"#,
        r#"{"ack":true,"agent":"a"}"#,
        r#"{"ack":"stalled","agent":"a","result_path":"/r"}"#,
        r#"{"ack":"stalled","agent":"a","shutdown_request":true}"#,
    ] {
        assert_eq!(said(&[(0, STALLED), (130, other)]), ALL, "{other}");
    }
    assert_eq!(said(&[(0, STALLED), (130, r#"{"ack":"stalled","id":"1"}"#)]), ALL[..1]);
}

#[test]
fn g7_what_makes_it_needless_ends_it() {
    let of = |event: &str, more: &str| {
        format!(r#"{{"event":"{event}","source":"w","agent":"a","step":"5","instance":"i"{more}}}"#)
    };
    let cleared = r#","key":"agent:a/5:stalled","condition":"cleared""#;
    assert_eq!(said(&[(0, STALLED), (100, &of("recovered", cleared))]), []);
    assert_eq!(said(&[(0, STALLED), (200, &of("result_ready", ""))]), ALL[..1]);
    let next = of("item_registered", "").replace("\"i\"", "\"j\"");
    assert_eq!(said(&[(0, STALLED), (250, &next)]), ALL[..2]);
    let died = of("process_died", r#","id":"9""#);
    let told = said(&[(0, STALLED), (10, &died)]);
    assert_eq!(told, [(130, 1, false), (250, 2, false), (370, 3, true)]);
    assert_eq!(said(&[(0, &died), (10, &of("process_replaced", ""))]), []);
    let other = of("item_degraded", "").replace(r#","instance":"i""#, "");
    assert_eq!(said(&[(0, STALLED), (10, &other)]), ALL, "an event without instance");
    let stop = r#"{"event":"monitor_stopped","reason":"shutdown_request"}"#;
    assert_eq!(said(&[(0, STALLED), (10, stop)]), []);
}

#[test]
fn g7_a_new_episode_is_a_new_nudge() {
    let second = STALLED.replace("\"1\"", "\"2\"");
    assert_eq!(said(&[(0, STALLED), (10, &second)]).len(), 6);
}

#[test]
fn an_event_that_was_answered_is_none_again_until_its_key_is_cleared() {
    let ack = r#"{"ack":"stalled","agent":"a"}"#;
    assert_eq!(said(&[(0, STALLED), (10, ack), (20, STALLED)]), []);
    let cleared = STALLED.replace("stalled\",\"source", "recovered\",\"source");
    let cleared = cleared.replace("raised", "cleared");
    // The same facts may come back with the same id.
    assert_eq!(said(&[(0, STALLED), (10, ack), (15, &cleared), (20, STALLED)]).len(), 3);
}

#[test]
fn an_event_without_agent_is_answered_by_its_id() {
    let mut nudges = Nudges::new(Rules { on: vec!["lost".to_owned()], after: seconds(9), max: 1 });
    let event = |id: &str, subject: &str| {
        format!(
            r#"{{"event":"lost","source":"p","subject":"{subject}","key":"k","condition":"raised","id":"{id}"}}"#
        )
    };
    nudges.take(event("1", "x").as_bytes(), seconds(0));
    nudges.take(event("2", "y").as_bytes(), seconds(0));
    nudges.take(event("3", "z").as_bytes(), seconds(0));
    nudges.ack_line(br#"{"ack":"lost","agent":"a"}"#);
    nudges.ack_line(br#"{"ack":"lost","id":"1"}"#);
    // A key is one only within its source and subject.
    nudges.take(event("2", "y").replace("raised", "cleared").as_bytes(), seconds(1));
    let due = nudges.due(seconds(9));
    assert_eq!(due.iter().map(|said| &*said.original_id).collect::<Vec<_>>(), ["3"]);
    assert_eq!((&due[0].agent, &due[0].step, due[0].is_final), (&None, &None, true));
}

#[test]
fn the_same_wait_begins_at_each_sending() {
    let mut nudges =
        Nudges::new(Rules { on: vec!["stalled".to_owned()], after: seconds(120), max: 3 });
    nudges.take(STALLED.as_bytes(), seconds(0));
    assert!(nudges.due(seconds(119)).is_empty());
    let late = nudges.due(seconds(500));
    assert_eq!((late.len(), late[0].nudge_count, late[0].age_sec), (1, 1, 500));
    assert_eq!(nudges.next(), Some(seconds(620)));
}

#[test]
fn what_is_saved_goes_on() {
    let on = vec!["stalled".to_owned()];
    let mut nudges = Nudges::new(Rules { on, after: seconds(120), max: 3 });
    nudges.take(STALLED.as_bytes(), seconds(1000));
    let saved = nudges.saved(seconds(1020));
    nudges.recall(saved, seconds(50));
    assert_eq!(nudges.next(), Some(seconds(150)));
}

#[test]
fn beyond_1024_the_oldest_is_dropped_but_first_what_is_over() {
    let on = vec!["stalled".to_owned()];
    let mut nudges = Nudges::new(Rules { on, after: seconds(120), max: 3 });
    let take = |nudges: &mut Nudges, n: usize| {
        nudges.take(STALLED.replace("\"1\"", &format!("\"n{n}\"")).as_bytes(), seconds(n as u64));
    };
    for n in 0..MOST {
        take(&mut nudges, n);
    }
    nudges.ack_line(br#"{"ack":"stalled","id":"n7"}"#);
    take(&mut nudges, MOST);
    assert_eq!((nudges.saved(seconds(0)).len(), nudges.dropped), (MOST, 0));
    take(&mut nudges, MOST + 1);
    assert_eq!((nudges.saved(seconds(0)).len(), nudges.dropped), (MOST, 1));
    assert_eq!(nudges.next(), Some(seconds(121)), "n0 made room");
}

proptest! {
    #[test]
    fn no_event_is_said_more_often_than_allowed(
        plan in proptest::collection::vec((0_u64..900, 0_u32..4, 0_u8..3), 0..30),
    ) {
        let lines: Vec<(u64, String)> = plan.iter().map(|(at, id, what)| (*at, match what {
            0 => r#"{"ack":"stalled","agent":"a"}"#.to_owned(),
            _ => STALLED.replace("\"1\"", &format!("\"{id}\"")),
        })).collect();
        let lines: Vec<(u64, &str)> = lines.iter().map(|(at, line)| (*at, &**line)).collect();
        let said = said(&lines);
        prop_assert!(said.iter().all(|(_, count, last)| *count <= 3 && *last == (*count == 3)));
        prop_assert!(said.len() <= 3 * lines.len());
    }
}
