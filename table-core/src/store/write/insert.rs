//! Rows that must not be there yet: proved to be absent, put without a look, and taken back if one is there.

use heed::{MdbError, PutFlags};

use super::apply::Writing;
use super::encoded::Prepared;
use super::transaction::touched;
use crate::error::{Error, ErrorKind, Result};
use crate::model::Ticks;
use crate::plan::Refused;
use crate::row;
use crate::store::lmdb;
use crate::store::open::Tree;
use crate::store::scan::read;

impl Writing<'_, '_> {
    /// Puts every row that can be put without a look, and must not be there yet; takes all back if one is.
    pub(super) fn insert(&mut self, plan: &mut Prepared, timestamp: Ticks) -> Result<Result<(), Refused>> {
        for (index, row) in plan.rows.iter().enumerate().filter(|(_, row)| row.is_blind()) {
            if row.is_absent.get() {
                continue;
            }
            match self.lacked(plan.key(row), plan.length(row)) {
                // What was there may have been removed by another plan.
                Ok(lacked) if lacked || self.state.is_none() => {}
                Ok(_) => return Ok(Err(self.already_there(plan, index))),
                Err(damaged) => return Ok(Err(plan.locate(damaged, index))),
            }
        }
        for index in 0..plan.rows.len() {
            let Some(group) = plan.rows.get(index).filter(|row| row.is_blind()).map(|row| row.group) else {
                continue;
            };
            let (key, image, seed) = plan.key_and_image(index);
            let checksum = row::stamp(image, timestamp, seed);
            self.scratch.puts += 1;
            match self.dbs.data.put_with_flags(self.txn, PutFlags::NO_OVERWRITE, key, image) {
                Ok(()) => {
                    let length = key.len() + image.len();
                    let group = plan.groups.get(group);
                    if let Some(touched) = group.and_then(|group| touched(self.tables, group)) {
                        touched.counts.add(length, checksum);
                    }
                }
                Err(heed::Error::Mdb(MdbError::KeyExist)) => {
                    for row in plan.rows.iter().take(index).filter(|row| row.is_blind()) {
                        self.dbs.data.delete(self.txn, plan.key(row)).map_err(lmdb::error)?;
                    }
                    for group in plan.groups.iter() {
                        if let Some(touched) = touched(self.tables, group) {
                            touched.counts = touched.before_plan;
                        }
                    }
                    return Ok(Err(self.already_there(plan, index)));
                }
                Err(error) => return Err(lmdb::error(error)),
            }
        }
        Ok(Ok(()))
    }

    /// Whether the store had no row of this key when the transaction began. An error if that can't be told, since a page
    /// is damaged: LMDB might not find a row that is there, and put another of its key beside it.
    pub(super) fn lacked(&mut self, key: &[u8], length: usize) -> Result<bool> {
        let Some(tree) = self.tree()? else {
            return read::verify_miss(self.environment, self.txn, key).map(|()| true);
        };
        tree.lacks_for(
            self.environment,
            self.txn,
            (key, length),
            &mut self.scratch.explored,
            read::verify_alone,
        )
    }

    /// Makes sure that LMDB comes to a row that is there, now and when it has been changed or removed; `lengths` are those of
    /// its key and value, before and after.
    pub(super) fn check_change(&mut self, key: &[u8], lengths: (usize, Option<usize>)) -> Result<()> {
        let Some(tree) = self.tree()? else { return Ok(()) };
        tree.check_change(self.environment, self.txn, key, lengths, &mut self.scratch.explored)
    }

    /// The tree of the rows that the transaction began with. `None` where the layout of pages is not known.
    pub(super) fn tree(&mut self) -> Result<Option<Tree>> {
        match (*self.tree, self.records) {
            (Some(tree), _) => Ok(Some(tree)),
            (None, Some(records)) => {
                Ok(Some(*self.tree.insert(records.of_rows(self.environment, self.txn)?)))
            }
            (None, None) => Ok(None),
        }
    }

    /// What is said of a row that should not be there. Whether it is sound is looked at first.
    #[cold]
    fn already_there(&mut self, plan: &Prepared, index: usize) -> Refused {
        let found = plan.rows.get(index).and_then(|row| self.examine_row(plan, row).err());
        plan.locate(found.unwrap_or_else(|| Error::new(ErrorKind::EntityAlreadyExists)), index)
    }
}
