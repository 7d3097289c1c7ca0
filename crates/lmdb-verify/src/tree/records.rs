//! The small records that a write transaction begins with, read off their pages.
//!
//! LMDB's search for one takes twice as long as this does. It looks at the same entries: a damaged key that leads LMDB astray
//! leads this astray, too, so that nothing is found here which a write would then put a second time.

use heed::{RoTxn, RwTxn};

use super::{LEVELS, Tree, TreeRecord, described};
use crate::error::{Result, damaged};
use crate::reader::{PageReader, state_of_write};

impl Tree {
    /// Returns the tree of the small records in the state that a write transaction begins with.
    pub fn of_records(reader: &PageReader, txn: &RwTxn<'_>) -> Result<Self> {
        let header = reader.header_of_write(txn).ok_or_else(damaged)?;
        let [_, main] = header.trees;
        let TreeRecord { depth, entries, root } = described(&main).ok_or_else(damaged)?;
        Ok(Self { state: state_of_write(txn), root, depth, entries })
    }

    /// Returns the tree of the [largest](crate::Names::largest) database, as the tree of the small records leads to it.
    pub fn of_largest(&self, reader: &PageReader, txn: &RoTxn<'_>) -> Result<Self> {
        // A read of this state has found it before.
        if let Some(tree) = reader.known_tree().filter(|tree| tree.state == self.state) {
            return Ok(tree);
        }
        let record = self.record(reader, txn, reader.names().largest.as_bytes())?;
        let TreeRecord { depth, entries, root } = record.and_then(described).ok_or_else(damaged)?;
        Ok(Self { root, depth, entries, ..*self })
    }

    /// Returns the value of a key, as LMDB's search finds it. The value itself has to tell whether it is of this state.
    pub fn record<'t>(
        &self,
        reader: &PageReader,
        txn: &'t RoTxn<'_>,
        key: &[u8],
    ) -> Result<Option<&'t [u8]>> {
        if self.is_empty()? {
            return Ok(None);
        }
        let mut number = self.root;
        for _ in 0..LEVELS {
            let page = reader.tree_page(txn, number)?;
            if page.is_branch() {
                number = page.step(key).ok_or_else(damaged)?.1.child();
                continue;
            }
            return match page.search(0, key).ok_or_else(damaged)? {
                (at, true) => {
                    let node = page.node(at).ok_or_else(damaged)?;
                    reader.value(txn, &node).map(Some).ok_or_else(damaged)
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
    use crate::tests::Scratch;

    #[test]
    fn every_record_is_found_that_lmdb_finds_and_no_other() {
        let scratch = Scratch::new();
        // From one leaf to several below a branch.
        for number in 0..150 {
            scratch.put_in(scratch.main, format!("record {number}").as_bytes(), &[7; 60]);
            if number % 50 != 0 && number != 149 {
                continue;
            }
            let txn = scratch.write_txn();
            let records = Tree::of_records(&scratch.reader, &txn).unwrap();
            assert_eq!(records.entries, scratch.main.len(&txn).unwrap());
            assert_eq!(records.depth > 1, number > 0);
            for pair in scratch.main.iter(&txn).unwrap() {
                let (key, value) = pair.unwrap();
                assert_eq!(records.record(&scratch.reader, &txn, key).unwrap(), Some(value));
                let beside = [key, b"x"].concat();
                assert_eq!(records.record(&scratch.reader, &txn, &beside).unwrap(), None);
            }
            let largest = records.of_largest(&scratch.reader, &txn).unwrap();
            assert_eq!(largest.entries, scratch.data.len(&txn).unwrap());
        }
    }

    #[test]
    fn what_is_written_meanwhile_is_not_seen_before_it_is_committed() {
        let scratch = Scratch::new();
        for number in 0..20 {
            scratch.put(format!("{number}").as_bytes(), b"value");
            let mut txn = scratch.write_txn();
            let records = Tree::of_records(&scratch.reader, &txn).unwrap();
            let largest = records.of_largest(&scratch.reader, &txn).unwrap();
            assert_eq!(largest.entries, number + 1);
            scratch.data.put(&mut txn, b"key", b"value").unwrap();
            scratch.main.put(&mut txn, b"key", b"value").unwrap();
            assert_eq!(records.record(&scratch.reader, &txn, b"key").unwrap(), None);
            assert_eq!(records.of_largest(&scratch.reader, &txn).unwrap().entries, number + 1);
        }
    }
}
