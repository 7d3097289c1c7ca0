//! The rows of a store, each checked by itself.

use table_engine::contents::reference;
use table_engine::error::Result;
use table_engine::row::key::StoredKey;
use table_engine::row::view::{self, RowView};
use table_engine::row::{self, Row, key};
use table_engine::sealing::sign;

use super::{Check, corrupt};
use crate::lmdb;
use crate::records::kinds;
use crate::scan::read;

impl Check<'_> {
    /// Walks over all rows; returns how many there are, those of dropped tables among them.
    #[inline]
    pub(super) fn rows(&mut self) -> Result<u64> {
        let (mut seen, mut last, mut leaf) = (0, None::<&[u8]>, None);
        for pair in self.dbs.data.iter(self.txn).map_err(lmdb::error)? {
            let (key, bytes) = pair.map_err(lmdb::error)?;
            seen += 1;
            let place = self.dbs.pages.place(key);
            if leaf != Some(place) {
                leaf = Some(place);
                self.dbs.pages.check_leaf(key).map_err(|e| key::locate(lmdb::damage(e), key))?;
            }
            if last.is_some_and(|last| last >= key) {
                return Err(key::locate(read::out_of_order(), key));
            }
            last = Some(key);
            // A record that is said to be longer may reach beyond the end of the file.
            if self.dbs.pages.check_value(bytes).is_ok() {
                let references = &mut self.references;
                reference::each_in(bytes, |_, id, _| *references.entry(id).or_default() += 1);
            }
            if let Err(error) = self.row(key, bytes) {
                let name = StoredKey::parse(key).and_then(|key| self.tables.get(&key.table)?.name.clone());
                self.problem(name.as_deref(), &key::locate(error, key));
            }
        }
        Ok(seen)
    }

    #[inline]
    fn row(&mut self, key: &[u8], bytes: &[u8]) -> Result<()> {
        let unreadable = || corrupt("the row's key can't be read".into());
        let parsed = StoredKey::parse(key).ok_or_else(unreadable)?;
        let (Some(partition), Some(row_key)) = (parsed.partition(), parsed.row()) else {
            return Err(unreadable());
        };
        let found = self.dbs.data.get(self.txn, key).map_err(lmdb::error)?;
        self.dbs.pages.check_value(bytes).map_err(lmdb::damage)?;
        if found.is_none_or(|found| !std::ptr::eq(found, bytes)) {
            return Err(corrupt("a search for the row's key does not find it".into()));
        }
        let row = Row::parse(bytes)?;
        if self.tombstones.contains(&parsed.table) {
            // No read comes to a row of a dropped table, but until its space is freed, searches and writes of the rows
            // beside it look at it.
            return Ok(row.verify(row::key_seed(key))?);
        }
        self.report.rows += 1;
        let Some(table) = self.tables.get_mut(&parsed.table) else {
            return Err(corrupt(format!("the row is of table number {}, which is no table's", parsed.table)));
        };
        table.found.add(key.len() + bytes.len(), row.checksum());
        let seed = row::key_seed(key);
        if !view::covers(&table.dict, &row) {
            // What it says may be damaged.
            row.verify(seed)?;
            return Err(corrupt("the row has a property, or a shape, that the dictionary lacks".into()));
        }
        row.verify_whole(seed, &table.dict)?;
        key::check(&partition, &row_key)?;
        if let Some(shape) = row.shape() {
            table.shapes.insert(shape);
        }
        let view = RowView::new(key, row, &*table.dict, true);
        // Without keys the rest is checked.
        if !row.is_signed() {
            kinds::check_unsigned(&table.declared, &view)?;
        } else if table.dict.vault().is_some() {
            sign::verify(&view)?;
        }
        view.to_entity().map(|_| ())
    }
}
