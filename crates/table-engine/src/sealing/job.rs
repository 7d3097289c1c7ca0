//! Sealing anew what a table holds: what it takes of an executor.

use crate::crypt::KeyHandle;
use crate::error::Result;
use crate::model::ValueRef;
use crate::row::view::RowView;
use crate::schema::Schema;

/// How far a job has come.
///
/// A job that goes over a table saves it after each of its transactions. A job that was broken off goes on from there, and
/// does the work of at most one transaction twice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// The keys of the last row that is done, in the table's order; `None` at the start.
    pub position: Option<(String, String)>,
    /// How many rows were looked at.
    pub seen: u64,
    /// How many values were changed.
    pub changed: u64,
    /// The generation of the keys (`Encryption::generation`) when the job began: after a further rotation
    /// what is done is to be done again.
    pub generation: u64,
}

/// A value that is sealed, or has to be.
#[derive(Debug)]
pub struct SealedValue {
    /// Its place among the schema's fields.
    pub field: usize,
    /// The key that sealed it; `None` if none did.
    pub key: Option<KeyHandle>,
    /// Its token, if it has one.
    pub token: Option<Box<[u8]>>,
}

/// What is sealed in a row, and with which keys.
#[derive(Debug)]
pub struct SealedRow {
    /// The partition key.
    pub partition: String,
    /// The row key.
    pub row: String,
    /// Its values that are sealed, or have to be.
    pub values: Vec<SealedValue>,
}

impl SealedRow {
    /// Returns what is sealed in a row of the schema's entities; `None` if nothing is, nor has to be.
    pub fn of(schema: &'static Schema, view: &RowView<'_>) -> Result<Option<Self>> {
        if view.kind()? != Some(schema.entity_type) {
            return Ok(None);
        }
        let mut values = Vec::new();
        for (at, field) in schema.fields.iter().enumerate().filter(|(_, field)| field.encrypted) {
            let Some(value) = view.get_field(schema.fields, at)? else { continue };
            let token = match field.blind {
                Some(blind) => view.get(blind.property)?.and_then(ValueRef::as_bytes).map(Into::into),
                None => None,
            };
            values.push(SealedValue { field: at, key: value.as_bytes().and_then(KeyHandle::of), token });
        }
        if values.is_empty() {
            return Ok(None);
        }
        let (partition, row) = view.keys();
        Ok(Some(Self { partition: partition.into_owned(), row: row.into_owned(), values }))
    }
}

/// A table whose values can be sealed anew: what the job asks of its store's keys.
pub trait Resealing {
    /// Returns a number that rises whenever a key stops being current or is destroyed.
    fn generation(&self) -> Result<u64>;

    /// Waits until every transaction has ended that had begun, by whatever process.
    fn await_writers(&self) -> Result<()>;
}
