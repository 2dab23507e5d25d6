//! An object in the making, and what an event is asked for.

use std::io;

use serde_json::Value;
use shared::line::json;

use super::Event;

/// An object in the making, whose keys keep their order.
#[derive(Default)]
pub(super) struct Object(Vec<u8>);

impl Object {
    pub(super) fn add(
        &mut self,
        key: &str,
        value: &(impl serde::Serialize + ?Sized),
    ) -> io::Result<()> {
        self.0.push(if self.0.is_empty() { b'{' } else { b',' });
        self.0.extend(json(key)?);
        self.0.push(b':');
        self.0.extend(json(value)?);
        Ok(())
    }

    /// The event's own values of these keys, if they are texts or numbers.
    pub(super) fn keep(&mut self, event: &Event, keys: &[&str]) -> io::Result<()> {
        self.keep_if(event, keys, |value| value.is_string() || value.is_number())
    }

    /// The event's own values of these keys, if they are texts.
    pub(super) fn keep_texts(&mut self, event: &Event, keys: &[&str]) -> io::Result<()> {
        self.keep_if(event, keys, Value::is_string)
    }

    fn keep_if(
        &mut self,
        event: &Event,
        keys: &[&str],
        fits: impl Fn(&Value) -> bool,
    ) -> io::Result<()> {
        for key in keys {
            if let Some(value) = event.get(*key).filter(|value| fits(value)) {
                self.add(key, value)?;
            }
        }
        Ok(())
    }

    pub(super) fn close(mut self) -> Vec<u8> {
        self.0.push(b'}');
        self.0
    }
}

/// The nearest whole number; none where a float would make another one of it.
#[expect(clippy::cast_possible_truncation, reason = "it was compared")]
pub(super) fn whole(number: &serde_json::Number) -> Option<i64> {
    const MOST: f64 = 9_007_199_254_740_992.0;
    let float = number.as_f64().map(f64::round).filter(|float| float.abs() <= MOST);
    number.as_i64().or(float.map(|float| float as i64))
}

pub(super) fn text<'a>(event: &'a Event, key: &str) -> Option<&'a str> {
    event.get(key).and_then(Value::as_str)
}

/// Hours and minutes of the event, in local time.
pub(super) fn clock(event: &Event) -> String {
    let at = text(event, "timestamp").and_then(|text| text.parse::<jiff::Timestamp>().ok());
    let local = at.and_then(|at| local(at.as_second()));
    local.map_or_else(|| "--:--".to_owned(), |(hour, minute)| format!("{hour:02}:{minute:02}"))
}

fn local(second: i64) -> Option<(i32, i32)> {
    // SAFETY: all zeros is a `tm`, its pointer included; localtime_r fills it or answers null.
    #[expect(unsafe_code, reason = "the time zone of this process is the C library's to know")]
    let (found, tm) = unsafe {
        let mut tm = std::mem::zeroed::<nix::libc::tm>();
        let found = !nix::libc::localtime_r(&raw const second, &raw mut tm).is_null();
        (found, tm)
    };
    found.then_some((tm.tm_hour, tm.tm_min))
}
