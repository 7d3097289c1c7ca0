//! Views of a kind's entities, for people: a column of its type for each property.

use table_engine::EdmType;
use table_engine::schema::Layout;

use crate::catalog::{Catalog, literal, quoted, time_of};
use crate::key_columns;
use crate::table::TableEntry;

/// The longest name that the server tells from others.
const MOST_BYTES: usize = 63;

/// Returns the statements that make the view of a kind by its layout; `None` if there can be none.
///
/// A view that others are made of stays as it is, and so does everything where the role may make none.
pub(crate) fn of_kind(catalog: &Catalog, entry: &TableEntry, kind: &str, layout: &str) -> Option<String> {
    let layout = Layout::parse(layout, kind)?;
    if !layout.table().is_empty() {
        return None;
    }
    let view = catalog.view(&name_of_kind(&entry.name, kind)?);
    let of_keys = key_columns::of_layout(&layout);
    let columns = layout.properties.iter().filter_map(|property| {
        let value = match of_keys.get(&*property.name) {
            Some(read) => read.clone()?,
            None => value(&property.name, property.type_in_own_row()?),
        };
        (property.name.len() <= MOST_BYTES).then(|| format!(", {value} AS {}", quoted(&property.name)))
    });
    Some(format!(
        "DROP VIEW IF EXISTS {view};
         CREATE VIEW {view} AS SELECT pk AS \"PartitionKey\", rk AS \"RowKey\", {} AS \"Timestamp\"{}
         FROM {} WHERE kind = {}",
        time_of("ts"),
        columns.collect::<String>(),
        entry.rows,
        literal(&layout.entity_type())
    ))
}

/// Returns the name of a kind's view; `None` if the server would cut it off, to what may be the name of another.
pub(crate) fn name_of_kind(table: &str, kind: &str) -> Option<String> {
    let name = format!("{table}.{kind}");
    (name.len() <= MOST_BYTES).then_some(name)
}

/// Returns what a property of this type is to the server.
fn value(name: &str, edm: EdmType) -> String {
    let text = format!("(body->>{})", literal(name));
    match edm {
        EdmType::Boolean => format!("{text}::boolean"),
        EdmType::Int32 => format!("{text}::int"),
        EdmType::Int64 => format!("{text}::bigint"),
        EdmType::DateTime => format!("{text}::timestamptz"),
        EdmType::Guid => format!("{text}::uuid"),
        EdmType::Binary => format!("decode({text}, 'base64')"),
        // What is no number is written with its bits.
        EdmType::Double => format!("CASE WHEN {text} LIKE 'NaN %' THEN 'NaN' ELSE {text} END::float8"),
        _ => text,
    }
}
