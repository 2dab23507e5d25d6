//! Which rules are in force.

use shared::{
    exit::{Error, Reason},
    wait::Waiter,
};

use crate::{
    args::Args,
    input,
    rules::{self, Rule},
};

/// The rules of `--rules`, then the built-in ones unless a rule that fits everything switches
/// them off. `None` when there was a reason to stop.
///
/// # Errors
///
/// A file that can't be read, or holds no rules.
pub fn rules(args: &Args, waiter: &mut Waiter) -> Result<Option<Vec<Rule>>, Error> {
    let mut rules = Vec::new();
    if let Some(path) = &args.rules {
        let text = input::read(path, rules::MOST_BYTES, waiter);
        let Some(text) = text.map_err(|err| Error::io("read", path, &err))? else {
            return Ok(None);
        };
        rules = rules::parse(&text)
            .map_err(|fault| Error::usage(format!("unable to use {}: {fault}", path.display())))?;
    }
    if !rules.iter().any(|rule| rule.conditions.is_empty()) {
        rules.extend(builtin()?);
    }
    Ok(Some(rules))
}

/// The built-in ones.
///
/// # Errors
///
/// None for those that are built in.
pub fn builtin() -> Result<Vec<Rule>, Error> {
    let unusable = |fault| format!("unable to use the built-in rules: {fault}");
    rules::builtin().map_err(|fault| Error::new(Reason::Runtime, "rules_unusable", unusable(fault)))
}
