//! Records of the catalog by their keys, each found or proved to be absent as a row is. One is looked up without a
//! look at all tables.

use table_engine::error::{Error, ErrorKind, Result};
use table_engine::schema::PeriodTables;

use super::StoreState;
use crate::lmdb;
use crate::records::catalog::{self, Entry};
use crate::records::meta::Meta;
use crate::records::periods::{self, PeriodsEntry};

/// What the catalog has under a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Lookup<T> {
    Found(T),
    /// It is proved that there is nothing.
    Absent,
}

impl StoreState {
    /// What is noted of a template, in the state that the transaction sees or began with, and has not changed since.
    pub(crate) fn lookup_periods(
        &self,
        txn: &heed::RoTxn<'_>,
        state: usize,
        tables: &PeriodTables,
    ) -> Result<Lookup<PeriodsEntry>> {
        let key = periods::key(tables.stem);
        Ok(match self.lookup(txn, state, &key)? {
            Lookup::Found(record) => Lookup::Found(PeriodsEntry::decode(&key, record)?),
            Lookup::Absent => Lookup::Absent,
        })
    }

    /// The table of this name, likewise.
    pub(crate) fn lookup_table(
        &self,
        txn: &heed::RoTxn<'_>,
        state: usize,
        name: &str,
    ) -> Result<Lookup<Entry>> {
        let look = || {
            if let Some(entry) = catalog::seen(&self.environment.dbs, txn, name)? {
                return Ok(Lookup::Found(entry));
            }
            let key = catalog::folded(name);
            match self.lookup(txn, state, key.as_bytes())? {
                Lookup::Found(_) => Err(lmdb::damaged_page()),
                Lookup::Absent => Ok(Lookup::Absent),
            }
        };
        look().map_err(|error| error.table(name))
    }

    /// Makes sure that whatever is asked for can be found in the catalog, or proved to be absent from it, and that LMDB counts
    /// as many records as the store does.
    pub(crate) fn check_lookup(&self, txn: &heed::RoTxn<'_>, meta: &Meta) -> Result<()> {
        let dbs = &self.environment.dbs;
        let (stored, counted) = (dbs.catalog.len(txn).map_err(lmdb::error)?, meta.catalog.count);
        if stored != u64::from(counted) {
            let because = format!("LMDB counts {stored} records of tables, and the store {counted}");
            return Err(Error::new(ErrorKind::Corrupt).because(because));
        }
        let mut beside = vec![0];
        for pair in dbs.catalog.iter(txn).map_err(lmdb::error)? {
            self.lookup(txn, txn.id(), &beside)?;
            let (key, _) = pair.map_err(lmdb::error)?;
            self.lookup(txn, txn.id(), key)?;
            beside.clear();
            beside.extend_from_slice(key);
            beside.push(0);
        }
        self.lookup(txn, txn.id(), &beside).map(drop)
    }

    /// The record of a key.
    fn lookup<'t>(&self, txn: &'t heed::RoTxn<'_>, state: usize, key: &[u8]) -> Result<Lookup<&'t [u8]>> {
        let (environment, dbs) = (&self.environment, &self.environment.dbs);
        let tree = environment.catalog_tree(txn, state)?;
        if let Some(record) = dbs.catalog.get(txn, key).map_err(lmdb::error)? {
            // A sound record on a leaf in use is the current one: keys are unique over those.
            dbs.pages.check_leaf(record).map_err(lmdb::damage)?;
            environment.check_in_use(txn, state, record)?;
            return Ok(Lookup::Found(record));
        }
        let verify =
            |key: &[u8], record: &[u8]| catalog::decode(key, record).map(drop).map_err(lmdb::entry_error);
        if tree.is_absent(&environment.reader, txn, key, verify).map_err(lmdb::damage)? {
            Ok(Lookup::Absent)
        } else {
            Err(lmdb::damaged_page())
        }
    }
}

#[cfg(test)]
mod tests;
