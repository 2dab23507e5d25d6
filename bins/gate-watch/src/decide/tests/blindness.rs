use std::path::Path;

use shared::{session::Look, watch::Change};

use super::world::{ANSWER, ASKED, DIR, World};
use crate::{decide::Rules, probe::open_folder};

#[test]
fn g07_a_folder_that_is_gone_is_no_answer() {
    let mut world = World::with_old();
    world.put("NEW", ASKED);
    assert_eq!(world.look(), "opened NEW");
    world.unlink("NEW");
    assert_eq!(world.look(), "", "the first file of rm -rf");
    world.folder = None;
    assert_eq!(world.look(), "");
    assert_eq!(world.due_ms(), Some(2000));
    world.after(2000);
    assert_eq!(world.look(), "");
    assert_eq!(world.health(), "degraded gates_missing");
    world.after(3000);
    world.folder = Some(2);
    assert_eq!(world.look(), "");
    assert_eq!(world.last.as_ref().unwrap().look, Look::Settling);
    world.put("NEW", ASKED);
    world.unlink("OLD");
    world.after(1000);
    assert_eq!(world.look(), "");
    assert_eq!(world.health(), "");
    world.after(1000);
    assert_eq!(world.look(), "");
    assert_eq!(world.health(), "recovered gates_missing");
    world.after(250);
    assert_eq!(world.look(), "resolved OLD Unrecorded");
    assert_eq!(world.health(), "");
}

#[test]
fn g07_a_folder_that_is_soon_back_says_nothing() {
    for missing in [true, false] {
        let mut world = World::with_old();
        world.folder = None;
        world.changes.push(Change::Removed(open_folder(Path::new(DIR))));
        if missing {
            world.look();
        }
        world.after(1000);
        world.folder = Some(1);
        world.put("NEW", ASKED);
        assert_eq!(world.look(), "", "{missing}");
        world.after(2000);
        assert_eq!(world.look(), "opened NEW");
        assert_eq!(world.health(), "");
    }
}

#[test]
fn g07_a_state_folder_that_is_gone_is_its_own_reason() {
    let mut world = World::with_old();
    world.has_dir = false;
    world.look();
    world.after(2000);
    world.look();
    assert_eq!(world.health(), "degraded state_dir_missing");
    world.has_dir = true;
    world.folder = None;
    world.look();
    assert_eq!(world.health(), "recovered state_dir_missing, degraded gates_missing");
    world.folder = Some(3);
    world.look();
    world.after(2000);
    assert_eq!(world.look(), "");
    assert_eq!(world.health(), "recovered gates_missing");
}

#[test]
fn g08_gates_in_a_folder_that_appears_later_are_told() {
    for has_dir in [true, false] {
        let mut world = World::new(Rules::default());
        (world.folder, world.has_dir) = (None, has_dir);
        assert_eq!(world.look(), "");
        (world.folder, world.has_dir) = (Some(1), true);
        world.put("NEW", ASKED);
        assert_eq!(world.look(), "opened NEW");
        assert_eq!(world.health(), "");
    }
}

#[test]
fn g08_a_state_folder_that_never_comes_is_told_after_a_minute() {
    let mut world = World::new(Rules::default());
    (world.folder, world.has_dir) = (None, false);
    world.look();
    assert_eq!(world.due_ms(), Some(60_000));
    world.after(59_999);
    world.look();
    assert_eq!(world.health(), "");
    world.after(1);
    world.look();
    assert_eq!(world.health(), "degraded state_dir_missing");
    world.has_dir = true;
    world.look();
    assert_eq!(world.health(), "recovered state_dir_missing", "no gate is open");
}

#[test]
fn g14_what_cannot_be_listed_is_blindness() {
    let mut world = World::with_old();
    world.refused = true;
    world.unlink("OLD");
    assert_eq!(world.look(), "");
    assert_eq!(world.last.as_ref().unwrap().look, Look::Blind);
    assert_eq!(world.health(), "degraded gates_unreadable");
    world.refused = false;
    world.records_refused = true;
    assert_eq!(world.look(), "");
    assert_eq!(world.health(), "recovered gates_unreadable, degraded resolved_unreadable");
    world.after(250);
    assert_eq!(world.look(), "resolved OLD Unknown");
    world.records_refused = false;
    world.record("OLD", ANSWER);
    assert_eq!(world.look(), "");
    assert_eq!(world.health(), "recovered resolved_unreadable");
}
