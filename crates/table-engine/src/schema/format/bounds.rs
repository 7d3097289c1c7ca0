//! A typed query as a range of keys.
//!
//! The bounds are those of the tuple, not of the string: `..="Jones"` on a text that is not the last part holds
//! every key whose text is `Jones`, whatever follows it. A value that no key can hold is no error here: nothing is found
//! under it. A range that reaches beyond all keys ends where the keys end.

use std::ops::Bound;

use table_words::key::is_forbidden;

#[cfg(test)]
use super::super::fields;
use super::super::key_error::Reason;
use super::super::value::PropertyValue;
use super::super::{FieldPart, Part, Template};
use super::escape::escape;
use super::fold::fold_char;
use super::key_type::{Format, KeyType};
use super::print::{KEY_BYTES, ended_by, in_bytes, into_text, print_part, print_shard};
use crate::model::ValueRef;

/// A part of a key that a query has fixed.
#[derive(Clone, Debug)]
pub(crate) enum Fixed<'a> {
    /// The value of its field.
    Value(PropertyValue<'a>),
    /// The number of a shard, for `{x:shard(16)}`.
    #[allow(dead_code, reason = "no step of a query gives it yet")]
    Shard(u32),
}

/// What a query says of the part after the fixed ones.
#[derive(Clone, Debug)]
pub(crate) enum Next<'a> {
    /// Nothing.
    Any,
    /// Its text starts so.
    Prefix(&'a str),
    /// Its value lies between.
    Range(Edge<'a>, Edge<'a>),
}

/// An end of a range of values.
#[derive(Clone, Debug)]
pub(crate) enum Edge<'a> {
    /// There is none.
    Open,
    /// The value is in the range.
    Included(PropertyValue<'a>),
    /// The value is not.
    Excluded(PropertyValue<'a>),
    /// The range starts after all values, or ends before them.
    Nothing,
}

/// A range of keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum KeySpan {
    /// No key at all.
    Nothing,
    /// One.
    Exactly(String),
    /// All that start so.
    Prefix(String),
    /// All between. The ends are texts, so that an executor that sends them in a filter can.
    Between(Bound<String>, Bound<String>),
}

/// A range of keys, and whether it holds answers alone.
#[cfg(test)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bounds {
    /// Keys, with every answer among them.
    pub(crate) keys: KeySpan,
    /// Whether each key is an answer. If not, a lossy part let more in, and each row must be asked again.
    pub(crate) exact: bool,
}

/// Returns whether a range of the part's values is a range of keys. `is_last` says that nothing follows the part, not
/// even literal text.
pub(crate) const fn offers_range(part: &FieldPart, is_last: bool) -> bool {
    match (part.key.single(), part.format) {
        (_, Format::Shard(_) | Format::Blind) => false,
        (_, Format::Time(pattern)) => pattern.is_ordered(),
        (KeyType::Text(_), Format::Escaped) => true,
        // The text that ends it may sort before or after a text that continues it.
        (KeyType::Text(_), _) => is_last,
        // Names sort by the alphabet, which is hardly the order that the program means.
        (KeyType::Names(_), _) => false,
        _ => true,
    }
}

/// Returns whether the keys whose value starts with a text are a range of keys.
pub(crate) const fn offers_prefix(part: &FieldPart) -> bool {
    matches!(
        (part.key.single(), part.format),
        (KeyType::Text(_), Format::Plain | Format::Escaped | Format::Lower)
    )
}

