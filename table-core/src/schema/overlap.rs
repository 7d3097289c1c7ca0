//! Whether two templates can print one key.
//!
//! What a template prints is a sequence of bytes, each of a known set, and some of them any number of times. Two
//! such sequences are walked side by side: they can be one text if both can be at their end together. The walk
//! never misses a text that both print. Where it knows a type by its characters alone, it may see one that
//! neither does.

#![expect(clippy::indexing_slicing, reason = "`get` can't be called in a const fn; the ends stand beside")]

use super::charset::CharSet;
use super::key_type::{BLIND_DIGITS, Format, KeyType, TimeItem, lengths, width};
use super::{FieldPart, Part, Template};

/// The longest sequence that is walked; of a longer one, the rest may be anything.
const LONGEST: usize = 640;

const DIGITS: CharSet = CharSet::range('0', '9');
const HEX: CharSet = DIGITS.or(CharSet::range('a', 'f'));
/// What escaped text holds. It has no space, `!` or `"`.
const ESCAPED: CharSet = CharSet::KEY.without(CharSet::of(" !\""));

/// A byte that is printed.
#[derive(Clone, Copy)]
struct Symbol {
    set: CharSet,
    /// The byte itself, if it is a known one beyond ASCII, which the set doesn't tell from others.
    byte: Option<u8>,
    /// Any number of times, or none.
    many: bool,
    /// Once, or not at all.
    optional: bool,
}

impl Symbol {
    const fn one(set: CharSet) -> Self {
        Self { set, byte: None, many: false, optional: false }
    }

    const fn many(set: CharSet) -> Self {
        Self { set, byte: None, many: true, optional: false }
    }

    const fn literal(byte: u8) -> Self {
        let known = if byte < 128 { None } else { Some(byte) };
        Self { set: CharSet::byte(byte), byte: known, many: false, optional: false }
    }

    const fn is_skippable(self) -> bool {
        self.many || self.optional
    }

    /// Whether both can be the same byte.
    const fn meets(self, other: Self) -> bool {
        match (self.byte, other.byte) {
            (Some(a), Some(b)) => a == b,
            _ => !self.set.and(other.set).is_none(),
        }
    }
}

/// All that a template prints.
struct Sequence {
    symbols: [Symbol; LONGEST],
    len: usize,
}

impl Sequence {
    #[expect(clippy::large_stack_arrays, reason = "30 KiB, in the compiler or once for each pair of kinds")]
    const fn of(template: &Template) -> Self {
        let mut sequence = Self { symbols: [Symbol::one(CharSet::NONE); LONGEST], len: 0 };
        let mut parts = template.parts;
        while let [part, rest @ ..] = parts {
            sequence = match part {
                Part::Literal(text) => sequence.literal(text.as_bytes()),
                Part::Field(part) => sequence.field(part, ends(rest)),
            };
            parts = rest;
        }
        sequence
    }

    const fn push(mut self, symbol: Symbol) -> Self {
        if self.len < LONGEST {
            self.symbols[self.len] = symbol;
            self.len += 1;
        } else {
            self.symbols[LONGEST - 1] = Symbol::many(CharSet::ALL);
        }
        self
    }

    const fn repeat(mut self, set: CharSet, times: usize) -> Self {
        let mut left = times;
        while left > 0 {
            self = self.push(Symbol::one(set));
            left -= 1;
        }
        self
    }

    const fn literal(mut self, bytes: &[u8]) -> Self {
        let mut bytes = bytes;
        while let [byte, rest @ ..] = bytes {
            self = self.push(Symbol::literal(*byte));
            bytes = rest;
        }
        self
    }

    /// `end` holds what the part doesn't, so that it has an end.
    const fn field(self, part: &FieldPart, end: CharSet) -> Self {
        let key = part.key.single();
        match (key, part.format) {
            (_, Format::Blind) => self.repeat(HEX, BLIND_DIGITS),
            (_, Format::Time(items)) => self.time(items),
            (KeyType::Text(_), Format::Escaped) => self.push(Symbol::many(ESCAPED)),
            (KeyType::Text(chars), Format::Lower) => {
                self.push(Symbol::many(CharSet::KEY.and(chars.folded()).without(end)))
            }
            (KeyType::Text(chars), Format::Plain) => {
                self.push(Symbol::many(CharSet::KEY.and(chars).without(end)))
            }
            (KeyType::Names(names), Format::Plain) => self.names(names),
            (KeyType::Uuid, Format::Plain) => self.repeat(HEX, 32),
            (KeyType::Bool, Format::Plain) => self.repeat(CharSet::of("01"), 1),
            _ => match width(key, part.format) {
                Some(width) => self.repeat(DIGITS, width),
                None => self.push(Symbol::many(CharSet::ALL)),
            },
        }
    }

