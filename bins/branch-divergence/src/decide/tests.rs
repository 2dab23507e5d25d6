use proptest::prelude::*;
use shared::line::{Condition, Event as _};

use super::*;

fn now(second: u64) -> Now {
    let wall = "2026-04-08T14:10:00Z".parse::<jiff::Timestamp>().unwrap();
    let passed = Duration::from_secs(second);
    let wall = wall.checked_add(jiff::SignedDuration::try_from(passed).unwrap()).unwrap();
    Now { wall, boot: passed, monotonic: passed }
}

fn judge_of(threshold: u64, step: u64, emit: Emit) -> Judge {
    let terms = Terms { remote: "origin".to_owned(), threshold, step, emit };
    Judge::new(terms, Memory::default())
}

/// A base that has moved on by `behind` commits, seen from the branch `feature`.
fn behind(behind: u64) -> Distance {
    Distance {
        base: "main".to_owned(),
        head: "24ba8b6".repeat(6),
        head_branch: "feature".to_owned(),
        tip: format!("{behind:040x}"),
        ahead: 2,
        behind,
        short_head: "24ba8b6".to_owned(),
        short_tip: format!("{behind:07x}"),
        merge_base: Some("8e60933".to_owned()),
        ..Distance::default()
    }
}

fn see(judge: &mut Judge, distance: &Distance) -> Option<Event> {
    let seen = Ok(distance.clone());
    let verdict = judge.judge(&seen, Scope::Remote, Some("main"), Duration::ZERO, &now(0));
    assert_eq!((verdict.look, verdict.reading), (Look::Whole, None));
    assert!(verdict.health.is_empty() && verdict.events.len() <= 1);
    verdict.events.into_iter().next()
}

/// `6 warning`, `15 critical`, `cleared 3 from 15`, or nothing.
fn brief(event: Option<Event>) -> String {
    match event {
        None => String::new(),
        Some(Event::BranchDivergence(event)) => {
            format!("{} {}", event.commits_behind, event.severity.word())
        }
        Some(Event::BranchDivergenceCleared(event)) => {
            format!("cleared {} from {}", event.commits_behind, event.previous)
        }
    }
}

fn course(judge: &mut Judge, counts: &[u64]) -> Vec<String> {
    counts.iter().map(|count| brief(see(judge, &behind(*count)))).collect()
}

#[test]
fn d01_silence_below_the_threshold_then_warning_then_critical() {
    let mut judge = judge_of(2, 1, Emit::Events);
    assert_eq!(course(&mut judge, &[1, 2, 6]), ["", "2 warning", "6 critical"]);
}

#[test]
fn d02_every_move_of_a_step_is_told() {
    let counts = [4, 5, 9, 14, 15, 3, 6];
    assert_eq!(
        course(&mut judge_of(5, 1, Emit::Events), &counts),
        [
            "",
            "5 warning",
            "9 warning",
            "14 warning",
            "15 critical",
            "cleared 3 from 15",
            "6 warning"
        ]
    );
    assert_eq!(
        course(&mut judge_of(5, 5, Emit::Events), &counts),
        ["", "5 warning", "", "14 warning", "15 critical", "cleared 3 from 15", "6 warning"]
    );
}

#[test]
fn the_count_is_told_on_its_way_down_too_and_once() {
    let mut judge = judge_of(5, 2, Emit::Events);
    assert_eq!(
        course(&mut judge, &[20, 20, 19, 18, 15, 14, 13, 12, 4, 4]),
        [
            "20 critical",
            "",
            "",
            "18 critical",
            "15 critical",
            "14 warning",
            "",
            "12 warning",
            "cleared 4 from 12",
            ""
        ]
    );
}

#[test]
fn d04_a_rewritten_base_and_another_branch_are_told_at_the_same_count() {
    let mut judge = judge_of(5, 3, Emit::Events);
    see(&mut judge, &behind(6)).unwrap();
    let rewritten = Distance { tip: "f".repeat(40), rewritten: true, ..behind(6) };
    let Some(Event::BranchDivergence(event)) = see(&mut judge, &rewritten) else { panic!() };
    assert!(event.base_rewritten);

    let other = Distance { head_branch: "other".to_owned(), tip: "f".repeat(40), ..behind(6) };
    let Some(Event::BranchDivergence(event)) = see(&mut judge, &other) else { panic!() };
    assert_eq!((&*event.head_branch, event.base_rewritten), ("other", false));
    assert_eq!(see(&mut judge, &other), None);
}

#[test]
fn a_rewritten_base_below_the_threshold_is_nobodys_news() {
    let mut judge = judge_of(5, 1, Emit::Events);
    see(&mut judge, &behind(2));
    assert_eq!(see(&mut judge, &Distance { rewritten: true, ..behind(3) }), None);
}

#[test]
fn d09_an_approximate_count_is_never_critical() {
    for odd in
        [Distance { shallow: true, ..behind(50) }, Distance { merge_base: None, ..behind(50) }]
    {
        let mut judge = judge_of(1, 1, Emit::Events);
        let Some(Event::BranchDivergence(event)) = see(&mut judge, &odd) else { panic!() };
        assert_eq!((event.approximate, event.severity), (true, Severity::Warning));
        assert_eq!(event.merge_base, odd.merge_base);
    }
}

