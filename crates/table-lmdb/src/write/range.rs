//! Whether the rows of a range are still those that were read.

use lmdb_verify::LeavesAhead;

use table_engine::error::Result;
use table_engine::hash::Xxh3;
use table_engine::row::{self, Row, key};

use crate::lmdb::{self, ReadTxn};
use crate::open::Environment;
use crate::scan::read;

/// The environment and the state in which a range is walked over.
pub(crate) struct Ground<'g> {
    pub(crate) environment: &'g Environment,
    /// The number of the state that the transaction reads, or began with.
    pub(crate) state: usize,
    /// Whether the transaction has written since.
    pub(crate) has_written: bool,
    /// Whether what lies in the map is of that state: where a transaction has changed very much, LMDB writes some of it
    /// early, on pages that were free.
    pub(crate) changed_little: bool,
}

/// Returns the digest of the keys and versions of all rows whose stored keys begin with the prefix, as a transaction
/// sees them.
///
/// Nothing of a range may be missed: the keys must rise, each leaf must be whole and in use, each row sound, and the
/// rows beside the range as well; where one leaf ends, nothing may stand before the next.
pub(crate) fn digest(ground: &Ground<'_>, txn: &heed::RoTxn<'_>, prefix: &[u8]) -> Result<u64> {
    let data = ground.environment.dbs.data;
    let mut digest = Xxh3::new();
    let mut ahead =
        LeavesAhead::new(&ground.environment.reader, ground.environment.rows_tree(txn, ground.state)?);
    ahead.of_key(txn, prefix).map_err(lmdb::damage)?;
    let mut last = data.get_lower_than(txn, prefix).map_err(lmdb::error)?;
    if let Some((key, bytes)) = last {
        ground.check(txn, key, bytes)?;
        if key >= prefix {
            return Err(read::out_of_order());
        }
    }
    let from = (std::ops::Bound::Included(prefix), std::ops::Bound::Unbounded);
    let mut rows = data.range(txn, &from).map_err(lmdb::error)?;
    loop {
        let step = rows.next().transpose().map_err(lmdb::error)?;
        if let Some((key, _)) = step {
            ahead.of_entry(txn, key).map_err(lmdb::damage)?;
        }
        let before = last.map(|(key, _)| key);
        let after = step.map(|(key, _)| key);
        if !ground.adjacent(txn, before, after)? {
            return Err(read::out_of_order());
        }
        let Some((key, bytes)) = step else { break };
        if key < prefix || before.is_some_and(|before| key <= before) {
            return Err(read::out_of_order());
        }
        let row = ground.check(txn, key, bytes)?;
        if !key.starts_with(prefix) {
            break;
        }
        digest.update(&u64::try_from(key.len()).unwrap_or(u64::MAX).to_le_bytes());
        digest.update(key);
        digest.update(&row.timestamp().get().to_le_bytes());
        digest.update(&row.checksum().to_le_bytes());
        last = Some((key, bytes));
    }
    Ok(digest.digest())
}

/// Returns the digest of all rows of a range as a snapshot sees them.
pub(crate) fn digest_of_snapshot(environment: &Environment, txn: &ReadTxn<'_>, prefix: &[u8]) -> Result<u64> {
    let ground = Ground { environment, state: txn.id(), has_written: false, changed_little: true };
    digest(&ground, txn, prefix)
}

impl Ground<'_> {
    /// Returns whether no row stands between these two, which were met one after the other.
    ///
    /// The tree of the state that the transaction began with tells, as long as nothing has been written. After that a
    /// search from each must come to the other, and the branches that led to both must be whole.
    fn adjacent(&self, txn: &heed::RoTxn<'_>, before: Option<&[u8]>, after: Option<&[u8]>) -> Result<bool> {
        let environment = self.environment;
        let tree = environment.rows_tree(txn, self.state)?;
        let pages = environment.dbs.pages;
        let leaf = |key| pages.of(key).is_some().then(|| pages.place(key));
        if let (Some(one), Some(other)) = (before.and_then(leaf), after.and_then(leaf))
            && one == other
        {
            return Ok(true);
        }
        if !self.has_written {
            return tree.adjoin(&environment.reader, txn, before, after).map_err(lmdb::damage);
        }
        for key in before.into_iter().chain(after) {
            tree.check_way(&environment.reader, txn, key).map_err(lmdb::damage)?;
        }
        read::lead_to_each_other(environment, txn, before, after)
    }

    /// Checks a row and the page that it lies in.
    fn check<'t>(&self, txn: &heed::RoTxn<'_>, key: &[u8], bytes: &'t [u8]) -> Result<Row<'t>> {
        let checked = || {
            let pages = self.environment.dbs.pages;
            if self.changed_little {
                // What a write transaction has changed does not lie in the map.
                if pages.of(key).is_some() {
                    pages.check_leaf(key).map_err(lmdb::damage)?;
                    self.environment.check_in_use(txn, self.state, key)?;
                }
                if pages.of(bytes).is_some() {
                    pages.check_value(bytes).map_err(lmdb::damage)?;
                    self.environment.check_in_use(txn, self.state, bytes)?;
                }
            }
            let row = Row::parse(bytes)?;
            row.verify(row::key_seed(key))?;
            Ok(row)
        };
        checked().map_err(|damaged| key::locate(damaged, key))
    }
}
