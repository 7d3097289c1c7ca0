//! Whether two templates can print one key.
//!
//! A template prints a sequence of bytes, each of a known set, and some of them any number of times. Two such sequences
//! are walked side by side: they can be one text if both can be at their end together. The walk never misses a text that
//! both print. Where it knows a type by its characters alone, it may see a text that neither prints.

#![expect(clippy::indexing_slicing, reason = "`get` can't be called in a const fn; the ends stand beside")]

use table_words::Format;
use table_words::format::{BLIND_DIGITS, TimeItem, TimePattern};

use super::super::{FieldPartOf, PartOf};
use super::charset::CharSet;
use super::key_type::{KeyTypeOf, lengths, width};

/// The longest sequence that is walked; of a longer one, the rest may be anything.
const LONGEST: usize = 640;

const DIGITS: CharSet = CharSet::range('0', '9');
const HEX: CharSet = DIGITS.or(CharSet::range('a', 'f'));
/// The characters of escaped text. It has no space, `!` or `"`.
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

    /// Returns whether both can be the same byte.
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
    const fn of(parts: &[PartOf<'_>]) -> Self {
        let mut sequence = Self { symbols: [Symbol::one(CharSet::NONE); LONGEST], len: 0 };
        let mut parts = parts;
        while let [part, rest @ ..] = parts {
            match part {
                PartOf::Literal(text) => sequence.literal(text.as_bytes()),
                PartOf::Field(part) => sequence.field(part, ends(rest)),
            }
            parts = rest;
        }
        sequence
    }

    /// Returns all but so many symbols at either end.
    const fn between(&self, first: usize, cut: usize) -> &[Symbol] {
        let (symbols, _) = self.symbols.split_at(self.len - cut);
        let (_, symbols) = symbols.split_at(first);
        symbols
    }

    const fn push(&mut self, symbol: Symbol) {
        if self.len < LONGEST {
            self.symbols[self.len] = symbol;
            self.len += 1;
        } else {
            self.symbols[LONGEST - 1] = Symbol::many(CharSet::ALL);
        }
    }

    const fn repeat(&mut self, set: CharSet, times: usize) {
        let mut left = times;
        while left > 0 {
            self.push(Symbol::one(set));
            left -= 1;
        }
    }

    const fn literal(&mut self, bytes: &[u8]) {
        let mut bytes = bytes;
        while let [byte, rest @ ..] = bytes {
            self.push(Symbol::literal(*byte));
            bytes = rest;
        }
    }

    /// `end` holds the characters that end the part, since it has none of them.
    const fn field(&mut self, part: &FieldPartOf<'_>, end: CharSet) {
        let key = part.key.single();
        match (key, part.format) {
            (_, Format::Blind) => self.repeat(HEX, BLIND_DIGITS),
            (_, Format::Time(pattern)) => self.time(pattern),
            (KeyTypeOf::Text(_), Format::Escaped) => self.push(Symbol::many(ESCAPED)),
            (KeyTypeOf::Text(chars), Format::Lower) => {
                self.push(Symbol::many(CharSet::KEY.and(chars.folded()).without(end)));
            }
            (KeyTypeOf::Text(chars), Format::Plain) => {
                self.push(Symbol::many(CharSet::KEY.and(chars).without(end)));
            }
            (KeyTypeOf::Names(names), Format::Plain) => self.names(names),
            (KeyTypeOf::Uuid, Format::Plain) => self.repeat(HEX, 32),
            (KeyTypeOf::Bool, Format::Plain) => self.push(Symbol::one(CharSet::of("01"))),
            _ => match width(key, part.format) {
                Some(width) => self.repeat(DIGITS, width),
                None => self.push(Symbol::many(CharSet::ALL)),
            },
        }
    }

    const fn time(&mut self, pattern: TimePattern<'_>) {
        let mut pattern = pattern;
        while let Some((item, rest)) = pattern.split_first() {
            match item {
                TimeItem::Char(c) => self.literal(c.encode_utf8(&mut [0; 4]).as_bytes()),
                _ => self.repeat(DIGITS, item.width()),
            }
            pattern = rest;
        }
    }

    /// At each place, the characters that the names have there.
    const fn names(&mut self, names: &[&str]) {
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
            self.push(symbol);
            at += 1;
        }
    }
}

/// Returns the character of ASCII that ends the part before these, which doesn't hold it.
const fn ends(rest: &[PartOf<'_>]) -> CharSet {
    if let [PartOf::Literal(text), ..] = rest
        && let [first, ..] = text.as_bytes()
        && first.is_ascii()
    {
        return CharSet::byte(*first);
    }
    CharSet::NONE
}

/// Returns whether there may be a key that templates of these parts both print.
pub(crate) const fn meet(a: &[PartOf<'_>], b: &[PartOf<'_>]) -> bool {
    // Most templates start with text of their own, and that is all there is to see.
    if let ([PartOf::Literal(a), ..], [PartOf::Literal(b), ..]) = (a, b)
        && differ(a.as_bytes(), b.as_bytes())
    {
        return false;
    }
    let (a, b) = (Sequence::of(a), Sequence::of(b));
    let (mut first, mut cut) = (0, 0);
    // A part at the same place in both, counted from either end, is as good as literal text.
    while first < a.len && first < b.len {
        let (x, y) = (a.symbols[first], b.symbols[first]);
        if x.is_skippable() || y.is_skippable() {
            break;
        }
        if !x.meets(y) {
            return false;
        }
        first += 1;
    }
    while first + cut < a.len && first + cut < b.len {
        let (x, y) = (a.symbols[a.len - 1 - cut], b.symbols[b.len - 1 - cut]);
        if x.is_skippable() || y.is_skippable() {
            break;
        }
        if !x.meets(y) {
            return false;
        }
        cut += 1;
    }
    walk(a.between(first, cut), b.between(first, cut))
}

/// Returns whether neither is a prefix of the other.
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
const fn walk(a: &[Symbol], b: &[Symbol]) -> bool {
    let mut here = [false; LONGEST + 1];
    here[0] = true;
    // The places between which any is true.
    let (mut first, mut last) = (0, 0);
    let mut i = 0;
    loop {
        let mut next = [false; LONGEST + 1];
        let (mut next_first, mut next_last) = (LONGEST, 0);
        let mut j = first;
        while j <= last {
            if !here[j] {
                j += 1;
                continue;
            }
            // The places to go on to: in this row, in the next, or in the next and one further.
            let (mut right, mut down, mut diagonal) = (false, false, false);
            if j < b.len() && b[j].is_skippable() {
                right = true;
            }
            if i < a.len() && a[i].is_skippable() {
                down = true;
            }
            if i < a.len() && j < b.len() && a[i].meets(b[j]) {
                match (a[i].many, b[j].many) {
                    (true, true) => {}
                    (true, false) => right = true,
                    (false, true) => down = true,
                    (false, false) => diagonal = true,
                }
            }
            if right {
                here[j + 1] = true;
                if last == j {
                    last += 1;
                }
            }
            if down {
                next[j] = true;
                next_last = j;
            }
            if diagonal {
                next[j + 1] = true;
                next_last = j + 1;
            }
            if next_first == LONGEST && (down || diagonal) {
                next_first = if down { j } else { j + 1 };
            }
            j += 1;
        }
        if i == a.len() {
            return here[b.len()];
        }
        if next_first > next_last {
            return false;
        }
        (here, first, last) = (next, next_first, next_last);
        i += 1;
    }
}
