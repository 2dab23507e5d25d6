//! The fields of the store and of its items that are read, each with the type it is taken as.

use std::{borrow::Cow, fmt, rc::Rc};

use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, Visitor},
};
use serde_json::value::RawValue;

use crate::lease::Lease;

/// The status of the items that are judged.
pub const IMPLEMENTING: &str = "implementing";

/// The document but for the elements of `items`. Of a doubled key the last counts, here and below.
#[derive(Debug, Default)]
pub struct Root {
    /// The revision, if that is an integer.
    pub revision: Option<i64>,
    /// Whether `items` is an array, rather than null or absent.
    pub lists_items: bool,
}

impl<'de> Deserialize<'de> for Root {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Root;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Root, A::Error> {
                let mut root = Root::default();
                while let Some(key) = map.next_key()? {
                    match key {
                        Key::Items => {
                            root.lists_items =
                                map.next_value::<Option<Vec<IgnoredAny>>>()?.is_some();
                        }
                        Key::Revision => {
                            root.revision = map.next_value::<&RawValue>()?.get().parse().ok();
                        }
                        _ => {
                            map.next_value::<IgnoredAny>()?;
                        }
                    }
                }
                Ok(root)
            }
        }
        from.deserialize_map(Object)
    }
}

/// An item, its values as they stand in the file: a number too large for any type of ours is no
/// reason to refuse the store.
#[derive(Debug, Default)]
pub struct Fields<'a> {
    id: Option<&'a RawValue>,
    status: Option<&'a RawValue>,
    owner: Option<&'a RawValue>,
    lease: Option<&'a RawValue>,
}

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Fields<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an item")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields<'de>, A::Error> {
                let mut fields = Fields::default();
                while let Some(key) = map.next_key()? {
                    let field = match key {
                        Key::Id => &mut fields.id,
                        Key::Status => &mut fields.status,
                        Key::Owner => &mut fields.owner,
                        Key::Lease => &mut fields.lease,
                        Key::Items | Key::Revision | Key::Other => {
                            map.next_value::<IgnoredAny>()?;
                            continue;
                        }
                    };
                    *field = Some(map.next_value()?);
                }
                Ok(fields)
            }
        }
        from.deserialize_map(Object)
    }
}

impl Fields<'_> {
    /// The id; empty for none.
    #[must_use]
    pub fn id(&self) -> Rc<str> {
        name(self.id)
    }

    /// The session that holds the item; empty for none.
    #[must_use]
    pub fn owner(&self) -> Rc<str> {
        name(self.owner)
    }

    /// The status, if that is a string.
    #[must_use]
    pub fn status(&self) -> Option<Cow<'static, str>> {
        match self.status.map(Value::of) {
            Some(Value::String(status)) if status == IMPLEMENTING => Some(IMPLEMENTING.into()),
            Some(Value::String(status)) => Some(status.into_owned().into()),
            _ => None,
        }
    }

    /// The lease.
    #[must_use]
    pub fn lease(&self) -> Lease {
        match self.lease.map(Value::of) {
            None | Some(Value::Null) => Lease::Absent,
            Some(Value::String(text)) => Lease::of(text.into()),
            Some(Value::Number(text) | Value::Other(text)) => Lease::NotString(text.into()),
        }
    }
}

/// A string as it is, a number as its text.
fn name(field: Option<&RawValue>) -> Rc<str> {
    match field.map(Value::of) {
        Some(Value::String(text)) => text.into(),
        Some(Value::Number(text)) => text.into(),
        _ => Rc::default(),
    }
}

/// A value of any type; what isn't a string as its JSON text.
enum Value<'a> {
    Null,
    String(Cow<'a, str>),
    Number(&'a str),
    Other(&'a str),
}

impl<'a> Value<'a> {
    fn of(raw: &'a RawValue) -> Self {
        let text = raw.get();
        match text.bytes().next() {
            Some(b'n') => Self::Null,
            Some(b'"') => Self::String(unescaped(text)),
            Some(b'-' | b'0'..=b'9') => Self::Number(text),
            _ => Self::Other(text),
        }
    }
}

/// The string that the JSON text of one means.
pub(crate) fn unescaped(text: &str) -> Cow<'_, str> {
    let plain = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    if let Some(plain) = plain.filter(|plain| !plain.contains('\\')) {
        return plain.into();
    }
    let bytes = serde_json::from_str(text).map_or_else(|_| text.into(), |Bytes(bytes)| bytes);
    String::from_utf8_lossy(&bytes).into_owned().into()
}

/// The keys that are read, of the store and of an item.
enum Key {
    Items,
    Revision,
    Id,
    Status,
    Owner,
    Lease,
    Other,
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Name;
        impl Visitor<'_> for Name {
            type Value = Key;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }
            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Key, E> {
                Ok(match bytes {
                    b"items" => Key::Items,
                    b"revision" => Key::Revision,
                    b"id" => Key::Id,
                    b"status" => Key::Status,
                    b"owner_session_id" => Key::Owner,
                    b"lease_expires_at" => Key::Lease,
                    _ => Key::Other,
                })
            }
        }
        // As bytes, because of what `Bytes` says.
        from.deserialize_bytes(Name)
    }
}

/// The bytes of a string: one with half of a surrogate pair in it (`"\ud800"`) is valid JSON, but
/// no Rust string.
struct Bytes(Vec<u8>);

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Any;
        impl Visitor<'_> for Any {
            type Value = Bytes;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }
            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Bytes, E> {
                Ok(Bytes(bytes.to_vec()))
            }
        }
        from.deserialize_bytes(Any)
    }
}
