use github::{
    pull::{Commit, Mergeability, Pull, Review, State, Threads},
    row::{Class, Identity, Kind, Row},
    target::{Repo, Subject},
    verdict::{Required, Rows},
};
use proptest::prelude::*;
use shared::gh::Trouble;

use super::*;
use crate::run::Run;

fn target(subject: Subject) -> Target {
    Target { repo: Repo::of("github.com", "o", "n").unwrap(), subject }
}

fn at(seconds: u64) -> Now {
    let time = Duration::from_secs(1_000 + seconds);
    let wall = jiff::Timestamp::from_second(1_700_000_000 + i64::try_from(seconds).unwrap());
    Now { wall: wall.unwrap(), boot: time, monotonic: time }
}

fn row(name: &str, class: Class) -> Row {
    Row {
        identity: Identity { kind: Kind::Run, workflow: "CI".into(), name: name.into() },
        class,
        is_completed: class != Pending,
        run: None,
        id: 1,
        started_at: None,
        completed_at: None,
        is_required: false,
        url: format!("https://github.com/o/n/{name}"),
    }
}

fn pull(classes: &[Class]) -> Pull {
    let list = classes.iter().enumerate().map(|(at, class)| row(&format!("leg{at}"), *class));
    Pull {
        state: State::Open,
        draft: false,
        head: "h1".to_owned(),
        base: "main".to_owned(),
        url: "https://github.com/o/n/pull/42".to_owned(),
        updated_at: String::new(),
        mergeability: Mergeability::Pending,
        review: Review::None,
        rows: Rows { list: list.collect(), complete: true },
        needs_approval: false,
        threads: Threads::default(),
        bodies: None,
        degraded: None,
    }
}

fn terms() -> Terms {
    Terms {
        settle: Duration::from_secs(20),
        fail_fast: true,
        no_checks_grace: Duration::from_mins(2),
        allow_no_checks: false,
        pin_head: false,
        deadline: None,
        interval: Duration::from_secs(30),
    }
}

fn judge_of(terms: Terms, subject: Subject, memory: Memory) -> Judge {
    let targets = [target(subject)];
    Judge::new(terms, &targets, Names::of(&targets), memory)
}

fn judge(terms: Terms) -> Judge {
    judge_of(terms, Subject::Pull(42), Memory::default())
}

/// The line of a look: `status/conclusion`, and its reason.
fn say(judge: &mut Judge, saw: Saw, seconds: u64) -> Option<String> {
    let target = judge.watching[0].target.clone();
    let decided = judge.judge(&[target], &[Ok(saw)], &at(seconds)).unwrap().unwrap();
    assert!(decided.events.len() <= 1);
    let Event::CiStatus(event) = decided.events.into_iter().next()?;
    let reason = event.reason.map(|reason| format!(" {reason}")).unwrap_or_default();
    Some(format!("{}/{}{reason}", event.status, event.conclusion.unwrap_or("null")))
}

fn see(judge: &mut Judge, pull: Pull, seconds: u64) -> Option<String> {
    say(judge, Saw::Pull(Box::new(pull), None), seconds)
}

use Class::{Cancelled, Failed, Passed, Pending, Unknown};

#[test]
fn ci01_in_progress_is_one_line_and_success_comes_only_with_the_third_answer() {
    let mut judge = judge(Terms { settle: Duration::ZERO, ..terms() });
    assert_eq!(see(&mut judge, pull(&[Pending]), 0).as_deref(), Some("in_progress/null"));
    assert_eq!(see(&mut judge, pull(&[Pending]), 30), None);
    assert_eq!(see(&mut judge, pull(&[Passed]), 60).as_deref(), Some("completed/success"));
    assert!(judge.is_done());
}

