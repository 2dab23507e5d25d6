use std::fs;

use shared::line::Speaker;

use super::*;

/// The line of `event`, as the examples have it.
fn line(event: &Event, timestamp: &str) -> String {
    let speaker = Speaker {
        program: "heartbeat-watch",
        source: "heartbeat-watch".to_owned(),
        subject: "/repo/.agent-atelier".to_owned(),
    };
    let line = speaker.line(event, timestamp.parse().unwrap()).unwrap();
    String::from_utf8(line).unwrap()
}

fn warning() -> HeartbeatWarning {
    HeartbeatWarning {
        name: "WI-014".into(),
        work_item_id: "WI-014".into(),
        lease_expires_at: "2026-04-08T14:15:00Z".into(),
        remaining_seconds: 300,
        severity: Severity::Warning,
        owner_session_id: "s1".into(),
        lease_naive: false,
        renewed: false,
        resumed: false,
        wal_pending: false,
        duplicate: false,
        item_index: None,
        store_revision: Some(41),
    }
}

fn invalid() -> HeartbeatInvalid {
    HeartbeatInvalid {
        name: "WI-015".into(),
        work_item_id: "WI-015".into(),
        lease_expires_at: Some("tomorrow".into()),
        reason: Flaw::LeaseMalformed,
        owner_session_id: "s1".into(),
        item_index: 3,
        wal_pending: false,
        duplicate: false,
        store_revision: Some(41),
        cut: false,
    }
}

#[test]
fn examples_are_what_is_said() {
    let recovered = HeartbeatRecovered {
        name: "WI-014".into(),
        work_item_id: "WI-014".into(),
        reason: Ending::Renewed,
        previous_severity: Previous::Warning,
        status: Some("implementing".into()),
        owner_session_id: Some("s1".into()),
        lease_expires_at: Some("2026-04-08T15:42:00Z".into()),
        wal_pending: false,
        store_revision: Some(42),
    };
    for (name, event, timestamp) in [
        ("heartbeat_warning", Event::HeartbeatWarning(warning()), "2026-04-08T14:10:00Z"),
        ("heartbeat_recovered", Event::HeartbeatRecovered(recovered), "2026-04-08T14:12:00Z"),
        ("heartbeat_invalid", Event::HeartbeatInvalid(invalid()), "2026-04-08T14:10:00Z"),
    ] {
        let path = format!("{}/events/{name}.json", env!("CARGO_MANIFEST_DIR"));
        ::tests::golden(path.as_ref(), line(&event, timestamp).as_bytes());
        let example = fs::read_to_string(path).unwrap();
        assert!(example.starts_with(&format!("{{\"event\":\"{name}\",\"timestamp\":\"")));
    }
}

#[test]
fn a_flag_is_said_only_when_it_is_true() {
    let plain = line(&Event::HeartbeatWarning(warning()), "2026-04-08T14:10:00Z");
    for flag in ["lease_naive", "renewed", "resumed", "wal_pending", "duplicate", "item_index"] {
        assert!(!plain.contains(flag), "{plain}");
    }
    let all = HeartbeatWarning {
        lease_naive: true,
        renewed: true,
        resumed: true,
        wal_pending: true,
        duplicate: true,
        item_index: Some(0),
        ..warning()
    };
    let all = line(&Event::HeartbeatWarning(all), "2026-04-08T14:10:00Z");
    assert!(
        all.contains(
            r#""owner_session_id":"s1","lease_naive":true,"renewed":true,"resumed":true,"wal_pending":true,"duplicate":true,"item_index":0,"store_revision":41,"key":"lease:WI-014""#
        ),
        "{all}"
    );
}

#[test]
fn keys_say_what_holds_from_now_on() {
    let element = HeartbeatInvalid { name: "#3".into(), reason: Flaw::ItemNotObject, ..invalid() };
    let element = line(&Event::HeartbeatInvalid(element), "2026-04-08T14:10:00Z");
    assert!(element.contains(r#""key":"item:#3","condition":"once""#), "{element}");
    let flaw = line(&Event::HeartbeatInvalid(invalid()), "2026-04-08T14:10:00Z");
    assert!(flaw.contains(r#""key":"lease-invalid:WI-015","condition":"raised""#), "{flaw}");
}

#[test]
fn an_id_is_the_same_for_the_same_facts_and_only_for_them() {
    let id = |event: HeartbeatWarning| {
        let line = line(&Event::HeartbeatWarning(event), "2026-04-08T14:10:00Z");
        serde_json::from_str::<serde_json::Value>(&line).unwrap()["id"].clone()
    };
    let first = id(warning());
    assert_eq!(id(HeartbeatWarning { remaining_seconds: 299, ..warning() }), first);
    assert_ne!(id(HeartbeatWarning { severity: Severity::Expired, ..warning() }), first);
    assert_ne!(id(HeartbeatWarning { owner_session_id: "s2".into(), ..warning() }), first);
    let lease_expires_at = "2026-04-08T14:16:00Z".into();
    assert_ne!(id(HeartbeatWarning { lease_expires_at, ..warning() }), first);
}

#[test]
fn identities_are_exact_and_the_line_fits() {
    let odd = HeartbeatWarning { work_item_id: "a\tb\u{85}\u{2028}\\c".into(), ..warning() };
    let text = line(&Event::HeartbeatWarning(odd), "2026-04-08T14:10:00Z");
    assert!(text.contains(r#""work_item_id":"a\tb\u0085\u2028\\c""#), "{text}");

    let name: Rc<str> = "x".repeat(5000).into();
    let long = HeartbeatWarning { work_item_id: name.clone(), name, ..warning() };
    let text = line(&Event::HeartbeatWarning(long), "2026-04-08T14:10:00Z");
    assert!(text.len() <= 4096 && text.contains(r#""truncated":true"#), "{}", text.len());

    let cut = HeartbeatInvalid { cut: true, ..invalid() };
    let text = line(&Event::HeartbeatInvalid(cut), "2026-04-08T14:10:00Z");
    assert!(text.ends_with(",\"truncated\":true}\n"), "{text}");
}
