//! What a probe says of itself: its row, which is the whole registration of a kind.

use std::{collections::BTreeMap, time::Duration};

use regex_lite::Regex;
use serde_json::{Map, Value};
use shared::{cli, reading::parse::is_kind, text};

/// The most bytes of a noun.
const NOUN: usize = 40;

/// A probe's row.
#[derive(Debug, Clone)]
pub struct Row {
    /// What kind of thing its subjects are.
    pub kind: String,
    /// What a person calls such a thing.
    pub noun: String,
    /// What can be waited for, the default first; may be empty.
    pub objectives: Vec<String>,
    /// What a target looks like. With it a target is its own identity.
    pub pattern: Option<Regex>,
    /// The facts that come first, in this order.
    pub fields: Vec<String>,
    /// What `--set` may give.
    pub options: BTreeMap<String, OptionType>,
    /// How an end with a key counts: true for a success.
    pub terminal_keys: BTreeMap<String, bool>,
    /// Whose rate limit it spends.
    pub scope: String,
    /// The most subjects of an invocation.
    pub max_subjects: usize,
    /// The shortest cadence.
    pub min_interval: Duration,
    /// How long an invocation may take.
    pub timeout: Duration,
}

/// What an option's value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OptionType {
    /// A whole number.
    Integer,
    /// Any finite number.
    Number,
    /// `true` or `false`.
    Boolean,
    /// Any text.
    String,
}

impl OptionType {
    fn of(word: &str) -> Option<Self> {
        match word {
            "integer" => Some(Self::Integer),
            "number" => Some(Self::Number),
            "boolean" => Some(Self::Boolean),
            "string" => Some(Self::String),
            _ => None,
        }
    }

    /// `text` as a value of this type.
    ///
    /// # Errors
    ///
    /// What is allowed.
    pub fn value(self, text: &str) -> Result<Value, &'static str> {
        match self {
            Self::Integer => text.parse().map(|n: i64| n.into()).map_err(|_| "a whole number"),
            Self::Number => {
                let number = text.parse().ok().and_then(serde_json::Number::from_f64);
                number.map(Value::Number).ok_or("a number")
            }
            Self::Boolean => {
                text.parse().map(|is_so: bool| is_so.into()).map_err(|_| "true or false")
            }
            Self::String => Ok(text.into()),
        }
    }
}

impl Row {
    /// Reads what `describe` printed.
    ///
    /// # Errors
    ///
    /// Every rule that it breaks.
    pub fn parse(printed: &[u8]) -> Result<Self, Vec<String>> {
        let map = match serde_json::from_slice(printed) {
            Ok(Value::Object(map)) => map,
            Ok(_) => return Err(vec!["it is not a JSON object".to_owned()]),
            Err(err) => return Err(vec![format!("it is not JSON: {err}")]),
        };
        let mut reader = Reader { map, broken: Vec::new() };
        let row = reader.row();
        if reader.broken.is_empty() { Ok(row) } else { Err(reader.broken) }
    }
}

struct Reader {
    map: Map<String, Value>,
    broken: Vec<String>,
}

impl Reader {
    fn row(&mut self) -> Row {
        if self.map.get("protocol") != Some(&1.into()) {
            self.break_rule("protocol is not 1");
        }
        let kind = self.text("kind").unwrap_or_default();
        if !is_kind(&kind) {
            self.break_rule("kind is not 1 to 40 lower-case letters, digits and hyphens");
        }
        let noun = self.text("noun").unwrap_or_else(|| kind.clone());
        if noun.len() > NOUN || text::clean(&noun) != noun {
            self.break_rule("noun is not a text of up to 40 bytes");
        }
        let scope = self.text("scope").unwrap_or_else(|| kind.clone());
        if !kind.is_empty() && cli::name(&scope).is_err() {
            self.break_rule("scope is not a name");
        }
        Row {
            objectives: self.names("objectives"),
            pattern: self.pattern(),
            fields: self.names("fields"),
            options: self.words("options", "integer, number, boolean or string", OptionType::of),
            terminal_keys: self.terminal_keys(),
            max_subjects: usize::try_from(self.number("max_subjects", 25, 25)).unwrap_or(25),
            min_interval: Duration::from_secs(self.number("min_interval_seconds", 15, 86_400)),
            timeout: Duration::from_secs(self.number("timeout_seconds", 30, 300)),
            kind,
            noun,
            scope,
        }
    }

    fn break_rule(&mut self, rule: impl Into<String>) {
        self.broken.push(rule.into());
    }

    fn text(&mut self, name: &str) -> Option<String> {
        match self.map.get(name) {
            None => None,
            Some(Value::String(text)) => Some(text.clone()),
            Some(_) => {
                self.break_rule(format!("{name} is not a text"));
                None
            }
        }
    }

    fn number(&mut self, name: &str, standard: u64, most: u64) -> u64 {
        let Some(value) = self.map.get(name) else { return standard };
        value.as_u64().filter(|number| (1..=most).contains(number)).unwrap_or_else(|| {
            self.break_rule(format!("{name} is not a whole number from 1 to {most}"));
            standard
        })
    }

