//! What of a Markdown board is prose, line by line: the rest is code, comments and quotes.
//!
//! Only what decides that is understood: fences, indented code, list items, block quotes and HTML
//! comments. Nothing is nested deeper than list items, so that one line's cost is its length.

use serde::{Deserialize, Serialize};

/// An open code fence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fence {
    /// What it is made of.
    tilde: bool,
    /// How many of them.
    length: usize,
    /// The content column of the list item that it stands in.
    base: usize,
    /// The line that opened it.
    pub line_number: u64,
}

/// What a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Nothing but blanks, code, a fence or a comment: nobody is addressed.
    Nothing,
    /// A block quote.
    Quote,
    /// All else.
    Prose,
}

/// What is open between two lines.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Open {
    /// The fence, if the next line is in one.
    pub fence: Option<Fence>,
    /// The content column of each open list item, the outermost first.
    pub items: Vec<usize>,
}

/// Space, TAB, VT or FF.
pub(crate) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | 0x0b | 0x0c)
}

/// A place in a line: the byte, and the column where it shows.
#[derive(Debug, Clone, Copy)]
struct Place {
    at: usize,
    column: usize,
}

impl Place {
    /// Goes over the blanks here.
    fn past_blanks(mut self, line: &[u8], is_blank: impl Fn(u8) -> bool) -> Self {
        while let Some(byte) = line.get(self.at).filter(|byte| is_blank(**byte)) {
            // TAB stops are every four columns.
            self.column = if *byte == b'\t' { (self.column / 4 + 1) * 4 } else { self.column + 1 };
            self.at += 1;
        }
        self
    }

    fn forward(self, bytes: usize) -> Self {
        Self { at: self.at + bytes, column: self.column + bytes }
    }
}

impl Open {
    /// Reads the next line, without its end, and says what it is.
    pub fn read(&mut self, line: &[u8], line_number: u64) -> Kind {
        let indent = Place { at: 0, column: 0 }.past_blanks(line, |byte| b" \t".contains(&byte));
        if let Some(fence) = self.fence {
            if fence.is_closed_by(line, indent) {
                self.fence = None;
            }
            return Kind::Nothing;
        }
        // Blanks only: paragraphs end, which changes nothing here.
        if line.iter().all(|byte| is_blank(*byte)) {
            return Kind::Nothing;
        }
        self.leave_items(indent.column);
        let in_item = !self.items.is_empty();
        let here = self.enter_items(line, indent);
        let base = self.base();
        let rest = line.get(here.at..).unwrap_or_default();
        if here.column <= base + 3
            && let Some((tilde, length)) = opener(rest)
        {
            self.fence = Some(Fence { tilde, length, base, line_number });
            return Kind::Nothing;
        }
        // The reply right below a list item is written with four spaces.
        let reply = in_item && indent.column == 4 && line.starts_with(b"    ");
        if indent.column >= 4 && !reply {
            return Kind::Nothing;
        }
        match rest {
            [b'<', b'!', b'-', b'-', ..] => Kind::Nothing,
            [b'>', ..] => Kind::Quote,
            _ => Kind::Prose,
        }
    }

    fn base(&self) -> usize {
        self.items.last().copied().unwrap_or(0)
    }

    /// Closes the items that a line with this indent doesn't belong to. One that is indented like
    /// code leaves the outermost open.
    fn leave_items(&mut self, indent: usize) {
        let kept = usize::from(indent >= 4).min(self.items.len());
        while self.items.len() > kept && self.base() > indent {
            self.items.pop();
        }
    }

    /// Opens an item for each marker here, and says where the content begins.
    fn enter_items(&mut self, line: &[u8], mut here: Place) -> Place {
        let mut ruler = None;
        while here.column <= self.base() + 3
            && let Some(marker) = marker(line.get(here.at..).unwrap_or_default())
        {
            // Found once for the whole line, so that a line of markers takes linear time.
            if ruler.get_or_insert_with(|| Ruler::of(line)).is_break(here.at) {
                break;
            }
            let end = here.forward(marker);
            here = end.past_blanks(line, is_blank);
            let beyond = here.at == line.len() || here.column > end.column + 4;
            self.items.push(if beyond { end.column + 1 } else { here.column });
        }
        here
    }
}

impl Fence {
    fn is_closed_by(&self, line: &[u8], indent: Place) -> bool {
        let rest = line.get(indent.at..).unwrap_or_default();
        let length = run(rest, if self.tilde { b'~' } else { b'`' });
        indent.column <= self.base + 3
            && length >= self.length
            && rest[length..].iter().all(|byte| is_blank(*byte))
    }
}

fn run(text: &[u8], byte: u8) -> usize {
    text.iter().take_while(|found| **found == byte).count()
}

