use std::collections::BTreeMap;

use jiff::Timestamp;
use proptest::prelude::*;
use shared::reading::{Draft, Fault, Finding, Name, settle::settle};

use super::*;

fn at(seconds: u64) -> Now {
    let time = Duration::from_secs(seconds);
    let wall = Timestamp::from_second(i64::try_from(seconds).unwrap()).unwrap();
    Now { wall, boot: time, monotonic: time }
}

fn entry(key: &str, severity: Severity, resets_on: ResetsOn) -> Finding {
    Finding { key: key.to_owned(), severity, resets_on, brief: format!("{key} holds") }
}

fn wake(key: &str) -> Finding {
    entry(key, Severity::Wake, ResetsOn::Revision)
}

fn draft(id: &str, revision: &str, entries: &[Finding]) -> Draft {
    let name = Name { source: "p".into(), kind: "basin".into(), subject: id.to_owned() };
    Draft {
        name,
        number: 1,
        revision: revision.to_owned(),
        complete: true,
        entries: entries.to_vec(),
        facts: vec![("n".to_owned(), 1.into())],
        ..Draft::default()
    }
}

fn failed(id: &str, kind: FaultKind) -> Look {
    let fault = Fault { kind, reason: kind.word().to_owned(), ..Fault::malformed("broke") };
    settle(Draft { status: Some(Status::ProviderError), error: Some(fault), ..draft(id, "", &[]) })
}

fn partial(look: Draft) -> Look {
    settle(Draft { complete: false, ..look })
}

fn terms() -> Terms {
    Terms { keep_going: false, remembers_ends: true, once: false }
}

fn judge(ids: &[&str]) -> Judge {
    Judge::new(terms(), ids.iter().map(|&id| id.to_owned()).collect(), Memory::default())
}

/// What the judge says of a look, in short: `+key`, `-key`, `!outcome:reason`.
fn told(judge: &mut Judge, look: Look) -> Vec<String> {
    let decided = judge.judge(&[(look, Duration::from_secs(15))], &at(10));
    let short = |event: &Event| match event {
        Event::ConditionRaised(event) => {
            let revision = event.revision.as_ref().map(|revision| format!("@{revision}"));
            format!("+{}{}", event.key, revision.unwrap_or_default())
        }
        Event::ConditionCleared(event) => format!("-{}", event.key),
        Event::SubjectEnded(event) => format!("!{:?}:{}", event.outcome, event.reason),
    };
    decided.events.iter().map(short).collect()
}

/// What is said of one look after the other at one subject.
fn tale(looks: impl IntoIterator<Item = Look>) -> Vec<Vec<String>> {
    let mut judge = judge(&["A"]);
    looks.into_iter().map(|look| told(&mut judge, look)).collect()
}

fn whole(revision: &str, entries: &[Finding]) -> Look {
    settle(draft("A", revision, entries))
}

#[test]
fn p27_a_condition_is_gone_after_two_looks_without_it() {
    let high = [wake("high")];
    let looks = [&high[..], &high, &[], &[]].map(|entries| whole("", entries));
    assert_eq!(tale(looks), [vec!["+high"], vec![], vec![], vec!["-high"]]);
    let looks = [&high[..], &[], &high, &[], &[]].map(|entries| whole("", entries));
    assert_eq!(tale(looks), [vec!["+high"], vec![], vec![], vec![], vec!["-high"]]);
}

#[test]
fn p28_a_new_revision_clears_at_once() {
    let looks = [whole("a", &[wake("R")]), whole("b", &[])];
    assert_eq!(tale(looks), [["+R@a"], ["-R"]]);
    let never = entry("T", Severity::Wake, ResetsOn::Never);
    let both = [wake("R"), never];
    let looks = [whole("a", &both), whole("b", &both), whole("c", &both[1..]), whole("c", &[])];
    assert_eq!(tale(looks), [vec!["+R@a", "+T"], vec!["+R@b"], vec!["-R"], vec![]]);
}

#[test]
fn p15_a_failed_look_between_two_revisions_resets_nothing() {
    let looks = [
        whole("a", &[wake("R")]),
        failed("A", FaultKind::Transient),
        whole("b", &[wake("R")]),
        whole("b", &[wake("R")]),
    ];
    assert_eq!(tale(looks), [vec!["+R@a"], vec![], vec!["+R@b"], vec![]]);
}

#[test]
fn a_partial_look_raises_and_clears_nothing() {
    let looks = [
        whole("a", &[wake("R")]),
        partial(draft("A", "b", &[wake("S")])),
        partial(draft("A", "b", &[])),
        whole("b", &[wake("S")]),
    ];
    assert_eq!(tale(looks), [vec!["+R@a"], vec!["+S@b"], vec![], vec!["-R"]]);
}

