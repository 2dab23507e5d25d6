//! The members of a line of the registry.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::{Fault, fault};
use crate::cli;

/// The members of an object; numbers as they are written.
pub(super) struct Fields(pub(super) BTreeMap<String, Box<RawValue>>);

impl Fields {
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    pub(super) fn raw(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(|raw| raw.get())
    }

    /// A member; null is none.
    pub(super) fn get<T: DeserializeOwned>(&self, name: &'static str) -> Result<Option<T>, Fault> {
        let Some(raw) = self.raw(name) else { return Ok(None) };
        serde_json::from_str(raw).map_err(|_| fault(name, "wrong_type"))
    }

    /// A number; one that is too large for any is infinite.
    pub(super) fn number(&self, name: &'static str) -> Result<Option<f64>, Fault> {
        let Some(raw) = self.raw(name) else { return Ok(None) };
        raw.parse().map(Some).map_err(|_| fault(name, "wrong_type"))
    }

    pub(super) fn agent(&self) -> Result<String, Fault> {
        let name = self.get::<String>("agent")?.ok_or(fault("agent", "missing"))?;
        cli::name(&name).map_err(|_| fault("agent", "bad_value"))
    }

    pub(super) fn step(&self) -> Result<String, Fault> {
        let raw = self.raw("step").ok_or(fault("step", "missing"))?;
        let is_number = raw.starts_with(|c: char| c == '-' || c.is_ascii_digit());
        let text = if is_number { Some(raw.to_owned()) } else { self.get::<String>("step")? };
        let text = text.ok_or(fault("step", "missing"))?;
        cli::name(&text).map_err(|_| fault("step", "bad_value"))
    }

    pub(super) fn path(&self, name: &'static str) -> Result<Option<String>, Fault> {
        let path = self.get::<String>(name)?;
        if path.as_deref().is_some_and(|path| !is_path(path)) {
            return Err(fault(name, "bad_value"));
        }
        Ok(path)
    }
}

/// A path as an item may give it.
pub(super) fn is_path(path: &str) -> bool {
    (1..=4095).contains(&path.len()) && !path.contains('\0')
}
