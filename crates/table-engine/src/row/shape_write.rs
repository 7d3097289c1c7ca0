//! Rows of a shape as bytes to be stored.

use std::ops::Range;

use super::dict::Dict;
use super::shape::Shape;
use super::shaped::{NARROW_END, WIDE_END, Wide};
use super::{
    Body, DIGEST, FORM_BITS, HEADER, NARROW_SHAPE, Row, SIGNED_SHAPE, SMALL, WIDE_SHAPE, close,
    large_checksum,
};
use crate::model::ValueRef;
use crate::schema::ColumnType;

/// Bytes of fixed values that a row lacks and that are stored all the same; with more than these, slots take less.
const MOST_ABSENT: usize = 64;

/// Where a row is to be written, and what its bytes depend on besides its values.
#[derive(Clone, Copy, Debug)]
pub struct Target<'t> {
    /// The shape and its number.
    pub shape: &'t Shape,
    pub number: u16,
    /// What binds checksums to the row's key.
    pub seed: u64,
    pub digest: Option<&'t [u8; DIGEST]>,
}

/// What became of a row.
#[derive(Debug, PartialEq, Eq)]
enum Attempt {
    Written,
    /// Ends of one byte can't say where its values end, or one of them is large.
    TooLong,
    /// The shape can't hold what it is to hold, or slots hold it in fewer bytes.
    Misfit,
}

impl Target<'_> {
    /// Appends the row, not yet stamped, and says where it is; `get` gives what each column holds, maybe twice. `None` if the
    /// shape can't hold that, or slots hold it better; then nothing is appended.
    #[inline]
    pub fn write<'v>(
        &self,
        mut get: impl FnMut(usize) -> Option<ValueRef<'v>>,
        out: &mut Vec<u8>,
    ) -> Option<Range<usize>> {
        let at = out.len();
        let mut attempt = self.attempt(false, &mut get, out);
        if attempt == Attempt::TooLong {
            out.truncate(at);
            attempt = self.attempt(true, &mut get, out);
        }
        if attempt != Attempt::Written {
            out.truncate(at);
            return None;
        }
        close(out, self.digest);
        Some(at..out.len())
    }

    #[inline]
    fn attempt<'v>(
        &self,
        is_wide: bool,
        get: &mut impl FnMut(usize) -> Option<ValueRef<'v>>,
        out: &mut Vec<u8>,
    ) -> Attempt {
        let shape = self.shape;
        let form = if is_wide { WIDE_SHAPE } else { NARROW_SHAPE } << FORM_BITS;
        let signed = if self.digest.is_some() { SIGNED_SHAPE } else { 0 };
        let ([a, b, c, d, e, f, g, h], [low, high]) =
            (form.to_le_bytes(), (self.number | signed).to_le_bytes());
        out.extend_from_slice(&[a, b, c, d, e, f, g, h, low, high]);
        let mut fixed = out.len();
        if is_wide {
            let (Ok(length), Ok(values)) = (u16::try_from(shape.fixed()), u8::try_from(shape.values()))
            else {
                return Attempt::Misfit;
            };
            let [low, high] = length.to_le_bytes();
            out.extend_from_slice(&[low, high, values]);
            fixed += Wide::BYTES;
        }
        let ends = fixed + shape.fixed();
        let heap = ends + shape.values().saturating_sub(1) * if is_wide { 2 } else { 1 };
        out.resize(heap, 0);
        let (mut end, mut absent) = (ends, 0);
        for (at, place) in shape.stored() {
            let value = get(at);
            if value.is_none() && !place.is_optional() {
                return Attempt::Misfit;
            }
            if value.is_some()
                && place.is_optional()
                && let Some(byte) = out.get_mut(fixed + usize::from(place.bit / 8))
            {
                *byte |= 1 << (place.bit % 8);
            }
            if let Some(width) = place.of.width() {
                match value {
                    None => absent += usize::from(width),
                    Some(value) => {
                        if put_fixed(out, fixed + usize::from(place.at), place.of, value).is_none() {
                            return Attempt::Misfit;
                        }
                    }
                }
                continue;
            }
            let bytes = match (place.of, value) {
                (_, None) => &[],
                (ColumnType::Text, Some(ValueRef::String(text))) => text.as_bytes(),
                (ColumnType::Bytes, Some(ValueRef::Binary(bytes))) => bytes,
                _ => return Attempt::Misfit,
            };
            out.extend_from_slice(bytes);
            if bytes.len() > SMALL {
                if !is_wide {
                    return Attempt::TooLong;
                }
                out.extend_from_slice(&large_checksum(bytes, self.seed));
            }
            if end == heap {
                // It is the last one, which ends where the heap does.
                continue;
            }
            let here = out.len() - heap;
            if here > WIDE_END {
                return Attempt::Misfit;
            }
            if !is_wide && here > NARROW_END {
                return Attempt::TooLong;
            }
            // Both fit, by what was just compared.
            let [low, high] = u16::try_from(here).unwrap_or(u16::MAX).to_le_bytes();
            let said = if is_wide { put(out, end, [low, high]) } else { put(out, end, [low]) };
            if said.is_none() {
                return Attempt::Misfit;
            }
            end += if is_wide { 2 } else { 1 };
        }
        if absent > MOST_ABSENT { Attempt::Misfit } else { Attempt::Written }
    }
}