#[test]
fn what_gets_graver_is_told_again() {
    let now = entry("k", Severity::Immediate, ResetsOn::Revision);
    let looks = [whole("", &[wake("k")]), whole("", std::slice::from_ref(&now)), whole("", &[now])];
    assert_eq!(tale(looks), [vec!["+k"], vec!["+k"], vec![]]);
}

#[test]
fn one_name_in_two_scopes_is_cleared_when_neither_holds() {
    let never = entry("k", Severity::Wake, ResetsOn::Never);
    let both = [never, wake("k")];
    let looks = [&both[..], &both[..1], &both[..1], &[], &[]].map(|entries| whole("", entries));
    let want = [vec!["+k", "+k"], vec![], vec![], vec![], vec!["-k"]];
    assert_eq!(tale(looks), want);
}

#[test]
fn a_subject_ends_once_with_its_reason() {
    let end = |status, reason: &str, entries: &[Finding]| {
        settle(Draft { status: Some(status), reason: reason.to_owned(), ..draft("A", "", entries) })
    };
    let last = entry("full", Severity::Terminal, ResetsOn::Revision);
    for (look, want) in [
        (end(Status::Success, "done", &[]), "!Success:done"),
        (end(Status::Success, "", &[]), "!Success:success"),
        (end(Status::Blocked, "", &[]), "!Blocked:blocked"),
        (failed("A", FaultKind::NotFound), "!Failed:not_found"),
        (failed("A", FaultKind::Authentication), "!Failed:authentication"),
    ] {
        let mut judge = judge(&["A"]);
        assert_eq!(told(&mut judge, look), [want]);
        assert!(judge.is_over("A"));
        let code = if want.starts_with("!S") { Ended::Done } else { Ended::NoResult };
        assert_eq!(judge.ended(), Some(code), "{want}");
    }
    let looks = [whole("", &[wake("R")]), end(Status::Success, "", &[last])];
    assert_eq!(tale(looks), [vec!["+R"], vec!["+full", "-R", "!Success:full"]]);
}

#[test]
fn who_keeps_going_is_told_of_a_lasting_failure_as_of_any_other() {
    let ids = BTreeSet::from(["A".to_owned()]);
    let mut judge = Judge::new(Terms { keep_going: true, ..terms() }, ids, Memory::default());
    let decided = judge.judge(&[(failed("A", FaultKind::Setup), Duration::ZERO)], &at(1));
    assert_eq!((decided.events.len(), decided.health.len()), (0, 1));
    assert_eq!((judge.ended(), judge.state()), (None, session::Look::Blind));
}

#[test]
fn blindness_is_told_once_with_its_subjects_and_its_end_once() {
    let mut judge = judge(&["A", "B", "C"]);
    let health = |judge: &mut Judge, looks: Vec<Look>, now| {
        let seen: Vec<Seen> =
            looks.into_iter().map(|look| (look, Duration::from_secs(15))).collect();
        let health = judge.judge(&seen, &at(now)).health;
        health.iter().map(|event| serde_json::to_value(event).unwrap()).collect::<Vec<_>>()
    };
    let fine = |id: &str| settle(draft(id, "", &[]));
    let blind = |id: &str| failed(id, FaultKind::Transient);

    assert_eq!(judge.state(), session::Look::Settling);
    let first = health(&mut judge, vec![blind("A"), blind("B"), fine("C")], 10);
    let want = json!({"event": "monitor_degraded", "reason": "transient", "detail": "A, B (broke)", "retry_in_seconds": 15});
    assert_eq!((first, judge.state()), (vec![want], session::Look::Blind));
    assert!(health(&mut judge, vec![fine("A"), blind("B"), blind("C")], 25).is_empty());
    let other = health(&mut judge, vec![partial(draft("A", "", &[])), fine("B")], 30);
    assert_eq!(other[0]["reason"], "incomplete");
    let last = health(&mut judge, vec![fine("C")], 70);
    assert_eq!((&last[0]["reason"], &last[0]["blind_seconds"]), (&json!("transient"), &json!(60)));
    let last = health(&mut judge, vec![fine("A")], 71);
    assert_eq!(last[0]["event"], "monitor_recovered");
    assert_eq!(judge.state(), session::Look::Whole);
}

