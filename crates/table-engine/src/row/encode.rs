//! Properties put into the bytes of rows.

use std::cmp::Ordering;
use std::ops::Range;

use crate::error::Error;
use crate::model::{ValueRef, names};
use crate::plan::RowContent;
use crate::row::dict::Dict;
use crate::row::numbers::{NumberedColumn, RowNumbers};
use crate::row::row_write::{self, NameRef, RowWriter};
use crate::row::shape::Shape;
use crate::row::shape_write::Target;
use crate::row::view::RowView;
use crate::row::{self, Body, DIGEST, Row};
use crate::{limits, sorting};

/// A property as an operation gives it.
pub type Given<'a> = (&'a str, ValueRef<'a>);

/// Where a property goes: its number, whether the name stands in the row, its place among those given.
pub type Place = (u16, usize);

/// Looks up the numbers of properties; `false` if some name has none yet and is to get one. Names without a number
/// are given as [`INLINE`](row::INLINE).
pub fn number(properties: &[Given<'_>], dict: &Dict, order: &mut Vec<Place>) -> bool {
    order.clear();
    order.reserve(properties.len());
    let (mut last, mut all) = (None, true);
    for (index, (name, _)) in properties.iter().enumerate() {
        let id = dict.id_after(last, name);
        all &= id.is_some();
        last = id.or(last);
        order.push((id.unwrap_or(row::INLINE), index));
    }
    all || dict.names_full()
}

/// Checks names and values; returns what they count for in the entity's size, or more: no text has more UTF-16 units
/// than bytes, and only near a limit does the difference count.
pub fn check_properties(properties: &[Given<'_>], numbers: &[Place]) -> Result<usize, Error> {
    if properties.len() > limits::PROPERTIES {
        return Err(row_write::too_many(properties.len()));
    }
    let mut size = 0;
    for ((name, value), (id, _)) in properties.iter().zip(numbers) {
        // A name that has a number has been checked before.
        if *id == row::INLINE {
            names::check_property(name)?;
        }
        size += check_value(name, *value)?;
    }
    Ok(size)
}

/// Checks a value; returns what it counts for with its name, or more.
#[inline]
fn check_value(name: &str, value: ValueRef<'_>) -> Result<usize, Error> {
    let size = match value {
        ValueRef::String(text) => {
            if text.len() > limits::STRING_UNITS {
                value.check(name)?;
            }
            string_size(text)
        }
        // Of these every value is one that a property may have.
        ValueRef::Boolean(_)
        | ValueRef::Int32(_)
        | ValueRef::Int64(_)
        | ValueRef::Double(_)
        | ValueRef::Guid(_) => value.size(),
        ValueRef::Binary(_) | ValueRef::DateTime(_) => {
            value.check(name)?;
            value.size()
        }
    };
    Ok(name_size(name) + size)
}

/// Bytes of which every text and every binary value may have as many.
const SHORT: usize = {
    assert!(limits::STRING_UNITS <= limits::BINARY_BYTES);
    limits::STRING_UNITS
};

/// Returns what the name of a row's kind counts for, or more, with the property that holds it.
pub(super) const fn kind_size(kind: &str) -> usize {
    name_size(names::ENTITY_TYPE) + string_size(kind)
}

/// Returns what a name counts for, or more.
pub(super) const fn name_size(name: &str) -> usize {
    8 + 2 * name.len()
}

/// Returns what a text counts for, or more.
const fn string_size(text: &str) -> usize {
    4 + 2 * text.len()
}

/// What a row's bytes depend on besides its properties.
#[derive(Clone, Copy)]
#[expect(missing_debug_implementations, reason = "no program sees it")]
pub struct Under<'a> {
    pub dict: &'a Dict,
    /// What binds its checksums to its key.
    pub seed: u64,
    pub digest: Option<&'a [u8; DIGEST]>,
}

/// Appends the row of these properties and says where it is; `None` if some name or symbol has no number yet and is to get
/// one.
pub fn write(
    properties: &[Given<'_>],
    under: Under<'_>,
    order: &mut Vec<Place>,
    writer: &mut RowWriter,
    out: &mut Vec<u8>,
) -> Result<Option<Range<usize>>, Error> {
    if number(properties, under.dict, order) {
        write_numbered(properties, under, order, writer, out)
    } else {
        Ok(None)
    }
}

/// Returns the bytes of a row of properties whose numbers have been looked up.
pub fn write_numbered(
    properties: &[Given<'_>],
    under: Under<'_>,
    order: &mut [Place],
    writer: &mut RowWriter,
    out: &mut Vec<u8>,
) -> Result<Option<Range<usize>>, Error> {
    if !order.is_sorted_by(|(a, _), (b, _)| a < b) {
        let name_at = |index: usize| properties.get(index).map(|(name, _)| *name);
        sorting::sort_by(order, |(a, i), (b, j)| {
            let by_name = || if *a == row::INLINE { name_at(*i).cmp(&name_at(*j)) } else { Ordering::Equal };
            a.cmp(b).then_with(by_name)
        });
    }
    let Under { dict, seed, digest } = under;
    // Under an inline name it stays text: readers look for new symbols under the number alone.
    let kind = dict.entity_type().and_then(|id| value_of(properties, order, id));
    let symbol = match kind {
        Some(ValueRef::String(text)) => match dict.symbol_id(text) {
            None if dict.takes_symbol(text) => return Ok(None),
            known => known,
        },
        _ => None,
    };
    if let Some(range) = symbol.and_then(|symbol| write_shaped(properties, under, order, symbol, out)) {
        return Ok(Some(range));
    }
    writer.start(properties.len(), 0);
    for (id, index) in order.iter() {
        let Some((name, value)) = properties.get(*index) else { continue };
        let symbol = symbol.filter(|_| dict.entity_type() == Some(*id));
        let name = if *id == row::INLINE { NameRef::Inline(name) } else { NameRef::Id(*id) };
        writer.push(name, *value, symbol, seed);
    }
    let at = writer.finish(out, digest)?;
    Ok(Some(at..out.len()))
}

/// Returns the value of the property of this number.
fn value_of<'a>(properties: &[Given<'a>], order: &[Place], id: u16) -> Option<ValueRef<'a>> {
    let at = order.binary_search_by_key(&id, |(number, _)| *number).ok()?;
    properties.get(order.get(at)?.1).map(|(_, value)| *value)
}

