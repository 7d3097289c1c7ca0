//! Rows as bytes to be stored: building, merging and stamping them.

use std::ops::Range;

use crate::error::{Error, ErrorKind};
use crate::limits;
use crate::model::{Ticks, ValueRef};
use crate::row::{
    self, CHECKSUM, DIGEST, HEADER, INLINE, LARGE, NARROW_MAX, NARROW_SLOT, Row, SIGNED, SMALL, Tag, VERSION,
    WIDE, WIDE_SLOT,
};

/// How a property is named in the row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameRef<'a> {
    /// By its number in the dictionary.
    Id(u16),
    /// By the name itself, when the dictionary is full.
    Inline(&'a str),
}

/// Collects properties in the order of their numbers, those with inline names last, in the order of the names.
#[derive(Debug, Default)]
pub(crate) struct RowWriter {
    slots: Vec<(u16, u8, u32)>,
    heap: Vec<u8>,
    large: bool,
}

impl RowWriter {
    pub(crate) fn clear(&mut self) {
        self.slots.clear();
        self.heap.clear();
        self.large = false;
    }

    /// Clears it for a row of so many properties and about so many bytes.
    pub(crate) fn start(&mut self, properties: usize, bytes: usize) {
        self.clear();
        self.slots.reserve(properties);
        self.heap.reserve(bytes);
    }

    /// Notes a property whose value starts there on the heap.
    fn note(&mut self, id: u16, tag: u8, start: usize) {
        // A row stays far below 4 GiB: an entity has at most 252 values of 64 KiB.
        self.slots.push((id, tag, u32::try_from(start).unwrap_or(u32::MAX)));
    }

    fn close(&mut self, start: usize, seed: u64) {
        if self.heap.len() - start > SMALL {
            self.large = true;
            let sum = row::large_checksum(self.heap.get(start..).unwrap_or_default(), seed);
            self.heap.extend_from_slice(&sum);
        }
    }

    /// Adds a property. `symbol` is the number of a string that stands in the dictionary.
    pub(crate) fn push(&mut self, name: NameRef<'_>, value: ValueRef<'_>, symbol: Option<u16>, seed: u64) {
        let start = self.heap.len();
        let id = match name {
            NameRef::Id(id) => id,
            NameRef::Inline(name) => {
                // A checked name has at most 255 UTF-16 units, 765 bytes.
                self.heap.extend_from_slice(&u16::try_from(name.len()).unwrap_or(u16::MAX).to_le_bytes());
                self.heap.extend_from_slice(name.as_bytes());
                INLINE
            }
        };
        let tag = write_value(value, symbol, &mut self.heap);
        self.note(id, tag.code(), start);
        self.close(start, seed);
    }

    /// Copies a property of a row with the same key.
    fn copy(&mut self, from: &Row<'_>, index: usize, seed: u64) -> Result<(), Error> {
        let slot = from.checked_slot(index)?;
        // Compared before it is sealed anew with the row.
        from.payload(&slot, Some(seed))?;
        let stored = from.stored(&slot)?;
        self.note(slot.id, slot.tag, self.heap.len());
        self.large |= stored.len() > SMALL;
        self.heap.extend_from_slice(stored);
        Ok(())
    }

