//! The name of a gate: a file name that ends in `.json`, whatever its bytes.

use std::{
    borrow::Cow,
    ffi::{OsStr, OsString},
    fmt::{self, Write as _},
    os::unix::ffi::{OsStrExt as _, OsStringExt as _},
};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error as _, SeqAccess, Visitor},
};

/// The base name of a gate's file. Ordered bytewise.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Name(Box<OsStr>);

impl Name {
    /// The name, if it is one of a gate.
    #[must_use]
    pub fn new(file: &OsStr) -> Option<Self> {
        file.as_bytes().ends_with(b".json").then(|| Self(file.into()))
    }

    /// The base name as the file system has it.
    #[must_use]
    pub fn as_os_str(&self) -> &OsStr {
        &self.0
    }

    /// The base name for a reader, with replacements where it isn't UTF-8.
    #[must_use]
    pub fn file(&self) -> Cow<'_, str> {
        self.0.to_string_lossy()
    }

    /// The gate's id: the base name without its `.json`.
    #[must_use]
    pub fn id(&self) -> String {
        let file = self.file();
        file.strip_suffix(".json").unwrap_or(&file).to_owned()
    }

    /// All bytes in hex, where the name isn't UTF-8.
    #[must_use]
    pub fn hex(&self) -> Option<String> {
        if self.0.to_str().is_some() {
            return None;
        }
        Some(self.0.as_bytes().iter().fold(String::new(), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        }))
    }
}

/// Text where it is UTF-8, else a list of bytes.
impl Serialize for Name {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        match self.0.to_str() {
            Some(text) => out.serialize_str(text),
            None => out.collect_seq(self.0.as_bytes()),
        }
    }
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct TextOrBytes;
        impl<'de> Visitor<'de> for TextOrBytes {
            type Value = OsString;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a file name")
            }
            fn visit_str<E>(self, text: &str) -> Result<OsString, E> {
                Ok(text.into())
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<OsString, A::Error> {
                let mut bytes = Vec::new();
                while let Some(byte) = seq.next_element()? {
                    bytes.push(byte);
                }
                Ok(OsString::from_vec(bytes))
            }
        }
        let file = from.deserialize_any(TextOrBytes)?;
        Self::new(&file).ok_or_else(|| D::Error::custom("not the name of a gate"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gate_ends_in_json_and_keeps_its_bytes() {
        for (file, id) in [("HDR-1.json", "HDR-1"), (".json", ""), (".x.json", ".x")] {
            let name = Name::new(file.as_ref()).unwrap();
            assert_eq!((name.id().as_str(), &*name.file(), name.hex()), (id, file, None));
        }
        for file in ["notes.md", "x.json.tmp", "json", "x.JSON", ""] {
            assert_eq!(Name::new(file.as_ref()), None, "{file}");
        }
        let odd = Name::new(OsStr::from_bytes(b"\xff\xfe.json")).unwrap();
        assert_eq!(odd.id(), "\u{fffd}\u{fffd}");
        assert_eq!(odd.hex().unwrap(), "fffe2e6a736f6e");
    }

    #[test]
    fn a_name_survives_the_cursor_file() {
        for bytes in [&b"HDR-1.json"[..], b"a\nb.json", b"\xff\xfe.json"] {
            let name = Name::new(OsStr::from_bytes(bytes)).unwrap();
            let text = serde_json::to_string(&name).unwrap();
            assert_eq!(serde_json::from_str::<Name>(&text).unwrap(), name);
        }
        assert!(serde_json::from_str::<Name>("\"x\"").is_err());
    }
}