#[test]
fn ci03_a_quick_green_waits_for_the_set_to_settle() {
    let mut judge = judge(terms());
    let first = see(&mut judge, pull(&[Passed, Passed, Passed]), 0);
    assert_eq!(first.as_deref(), Some("in_progress/null settling"));
    assert_eq!(judge.due(), at(20).monotonic);
    // Twelve more rows appear.
    assert_eq!(see(&mut judge, pull(&[Pending; 12]), 20), None);
    assert_eq!(see(&mut judge, pull(&[Passed; 12]), 30), None);
    assert_eq!(judge.due(), at(40).monotonic);
    assert_eq!(see(&mut judge, pull(&[Passed; 12]), 40).as_deref(), Some("completed/success"));
}

#[test]
fn a_failure_needs_no_settling() {
    let mut judge = judge(terms());
    let failed = see(&mut judge, pull(&[Passed, Failed, Pending]), 0);
    assert_eq!(failed.as_deref(), Some("completed/failure"));
    assert!(judge.is_done());
    assert_eq!(judge.code(), 10);
}

#[test]
fn ci18_with_wait_all_the_others_are_waited_for() {
    let mut judge = judge(Terms { fail_fast: false, ..terms() });
    assert_eq!(see(&mut judge, pull(&[Failed, Pending]), 0).as_deref(), Some("in_progress/null"));
    assert_eq!(see(&mut judge, pull(&[Failed, Passed]), 30).as_deref(), Some("completed/failure"));
}

#[test]
fn names_and_counts_ride_along_and_make_no_line() {
    let mut judge = judge(terms());
    see(&mut judge, pull(&[Pending, Pending]), 0);
    assert_eq!(see(&mut judge, pull(&[Passed, Pending]), 30), None);
    assert_eq!(see(&mut judge, pull(&[Passed, Pending, Pending]), 60), None);
}

#[test]
fn ci12_an_unknown_word_is_in_progress_with_a_reason() {
    let mut judge = judge(terms());
    let line = see(&mut judge, pull(&[Passed, Unknown]), 0);
    assert_eq!(line.as_deref(), Some("in_progress/null unknown_state"));
    assert_eq!(judge.code(), 16);
}

#[test]
fn no_check_at_all_is_waited_for_and_then_no_success() {
    for (allow, want, code) in
        [(false, "completed/null no_checks", 14), (true, "completed/success no_checks", 0)]
    {
        let mut judge = judge(Terms { allow_no_checks: allow, ..terms() });
        assert_eq!(see(&mut judge, pull(&[]), 0).as_deref(), Some("in_progress/null no_checks"));
        assert_eq!(see(&mut judge, pull(&[]), 119), None);
        assert_eq!(judge.due(), at(120).monotonic);
        assert_eq!(see(&mut judge, pull(&[]), 120).as_deref(), Some(want));
        assert_eq!((judge.is_done(), judge.code()), (true, code));
    }
}

#[test]
fn a_first_check_ends_the_wait_for_it() {
    let mut judge = judge(terms());
    see(&mut judge, pull(&[]), 0);
    assert_eq!(see(&mut judge, pull(&[Pending]), 110), None);
    assert_eq!(see(&mut judge, pull(&[Pending]), 900), None);
    assert_eq!(see(&mut judge, pull(&[Failed]), 930).as_deref(), Some("completed/failure"));
}

#[test]
fn ci13_runs_that_wait_for_an_approval_have_no_check_and_are_told() {
    let mut judge = judge(terms());
    let waiting = Pull { needs_approval: true, ..pull(&[]) };
    let line = see(&mut judge, waiting, 0);
    assert_eq!(line.as_deref(), Some("completed/action_required approval"));
    assert_eq!((judge.is_done(), judge.code()), (true, 13));
}

#[test]
fn ci10_a_new_head_starts_over_or_is_the_end() {
    let moved = |classes: &[Class]| Pull { head: "h2".to_owned(), ..pull(classes) };
    let mut judge = judge(terms());
    see(&mut judge, pull(&[Pending]), 0);
    let line = see(&mut judge, moved(&[Pending]), 30);
    assert_eq!(line.as_deref(), Some("in_progress/null new_head"));
    // What had settled was the old head's.
    assert_eq!(see(&mut judge, moved(&[Passed]), 35), None);
    assert_eq!(see(&mut judge, moved(&[Passed]), 50).as_deref(), Some("completed/success"));

    let mut pinned = self::judge(Terms { pin_head: true, ..terms() });
    see(&mut pinned, pull(&[Pending]), 0);
    let line = see(&mut pinned, moved(&[Passed]), 30);
    assert_eq!(line.as_deref(), Some("completed/null superseded"));
    assert_eq!((pinned.is_done(), pinned.code()), (true, 15));
}