#[test]
fn what_was_told_survives_in_the_memory_and_is_not_told_again() {
    let mut judge = judge_of(5, 1, Emit::Events);
    let first = see(&mut judge, &behind(6)).unwrap();
    let saved = serde_json::to_string(judge.memory()).unwrap();

    let mut again = judge_of(5, 1, Emit::Events);
    again.memory = serde_json::from_str(&saved).unwrap();
    assert_eq!(again.tip("main"), Some(behind(6).tip));
    assert_eq!(see(&mut again, &behind(6)), None);
    assert_eq!(brief(see(&mut again, &behind(1))), "cleared 1 from 6");

    // Without it the same line comes again, with the same identity.
    let second = see(&mut judge_of(5, 1, Emit::Events), &behind(6)).unwrap();
    assert_eq!(first.mark(), second.mark());
}

#[test]
fn each_base_has_a_memory_of_its_own() {
    let mut judge = judge_of(5, 1, Emit::Events);
    see(&mut judge, &behind(6)).unwrap();
    let dev = Distance { base: "dev".to_owned(), ..behind(1) };
    assert_eq!(see(&mut judge, &dev), None);
    assert_eq!(see(&mut judge, &behind(6)), None);
}

fn blind(trouble: Trouble) -> Result<Distance, Failure> {
    Err(Failure::Blind(trouble, "fatal: no".to_owned()))
}

fn words(health: &[Health]) -> Vec<String> {
    health
        .iter()
        .map(|event| match event {
            Health::MonitorDegraded { reason, retry_in_seconds, .. } => {
                format!("-{reason} {retry_in_seconds}")
            }
            Health::MonitorRecovered { reason, blind_seconds, .. } => {
                format!("+{reason} {blind_seconds}")
            }
            other => panic!("{other:?}"),
        })
        .collect()
}

#[test]
fn blindness_is_told_once_clears_nothing_and_ends_with_the_first_whole_ask() {
    let mut judge = judge_of(5, 1, Emit::Events);
    see(&mut judge, &behind(6)).unwrap();
    let mut look = |seen: &Result<Distance, Failure>, scope, second| {
        judge.judge(seen, scope, Some("main"), Duration::from_secs(15), &now(second))
    };
    let unreachable = blind(Trouble::RemoteUnreachable);
    let first = look(&unreachable, Scope::Remote, 10);
    assert_eq!(
        (words(&first.health), first.look),
        (vec!["-remote_unreachable 15".to_owned()], Look::Blind)
    );
    assert!(first.events.is_empty());
    assert_eq!(look(&unreachable, Scope::Remote, 25).health, []);

    // A count against the known tip sees the checkout, not the remote.
    let here = look(&Ok(behind(1)), Scope::Checkout, 30);
    assert_eq!((here.health.len(), here.look), (0, Look::Blind));
    assert_eq!(brief(here.events.into_iter().next()), "cleared 1 from 6");

    let auth = look(&blind(Trouble::RemoteAuth), Scope::Remote, 40);
    assert_eq!(words(&auth.health), ["-remote_auth 15"]);
    let whole = look(&Ok(behind(1)), Scope::Remote, 50);
    assert_eq!(words(&whole.health), ["+remote_auth 10", "+remote_unreachable 40"]);
    assert_eq!(whole.look, Look::Whole);
}

#[test]
fn d14_what_the_checkout_lacks_is_over_when_it_has_it() {
    for trouble in [Trouble::HeadUnborn, Trouble::RepositoryGone] {
        let mut judge = judge_of(5, 1, Emit::Events);
        judge.judge(&blind(trouble), Scope::Checkout, Some("main"), Duration::ZERO, &now(0));
        let back =
            judge.judge(&Ok(behind(0)), Scope::Checkout, Some("main"), Duration::ZERO, &now(7));
        assert_eq!(words(&back.health), [format!("+{} 7", trouble.word())]);
        assert_eq!(back.look, Look::Whole);
    }
}

#[test]
fn a_look_that_was_given_up_says_nothing_and_changes_nothing() {
    let mut judge = judge_of(5, 1, Emit::Events);
    let gone = judge.judge(&Err(Failure::GivenUp), Scope::Remote, None, Duration::ZERO, &now(0));
    assert_eq!(gone, Verdict { look: Look::Settling, ..judge.rest() });
}

fn speaker() -> line::Speaker {
    let (source, subject) = ("d".to_owned(), "/p".to_owned());
    line::Speaker { program: "branch-divergence", source, subject }
}

