//! The keys of a row as its place prints them, and the fields that they give back.

use super::format::print::{KEY_BYTES, KeyValues, into_text, print_bytes};
use super::key_error::KeyError;
use super::{FieldPart, Part, Place, Schema, Template};
use crate::error::Result;
use crate::model::EntityKeys;

/// Returns the fields in a template.
pub(crate) fn fields(template: &Template) -> impl Iterator<Item = &'static FieldPart> + use<> {
    template.parts.iter().filter_map(|part| match part {
        Part::Field(part) => Some(part),
        Part::Literal(_) => None,
    })
}

/// Returns whether a key of the template holds the field's whole value.
pub(crate) const fn gives_back(template: &Template, field: usize) -> bool {
    let mut parts = template.parts;
    while let [part, rest @ ..] = parts {
        if let Part::Field(part) = part
            && part.field == field
            && !part.each
            && part.format.is_lossless()
        {
            return true;
        }
        parts = rest;
    }
    false
}

/// Appends the bytes of the partition key and of the row key of a place; returns where the first ends, or the template
/// that can't be printed.
pub(crate) fn print_keys<'p>(
    place: &'p Place,
    values: &dyn KeyValues,
    text: &mut Vec<u8>,
) -> Result<usize, (&'p Template, KeyError)> {
    let mut print = |template| match print_bytes(template, values, text) {
        Ok(_) => Ok(text.len()),
        Err(error) => Err((template, error)),
    };
    let end = print(&place.partition)?;
    print(&place.row)?;
    Ok(end)
}

/// Returns the partition key and the row key of a place; `attempted` is what an error says they are for.
pub(crate) fn keys(
    schema: &Schema,
    place: &Place,
    values: &dyn KeyValues,
    attempted: &'static str,
) -> Result<KeyPair> {
    let mut text = Vec::with_capacity(2 * KEY_BYTES);
    match print_keys(place, values, &mut text) {
        Ok(end) => Ok(KeyPair::new(into_text(text), end)),
        Err((template, error)) => {
            Err(error.into_error(template, schema.fields).attempted(attempted).table(place.table.source()))
        }
    }
}

/// Returns the partition key and the row key of an entity that is to be written.
pub(crate) fn own_keys(schema: &Schema, values: &dyn KeyValues) -> Result<KeyPair> {
    keys(schema, schema.place(), values, "write to")
}

/// Returns whether two entities surely have one key, as far as their fields show.
pub(crate) fn has_same_key(schema: &Schema, a: &impl KeyValues, b: &impl KeyValues) -> bool {
    let place = schema.place();
    let is_same = |part: &FieldPart| match (a.value(part), b.value(part)) {
        (Ok(a), Ok(b)) => a.as_value_ref() == b.as_value_ref(),
        _ => false,
    };
    let are_same = |template| fields(template).all(|part| part.is_lossless() && is_same(part));
    are_same(&place.partition) && are_same(&place.row)
}

/// A partition key and a row key, in one text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct KeyPair {
    text: String,
    /// The bytes of the partition key.
    partition: usize,
}

impl KeyPair {
    /// Returns the keys in a text, of which the partition key has so many bytes.
    pub(crate) fn new(text: String, partition: usize) -> Self {
        Self { text, partition }
    }

    /// Makes a copy of these keys.
    pub(crate) fn of(partition: &str, row: &str) -> Self {
        Self::new([partition, row].concat(), partition.len())
    }

    /// Returns both keys.
    pub(crate) fn as_keys(&self) -> EntityKeys<'_> {
        let (partition, row) = self.text.split_at_checked(self.partition).unwrap_or_default();
        EntityKeys::new(partition, row)
    }

    /// Returns the partition key.
    pub(crate) fn into_partition(mut self) -> String {
        self.text.truncate(self.partition);
        self.text
    }
}

/// Returns the partition key and the row key, or why they could not be printed.
#[inline]
pub(crate) fn as_keys(printed: &Result<KeyPair>) -> Result<EntityKeys<'_>> {
    match printed {
        Ok(keys) => Ok(keys.as_keys()),
        Err(error) => Err(error.again()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_apart_again() {
        for (partition, row) in [("", ""), ("Sales", "empid_000001"), ("", "r"), ("p", ""), ("\u{e000}", "é")]
        {
            let pair = KeyPair::of(partition, row);
            assert_eq!(pair.as_keys(), EntityKeys::new(partition, row));
            assert_eq!(pair.into_partition(), partition);
        }
    }

    #[test]
    fn keys_of_one_text_differ_by_where_the_first_ends() {
        assert_ne!(KeyPair::of("ab", "c"), KeyPair::of("a", "bc"));
    }
}
