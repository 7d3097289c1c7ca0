//! The address at which LMDB has mapped an environment's file.

use std::fs::File;
use std::path::Path;

use table_engine::error::Result;

use super::header::{Flaw, Header};
use super::raw_pages;
use super::reader_pin::with_pinned_reader;
use crate::lmdb::pages::Pages;
use crate::lmdb::{Db, LmdbEnv, ReadTxn};
use crate::records::meta::META_KEY;

impl Pages {
    /// Finds out where LMDB has mapped its file, by the place that the store's own record has in both.
    pub(super) fn find(env: &LmdbEnv, main: Db, file: &mut File, data: &Path) -> Result<Self> {
        with_pinned_reader(env, file, data, |txn, header, file| {
            let found = Self::find_in(env, txn, header, main, file).and_then(|found| {
                found.ok_or_else(|| Flaw::corrupt("is damaged: what is mapped is not what the file holds"))
            });
            found.map_err(|flaw| flaw.of(data))
        })
    }

    fn find_in(
        env: &LmdbEnv,
        txn: &ReadTxn<'_>,
        header: &Header,
        main: Db,
        file: &mut File,
    ) -> Result<Option<Self>, Flaw> {
        let record = main.get(txn, META_KEY).map_err(|error| Flaw::Unread(std::io::Error::other(error)))?;
        let Some(record) = record else { return Ok(None) };
        // No key sorts before the record's, so it stands on the first leaf.
        let (number, bytes) = raw_pages::first_leaf(file, header)?;
        let page = bytes.len();
        let address = record.as_ptr().addr();
        let before = usize::try_from(number).ok().and_then(|number| number.checked_mul(page));
        let start = before.and_then(|before| (address & !(page - 1)).checked_sub(before));
        let found = start.map(|start| Self::at(start, env.info().map_size, page));
        // The address was LMDB's, so the page can be looked at; it must be the one in the file.
        Ok(found.filter(|found| found.of(record) == Some(&*bytes)))
    }
}
