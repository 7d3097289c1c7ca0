//! Rows that refer to blobs which the store does not have.
//!
//! Today a write that would make such a row is refused. A store may have some from before.

use std::collections::{BTreeMap, BTreeSet};

use table_engine::contents::{BlobId, reference};
use table_engine::error::Result;
use table_engine::row::dict::Dict;
use table_engine::row::key::StoredKey;
use table_engine::row::view::RowView;
use table_engine::row::{self, Row};

use super::check::Problem;
use crate::blobs::properties_with;
use crate::lmdb::{self, Databases};

/// The blobs that are missing, and where rows are looked for that refer to them.
pub(super) struct MissingBlobs<'t> {
    pub(super) dbs: &'t Databases,
    pub(super) txn: &'t heed::RoTxn<'t>,
    /// The store's identity.
    pub(super) store: &'t [u8; 16],
    /// How often rows refer to each.
    pub(super) blobs: BTreeMap<BlobId, u32>,
}

impl MissingBlobs<'_> {
    /// Names the rows, and their properties. `table` gives the name and the dictionary of a table that was not dropped;
    /// `problem` is told what there is, and says whether it takes more.
    pub(super) fn report<'d>(
        &self,
        table: impl Fn(u32) -> Option<(&'d str, &'d Dict)>,
        mut problem: impl FnMut(Problem) -> bool,
    ) -> Result<()> {
        if self.blobs.is_empty() {
            return Ok(());
        }
        for pair in self.dbs.data.iter(self.txn).map_err(lmdb::error)? {
            let (key, bytes) = pair.map_err(lmdb::error)?;
            // Damage is reported where the rows are read.
            if self.dbs.pages.check_value(bytes).is_err() {
                continue;
            }
            let mut found = BTreeSet::new();
            reference::each_in(bytes, |_, id, _| found.extend(self.blobs.contains_key(&id).then_some(id)));
            let Some(parsed) = StoredKey::parse(key).filter(|_| !found.is_empty()) else { continue };
            let (Some(keys), Some((name, dict))) = (parsed.texts(), table(parsed.table)) else { continue };
            let Ok(row) = Row::parse(bytes) else { continue };
            if row.verify(row::key_seed(key)).is_err() {
                continue;
            }
            let properties = properties_with(&RowView::new(key, row, dict, true), |id| found.contains(&id));
            for (_, id) in &properties {
                found.remove(id);
            }
            let unnamed = found.into_iter().map(|id| (None, id));
            let named = properties.into_iter().map(|(name, id)| (Some(name), id));
            for (property, id) in named.chain(unnamed) {
                let row = Some((keys.0.clone().into_owned(), keys.1.clone().into_owned()));
                let what = self.describe(property.as_deref(), id);
                if !problem(Problem { table: Some(name.into()), row, what }) {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    #[inline]
    fn describe(&self, property: Option<&str>, id: BlobId) -> String {
        let of = match property {
            Some(name) => format!("the property `{}`", name.escape_debug()),
            None => "the row".to_owned(),
        };
        let whose = if id.is_made_in(self.store) {
            "it is lost, or was uploaded to a copy of this store"
        } else {
            "it is another store's"
        };
        format!(
            "{of} refers to blob {id}, which the store does not have: {whose}; `Table::repair` sets the field of a struct to the \
             empty blob, and a row of no struct can be put anew or deleted"
        )
    }
}
