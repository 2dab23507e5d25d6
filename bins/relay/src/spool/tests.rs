use super::*;
use crate::decide::outbox::Parcel;

const MAX: u64 = 1 << 20;

fn items(numbers: std::ops::Range<u64>) -> Vec<Item> {
    let line = |number: u64| format!("{{\"n\":{number},\"x\":\"{}\"}}", "x".repeat(1000));
    let item = |number: u64| {
        let line = line(number).into_bytes();
        let parcel = Parcel { subject: "s".into(), id: "i".into(), line };
        Item { parcel, number, place: None }
    };
    numbers.map(item).collect()
}

fn read(spool: &mut Spool) -> Vec<Item> {
    std::iter::from_fn(|| spool.read_line().unwrap()).collect()
}

fn numbers(items: &[Item]) -> Vec<u64> {
    items.iter().map(|item| item.number).collect()
}

fn open(scene: &tempfile::TempDir) -> Spool {
    Spool::open(&scene.path().join("spool"), MAX).unwrap()
}

fn segments(spool: &Spool) -> usize {
    let entries = fs::read_dir(spool.dir()).unwrap().map(Result::unwrap);
    entries.filter(|entry| entry.path().extension().is_some()).count()
}

#[test]
fn lines_are_read_in_order_across_segments_and_runs_until_they_are_done() {
    let scene = tempfile::tempdir().unwrap();
    let mut spool = open(&scene);
    for from in (0..600).step_by(50) {
        spool.append(items(from..from + 50).iter_mut()).unwrap();
    }
    assert!(segments(&spool) > 1 && spool.has_unread());
    let first = read(&mut spool);
    assert_eq!(numbers(&first), (0..600).collect::<Vec<_>>());
    assert!(!spool.has_unread());
    spool.release(first[399].place.unwrap());
    spool.append(items(600..601).iter_mut()).unwrap();
    assert_eq!(numbers(&read(&mut spool)), [600]);
    spool.finish();
    drop(spool);

    let mut spool = open(&scene);
    let rest = read(&mut spool);
    assert_eq!(numbers(&rest), (400..601).collect::<Vec<_>>());
    spool.release(rest.last().unwrap().place.unwrap());
    spool.finish();
    assert_eq!((segments(&spool), spool.has_unread()), (0, false));
    spool.append(items(1..2).iter_mut()).unwrap();
    assert_eq!(numbers(&read(&mut spool)), [1]);
}

#[test]
fn what_memory_has_too_is_passed() {
    let scene = tempfile::tempdir().unwrap();
    let mut spool = open(&scene);
    let mut both = items(0..3);
    spool.append(both.iter_mut()).unwrap();
    spool.pass();
    spool.append(items(3..5).iter_mut()).unwrap();
    assert_eq!(numbers(&read(&mut spool)), [3, 4]);
    assert!(both.iter().all(|item| item.place.is_some()));
}

#[test]
fn a_torn_end_is_cut_and_a_damaged_record_passed() {
    let scene = tempfile::tempdir().unwrap();
    let mut spool = open(&scene);
    spool.append(items(0..3).iter_mut()).unwrap();
    drop(spool);
    let path = scene.path().join("spool").join(name(1));
    let mut bytes = fs::read(&path).unwrap();
    let second = FIRST.len() + (bytes.len() - FIRST.len()) / 3;
    bytes[second + 30] ^= 1;
    bytes.extend(b"0123");
    cursor::replace(&path, &bytes).unwrap();
    let mut spool = open(&scene);
    assert_eq!(numbers(&read(&mut spool)), [0, 2]);
    assert_eq!((spool.damaged(), spool.damaged()), (1, 0));
}

#[test]
fn it_is_full_when_its_limit_is_reached() {
    let scene = tempfile::tempdir().unwrap();
    let mut spool = open(&scene);
    while spool.has_room(64 << 10) {
        spool.append(items(0..10).iter_mut()).unwrap();
    }
    let all = read(&mut spool);
    spool.release(all[all.len() / 2].place.unwrap());
    assert!(spool.has_room(64 << 10));
}

#[test]
fn another_version_and_another_holder_are_refused() {
    let scene = tempfile::tempdir().unwrap();
    let spool = open(&scene);
    let err = Spool::open(spool.dir(), MAX).unwrap_err().to_string();
    assert!(err.contains(&format!("held by pid {}", std::process::id())), "{err}");
    let dir = spool.dir().to_owned();
    drop(spool);
    cursor::replace(&dir.join(name(7)), b"relay-spool 2\nx\n").unwrap();
    let err = Spool::open(&dir, MAX).unwrap_err();
    assert_eq!((err.reason(), err.word()), (Reason::Runtime, "spool_refused"));
    assert_eq!(fs::read(dir.join(name(7))).unwrap(), b"relay-spool 2\nx\n");
}
