//! What a document's answer holds, alias by alias.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::class::{self, Class, Trouble};

/// What a document's answer holds, by alias, and what it says could not be had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    body: Vec<u8>,
    /// In their order.
    pub errors: Vec<Refusal>,
}

/// One error of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The alias that it is about; `None`: the whole document.
    pub alias: Option<String>,
    /// What kind of trouble.
    pub class: Class,
    /// In GitHub's words.
    pub detail: String,
}

impl Answer {
    pub(super) fn new(body: Vec<u8>, errors: Vec<Refusal>) -> Self {
        Self { body, errors }
    }

    /// What each alias has; `None`: null.
    #[must_use]
    pub fn data(&self) -> BTreeMap<&str, Option<&RawValue>> {
        #[derive(Deserialize)]
        struct Body<'a> {
            #[serde(borrow, default)]
            data: Option<BTreeMap<&'a str, Option<&'a RawValue>>>,
        }
        let body = serde_json::from_slice::<Body<'_>>(&self.body);
        body.ok().and_then(|body| body.data).unwrap_or_default()
    }

    /// Why `alias` has nothing to show: its own error, that of the whole document, or none given.
    #[must_use]
    pub fn trouble(&self, alias: &str) -> Option<Trouble> {
        let own = self.errors.iter().find(|error| error.alias.as_deref() == Some(alias));
        let error = own.or_else(|| self.errors.iter().find(|error| error.alias.is_none()))?;
        Some(Trouble { class: error.class, detail: error.detail.clone(), retry_at: None })
    }
}

/// The errors of a body; `None` when it is no answer at all.
pub(super) fn errors(body: &[u8]) -> Option<Vec<Refusal>> {
    #[derive(Deserialize)]
    struct Body {
        data: Option<serde::de::IgnoredAny>,
        #[serde(default)]
        errors: Vec<Told>,
    }
    #[derive(Deserialize)]
    struct Told {
        #[serde(default, rename = "type")]
        kind: Option<String>,
        #[serde(default)]
        path: Option<Vec<serde_json::Value>>,
        #[serde(default)]
        message: Option<String>,
    }
    let body: Body = serde_json::from_slice(body).ok()?;
    if body.data.is_none() && body.errors.is_empty() {
        return None;
    }
    let refusal = |told: Told| {
        let kind = told.kind.unwrap_or_default();
        let detail = told.message.unwrap_or_else(|| kind.clone());
        let first = told.path.unwrap_or_default().into_iter().next();
        let alias = first.and_then(|first| first.as_str().map(str::to_owned));
        Refusal { alias, class: class::of_error(&kind, &detail), detail }
    };
    Some(body.errors.into_iter().map(refusal).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(body: &str) -> Answer {
        Answer::new(body.as_bytes().to_vec(), errors(body.as_bytes()).unwrap())
    }

    #[test]
    fn an_error_that_names_an_alias_is_about_that_alone() {
        let answer = answer(
            r#"{"data":{"s0":{"a":1},"s1":null},"errors":[
               {"type":"NOT_FOUND","path":["s1","x"],"message":"Could not resolve"}]}"#,
        );
        let data = answer.data();
        assert!(data["s0"].is_some() && data["s1"].is_none());
        assert_eq!(answer.trouble("s0"), None);
        assert_eq!(answer.trouble("s1").unwrap().class, Class::NotFound);
    }

    #[test]
    fn an_error_that_names_none_is_about_all() {
        for body in [
            r#"{"errors":[{"message":"Something went wrong"}]}"#,
            r#"{"data":null,"errors":[{"message":"Something went wrong","path":[]}]}"#,
        ] {
            assert_eq!(answer(body).trouble("s7").unwrap().class, Class::Transient, "{body}");
        }
    }

    #[test]
    fn what_is_no_answer_is_told_apart() {
        for body in ["", "{", "[]", "{}", r#"{"data":null}"#, r#"{"message":"x"}"#, "<html>"] {
            assert_eq!(errors(body.as_bytes()), None, "{body}");
        }
    }
}
