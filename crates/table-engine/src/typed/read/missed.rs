//! Point reads that found nothing where the key says: a row of a previous version may lie where that had it.

use crate::error::{ErrorKind, Result};
use crate::handle::snapshot::Snapshot;
use crate::handle::table::DynamicTable;
use crate::model::{EntityKeys, Value};
use crate::plan::Values;
use crate::row::view::RowView;
use crate::schema::{self, FieldPart, KeyPair, KeyValues, Kinship, Place, PropertyValue, Schema, ValueError};
use crate::typed::entity::path::PathKeys;

/// What reads the row that is found.
type ReadRow<'r> = dyn FnMut(&RowView<'_>) -> Result<()> + 'r;

/// Looks again for an entity of which nothing was found under its key, in this snapshot or in the table as it is now, and
/// gives `read` its row, wherever it lies.
///
/// While entities whose key changes are being converted, one that is still to be converted is looked for under the key that
/// it had, if that follows from its new key. Otherwise it can't be said to be absent.
pub(crate) fn look_again(
    own: &'static PathKeys,
    table: &DynamicTable,
    snapshot: Option<&Snapshot>,
    keys: EntityKeys<'_>,
    read: &mut ReadRow<'_>,
) -> Result<()> {
    let schema = own.schema();
    let now;
    let snapshot = match snapshot {
        Some(snapshot) => snapshot,
        // The read that has found nothing has seen to it that what is known of the kind is as new.
        None if !table.index_mask(schema, false)?.looks_at_rows() => return Ok(()),
        None => {
            now = table.snapshot()?;
            &now
        }
    };
    let checked = snapshot.check_rows(table, schema);
    if let Some(row) = snapshot.view(table, keys.partition, keys.row)? {
        return read(&row);
    }
    match checked {
        Err(error) if error.kind() == ErrorKind::MigrationPending => {
            let Some(places) = places_of(schema, keys) else { return Err(error) };
            for place in &places {
                let EntityKeys { partition, row } = place.as_keys();
                let Some(found) = snapshot.view(table, partition, row)? else { continue };
                if becomes(own, &found, keys)? {
                    return read(&found);
                }
            }
            Ok(())
        }
        checked => checked,
    }
}

/// Returns whether a row is of a previous version, and what it becomes has this key.
fn becomes(own: &'static PathKeys, row: &RowView<'_>, keys: EntityKeys<'_>) -> Result<bool> {
    let (Some(previous), Some(kind), schema) = (own.previous(), row.kind()?, own.schema()) else {
        return Ok(false);
    };
    if !matches!(schema.kinship(kind), Kinship::PreviousVersion(_)) {
        return Ok(false);
    }
    let mut has_key = false;
    let mut take = |values: &Values<'_>| {
        has_key = schema::own_keys(schema, values)?.as_keys() == keys;
        Ok(())
    };
    (previous.convert)(row, &mut take)?;
    Ok(has_key)
}

/// Returns where the entity of this key would lie in each previous version; `None` if that does not follow from the key for
/// one of them.
fn places_of(schema: &'static Schema, keys: EntityKeys<'_>) -> Option<Vec<KeyPair>> {
    let mut known = Vec::new();
    let place = schema.place();
    for (template, key) in [(&place.partition, keys.partition), (&place.row, keys.row)] {
        let mut found = |field: usize, value: PropertyValue<'_>| {
            let property = schema.fields.get(field).map(|field| field.property);
            known.extend(property.zip(value.into_value()));
        };
        if !schema::parse(template, key, &mut found) {
            return None;
        }
    }
    schema.previous_versions().map(|previous| place_of(previous, previous.place(), &known)).collect()
}

fn place_of(previous: &'static Schema, place: &Place, known: &[(&'static str, Value)]) -> Option<KeyPair> {
    let values = ByName { previous, known };
    let mut parts = [&place.partition, &place.row].into_iter().flat_map(schema::fields);
    if !parts.all(|part| values.of(part).is_some()) {
        return None;
    }
    schema::keys(previous, place, &values, "make a key for").ok()
}

/// The values of a previous version's fields, as far as a key tells them.
struct ByName<'k> {
    previous: &'static Schema,
    known: &'k [(&'static str, Value)],
}

impl ByName<'_> {
    fn of(&self, part: &FieldPart) -> Option<&Value> {
        let field = self.previous.fields.get(part.field)?;
        let (_, value) = self.known.iter().find(|(property, _)| *property == field.property)?;
        (value.edm_type() == field.edm).then_some(value)
    }
}

impl KeyValues for ByName<'_> {
    fn value(&self, part: &FieldPart) -> Result<PropertyValue<'_>, ValueError> {
        Ok(self.of(part).map_or(PropertyValue::Absent, |value| PropertyValue::Borrowed(value.as_value_ref())))
    }
}
