use proptest::prelude::*;

use super::*;
use crate::row::{Run, check_run, status_context};

fn at(minute: i64) -> Option<jiff::Timestamp> {
    jiff::Timestamp::from_second(1_000_000 + minute * 60).ok()
}

fn row(name: &str, run: u64, class: Class) -> Row {
    let identity = Identity { kind: Kind::Run, workflow: "CI".to_owned(), name: name.to_owned() };
    Row {
        identity,
        class,
        is_completed: class != Class::Pending,
        run: Some(Run { id: run, definition: 3, event: "push".to_owned(), is_cancelled: false }),
        id: run * 10,
        started_at: None,
        completed_at: None,
        is_required: false,
        url: String::new(),
    }
}

fn cancelled_run(mut row: Row) -> Row {
    if let Some(run) = &mut row.run {
        run.is_cancelled = true;
    }
    row
}

fn timed(row: Row, started: i64, completed: i64) -> Row {
    Row { started_at: at(started), completed_at: at(completed), ..row }
}

fn context(name: &str, class: Class) -> Row {
    let identity = Identity { kind: Kind::Context, workflow: String::new(), name: name.to_owned() };
    Row { identity, class, is_completed: false, run: None, id: 0, ..row(name, 1, class) }
}

fn rows(list: &[Row]) -> Rows {
    Rows { list: list.to_vec(), complete: true }
}

fn outcome_of(list: &[Row]) -> Outcome {
    judge(&rows(list), None).outcome
}

fn names(named: &[Named]) -> Vec<&str> {
    named.iter().map(|named| &*named.shown).collect()
}

#[test]
fn the_verdict_has_its_precedence() {
    use Class::{Cancelled, Failed, Passed, Pending, Unknown};
    for (classes, want) in [
        (&[Passed, Failed, Pending][..], Outcome::Failure),
        (&[Passed, Pending], Outcome::InProgress),
        (&[Passed, Unknown], Outcome::InProgress),
        (&[Passed, Cancelled, Pending], Outcome::InProgress),
        (&[Passed, Cancelled], Outcome::Cancelled),
        (&[Passed, Passed], Outcome::Success),
        (&[], Outcome::Empty),
    ] {
        let list: Vec<Row> = classes
            .iter()
            .enumerate()
            .map(|(at, class)| row(&format!("leg {at}"), 1, *class))
            .collect();
        assert_eq!(outcome_of(&list), want, "{classes:?}");
    }
    let part = Rows { list: vec![row("a", 1, Passed)], complete: false };
    assert_eq!(judge(&part, None).outcome, Outcome::InProgress);
    let red = Rows { list: vec![row("a", 1, Failed)], complete: false };
    assert_eq!(judge(&red, None).outcome, Outcome::Failure);
}

#[test]
fn rows_queued_waiting_requested_beside_success_are_in_progress() {
    for status in ["QUEUED", "WAITING", "REQUESTED", "PENDING", "IN_PROGRESS"] {
        let list = [row("a", 1, Class::Passed), row("b", 1, check_run(status, ""))];
        assert_eq!(outcome_of(&list), Outcome::InProgress, "{status}");
    }
}

#[test]
fn the_words_of_a_failure_are_failures_and_an_unknown_word_is_in_progress() {
    for (word, want) in [
        ("TIMED_OUT", Outcome::Failure),
        ("ACTION_REQUIRED", Outcome::Failure),
        ("STARTUP_FAILURE", Outcome::Failure),
        ("FROBNICATED", Outcome::InProgress),
        ("STALE", Outcome::InProgress),
    ] {
        let list = [row("a", 1, Class::Passed), row("b", 1, check_run("COMPLETED", word))];
        assert_eq!(outcome_of(&list), want, "{word}");
    }
}

#[test]
fn a_check_run_and_a_context_of_the_same_name_stay_two() {
    let bare = |class| {
        let mut row = row("build", 1, class);
        row.identity.workflow.clear();
        row
    };
    for list in [
        [bare(Class::Passed), context("build", Class::Failed)],
        [bare(Class::Failed), context("build", Class::Passed)],
    ] {
        assert_eq!(outcome_of(&list), Outcome::Failure);
    }
    let both = judge(&rows(&[bare(Class::Failed), context("build", Class::Failed)]), None);
    let names = names(&both.failed);
    assert_eq!(names.len(), 2);
    assert!(names.iter().all(|name| name.starts_with("build#")) && names[0] != names[1]);
}

