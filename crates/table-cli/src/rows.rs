//! Rows for people: named cells, with what is sealed closed unless the store has the keys.

use table_core::blob::Blob;
use table_core::introspect::RowOf;
use table_core::store::EncryptingTable;
use table_core::{DynamicEntity, DynamicTable, Result, Value};

use crate::kinds::{ENTITY_TYPE, Kinds};
use crate::output::{Cell, Record};

/// What stands where a value is sealed.
const SEALED: &str = "(sealed)";
/// What stands where the key of a sealed value was destroyed.
const DESTROYED: &str = "(its key is destroyed)";

/// How the rows of a table become lines.
pub(crate) struct RowPrinter<'k> {
    kinds: &'k Kinds,
    table: DynamicTable,
    /// Opens what is sealed, where there are keys.
    opener: Option<EncryptingTable>,
    /// The properties that are asked for; `None` for all.
    select: Option<Vec<String>>,
}

impl<'k> RowPrinter<'k> {
    /// Makes a printer; `opens` says whether the store is open with keys.
    pub(crate) fn new(kinds: &'k Kinds, table: &DynamicTable, opens: bool) -> Self {
        // Nothing is sealed but what kinds declare so.
        let opener = opens.then(|| table.encrypting(|_, _, _| false));
        Self { kinds, table: table.clone(), opener, select: None }
    }

    /// Prints these properties alone.
    pub(crate) fn select(self, select: Option<Vec<String>>) -> Self {
        Self { select, ..self }
    }

    /// Returns the row as a line: its keys, and its properties.
    pub(crate) fn record(&self, row: DynamicEntity) -> Result<Record> {
        let sealed = self.sealed(&row);
        let row = if sealed.is_empty() { Opened::Plain(row) } else { self.open(row)? };
        let mut record = vec![
            ("PartitionKey".to_owned(), Cell::text(row.entity().partition_key())),
            ("RowKey".to_owned(), Cell::text(row.entity().row_key())),
        ];
        let cell = |name: &str, value: &Value| match &row {
            Opened::Plain(_) => shown(value),
            _ if !sealed.iter().any(|known| known == name) => shown(value),
            Opened::Open(_) => Cell::from(value.as_value_ref()),
            Opened::Closed(_) => Cell::text(SEALED),
            Opened::Destroyed(_) => Cell::text(DESTROYED),
        };
        let Some(select) = &self.select else {
            let all = row.entity().properties();
            record.extend(all.map(|(name, value)| (name.to_owned(), cell(name, value))));
            return Ok(record);
        };
        for name in select {
            let found = match name.as_str() {
                "PartitionKey" | "RowKey" => continue,
                "Timestamp" => row.entity().timestamp().map(|time| Cell::text(time.to_string())),
                "ETag" => row.entity().etag().map(|etag| Cell::text(etag.to_string())),
                name => row.entity().get(name).map(|value| cell(name, value)),
            };
            record.push((name.clone(), found.unwrap_or(Cell::Null)));
        }
        Ok(record)
    }

    /// Returns the names of the properties that the row holds sealed.
    fn sealed(&self, row: &DynamicEntity) -> Vec<String> {
        let Some((kind, _)) = self.kinds.identify(self.table.name(), row) else { return Vec::new() };
        let sealed = kind.properties().into_iter().filter(|property| property.encrypted);
        sealed.map(|property| property.name).filter(|name| row.get(name).is_some()).collect()
    }

    fn open(&self, row: DynamicEntity) -> Result<Opened> {
        let Some(opener) = &self.opener else { return Ok(Opened::Closed(row)) };
        // Rows of copies are given as they are stored.
        let is_copy =
            self.kinds.identify(self.table.name(), &row).is_none_or(|(_, of)| matches!(of, RowOf::Index(_)));
        if is_copy {
            return Ok(Opened::Closed(row));
        }
        match opener.open(row.clone()) {
            Ok(open) => Ok(Opened::Open(open)),
            Err(error) if error.kind().is_destroyed() => Ok(Opened::Destroyed(row)),
            Err(error) => Err(error.partition(row.partition_key()).row(row.row_key())),
        }
    }
}

/// A row, and what became of what it holds sealed.
enum Opened {
    Plain(DynamicEntity),
    Open(DynamicEntity),
    Closed(DynamicEntity),
    Destroyed(DynamicEntity),
}

impl Opened {
    fn entity(&self) -> &DynamicEntity {
        match self {
            Self::Plain(row) | Self::Open(row) | Self::Closed(row) | Self::Destroyed(row) => row,
        }
    }
}

/// Returns a value that is not sealed: a reference to a blob says how long that is.
fn shown(value: &Value) -> Cell {
    match Blob::of(value) {
        Some(blob) => Cell::Text(format!("(blob, {} bytes)", blob.len())),
        None => Cell::from(value.as_value_ref()),
    }
}

/// Returns the names that a query has to ask for, so that these can be printed.
pub(crate) fn asked(select: &[String]) -> Vec<String> {
    let mut asked: Vec<_> = select.iter().filter(|name| *name != "ETag").cloned().collect();
    // It says what is sealed, and what is a copy.
    if !asked.iter().any(|name| name == ENTITY_TYPE) {
        asked.push(ENTITY_TYPE.to_owned());
    }
    asked
}
