use std::collections::HashSet;

use proptest::prelude::*;

use super::*;

fn read(text: impl AsRef<[u8]>) -> Store {
    Store::read(text.as_ref()).unwrap()
}

fn refused(text: impl AsRef<[u8]>) -> String {
    match Store::read(text.as_ref()).unwrap_err() {
        Refusal::Content(cause) => cause,
        Refusal::Io(err) => panic!("{err}"),
    }
}

fn names(store: &Store) -> Vec<&str> {
    store.items.iter().map(|item| &**item.name()).collect()
}

#[test]
fn the_fields_that_count_are_read_and_the_others_skipped() {
    let store = read(
        r#"{"revision":41,"x":{"items":[1]},"items":[{"id":"A","title":"t","status":"implementing",
            "owner_session_id":"s1","lease_expires_at":"tomorrow","y":[{"id":"B"}]}]}"#,
    );
    assert_eq!(store.revision, Some(41));
    let [item] = &*store.items else { panic!("{store:?}") };
    assert_eq!((&**item.name(), &*item.owner, item.is_implementing()), ("A", "s1", true));
    assert_eq!(item.lease, Lease::Malformed("tomorrow".into()));
}

#[test]
fn no_items_are_an_empty_store() {
    for text in ["{}", r#"{"items":null}"#, r#"{"items":[]}"#, "\u{feff} {\"items\":[]}\n "] {
        assert_eq!(read(text), Store::default(), "{text}");
    }
}

#[test]
fn what_is_no_store_is_refused() {
    for text in [
        "",
        "\0\0\0\0",
        "null",
        "[]",
        "7",
        "{",
        r#"{"items":["#,
        r#"{"items":{}}"#,
        r#"{"items":7}"#,
        r#"{"items":"x"}"#,
        r#"{"items":[]}{"items":[]}"#,
        r#"{"items":[]} x"#,
        r#"{"items":[],}"#,
        r#"{"items":[{"id":"A" "status":1}]}"#,
        "{\"items\":[{\"id\":\"A\nB\"}]}",
    ] {
        assert!(!refused(text).is_empty(), "{text}");
    }
    let many = format!(r#"{{"items":[{}1]}}"#, "1,".repeat(ELEMENTS));
    assert!(refused(many).contains("more than 100000 items"));
}

#[test]
fn ids_are_exact_and_every_item_has_a_name_of_its_own() {
    let store = read(
        r##"{"items":[{"id":"a\tb\\c"},{"id":7},{"id":null},{"id":"D"},{},{"id":"D"},{"id":"D"},
            {"id":[]},{"id":""},{"id":"#2"},{"id":"D#2"},{"id":1e999},{"id":"7"},{"id":"\ud800x"}]}"##,
    );
    let ids: Vec<&str> = store.items.iter().map(|item| &*item.id).collect();
    assert_eq!(
        ids,
        [
            "a\tb\\c",
            "7",
            "",
            "D",
            "",
            "D",
            "D",
            "",
            "",
            "#2",
            "D#2",
            "1e999",
            "7",
            "\u{fffd}\u{fffd}\u{fffd}x"
        ]
    );
    assert_eq!(
        names(&store)[..13],
        ["a\tb\\c", "7", "#2#2", "D", "#4", "D#3", "D#4", "#7", "#8", "#2", "D#2", "1e999", "7#2"]
    );
    let duplicates: Vec<usize> =
        store.items.iter().filter(|item| item.duplicate).map(|item| item.index).collect();
    assert_eq!(duplicates, [1, 3, 5, 6, 12]);
}

#[test]
fn elements_that_are_no_objects_are_counted_and_skipped() {
    let store = read(r#"{"items":[1,null,"\ud800",{"id":"A"},[[1],{}],true,1e999,-3]}"#);
    assert_eq!(store.strangers, [0, 1, 2, 4, 5, 6, 7]);
    assert_eq!((store.items[0].index, names(&store)), (3, vec!["A"]));
}

#[test]
fn values_of_the_wrong_type_are_no_reason_to_refuse_the_store() {
    let store = read(
        r#"{"revision":"x","items":[{"id":{"a":1},"status":7,"owner_session_id":12,"lease_expires_at":1e400},
            {"owner_session_id":null,"lease_expires_at":[ ]},{"status":"\u0069mplementing","lease_expires_at":null}]}"#,
    );
    assert_eq!(store.revision, None);
    let [a, b, c] = &*store.items else { panic!("{store:?}") };
    assert_eq!((&a.status, &*a.owner), (&None, "12"));
    assert_eq!(a.lease, Lease::NotString("1e400".into()));
    assert_eq!((&*b.owner, b.lease.text().map(|text| &**text)), ("", Some("[ ]")));
    assert!(c.is_implementing());
    assert_eq!(c.lease, Lease::Absent);
}

#[test]
fn of_a_doubled_key_the_last_counts() {
    let store =
        read(r#"{"items":[1,{"id":"A"}],"revision":1,"items":[{"id":"B","id":"C"}],"revision":2}"#);
    assert_eq!((store.revision, names(&store)), (Some(2), vec!["C"]));
    assert_eq!(store.strangers, [0_usize; 0]);
}

#[test]
fn depth_and_invalid_utf_8_are_skipped_where_nobody_reads() {
    let deep = |key: &str| {
        let (open, close) = ("[".repeat(200_000), "]".repeat(200_000));
        format!(r#"{{"{key}":{open}{close},"items":[{{"id":"A","{key}":{open}{close}}}]}}"#)
    };
    for key in ["x", "id", "revision"] {
        assert_eq!(read(deep(key)).items.len(), 1, "{key}");
    }
    let store = read(b"{\"\xff\":\"\xff\",\"items\":[{\"id\":\"A\xff\",\"\\ud800\":1}]}");
    assert_eq!(names(&store), ["A\u{fffd}"]);
}

proptest! {
    #[test]
    fn no_bytes_are_too_strange(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
        let _ = Store::read(&*bytes);
    }

    #[test]
    fn a_store_cut_short_is_never_read_as_one(cut in 0_usize..120) {
        let whole = r#"{"revision":41,"items":[{"id":"A","status":"implementing","lease_expires_at":"2026-04-08T14:15:00Z"},{"id":"B\u00e9"}],"x":[]}"#;
        prop_assert!(Store::read(&whole.as_bytes()[..cut]).is_err());
    }

    #[test]
    fn names_are_unique(ids in prop::collection::vec("(|#[0-4](#2)?|D(#[23](#2)?)?)", 0..12)) {
        let items: Vec<_> = ids.iter().map(|id| serde_json::json!({"id": id})).collect();
        let store = read(serde_json::json!({"items": items}).to_string());
        let unique: HashSet<&str> = names(&store).into_iter().collect();
        prop_assert_eq!(unique.len(), ids.len());
    }
}