    fn names(&mut self, name: &str) -> Vec<String> {
        let list = match self.map.get(name) {
            None => return Vec::new(),
            Some(Value::Array(list)) => list.iter().map(Value::as_str).collect(),
            Some(_) => None,
        };
        let list: Option<Vec<&str>> = list;
        let fits = |list: &Vec<&str>| list.iter().all(|name| cli::name(name).is_ok());
        if let Some(list) = list.filter(fits) {
            return list.into_iter().map(str::to_owned).collect();
        }
        self.break_rule(format!("{name} is not a list of names"));
        Vec::new()
    }

    /// A map from names to words that mean something.
    fn words<T>(
        &mut self,
        name: &str,
        allowed: &str,
        meaning: impl Fn(&str) -> Option<T>,
    ) -> BTreeMap<String, T> {
        let map = match self.map.get(name) {
            None => return BTreeMap::new(),
            Some(Value::Object(map)) => map,
            Some(_) => {
                self.break_rule(format!("{name} is not an object"));
                return BTreeMap::new();
            }
        };
        let (mut known, mut broken) = (BTreeMap::new(), Vec::new());
        for (key, word) in map {
            match word.as_str().and_then(&meaning) {
                Some(meaning) => drop(known.insert(key.clone(), meaning)),
                None => broken.push(format!("{name}: {key} is not {allowed}")),
            }
        }
        self.broken.extend(broken);
        known
    }

    fn terminal_keys(&mut self) -> BTreeMap<String, bool> {
        let meaning = |word: &str| match word {
            "success" => Some(true),
            "blocked" => Some(false),
            _ => None,
        };
        let keys = self.words("terminal_keys", "success or blocked", meaning);
        let fits = |key: &String| (1..=200).contains(&key.len()) && !key.starts_with(['=', '~']);
        if !keys.keys().all(fits) {
            self.break_rule("terminal_keys has a key that no entry can have");
        }
        keys
    }

    fn pattern(&mut self) -> Option<Regex> {
        let pattern = self.text("target_pattern")?;
        // By itself first: what only makes sense between our parentheses is no expression.
        let whole = Regex::new(&pattern).and_then(|_| Regex::new(&format!(r"\A(?:{pattern})\z")));
        whole.map_err(|err| self.break_rule(format!("target_pattern: {err}"))).ok()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn row(text: &str) -> Result<Row, Vec<String>> {
        Row::parse(text.as_bytes())
    }

    #[test]
    fn a_row_has_defaults() {
        let row = row(r#"{"protocol":1,"kind":"basin","later":true}"#).unwrap();
        assert_eq!((&*row.noun, &*row.scope), ("basin", "basin"));
        assert_eq!((row.max_subjects, row.objectives.len()), (25, 0));
        assert_eq!((row.min_interval.as_secs(), row.timeout.as_secs()), (15, 30));
        assert!(row.pattern.is_none() && row.options.is_empty() && row.terminal_keys.is_empty());
    }

    #[test]
    fn a_pattern_has_to_match_the_whole_target() {
        let row = row(r#"{"protocol":1,"kind":"basin","target_pattern":"a|ab"}"#).unwrap();
        let pattern = row.pattern.unwrap();
        assert!(pattern.is_match("ab") && pattern.is_match("a"));
        for other in ["abc", "xa", "ab\n", ""] {
            assert!(!pattern.is_match(other), "{other:?}");
        }
    }

    #[test]
    fn every_broken_rule_is_named() {
        let broken = row(concat!(
            r#"{"protocol":2,"kind":"A","noun":7,"objectives":["a b"],"target_pattern":"(","#,
            r#""fields":{},"options":{"o":"date"},"terminal_keys":{"k":"won","=e":"success"},"#,
            r#""scope":"a/b","max_subjects":26,"min_interval_seconds":0,"timeout_seconds":"9"}"#
        ))
        .unwrap_err();
        let names = [
            "protocol",
            "kind",
            "noun",
            "scope",
            "objectives",
            "target_pattern",
            "fields",
            "options: o",
            "terminal_keys: k",
            "terminal_keys has",
            "max_subjects",
            "min_interval_seconds",
            "timeout_seconds",
        ];
        for name in names {
            assert!(broken.iter().any(|rule| rule.starts_with(name)), "{name}: {broken:?}");
        }
        assert_eq!(broken.len(), names.len(), "{broken:?}");
        for text in ["", "[]", "nothing", r#"{"protocol":1}"#, r#"{"protocol":1,"kind":"a"} {}"#] {
            assert!(row(text).is_err(), "{text}");
        }
    }

    #[test]
    fn options_have_types() {
        for (kind, text, want) in [
            (OptionType::Integer, "-7", Some(json!(-7))),
            (OptionType::Integer, "1.5", None),
            (OptionType::Number, "1.5", Some(json!(1.5))),
            (OptionType::Number, "NaN", None),
            (OptionType::Boolean, "true", Some(json!(true))),
            (OptionType::Boolean, "yes", None),
            (OptionType::String, "7", Some(json!("7"))),
        ] {
            assert_eq!(kind.value(text).ok(), want, "{kind:?} {text}");
        }
    }
}
