//! Subjects: made from a line by a template, and what a stream takes of them. Pure.

use std::fmt::Write as _;

use crate::head::Head;

/// The most bytes of a token that comes from outside: a server takes lines of 4096.
const TOKEN: usize = 128;

/// The subject of a line, with places to fill in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template(Vec<Part>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Host,
    Source,
    Event,
    Urgency,
}

impl Template {
    /// Reads a template.
    ///
    /// # Errors
    ///
    /// What is allowed.
    pub fn parse(text: &str) -> Result<Self, String> {
        let parts = parts(text).map(Self).filter(|template| {
            let sample = template.wide("x");
            valid(&sample) && !sample.contains(['{', '}'])
        });
        parts.ok_or_else(|| {
            "must be tokens joined by dots, without blanks, * and >, with {host}, {source}, {event} or {urgency} in them; and not begin with $".to_owned()
        })
    }

    /// The subject of a line from `host`.
    #[must_use]
    pub fn fill(&self, host: &str, head: &Head<'_>) -> String {
        let mut subject = String::new();
        for part in &self.0 {
            let value = match part {
                Part::Text(text) => {
                    subject.push_str(text);
                    continue;
                }
                Part::Host => Some(host),
                Part::Source => head.source.as_deref(),
                Part::Event => head.event.as_deref(),
                Part::Urgency => head.urgency.as_deref(),
            };
            push_token(&mut subject, value.unwrap_or_default());
        }
        subject
    }

    /// A filter that fits all its subjects, from any host.
    #[must_use]
    pub fn filter(&self) -> String {
        let wide = self.wide("*");
        let whole = |token| if str::contains(token, '*') { "*" } else { token };
        wide.split('.').map(whole).collect::<Vec<_>>().join(".")
    }

    fn wide(&self, place: &str) -> String {
        let part = |part: &Part| match part {
            Part::Text(text) => text.clone(),
            _ => place.to_owned(),
        };
        self.0.iter().map(part).collect()
    }
}

fn parts(mut rest: &str) -> Option<Vec<Part>> {
    let mut parts = Vec::new();
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}')?;
        parts.push(Part::Text(before.to_owned()));
        parts.push(match name {
            "host" => Part::Host,
            "source" => Part::Source,
            "event" => Part::Event,
            "urgency" => Part::Urgency,
            _ => return None,
        });
        rest = after;
    }
    parts.push(Part::Text(rest.to_owned()));
    Some(parts)
}

/// Whether `text` is a subject that can be published to.
fn valid(text: &str) -> bool {
    let token = |token: &str| {
        let bad = |c: char| c.is_whitespace() || c.is_control() || "*>".contains(c);
        !token.is_empty() && !token.contains(bad)
    };
    text.len() <= 512 && !text.starts_with('$') && text.split('.').all(token)
}

/// A filter of `relay sub`.
///
/// # Errors
///
/// What is allowed.
pub fn filter(text: &str) -> Result<String, String> {
    let tokens: Vec<&str> = text.split('.').collect();
    let plain = |token: &str| *token == *"*" || valid(token);
    let fits = tokens.split_last().is_some_and(|(last, front)| {
        front.iter().all(|token| plain(token)) && (plain(last) || *last == ">")
    });
    let told =
        "must be tokens joined by dots, each a text without blanks or *, and > only at the end";
    if fits { Ok(text.to_owned()) } else { Err(told.to_owned()) }
}

/// Appends a value from outside as one level of a subject.
fn push_token(subject: &mut String, value: &str) {
    let value = shared::text::head(value, TOKEN);
    let unsafe_here = |c: char| c.is_whitespace() || c.is_control() || matches!(c, '.' | '*' | '>');
    if value.is_empty() {
        subject.push_str("unknown");
    }
    for c in value.chars() {
        // Writing to a String can't fail.
        let _ = subject.write_char(if unsafe_here(c) { '_' } else { c });
    }
}

/// Whether some subject fits both filters.
#[must_use]
pub fn overlap(one: &str, other: &str) -> bool {
    let (mut one, mut other) = (one.split('.'), other.split('.'));
    loop {
        match (one.next(), other.next()) {
            (None, None) | (Some(">"), Some(_)) | (Some(_), Some(">")) => return true,
            (Some(a), Some(b)) if a == b || a == "*" || b == "*" => {}
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn filled(template: &str, line: &str) -> String {
        Template::parse(template).unwrap().fill("h.example", &Head::of(line.as_bytes()).unwrap())
    }

    #[test]
    fn r09_a_source_is_one_level() {
        let line = r#"{"source":"a.b *>","event":"e","urgency":"info"}"#;
        assert_eq!(filled("doorbell.{host}.{source}", line), "doorbell.h_example.a_b___");
        assert_eq!(filled("x.{event}-{urgency}", line), "x.e-info");
        assert_eq!(filled("{source}.{event}", r#"{"source":""}"#), "unknown.unknown");
        assert_eq!(filled("{source}", r#"{"source":"a\u0000\r\n\u2028é"}"#), "a____é");
        let long = format!(r#"{{"source":"{}"}}"#, "é".repeat(5000));
        assert_eq!(filled("{source}", &long).len(), 128);
    }

    #[test]
    fn a_template_names_what_it_takes() {
        for bad in ["", ".", "a..b", "a b", "a.*", ">", "{", "{x}", "}", "a.{host", "$JS.{host}"] {
            assert!(Template::parse(bad).is_err(), "{bad}");
        }
        let filter = |text| Template::parse(text).unwrap().filter();
        assert_eq!(filter("doorbell.{host}.{source}"), "doorbell.*.*");
        assert_eq!(filter("a.b-{event}.c"), "a.*.c");
        assert_eq!(filter("a.b"), "a.b");
    }

    #[test]
    fn filters_have_wildcards() {
        for good in ["a", "a.*", "a.>", ">", "*.b"] {
            assert_eq!(filter(good), Ok(good.to_owned()));
        }
        for bad in ["", "a.", "a b", ">.a", "a*", "a.>b"] {
            assert!(filter(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn filters_overlap_when_a_subject_fits_both() {
        for (one, other, want) in [
            ("a.*", "a.b", true),
            ("a.*.*", "a.>", true),
            ("a", "a.>", false),
            ("a.b", "a.c", false),
            ("a.*", "*.b", true),
            ("a", "a.b", false),
            (">", "a.b.c", true),
        ] {
            assert_eq!((overlap(one, other), overlap(other, one)), (want, want), "{one} {other}");
        }
    }

    proptest! {
        #[test]
        fn whatever_a_line_says_its_subject_fits_the_filter(source in ".*", host in ".*") {
            let template = Template::parse("doorbell.{host}.{source}").unwrap();
            let head = Head { source: Some(source.into()), ..Head::default() };
            let subject = template.fill(&host, &head);
            prop_assert!(valid(&subject), "{}", subject);
            prop_assert!(overlap(&subject, &template.filter()));
        }
    }
}
