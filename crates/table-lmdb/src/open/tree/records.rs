//! The small records that a write transaction begins with, read off their pages.
//!
//! LMDB's search for one takes twice as long as this does. It looks at the same entries: a damaged key that leads LMDB astray
//! leads this astray, too, so that nothing is found here which a write would then put a second time.

use table_engine::error::Result;

use super::super::{Environment, state_of_write};
use super::{DATA_DATABASE, LEVELS, Tree, TreeRecord, described};
use crate::lmdb::pages::damaged;

impl Tree {
    /// Returns the tree of the small records in the state that a write transaction begins with.
    pub(crate) fn of_records(environment: &Environment, txn: &heed::RwTxn<'_>) -> Result<Self> {
        let pages = environment.dbs.pages;
        let header = environment.header_of_write(pages, txn).ok_or_else(damaged)?;
        let [_, main] = header.trees;
        let TreeRecord { depth, entries, root } = described(&main).ok_or_else(damaged)?;
        Ok(Self { pages, state: state_of_write(txn), root, depth, entries })
    }

    /// Returns the tree of the rows, as the tree of the small records leads to it.
    pub(crate) fn of_rows(&self, environment: &Environment, txn: &heed::RoTxn<'_>) -> Result<Self> {
        // A read of this state has found it before.
        if let Some(tree) = environment.known_tree().filter(|tree| tree.state == self.state) {
            return Ok(tree);
        }
        let record = self.record(environment, txn, DATA_DATABASE.as_bytes())?;
        let TreeRecord { depth, entries, root } = record.and_then(described).ok_or_else(damaged)?;
        Ok(Self { root, depth, entries, ..*self })
    }

    /// Returns the value of a key, as LMDB's search finds it. The value itself has to tell whether it is of this state.
    pub(crate) fn record<'t>(
        &self,
        environment: &Environment,
        txn: &'t heed::RoTxn<'_>,
        key: &[u8],
    ) -> Result<Option<&'t [u8]>> {
        if self.is_empty()? {
            return Ok(None);
        }
        let mut number = self.root;
        for _ in 0..LEVELS {
            let page = self.page(environment, txn, number)?;
            if page.is_branch() {
                number = page.step(key).ok_or_else(damaged)?.1.child();
                continue;
            }
            return match page.search(0, key).ok_or_else(damaged)? {
                (at, true) => {
                    let node = page.node(at).ok_or_else(damaged)?;
                    environment.value(self.pages, txn, &node).map(Some).ok_or_else(damaged)
                }
                _ => Ok(None),
            };
        }
        Err(damaged())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Store;

    #[test]
    fn every_record_is_found_that_lmdb_finds_and_no_other() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        // From one leaf to several below a branch.
        for table in 0..150 {
            store.create_table(&format!("Table{table}")).unwrap();
            if table % 50 != 0 && table != 149 {
                continue;
            }
            let environment = &store.shared().environment;
            let txn = environment.write_txn().unwrap();
            let (records, main) = (Tree::of_records(environment, &txn).unwrap(), environment.dbs.main);
            assert_eq!(records.entries, main.len(&txn).unwrap());
            assert_eq!(records.depth > 1, table > 0);
            for pair in main.iter(&txn).unwrap() {
                let (key, value) = pair.unwrap();
                assert_eq!(records.record(environment, &txn, key).unwrap(), Some(value));
                let beside = [key, b"x"].concat();
                assert_eq!(records.record(environment, &txn, &beside).unwrap(), None);
            }
            let rows = records.of_rows(environment, &txn).unwrap();
            assert_eq!(rows.entries, environment.dbs.data.len(&txn).unwrap());
        }
    }

    #[test]
    fn what_is_written_meanwhile_is_not_seen_before_it_is_committed() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        let table = store.create_table("Table").unwrap();
        for row in 0..20 {
            table.insert(&table_engine::DynamicEntity::new("p", format!("{row}"))).unwrap();
            let environment = &store.shared().environment;
            let mut txn = environment.write_txn().unwrap();
            let records = Tree::of_records(environment, &txn).unwrap();
            let rows = records.of_rows(environment, &txn).unwrap();
            assert_eq!(rows.entries, row + 1);
            environment.dbs.data.put(&mut txn, b"key", b"value").unwrap();
            environment.dbs.main.put(&mut txn, b"key", b"value").unwrap();
            assert_eq!(records.record(environment, &txn, b"key").unwrap(), None);
            assert_eq!(records.of_rows(environment, &txn).unwrap().entries, row + 1);
        }
    }
}