    /// Takes every property of `old` and of `new`, and of those that both have, the one of `new`.
    pub(crate) fn merge(&mut self, old: &Row<'_>, new: &Row<'_>, seed: u64) -> Result<(), Error> {
        let (mut i, mut j) = (0, 0);
        loop {
            let order = match (i < old.len(), j < new.len()) {
                (false, false) => return Ok(()),
                (true, false) => std::cmp::Ordering::Less,
                (false, true) => std::cmp::Ordering::Greater,
                (true, true) => compare_names(old, i, new, j)?,
            };
            if order.is_lt() {
                self.copy(old, i, seed)?;
            } else {
                self.copy(new, j, seed)?;
            }
            i += usize::from(order.is_le());
            j += usize::from(order.is_ge());
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Appends the row, not yet stamped, with its keyed digest if it has one, and returns where it starts.
    pub(crate) fn finish(&self, out: &mut Vec<u8>, digest: Option<&[u8; DIGEST]>) -> Result<usize, Error> {
        let at = out.len();
        let count = u8::try_from(self.slots.len()).map_err(|_| too_many(self.slots.len()))?;
        let last = self.slots.last().map_or(0, |slot| slot.2);
        let wide = usize::try_from(last).unwrap_or(usize::MAX) > NARROW_MAX;
        let signed = if digest.is_some() { SIGNED } else { 0 };
        let flags = if wide { WIDE } else { 0 } | if self.large { LARGE } else { 0 } | signed;
        let slot_size = if wide { WIDE_SLOT } else { NARROW_SLOT };
        out.reserve(HEADER + self.slots.len() * slot_size + self.heap.len() + CHECKSUM);
        out.extend_from_slice(&[VERSION, flags, count, 0, 0, 0, 0, 0, 0, 0, 0]);
        for (id, tag, start) in &self.slots {
            let [a, b] = id.to_le_bytes();
            let [c, d, e, _] = start.to_le_bytes();
            if wide {
                out.extend_from_slice(&[a, b, *tag, c, d, e]);
            } else {
                out.extend_from_slice(&[a, b, c, d | tag << 4]);
            }
        }
        out.extend_from_slice(&self.heap);
        out.extend_from_slice(digest.map_or(&[], |digest| &digest[..]));
        out.extend_from_slice(&[0; CHECKSUM]);
        Ok(at)
    }
}

/// Appends a value, or the number of the symbol that it is; returns its tag.
#[inline]
fn write_value(value: ValueRef<'_>, symbol: Option<u16>, heap: &mut Vec<u8>) -> Tag {
    if let Some(symbol) = symbol {
        heap.extend_from_slice(&symbol.to_le_bytes());
        return Tag::Symbol;
    }
    match value {
        ValueRef::String(v) => {
            heap.extend_from_slice(v.as_bytes());
            Tag::String
        }
        ValueRef::Binary(v) => {
            heap.extend_from_slice(v);
            Tag::Binary
        }
        ValueRef::Boolean(false) => Tag::False,
        ValueRef::Boolean(true) => Tag::True,
        ValueRef::Int32(v) => {
            write_integer(i64::from(v), heap);
            Tag::Int32
        }
        ValueRef::Int64(v) => {
            write_integer(v, heap);
            Tag::Int64
        }
        ValueRef::Double(v) => {
            heap.extend_from_slice(&v.to_le_bytes());
            Tag::Double
        }
        ValueRef::DateTime(v) => {
            heap.extend_from_slice(&v.get().to_le_bytes());
            Tag::DateTime
        }
        ValueRef::Guid(v) => {
            heap.extend_from_slice(v.as_bytes());
            Tag::Guid
        }
    }
}

fn write_integer(value: i64, heap: &mut Vec<u8>) {
    if value == 0 {
    } else if let Ok(v) = i8::try_from(value) {
        heap.extend_from_slice(&v.to_le_bytes());
    } else if let Ok(v) = i16::try_from(value) {
        heap.extend_from_slice(&v.to_le_bytes());
    } else if let Ok(v) = i32::try_from(value) {
        heap.extend_from_slice(&v.to_le_bytes());
    } else {
        heap.extend_from_slice(&value.to_le_bytes());
    }
}

/// A row of which it is known from the start how many properties it has: it is written straight to where it is to lie,
/// as long as its slots are narrow. Its properties come in the order of their numbers.
pub(crate) struct NarrowRow<'b> {
    out: &'b mut Vec<u8>,
    /// Where it starts, where its next slot is, and its heap.
    at: usize,
    slot: usize,
    heap: usize,
    seed: u64,
}

impl<'b> NarrowRow<'b> {
    /// Starts a row of so many properties.
    pub(crate) fn start(out: &'b mut Vec<u8>, count: u8, seed: u64) -> Self {
        let at = out.len();
        out.extend_from_slice(&[VERSION, 0, count, 0, 0, 0, 0, 0, 0, 0, 0]);
        let slot = at + HEADER;
        let heap = slot + usize::from(count) * NARROW_SLOT;
        out.resize(heap, 0);
        Self { out, at, slot, heap, seed }
    }

