//! What the targets are called: two spellings of one thing are one subject.

use serde::Deserialize;
use serde_json::Value;

use crate::describe::Row;

/// The most targets of one call.
pub const CHUNK: usize = 25;
/// The most bytes of an identity.
const LONGEST: usize = 200;

/// One subject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    /// Its identity.
    pub id: String,
    /// As it was given, in the first spelling.
    pub target: String,
    /// Whose credentials it takes; empty for nobody's in particular.
    pub host: String,
}

/// Why targets have no identities.
#[derive(Debug, PartialEq, Eq)]
pub enum Trouble {
    /// Nothing can be watched under these names; a sentence fragment for each.
    Refused(Vec<String>),
    /// The probe breaks these rules.
    Broken(Vec<String>),
}

#[derive(Deserialize)]
struct Line {
    target: String,
    id: Option<String>,
    #[serde(default)]
    host: String,
    error: Option<Value>,
}

/// The subjects of `targets`, where a target is its own identity.
///
/// # Errors
///
/// The targets that the row's pattern doesn't match.
pub fn by_pattern(row: &Row, targets: &[String]) -> Result<Vec<Subject>, Trouble> {
    let Some(pattern) = &row.pattern else { return Ok(Vec::new()) };
    let fits = |target: &&String| pattern.is_match(target) && target.len() <= LONGEST;
    let text = pattern.as_str();
    let allowed = text.strip_prefix(r"\A(?:").and_then(|text| text.strip_suffix(r")\z"));
    let refused = targets.iter().filter(|target| !fits(target)).map(|target| {
        format!("{target}: must match {} and have up to {LONGEST} bytes", allowed.unwrap_or(text))
    });
    let refused: Vec<String> = refused.collect();
    if !refused.is_empty() {
        return Err(Trouble::Refused(refused));
    }
    let subject = |target: &String| Subject {
        id: target.clone(),
        target: target.clone(),
        host: String::new(),
    };
    Ok(distinct(targets.iter().map(subject)))
}

/// The subjects of `targets`, as a call of `identity` printed them.
///
/// # Errors
///
/// [`Trouble`].
pub fn parse(targets: &[String], printed: &[u8]) -> Result<Vec<Subject>, Trouble> {
    let text = String::from_utf8_lossy(printed);
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let (mut subjects, mut refused, mut broken) = (Vec::new(), Vec::new(), Vec::new());
    for target in targets {
        let Some(line) = lines.next() else {
            broken.push(format!("identity prints no line for {target}"));
            continue;
        };
        match subject(target, line) {
            Ok(Ok(subject)) => subjects.push(subject),
            Ok(Err(refusal)) => refused.push(format!("{target}: {refusal}")),
            Err(rule) => broken.push(format!("identity of {target}: {rule}")),
        }
    }
    if lines.next().is_some() {
        broken.push("identity prints more lines than there are targets".to_owned());
    }
    match (refused.is_empty(), broken.is_empty()) {
        (true, true) => Ok(subjects),
        (false, true) => Err(Trouble::Refused(refused)),
        (_, false) => Err(Trouble::Broken(broken)),
    }
}

/// A subject, or the probe's refusal; or the rule that the line breaks.
fn subject(target: &str, line: &str) -> Result<Result<Subject, String>, String> {
    let line: Line = serde_json::from_str(line).map_err(|err| err.to_string())?;
    if line.target != target {
        return Err("target is another one".to_owned());
    }
    match (line.id, line.error) {
        (Some(id), None) if (1..=LONGEST).contains(&id.len()) => {
            Ok(Ok(Subject { id, target: line.target, host: line.host }))
        }
        (Some(_), None) => Err(format!("id is not a text of 1 to {LONGEST} bytes")),
        (None, Some(Value::String(refusal))) => Ok(Err(refusal)),
        (None, Some(_)) => Err("error is not a text".to_owned()),
        _ => Err("there is neither an id nor an error, or both".to_owned()),
    }
}

/// Each subject once, where its first spelling stands.
#[must_use]
pub fn distinct(subjects: impl IntoIterator<Item = Subject>) -> Vec<Subject> {
    let mut known = std::collections::HashSet::new();
    subjects.into_iter().filter(|subject| known.insert(subject.id.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(targets: &[&str], printed: &str) -> Result<Vec<Subject>, Trouble> {
        let targets: Vec<String> = targets.iter().map(|&target| target.to_owned()).collect();
        parse(&targets, printed.as_bytes())
    }

    #[test]
    fn a_line_names_a_target() {
        let printed =
            "{\"target\":\"a\",\"id\":\"h/1\",\"host\":\"h\"}\n{\"target\":\"b\",\"id\":\"2\"}";
        let subjects = of(&["a", "b"], printed).unwrap();
        let named: Vec<[&str; 3]> =
            subjects.iter().map(|s| [&*s.id, &*s.target, &*s.host]).collect();
        assert_eq!(named, [["h/1", "a", "h"], ["2", "b", ""]]);
    }

    #[test]
    fn p09_one_thing_is_one_subject() {
        let printed = "{\"target\":\"a\",\"id\":\"1\"}\n{\"target\":\"A\",\"id\":\"1\"}\n";
        let subjects = distinct(of(&["a", "A"], printed).unwrap());
        assert_eq!((subjects.len(), &*subjects[0].target), (1, "a"));
    }

    #[test]
    fn p10_only_what_is_refused_is_named() {
        let printed =
            "{\"target\":\"a\",\"id\":\"1\"}\n{\"target\":\"::\",\"error\":\"expected N\"}\n";
        let refused = vec!["::: expected N".to_owned()];
        assert_eq!(of(&["a", "::"], printed), Err(Trouble::Refused(refused)));

        let row =
            Row::parse(br#"{"protocol":1,"kind":"basin","target_pattern":"[a-z]+"}"#).unwrap();
        let targets = ["a".to_owned(), "::".to_owned(), "b\n".to_owned()];
        let Err(Trouble::Refused(refused)) = by_pattern(&row, &targets) else { panic!("accepted") };
        assert_eq!(refused.len(), 2);
        assert!(refused[0].starts_with(":::") && refused[0].contains("[a-z]+"), "{refused:?}");
        assert_eq!(by_pattern(&row, &targets[..1]).unwrap().len(), 1);
    }

    #[test]
    fn lines_that_break_a_rule_are_the_probes_fault() {
        let long = format!(r#"{{"target":"a","id":"{}"}}"#, "x".repeat(201));
        for printed in [
            "",
            "nothing",
            r#"{"target":"b","id":"1"}"#,
            r#"{"target":"a"}"#,
            r#"{"target":"a","id":""}"#,
            r#"{"target":"a","id":"1","error":"no"}"#,
            r#"{"target":"a","error":7}"#,
            r#"{"target":"a","id":7}"#,
            &long,
            "{\"target\":\"a\",\"id\":\"1\"}\n{\"target\":\"b\",\"id\":\"1\"}",
        ] {
            assert!(matches!(of(&["a"], printed), Err(Trouble::Broken(_))), "{printed}");
        }
    }
}
