//! Messages that are put together while the program compiles.
//!
//! `format!` can't run there. So the text goes into a buffer, piece by piece, and the panic shows the buffer: that
//! is what makes an error name the user's own fields and numbers.

#![expect(clippy::as_conversions, reason = "`From` can't be called in a const fn")]

use table_words::format::{ALL, DIRECTIVES, Mistake, WIDEST};

use super::{FieldPart, Template};

const CAPACITY: usize = 1_024;

/// A text in the making.
#[derive(Clone, Copy)]
pub(crate) struct Message {
    bytes: [u8; CAPACITY],
    len: usize,
}

impl Message {
    pub(crate) const fn new(text: &str) -> Self {
        Self { bytes: [0; CAPACITY], len: 0 }.text(text)
    }

    /// Returns the text so far.
    pub(crate) const fn as_str(&self) -> &str {
        let (text, _) = self.bytes.split_at(self.len);
        match std::str::from_utf8(text) {
            Ok(text) => text,
            // Only whole texts and characters of ASCII go in.
            Err(_) => "",
        }
    }

    /// Stops the compiler, or the program, with the message.
    #[track_caller]
    #[expect(clippy::panic, reason = "a constant has no other way to refuse")]
    pub(crate) const fn refuse(&self) -> ! {
        panic!("{}", self.as_str())
    }

    /// Appends a text, or nothing if there is no room for it.
    #[must_use]
    pub(crate) const fn text(mut self, text: &str) -> Self {
        if self.len + text.len() > CAPACITY {
            return self;
        }
        let (_, free) = self.bytes.split_at_mut(self.len);
        let (into, _) = free.split_at_mut(text.len());
        into.copy_from_slice(text.as_bytes());
        self.len += text.len();
        self
    }

    #[must_use]
    pub(crate) const fn number(self, number: u64) -> Self {
        const DIGITS: [&str; 10] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];
        let rest = if number < 10 { self } else { self.number(number / 10) };
        let mut digits: &[&str] = &DIGITS;
        let mut last = number % 10;
        while let [digit, others @ ..] = digits {
            if last == 0 {
                return rest.text(digit);
            }
            last -= 1;
            digits = others;
        }
        rest
    }

    #[must_use]
    pub(crate) const fn count(self, count: usize) -> Self {
        self.number(count as u64)
    }

    /// Adds a character of ASCII, in quotes.
    #[must_use]
    pub(crate) const fn character(self, c: u8) -> Self {
        if c < 0x20 || c > 0x7e {
            return self.text("a character of code ").number(c as u64);
        }
        let one = [c];
        match std::str::from_utf8(&one) {
            Ok(c) => self.text("`").text(c).text("`"),
            Err(_) => self,
        }
    }

    /// Adds a template: `` `empid_{id:06}` ``.
    #[must_use]
    pub(crate) const fn template(self, template: &Template) -> Self {
        self.text("`").text(template.source).text("`")
    }

    /// Appends what is wrong with the format of a part whose field has no name here.
    #[must_use]
    pub(crate) const fn mistake(self, mistake: Mistake<'_>) -> Self {
        match mistake {
            Mistake::Missing => self.text("a format is missing after the colon"),
            Mistake::Unknown(word) => self.text("unknown format `").text(word).text("`; ").text(ALL),
            Mistake::Swapped { first, second } => {
                self.text("write `").text(second).text(":").text(first).text("`")
            }
            Mistake::OffsetHasWidth => self.text("`offset` has a width of its own"),
            Mistake::Apart { first, second, .. } => {
                let message = self.text("`").text(first).text("` and `").text(second);
                message.text("` don't go together: write one of them")
            }
            Mistake::NoDigits => self.text("a width of 0 has no room for a digit"),
            Mistake::Zeros(digits) => {
                self.text("a width stands behind one zero, which it pads with: `0").text(digits).text("`")
            }
            Mistake::Wide(digits) => self
                .text("a width of ")
                .text(digits)
                .text(" is too much: the widest integer has ")
                .count(WIDEST as usize)
                .text(" digits"),
            Mistake::NoCount => self.text("a shard says how many there are: `shard(16)`"),
            Mistake::Shards(number) => {
                self.text("there can be 2 to 100 shards, which two digits tell apart, and not ").text(number)
            }
            Mistake::TimeBeyondAscii(c) => {
                self.text("`").text(c).text("` can't stand in a time: only ASCII can")
            }
            Mistake::TimeUnknown(c) => {
                self.text("unknown `%").text(c).text("`; a time is written with ").text(DIRECTIVES)
            }
            Mistake::TimeEnds => self.text("`%` stands alone; a time is written with ").text(DIRECTIVES),
            _ => self.text("no such format"),
        }
    }

    /// Appends a field's part as its template writes it: `{id:06}`.
    #[must_use]
    pub(crate) const fn part(self, name: &str, part: &FieldPart) -> Self {
        self.part_as(name, part, part.source)
    }

    /// Appends a field's part as its template would write it with this format.
    #[must_use]
    pub(crate) const fn part_as(self, name: &str, part: &FieldPart, format: &str) -> Self {
        let colon = if format.is_empty() { "" } else { ":" };
        let each = if part.each { "[]" } else { "" };
        self.text("{").text(name).text(each).text(colon).text(format).text("}")
    }
}
