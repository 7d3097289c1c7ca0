//! Rows that must not be there yet: put without a look for them, and taken back if one is there.

use heed::{MdbError, PutFlags};
use lmdb_verify::{Tree, Written};

use table_engine::error::{Error, ErrorKind, Result};
use table_engine::model::Ticks;
use table_engine::plan::Refused;
use table_engine::row;

use super::apply::{New, Writing};
use super::encoded::EncodedPlan;
use super::transaction::touched;
use crate::lmdb;
use crate::scan::read;

/// What a write does to a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Becomes {
    Put,
    Gone,
}

impl Becomes {
    pub(super) fn of(new: &New) -> Self {
        if matches!(new, New::Nothing) { Self::Gone } else { Self::Put }
    }
}

impl Writing<'_, '_> {
    /// Puts every row that can be put without a look, and must not be there yet; takes all back if one is.
    pub(super) fn insert(&mut self, plan: &mut EncodedPlan, timestamp: Ticks) -> Result<Result<(), Refused>> {
        for (index, row) in plan.rows.iter().enumerate().filter(|(_, row)| row.is_blind()) {
            if let Err(damaged) = self.meet(plan.key(row), Becomes::Put) {
                return Ok(Err(plan.locate(damaged, index)));
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
                        self.meet(plan.key(row), Becomes::Gone)?;
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

    /// Has the pages looked at that LMDB changes for a row, if they have not been looked at before.
    #[inline]
    pub(super) fn meet(&mut self, key: &[u8], becomes: Becomes) -> Result<()> {
        if self.environment.reader.has_met_all() {
            return Ok(());
        }
        let tree = self.tree()?;
        let most = self.scratch.puts + self.scratch.applied.len() + 1;
        let removed = (becomes == Becomes::Gone).then_some(most);
        let verify = |other: &[u8], bytes: &[u8]| {
            let verified = read::verify_alone(other, bytes);
            let verified = if other == key { verified } else { verified.map_err(|damaged| beside(&damaged)) };
            verified.map_err(lmdb::entry_error)
        };
        tree.meet(&self.environment.reader, self.txn, Written { key, removed }, &verify).map_err(lmdb::damage)
    }

    /// Makes sure that a row which was looked for and not found was absent when the transaction began.
    #[cold]
    pub(super) fn check_miss(&mut self, key: &[u8]) -> Result<()> {
        let reader = &self.environment.reader;
        let is_absent =
            self.tree()?.is_absent(reader, self.txn, key, read::verify_entry).map_err(lmdb::damage)?;
        // Another plan of this transaction may have removed the row.
        if is_absent || self.state.is_none() { Ok(()) } else { Err(read::out_of_order()) }
    }

    /// Returns the tree of the rows that the transaction began with.
    pub(super) fn tree(&mut self) -> Result<Tree> {
        if let Some(tree) = *self.tree {
            return Ok(tree);
        }
        let rows = self.records.of_largest(&self.environment.reader, self.txn).map_err(lmdb::damage)?;
        Ok(*self.tree.insert(rows))
    }

    /// Returns the error of a row that should not be there, once it was found sound.
    #[cold]
    fn already_there(&mut self, plan: &EncodedPlan, index: usize) -> Refused {
        let found = plan.rows.get(index).and_then(|row| self.examine_row(plan, row).err());
        plan.locate(found.unwrap_or_else(|| Error::new(ErrorKind::EntityAlreadyExists)), index)
    }
}

/// Returns the error of a write whose row is to lie on a page with this one, which is damaged.
#[cold]
fn beside(damaged: &Error) -> Error {
    let named = |name: Option<&str>| name.unwrap_or_default().escape_debug().to_string();
    let because = format!(
        "partition `{}`, row `{}`, on a page that the write changes, is damaged: {}",
        named(damaged.partition_key()),
        named(damaged.row_key()),
        damaged.reason()
    );
    Error::new(damaged.kind()).because(because)
}