#[test]
fn merged_or_closed_is_the_end() {
    for (state, want, code) in
        [(State::Merged, "completed/null merged", 16), (State::Closed, "completed/null closed", 17)]
    {
        let mut judge = judge(terms());
        see(&mut judge, pull(&[Pending]), 0);
        let line = see(&mut judge, Pull { state, ..pull(&[Failed]) }, 30);
        assert_eq!(line.as_deref(), Some(want));
        assert_eq!((judge.is_done(), judge.code()), (true, code));
        assert!(judge.wanted(&at(999)).is_empty());
    }
}

#[test]
fn a_decided_head_that_is_tried_again_is_another_attempt() {
    let mut judge = judge(Terms { settle: Duration::ZERO, ..terms() });
    see(&mut judge, pull(&[Failed]), 0);
    let target = judge.watching[0].target.clone();
    let saw = Saw::Pull(Box::new(pull(&[Pending])), None);
    let decided = judge.judge(&[target], &[Ok(saw)], &at(30)).unwrap().unwrap();
    let Event::CiStatus(event) = &decided.events[0];
    assert_eq!((event.status, event.attempt), ("in_progress", Some(2)));
    assert!(!judge.is_done());
    assert_eq!(see(&mut judge, pull(&[Passed]), 60).as_deref(), Some("completed/success"));
}

#[test]
fn cancelled_is_an_end_of_its_own() {
    let mut judge = judge(terms());
    let line = see(&mut judge, pull(&[Passed, Cancelled]), 0);
    assert_eq!((line.as_deref(), judge.code()), (Some("completed/cancelled"), 11));
}

#[test]
fn a_degraded_look_can_show_red_and_never_success() {
    let degraded = |classes: &[Class]| {
        let mut pull = pull(classes);
        pull.rows.complete = false;
        pull.degraded = Some(Trouble::malformed("spent"));
        pull
    };
    let mut judge = judge(Terms { settle: Duration::ZERO, ..terms() });
    let line = see(&mut judge, degraded(&[Passed]), 0);
    assert_eq!(line.as_deref(), Some("in_progress/null incomplete"));
    assert_eq!(see(&mut judge, pull(&[Passed]), 30).as_deref(), Some("completed/success"));
    // What was decided isn't undone by seeing less.
    assert_eq!(see(&mut judge, degraded(&[Passed]), 60), None);
    assert_eq!(see(&mut judge, degraded(&[Failed]), 90).as_deref(), Some("completed/failure"));
}

#[test]
fn required_names_that_have_not_reported_are_pending() {
    let mut judge = judge(Terms { settle: Duration::ZERO, ..terms() });
    let names = |names: &[&str]| {
        Some(Required::Names(names.iter().map(|name| (*name).to_owned()).collect()))
    };
    let look = |judge: &mut Judge, required, seconds| {
        say(judge, Saw::Pull(Box::new(pull(&[Passed, Failed])), required), seconds)
    };
    let line = look(&mut judge, names(&["leg0", "deploy"]), 0);
    assert_eq!(line.as_deref(), Some("in_progress/null"));
    let line = look(&mut judge, names(&["leg0"]), 30);
    assert_eq!(line.as_deref(), Some("completed/success"));
}

#[test]
fn a_commit_is_judged_as_a_pull_request_is() {
    let subject = Subject::Commit("ab".repeat(20));
    let mut judge = judge_of(terms(), subject, Memory::default());
    let commit = |class| Commit {
        rows: Rows { list: vec![row("test", class)], complete: true },
        needs_approval: false,
        degraded: None,
    };
    let line = say(&mut judge, Saw::Commit(Box::new(commit(Pending))), 0);
    assert_eq!(line.as_deref(), Some("in_progress/null"));
    let line = say(&mut judge, Saw::Commit(Box::new(commit(Passed))), 30);
    assert_eq!(line.as_deref(), Some("completed/success"));
}

