//! classify: what passes is an object with its bytes kept and an urgency, and passing twice is
//! passing once.
#![no_main]

use std::time::Duration;

use classify::{filter::Filter, intake::Arrival, judge::Judge, rules};
use jiff::Timestamp;
use libfuzzer_sys::fuzz_target;
use shared::{clock::Now, line::Speaker};

fuzz_target!(|input: &[u8]| {
    if input.contains(&b'\n') {
        return;
    }
    let now = Now { wall: Timestamp::UNIX_EPOCH, boot: Duration::ZERO, monotonic: Duration::ZERO };
    let speaker = Speaker { program: "classify", source: "classify".into(), subject: String::new() };
    let mut filter = Filter::new(Judge::new(&rules::builtin().unwrap()), speaker, rules::Urgency::Info);
    let once = filter.take(1, Arrival::Line(input), &now).unwrap().expect("something is said").to_vec();
    let is_object = !input.contains(&0)
        && str::from_utf8(input).is_ok_and(|text| {
            serde_json::from_str::<std::collections::BTreeMap<String, serde::de::IgnoredAny>>(text).is_ok()
        });
    if !is_object {
        assert!(once.starts_with(br#"{"event":"input_malformed""#), "{:?}", String::from_utf8_lossy(&once));
        return;
    }
    let text = once.strip_suffix(b"\n").unwrap_or(&once);
    let twice = filter.take(2, Arrival::Line(text), &now).unwrap().map(<[u8]>::to_vec);
    assert_eq!(twice, Some(once.clone()));
});
