//! Fields that refer to blobs which the store does not have: the check names them, and the repair empties them.

use std::collections::BTreeMap;

use super::report::{CopyReport, NO_BLOB};
use super::shared_rows::RowKey;
use super::verify_copies::{At, Wrong};
use crate::contents::{BlobId, reference};
use crate::error::Result;
use crate::handle::table::DynamicTable;
use crate::model::{DynamicEntity, ETag, Value, ValueRef};
use crate::row::view::RowView;
use crate::schema::Schema;
use crate::typed::entity::source::Source;

/// The entities to be mended, by their keys.
#[derive(Default)]
pub(super) struct Blobless(BTreeMap<RowKey, Fields>);

/// Fields of an entity that refer to no blob of the store.
struct Fields {
    /// The version of the entity that was looked at.
    etag: ETag,
    properties: Vec<&'static str>,
}

impl Blobless {
    /// Returns how many they are.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether the entity of these keys is among them.
    #[inline]
    pub(super) fn has(&self, keys: &RowKey) -> bool {
        self.0.contains_key(keys)
    }

    /// Calls `mend` with what is to be set of each entity, and the version that it must still have.
    pub(super) fn each(&self, mut mend: impl FnMut(&DynamicEntity, ETag) -> Result<()>) -> Result<()> {
        for ((partition, row), Fields { etag, properties }) in &self.0 {
            let mut changes = DynamicEntity::new(partition, row);
            for property in properties {
                changes = changes.with(property, Value::Binary(Vec::new()));
            }
            mend(&changes, *etag)?;
        }
        Ok(())
    }
}

/// Has snapshots see the blobs that there are: they can look into what was opened before they were taken.
pub(super) fn open_blobs(table: &DynamicTable, schema: &Schema) -> Result<()> {
    if schema.fields.iter().any(|field| field.blob) {
        table.exec().store().see_blobs()?;
    }
    Ok(())
}

impl At<'_> {
    /// Looks at the fields of an entity that refer to blobs.
    #[inline]
    pub(super) fn look_at_blobs(
        &self,
        schema: &'static Schema,
        view: &RowView<'_>,
        report: &mut CopyReport,
        wrong: &mut Wrong,
    ) -> Result<()> {
        if !schema.fields.iter().any(|field| field.blob) {
            return Ok(());
        }
        let (partition, row) = view.keys();
        let source = Source::new(schema, schema.place(), view)?;
        for (at, field) in schema.fields.iter().enumerate().filter(|(_, field)| field.blob) {
            let Some(ValueRef::Binary(bytes)) = source.kept(at)? else { continue };
            if self.has_all(bytes)? {
                continue;
            }
            report.add(NO_BLOB, field.property, self.row_keys(&partition, &row));
            // What it holds of another entity becomes right with that one.
            if !schema.copied.iter().any(|held| held.has(at)) {
                let keys = (partition.clone().into_owned(), row.clone().into_owned());
                let new = || Fields { etag: view.etag(), properties: Vec::new() };
                wrong.blobless.0.entry(keys).or_insert_with(new).properties.push(field.property);
            }
        }
        Ok(())
    }

    /// Returns whether the store has every blob that a value refers to.
    #[inline]
    fn has_all(&self, value: &[u8]) -> Result<bool> {
        let mut ids: Vec<BlobId> = Vec::new();
        reference::each_in(value, |_, id, _| ids.push(id));
        for id in ids {
            if !self.snapshot.has_blob(id)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
