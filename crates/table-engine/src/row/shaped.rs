//! The properties of a row that has a shape: values of fixed width at offsets that the shape knows, and a heap of the others.

use uuid::Uuid;

use super::shape::{Place, Shape};
use super::{Damaged, SMALL, large_payload};
use crate::model::{Ticks, ValueRef, text};
use crate::schema::ColumnType;

const BAD: Damaged = Damaged("a property's value can't be read");
const SHORT: Damaged = Damaged("the row is too short for its shape");
const FORM: Damaged = Damaged("the row is not in the form that a writer gives it");

/// A row as far as it can be read without its shape.
#[derive(Clone, Copy, Debug)]
pub struct ShapedRow<'a> {
    /// The shape's number.
    shape: u16,
    /// `None` where the ends of values are of one byte.
    wide: Option<Wide>,
    /// Presence bits, fixed values, ends and heap.
    body: &'a [u8],
}

/// What a row of wide ends says of its shape, so that its large values are found without it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wide {
    /// Bytes of presence bits and fixed values.
    pub(super) fixed: u16,
    /// How many values the heap has.
    pub(super) values: u8,
}

impl Wide {
    /// Bytes that it takes behind the header.
    pub(super) const BYTES: usize = 3;
}

/// The largest end of a value that a byte can say, and that two can.
pub(super) const NARROW_END: usize = 0xff;
pub(super) const WIDE_END: usize = 0xffff;

impl<'a> ShapedRow<'a> {
    #[inline]
    pub(super) fn narrow(shape: u16, body: &'a [u8]) -> Self {
        Self { shape, wide: None, body }
    }

    pub(super) fn wide(shape: u16, body: &'a [u8]) -> Option<Self> {
        let ([low, high, values], body) = body.split_first_chunk::<{ Wide::BYTES }>()?;
        let wide = Wide { fixed: u16::from_le_bytes([*low, *high]), values: *values };
        let row = Self { shape, wide: Some(wide), body };
        row.split(usize::from(wide.fixed), usize::from(wide.values)).map(|_| row)
    }

    #[inline]
    pub fn shape(&self) -> u16 {
        self.shape
    }

    #[inline]
    pub(super) fn is_narrow(&self) -> bool {
        self.wide.is_none()
    }

    #[inline]
    fn split(&self, fixed: usize, values: usize) -> Option<(&'a [u8], Ends<'a>)> {
        let is_wide = self.wide.is_some();
        let (fixed, rest) = self.body.split_at_checked(fixed)?;
        let (ends, heap) = rest.split_at_checked(values.saturating_sub(1) * if is_wide { 2 } else { 1 })?;
        Some((fixed, Ends { said: ends, heap, is_wide }))
    }

    /// Returns where the large values lie behind the header. A row of narrow ends has none.
    pub fn large(&self) -> impl Iterator<Item = (usize, usize)> {
        let wide = self.wide.unwrap_or(Wide { fixed: 0, values: 0 });
        let found = self.split(wide.fixed.into(), wide.values.into());
        let (before, said, length) = found.map_or((0, &[][..], 0), |(fixed, ends)| {
            (fixed.len() + ends.said.len(), ends.said, ends.heap.len())
        });
        let (said, heap, values) = (said.as_chunks().0, Wide::BYTES + before, usize::from(wide.values));
        let (mut at, mut end) = (0, 0);
        std::iter::from_fn(move || {
            while at < values {
                // The last value ends with the heap.
                let next = said.get(at).map_or(length, |end| usize::from(u16::from_le_bytes(*end)));
                let start = std::mem::replace(&mut end, next);
                at += 1;
                // Of ends that are out of order, none are a value's.
                if next <= length && next.saturating_sub(start) > SMALL {
                    return Some((heap + start, heap + next));
                }
            }
            None
        })
    }