/// Appends the row by the latest shape of its kind that holds just these properties.
fn write_shaped(
    properties: &[Given<'_>],
    Under { dict, seed, digest }: Under<'_>,
    order: &[Place],
    symbol: u16,
    out: &mut Vec<u8>,
) -> Option<Range<usize>> {
    let has_all = |shape: &Shape| {
        let mut stored = order.iter().filter(|(id, _)| dict.entity_type() != Some(*id));
        stored.all(|(id, _)| shape.find(*id).is_some())
    };
    dict.shapes_of(symbol).filter(|(_, shape)| has_all(shape)).find_map(|(number, shape)| {
        let get = |at: usize| value_of(properties, order, shape.columns().get(at)?.id);
        Target { shape, number, seed, digest }.write(get, out)
    })
}

/// Appends the row of an entity and says where it is, and what its properties count for, or more. `None` if there is
/// anything to be said against them, or if its shape can't hold them.
pub fn write_row(
    row: &RowContent<'_>,
    numbers: &RowNumbers,
    under: Under<'_>,
    bytes: &mut Vec<u8>,
) -> Option<(Range<usize>, usize)> {
    let Under { dict, seed, digest } = under;
    let (shape, number) = (dict.shape(numbers.shape)?, numbers.shape);
    let get = |at: usize| row.get(numbers.columns.get(at)?.property);
    let image = Target { shape, number, seed, digest }.write(get, bytes)?;
    // No text has more units than bytes, so none is too long in a row that is no longer than one may be.
    if numbers.has_times || image.len() > SHORT {
        let is_right = |column: &NumberedColumn| {
            row.get(column.property).is_none_or(|value| check_value(column.name, value).is_ok())
        };
        if !numbers.columns.iter().all(is_right) {
            bytes.truncate(image.start);
            return None;
        }
    }
    // No size can be beyond what an entity may have: all values but the last lie in the first 64 KiB of a row.
    let size = numbers.most + 2 * image.len();
    Some((image, size))
}

/// Returns whether a stored row is what would be written of an entity today, but for its stamp. If not, or if that is not
/// known at once, `false`.
pub(crate) fn is_as_written(view: &RowView<'_>, content: &RowContent<'_>) -> bool {
    let (stored, dict) = (view.row(), view.dict());
    let Some(numbers) = dict.row_numbers(content.kind) else { return false };
    if let (Body::Shaped(shaped), Some(shape)) = (stored.body(), dict.shape(numbers.shape))
        && shaped.shape() == numbers.shape
        && shaped.is_just(shape, |at| content.get(numbers.columns.get(at)?.property))
    {
        return true;
    }
    let under = Under { dict, seed: row::key_seed(view.stored_key_bytes()), digest: None };
    let mut bytes = Vec::with_capacity(stored.bytes().len());
    write_row(content, numbers, under, &mut bytes).is_some()
        && Row::parse(&bytes).is_ok_and(|written| written.has_content_of(stored))
}