    const fn time(mut self, items: &[TimeItem]) -> Self {
        let mut items = items;
        while let [item, rest @ ..] = items {
            self = match item {
                TimeItem::Char(c) => self.literal(c.encode_utf8(&mut [0; 4]).as_bytes()),
                _ => self.repeat(DIGITS, item.width()),
            };
            items = rest;
        }
        self
    }

    /// At each place, what any of the names has there.
    const fn names(mut self, names: &[&str]) -> Self {
        let (least, most) = lengths(names);
        let mut at = 0;
        while at < most {
            let mut symbol = Symbol::one(CharSet::NONE);
            let mut rest = names;
            while let [name, others @ ..] = rest {
                if at < name.len() {
                    symbol.set = symbol.set.or(CharSet::byte(name.as_bytes()[at]));
                }
                rest = others;
            }
            symbol.optional = at >= least;
            self = self.push(symbol);
            at += 1;
        }
        self
    }
}

/// What the part before these doesn't hold: a character of ASCII that ends it.
const fn ends(rest: &[Part]) -> CharSet {
    if let [Part::Literal(text), ..] = rest
        && let [first, ..] = text.as_bytes()
        && first.is_ascii()
    {
        return CharSet::byte(*first);
    }
    CharSet::NONE
}

/// Whether there may be a key that both print.
pub(crate) const fn meet(a: &Template, b: &Template) -> bool {
    // Most templates start with text of their own, and that is all there is to see.
    if let ([Part::Literal(a), ..], [Part::Literal(b), ..]) = (a.parts, b.parts)
        && differ(a.as_bytes(), b.as_bytes())
    {
        return false;
    }
    walk(&Sequence::of(a), &Sequence::of(b))
}

/// Whether neither is a prefix of the other.
const fn differ(a: &[u8], b: &[u8]) -> bool {
    let (mut a, mut b) = (a, b);
    while let ([x, rest_of_a @ ..], [y, rest_of_b @ ..]) = (a, b) {
        if *x != *y {
            return true;
        }
        (a, b) = (rest_of_a, rest_of_b);
    }
    false
}

/// `here[j]` says that the first `i` symbols of `a` and the first `j` of `b` can have printed the same.
const fn walk(a: &Sequence, b: &Sequence) -> bool {
    let mut here = [false; LONGEST + 1];
    here[0] = true;
    // Between which places any is true.
    let (mut first, mut last) = (0, 0);
    let mut i = 0;
    loop {
        let mut next = [false; LONGEST + 1];
        let (mut next_first, mut next_last) = (LONGEST, 0);
        let mut j = first;
        while j <= last {
            if here[j] {
                // The places to go on to: in this row, the next, or the next and one further.
                let (mut right, mut down, mut diagonal) = (false, false, false);
                if j < b.len && b.symbols[j].is_skippable() {
                    right = true;
                }
                if i < a.len && a.symbols[i].is_skippable() {
                    down = true;
                }
                if i < a.len && j < b.len && a.symbols[i].meets(b.symbols[j]) {
                    match (a.symbols[i].many, b.symbols[j].many) {
                        (true, true) => {}
                        (true, false) => right = true,
                        (false, true) => down = true,
                        (false, false) => diagonal = true,
                    }
                }
                if right {
                    here[j + 1] = true;
                    if last < j + 1 {
                        last = j + 1;
                    }
                }
                if down {
                    next[j] = true;
                }
                if diagonal {
                    next[j + 1] = true;
                }
                if (down || diagonal) && next_first == LONGEST {
                    next_first = if down { j } else { j + 1 };
                }
                if diagonal {
                    next_last = j + 1;
                } else if down {
                    next_last = j;
                }
            }
            j += 1;
        }
        if i == a.len {
            return here[b.len];
        }
        if next_first > next_last {
            return false;
        }
        (here, first, last) = (next, next_first, next_last);
        i += 1;
    }
}
