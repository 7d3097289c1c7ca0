//! Plain values of properties that a declaration has sealed alone.

use std::sync::Arc;

use table_engine::Result;
use table_engine::schema::Schema;
use table_engine::sealing::{self, PlainValues};

use crate::snapshot::PostgresSnapshot;
use crate::store::PostgresStore;
use crate::table::{TableEntry, content};
use crate::walk::{CONTENT, each_row};

/// Refuses a declaration by which properties are sealed that a row of the kind, or a copy of one, holds plain.
///
/// No such row can come while it looks: since a layout was noted by which the properties may be sealed, the statements of writers
/// that don't know so are refused.
pub(crate) fn check_sealed(
    store: &Arc<PostgresStore>,
    entry: &TableEntry,
    schema: &Schema,
    properties: &[String],
) -> Result<()> {
    match plain_values(store, entry, schema, properties)? {
        Some(plain) => Err(plain.refusal(properties)),
        None => Ok(()),
    }
}

/// Returns the values of these properties that rows of the kind, and copies of them, hold plain.
fn plain_values(
    store: &Arc<PostgresStore>,
    entry: &TableEntry,
    schema: &Schema,
    properties: &[String],
) -> Result<Option<PlainValues>> {
    let snapshot = PostgresSnapshot::of_first_read(store.clone())?;
    let kinds: Vec<_> =
        std::iter::once(schema.entity_type).chain(schema.indexes.iter().map(|index| index.kind)).collect();
    let mut found = None::<PlainValues>;
    each_row(&snapshot, entry, Some(&kinds), &mut |keys, row| {
        for (name, value) in content(row, CONTENT)?.properties {
            if properties.iter().any(|property| *property == name)
                && !sealing::looks_sealed(value.as_value_ref())
            {
                found.get_or_insert_with(|| PlainValues { values: 0, first: keys.clone() }).values += 1;
            }
        }
        Ok(())
    })?;
    Ok(found)
}
