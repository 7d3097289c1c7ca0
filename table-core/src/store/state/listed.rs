//! Records of the catalog by their keys, each found or proved to be absent as a row is. Whoever asks for one need not see all
//! tables.

use super::StoreState;
use crate::error::{Error, ErrorKind, Result};
use crate::schema::PeriodTables;
use crate::store::lmdb;
use crate::store::open::Tree;
use crate::store::records::catalog::{self, Entry};
use crate::store::records::meta::Meta;
use crate::store::records::periods::{self, PeriodsEntry};

/// What the catalog has under a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Listed<T> {
    There(T),
    /// It is proved that there is nothing.
    Not,
}

impl StoreState {
    /// What is noted of a template, in the state that the transaction sees or began with, and has not changed since.
    pub(crate) fn listed_periods(
        &self,
        txn: &heed::RoTxn<'_>,
        state: usize,
        tables: &PeriodTables,
    ) -> Result<Listed<PeriodsEntry>> {
        let key = periods::key(tables.stem);
        Ok(match self.listed(txn, state, &key)? {
            Listed::There(record) => Listed::There(PeriodsEntry::decode(&key, record)?),
            Listed::Not => Listed::Not,
        })
    }

    /// The table of this name, likewise.
    pub(crate) fn listed_table(
        &self,
        txn: &heed::RoTxn<'_>,
        state: usize,
        name: &str,
    ) -> Result<Listed<Entry>> {
        let look = || {
            if let Some(entry) = catalog::seen(&self.environment.dbs, txn, name)? {
                return Ok(Listed::There(entry));
            }
            let key = catalog::folded(name);
            match self.listed(txn, state, key.as_bytes())? {
                Listed::There(_) => Err(lmdb::damaged_page()),
                Listed::Not => Ok(Listed::Not),
            }
        };
        look().map_err(|error| error.table(name))
    }

    /// Makes sure that whatever is asked for can be found in the catalog, or proved to be absent from it, and that LMDB counts
    /// as many records as the store does.
    pub(crate) fn check_listed(&self, txn: &heed::RoTxn<'_>, meta: &Meta) -> Result<()> {
        let dbs = &self.environment.dbs;
        let (stored, counted) = (dbs.catalog.len(txn).map_err(lmdb::error)?, meta.catalog.count);
        if stored != u64::from(counted) {
            let because = format!("LMDB counts {stored} records of tables, and the store {counted}");
            return Err(Error::new(ErrorKind::Corrupt).because(because));
        }
        let mut beside = vec![0];
        for pair in dbs.catalog.iter(txn).map_err(lmdb::error)? {
            self.listed(txn, txn.id(), &beside)?;
            let (key, _) = pair.map_err(lmdb::error)?;
            self.listed(txn, txn.id(), key)?;
            beside.clear();
            beside.extend_from_slice(key);
            beside.push(0);
        }
        self.listed(txn, txn.id(), &beside).map(drop)
    }

    /// The record of a key.
    fn listed<'t>(&self, txn: &'t heed::RoTxn<'_>, state: usize, key: &[u8]) -> Result<Listed<&'t [u8]>> {
        let (environment, dbs) = (&self.environment, &self.environment.dbs);
        let tree = Tree::of_catalog(environment, txn, state)?;
        if let Some(record) = dbs.catalog.get(txn, key).map_err(lmdb::error)? {
            // A sound record on a leaf in use is the current one: keys are unique over those.
            dbs.pages.check_leaf(record)?;
            environment.check_in_use(txn, state, record)?;
            return Ok(Listed::There(record));
        }
        let verify = |key: &[u8], record: &[u8]| catalog::decode(key, record).map(drop);
        if tree.lacks(environment, txn, key, verify)? { Ok(Listed::Not) } else { Err(lmdb::damaged_page()) }
    }
}

#[cfg(test)]
mod tests;