#[test]
fn a_reading_is_all_that_holds_and_tells_no_event() {
    let mut judge = judge_of(5, 1, Emit::Readings);
    let mut read = |seen: &Result<Distance, Failure>, base| {
        let verdict = judge.judge(seen, Scope::Remote, base, Duration::ZERO, &now(0));
        assert!(verdict.health.is_empty() && verdict.events.is_empty());
        let lines = verdict.reading.unwrap().lines(&speaker(), now(0).timestamp()).unwrap();
        serde_json::from_slice::<serde_json::Value>(&lines[0]).unwrap()
    };
    let none = read(&blind(Trouble::RemoteAuth), None);
    assert_eq!((&none["subject"], &none["look"]), (&"origin/auto".into(), &1.into()));
    assert_eq!(none["error"]["kind"], "authentication");
    assert_eq!(none["error"]["reason"], "remote_auth");
    assert_eq!(none["complete"], false);
    assert_eq!(read(&blind(Trouble::BaseMissing), Some("main"))["error"]["kind"], "transient");
    for (count, severity) in [(6, "wake"), (15, "immediate")] {
        let some = read(&Ok(behind(count)), Some("main"));
        assert_eq!(some["subject"], "origin/main");
        assert_eq!(some["entries"][0]["key"], "divergence:origin/main");
        assert_eq!(some["entries"][0]["severity"], severity);
        assert_eq!(some["entries"][0]["resets_on"], "revision");
    }
    let clear = read(&Ok(behind(4)), Some("main"));
    assert_eq!((&clear["entries"], &clear["look"]), (&serde_json::json!([]), &5.into()));
    assert_eq!(judge.memory().0["origin/main"].told, None);
}

#[test]
fn a_long_subject_is_cut_as_keys_are() {
    let long = short(&format!("origin/{}", "é".repeat(200)));
    assert!(long.len() <= 200 && long.contains('#'), "{long}");
    assert_eq!(short("origin/main"), "origin/main");
}

/// Anything that can be seen, in any order.
fn sight() -> impl Strategy<Value = (Result<Distance, Failure>, Scope)> {
    let branch = prop_oneof![Just("feature"), Just("other"), Just("")];
    let counted = (0..20_u64, branch, any::<bool>(), any::<bool>());
    let counted = counted.prop_map(|(count, branch, rewritten, shallow)| {
        Ok(Distance { head_branch: branch.to_owned(), rewritten, shallow, ..behind(count) })
    });
    let failed = (0..Trouble::ALL.len()).prop_map(|at| blind(Trouble::ALL[at]));
    let seen = prop_oneof![4 => counted, 2 => failed, 1 => Just(Err(Failure::GivenUp))];
    (seen, prop_oneof![Just(Scope::Remote), Just(Scope::Checkout)])
}

proptest! {
    #[test]
    fn nothing_is_lost_or_doubled_whatever_is_seen(
        sights in prop::collection::vec(sight(), 1..40),
        threshold in 1..8_u64,
        step in 1..6_u64,
        restarts in prop::collection::vec(any::<bool>(), 40),
    ) {
        let mut judge = judge_of(threshold, step, Emit::Events);
        let (mut raised, mut degraded) = (None::<BranchDivergence>, Vec::<String>::new());
        for ((seen, scope), restart) in sights.iter().zip(restarts) {
            let verdict = judge.judge(seen, *scope, Some("main"), Duration::ZERO, &now(0));
            for event in &verdict.events {
                let distance = seen.as_ref().unwrap();
                match event {
                    Event::BranchDivergence(event) => {
                        prop_assert!(distance.behind >= threshold);
                        let mark = Event::BranchDivergence(event.clone()).mark();
                        prop_assert_eq!(mark.key.unwrap().1, Condition::Raised);
                        raised = Some(event.clone());
                    }
                    Event::BranchDivergenceCleared(event) => {
                        let before = raised.take();
                        prop_assert_eq!(before.map(|it| it.commits_behind), Some(event.previous));
                        prop_assert!(distance.behind < threshold);
                    }
                }
            }
            // What was told last is the truth of the last look that saw, to within a step.
            if let Ok(distance) = seen {
                prop_assert_eq!(raised.is_some(), distance.behind >= threshold);
                if let Some(told) = &raised {
                    prop_assert!(told.commits_behind.abs_diff(distance.behind) < step);
                    prop_assert_eq!(&told.head_branch, &distance.head_branch);
                    prop_assert!(!distance.rewritten || !verdict.events.is_empty());
                }
            } else {
                prop_assert!(verdict.events.is_empty());
            }
            for event in &verdict.health {
                match event {
                    Health::MonitorDegraded { reason, .. } => {
                        prop_assert!(!degraded.contains(reason));
                        degraded.push(reason.clone());
                    }
                    Health::MonitorRecovered { reason, .. } => {
                        prop_assert!(degraded.contains(reason));
                        degraded.retain(|held| held != reason);
                    }
                    other => prop_assert!(false, "{:?}", other),
                }
            }
            if seen.is_ok() && *scope == Scope::Remote {
                prop_assert!(degraded.is_empty());
                prop_assert_eq!(verdict.look, Look::Whole);
            }
            if restart {
                let saved = serde_json::to_string(judge.memory()).unwrap();
                judge.memory = serde_json::from_str(&saved).unwrap();
            }
        }
    }
}
