//! What of two layouts is the same, though it may be called or typed otherwise: properties, keys, indexes.

use table_words::Format;

use super::super::format::key_type::{KeyType, lengths};
use super::Layout;
use super::differences::{Sealing, sealing};
use super::index::{LayoutIndex, LayoutRows, SumOf, Summed};
use super::key::{KeyPart, KeyValues, LayoutKey, Printed};
use super::property::LayoutProperty;
use crate::model::EdmType;

/// Returns whether a property reads what rows hold of another.
pub(super) fn holds_what(old: &LayoutProperty, new: &LayoutProperty) -> bool {
    let widens = (old.edm, new.edm) == (EdmType::Int32, EdmType::Int64);
    (old.edm == new.edm || widens)
        && old.part == new.part
        && (new.optional || !old.optional)
        && sealing(old, new) != Sealing::Jumps
        && (old.sealed.is_none() || have_same_keys(old, new))
}

/// Returns whether the keys of one scope seal both properties, and their tokens are the same.
pub(super) fn have_same_keys(old: &LayoutProperty, new: &LayoutProperty) -> bool {
    (old.scope(), old.tokens(), old.token()) == (new.scope(), new.tokens(), new.token())
}

/// Returns whether two layouts mean one property, which the later one may have renamed.
pub(super) fn is_one(old: Option<&LayoutProperty>, new: Option<&LayoutProperty>) -> bool {
    match (old, new) {
        (Some(old), Some(new)) => old.name == new.name || new.was.as_ref() == Some(&old.name),
        (None, None) => true,
        _ => false,
    }
}

/// Returns whether the rows of an index under one layout are those that another one makes.
#[doc(hidden)]
pub fn same_index(old: &Layout, was: &LayoutIndex, new: &Layout, is: &LayoutIndex) -> bool {
    // The name of the entities' own table is none in a layout.
    let other_table = |layout: &Layout, index| layout.table_of(index).map(str::to_ascii_lowercase);
    let same_place = match (&was.elsewhere, &is.elsewhere) {
        (None, None) => true,
        (Some(before), Some(now)) => {
            before.arrival == now.arrival
                && other_table(old, was) == other_table(new, is)
                && prints_as(old, &before.partition, new, &now.partition)
        }
        _ => false,
    };
    was.name == is.name
        && (was.unique, was.sparse, was.when_version) == (is.unique, is.sparse, is.when_version)
        && same_place
        && same_rows(old, &was.rows, new, &is.rows)
        && prints_as(old, &was.row, new, &is.row)
}

/// Returns whether rows of an index hold the same under both layouts.
fn same_rows(old: &Layout, was: &LayoutRows, new: &Layout, is: &LayoutRows) -> bool {
    let is_one = |was: &str, is: &str| is_one(old.named(was), new.named(is));
    let same_sum = |was: &SumOf, is: &SumOf| {
        was.property == is.property
            && match (&was.of, &is.of) {
                (Summed::Property(was), Summed::Property(is)) => is_one(was, is),
                (was, is) => was == is,
            }
    };
    match (was, is) {
        (LayoutRows::All, LayoutRows::All) | (LayoutRows::Keys, LayoutRows::Keys) => true,
        (LayoutRows::Some(was), LayoutRows::Some(is)) => {
            was.len() == is.len() && was.iter().zip(is).all(|(was, is)| is_one(was, is))
        }
        (LayoutRows::Sums(was), LayoutRows::Sums(is)) => {
            was.len() == is.len() && was.iter().zip(is).all(|(was, is)| same_sum(was, is))
        }
        (LayoutRows::Ids(was), LayoutRows::Ids(is)) => prints_as(old, was, new, is),
        _ => false,
    }
}

/// Returns whether rows of two kinds have the same keys: one may be what the other is called now.
pub(crate) fn same_keys(old: &Layout, new: &Layout) -> bool {
    prints_as(old, old.partition(), new, new.partition()) && prints_as(old, old.row(), new, new.row())
}

/// Returns whether the second key prints everything as the first has printed it.
pub(super) fn prints_as(old: &Layout, was: &LayoutKey, new: &Layout, is: &LayoutKey) -> bool {
    let same_part = |was: &Printed, is: &Printed| {
        is_one(old.named(&was.property), new.named(&is.property))
            && (was.each, was.format(), was.version) == (is.each, is.format(), is.version)
            && values_print_as(&was.values, &is.values, was.format())
    };
    was.parts.len() == is.parts.len()
        && was.parts.iter().zip(&is.parts).all(|parts| match parts {
            (KeyPart::Literal(was), KeyPart::Literal(is)) => was == is,
            (KeyPart::Printed(was), KeyPart::Printed(is)) => same_part(was, is),
            _ => false,
        })
}

/// Returns a property whose type prints otherwise than it did, by what it says of itself, with the previous version of that and
/// the one declared. What keys have of it, rows have: those that are there hold what is printed no more.
pub(super) fn prints_anew(old: &Layout, new: &Layout) -> Option<(String, u32, u32)> {
    fn parts(layout: &Layout) -> Vec<(&LayoutProperty, u32)> {
        let places = layout.indexes().flat_map(|index| {
            [index.elsewhere.as_ref().map(|elsewhere| &elsewhere.partition), Some(&index.row)]
        });
        let keys = [layout.partition(), layout.row()].into_iter().chain(places.flatten());
        let parts = keys.flat_map(LayoutKey::printed);
        parts.filter_map(|part| Some((layout.named(&part.property)?, part.version))).collect()
    }
    let was = parts(old);
    parts(new).into_iter().find_map(|(property, version)| {
        let (_, previous) = was.iter().find(|(old, _)| is_one(Some(old), Some(property)))?;
        (*previous != version).then(|| (property.name.clone(), *previous, version))
    })
}

fn values_print_as(old: &KeyValues, new: &KeyValues, format: Option<Format<'_>>) -> bool {
    let is_padded = matches!(format, Some(Format::Pad(_) | Format::PadInverted(_)));
    match (old, new) {
        (
            KeyValues::Plain(KeyType::Unsigned { max: was, .. }),
            KeyValues::Plain(KeyType::Unsigned { max: is, .. }),
        ) if is_padded => was <= is,
        // Names may be added. Whether all have one length says where the part ends.
        (KeyValues::Names(was), KeyValues::Names(is)) => {
            let one_width = |names: &[String]| {
                let names: Vec<_> = names.iter().map(String::as_str).collect();
                matches!(lengths(&names), (least, most) if least == most)
            };
            was.iter().all(|name| is.contains(name)) && one_width(was) == one_width(is)
        }
        (KeyValues::Optional(was), KeyValues::Optional(is)) | (KeyValues::Each(was), KeyValues::Each(is)) => {
            values_print_as(was, is, format)
        }
        (was, is) => was == is,
    }
}