/// Appends a row with these values, by their numbers, in the place of those that it has, not yet stamped, and says where it
/// is: nothing else of it is read. `None` if the row is signed or has no shape, if its kind has a later one, or if a value is
/// of no fixed width or its column can't hold it; then nothing is appended.
pub fn with_fixed(
    row: &Row<'_>,
    dict: &Dict,
    values: &[(u16, ValueRef<'_>)],
    out: &mut Vec<u8>,
) -> Option<Range<usize>> {
    let Body::Shaped(shaped) = row.body() else { return None };
    let shape = dict.shape(shaped.shape()).filter(|shape| shaped.open(shape).is_ok())?;
    let (latest, _) = dict.shapes_of(shape.symbol()).next()?;
    if row.is_signed() || latest != shaped.shape() {
        return None;
    }
    let at = out.len();
    let fixed = at + HEADER + if shaped.is_narrow() { 0 } else { Wide::BYTES };
    out.extend_from_slice(row.covered());
    for (id, value) in values {
        let done = shape.find(*id).and_then(|(_, place)| {
            place.of.width()?;
            if place.is_optional() {
                *out.get_mut(fixed + usize::from(place.bit / 8))? |= 1 << (place.bit % 8);
            }
            put_fixed(out, fixed + usize::from(place.at), place.of, *value)
        });
        if done.is_none() {
            out.truncate(at);
            return None;
        }
    }
    close(out, None);
    Some(at..out.len())
}

/// Puts a value of fixed width in its place; `None` if the column can't hold it.
#[inline]
fn put_fixed(out: &mut [u8], at: usize, of: ColumnType, value: ValueRef<'_>) -> Option<()> {
    match (of, value) {
        (ColumnType::Bool, ValueRef::Boolean(v)) => put(out, at, [u8::from(v)]),
        (ColumnType::I32, ValueRef::Int32(v)) => put(out, at, v.to_le_bytes()),
        (ColumnType::I8, ValueRef::Int32(v)) => put(out, at, i8::try_from(v).ok()?.to_le_bytes()),
        (ColumnType::U8, ValueRef::Int32(v)) => put(out, at, u8::try_from(v).ok()?.to_le_bytes()),
        (ColumnType::I16, ValueRef::Int32(v)) => put(out, at, i16::try_from(v).ok()?.to_le_bytes()),
        (ColumnType::U16, ValueRef::Int32(v)) => put(out, at, u16::try_from(v).ok()?.to_le_bytes()),
        (ColumnType::U32, ValueRef::Int64(v)) => put(out, at, u32::try_from(v).ok()?.to_le_bytes()),
        (ColumnType::I64, ValueRef::Int64(v)) => put(out, at, v.to_le_bytes()),
        (ColumnType::F64, ValueRef::Double(v)) => put(out, at, v.to_le_bytes()),
        (ColumnType::Time, ValueRef::DateTime(v)) => put(out, at, v.get().to_le_bytes()),
        (ColumnType::Guid, ValueRef::Guid(v)) => put(out, at, *v.as_bytes()),
        _ => None,
    }
}

#[inline]
fn put<const N: usize>(out: &mut [u8], at: usize, value: [u8; N]) -> Option<()> {
    *out.get_mut(at..)?.first_chunk_mut()? = value;
    Some(())
}
