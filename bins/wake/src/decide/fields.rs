//! Reading a state leniently: what has a wrong type costs one field, what is unknown is kept.

use std::{collections::BTreeMap, fmt};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{DeserializeOwned, IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

/// The fields of an object, not yet read.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub(super) struct Fields<'a> {
    #[serde(borrow)]
    left: BTreeMap<String, &'a RawValue>,
}

impl<'a> Fields<'a> {
    /// The fields of `raw`, if it is an object.
    pub(super) fn of(raw: &'a RawValue) -> Option<Self> {
        serde_json::from_str(raw.get()).ok()
    }

    /// The value of a field, if there is one of the type.
    pub(super) fn get<T: DeserializeOwned>(&mut self, name: &str) -> Option<T> {
        serde_json::from_str(self.left.remove(name)?.get()).ok()
    }

    /// The same; the type's default when there is none.
    pub(super) fn take<T: DeserializeOwned + Default>(&mut self, name: &str) -> T {
        self.get(name).unwrap_or_default()
    }

    /// A field as it is written.
    pub(super) fn raw(&mut self, name: &str) -> Option<&'a RawValue> {
        self.left.remove(name)
    }

    /// The fields of a field that is an object itself.
    pub(super) fn object(&mut self, name: &str) -> Option<Self> {
        Self::of(self.left.remove(name)?)
    }

    /// The elements of a field that is a list.
    pub(super) fn list(&mut self, name: &str) -> Vec<&'a RawValue> {
        let raw = self.left.remove(name);
        raw.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default()
    }

    /// All fields that are left, by name.
    pub(super) fn entries(self) -> impl Iterator<Item = (String, &'a RawValue)> {
        self.left.into_iter()
    }

    /// What nobody asked for.
    pub(super) fn rest(self) -> Rest {
        let kept = self.left.into_iter();
        Rest(kept.map(|(name, raw)| (name.into(), raw.to_owned())).collect())
    }
}

/// Unknown fields, written back as they were. Nearly always none, so they take little room.
#[derive(Debug, Clone, Default)]
pub(super) struct Rest(Box<[(Box<str>, Box<RawValue>)]>);

impl Rest {
    /// The fields, by name.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &RawValue)> {
        self.0.iter().map(|(name, raw)| (&**name, &**raw))
    }
}

impl Serialize for Rest {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.iter())
    }
}

/// Anything whose numbers are numbers: raw text is not looked into, and would let 10^400 pass.
#[derive(Debug)]
pub(super) struct Sound;

impl<'de> Deserialize<'de> for Sound {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Sound)
    }
}

impl<'de> Visitor<'de> for Sound {
    type Value = Self;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("JSON")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self, A::Error> {
        while list.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self, A::Error> {
        while map.next_entry::<IgnoredAny, Self>()?.is_some() {}
        Ok(self)
    }
}
