//! Which entity a copy is of, by its keys and by what it holds.

use table_core::introspect::KindInfo;
use table_core::{DynamicEntity, DynamicTable, Value};

use crate::failure::Failure;
use crate::kinds::ENTITY_TYPE;

/// Returns the keys of the entity that a row of an index is a copy of; `None` if it is one that many entities give together.
pub(crate) fn entity_of(
    kind: &KindInfo,
    table: &DynamicTable,
    copy: &DynamicEntity,
) -> Result<Option<(String, String)>, Failure> {
    let entity_type = copy.get(ENTITY_TYPE).and_then(Value::as_str).unwrap_or_default();
    let found = kind.indexes().into_iter().find(|index| index.entity_type == entity_type);
    let Some(index) = found.filter(|index| !index.shared) else { return Ok(None) };
    let mut values: Vec<_> =
        copy.properties().map(|(name, value)| (name.to_owned(), value.clone())).collect();
    let read = kind.keys(Some(&index.name))?.read(copy.partition_key(), copy.row_key());
    for (name, value) in read.into_iter().flatten() {
        if values.iter().all(|(known, _)| *known != name) {
            values.push((name, value));
        }
    }
    let keys = kind.keys(None)?;
    let fields = keys.fields();
    let in_key = |name: &str| fields.iter().any(|field| field.name == name);
    let given: Vec<_> = values
        .iter()
        .filter(|(name, _)| in_key(name))
        .map(|(name, value)| (name.as_str(), value.clone()))
        .collect();
    let printed = keys.print(&given);
    let located = |error: table_core::Error| error.partition(copy.partition_key()).row(copy.row_key());
    Ok(Some(printed.map_err(located).map_err(|error| error.table(table.name()))?))
}
