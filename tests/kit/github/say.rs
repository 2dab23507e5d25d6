//! What GitHub says: answers to documents, and the things that they are about.

use serde_json::{Value, json};

/// The variables of one subject of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variables {
    /// `OWNER/NAME`.
    pub slug: String,
    /// The number; 0 for a commit.
    pub number: u64,
    /// The commit's hash; empty for a pull request.
    pub commit: String,
    /// The page that is asked for; empty for the first.
    pub after: String,
}

/// What a document asks for, by its index.
#[must_use]
pub fn subjects(body: &Value) -> Vec<Variables> {
    let variables = &body["variables"];
    let text = |name: String| variables[name].as_str().unwrap_or_default().to_owned();
    (0..1000)
        .take_while(|at| variables.get(format!("o{at}")).is_some())
        .map(|at| Variables {
            slug: format!("{}/{}", text(format!("o{at}")), text(format!("r{at}"))),
            number: variables[format!("n{at}")].as_u64().unwrap_or_default(),
            commit: text(format!("c{at}")),
            after: text(format!("a{at}")),
        })
        .collect()
}

/// The answer to a document; what `subject` makes of each is a pull request, or a commit.
pub fn answer(body: &Value, mut subject: impl FnMut(&Variables) -> Option<Value>) -> Value {
    let (mut data, mut errors) = (serde_json::Map::new(), Vec::new());
    for (at, variables) in subjects(body).iter().enumerate() {
        let field = if variables.commit.is_empty() { "pullRequest" } else { "object" };
        let mut found = subject(variables);
        if !asks_for_comments(body, at)
            && let Some(Value::Object(found)) = &mut found
        {
            found.remove("bodies");
            found.remove("comments");
        }
        if found.is_none() && variables.commit.is_empty() {
            let message = format!(
                "Could not resolve to a PullRequest with the number of {}.",
                variables.number
            );
            errors.push(
                json!({"type": "NOT_FOUND", "path": [format!("s{at}"), field], "message": message}),
            );
        }
        data.insert(format!("s{at}"), json!({field: found}));
    }
    if errors.is_empty() { json!({"data": data}) } else { json!({"data": data, "errors": errors}) }
}

/// Whether the subject at `index` is asked for with its comments.
fn asks_for_comments(body: &Value, index: usize) -> bool {
    let query = body["query"].as_str().unwrap_or_default();
    let rest = query.split(&format!(" s{index}:")).nth(1).or_else(|| query.split("s0:").nth(1));
    let own = rest.and_then(|rest| rest.split(&format!(" s{}:", index + 1)).next());
    own.is_some_and(|own| own.contains("bodies:"))
}

/// The points that a document costs by GitHub's published formula: the requests that it takes to
/// fulfil each connection, over 100, rounded, and at least one.
#[must_use]
pub fn points(document: &str) -> u64 {
    let (mut stack, mut requests, mut page) = (vec![1_u64], 0, None);
    let mut rest = document;
    while let Some(at) = rest.find(['(', '{', '}']) {
        let (mark, after) = rest[at..].split_at(1);
        rest = after;
        let multiplier = stack.last().copied().unwrap_or(1);
        match mark {
            "(" => {
                let (arguments, after) = rest.split_once(')').unwrap();
                rest = after;
                page = arguments.split(',').find_map(|argument| {
                    let (name, value) = argument.split_once(':')?;
                    let is_size = matches!(name.trim(), "first" | "last");
                    value.trim().parse::<u64>().ok().filter(|_| is_size)
                });
            }
            "{" => {
                requests += page.map_or(0, |_| multiplier);
                stack.push(multiplier * page.take().unwrap_or(1));
            }
            _ => {
                stack.pop();
            }
        }
    }
    ((requests + 50) / 100).max(1)
}

/// A pull request that nobody has anything against, of `number`, with `rows`.
#[must_use]
pub fn pull(number: u64, head: &str, rows: &[Value]) -> Value {
    let last = json!({"hasNextPage": false, "endCursor": null});
    json!({
        "state": "OPEN", "isDraft": false, "headRefOid": head, "baseRefName": "main",
        "url": format!("https://github.com/o/n/pull/{number}"),
        "updatedAt": "2026-01-01T00:00:00Z",
        "mergeable": "MERGEABLE", "mergeStateStatus": "CLEAN", "reviewDecision": "",
        "commits": {"nodes": [{"commit": commit(head, rows)}]},
        "reviewThreads": {"pageInfo": last, "nodes": []},
        "bodies": {"pageInfo": last, "nodes": []},
        "comments": {"pageInfo": last, "nodes": []},
    })
}

/// A commit with `rows`.
#[must_use]
pub fn commit(head: &str, rows: &[Value]) -> Value {
    let rollup =
        json!({"contexts": {"pageInfo": {"hasNextPage": false, "endCursor": null}, "nodes": rows}});
    let rollup = if rows.is_empty() { Value::Null } else { rollup };
    json!({"oid": head, "statusCheckRollup": rollup, "checkSuites": {"nodes": []}})
}

/// A check run of run 1 of the workflow `CI`.
#[must_use]
pub fn check(name: &str, status: &str, conclusion: &str) -> Value {
    json!({
        "__typename": "CheckRun", "databaseId": name.len(), "name": name, "status": status,
        "conclusion": conclusion, "startedAt": null, "completedAt": null,
        "detailsUrl": format!("https://github.com/o/n/actions/runs/1/job/{}", name.len()),
        "checkSuite": {"conclusion": null, "workflowRun": {"databaseId": 1, "event": "push",
            "workflow": {"databaseId": 3, "name": "CI"}}},
    })
}

/// A status context.
#[must_use]
pub fn context(name: &str, state: &str) -> Value {
    json!({"__typename": "StatusContext", "context": name, "state": state, "targetUrl": "https://ci.example/1"})
}

/// A workflow run.
#[must_use]
pub fn run(id: u64, status: &str, conclusion: Option<&str>) -> Value {
    json!({
        "id": id, "status": status, "conclusion": conclusion, "head_sha": "a".repeat(40), "run_attempt": 1,
        "html_url": format!("https://github.com/o/n/actions/runs/{id}"),
    })
}