#[test]
fn ci15_the_rows_of_one_context_fold_worst_first() {
    use Class::{Failed, Passed, Pending, Unknown};
    for (classes, want) in [
        (&[Passed, Failed][..], Outcome::Failure),
        (&[Passed, Pending], Outcome::InProgress),
        (&[Passed, Unknown], Outcome::InProgress),
        (&[Passed, Passed], Outcome::Success),
    ] {
        let list: Vec<Row> = classes.iter().map(|class| context("x", *class)).collect();
        assert_eq!(outcome_of(&list), want, "{classes:?}");
    }
    let twice = judge(&rows(&[context("x", Passed), context("x", Passed)]), None);
    assert_eq!(twice.passed, 1);
}

#[test]
fn a_published_aggregate_is_one_row_among_the_others() {
    let list = |aggregate, leg| [context("all green", aggregate), row("test", 1, leg)];
    assert_eq!(outcome_of(&list(Class::Passed, Class::Failed)), Outcome::Failure);
    assert_eq!(outcome_of(&list(Class::Passed, Class::Pending)), Outcome::InProgress);
    assert_eq!(outcome_of(&list(Class::Failed, Class::Passed)), Outcome::Failure);
}

#[test]
fn a_cancelled_attempt_of_a_cancelled_run_is_superseded() {
    let old = cancelled_run(row("test", 100, Class::Cancelled));
    let verdict = judge(&rows(&[old, row("test", 200, Class::Passed)]), None);
    assert_eq!((verdict.outcome, verdict.superseded), (Outcome::Success, 1));
    assert!(verdict.cancelled.is_empty());
}

#[test]
fn a_row_that_ended_before_the_newer_began_is_superseded() {
    let old = timed(row("test", 100, Class::Failed), 0, 10);
    let newer = |started| timed(row("test", 200, Class::Passed), started, 20);
    assert_eq!(judge(&rows(&[old.clone(), newer(10)]), None).outcome, Outcome::Success);
    let overlap = judge(&rows(&[old, newer(9)]), None);
    assert_eq!((overlap.outcome, overlap.ambiguous), (Outcome::Failure, true));
}

#[test]
fn each_exception_is_not_superseded() {
    let newer = row("test", 200, Class::Passed);
    // Fail-fast: the run failed.
    let fail_fast = row("test", 100, Class::Cancelled);
    assert_eq!(outcome_of(&[fail_fast, newer.clone()]), Outcome::Cancelled);
    // A decided row in a cancelled run.
    let decided = cancelled_run(row("test", 100, Class::Failed));
    assert_eq!(outcome_of(&[decided, newer.clone()]), Outcome::Failure);
    // Two rows of one run.
    let twin = cancelled_run(row("test", 200, Class::Cancelled));
    assert_eq!(outcome_of(&[twin, newer.clone()]), Outcome::Cancelled);
    // The newest run even if it was cancelled.
    let newest = cancelled_run(row("test", 300, Class::Cancelled));
    assert_eq!(outcome_of(&[newest, newer.clone()]), Outcome::Cancelled);
    // A row without ids.
    let mut anonymous = cancelled_run(row("test", 100, Class::Cancelled));
    anonymous.run = None;
    assert_eq!(outcome_of(&[anonymous, newer.clone()]), Outcome::Cancelled);
    // Another event, another definition, another name.
    for change in 0..3 {
        let mut other = cancelled_run(row("test", 100, Class::Cancelled));
        if let Some(run) = &mut other.run {
            match change {
                0 => run.event = "pull_request".to_owned(),
                1 => run.definition = 4,
                _ => other.identity.name = "lint".to_owned(),
            }
        }
        assert_eq!(outcome_of(&[other, newer.clone()]), Outcome::Cancelled, "{change}");
    }
    // One that hasn't ended.
    let running = timed(row("test", 100, Class::Pending), 0, 0);
    assert_eq!(outcome_of(&[running, timed(newer, 5, 9)]), Outcome::InProgress);
}

#[test]
fn ci04_two_events_of_one_workflow_are_two_checks() {
    let mut pushed = row("build", 1, Class::Passed);
    pushed.started_at = at(0);
    let mut asked = row("build", 2, Class::Pending);
    if let Some(run) = &mut asked.run {
        run.event = "pull_request".to_owned();
    }
    assert_eq!(outcome_of(&[pushed, asked]), Outcome::InProgress);
}

#[test]
fn ci06_a_slow_old_leg_that_ends_last_still_counts() {
    let slow = timed(row("test", 100, Class::Failed), 0, 30);
    let quick = timed(row("test", 200, Class::Passed), 10, 20);
    let verdict = judge(&rows(&[slow, quick]), None);
    assert_eq!((verdict.outcome, verdict.ambiguous), (Outcome::Failure, true));
    assert_eq!(names(&verdict.failed), ["CI / test"]);
}

#[test]
fn ci07_a_queued_rerun_is_not_hidden_behind_an_old_success() {
    let old = timed(row("test", 100, Class::Passed), 0, 10);
    let queued = row("test", 200, check_run("QUEUED", ""));
    let verdict = judge(&rows(&[old, queued]), None);
    assert_eq!((verdict.outcome, verdict.ambiguous), (Outcome::InProgress, false));
}

