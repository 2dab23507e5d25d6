//! CPU time as evidence beside a stall, from `/proc`.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
};

/// The parent, CPU ticks and state of a process.
fn stat(pid: u32) -> Option<(u32, u64, char)> {
    let text = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let after = text.iter().rposition(|byte| *byte == b')')? + 1;
    let rest = str::from_utf8(text.get(after..)?).ok()?;
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?.chars().next()?;
    let parent = fields.next()?.parse().ok()?;
    // Fields 14 and 15; the parent was field 4.
    let (user, system): (u64, u64) =
        (fields.nth(14 - 5)?.parse().ok()?, fields.next()?.parse().ok()?);
    Some((parent, user + system, state))
}

/// CPU ticks and state of one process.
#[must_use]
pub fn of(pid: u32) -> Option<(u64, char)> {
    stat(pid).map(|(_, ticks, state)| (ticks, state))
}

/// CPU ticks of a process and all that descend from it.
#[must_use]
pub fn of_tree(root: u32) -> Option<u64> {
    let entries = fs::read_dir("/proc").ok()?.flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let all: BTreeMap<u32, (u32, u64, char)> =
        pids.filter_map(|pid| Some((pid, stat(pid)?))).collect();
    let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (pid, (parent, ..)) in &all {
        children.entry(*parent).or_default().push(*pid);
    }
    let (mut open, mut seen, mut sum) = (vec![root], BTreeSet::new(), 0);
    while let Some(pid) = open.pop() {
        if seen.insert(pid) {
            sum += all.get(&pid).map_or(0, |process| process.1);
            open.extend(children.get(&pid).into_iter().flatten());
        }
    }
    all.contains_key(&root).then_some(sum)
}
