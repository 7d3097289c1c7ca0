//! What keys hold of an entity, as columns of its kind's view: a row does not hold it beside.

use std::collections::HashMap;

use table_engine::Ticks;
use table_engine::schema::{FieldPartOf, KeyTypeOf, Layout, PartOf};

use crate::catalog::time_of;

/// Returns the properties that the keys of a kind's entities give back, and how the server reads each out of them; `None` of one
/// that no expression of SQL does.
pub(crate) fn of_layout(layout: &Layout) -> HashMap<&str, Option<String>> {
    let mut columns = HashMap::new();
    for (key, column) in layout.keys_of(None).into_iter().zip(["pk", "rk"]) {
        let names = key.names();
        let parts = key.parts(layout, &names);
        for (at, part) in parts.iter().enumerate() {
            let PartOf::Field(field) = part else { continue };
            let Some(property) = layout.properties.get(field.field) else { continue };
            if field.format.is_lossless() {
                let read = piece(&parts, at, column).and_then(|piece| value(field, &piece));
                let known = columns.entry(&*property.name).or_insert(None);
                *known = known.take().or(read);
            }
        }
    }
    columns
}

/// Returns the piece of a key that a part has printed, if its place is a matter of widths alone.
fn piece(parts: &[PartOf<'_>], at: usize, column: &str) -> Option<String> {
    let widths = |parts: &[PartOf<'_>]| parts.iter().map(width).sum::<Option<usize>>();
    let (before, behind) = (widths(parts.get(..at)?), widths(parts.get(at + 1..)?));
    match (before, width(parts.get(at)?), behind) {
        (Some(0), None, Some(0)) => Some(column.to_owned()),
        (Some(before), Some(width), _) => Some(format!("substr({column}, {}, {width})", before + 1)),
        (Some(before), None, Some(behind)) => {
            let others = before + behind;
            // A key that was written by hand may be shorter.
            Some(format!("substr({column}, {}, greatest(length({column}) - {others}, 0))", before + 1))
        }
        (None, Some(width), Some(behind)) => {
            Some(format!("left(right({column}, {}), {width})", behind + width))
        }
        _ => None,
    }
}

/// Returns how many characters a part prints, if their number doesn't vary.
fn width(part: &PartOf<'_>) -> Option<usize> {
    let field = match part {
        PartOf::Field(field) => field,
        PartOf::Literal(text) => return Some(crate::keys::escape(text).chars().count()),
        _ => return None,
    };
    let of_type = || match field.key {
        KeyTypeOf::Unsigned { digits, .. } => Some(usize::from(digits)),
        // The largest is printed as twice as much, less one.
        KeyTypeOf::Signed { bits: bits @ 1..=64 } => Some(((1_u128 << bits) - 1).to_string().len()),
        KeyTypeOf::Uuid => Some(32),
        KeyTypeOf::Bool => Some(1),
        _ => None,
    };
    field.format.width().or_else(of_type)
}

/// Returns the value that a part has printed, as the server reads it.
fn value(field: &FieldPartOf<'_>, piece: &str) -> Option<String> {
    let format = field.source;
    let is_padded = !format.is_empty() && format.bytes().all(|byte| byte.is_ascii_digit());
    let largest = |bits: u8| (1_u128 << (bits - 1)) - 1;
    Some(match field.key {
        KeyTypeOf::Text(_) | KeyTypeOf::Names(_) if format.is_empty() => piece.to_owned(),
        KeyTypeOf::Unsigned { max, .. } if is_padded || format.is_empty() => {
            let name = if max <= 0xffff { "int" } else { "bigint" };
            number(piece, max.min(i64::MAX.unsigned_abs()).into(), &format!("{piece}::{name}"))
        }
        KeyTypeOf::Signed { bits: bits @ 1..=64 } if is_padded => {
            number(piece, largest(bits), &format!("{piece}::{}", signed(bits)))
        }
        KeyTypeOf::Signed { bits: bits @ 1..=64 } if format.is_empty() || format == "offset" => {
            let read = format!("({piece}::numeric - {})::{}", largest(bits) + 1, signed(bits));
            number(piece, 2 * largest(bits) + 1, &read)
        }
        KeyTypeOf::Uuid if format.is_empty() => {
            format!("CASE WHEN {piece} ~ '^[0-9a-f]{{32}}$' THEN {piece}::uuid END")
        }
        KeyTypeOf::Bool if format.is_empty() => format!("{piece} = '1'"),
        KeyTypeOf::Time if format == "ticks" => {
            number(piece, Ticks::MAX.get().into(), &time_of(&format!("{piece}::bigint")))
        }
        _ => return None,
    })
}

/// Returns what reads a number out of a piece of a key. It is NULL where the piece is none: any client writes what keys it
/// likes.
fn number(piece: &str, max: u128, read: &str) -> String {
    // Conditions of one WHEN have no order.
    let within = format!("CASE WHEN {piece}::numeric <= {max} THEN {read} END");
    format!("CASE WHEN {piece} ~ '^[0-9]+$' THEN {within} END")
}

/// Returns the server's type of a signed integer of so many bits.
fn signed(bits: u8) -> &'static str {
    if bits <= 32 { "int" } else { "bigint" }
}