#[test]
fn ci18_with_required_the_others_do_not_count() {
    let names =
        |names: &[&str]| Required::Names(names.iter().map(|name| (*name).to_owned()).collect());
    let list = [
        Row { is_required: true, ..row("test", 1, Class::Passed) },
        row("lint", 1, Class::Failed),
        context("cov", Class::Passed),
    ];
    let judged = |required: &Required| judge(&rows(&list), Some(required));
    assert_eq!(judged(&names(&[])).outcome, Outcome::Success);
    assert_eq!(judged(&names(&["cov"])).outcome, Outcome::Success);
    assert_eq!(judged(&names(&["lint"])).outcome, Outcome::Failure);
    // A required name that hasn't reported is pending, never passed.
    let missing = judged(&names(&["deploy"]));
    assert_eq!((missing.outcome, missing.pending), (Outcome::InProgress, 1));
    let reported = judged(&Required::Unreadable);
    assert_eq!((reported.outcome, reported.reported_only), (Outcome::Success, true));
    // Without a single required row there is nothing that could succeed.
    let none = judge(&rows(&[row("lint", 1, Class::Passed)]), Some(&Required::Unreadable));
    assert_eq!(none.outcome, Outcome::Empty);
}

#[test]
fn the_set_is_the_rows_and_not_what_they_come_to() {
    let set = |list: &[Row]| judge(&rows(list), None).set;
    let (a, b) = (row("a", 1, Class::Pending), row("b", 1, Class::Pending));
    assert_eq!(set(&[a.clone(), b.clone()]), set(&[b.clone(), row("a", 1, Class::Passed)]));
    assert_ne!(set(&[a.clone(), b]), set(std::slice::from_ref(&a)));
    assert_ne!(set(&[a]), set(&[row("a", 2, Class::Pending)]));
}

fn any_row() -> impl Strategy<Value = Row> {
    let class = prop::sample::select(vec![
        Class::Failed,
        Class::Pending,
        Class::Unknown,
        Class::Cancelled,
        Class::Passed,
    ]);
    let name = prop::sample::select(vec!["a", "b", "c"]);
    (class, name, 1_u64..4, any::<bool>(), any::<bool>(), 0_i64..9, 0_i64..9).prop_map(
        |(class, name, run, is_context, is_cancelled, started, spent)| {
            if is_context {
                return context(name, class);
            }
            let row = timed(row(name, run, class), started, started + spent);
            if is_cancelled { cancelled_run(row) } else { row }
        },
    )
}

proptest! {
    #[test]
    fn the_order_of_rows_changes_nothing(
        list in prop::collection::vec(any_row(), 0..9),
        seed in any::<u64>(),
    ) {
        let mut other = list.clone();
        // Fisher and Yates, by a congruential generator.
        let mut state = seed;
        for at in (1..other.len()).rev() {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let to = usize::try_from(state >> 33).unwrap() % (at + 1);
            other.swap(at, to);
        }
        let (mut one, mut two) = (judge(&rows(&list), None), judge(&rows(&other), None));
        for verdict in [&mut one, &mut two] {
            verdict.failed.iter_mut().chain(&mut verdict.cancelled).for_each(|n| n.url = None);
        }
        prop_assert_eq!(one, two);
    }

    #[test]
    fn success_needs_a_row_that_passed_and_none_that_did_not(
        list in prop::collection::vec(any_row(), 0..9),
    ) {
        let verdict = judge(&rows(&list), None);
        if verdict.outcome == Outcome::Success {
            prop_assert!(verdict.passed > 0 && verdict.failed.is_empty() && verdict.pending == 0);
            let newest = list.iter().filter(|row| row.run.as_ref().is_none_or(|run| {
                !list.iter().any(|other| is_same(row, other)
                    && other.run.as_ref().is_some_and(|other| other.id > run.id))
            }));
            for row in newest {
                prop_assert!(row.class == Class::Passed, "{row:?}");
            }
        }
    }

    #[test]
    fn an_unknown_word_never_makes_a_green(word in "[A-Z_]{1,12}", other in "[A-Z_]{1,12}") {
        let known = ["SUCCESS", "NEUTRAL", "SKIPPED"];
        prop_assume!(!known.contains(&&*word));
        for class in [check_run("COMPLETED", &word), check_run(&other, "SUCCESS"), status_context(&word)] {
            if other != "COMPLETED" || class != Class::Passed {
                let list = [row("a", 1, Class::Passed), row("b", 1, class)];
                prop_assert!(outcome_of(&list) != Outcome::Success);
            }
        }
    }
}
