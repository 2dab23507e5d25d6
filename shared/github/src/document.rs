//! The documents: several subjects in one, each under an alias of its own. What names a subject
//! travels in variables, never in the text.

use std::fmt::Write as _;

use shared::gh::Value;

use crate::target::{Subject, Target};

/// The most subjects of a document.
pub const MOST: usize = 25;

/// What is to be read of each subject.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wants {
    /// Reviews, threads, and whether it could be merged.
    pub review: bool,
    /// Which rows the base branch wants.
    pub required: bool,
    /// Runs that wait for somebody's approval, and so have no rows.
    pub approval: bool,
}

/// One subject of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ask<'a> {
    /// Which.
    pub target: &'a Target,
    /// What of it.
    pub part: Part<'a>,
}

/// What of a subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part<'a> {
    /// Its facts and its first page of rows; with the texts of the comments or without.
    Facts {
        /// With.
        bodies: bool,
    },
    /// The page of rows that begins there.
    Page(&'a str),
    /// The texts of the comments alone.
    Bodies,
}

/// The alias of the subject at `index`.
#[must_use]
pub fn alias(index: usize) -> String {
    format!("s{index}")
}

const ROW: &str = "fragment Row on StatusCheckRollupContext{__typename \
    ...on CheckRun{databaseId name status conclusion startedAt completedAt detailsUrl \
    checkSuite{conclusion workflowRun{databaseId event workflow{databaseId name}}}} \
    ...on StatusContext{context state targetUrl}}";

const FACTS: &str = "state isDraft headRefOid baseRefName url updatedAt";
const MERGE: &str = " mergeable mergeStateStatus reviewDecision";
const THREADS: &str =
    " reviewThreads(first:100){pageInfo{hasNextPage} nodes{id isResolved isOutdated}}";
/// Fifty threads of fifty comments are what one point pays for beside the facts of 25 subjects.
const BODIES: &str = " bodies:reviewThreads(first:50){pageInfo{hasNextPage} nodes{id \
    comments(first:50){pageInfo{hasNextPage} nodes{id body viewerDidAuthor}}}} \
    comments(first:100){pageInfo{hasNextPage} nodes{id body viewerDidAuthor}}";

/// What the facts of a subject take of the hundred requests that a point pays for, and what its
/// comments take; a cost is rounded, so half a hundred more cost nothing.
const REQUESTS: (usize, usize, usize) = (3, 52, 149);

/// Whether it is the turn of the subject at `index`, of `all` of a document, to have its comments
/// read. As many have it at each turn as cost nothing more.
#[must_use]
pub fn has_turn(index: usize, all: usize, turn: usize) -> bool {
    let (facts, bodies, most) = REQUESTS;
    let at_once = (most.saturating_sub(facts * all) / bodies).clamp(1, all.max(1));
    let first = turn.wrapping_mul(at_once) % all.max(1);
    (0..at_once).any(|next| (first + next) % all.max(1) == index)
}