#[test]
fn what_was_said_outlives_the_process() {
    let mut first = judge(&["A", "B"]);
    told(&mut first, whole("a", &[wake("R"), wake("S")]));
    told(&mut first, settle(Draft { status: Some(Status::Success), ..draft("B", "", &[]) }));
    let saved = serde_json::to_string(first.memory()).unwrap();
    let ids = |ids: &[&str]| ids.iter().map(|&id| id.to_owned()).collect::<BTreeSet<_>>();
    let again = |ids| Judge::new(terms(), ids, serde_json::from_str(&saved).unwrap());

    let mut second = again(ids(&["A", "B", "C"]));
    assert!(second.is_over("B") && second.ended().is_none());
    assert_eq!(second.previous("A").unwrap()["revision"], "a");
    assert_eq!(told(&mut second, whole("a", &[wake("R"), wake("T")])), ["+T@a"]);
    assert_eq!(told(&mut second, whole("a", &[wake("R"), wake("T")])), ["-S"]);
    assert_eq!(again(ids(&["B"])).ended(), Some(Ended::Done));

    let readings = Terms { remembers_ends: false, ..terms() };
    let judge = Judge::new(readings, ids(&["B"]), serde_json::from_str(&saved).unwrap());
    assert_eq!(judge.ended(), None);
}

#[test]
fn a_reader_of_readings_gets_a_second_look_at_a_success_of_a_new_revision() {
    let look =
        |revision, status| settle(Draft { status: Some(status), ..draft("A", revision, &[]) });
    let looks =
        [look("a", Status::Pending), look("b", Status::Success), look("b", Status::Success)];
    for (remembers_ends, ends) in [(true, 1), (false, 2)] {
        let terms = Terms { remembers_ends, ..terms() };
        let mut judge = Judge::new(terms, BTreeSet::from(["A".to_owned()]), Memory::default());
        let over = looks.iter().position(|look| {
            judge.judge(&[(look.clone(), Duration::ZERO)], &at(10)).over.contains(&"A".to_owned())
        });
        assert_eq!(over, Some(ends));
    }
    // A success of the first look is one.
    let terms = Terms { remembers_ends: false, ..terms() };
    let mut judge = Judge::new(terms, BTreeSet::from(["A".to_owned()]), Memory::default());
    let [_, success, _] = looks;
    assert_eq!(judge.judge(&[(success, Duration::ZERO)], &at(10)).over, ["A"]);
}

#[test]
fn a_subject_that_failed_is_tried_again_by_the_next_run() {
    let mut first = judge(&["A"]);
    told(&mut first, failed("A", FaultKind::Authentication));
    let memory = first.memory().clone();
    assert_eq!(Judge::new(terms(), BTreeSet::from(["A".to_owned()]), memory).ended(), None);
}

/// A world of three conditions, and looks of every kind at it.
fn looks() -> impl Strategy<Value = Vec<(u8, u8, u8)>> {
    proptest::collection::vec((0_u8..3, 0_u8..8, 0_u8..2), 1..40)
}

proptest! {
    /// Whatever the looks: what a reader believes to hold is what two quiet looks confirm, no key
    /// is raised twice at one revision, and none is cleared that was not raised.
    #[test]
    fn nothing_is_lost_and_nothing_told_twice(looks in looks()) {
        let keys = ["x", "y", "z"];
        let entries = |mask: u8| -> Vec<Finding> {
            let holds = |at: &usize| mask & (1 << at) != 0;
            (0..3).filter(holds).map(|at| wake(keys[at])).collect()
        };
        let mut judge = judge(&["A"]);
        let mut believed: BTreeMap<String, String> = BTreeMap::new();
        let last = *looks.last().unwrap();
        let steps = looks.iter().copied().chain([(0, last.1, last.2); 2]);
        for (how, mask, revision) in steps {
            let draft = draft("A", ["a", "b"][usize::from(revision)], &entries(mask));
            let look = match how {
                0 => settle(draft),
                1 => partial(draft),
                _ => failed("A", FaultKind::Transient),
            };
            let saved = serde_json::to_string(judge.memory()).unwrap();
            prop_assert_eq!(&serde_json::from_str::<Memory>(&saved).unwrap(), judge.memory());
            for word in told(&mut judge, look) {
                let (sign, rest) = word.split_at(1);
                let (key, revision) = rest.split_once('@').unwrap_or((rest, ""));
                if sign == "+" {
                    let before = believed.insert(key.to_owned(), revision.to_owned());
                    prop_assert_ne!(before.as_deref(), Some(revision), "{} twice", key);
                } else {
                    prop_assert!(believed.remove(key).is_some(), "{} was not raised", key);
                }
            }
        }
        let held: Vec<String> = entries(last.1).into_iter().map(|entry| entry.key).collect();
        prop_assert_eq!(believed.into_keys().collect::<Vec<_>>(), held);
    }
}
