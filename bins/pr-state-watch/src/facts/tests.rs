use github::{
    pull::Threads,
    row::{Class, Identity, Kind, Row},
    verdict::{Rows, judge},
};

use super::*;

fn row(name: &str, class: Class) -> Row {
    Row {
        identity: Identity { kind: Kind::Run, workflow: "CI".into(), name: name.into() },
        class,
        is_completed: class != Class::Pending,
        run: None,
        id: 1,
        started_at: None,
        completed_at: None,
        is_required: false,
        url: String::new(),
    }
}

fn pull(rows: &[Row]) -> Pull {
    Pull {
        state: State::Open,
        draft: false,
        head: "h1".to_owned(),
        base: "main".to_owned(),
        url: String::new(),
        updated_at: String::new(),
        mergeability: Mergeability::Mergeable,
        review: Review::None,
        rows: Rows { list: rows.to_vec(), complete: true },
        needs_approval: false,
        threads: Threads { open: Vec::new(), complete: true },
        bodies: None,
        degraded: None,
    }
}

fn facts(pull: &Pull) -> Facts {
    Facts::new(pull, &judge(&pull.rows, None), true, &["flaky".to_owned()], None, 0)
}

fn keys(pull: &Pull) -> Vec<String> {
    facts(pull).holdings().into_iter().map(|holding| holding.key).collect()
}

/// A pull request that is ready, but for `change`.
fn but(change: impl FnOnce(&mut Pull)) -> Pull {
    let mut pull = pull(&[row("test", Class::Passed)]);
    change(&mut pull);
    pull
}

#[test]
fn each_condition_has_its_key() {
    type Change = fn(&mut Pull);
    let table: &[(Change, &str, &[&str])] = &[
        (|_| (), "ready", &["ready"]),
        (|pull| pull.state = State::Merged, "merged", &["merged"]),
        (|pull| pull.state = State::Closed, "closed", &["closed"]),
        (|pull| pull.state = State::Unknown, "state_unknown", &[]),
        (|pull| pull.draft = true, "draft", &[]),
        (
            |pull| pull.rows.list.push(row("lint", Class::Failed)),
            "checks_failed",
            &["red:CI / lint"],
        ),
        (|pull| pull.rows.list.push(row("flaky", Class::Failed)), "ready", &["ready"]),
        (
            |pull| pull.review = Review::ChangesRequested,
            "changes_requested",
            &["changes_requested"],
        ),
        (|pull| pull.threads.open.push("t".into()), "unresolved_threads", &["unresolved_threads"]),
        (|pull| pull.mergeability = Mergeability::Conflicting, "conflict", &["conflict"]),
        (|pull| pull.mergeability = Mergeability::Behind, "behind", &["behind"]),
        (|pull| pull.rows.complete = false, "checks_incomplete", &[]),
        (|pull| pull.rows.list.push(row("lint", Class::Pending)), "checks_pending", &[]),
        (|pull| pull.rows.list.clear(), "checks_pending", &[]),
        (|pull| pull.rows.list.push(row("lint", Class::Unknown)), "checks_unknown", &[]),
        (|pull| pull.rows.list.push(row("lint", Class::Cancelled)), "checks_unknown", &[]),
        (|pull| pull.threads.complete = false, "threads_incomplete", &[]),
        (|pull| pull.review = Review::Unknown, "review_unknown", &[]),
        (|pull| pull.review = Review::ReviewRequired, "review_required", &[]),
        (|pull| pull.review = Review::Approved, "ready", &["ready"]),
        (|pull| pull.mergeability = Mergeability::Pending, "mergeability_pending", &[]),
        (|pull| pull.mergeability = Mergeability::Blocked, "mergeability_pending", &[]),
    ];
    for (change, reason, want) in table {
        let pull = but(change);
        assert_eq!(
            (facts(&pull).reason(), keys(&pull)),
            (*reason, want.iter().map(|key| (*key).to_owned()).collect())
        );
    }
}

#[test]
fn a_known_blocker_beats_anything_unsettled() {
    let pull = but(|pull| {
        pull.rows.complete = false;
        pull.rows.list.push(row("slow", Class::Pending));
        pull.threads.complete = false;
        pull.review = Review::ChangesRequested;
        pull.mergeability = Mergeability::Conflicting;
    });
    assert_eq!(facts(&pull).reason(), "changes_requested");
    assert_eq!(keys(&pull), ["changes_requested", "conflict"]);
}

#[test]
fn a_set_that_has_not_settled_is_not_ready() {
    let pull = but(|_| ());
    let facts = Facts::new(&pull, &judge(&pull.rows, None), false, &[], None, 0);
    assert_eq!((facts.reason(), facts.checks), ("checks_pending", Checks::Pending));
}

#[test]
fn what_is_known_to_be_red_is_named_bare_or_with_its_workflow() {
    let pull = but(|pull| pull.rows.list.push(row("lint", Class::Failed)));
    for (known, reds) in [("lint", 0), ("CI / lint", 0), ("CI / lin", 1), ("Lint", 1)] {
        let facts = Facts::new(&pull, &judge(&pull.rows, None), true, &[known.to_owned()], None, 0);
        assert_eq!(facts.red.len(), reds, "{known}");
        assert_eq!(facts.checks, Checks::Failure);
    }
}

#[test]
fn a_look_that_saw_less_ends_nothing_it_could_not_see() {
    let degraded = but(|pull| {
        pull.rows.complete = false;
        pull.threads.complete = false;
        pull.review = Review::Unknown;
        pull.mergeability = Mergeability::Pending;
        pull.degraded = Some(shared::gh::Trouble::malformed(""));
    });
    let facts = facts(&degraded);
    for key in [
        "red:CI / lint",
        "changes_requested",
        "unresolved_threads",
        "conflict",
        "behind",
        "ready",
        "review_comment_bodies:1",
    ] {
        assert!(!facts.can_end(key, Some("h1")), "{key}");
    }
    // Of another head than the present one, a check says nothing.
    assert!(facts.can_end("red:CI / lint", Some("h0")));
    assert!(!facts.can_end("conflict", Some("h0")));
}
