//! What `/proc` tells of a process beside who it is: its CPU time, its state, that it is ending.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
};

/// The flag of a process that has begun to end: the kernel sets it before it closes its files.
const EXITING: u32 = 4;

#[derive(Debug, Clone, Copy)]
struct Stat {
    state: char,
    parent: u32,
    flags: u32,
    ticks: u64,
}

fn stat(pid: u32) -> Option<Stat> {
    let text = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let after = text.iter().rposition(|byte| *byte == b')')? + 1;
    let rest = str::from_utf8(text.get(after..)?).ok()?;
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?.chars().next()?;
    let parent = fields.next()?.parse().ok()?;
    // Fields 9, 14 and 15; the parent was field 4.
    let flags = fields.nth(9 - 5)?.parse().ok()?;
    let (user, system): (u64, u64) =
        (fields.nth(14 - 10)?.parse().ok()?, fields.next()?.parse().ok()?);
    Some(Stat { state, parent, flags, ticks: user + system })
}

/// Whether a process has begun to end, though it can't be told dead yet.
#[must_use]
pub fn is_ending(pid: u32) -> bool {
    stat(pid).is_none_or(|stat| stat.flags & EXITING != 0)
}

/// CPU ticks and state of one process.
#[must_use]
pub fn of(pid: u32) -> Option<(u64, char)> {
    stat(pid).map(|stat| (stat.ticks, stat.state))
}

/// CPU ticks of a process and all that descend from it.
#[must_use]
pub fn of_tree(root: u32) -> Option<u64> {
    let entries = fs::read_dir("/proc").ok()?.flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let all: BTreeMap<u32, Stat> = pids.filter_map(|pid| Some((pid, stat(pid)?))).collect();
    let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (pid, stat) in &all {
        children.entry(stat.parent).or_default().push(*pid);
    }
    let (mut open, mut seen, mut sum) = (vec![root], BTreeSet::new(), 0);
    while let Some(pid) = open.pop() {
        if seen.insert(pid) {
            sum += all.get(&pid).map_or(0, |stat| stat.ticks);
            open.extend(children.get(&pid).into_iter().flatten());
        }
    }
    all.contains_key(&root).then_some(sum)
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Stdio};

    use ::tests::{command, eventually};

    use super::*;

    /// A shell that waits for its child, which runs `script`; both end with its stdin.
    fn parent(script: &str) -> Child {
        let script = format!("{{ {script}; }} & read -r end; kill $!");
        command("sh").args(["-c", &script]).stdin(Stdio::piped()).spawn().unwrap()
    }

    fn end(mut parent: Child) {
        drop(parent.stdin.take());
        parent.wait().unwrap();
    }

    #[test]
    fn a_busy_child_shows_in_the_tree_and_not_in_its_parent() {
        let busy = parent("while :; do :; done");
        let (own, tree) = (|| of(busy.id()).unwrap().0, || of_tree(busy.id()).unwrap());
        eventually("the tree uses time", || tree() > own() + 20);
        assert!(own() < 20, "{}", own());
        end(busy);
    }

    #[test]
    fn a_state_is_a_letter_and_a_stopped_one_says_so() {
        let idle = parent("exec sleep 1000");
        eventually("it sleeps", || of(idle.id()).is_some_and(|(_, state)| state == 'S'));
        let pid = nix::unistd::Pid::from_raw(i32::try_from(idle.id()).unwrap());
        nix::sys::signal::kill(pid, nix::sys::signal::SIGSTOP).unwrap();
        eventually("it stands", || of(idle.id()).is_some_and(|(_, state)| state == 'T'));
        nix::sys::signal::kill(pid, nix::sys::signal::SIGCONT).unwrap();
        end(idle);
    }

    #[test]
    fn one_that_nobody_has_reaped_is_ending() {
        let mut child = command("cat").stdin(Stdio::piped()).spawn().unwrap();
        assert!(!is_ending(child.id()));
        drop(child.stdin.take());
        eventually("it ends", || is_ending(child.id()));
        child.wait().unwrap();
        assert!(is_ending(child.id()));
    }

    #[test]
    fn who_is_gone_has_no_time() {
        let mut gone = command("true").spawn().unwrap();
        gone.wait().unwrap();
        assert_eq!((of(gone.id()), of_tree(gone.id())), (None, None));
    }
}