    /// Adds a property; `None` if it would start where no narrow slot can say.
    #[inline]
    pub(crate) fn push(&mut self, id: u16, value: ValueRef<'_>) -> Option<()> {
        let from = self.out.len();
        let tag = write_value(value, None, self.out);
        self.note(id, tag, from)?;
        if self.out.len() - from > SMALL {
            self.close_large(from);
        }
        Some(())
    }

    /// The same, for a text that stands in the dictionary under this number.
    #[inline]
    pub(crate) fn push_symbol(&mut self, id: u16, symbol: u16) -> Option<()> {
        let from = self.out.len();
        self.out.extend_from_slice(&symbol.to_le_bytes());
        self.note(id, Tag::Symbol, from)
    }

    /// Fills in the slot of a value that starts there.
    #[inline]
    fn note(&mut self, id: u16, tag: Tag, from: usize) -> Option<()> {
        let start = u16::try_from(from - self.heap).ok().filter(|start| usize::from(*start) <= NARROW_MAX)?;
        let ([a, b], [c, d]) = (id.to_le_bytes(), (start | u16::from(tag.code()) << 12).to_le_bytes());
        *self.out.get_mut(self.slot..)?.first_chunk_mut::<NARROW_SLOT>()? = [a, b, c, d];
        self.slot += NARROW_SLOT;
        Some(())
    }

    #[cold]
    fn close_large(&mut self, from: usize) {
        let sum = row::large_checksum(self.out.get(from..).unwrap_or_default(), self.seed);
        self.out.extend_from_slice(&sum);
        if let Some(flags) = self.out.get_mut(self.at + 1) {
            *flags |= LARGE;
        }
    }

    /// Ends the row, not yet stamped, with its keyed digest if it has one; returns where it is. `None` if it was given fewer
    /// properties than it was to have.
    pub(crate) fn finish(self, digest: Option<&[u8; DIGEST]>) -> Option<Range<usize>> {
        let is_full = self.slot == self.heap;
        if let Some(digest) = digest {
            self.out.extend_from_slice(digest);
            if let Some(flags) = self.out.get_mut(self.at + 1) {
                *flags |= SIGNED;
            }
        }
        self.out.extend_from_slice(&[0; CHECKSUM]);
        is_full.then_some(self.at..self.out.len())
    }
}

#[cold]
pub(crate) fn too_many(count: usize) -> Error {
    Error::new(ErrorKind::TooManyProperties)
        .because(format!("the entity has {count} properties; it may have {}", limits::PROPERTIES))
}

/// Compares two properties in the order in which rows hold them.
fn compare_names(a: &Row<'_>, i: usize, b: &Row<'_>, j: usize) -> Result<std::cmp::Ordering, Error> {
    let (x, y) = (a.checked_slot(i)?, b.checked_slot(j)?);
    if x.id != INLINE || y.id != INLINE {
        return Ok(x.id.cmp(&y.id));
    }
    let (x, _) = row::inline_name(a.payload(&x, None)?)?;
    let (y, _) = row::inline_name(b.payload(&y, None)?)?;
    Ok(x.cmp(y))
}

/// Sets the time of a row and its checksum; returns the checksum.
pub(crate) fn stamp(bytes: &mut [u8], timestamp: Ticks, seed: u64) -> u64 {
    if let Some(at) = bytes.get_mut(HEADER - 8..HEADER) {
        at.copy_from_slice(&timestamp.get().to_le_bytes());
    }
    let sum = Row::parse(bytes).ok().and_then(|row| row::row_checksum(&row, seed)).unwrap_or(0);
    if let Some(at) = bytes.last_chunk_mut::<CHECKSUM>() {
        *at = sum.to_le_bytes();
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_that_lacks_a_property_it_was_to_have_is_none() {
        for (given, expected) in [(1, None), (2, Some(0..2 * NARROW_SLOT + HEADER + CHECKSUM + 2))] {
            let mut bytes = Vec::new();
            let mut row = NarrowRow::start(&mut bytes, 2, 0);
            for id in 0..given {
                row.push(id, ValueRef::Int32(7)).unwrap();
            }
            assert_eq!(row.finish(None), expected, "{given} of 2");
        }
    }
}
