//! The rules as data: how they are written, read and printed.

use std::{fmt, io};

use serde::{
    Deserialize, Deserializer, Serialize,
    de::{MapAccess, Visitor},
};
use serde_json::value::RawValue;
use shared::line;

/// The most rules of a file.
pub const MOST: usize = 10_000;
/// The most bytes of a file.
pub const MOST_BYTES: usize = 1 << 20;

/// How soon a reader must act; a greater one is sooner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Urgency {
    /// Good to know.
    Info,
    /// When there is time.
    Warning,
    /// Now.
    Immediate,
}

impl Urgency {
    /// The word in a line.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Immediate => "immediate",
        }
    }

    /// The urgency of this word.
    #[must_use]
    pub fn of(word: &str) -> Option<Self> {
        [Self::Info, Self::Warning, Self::Immediate].into_iter().find(|known| known.word() == word)
    }
}

/// What a value may be for a rule to fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Want {
    /// `"*"`: anything but null and absent.
    Anything,
    /// Null or absent.
    Nothing,
    /// This string, unescaped.
    Text(String),
    /// This number or boolean, as it is written.
    Bare(String),
}

/// One rule: an urgency for the lines that fit all its conditions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// Top-level keys, and of what their values must fit one.
    pub conditions: Vec<(String, Vec<Want>)>,
    /// What fits is this urgent.
    pub urgency: Urgency,
    /// Free text for people.
    pub note: Option<String>,
}

/// Why a text is no table of rules: a sentence fragment that says what is allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault(String);

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The rules for the events of all programs.
///
/// # Errors
///
/// None: a test reads the table.
pub fn builtin() -> Result<Vec<Rule>, Fault> {
    parse(include_bytes!("builtin.json"))
}