/// Returns the part that `next` speaks of after so many fixed ones, if it offers no such range or prefix. A query that asks
/// for one is to be refused: its answer is no range of keys.
pub(crate) fn unoffered(template: &Template, fixed: usize, next: &Next<'_>) -> Option<&'static FieldPart> {
    let mut parts = template.parts.iter();
    let part = parts.by_ref().filter_map(field).nth(fixed)?;
    let is_last = parts.as_slice().is_empty();
    let is_offered = match next {
        Next::Any => true,
        Next::Prefix(_) => offers_prefix(part),
        Next::Range(..) => offers_range(part, is_last),
    };
    (!is_offered).then_some(part)
}

/// Returns the keys that a query asks for: `fixed` has the first parts that are fields, in order, and `next` speaks of
/// the one after them. A part that does [not offer](unoffered) what is asked gives too many keys, never too few.
pub(crate) fn keys_of(template: &Template, fixed: &[Fixed<'_>], next: &Next<'_>) -> KeySpan {
    let is_offered = matches!(next, Next::Any) || unoffered(template, fixed.len(), next).is_none();
    span(template, fixed, if is_offered { next } else { &Next::Any })
        .map_or(KeySpan::Nothing, |(keys, _)| keys)
}

/// Returns the keys that a query asks for, and whether all of their rows are answers.
#[cfg(test)]
pub(crate) fn bounds(template: &Template, fixed: &[Fixed<'_>], next: &Next<'_>) -> Bounds {
    let is_offered = unoffered(template, fixed.len(), next).is_none();
    let keys = span(template, fixed, if is_offered { next } else { &Next::Any });
    let is_filtered = keys.is_some_and(|(_, is_filtered)| is_filtered);
    let exact = is_offered && is_exact(template, fixed) && !is_filtered;
    Bounds { keys: keys_of(template, fixed, next), exact }
}

/// Returns whether the key keeps every fixed value, apart from parts that fold or hash it: a query by such a part asks for all
/// that folds or hashes alike.
#[cfg(test)]
fn is_exact(template: &Template, fixed: &[Fixed<'_>]) -> bool {
    let parts = || fields(template).zip(fixed);
    parts().all(|(part, value)| {
        let is_lost =
            matches!((part.format, value), (Format::Time(_), _) | (Format::Shard(_), Fixed::Value(_)));
        !is_lost || parts().any(|(other, _)| other.field == part.field && other.format.is_lossless())
    })
}

/// Appends what a key begins with, as far as the values of its fields are known. Returns how many parts that are fields it
/// has printed, and whether that is the whole key; `None` if a value can't stand in a key.
pub(crate) fn print_known<'v>(
    template: &Template,
    value: impl Fn(usize) -> Option<ValueRef<'v>>,
    out: &mut Vec<u8>,
) -> Option<(usize, bool)> {
    let mut printed = 0;
    for (at, part) in template.parts.iter().enumerate() {
        match part {
            Part::Literal(text) => out.extend_from_slice(text.as_bytes()),
            Part::Field(part) => {
                let Some(value) = value(part.field) else { return Some((printed, false)) };
                print_part(part, value, ended_by(template.parts, at), out).ok()?;
                printed += 1;
            }
        }
    }
    Some((printed, true))
}

/// Where the ends of a range of keys stand in a text that is written, and whether each is in the range.
pub(crate) struct PrintedRange {
    /// The lower end has so many bytes, and the upper one stands behind it.
    pub(crate) lower: usize,
    pub(crate) are_in: [bool; 2],
}

/// Appends the ends of a range of the part of this number, among those that are fields. What leads to the part has been
/// [printed](print_known) from `head` on, and becomes the lower end's. `None` where there is more to say: of an end that is
/// open or no value of the part, and of parts whose ranges run the other way or stand for several values.
pub(crate) fn print_range(
    template: &Template,
    field: usize,
    [start, end]: [&Edge<'_>; 2],
    head: usize,
    out: &mut Vec<u8>,
) -> Option<PrintedRange> {
    let mut parts = template.parts.iter();
    let part = parts.by_ref().filter_map(self::field).nth(field)?;
    let rest = parts.as_slice();
    let is_turned = matches!(part.format, Format::Inverted | Format::PadInverted(_) | Format::Time(_));
    if is_turned || !offers_range(part, rest.is_empty()) {
        return None;
    }
    let (low, from) = edge_value(start)?;
    let (high, to) = edge_value(end)?;
    let fields_follow = rest.iter().any(|part| matches!(part, Part::Field(_)));
    if fields_follow && (!from || to) {
        // The end is behind all keys that start with the value.
        return None;
    }
    let literals =
        || rest.iter().map_while(|part| if let Part::Literal(text) = part { Some(text) } else { None });
    let led = head..out.len();
    let print = |value, out: &mut Vec<u8>| {
        print_part(part, value, None, out).ok()?;
        literals().for_each(|text| out.extend_from_slice(text.as_bytes()));
        Some(())
    };
    print(low, out)?;
    let lower = out.len() - head;
    out.extend_from_within(led);
    print(high, out)?;
    Some(PrintedRange { lower, are_in: [from, to] })
}

/// Returns the value at an end, and whether it is in the range.
fn edge_value<'e>(edge: &'e Edge<'_>) -> Option<(ValueRef<'e>, bool)> {
    match edge {
        Edge::Included(value) => Some((value.as_value_ref()?, true)),
        Edge::Excluded(value) => Some((value.as_value_ref()?, false)),
        Edge::Open | Edge::Nothing => None,
    }
}

fn field(part: &Part) -> Option<&FieldPart> {
    match part {
        Part::Literal(_) => None,
        Part::Field(part) => Some(part),
    }
}

/// Returns the keys, and whether a row among them must be asked again; `None` for none.
fn span(template: &Template, fixed: &[Fixed<'_>], next: &Next<'_>) -> Option<(KeySpan, bool)> {
    let mut head = Vec::with_capacity(KEY_BYTES);
    let mut fixed = fixed.iter();
    for (at, part) in template.parts.iter().enumerate() {
        let part = match part {
            Part::Literal(text) => {
                head.extend_from_slice(text.as_bytes());
                continue;
            }
            Part::Field(part) => part,
        };
        match (fixed.next(), part.format) {
            (None, _) => return narrowed(template, at, part, into_text(head), next),
            (Some(Fixed::Shard(shard)), Format::Shard(shards)) if *shard < shards => {
                print_shard(*shard, shards, &mut head);
            }
            (Some(Fixed::Shard(_)), _) => return None,
            (Some(Fixed::Value(value)), _) => {
                print_part(part, value.as_value_ref()?, ended_by(template.parts, at), &mut head).ok()?;
            }
        }
    }
    Some((KeySpan::Exactly(into_text(head)), false))
}

/// Returns what `next` says of the part at `at`, which `head` leads to.
fn narrowed(
    template: &Template,
    at: usize,
    part: &FieldPart,
    mut head: String,
    next: &Next<'_>,
) -> Option<(KeySpan, bool)> {
    match next {
        Next::Any => Some((KeySpan::Prefix(head), false)),
        Next::Prefix(text) => {
            push_prefix(part, text, ended_by(template.parts, at), &mut head)?;
            Some((KeySpan::Prefix(head), false))
        }
        Next::Range(start, end) => {
            let mut tail = String::new();
            let mut is_last = true;
            for part in template.parts.iter().skip(at + 1) {
                match part {
                    Part::Literal(text) => tail.push_str(text),
                    Part::Field(_) => {
                        is_last = false;
                        break;
                    }
                }
            }
            let scope = Scope { part, head: &head, tail: &tail, is_last };
            let floors = matches!(part.format, Format::Time(_));
            scope.between(start, end, floors).map(|keys| (keys, floors))
        }
    }
}

/// Appends the start of a text; `None` if no text that the part can print starts so.
fn push_prefix(part: &FieldPart, text: &str, end: Option<char>, out: &mut String) -> Option<()> {
    let KeyType::Text(chars) = part.key.single() else { return None };
    if !text.chars().all(|c| chars.contains(c)) {
        return None;
    }
    if part.format == Format::Escaped {
        escape(text, out);
        return Some(());
    }
    for c in text.chars() {
        let printed = if part.format == Format::Lower { fold_char(c) } else { c };
        if is_forbidden(printed) || end == Some(printed) {
            return None;
        }
        out.push(printed);
    }
    Some(())
}

/// A part whose values a range bounds, and the literal text around it.
struct Scope<'a> {
    part: &'a FieldPart,
    head: &'a str,
    tail: &'a str,
    /// Whether no field follows.
    is_last: bool,
}

/// The end of a range, as a place among the keys.
enum Place {
    /// Before every key that starts with the head.
    Before,
    /// At the keys that start with this.
    At(String, bool),
    /// After every key that starts with the head.
    After,
}

impl Scope<'_> {
    fn between(&self, start: &Edge<'_>, end: &Edge<'_>, floors: bool) -> Option<KeySpan> {
        let (mut low, mut high) = (self.place(start, Place::Before)?, self.place(end, Place::After)?);
        if matches!(self.part.format, Format::Inverted | Format::PadInverted(_)) {
            (low, high) = (high.inverted(), low.inverted());
        }
        let is_open = matches!((&low, &high), (Place::Before, Place::After));
        if is_open {
            return Some(KeySpan::Prefix(self.head.to_owned()));
        }
        let low = match low {
            Place::Before if self.head.is_empty() => Bound::Unbounded,
            Place::Before => Bound::Included(self.head.to_owned()),
            // A time that is left out shares its period with others.
            Place::At(key, is_included) if is_included || floors => Bound::Included(key),
            Place::At(key, _) if self.is_last => Bound::Excluded(key),
            Place::At(key, _) => Bound::Included(successor(&key)?),
            Place::After => return None,
        };
        let high = match high {
            Place::Before => return None,
            Place::At(key, is_included) if is_included || floors => {
                if self.is_last {
                    Bound::Included(key)
                } else {
                    before_successor(&key)
                }
            }
            Place::At(key, _) => Bound::Excluded(key),
            Place::After => before_successor(self.head),
        };
        Some(KeySpan::Between(low, high))
    }

    /// Returns the place of an edge; `None` if the edge leaves nothing; `open` is where there is none.
    fn place(&self, edge: &Edge<'_>, open: Place) -> Option<Place> {
        let (value, is_included) = match edge {
            Edge::Open => return Some(open),
            Edge::Nothing => return None,
            Edge::Included(value) => (value.as_value_ref()?, true),
            Edge::Excluded(value) => (value.as_value_ref()?, false),
        };
        let mut key = String::with_capacity(self.head.len() + KEY_BYTES);
        key.push_str(self.head);
        match (self.part.key.single(), self.part.format, value.as_str()) {
            // As an end of a range, text that no key can hold has its place among the keys too.
            (KeyType::Text(_), Format::Plain, Some(text)) => key.push_str(text),
            (KeyType::Text(_), Format::Lower, Some(text)) => key.extend(text.chars().map(fold_char)),
            (KeyType::Text(_), Format::Escaped, Some(text)) => escape(text, &mut key),
            _ => match in_bytes(&mut key, |out| print_part(self.part, value, None, out)) {
                Ok(()) => {}
                Err(Reason::Negative(_)) => return Some(Place::Before),
                Err(Reason::Beyond(number)) if number < 0 => return Some(Place::Before),
                Err(Reason::Beyond(_) | Reason::Wide { .. }) => return Some(Place::After),
                Err(_) => return None,
            },
        }
        key.push_str(self.tail);
        Some(Place::At(key, is_included))
    }
}

impl Place {
    fn inverted(self) -> Self {
        match self {
            Self::Before => Self::After,
            Self::After => Self::Before,
            at @ Self::At(..) => at,
        }
    }
}

fn before_successor(text: &str) -> Bound<String> {
    successor(text).map_or(Bound::Unbounded, Bound::Excluded)
}

/// Returns the first text that a key can hold after all that start with this one, in UTF-16's order; `None` if none is.
pub(crate) fn successor(text: &str) -> Option<String> {
    let mut chars = text.chars();
    loop {
        let mut next = chars.next_back()?;
        loop {
            next = match next {
                // UTF-16 writes what lies beyond U+FFFF as surrogates, which come before U+E000.
                '\u{d7ff}' => '\u{10000}',
                '\u{10ffff}' => '\u{e000}',
                '\u{ffff}' => break,
                _ => char::from_u32(u32::from(next) + 1)?,
            };
            if !is_forbidden(next) {
                let mut above = String::with_capacity(chars.as_str().len() + next.len_utf8());
                above.push_str(chars.as_str());
                above.push(next);
                return Some(above);
            }
        }
    }
}