/// A fence's character and length. Backticks with another one later in the line are inline code.
fn opener(text: &[u8]) -> Option<(bool, usize)> {
    let first = *text.first().filter(|byte| b"`~".contains(byte))?;
    let length = run(text, first);
    let inline = first == b'`' && memchr::memchr(b'`', &text[length..]).is_some();
    (length >= 3 && !inline).then_some((first == b'~', length))
}

/// The length of a list marker that a blank follows.
fn marker(text: &[u8]) -> Option<usize> {
    let length = match text.first()? {
        b'-' | b'+' | b'*' => 1,
        b'0'..=b'9' => {
            let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
            text.get(digits).filter(|byte| b".)".contains(byte))?;
            digits + 1
        }
        _ => return None,
    };
    text.get(length).filter(|byte| is_blank(**byte)).map(|_| length)
}

/// Where a thematic break could begin in a line: from there on nothing but blanks and three or
/// more of one of `*`, `-` and `_`.
#[derive(Debug, Clone, Copy)]
struct Ruler {
    first: usize,
    last: Option<usize>,
}

impl Ruler {
    fn of(line: &[u8]) -> Self {
        let mark = line.iter().rev().copied().find(|byte| !is_blank(*byte));
        let mark = mark.filter(|byte| b"*-_".contains(byte));
        let other = line.iter().rposition(|byte| !is_blank(*byte) && Some(*byte) != mark);
        let marks = line.iter().enumerate().rev().filter(|(_, byte)| Some(**byte) == mark);
        let last = marks.map(|(at, _)| at).nth(2);
        Self { first: other.map_or(0, |at| at + 1), last }
    }

    fn is_break(self, at: usize) -> bool {
        self.last.is_some_and(|last| (self.first..=last).contains(&at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One letter for each line: `.` nothing, `q` quote, `p` prose.
    fn kinds(board: &str) -> String {
        let mut open = Open::default();
        let letter = |kind| match kind {
            Kind::Nothing => '.',
            Kind::Quote => 'q',
            Kind::Prose => 'p',
        };
        (1..).zip(board.lines()).map(|(n, line)| letter(open.read(line.as_bytes(), n))).collect()
    }

    #[test]
    fn fences_hide_what_is_in_them() {
        for (board, want) in [
            ("```\nx\n```\ny", "...p"),
            ("```\nx\n`````\ny", "...p"),
            ("`````\n```\n`````\ny", "...p"),
            ("~~~\n```\n~~~\ny", "...p"),
            ("```\n~~~\n```\ny", "...p"),
            ("~~~a`b\nx\n~~~", "..."),
            ("``` js `x`\ny", "pp"),
            ("~~~ x ~~~\ny", ".."),
            ("```text\n```nope\nx", "..."),
            ("   ```\nx\n   ```\ny", "...p"),
            ("```\nx\n    ```\ny", "...."),
            ("``\ny", "pp"),
        ] {
            assert_eq!(kinds(board), want, "{board}");
        }
    }

    #[test]
    fn items_move_what_counts_as_indented() {
        for (board, want) in [
            ("- x\n    y", "pp"),
            ("- x\n     y", "p."),
            ("x\n    y", "p."),
            ("100. x\n    y", "pp"),
            ("123456789012. x\n    y", "pp"),
            ("- x\n  on\n    y", "ppp"),
            ("- x\nlazy\n    y", "pp."),
            ("* * * *\n    y", "p."),
            ("- - - x\n    y", "pp"),
            ("- x\n    ```\n    y\n    ```\n    z", "p...p"),
            ("- x\n\t```\n\ty\n\t```", "p..."),
            ("- a\n    - b\n        ~~~\n    y\n        ~~~\nz", "pp...p"),
            ("- ```\n  - ```\n  ```\ny", "...p"),
            ("1. ```\n    x\n   ```\ny", "...p"),
            ("\tx", "."),
            (" \tx", "."),
            ("-\n    y", "p."),
            ("-     a\n  b\n    c", "ppp"),
        ] {
            assert_eq!(kinds(board), want, "{board}");
        }
    }

    #[test]
    fn quotes_and_comments_address_nobody() {
        assert_eq!(kinds("> a\n- > b\n<!-- c -->\nd\n\n<pre>"), "qq.p.p");
    }

    #[test]
    fn a_line_of_markers_takes_linear_time() {
        let line = "- ".repeat(1 << 20);
        let mut open = Open::default();
        assert_eq!(open.read(line.as_bytes(), 1), Kind::Prose);
        let line = format!("{line}x");
        assert_eq!(open.read(line.as_bytes(), 2), Kind::Prose);
        assert_eq!(open.items.len(), 1 << 20);
    }
}
