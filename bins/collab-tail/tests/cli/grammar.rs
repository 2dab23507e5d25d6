//! The grammar, case by case, in both modes: `tests/data/collab-grammar.json` and
//! `tests/data/rows.json`.

use std::{path::Path, thread};

use serde_json::Value;

use crate::desk::{Desk, Look};

const MODES: [&str; 2] = ["strict", "bounded"];

fn data(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn words(value: &Value) -> Vec<String> {
    let list = value.as_array().map(Vec::as_slice).unwrap_or_default();
    list.iter().map(|word| word.as_str().unwrap().to_owned()).collect()
}

/// Runs `each` on every case, on two threads, and names all that failed.
fn all(cases: &[Value], each: impl Fn(&Value) -> Result<(), String> + Sync) {
    let run = |part: &[Value]| -> Vec<String> {
        part.iter()
            .filter_map(|case| each(case).err().map(|err| format!("{}: {err}", case["id"])))
            .collect()
    };
    let (one, two) = cases.split_at(cases.len() / 2);
    let failed = thread::scope(|scope| {
        let other = scope.spawn(|| run(two));
        let mut failed = run(one);
        failed.extend(other.join().unwrap());
        failed
    });
    assert!(
        !cases.is_empty() && failed.is_empty(),
        "{} of {}:\n{}",
        failed.len(),
        cases.len(),
        failed.join("\n")
    );
}

/// The look with `args` at boards, in `mode`, with own posts as `own` says.
fn look(desk: &Desk, args: &[String], mode: &str, own: &str, boards: &[String]) -> Look {
    let args: Vec<&str> = args.iter().chain(boards).map(String::as_str).collect();
    desk.look(&[&args[..], &["--self", own, "--route", mode]].concat())
}

fn same(what: &str, have: &[String], want: &[String]) -> Result<(), String> {
    (have == want).then_some(()).ok_or_else(|| format!("{what}: {have:?}, not {want:?}"))
}

fn check(found: &Look, want: &Value) -> Result<(), String> {
    same("mail", &found.mail(), &words(&want["mail"]))?;
    same("self", &found.texts("self_post"), &words(&want["self"]))?;
    (found.code == want["exit"].as_i64().map(|code| i32::try_from(code).unwrap()))
        .then_some(())
        .ok_or_else(|| format!("exit {:?}, not {}: {}", found.code, want["exit"], found.stderr))
}

#[test]
fn every_probe_says_what_it_should_in_both_modes() {
    let cases = data("collab-grammar.json");
    all(cases["probes"].as_array().unwrap(), |case| {
        for mode in MODES {
            let desk = Desk::new();
            let args = words(&case["args"]);
            let boards = ["b".to_owned()];
            desk.write("b", "");
            let seeded = look(&desk, &args, mode, "emit", &boards);
            same("seed", &seeded.mail(), &[])?;
            desk.write("b", case["board"].as_str().unwrap());
            let want = &case["expected"][mode];
            let found = look(&desk, &args, mode, "emit", &boards);
            check(&found, want).map_err(|err| format!("{mode}: {err}"))?;
            let warned: Vec<String> =
                found.warnings().into_iter().map(|(reason, _)| reason).collect();
            same("warn", &warned, &words(&want["warn"]))?;
            let later = &case["after_60s_unchanged"][mode];
            if later.is_object() {
                desk.age("b", std::time::Duration::from_secs(61));
                check(&look(&desk, &args, mode, "emit", &boards), later)
                    .map_err(|err| format!("{mode}, later: {err}"))?;
            }
        }
        Ok(())
    });
}

#[test]
fn every_row_says_what_it_should_in_both_modes() {
    let cases = data("rows.json");
    assert_eq!(cases["rows"].as_array().unwrap().len(), 73);
    all(cases["rows"].as_array().unwrap(), |case| {
        for mode in MODES {
            let desk = Desk::new();
            let (args, boards) = (words(&case["args"]), ["b".to_owned()]);
            desk.write("b", "");
            look(&desk, &args, mode, "emit", &boards);
            desk.write("b", case["board"].as_str().unwrap());
            let want = words(&case[mode]);
            let found = look(&desk, &args, mode, "emit", &boards);
            let exit = if want.contains(&"W".to_owned()) { 4 } else { 0 };
            same(mode, &roles(&found), &want)?;
            same(mode, &[format!("{:?}", found.code)], &[format!("{:?}", Some(exit))])?;
        }
        Ok(())
    });
}

#[test]
fn row_68_counts_once_it_has_stood_for_a_minute() {
    for mode in MODES {
        let desk = Desk::new();
        let (args, boards) = (["@lead".to_owned()], ["b".to_owned()]);
        desk.write("b", "");
        look(&desk, &args, mode, "emit", &boards);
        desk.write("b", "### @worker → @lead — no newline");
        desk.age("b", std::time::Duration::from_secs(61));
        assert_eq!(roles(&look(&desk, &args, mode, "emit", &boards)), ["M1"]);
        // The newline that comes later adds nothing; what makes it longer is another line.
        desk.append("b", "\n");
        assert_eq!(roles(&look(&desk, &args, mode, "emit", &boards)), [""; 0]);
    }
}

/// What was said, as the rows write it: role and line, then `W` for an open fence.
fn roles(found: &Look) -> Vec<String> {
    let role = |line: &Value| match line["event"].as_str() {
        Some("collab_mail") => Some(format!("M{}", line["line_number"])),
        Some("self_post") => Some(format!("S{}", line["line_number"])),
        Some("watch_warn") => (line["reason"] == "unclosed-fence").then(|| "W".to_owned()),
        _ => None,
    };
    found.lines.iter().filter_map(role).collect()
}

#[test]
fn without_own_posts_nothing_else_changes() {
    let cases = data("collab-grammar.json");
    let with_own =
        |case: &&Value| MODES.iter().any(|mode| !words(&case["expected"][mode]["self"]).is_empty());
    let own: Vec<Value> =
        cases["probes"].as_array().unwrap().iter().filter(with_own).cloned().collect();
    all(&own, |case| {
        for mode in MODES {
            let desk = Desk::new();
            desk.write("b", "");
            let (args, boards) = (words(&case["args"]), ["b".to_owned()]);
            look(&desk, &args, mode, "drop", &boards);
            desk.write("b", case["board"].as_str().unwrap());
            let found = look(&desk, &args, mode, "drop", &boards);
            same("mail", &found.mail(), &words(&case["expected"][mode]["mail"]))?;
            same("self", &found.texts("self_post"), &[])?;
            // Remembered all the same.
            let again = look(&desk, &args, mode, "emit", &boards);
            same("self, later", &again.texts("self_post"), &[])?;
        }
        Ok(())
    });
}

#[test]
fn every_scenario_goes_as_it_should_in_both_modes() {
    let cases = data("collab-grammar.json");
    all(cases["scenarios"].as_array().unwrap(), |case| {
        for mode in MODES {
            let desk = Desk::new();
            for (at, step) in case["steps"].as_array().unwrap().iter().enumerate() {
                scenario_step(&desk, &words(&case["args"]), mode, step)
                    .map_err(|err| format!("{mode}, step {at}: {err}"))?;
            }
        }
        Ok(())
    });
}

fn scenario_step(desk: &Desk, args: &[String], mode: &str, step: &Value) -> Result<(), String> {
    let text = || step["text"].as_str().unwrap();
    if let Some(board) = step["write"].as_str() {
        desk.write(board, text());
    } else if let Some(board) = step["append"].as_str() {
        desk.append(board, text());
    } else if let Some(board) = step["rename"].as_str() {
        desk.replace(board, text());
    } else if let Some(board) = step["truncate"].as_str() {
        let file = std::fs::File::options().write(true).open(desk.path(board)).unwrap();
        file.set_len(step["bytes"].as_u64().unwrap()).unwrap();
    } else if let Some(board) = step["remove"].as_str() {
        desk.remove(board);
    } else {
        let want = &step["expected"][mode];
        let found = look(desk, args, mode, "emit", &words(&step["look"]));
        check(&found, want)?;
        let list = |event| found.of(event).into_iter().cloned().collect::<Vec<Value>>();
        agree(desk, "warn", &list("watch_warn"), &want["warn"])?;
        agree(desk, "shrunk", &list("file_shrunk"), &want["shrunk"])?;
        agree(desk, "rewritten", &list("file_rewritten"), &want["rewritten"])?;
    }
    Ok(())
}

/// Whether the events are as many as wanted, and have the wanted keys: a board for `file`.
fn agree(desk: &Desk, what: &str, have: &[Value], want: &Value) -> Result<(), String> {
    let want = want.as_array().map(Vec::as_slice).unwrap_or_default();
    let fits = |have: &Value, want: &Value| match want {
        Value::String(board) => have["file"] == desk.path(board),
        want => want.as_object().unwrap().iter().all(|(key, value)| match key.as_str() {
            "file" => have["file"] == desk.path(value.as_str().unwrap()),
            key => have[key] == *value,
        }),
    };
    let agrees =
        have.len() == want.len() && have.iter().zip(want).all(|(have, want)| fits(have, want));
    agrees.then_some(()).ok_or_else(|| format!("{what}: {have:?}, not {want:?}"))
}

/// All the texts of the probes that close their fences, each in a block of its own.
fn long_board() -> String {
    let cases = data("collab-grammar.json");
    let probes = cases["probes"].as_array().unwrap().iter();
    let plain = probes.filter(|case| case["kind"] != "fence");
    let texts: Vec<&str> = plain.map(|case| case["board"].as_str().unwrap()).collect();
    texts.join("\n## n\n") + "\n"
}

#[test]
fn however_a_board_is_cut_into_appends_it_says_the_same() {
    let board = long_board();
    for mode in MODES {
        let told = |cuts: &[usize]| {
            let desk = Desk::new();
            let (args, boards) = (["@lead".to_owned()], ["b".to_owned()]);
            desk.write("b", "");
            look(&desk, &args, mode, "emit", &boards);
            let mut found: Vec<(String, String, bool)> = Vec::new();
            for cut in cuts.windows(2) {
                desk.append("b", &board.as_bytes()[cut[0]..cut[1]]);
                let look = look(&desk, &args, mode, "emit", &boards);
                assert_eq!(look.code, Some(0), "{look:?}");
                found.extend(look.lines.iter().map(|line| {
                    let word = |key: &str| line[key].as_str().unwrap().to_owned();
                    let heading = line["heading"] == true;
                    // A heading may be told before a signature of its block comes.
                    (word("hash"), if heading { String::new() } else { word("event") }, heading)
                }));
            }
            found.sort();
            found
        };
        let mut noise = 2_463_534_242_u32;
        let mut cuts: Vec<usize> = (0..60)
            .map(|_| {
                noise ^= noise << 13;
                noise ^= noise >> 17;
                noise ^= noise << 5;
                noise as usize % board.len()
            })
            .collect();
        cuts.extend([0, board.len()]);
        cuts.sort_unstable();
        let whole = told(&[0, board.len()]);
        assert!(whole.len() > 20);
        assert_eq!(whole, told(&cuts), "{mode}");
    }
}
