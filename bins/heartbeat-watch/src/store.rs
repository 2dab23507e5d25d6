//! The store of work items, as far as leases are concerned.
//!
//! It is read in pieces and little of it is kept, so that its size costs no memory; what isn't
//! needed is skipped without recursion, so that its depth costs none either.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    io::{self, Read},
    rc::Rc,
};

use serde::de::IgnoredAny;
use serde_json::error::Category;

use crate::{
    fields::{Fields, IMPLEMENTING, Root},
    lease::Lease,
    split::{Part, Split},
};

/// The most elements of `items`: a store of 64 MiB has fewer, unless it was made to exhaust us.
const ELEMENTS: usize = 100_000;

/// A store that was read whole.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Store {
    /// Its revision, if that is an integer.
    pub revision: Option<i64>,
    /// Its items, in file order.
    pub items: Vec<Item>,
    /// The places in `items` of what is no object.
    pub strangers: Vec<usize>,
}

/// A work item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Its place in `items`, from 0.
    pub index: usize,
    /// Its id as it stands in the file; empty when it has none.
    pub id: Rc<str>,
    /// Whether other items have the same id.
    pub duplicate: bool,
    /// Its status; none when that isn't a string.
    pub status: Option<Cow<'static, str>>,
    /// The session that holds it; empty when none is recorded.
    pub owner: Rc<str>,
    /// Its lease.
    pub lease: Lease,
    /// What tells it from the others, when its id doesn't.
    name: Option<Rc<str>>,
}

impl Item {
    /// What tells it from all other items of the store: its id, unless that is empty or another
    /// item's too.
    #[must_use]
    pub fn name(&self) -> &Rc<str> {
        self.name.as_ref().unwrap_or(&self.id)
    }

    /// Whether it should have a lease.
    #[must_use]
    pub fn is_implementing(&self) -> bool {
        self.status.as_deref() == Some(IMPLEMENTING)
    }
}

/// Why there is no store.
#[derive(Debug)]
pub enum Refusal {
    /// The file can't be read.
    Io(io::Error),
    /// What it holds is no store, for this cause.
    Content(String),
}

impl Store {
    /// Reads a store.
    ///
    /// # Errors
    ///
    /// Those of `from`, and why it is no store.
    pub fn read(mut from: impl Read) -> Result<Self, Refusal> {
        let mut split = Split::default();
        let mut list = List::default();
        let mut piece = vec![0; 32 << 10];
        loop {
            match from.read(&mut piece) {
                Ok(0) => break,
                Ok(n) => split.feed(&piece[..n], |part| list.take(part))?,
                Err(err) if err.kind() == io::ErrorKind::Interrupted => {}
                Err(err) => return Err(Refusal::Io(err)),
            }
        }
        let rest = String::from_utf8_lossy(split.rest());
        let rest = rest.strip_prefix('\u{feff}').unwrap_or(&rest);
        let root: Root = serde_json::from_str(rest).map_err(|err| Refusal::because(&err))?;
        let mut store = Self { revision: root.revision, ..Self::default() };
        if root.lists_items {
            (store.items, store.strangers) = (list.items, list.strangers);
        }
        name(&mut store.items);
        Ok(store)
    }
}

impl Refusal {
    /// Where in the file it is would mean little: positions are those of a part.
    fn because(err: &serde_json::Error) -> Self {
        Self::Content(match err.classify() {
            Category::Eof => "it is empty or cut short".to_owned(),
            Category::Syntax | Category::Io => "it is not JSON".to_owned(),
            Category::Data => {
                let text = err.to_string();
                text.split(" at line ").next().unwrap_or_default().to_owned()
            }
        })
    }
}

/// The elements of `items` so far.
#[derive(Default)]
struct List {
    items: Vec<Item>,
    strangers: Vec<usize>,
}

impl List {
    fn take(&mut self, part: Part<'_>) -> Result<(), Refusal> {
        let Part::Element(text) = part else {
            *self = Self::default();
            return Ok(());
        };
        let index = self.items.len() + self.strangers.len();
        if index == ELEMENTS {
            return Err(Refusal::Content(format!("it has more than {ELEMENTS} items")));
        }
        let text = String::from_utf8_lossy(text);
        if text.starts_with('{') {
            let fields: Fields<'_> =
                serde_json::from_str(&text).map_err(|err| Refusal::because(&err))?;
            self.items.push(Item {
                index,
                id: fields.id(),
                duplicate: false,
                status: fields.status(),
                owner: fields.owner(),
                lease: fields.lease(),
                name: None,
            });
        } else {
            serde_json::from_str::<IgnoredAny>(&text).map_err(|err| Refusal::because(&err))?;
            self.strangers.push(index);
        }
        Ok(())
    }
}

/// Gives a name to each item whose id isn't one, and marks the ids that are there twice. The
/// first item of an id is named by it, so a name that is made up avoids all ids.
fn name(items: &mut [Item]) {
    let mut times: HashMap<&str, usize> = HashMap::new();
    for item in &*items {
        *times.entry(&item.id).or_default() += 1;
    }
    let mut made_up = HashSet::new();
    let mut is_free =
        |name: &Rc<str>| !times.contains_key(&**name) && made_up.insert(Rc::clone(name));
    let mut last: HashMap<&str, usize> = HashMap::new();
    let mut names = Vec::with_capacity(items.len());
    for item in &*items {
        if item.id.is_empty() {
            let place = format!("#{}", item.index);
            let mut candidates = (1..).map(|n| numbered(&place, n));
            names.push((candidates.find(&mut is_free), false));
            continue;
        }
        let nth = last.entry(&item.id).or_default();
        *nth += 1;
        let mut name = None;
        while *nth > 1 && name.is_none() {
            name = Some(numbered(&item.id, *nth)).filter(&mut is_free);
            *nth += usize::from(name.is_none());
        }
        names.push((name, times.get(&*item.id) > Some(&1)));
    }
    for (item, (name, duplicate)) in items.iter_mut().zip(names) {
        (item.name, item.duplicate) = (name, duplicate);
    }
}

fn numbered(base: &str, n: usize) -> Rc<str> {
    if n == 1 { base.into() } else { format!("{base}#{n}").into() }
}

#[cfg(test)]
mod tests;
