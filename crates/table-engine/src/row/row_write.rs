//! Rows without a shape as bytes to be stored.

use crate::error::{Error, ErrorKind};
use crate::limits;
use crate::model::ValueRef;
use crate::row::value::Tag;
use crate::row::{
    self, CHECKSUM, DIGEST, FORM_BITS, HEADER, INLINE, LARGE, NARROW_MAX, NARROW_SLOT, SIGNED, SLOTS, SMALL,
    WIDE, WIDE_SLOT, close,
};

/// How a property is named in the row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameRef<'a> {
    /// By its number in the dictionary.
    Id(u16),
    /// By the name itself, when the dictionary is full.
    Inline(&'a str),
}

/// Collects properties in the order of their numbers, those with inline names last, in the order of the names.
#[derive(Debug, Default)]
pub struct RowWriter {
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
    pub fn push(&mut self, name: NameRef<'_>, value: ValueRef<'_>, symbol: Option<u16>, seed: u64) {
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

    /// Appends the row, not yet stamped, with its keyed digest if it has one, and returns where it starts.
    pub fn finish(&self, out: &mut Vec<u8>, digest: Option<&[u8; DIGEST]>) -> Result<usize, Error> {
        let at = out.len();
        let count = u8::try_from(self.slots.len()).map_err(|_| too_many(self.slots.len()))?;
        let last = self.slots.last().map_or(0, |slot| slot.2);
        let wide = usize::try_from(last).unwrap_or(usize::MAX) > NARROW_MAX;
        let signed = if digest.is_some() { SIGNED } else { 0 };
        let flags = if wide { WIDE } else { 0 } | if self.large { LARGE } else { 0 } | signed;
        let slot_size = if wide { WIDE_SLOT } else { NARROW_SLOT };
        out.reserve(HEADER + self.slots.len() * slot_size + self.heap.len() + DIGEST + CHECKSUM);
        out.extend_from_slice(&(SLOTS << FORM_BITS).to_le_bytes());
        out.extend_from_slice(&[flags, count]);
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
        close(out, digest);
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

#[cold]
pub fn too_many(count: usize) -> Error {
    Error::new(ErrorKind::TooManyProperties)
        .because(format!("the entity has {count} properties; it may have {}", limits::PROPERTIES))
}
