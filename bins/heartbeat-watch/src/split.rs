//! Takes a JSON document apart while it is read: the elements of `items`, and all the rest.
//!
//! serde is fast on slices and slow on readers, and a slice of the whole document would cost as
//! much memory as the file has bytes. So only one element at a time is a slice. Nothing is
//! validated here: the document is JSON exactly if each element is and the rest is, with a
//! placeholder for each element.

use memchr::memchr2;

use crate::fields;

/// The document so far.
#[derive(Debug, Default)]
pub struct Split {
    /// The document with `0` in the place of each element of `items`.
    rest: Vec<u8>,
    element: Vec<u8>,
    depth: usize,
    in_items: bool,
    in_string: bool,
    escaped: bool,
    key_at: usize,
}

/// What a piece of the document completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part<'a> {
    /// An array of items begins. Of a doubled key the last counts, so those before are void.
    Begin,
    /// An element, as it stands in the document.
    Element(&'a [u8]),
}

impl Split {
    /// Takes the next piece of the document, and gives what it completes to `part`, in order.
    ///
    /// # Errors
    ///
    /// Those of `part`.
    pub fn feed<E>(
        &mut self,
        mut piece: &[u8],
        mut part: impl FnMut(Part<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        while !piece.is_empty() {
            let (run, rest) = piece.split_at(self.run(piece));
            self.current().extend(run);
            piece = rest;
            if let Some((byte, rest)) = rest.split_first() {
                self.turn(*byte, &mut part)?;
                piece = rest;
            }
        }
        Ok(())
    }

    /// The document with a placeholder for each element of `items`.
    #[must_use]
    pub fn rest(&self) -> &[u8] {
        &self.rest
    }

    /// How many bytes come before one that changes anything.
    fn run(&self, piece: &[u8]) -> usize {
        let next = match (self.escaped, self.in_string) {
            (true, _) => Some(0),
            (false, true) => memchr2(b'"', b'\\', piece),
            (false, false) => piece.iter().position(|byte| b"\"[]{},".contains(byte)),
        };
        next.unwrap_or(piece.len())
    }

    /// Takes a byte that changes something.
    fn turn<E>(
        &mut self,
        byte: u8,
        part: &mut impl FnMut(Part<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.in_string {
            self.in_string = self.escaped || byte != b'"';
            self.escaped = !self.escaped && byte == b'\\';
            self.current().push(byte);
            return Ok(());
        }
        let between_elements = self.in_items && self.depth == 2;
        match byte {
            b'"' => {
                self.in_string = true;
                if self.depth == 1 {
                    self.key_at = self.rest.len();
                }
            }
            b'[' if self.depth == 1 && self.is_after_items() => {
                self.rest.push(byte);
                (self.in_items, self.depth) = (true, 2);
                return part(Part::Begin);
            }
            b'[' | b'{' => self.depth += 1,
            b',' if between_elements => {
                self.end_element(part)?;
                self.rest.push(byte);
                return Ok(());
            }
            b']' | b'}' if between_elements => {
                self.end_element(part)?;
                (self.in_items, self.depth) = (false, 1);
            }
            b']' | b'}' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        self.current().push(byte);
        Ok(())
    }

    fn current(&mut self) -> &mut Vec<u8> {
        if self.in_items { &mut self.element } else { &mut self.rest }
    }

    /// Whether the last key of the root is `items`, in whatever spelling.
    fn is_after_items(&self) -> bool {
        let text = self.rest.get(self.key_at..).unwrap_or_default().trim_ascii_end();
        let key = text.strip_suffix(b":").and_then(|key| str::from_utf8(key.trim_ascii_end()).ok());
        key.is_some_and(|key| fields::unescaped(key) == "items")
    }

    fn end_element<E>(
        &mut self,
        part: &mut impl FnMut(Part<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let element = self.element.trim_ascii();
        if !element.is_empty() {
            self.rest.push(b'0');
            part(Part::Element(element))?;
        }
        self.element.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The elements and the rest, read `piece` bytes at a time.
    fn split(text: &str, piece: usize) -> (Vec<String>, String) {
        let mut split = Split::default();
        let mut elements = Vec::new();
        for bytes in text.as_bytes().chunks(piece) {
            let done: Result<(), ()> = split.feed(bytes, |part| {
                match part {
                    Part::Begin => elements.clear(),
                    Part::Element(text) => {
                        elements.push(String::from_utf8(text.to_vec()).unwrap());
                    }
                }
                Ok(())
            });
            done.unwrap();
        }
        (elements, String::from_utf8(split.rest().to_vec()).unwrap())
    }

    #[test]
    fn elements_of_items_are_taken_out_and_nothing_else() {
        for (text, elements, rest) in [
            (
                r#"{"items":[{"a":[1,2]}, "x,]" ,3],"b":[4]}"#,
                &[r#"{"a":[1,2]}"#, r#""x,]""#, "3"][..],
                r#"{"items":[0,0,0],"b":[4]}"#,
            ),
            (r#"{"b":{"items":[1]},"items" : [ ]}"#, &[], r#"{"b":{"items":[1]},"items" : []}"#),
            (r#"{"it\u0065ms":["\"]\\"]}"#, &[r#""\"]\\""#], r#"{"it\u0065ms":[0]}"#),
            (r#"{"items":[1],"items":[2]}"#, &["2"], r#"{"items":[0],"items":[0]}"#),
            (r#"{"items":"items","b":["items"]}"#, &[], r#"{"items":"items","b":["items"]}"#),
            (r#"{"items":[1,,2,]}"#, &["1", "2"], r#"{"items":[0,,0,]}"#),
            (r#"{"items":[{"a":1]}"#, &[r#"{"a":1]"#], r#"{"items":[0}"#),
            (r#"{"items":[{"a":[1"#, &[], r#"{"items":["#),
            (r#"[["items"]]"#, &[], r#"[["items"]]"#),
        ] {
            for piece in [1, 2, 3, 7, 100] {
                let (have, have_rest) = split(text, piece);
                assert_eq!(
                    (have.as_slice(), &*have_rest),
                    (elements.iter().map(ToString::to_string).collect::<Vec<_>>().as_slice(), rest),
                    "{text}"
                );
            }
        }
    }

    /// JSON texts, valid or nearly so, with much of what could confuse.
    fn documents() -> impl Strategy<Value = String> {
        let token = prop::sample::select(vec![
            "{",
            "}",
            "[",
            "]",
            ",",
            ":",
            "\"items\"",
            "\"\\\"\"",
            "\"a,]\"",
            "1",
            " ",
            "\"items\":[",
            "{\"items\":[",
            "]}",
        ]);
        prop::collection::vec(token, 0..14).prop_map(|tokens| tokens.concat())
    }

    proptest! {
        #[test]
        fn a_document_is_json_exactly_if_its_parts_are(text in documents(), piece in 1_usize..5) {
            let is_json = |text: &str| serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
            let mut bad = false;
            let mut split = Split::default();
            for bytes in text.as_bytes().chunks(piece) {
                let done: Result<(), ()> = split.feed(bytes, |part| {
                    if let Part::Element(text) = part {
                        bad |= !is_json(str::from_utf8(text).unwrap());
                    }
                    Ok(())
                });
                done.unwrap();
            }
            let parts_are = !bad && is_json(str::from_utf8(split.rest()).unwrap());
            prop_assert_eq!(parts_are, is_json(&text), "{}", text);
        }
    }
}
