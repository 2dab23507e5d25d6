use github::{
    pull::{Bodies, State, Threads},
    row::{Class, Identity, Kind, Row},
    target::Repo,
    verdict::Rows,
};
use proptest::prelude::*;
use shared::{
    gh::{Class as TroubleClass, Trouble},
    line::Event as _,
};

use super::*;

fn target() -> Target {
    Target { repo: Repo::of("github.com", "o", "n").unwrap(), subject: Subject::Pull(729) }
}

fn at(seconds: u64) -> Now {
    let time = Duration::from_secs(1_000 + seconds);
    let wall = jiff::Timestamp::from_second(1_700_000_000 + i64::try_from(seconds).unwrap());
    Now { wall: wall.unwrap(), boot: time, monotonic: time }
}

fn row(name: &str, class: Class) -> Row {
    Row {
        identity: Identity { kind: Kind::Run, workflow: String::new(), name: name.into() },
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

fn pull() -> Pull {
    Pull {
        state: State::Open,
        draft: false,
        head: "h1".to_owned(),
        base: "main".to_owned(),
        url: "https://github.com/o/n/pull/729".to_owned(),
        updated_at: "t0".to_owned(),
        mergeability: Mergeability::Mergeable,
        review: Review::None,
        rows: Rows { list: vec![row("test", Class::Passed)], complete: true },
        needs_approval: false,
        threads: Threads { open: Vec::new(), complete: true },
        bodies: None,
        degraded: None,
    }
}

fn but(change: impl FnOnce(&mut Pull)) -> Pull {
    let mut pull = pull();
    change(&mut pull);
    pull
}

fn judge(conditions: bool, memory: Memory) -> Judge {
    let terms = Terms { interval: Duration::from_mins(1), conditions, known_red: Vec::new() };
    let targets = [target()];
    Judge::new(terms, &targets, Names::of(&targets), memory)
}

/// What each line says: `OPEN/NONE`, `+key@head`, `-key`.
fn say(judge: &mut Judge, sight: Sight, seconds: u64) -> Vec<String> {
    let decided = judge.judge(&[target()], &[sight], &at(seconds)).unwrap().unwrap();
    let word = |Event::PrState(event): &Event| {
        let name = event.about.key.trim_start_matches("pr:729").trim_start_matches(':');
        let revision = event.about.revision.as_deref().map(|head| format!("@{head}"));
        let revision = revision.unwrap_or_default();
        match event.about.condition {
            Condition::Once => {
                format!("{}/{}", event.state.word(), event.review_decision.word())
            }
            Condition::Raised => format!("+{name}{revision}"),
            Condition::Cleared => format!("-{name}{revision}"),
        }
    };
    decided.events.iter().map(word).collect()
}

fn see(judge: &mut Judge, pull: Pull, seconds: u64) -> Vec<String> {
    say(judge, Ok(Glance::at(Box::new(pull))), seconds)
}

#[test]
fn a_line_is_a_change_of_state_or_decision_the_first_look_included() {
    let mut judge = judge(false, Memory::default());
    assert_eq!(
        see(&mut judge, but(|p| p.review = Review::ReviewRequired), 0),
        ["OPEN/REVIEW_REQUIRED"]
    );
    assert!(see(&mut judge, but(|p| p.review = Review::ReviewRequired), 60).is_empty());
    let approved = but(|p| p.review = Review::Approved);
    assert_eq!(see(&mut judge, approved.clone(), 120), ["OPEN/APPROVED"]);
    // Checks, threads and mergeability are no change of it.
    let other = but(|p| {
        p.review = Review::Approved;
        p.mergeability = Mergeability::Conflicting;
        p.rows.list.push(row("lint", Class::Failed));
        p.threads.open.push("t".into());
    });
    assert!(see(&mut judge, other, 180).is_empty());
    assert_eq!(see(&mut judge, but(|p| p.state = State::Merged), 240), ["MERGED/NONE"]);
    assert!(judge.is_done() && judge.wanted(&at(9999)).is_empty());
}

#[test]
fn pr14_twenty_looks_at_the_same_are_one_line() {
    let mut judge = judge(true, Memory::default());
    let lines: usize =
        (0..20).map(|n| see(&mut judge, but(|p| p.draft = true), n * 60).len()).sum();
    assert_eq!(lines, 1);
}

#[test]
fn pr02_a_merged_one_is_over_whatever_the_reviewers_say() {
    let mut judge = judge(true, Memory::default());
    let merged = but(|p| {
        p.state = State::Merged;
        p.review = Review::ChangesRequested;
    });
    assert_eq!(see(&mut judge, merged, 0), ["MERGED/CHANGES_REQUESTED"]);
    assert!(judge.is_done());
}

#[test]
fn a_state_that_comes_back_is_told_with_another_id() {
    let mut judge = judge(false, Memory::default());
    let mut ids = Vec::new();
    for (n, review) in [Review::None, Review::Approved, Review::None].into_iter().enumerate() {
        let sight = Ok(Glance::at(Box::new(but(|p| p.review = review))));
        let now = at(60 * u64::try_from(n).unwrap());
        let decided = judge.judge(&[target()], &[sight], &now).unwrap().unwrap();
        ids.push(decided.events[0].mark().discriminator);
    }
    assert_ne!(ids[0], ids[2]);
}

#[test]
fn conditions_are_raised_and_cleared_once() {
    let mut judge = judge(true, Memory::default());
    let red = but(|p| p.rows.list.push(row("lint", Class::Failed)));
    assert_eq!(see(&mut judge, red.clone(), 0), ["OPEN/NONE", "+red:lint@h1"]);
    assert!(see(&mut judge, red, 60).is_empty());
    let asked = but(|p| {
        p.review = Review::ChangesRequested;
        p.threads.open.push("t".into());
    });
    assert_eq!(
        see(&mut judge, asked, 120),
        ["OPEN/CHANGES_REQUESTED", "-red:lint@h1", "+changes_requested", "+unresolved_threads"]
    );
    // The set of rows changed at 120, and has settled at the second look.
    assert_eq!(
        see(&mut judge, pull(), 180),
        ["OPEN/NONE", "-changes_requested", "-unresolved_threads", "+ready@h1"]
    );
    assert_eq!(
        see(&mut judge, but(|p| p.state = State::Closed), 300),
        ["-ready@h1", "CLOSED/NONE"]
    );
}

#[test]
fn a_new_head_ends_what_is_of_the_old_one() {
    let mut judge = judge(true, Memory::default());
    let red = |head: &str| {
        but(|p| {
            p.head = head.to_owned();
            p.rows.list.push(row("lint", Class::Failed));
            p.review = Review::ChangesRequested;
        })
    };
    see(&mut judge, red("h1"), 0);
    // Red again on the new head: told again, with the new head.
    assert_eq!(see(&mut judge, red("h2"), 60), ["+red:lint@h2"]);
    let running = but(|p| {
        p.head = "h3".to_owned();
        p.rows.list.push(row("lint", Class::Pending));
        p.review = Review::ChangesRequested;
    });
    assert_eq!(see(&mut judge, running, 120), ["-red:lint@h3"]);
}

#[test]
fn mergeability_that_is_not_known_changes_nothing_by_itself() {
    let mut judge = judge(true, Memory::default());
    let conflict = |head: &str, mergeability| {
        but(|p| {
            p.head = head.to_owned();
            p.mergeability = mergeability;
            p.draft = true;
        })
    };
    assert_eq!(
        see(&mut judge, conflict("h1", Mergeability::Conflicting), 0),
        ["OPEN/NONE", "+conflict@h1"]
    );
    assert!(see(&mut judge, conflict("h2", Mergeability::Pending), 60).is_empty());
    assert_eq!(see(&mut judge, conflict("h2", Mergeability::Conflicting), 65), ["+conflict@h2"]);
    assert!(see(&mut judge, conflict("h2", Mergeability::Pending), 120).is_empty());
    assert_eq!(see(&mut judge, conflict("h2", Mergeability::Mergeable), 180), ["-conflict@h2"]);
}

#[test]
fn an_unknown_mergeability_is_asked_for_once_more_soon() {
    let mut judge = judge(true, Memory::default());
    let pending = but(|p| {
        p.mergeability = Mergeability::Pending;
        p.rows.list.push(row("lint", Class::Pending));
    });
    see(&mut judge, pending.clone(), 0);
    assert_eq!(judge.due(), at(5).monotonic);
    see(&mut judge, pending, 5);
    assert_eq!(judge.due(), at(65).monotonic);
}

#[test]
fn pr11_a_degraded_look_can_show_red_and_never_ready() {
    let mut judge = judge(true, Memory::default());
    let approved = but(|p| p.review = Review::Approved);
    see(&mut judge, approved.clone(), 0);
    let degraded = |failed: bool| {
        but(|p| {
            p.review = Review::Unknown;
            p.rows.complete = false;
            p.threads.complete = false;
            p.degraded = Some(Trouble::malformed("spent"));
            if failed {
                p.rows.list.push(row("ci", Class::Failed));
            }
        })
    };
    assert!(see(&mut judge, degraded(false), 60).is_empty());
    assert!(see(&mut judge, degraded(false), 120).is_empty());
    assert_eq!(see(&mut judge, degraded(true), 180), ["+red:ci@h1"]);
    // Its end can't be seen in that way either.
    assert!(see(&mut judge, degraded(false), 240).is_empty());
    // A degraded look says nothing of the set either: it has stood since the first look.
    assert_eq!(see(&mut judge, approved, 300), ["-red:ci@h1", "+ready@h1"]);
}

#[test]
fn an_edited_comment_is_told_once_and_ones_own_is_not() {
    let mut judge = judge(true, Memory::default());
    let with = |digest: &str, own: &[&str]| {
        let own_threads = own.iter().map(|id| (*id).to_owned()).collect();
        but(|p| {
            p.draft = true;
            p.threads.open.push("mine".to_owned());
            p.bodies =
                Some(Bodies { count: 1, digest: digest.to_owned(), own_threads, complete: true });
        })
    };
    assert_eq!(see(&mut judge, with("a", &["mine"]), 0), ["OPEN/NONE"]);
    assert_eq!(see(&mut judge, with("b", &["mine"]), 60), ["+review_comment_bodies:b"]);
    assert!(see(&mut judge, with("b", &["mine"]), 120).is_empty());
    assert_eq!(
        see(&mut judge, with("c", &["mine"]), 180),
        ["-review_comment_bodies:b", "+review_comment_bodies:c"]
    );
    assert_eq!(see(&mut judge, with("c", &["mine"]), 180 + 5 * 3600), ["-review_comment_bodies:c"]);
}

#[test]
fn a_look_in_vain_changes_nothing() {
    let mut judge = judge(true, Memory::default());
    see(&mut judge, pull(), 0);
    let unseen =
        |class| Err(Unseen::Trouble(Trouble { class, detail: String::new(), retry_at: None }));
    for (n, class) in TroubleClass::ALL.into_iter().enumerate() {
        let seconds = 60 * (1 + u64::try_from(n).unwrap());
        assert!(say(&mut judge, unseen(class), seconds).is_empty(), "{class:?}");
    }
    assert!(say(&mut judge, Err(Unseen::Moved), 900).is_empty());
    assert_eq!(see(&mut judge, pull(), 960), ["+ready@h1"]);
}

#[test]
fn what_was_told_before_a_restart_is_not_told_again() {
    let mut first = judge(true, Memory::default());
    let red = but(|p| p.rows.list.push(row("lint", Class::Failed)));
    see(&mut first, red.clone(), 0);
    let text = serde_json::to_string(first.memory()).unwrap();
    let mut second = judge(true, serde_json::from_str(&text).unwrap());
    assert!(see(&mut second, red, 600).is_empty());
    let merged = but(|p| p.state = State::Merged);
    assert_eq!(see(&mut second, merged, 660), ["-red:lint@h1", "MERGED/NONE"]);
    let text = serde_json::to_string(second.memory()).unwrap();
    assert!(judge(true, serde_json::from_str(&text).unwrap()).is_done());
}

fn any_pull() -> impl Strategy<Value = Pull> {
    let class =
        prop::sample::select(vec![Class::Failed, Class::Pending, Class::Passed, Class::Unknown]);
    let review = prop::sample::select(vec![
        Review::None,
        Review::Approved,
        Review::ChangesRequested,
        Review::ReviewRequired,
    ]);
    let mergeability = prop::sample::select(vec![
        Mergeability::Mergeable,
        Mergeability::Conflicting,
        Mergeability::Behind,
        Mergeability::Pending,
    ]);
    (class, review, mergeability, any::<bool>(), any::<bool>(), 0_u8..3).prop_map(
        |(class, review, mergeability, complete, thread, head)| {
            but(|p| {
                p.rows = Rows { list: vec![row("test", class)], complete };
                p.review = review;
                p.mergeability = mergeability;
                p.head = format!("h{head}");
                if thread {
                    p.threads.open.push("t".into());
                }
            })
        },
    )
}

proptest! {
    /// By its lines alone a reader knows what holds: nothing is raised twice for one head or
    /// cleared that wasn't raised, and after a whole look just that holds which was said.
    #[test]
    fn the_lines_tell_what_holds(pulls in prop::collection::vec(any_pull(), 1..12)) {
        let mut judge = judge(true, Memory::default());
        let mut holds: BTreeMap<String, Option<String>> = BTreeMap::new();
        for (n, pull) in pulls.into_iter().enumerate() {
            let now = at(60 * u64::try_from(n).unwrap());
            let sight = Ok(Glance::at(Box::new(pull)));
            let decided = judge.judge(&[target()], &[sight], &now).unwrap().unwrap();
            for Event::PrState(event) in &decided.events {
                let about = &event.about;
                match about.condition {
                    Condition::Once => {}
                    Condition::Raised => {
                        let old = holds.insert(about.key.clone(), about.revision.clone());
                        prop_assert!(old != Some(about.revision.clone()), "{about:?} twice");
                    }
                    Condition::Cleared => prop_assert!(holds.remove(&about.key).is_some()),
                }
            }
            let (_, facts) = &decided.facts[0];
            for holding in facts.holdings() {
                let key = format!("pr:729:{}", holding.key);
                prop_assert!(holds.contains_key(&key));
            }
            if facts.rows_complete && facts.mergeability != Mergeability::Pending {
                prop_assert_eq!(holds.len(), facts.holdings().len());
            }
        }
    }
}