#[test]
fn the_deadline_gives_up_what_is_not_decided() {
    let terms = Terms { deadline: Some(at(100).monotonic), ..terms() };
    let mut judge = judge(terms);
    see(&mut judge, pull(&[Pending]), 90);
    assert_eq!(judge.due(), at(100).monotonic);
    assert!(judge.give_up(&at(99)).is_none());
    let events = judge.give_up(&at(100)).unwrap();
    let Event::CiStatus(event) = &events[0];
    assert_eq!((event.status, event.conclusion, judge.code()), ("timeout", None, 12));
    assert!(judge.has_verdict());
}

#[test]
fn what_an_earlier_run_proved_needs_no_second_proof() {
    let mut first = judge(terms());
    see(&mut first, pull(&[Passed]), 0);
    see(&mut first, pull(&[Passed]), 20);
    let text = serde_json::to_string(first.memory()).unwrap();
    let memory = || serde_json::from_str(&text).unwrap();
    let mut second = judge_of(terms(), Subject::Pull(42), memory());
    assert!(!second.is_done(), "it has to be looked at");
    assert_eq!(see(&mut second, pull(&[Passed]), 600), None);
    assert_eq!((second.is_done(), second.code()), (true, 0));
    let mut third = judge_of(terms(), Subject::Pull(42), memory());
    assert_eq!(see(&mut third, pull(&[Failed]), 600).as_deref(), Some("completed/failure"));
}

#[test]
fn the_worst_of_several_codes_counts() {
    let targets = [target(Subject::Run(1)), target(Subject::Run(2))];
    let mut judge = Judge::new(terms(), &targets, Names::of(&targets), Memory::default());
    let run = |id, conclusion: &str| {
        Ok(Saw::Run(Run {
            id,
            status: Some("completed".to_owned()),
            conclusion: Some(conclusion.to_owned()),
            head_sha: "h".to_owned(),
            run_attempt: 1,
            html_url: String::new(),
        }))
    };
    judge.judge(&targets, &[run(1, "cancelled"), run(2, "failure")], &at(0)).unwrap();
    assert_eq!((judge.is_done(), judge.code()), (true, 10));
}

fn any_class() -> impl Strategy<Value = Class> {
    prop::sample::select(vec![Failed, Pending, Unknown, Cancelled, Passed])
}

proptest! {
    /// Whatever is seen, each line differs from the one before, and none is a success but of a
    /// whole set of rows that passed and was seen at least twice.
    #[test]
    fn lines_are_changes_and_success_is_proved(
        looks in prop::collection::vec(
            (prop::collection::vec(any_class(), 0..4), any::<bool>(), 0_u8..2), 1..12),
    ) {
        let mut judge = judge(terms());
        let mut last = None;
        let mut before: Option<(usize, u8)> = None;
        for (n, (classes, complete, head)) in looks.into_iter().enumerate() {
            let mut seen = pull(&classes);
            seen.rows.complete = complete;
            seen.head = format!("h{head}");
            let target = judge.watching[0].target.clone();
            let saw = Saw::Pull(Box::new(seen), None);
            let now = at(30 * u64::try_from(n).unwrap());
            let decided = judge.judge(&[target], &[Ok(saw)], &now).unwrap().unwrap();
            if let Some(Event::CiStatus(event)) = decided.events.first() {
                let facts =
                    (event.status, event.conclusion, event.head_sha.clone(), event.attempt);
                prop_assert!(last.as_ref() != Some(&facts));
                if event.conclusion == Some("success") {
                    prop_assert!(complete && !classes.is_empty());
                    prop_assert!(classes.iter().all(|class| *class == Passed));
                    prop_assert!(before == Some((classes.len(), head)));
                }
                last = Some(facts);
            }
            before = Some((classes.len(), head));
        }
    }
}
