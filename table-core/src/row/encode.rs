//! Properties put into the bytes of rows.

use std::cmp::Ordering;
use std::ops::Range;

use crate::error::Error;
use crate::limits;
use crate::model::{ValueRef, names};
use crate::plan::{PropertyOf, RowContent};
use crate::row::dict::Dict;
use crate::row::numbers::RowNumbers;
use crate::row::row_write::{self, NameRef, NarrowRow, RowWriter};
use crate::row::view::RowView;
use crate::row::{self, DIGEST, Row};

/// A property as an operation gives it.
pub(crate) type Given<'a> = (&'a str, ValueRef<'a>);

/// Where a property goes: its number, whether the name stands in the row, its place among those given.
pub(crate) type Place = (u16, usize);

/// Looks up the numbers of properties; `false` if some name has none yet and is to get one. Names without a number
/// are given as [`INLINE`](row::INLINE).
pub(crate) fn number(properties: &[Given<'_>], dict: &Dict, order: &mut Vec<Place>) -> bool {
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
/// than bytes, and only near a limit need they be told apart.
pub(crate) fn check_properties(properties: &[Given<'_>], numbers: &[Place]) -> Result<usize, Error> {
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

/// What a name counts for, or more.
const fn name_size(name: &str) -> usize {
    8 + 2 * name.len()
}

/// What a text counts for, or more.
const fn string_size(text: &str) -> usize {
    4 + 2 * text.len()
}

/// Writes a row's properties in order; `false` if some name or symbol has no number yet and is to get one.
pub(crate) fn write(
    properties: &[Given<'_>],
    dict: &Dict,
    order: &mut Vec<Place>,
    writer: &mut RowWriter,
    seed: u64,
) -> bool {
    number(properties, dict, order) && write_numbered(properties, dict, order, writer, seed)
}

/// Writes a row's properties, whose numbers have been looked up, in order; `false` if some symbol has none yet and
/// is to get one.
pub(crate) fn write_numbered(
    properties: &[Given<'_>],
    dict: &Dict,
    order: &mut [Place],
    writer: &mut RowWriter,
    seed: u64,
) -> bool {
    if !order.is_sorted_by(|(a, _), (b, _)| a < b) {
        let name_at = |index: usize| properties.get(index).map(|(name, _)| *name);
        order.sort_unstable_by(|(a, i), (b, j)| {
            let by_name = || if *a == row::INLINE { name_at(*i).cmp(&name_at(*j)) } else { Ordering::Equal };
            a.cmp(b).then_with(by_name)
        });
    }
    for (id, index) in order.iter() {
        let Some((name, value)) = properties.get(*index) else { continue };
        let symbol = match value {
            // Under an inline name it stays text: readers look for new symbols under the number alone.
            ValueRef::String(text) if dict.entity_type() == Some(*id) => match dict.symbol_id(text) {
                None if dict.takes_symbol(text) => return false,
                known => known,
            },
            _ => None,
        };
        let name = if *id == row::INLINE { NameRef::Inline(name) } else { NameRef::Id(*id) };
        writer.push(name, *value, symbol, seed);
    }
    true
}

/// Appends the row of an entity and says where it is, and what its properties count for, or more. `None` if there is
/// anything to be said against them, or if the row is large; then it may have been begun.
pub(crate) fn write_row(
    row: &RowContent<'_>,
    numbers: &RowNumbers,
    seed: u64,
    digest: Option<&[u8; DIGEST]>,
    bytes: &mut Vec<u8>,
) -> Option<(Range<usize>, usize)> {
    let count = if numbers.has_tokens || row.lacks_values() {
        numbers.columns.iter().filter(|column| row.has(column.property)).count()
    } else {
        numbers.columns.len()
    };
    if count > limits::PROPERTIES {
        return None;
    }
    let mut image = NarrowRow::start(bytes, u8::try_from(count).ok()?, seed);
    let mut size = 0;
    for column in &numbers.columns {
        if let (PropertyOf::Kind, Some(symbol)) = (column.property, numbers.symbol) {
            image.push_symbol(column.id, symbol)?;
            size += name_size(column.name) + string_size(row.kind.name());
            continue;
        }
        let Some(value) = row.get(column.property) else { continue };
        size += check_value(column.name, value).ok()?;
        image.push(column.id, value)?;
    }
    // No size can be beyond what an entity may have: all values but the last are short, since they start so early.
    Some((image.finish(digest)?, size))
}

/// Whether a stored row is what would be written of an entity today, but for its stamp. If not, or if that can't be
/// told at once, `false`.
pub(crate) fn is_as_written(view: &RowView<'_>, content: &RowContent<'_>) -> bool {
    let stored = view.row();
    let Some(numbers) = view.dict().row_numbers(content.kind) else { return false };
    let seed = if stored.has_large() { row::key_seed(view.stored_key_bytes()) } else { 0 };
    let mut bytes = Vec::with_capacity(stored.bytes().len());
    write_row(content, numbers, seed, None, &mut bytes).is_some()
        && Row::parse(&bytes).is_ok_and(|written| written.has_content_of(stored))
}
