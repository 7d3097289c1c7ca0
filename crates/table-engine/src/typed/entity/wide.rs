//! Wide entities: a head and its parts, read together.
//!
//! A view of a head alone is never taken for the entity: what reads one makes sure that its parts are with it.

use super::Entity;
use super::path::check_kind;
use crate::error::{Error, ErrorKind, Result};
use crate::handle::snapshot::Snapshot;
use crate::handle::table::DynamicTable;
use crate::model::ValueRef;
use crate::model::names::ENTITY_PARTS;
use crate::row::view::RowView;
use crate::schema::{self, Index, RowTag, Schema, part_key};

/// Returns the head of an entity with all of its parts, of the same snapshot.
pub(crate) fn whole<'v, E: Entity>(
    snapshot: &'v Snapshot,
    table: &DynamicTable,
    head: RowView<'v>,
) -> Result<RowView<'v>> {
    if const { !E::SCHEMA.is_wide() } {
        return Ok(head);
    }
    whole_of(snapshot, table, E::SCHEMA, head)
}

/// Returns the head of an entity of this declaration with all of its parts, of the same snapshot.
pub(crate) fn whole_of<'v>(
    snapshot: &'v Snapshot,
    table: &DynamicTable,
    schema: &'static Schema,
    head: RowView<'v>,
) -> Result<RowView<'v>> {
    if !schema.is_wide() {
        return Ok(head);
    }
    let head = joined(snapshot, table, schema, head, &|_| true)?;
    check_whole(&head, schema)?;
    Ok(head)
}

/// Returns the head with those of its parts that are wanted and there. One that is missing is yet to be
/// [told](check_whole); one that is another row is an error.
pub(crate) fn joined<'v>(
    snapshot: &'v Snapshot,
    table: &DynamicTable,
    schema: &'static Schema,
    head: RowView<'v>,
    wanted: &dyn Fn(usize) -> bool,
) -> Result<RowView<'v>> {
    let mut parts = Vec::with_capacity(schema.parts.len());
    {
        let (partition, row) = head.keys();
        let said = parts_said(&head)?;
        for part in 1..=schema.parts.len() {
            let is_there = part <= said.unwrap_or(0);
            if !(is_there && wanted(part) || said.is_none() && part == 1) {
                parts.push(None);
                continue;
            }
            let key = part_key(&row, part);
            let found = snapshot.view(table, &partition, &key)?;
            if let Some(found) = &found {
                let tag = RowTag { kind: schema.kind_of_part(part), is_signed: schema.signed };
                check_kind(found, tag).map_err(|error| foreign(&head, part, &error))?;
            }
            if said.is_none() && found.is_some() {
                return Err(damaged(&head, "it has parts, and does not say how many".to_owned()));
            }
            parts.push(found);
        }
    }
    Ok(head.with_parts(parts))
}

/// Refuses a head whose parts were looked for, all of them, and not found.
pub(crate) fn check_whole(head: &RowView<'_>, schema: &'static Schema) -> Result<()> {
    check_some(head, schema, &|_| true)
}

/// Refuses a head of whose `wanted` parts, which were looked for, one was not found.
pub(crate) fn check_some(
    head: &RowView<'_>,
    schema: &'static Schema,
    wanted: &dyn Fn(usize) -> bool,
) -> Result<()> {
    let Some(parts) = head.parts() else { return Err(alone(head, schema)) };
    let said = parts_said(head)?.unwrap_or(0);
    let missing = (1..).zip(parts.iter().take(said)).find(|(part, found)| found.is_none() && wanted(*part));
    match missing {
        None => Ok(()),
        Some((part, _)) => {
            let key = part_key(&head.row_key(), part);
            let because = format!("part {part} of {said}, row `{}`, is missing", key.escape_debug());
            Err(damaged(head, because))
        }
    }
}

/// Returns the indexes whose keys are printed from fields of a part that is missing.
pub(crate) fn lost_indexes(head: &RowView<'_>, schema: &'static Schema) -> Vec<usize> {
    let is_lost = |field: usize| {
        let field = schema.fields.get(field);
        field.is_some_and(|field| field.part > 0 && head.row_of(Some(field)).is_none())
    };
    let prints_lost = |index: &Index| {
        let templates = [&index.place.partition, &index.place.row];
        templates.into_iter().flat_map(schema::fields).any(|part| is_lost(part.field))
    };
    schema.indexes.iter().enumerate().filter(|(_, index)| prints_lost(index)).map(|(at, _)| at).collect()
}

/// Returns how many parts the head says that there are; `None` if it says nothing, as the row of an entity that was not wide.
pub(crate) fn parts_said(head: &RowView<'_>) -> Result<Option<usize>> {
    let said = match head.get(ENTITY_PARTS)? {
        None => return Ok(None),
        Some(ValueRef::Int32(said)) => usize::try_from(said).ok(),
        Some(_) => None,
    };
    match said {
        Some(said) => Ok(Some(said)),
        None => Err(damaged(head, format!("`{ENTITY_PARTS}` is no number of parts"))),
    }
}

/// Makes sure that a row is not the head alone of a wide entity.
#[inline]
pub(crate) fn check_joined(view: &RowView<'_>, schema: &'static Schema) -> Result<()> {
    if schema.is_wide() && view.parts().is_none() { Err(alone(view, schema)) } else { Ok(()) }
}

#[cold]
fn alone(head: &RowView<'_>, schema: &'static Schema) -> Error {
    let because = format!(
        "`{}` is wide, and this way of reading sees one row alone: read it by `Store::table`",
        schema.entity
    );
    let error = Error::new(ErrorKind::Unsupported).because(because);
    error.partition(&head.partition_key()).row(&head.row_key())
}

#[cold]
fn damaged(head: &RowView<'_>, because: String) -> Error {
    Error::new(ErrorKind::Corrupt).because(because).partition(&head.partition_key()).row(&head.row_key())
}

#[cold]
fn foreign(head: &RowView<'_>, part: usize, error: &Error) -> Error {
    let key = part_key(&head.row_key(), part);
    damaged(head, format!("row `{}` is not part {part} of it: {error}", key.escape_debug()))
}