    /// Returns the parts of the row, by its shape.
    #[inline]
    pub fn open(&self, shape: &Shape) -> Result<Parts<'a>, Damaged> {
        let fits = |wide: Wide| {
            usize::from(wide.fixed) == shape.fixed() && usize::from(wide.values) == shape.values()
        };
        if self.wide.is_some_and(|wide| !fits(wide)) {
            return Err(SHORT);
        }
        let (fixed, ends) = self.split(shape.fixed(), shape.values()).ok_or(SHORT)?;
        Ok(Parts { fixed: Fixed(fixed), ends })
    }

    /// Returns whether the row, whose values are small, is what a writer makes of these, of which none is absent; `get` gives
    /// what each column is to hold. Where that is not known at once, `false`.
    pub fn is_just<'v>(&self, shape: &Shape, mut get: impl FnMut(usize) -> Option<ValueRef<'v>>) -> bool {
        let Ok(Parts { fixed, ends }) = self.open(shape) else { return false };
        let mut optional = 0;
        for (at, place) in shape.stored() {
            optional += usize::from(place.is_optional());
            let is_same = match get(at) {
                _ if ends.is_wide || !fixed.has(place) => false,
                Some(ValueRef::String(text)) => {
                    place.of == ColumnType::Text && ends.is_small(place, text.as_bytes())
                }
                Some(ValueRef::Binary(bytes)) => place.of == ColumnType::Bytes && ends.is_small(place, bytes),
                // Numbers that are equal may have other bits.
                Some(ValueRef::Double(number)) => matches!(
                    fixed.get(place),
                    Some(ValueRef::Double(stored)) if stored.to_bits() == number.to_bits()
                ),
                Some(value) => fixed.get(place) == Some(value),
                None => false,
            };
            if !is_same {
                return false;
            }
        }
        !(optional..shape.presence() * 8).any(|bit| fixed.has_bit(bit))
    }

    /// Refuses a row that is not in the one form that its shape and its values have.
    pub(super) fn verify_whole(&self, shape: &Shape, seed: u64) -> Result<(), Damaged> {
        let parts = self.open(shape)?;
        let (mut fixed, mut end, mut last, mut large) = (shape.presence(), 0, 0, false);
        for (_, place) in shape.stored() {
            let value = parts.value(place, || Some(seed))?;
            if value.is_none() && !place.is_optional() {
                return Err(FORM);
            }
            if let Some(width) = place.of.width() {
                let stored = parts.fixed.0.get(fixed..fixed + usize::from(width)).ok_or(SHORT)?;
                if value.is_none() && stored.iter().any(|byte| *byte != 0) {
                    return Err(FORM);
                }
                fixed += usize::from(width);
            } else {
                let (from, to) = parts.ends.span(usize::from(place.at)).ok_or(SHORT)?;
                if from != end || value.is_none() && from != to {
                    return Err(FORM);
                }
                large |= to - from > SMALL;
                (last, end) = (from, to);
            }
        }
        // The last end is not stored.
        let needs_wide = large || last > NARROW_END;
        let optional = shape.columns().iter().filter(|column| column.optional).count();
        let spare = (optional..shape.presence() * 8).any(|bit| parts.fixed.has_bit(bit));
        let is_right = end == parts.ends.heap.len() && needs_wide == self.wide.is_some() && !spare;
        if is_right { Ok(()) } else { Err(FORM) }
    }
}

/// Where the values in a heap end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ends<'a> {
    pub(super) said: &'a [u8],
    pub(super) heap: &'a [u8],
    pub(super) is_wide: bool,
}

impl<'a> Ends<'a> {
    /// Returns where this value ends.
    #[inline]
    fn end(&self, n: usize) -> usize {
        let end = if self.is_wide {
            let end = self.said.get(2 * n..).and_then(<[u8]>::first_chunk);
            end.map(|end| usize::from(u16::from_le_bytes(*end)))
        } else {
            self.said.get(n).map(|end| usize::from(*end))
        };
        // The last one ends with the heap.
        end.unwrap_or(self.heap.len())
    }

    #[inline]
    fn start(&self, n: usize) -> usize {
        n.checked_sub(1).map_or(0, |before| self.end(before))
    }

    /// Returns start and end of this value; `None` if it does not lie in the heap.
    fn span(&self, n: usize) -> Option<(usize, usize)> {
        let (start, end) = (self.start(n), self.end(n));
        (start <= end && end <= self.heap.len()).then_some((start, end))
    }

    /// Returns whether the value in this place is this one, and no large one.
    fn is_small(&self, place: Place, value: &[u8]) -> bool {
        value.len() <= SMALL && self.get(place.at) == Some(value)
    }

    /// Returns the value as it is stored.
    #[inline]
    fn get(&self, n: u16) -> Option<&'a [u8]> {
        let n = usize::from(n);
        self.heap.get(self.start(n)..self.end(n))
    }
}

/// The presence bits of a row, and its values of fixed width.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fixed<'a>(&'a [u8]);

impl<'a> Fixed<'a> {
    pub(super) const NONE: Self = Self(&[]);

