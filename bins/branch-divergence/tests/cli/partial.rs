//! Fetches that end half way, in a repository that somebody works in.

use std::fs::{self, File};

use tests::eventually;

use crate::world::{World, processes_with};

/// A remote that sends a part of a large pack, once it is asked for one, and then nothing more.
fn stalled() -> World {
    let world = World::new();
    let mut noise = 0x9e37_79b9_7f4a_7c15_u64;
    let bytes = std::iter::repeat_with(|| {
        noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        u8::try_from(noise >> 56).unwrap()
    });
    world.scene.write("up/large", bytes.take(4 << 20).collect::<Vec<u8>>());
    world.git("up", &["add", "large"]);
    world.git("up", &["commit", "-q", "-m", "large"]);
    world.advance(6);
    // The first call of each pair asks what there is, the second one for it.
    let text = format!(
        "if [ ! -e '{0}' ]; then touch '{0}'; exec git-upload-pack \"$@\"; fi\n\
         rm '{0}'\ngit-upload-pack \"$@\" | {{ dd bs=64k count=30 2>/dev/null; sleep 600; }}",
        world.path("called").display()
    );
    let script = world.script("upload-pack", &text);
    for (name, value) in
        [("remote.origin.uploadpack", script.to_str().unwrap()), ("fetch.unpackLimit", "1")]
    {
        world.git("checkout", &["config", name, value]);
    }
    world
}

/// The packs that aren't whole.
fn parts(world: &World) -> Vec<String> {
    let names = fs::read_dir(world.path("checkout/.git/objects/pack")).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut parts: Vec<String> = names.filter(|name| name.starts_with("tmp_")).collect();
    parts.sort();
    parts
}

#[test]
fn bd_10_a_fetch_that_is_ended_half_way_leaves_no_part_of_a_pack() {
    let world = stalled();
    let place = |name: &str| world.path("checkout/.git/objects/pack").join(name);
    // Left by others: before ours began, and by a fetch that still runs beside it.
    File::create(place("tmp_pack_before")).unwrap();
    let program = world.start(&["--fetch-timeout", "1h"]);
    eventually("a part has come", || parts(&world).len() == 2);
    let theirs = File::create(place("tmp_pack_beside")).unwrap();
    let ended = program.stop();
    assert_eq!((ended.code, &*ended.stderr), (Some(0), ""));
    assert_eq!(parts(&world), ["tmp_pack_before", "tmp_pack_beside"]);
    drop(theirs);
    eventually("no git is left", || {
        processes_with(world.path("upload-pack").to_str().unwrap()).is_empty()
    });
}

#[test]
fn bd_10_tries_that_take_too_long_do_not_fill_the_disk() {
    let world = stalled();
    let mut program = world.start(&["--fetch-timeout", "3", "--interval", "1"]);
    for _ in 0..2 {
        eventually("it tries", || !parts(&world).is_empty());
        eventually("it gives up", || parts(&world).is_empty());
    }
    assert_eq!(program.event("monitor_degraded")["reason"], "remote_timeout");
    assert_eq!(program.stop().code, Some(0));
    assert_eq!(parts(&world), [""; 0]);
}