/// Reads a table of rules.
///
/// # Errors
///
/// The number of the first bad rule, from 1, and what is allowed there.
pub fn parse(text: &[u8]) -> Result<Vec<Rule>, Fault> {
    if text.len() > MOST_BYTES {
        return Err(Fault(format!("more than {MOST_BYTES} bytes; at most 1 MiB is allowed")));
    }
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let list: Vec<&RawValue> = serde_json::from_slice(text).map_err(|err| {
        Fault(format!(r#"not a JSON array of rules like [{{"match":{{"event":"x"}},"urgency":"info"}}]: {err}"#))
    })?;
    if list.len() > MOST {
        return Err(Fault(format!("{} rules; at most {MOST} are allowed", list.len())));
    }
    let numbered = list.into_iter().enumerate();
    numbered
        .map(|(at, raw)| rule(raw).map_err(|fault| Fault(format!("rule {}: {fault}", at + 1))))
        .collect()
}

/// Writes `rules` as a table, one rule a line, to be read again by [`parse`].
///
/// # Errors
///
/// None for what fits the types.
pub fn print(rules: &[Rule]) -> io::Result<Vec<u8>> {
    let mut out = b"[".to_vec();
    for (at, rule) in rules.iter().enumerate() {
        out.extend(if at == 0 { "\n" } else { ",\n" }.bytes());
        print_rule(rule, &mut out)?;
    }
    out.extend(b"\n]\n");
    Ok(out)
}

fn rule(raw: &RawValue) -> Result<Rule, Fault> {
    let members = members(raw)
        .ok_or_else(|| Fault("not an object; match, urgency and note are its keys".to_owned()))?;
    let (mut conditions, mut urgency, mut note) = (None, None, None);
    for (key, value) in members {
        match key.as_str() {
            "match" => conditions = Some(self::conditions(value)?),
            "urgency" => urgency = Some(self::urgency(value)?),
            "note" => {
                let text = text(value).ok_or_else(|| Fault("note must be a string".to_owned()))?;
                note = Some(text);
            }
            other => {
                return Err(Fault(format!(
                    "unknown key {other:?}; match, urgency and note are allowed"
                )));
            }
        }
    }
    let conditions = conditions.ok_or_else(|| {
        Fault("no match; it must be an object of keys and values, {} for everything".to_owned())
    })?;
    let urgency = urgency
        .ok_or_else(|| Fault("no urgency; immediate, warning and info are allowed".to_owned()))?;
    Ok(Rule { conditions, urgency, note })
}

fn urgency(value: &RawValue) -> Result<Urgency, Fault> {
    text(value).as_deref().and_then(Urgency::of).ok_or_else(|| {
        Fault(format!("urgency {}; immediate, warning and info are allowed", brief(value)))
    })
}

/// Of a doubled key the last counts, as everywhere.
fn conditions(value: &RawValue) -> Result<Vec<(String, Vec<Want>)>, Fault> {
    let members = members(value)
        .ok_or_else(|| Fault("match must be an object of keys and values".to_owned()))?;
    let mut conditions: Vec<(String, Vec<Want>)> = Vec::new();
    for (key, value) in members {
        let wants = wants(value).ok_or_else(|| {
            Fault(format!(
                "match {key:?} is {}; a string, number, boolean, null, or an array of these is allowed",
                brief(value)
            ))
        })?;
        conditions.retain(|(known, _)| *known != key);
        conditions.push((key, wants));
    }
    Ok(conditions)
}

fn wants(value: &RawValue) -> Option<Vec<Want>> {
    match serde_json::from_str::<Vec<&RawValue>>(value.get()) {
        Ok(list) => list.into_iter().map(want).collect(),
        Err(_) => want(value).map(|want| vec![want]),
    }
}

fn want(value: &RawValue) -> Option<Want> {
    match value.get().bytes().next()? {
        b'{' | b'[' => None,
        b'"' => text(value).map(|text| if text == "*" { Want::Anything } else { Want::Text(text) }),
        b'n' => Some(Want::Nothing),
        _ => Some(Want::Bare(value.get().to_owned())),
    }
}

fn text(value: &RawValue) -> Option<String> {
    serde_json::from_str(value.get()).ok()
}

pub(crate) fn members(value: &RawValue) -> Option<Vec<(String, &RawValue)>> {
    serde_json::from_str::<Members<'_>>(value.get()).ok().map(|members| members.0)
}

/// The beginning of a value, for an error line.
fn brief(value: &RawValue) -> &str {
    shared::text::head(value.get(), 60)
}

fn print_rule(rule: &Rule, out: &mut Vec<u8>) -> io::Result<()> {
    out.extend(br#"{"match":{"#);
    for (at, (key, wants)) in rule.conditions.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        out.extend(line::json(key)?);
        out.push(b':');
        if let [want] = wants.as_slice() {
            print_want(want, out)?;
            continue;
        }
        out.push(b'[');
        for (at, want) in wants.iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            print_want(want, out)?;
        }
        out.push(b']');
    }
    out.extend(br#"},"urgency":"#);
    out.extend(line::json(&rule.urgency)?);
    if let Some(note) = &rule.note {
        out.extend(br#","note":"#);
        out.extend(line::json(note)?);
    }
    out.push(b'}');
    Ok(())
}

fn print_want(want: &Want, out: &mut Vec<u8>) -> io::Result<()> {
    match want {
        Want::Anything => out.extend(br#""*""#),
        Want::Nothing => out.extend(b"null"),
        Want::Text(text) => out.extend(line::json(text)?),
        Want::Bare(text) => out.extend(text.bytes()),
    }
    Ok(())
}

/// The members of an object in their order, doubled ones included.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Members<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        from.deserialize_map(InOrder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(text: &str) -> String {
        parse(text.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn the_built_in_table_is_written_as_it_is_printed() {
        let rules = builtin().unwrap();
        assert_eq!(rules.len(), 45);
        let printed = String::from_utf8(print(&rules).unwrap()).unwrap();
        assert_eq!(printed, include_str!("builtin.json"));
    }

    #[test]
    fn what_is_printed_reads_back() {
        let text = r#" [{"urgency":"info","note":"é\"\u2028","match":{"a":1.0,"a":[1e400,-0,true,false,null,"*","x\n"],
            "\u0062":"\ud83d\ude00","c":[],"d":["y"]}},{"match":{},"urgency":"warning"}]"#;
        let rules = parse(text.as_bytes()).unwrap();
        let bare = |text: &str| Want::Bare(text.to_owned());
        let wants = [bare("1e400"), bare("-0"), bare("true"), bare("false")];
        let rest = [Want::Nothing, Want::Anything, Want::Text("x\n".to_owned())];
        assert_eq!(rules[0].conditions[0], ("a".to_owned(), [&wants[..], &rest[..]].concat()));
        assert_eq!(rules[0].conditions[1].0, "b");
        assert_eq!(rules[0].note.as_deref(), Some("é\"\u{2028}"));
        assert_eq!(rules[1].conditions, []);
        let printed = print(&rules).unwrap();
        assert_eq!(parse(&printed), Ok(rules));
        assert_eq!(str::from_utf8(&printed).unwrap().lines().count(), 4);
        assert_eq!(parse(&print(&[]).unwrap()), Ok(vec![]));
        assert_eq!(parse("\u{feff}[]".as_bytes()), Ok(vec![]));
    }

    #[test]
    fn c09_a_fault_names_the_rule_and_what_is_allowed() {
        let good = r#"{"match":{},"urgency":"info"}"#;
        for (bad, words) in [
            (r#"{"mach":{},"urgency":"info"}"#, &["\"mach\"", "match, urgency and note"][..]),
            (r#"{"match":{},"urgency":"high"}"#, &["\"high\"", "immediate, warning and info"]),
            (r#"{"match":{},"urgency":1}"#, &["urgency 1", "immediate, warning and info"]),
            (r#"{"match":{}}"#, &["no urgency", "immediate, warning and info"]),
            (r#"{"urgency":"info"}"#, &["no match"]),
            (r#"{"match":[],"urgency":"info"}"#, &["match must be an object"]),
            (r#"{"match":{"a":{}},"urgency":"info"}"#, &["\"a\"", "string, number, boolean, null"]),
            (
                r#"{"match":{"a":[[1]]},"urgency":"info"}"#,
                &["\"a\"", "string, number, boolean, null"],
            ),
            (r#"{"match":{},"urgency":"info","note":1}"#, &["note must be a string"]),
            ("[]", &["not an object"]),
            ("7", &["not an object"]),
        ] {
            let fault = fault(&format!("[{good},{bad},{{}}]"));
            assert!(fault.starts_with("rule 2: "), "{fault}");
            assert!(words.iter().all(|word| fault.contains(word)), "{fault}");
        }
        for text in ["", "{}", "[", "[] []", "nonsense", "\u{0}"] {
            assert!(fault(text).starts_with("not a JSON array of rules like [{"), "{text}");
        }
        assert!(parse(b"[\xff]").is_err());
    }

    #[test]
    fn a_table_has_bounds() {
        let rules =
            |count| format!("[{}]", vec![r#"{"match":{},"urgency":"info"}"#; count].join(","));
        assert_eq!(parse(rules(MOST).as_bytes()).map(|rules| rules.len()), Ok(MOST));
        assert!(fault(&rules(MOST + 1)).contains("at most 10000"));
        let padded = |bytes| format!("[{}]", " ".repeat(bytes - 2));
        assert_eq!(parse(padded(MOST_BYTES).as_bytes()), Ok(vec![]));
        assert!(fault(&padded(MOST_BYTES + 1)).contains("at most 1 MiB"));
    }
}