    #[inline]
    fn has_bit(&self, bit: usize) -> bool {
        self.0.get(bit / 8).is_some_and(|byte| byte >> (bit % 8) & 1 != 0)
    }

    /// Returns whether the row has the value of this place.
    #[inline]
    pub(super) fn has(&self, place: Place) -> bool {
        place.bit == Place::ALWAYS || self.has_bit(usize::from(place.bit))
    }

    #[inline]
    fn at<const N: usize>(&self, at: u16) -> Option<[u8; N]> {
        self.0.get(usize::from(at)..)?.first_chunk().copied()
    }

    /// Returns an integer that the row has.
    #[inline]
    pub(super) fn integer(&self, place: Place) -> Option<i64> {
        let at = place.at;
        Some(match place.of {
            ColumnType::I8 => i8::from_le_bytes(self.at(at)?).into(),
            ColumnType::U8 => u8::from_le_bytes(self.at(at)?).into(),
            ColumnType::I16 => i16::from_le_bytes(self.at(at)?).into(),
            ColumnType::U16 => u16::from_le_bytes(self.at(at)?).into(),
            ColumnType::I32 => i32::from_le_bytes(self.at(at)?).into(),
            ColumnType::U32 => u32::from_le_bytes(self.at(at)?).into(),
            ColumnType::I64 => i64::from_le_bytes(self.at(at)?),
            _ => return None,
        })
    }

    /// A value of fixed width that the row has.
    #[expect(
        clippy::inline_always,
        reason = "for each field of each row, a call costs as much as what it does"
    )]
    #[inline(always)]
    pub(super) fn get(&self, place: Place) -> Option<ValueRef<'a>> {
        let at = place.at;
        Some(match place.of {
            ColumnType::Bool => match self.at(at)? {
                [0] => ValueRef::Boolean(false),
                [1] => ValueRef::Boolean(true),
                _ => return None,
            },
            ColumnType::I8 => ValueRef::Int32(i8::from_le_bytes(self.at(at)?).into()),
            ColumnType::U8 => ValueRef::Int32(u8::from_le_bytes(self.at(at)?).into()),
            ColumnType::I16 => ValueRef::Int32(i16::from_le_bytes(self.at(at)?).into()),
            ColumnType::U16 => ValueRef::Int32(u16::from_le_bytes(self.at(at)?).into()),
            ColumnType::I32 => ValueRef::Int32(i32::from_le_bytes(self.at(at)?)),
            ColumnType::U32 => ValueRef::Int64(u32::from_le_bytes(self.at(at)?).into()),
            ColumnType::I64 => ValueRef::Int64(i64::from_le_bytes(self.at(at)?)),
            ColumnType::F64 => ValueRef::Double(f64::from_le_bytes(self.at(at)?)),
            ColumnType::Time => ValueRef::DateTime(Ticks::new(u64::from_le_bytes(self.at(at)?))?),
            ColumnType::Guid => ValueRef::Guid(Uuid::from_bytes(self.at(at)?)),
            ColumnType::Text | ColumnType::Bytes => return None,
        })
    }
}

/// The parts of a row of a shape.
#[derive(Clone, Copy, Debug)]
pub struct Parts<'a> {
    pub(super) fixed: Fixed<'a>,
    pub(super) ends: Ends<'a>,
}

impl<'a> Parts<'a> {
    /// Returns whether the row has the value of this place.
    #[inline]
    pub(crate) fn has(&self, place: Place) -> bool {
        self.fixed.has(place)
    }

    /// Returns the value of this place, if the row has it; with a seed, a large one is compared with its checksum.
    #[inline]
    pub fn value(
        &self,
        place: Place,
        seed: impl FnOnce() -> Option<u64>,
    ) -> Result<Option<ValueRef<'a>>, Damaged> {
        if !self.has(place) {
            return Ok(None);
        }
        if place.of.width().is_some() {
            return self.fixed.get(place).map(Some).ok_or(BAD);
        }
        let mut stored = self.ends.get(place.at).ok_or(BAD)?;
        if stored.len() > SMALL {
            // Ends of one byte have none, and the row's own checksum has left none out.
            if !self.ends.is_wide {
                return Err(BAD);
            }
            stored = large_payload(stored, seed())?;
        }
        match place.of {
            ColumnType::Text => text::of(stored).map(ValueRef::String).map(Some).ok_or(BAD),
            _ => Ok(Some(ValueRef::Binary(stored))),
        }
    }
}