/// The document that asks for all of `asks`, and its variables.
#[must_use]
pub fn document(asks: &[Ask<'_>], wants: Wants) -> (String, Vec<(String, Value)>) {
    let (mut declared, mut body, mut variables) = (String::new(), String::new(), Vec::new());
    let mut uses_rows = false;
    for (index, ask) in asks.iter().enumerate() {
        let mut declare = |name: &str, kind: &str, value: Value| {
            let _ = write!(declared, "${name}{index}:{kind}!,");
            variables.push((format!("{name}{index}"), value));
        };
        let Target { repo, subject } = ask.target;
        declare("o", "String", Value::Text(repo.owner.clone()));
        declare("r", "String", Value::Text(repo.name.clone()));
        match subject {
            Subject::Pull(number) | Subject::Run(number) => {
                declare("n", "Int", Value::Number(*number));
            }
            Subject::Commit(hash) => declare("c", "GitObjectID", Value::Text(hash.clone())),
        }
        if let Part::Page(after) = ask.part {
            declare("a", "String", Value::Text(after.to_owned()));
        }
        uses_rows |= ask.part != Part::Bodies;
        let selection = selection(index, ask, wants);
        let alias = alias(index);
        let _ = write!(body, "{alias}:repository(owner:$o{index},name:$r{index}){{{selection}}} ");
    }
    let rows = if uses_rows { ROW } else { "" };
    (format!("query({}){{{body}}} {rows}", declared.trim_end_matches(',')), variables)
}

fn selection(index: usize, ask: &Ask<'_>, wants: Wants) -> String {
    let commit = commit(index, ask, wants);
    if matches!(ask.target.subject, Subject::Commit(_)) {
        return format!("object(oid:$c{index}){{...on Commit{{{commit}}}}}");
    }
    let commits = format!(" commits(last:1){{nodes{{commit{{{commit}}}}}}}");
    let fields = match ask.part {
        Part::Page(_) => format!("headRefOid{commits}"),
        Part::Bodies => BODIES.to_owned(),
        Part::Facts { bodies } => {
            let (merge, threads) = if wants.review { (MERGE, THREADS) } else { ("", "") };
            format!("{FACTS}{merge}{commits}{threads}{}", if bodies { BODIES } else { "" })
        }
    };
    format!("pullRequest(number:$n{index}){{{fields}}}")
}

fn commit(index: usize, ask: &Ask<'_>, wants: Wants) -> String {
    let is_page = matches!(ask.part, Part::Page(_));
    let after = if is_page { format!(",after:$a{index}") } else { String::new() };
    let required = if wants.required {
        let field = format!("isRequired(pullRequestNumber:$n{index})");
        format!(" ...on CheckRun{{{field}}} ...on StatusContext{{{field}}}")
    } else {
        String::new()
    };
    let suites = if wants.approval && !is_page {
        " checkSuites(first:20){nodes{conclusion workflowRun{databaseId}}}"
    } else {
        ""
    };
    format!(
        "oid statusCheckRollup{{contexts(first:100{after}){{\
         pageInfo{{hasNextPage endCursor}} nodes{{...Row{required}}}}}}}{suites}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::Repo;

    #[test]
    fn what_names_a_subject_is_never_in_the_text() {
        let repo = Repo::of("github.com", "octo-owner", "some.name").unwrap();
        let pull = Target { repo: repo.clone(), subject: Subject::Pull(4711) };
        let commit = Target { repo, subject: Subject::Commit("ab".repeat(20)) };
        let asks = [
            Ask { target: &pull, part: Part::Facts { bodies: true } },
            Ask { target: &pull, part: Part::Page("CURSOR") },
            Ask { target: &commit, part: Part::Facts { bodies: false } },
            Ask { target: &pull, part: Part::Bodies },
        ];
        let wants = Wants { review: true, required: false, approval: true };
        let (text, variables) = document(&asks, wants);
        for secret in ["octo-owner", "some.name", "4711", "CURSOR", "abab"] {
            assert!(!text.contains(secret), "{text}");
        }
        assert_eq!(text.matches('{').count(), text.matches('}').count());
        assert!(text.starts_with("query($o0:String!,$r0:String!,$n0:Int!,$o1:String!,"), "{text}");
        let value = |name: &str| &variables.iter().find(|(known, _)| known == name).unwrap().1;
        assert_eq!(value("n1"), &Value::Number(4711));
        assert_eq!(value("a1"), &Value::Text("CURSOR".to_owned()));
    }

    #[test]
    fn the_comments_of_all_have_their_turn() {
        for all in 1..=MOST {
            let of_turn = |turn| (0..all).filter(move |at| has_turn(*at, all, turn));
            let mut read: Vec<usize> = (0..all).flat_map(of_turn).collect();
            read.sort_unstable();
            read.dedup();
            assert_eq!(read.len(), all);
            assert!(of_turn(3).count() * 52 + all * 3 < 150, "{all}");
        }
    }

    #[test]
    fn a_full_document_fits_an_argument() {
        let repo = Repo::of("github.com", &"o".repeat(39), &"n".repeat(100)).unwrap();
        let pull = Target { repo, subject: Subject::Pull(2_000_000_000) };
        let ask = Ask { target: &pull, part: Part::Facts { bodies: true } };
        let wants = Wants { review: true, required: true, approval: true };
        let (text, _) = document(&[ask; MOST], wants);
        // MAX_ARG_STRLEN is 131,072 bytes.
        assert!(text.len() < 60_000, "{}", text.len());
    }
}
