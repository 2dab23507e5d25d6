//! The store reader: nothing makes it panic, and it takes every document that is a store by
//! serde_json's reading, wherever the document is cut into pieces.
#![no_main]

use heartbeat_watch::store::{Refusal, Store};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fuzz_target!(|input: &[u8]| {
    let text = String::from_utf8_lossy(input);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let is_store = serde_json::from_str::<Value>(text).is_ok_and(|root| {
        root.as_object().is_some_and(|root| {
            root.get("items").is_none_or(|items| items.is_array() || items.is_null())
        })
    });
    match Store::read(input) {
        Ok(_) => {}
        Err(Refusal::Io(err)) => panic!("reading memory failed: {err}"),
        Err(Refusal::Content(cause)) => {
            assert!(!cause.is_empty());
            assert!(!is_store, "{cause}: {text:?}");
        }
    }
});
