//! An entity as its row has it: nothing that is sealed is opened.
//!
//! What becomes of an entity whose keys are lost is planned from this, and so is what only seals anew: no type of the
//! user's is made of it, so nothing is changed that was not to be.

use crate::error::{Error, ErrorKind, Result};
use crate::handle::snapshot::Snapshot;
use crate::handle::table::DynamicTable;
use crate::model::ValueRef;
use crate::plan::{FieldToken, Values};
use crate::row::view::RowView;
use crate::schema::{self, FieldPart, Format, Part, PropertyValue, Schema, Template};
use crate::sealing::looks_sealed;
use crate::typed::entity::source::Source;
use crate::typed::entity::{Entity, path};

/// What a row has of the fields, as the planner takes them, and the sparse indexes that have no row of the entity.
pub(in crate::typed) type Unopened = (Values<'static>, Vec<usize>);

/// Reads an entity from its own row, and looks which sparse indexes have a copy of it: the user's function would have to
/// see the entity itself.
pub(in crate::typed) fn read<E: Entity>(
    table: &DynamicTable,
    snapshot: &Snapshot,
    view: &RowView<'_>,
) -> Result<Unopened> {
    let schema = E::SCHEMA;
    let source = Source::new(schema, schema.place(), view)?;
    let mut values = Values::with_capacity(schema.fields.len());
    for at in 0..schema.fields.len() {
        let stored = source.kept(at)?.map_or(PropertyValue::Absent, |value| value.to_value().into());
        if has_elements(schema, at) {
            values
                .push_each(E::elements(&source, at)?.into_iter().map(PropertyValue::Owned).collect(), stored);
        } else {
            values.push(Ok(stored));
        }
    }
    read_tokens(schema, view, &mut values)?;
    let mut without = Vec::new();
    for (number, index) in schema.indexes.iter().enumerate().filter(|(_, index)| index.sparse) {
        let has_copy = match values.keys(&index.place.row).first() {
            Some(key) => is_copy(schema, number, table, snapshot, view, key)?,
            None => false,
        };
        if !has_copy {
            without.push(number);
        }
    }
    Ok((values, without))
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

/// Whether the tokens of a field stand in keys.
fn is_in_key(schema: &Schema, field: usize) -> bool {
    let is_of = |part: &FieldPart| part.field == field && part.format == Format::Blind;
    schema.indexes.iter().any(|index| schema::fields(&index.place.row).any(is_of))
}

/// Whether the row of this key is a copy of the entity, and not of another.
fn is_copy(
    schema: &'static Schema,
    index: usize,
    table: &DynamicTable,
    snapshot: &Snapshot,
    own: &RowView<'_>,
    key: &str,
) -> Result<bool> {
    let Some(index) = schema.indexes.get(index) else { return Ok(false) };
    let Some(copy) = snapshot.view_unverified(table, &own.partition_key(), key)? else { return Ok(false) };
    if path::check_kind_name(&copy, index.kind).is_err() {
        return Ok(false);
    }
    // One that says not whose copy it is is nobody's to remove.
    let says = Source::new(schema, &index.place, &copy).and_then(|source| source.own_row_key());
    Ok(says.is_ok_and(|key| key == own.row_key()))
}

/// Whether a field's elements stand in keys.
fn has_elements(schema: &Schema, field: usize) -> bool {
    let each = |template: &Template| {
        template
            .parts
            .iter()
            .any(|part| matches!(part, Part::Field(part) if part.field == field && part.each))
    };
    schema.indexes.iter().any(|index| each(&index.place.row))
}
