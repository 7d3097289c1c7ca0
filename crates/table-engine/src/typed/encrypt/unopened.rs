//! An entity as its row has it: nothing that is sealed is opened.
//!
//! Two changes are planned from this: those of an entity whose keys are lost, and those that only seal anew. No value
//! of the user's type is made of the row, so nothing else of it changes.

use crate::error::{Error, ErrorKind, Result};
use crate::model::{EntityKeys, Value, ValueRef};
use crate::plan::{FieldToken, Values};
use crate::row::view::RowView;
use crate::schema::{self, FieldPart, Format, KeyPair, Part, PropertyValue, Schema, Template};
use crate::sealing::looks_sealed;
use crate::typed::entity::source::Source;
use crate::typed::entity::{Entity, path, wide};

/// What the elements of a field are.
pub(crate) type TakeElements = fn(&Source<'_>, usize) -> Result<Vec<Value>>;

/// Reads an entity from its own row.
pub(crate) fn read<E: Entity>(view: &RowView<'_>) -> Result<Values<'static>> {
    read_of(E::SCHEMA, E::elements, view)
}

/// Reads an entity of this declaration from its own row.
pub(crate) fn read_of(
    schema: &'static Schema,
    elements: TakeElements,
    view: &RowView<'_>,
) -> Result<Values<'static>> {
    wide::check_joined(view, schema)?;
    let source = Source::new(schema, schema.place(), view)?;
    let mut values = Values::with_capacity(schema.fields.len());
    for at in 0..schema.fields.len() {
        let stored = source.kept(at)?.map_or(PropertyValue::Absent, |value| value.to_value().into());
        if has_elements(schema, at) {
            values.push_each(elements(&source, at)?.into_iter().map(PropertyValue::Owned).collect(), stored);
        } else {
            values.push(Ok(stored));
        }
    }
    read_tokens(schema, view, &mut values)?;
    Ok(values)
}

/// Takes the tokens as they are stored: the copies lie where those say, whatever keys there are.
fn read_tokens(schema: &'static Schema, view: &RowView<'_>, values: &mut Values<'_>) -> Result<()> {
    for (at, field) in schema.fields.iter().enumerate() {
        let Some(blind) = field.blind else { continue };
        let stored = view.get(blind.property)?.and_then(ValueRef::as_bytes);
        let value = values.get(at);
        if let Some(token) = stored.and_then(|token| token.try_into().ok()) {
            values.push_token(FieldToken::new(at, token, &[]));
        } else if value.is_some_and(looks_sealed) && is_in_key(schema, at) {
            return Err(Error::new(ErrorKind::DecryptionFailed).because(format!(
                "property `{}`, the token of `{}`, is missing or none, so the entity's copies can't be told; a change \
                 that opens the entity makes it anew",
                blind.property, field.property
            )));
        }
    }
    Ok(())
}

/// Returns whether the tokens of a field stand in keys.
fn is_in_key(schema: &Schema, field: usize) -> bool {
    let is_of = |part: &FieldPart| part.field == field && part.format == Format::Blind;
    schema.indexes.iter().any(|index| schema::fields(&index.place.row).any(is_of))
}

/// Returns whether a row that was found under the key of a copy in an index is one of the entity that has this row key, and
/// not of another.
pub(crate) fn is_copy(
    schema: &'static Schema,
    index: usize,
    own: EntityKeys<'_>,
    copy: &RowView<'_>,
) -> bool {
    // A row that does not say which entity it is a copy of is not removed.
    let Some(found) = schema.indexes.get(index) else { return false };
    if path::check_kind_name(copy, found.kind).is_err() {
        return false;
    }
    let says = Source::new(schema, &found.place, copy).and_then(|source| {
        if found.is_elsewhere() {
            return source.own_keys();
        }
        Ok(KeyPair::of(own.partition, &source.own_row_key()?))
    });
    says.is_ok_and(|keys| keys.as_keys() == own)
}

/// Returns the keys of the entity of which the row is a copy in an index, if it is one and says so.
pub(crate) fn source_of(
    schema: &'static Schema,
    index: usize,
    copy: &RowView<'_>,
) -> Option<(String, String)> {
    let index = schema.indexes.get(index)?;
    path::check_kind_name(copy, index.kind).ok()?;
    let source = Source::new(schema, &index.place, copy).ok()?;
    if index.is_elsewhere() {
        let keys = source.own_keys().ok()?;
        let EntityKeys { partition, row } = keys.as_keys();
        return Some((partition.to_owned(), row.to_owned()));
    }
    Some((copy.partition_key().into_owned(), source.own_row_key().ok()?))
}

/// Returns whether a field's elements stand in keys.
fn has_elements(schema: &Schema, field: usize) -> bool {
    let each = |template: &Template| {
        template
            .parts
            .iter()
            .any(|part| matches!(part, Part::Field(part) if part.field == field && part.each))
    };
    schema.indexes.iter().any(|index| each(&index.place.row))
}
