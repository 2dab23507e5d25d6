use std::path::Path;

use shared::line::{Event as _, Speaker};

use super::*;
use crate::content::Content;

fn line(event: &Event, timestamp: &str) -> String {
    let subject = "/srv/project/.agent-atelier".to_owned();
    let speaker = Speaker { program: "gate-watch", source: "gate-watch".to_owned(), subject };
    let bytes = speaker.line(event, timestamp.parse().unwrap()).unwrap();
    String::from_utf8(bytes).unwrap()
}

fn name(file: &str) -> Name {
    Name::new(file.as_ref()).unwrap()
}

fn version() -> Version {
    Version { modified_ns: 1_775_657_399_000_000_000, size: 512 }
}

fn said(json: &str) -> Texts {
    Content::parse(json).unwrap().texts()
}

const GATE: &str = r#"{"question":"Drop the v1 endpoint?","blocking":true,
    "recommended_option":"keep it one release","blocked_work_items":["WI-014"]}"#;
const RECORD: &str = r#"{"unblocked_work_items":["WI-014"],
    "resolution":{"chosen_option":"drop it","resolved_at":"2026-04-08T16:02:11Z"}}"#;

#[test]
fn each_event_has_an_example() {
    let gate = name("HDR-007.json");
    let asked = Asked::new(&gate, version(), Ok(said(GATE)));
    let later = said(&GATE.replace("v1", "v2"));
    let resolved = Resolved::new(&gate, version(), Resolution::Recorded, said(RECORD));
    for (event, file, timestamp) in [
        (Event::GateOpened(asked), "gate_opened", "2026-04-08T14:10:00Z"),
        (
            Event::GateChanged(Asked::new(&gate, version(), Ok(later))),
            "gate_changed",
            "2026-04-08T14:30:00Z",
        ),
        (
            Event::GateWaiting(Waiting::new(&gate, version(), 86_400, said(GATE))),
            "gate_waiting",
            "2026-04-09T14:10:00Z",
        ),
        (Event::GateResolved(resolved), "gate_resolved", "2026-04-08T16:02:11Z"),
    ] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("events/{file}.json"));
        let have = line(&event, timestamp);
        assert!(have.len() < 500, "{have}");
        ::tests::golden(&path, have.as_bytes());
    }
}

#[test]
fn keys_stand_in_the_order_of_the_page() {
    use std::os::unix::ffi::OsStrExt as _;

    let odd = Name::new(std::ffi::OsStr::from_bytes(b"\xff.json")).unwrap();
    let asked = Asked {
        initial: true,
        late: true,
        wal_pending: true,
        ..Asked::new(&odd, version(), Err(Flaw::TooLarge))
    };
    let want = concat!(
        r#"{"event":"gate_opened","timestamp":"2026-04-08T14:10:00Z","source":"gate-watch","#,
        r#""gate_id":"�","file":"�.json","initial":true,"late":true,"wal_pending":true,"#,
        r#""content_error":"too_large","file_hex":"ff2e6a736f6e","key":"gate:�","condition":"raised","#,
    );
    let have = line(&Event::GateOpened(asked), "2026-04-08T14:10:00Z");
    assert!(have.starts_with(want), "{have}");

    let resolved = Resolved {
        late: true,
        wal_pending: true,
        ..Resolved::new(&odd, version(), Resolution::Unknown, said(RECORD))
    };
    let want = concat!(
        r#""gate_id":"�","file":"�.json","resolution":"unknown","chosen_option":"drop it","#,
        r#""resolved_at":"2026-04-08T16:02:11Z","unblocked_work_items":["WI-014"],"#,
        r#""unblocked_count":1,"late":true,"wal_pending":true,"file_hex":"ff2e6a736f6e","#,
        r#""key":"gate:�","condition":"cleared","id":""#,
    );
    let have = line(&Event::GateResolved(resolved), "2026-04-08T14:10:00Z");
    assert!(have.contains(want), "{have}");
}

#[test]
fn g18_a_long_question_is_clean_redacted_and_cut() {
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let question = format!("\u{1b}[31mUse {token}?\u{1b}[0m\nor\u{2028}not {}", "x".repeat(5000));
    let json = serde_json::json!({ "question": question, "blocking": true }).to_string();
    let asked = Asked::new(&name("HDR-1.json"), version(), Ok(said(&json)));
    let text = asked.question.clone().unwrap();
    assert_eq!(&text.as_str()[..30], " Use [redacted]?  or not xxxxx");
    assert!(text.as_str().len() <= 160);
    let have = line(&Event::GateOpened(asked), "2026-04-08T14:10:00Z");
    assert!(have.len() < 500 && have.ends_with(",\"truncated\":true}\n"), "{have}");
}

#[test]
fn the_longest_names_fit_into_a_line() {
    let control = "\u{1}".repeat(150);
    let ids: Vec<String> = (0..7).map(|at| format!("{at}{}", "y".repeat(3000))).collect();
    let json = serde_json::json!({ "question": "q".repeat(500), "blocked_work_items": ids });
    let texts = said(&json.to_string());
    let asked = Asked::new(&name(&format!("{control}.json")), version(), Ok(texts));
    let have = line(&Event::GateOpened(asked), "2026-04-08T14:10:00Z");
    assert!(have.len() <= 4096, "{}", have.len());
    let value: serde_json::Value = serde_json::from_str(&have).unwrap();
    assert_eq!(value["gate_id"], control);
    assert_eq!(value["blocked_count"], 7);
    assert_eq!(value["truncated"], true);
}

#[test]
fn the_id_tells_states_of_a_gate_apart() {
    let gate = name("HDR-1.json");
    let opened = |version| Event::GateOpened(Asked::new(&gate, version, Ok(Texts::default())));
    let first = opened(version()).mark();
    assert_eq!(opened(version()).mark(), first);
    assert_ne!(opened(Version { size: 1, ..version() }).mark(), first);
    assert_ne!(opened(Version { modified_ns: 1, ..version() }).mark(), first);
    let waiting = Event::GateWaiting(Waiting::new(&gate, version(), 5, Texts::default()));
    assert_eq!(waiting.mark().key.unwrap().0, "gate-waiting:HDR-1");
}
