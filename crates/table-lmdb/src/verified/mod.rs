//! Records of a database that a feature brings, read with proofs.
//!
//! Each record carries a checksum that covers its key. The absence of a record is proved as that of a row is: by the
//! way to the place where it would stand. It is proved as well that nothing stands between two records which were met
//! one after the other. So what damage hides is an error, and never taken for absent.

mod overlay;
mod writes;

use std::collections::BTreeSet;
use std::marker::PhantomData;
use std::ops::{Bound, ControlFlow, Deref};

pub(crate) use self::overlay::{Counted, Overlay, OverlayContext, PlannedWrites, Records, TxnState};
use self::writes::{Applied, Write, Writes};

use lmdb_verify::{LeavesAhead, Tree, Written, state_of_write};

use table_engine::error::{Error, ErrorKind, Result};

use crate::lmdb::{self, Db};
use crate::open::{Environment, OptionalDb};
use crate::records::meta;

/// What a feature keeps in its database.
pub(crate) trait Keyspace {
    const DATABASE: OptionalDb;

    /// Returns what a record of this key is, for people. Names that users give are left out.
    fn describe(key: &[u8]) -> String;
}

/// The records of `K` as a transaction sees them.
pub(crate) struct VerifiedDb<'t, K> {
    records: VerifiedRecords<'t>,
    kept: PhantomData<K>,
}

/// The records of a database as a transaction sees them.
#[derive(Clone, Copy)]
pub(crate) struct VerifiedRecords<'t> {
    environment: &'t Environment,
    txn: &'t heed::RoTxn<'t>,
    db: Db,
    /// Returns what a record of a key is, for people.
    describe: fn(&[u8]) -> String,
    /// The number of the state that the transaction reads, or began with.
    state: usize,
    /// The database's tree in that state.
    tree: Tree,
    /// What it has removed from the database since; `None` if it has written nothing to it.
    removed: Option<&'t BTreeSet<Vec<u8>>>,
    /// Whether what lies in the map is of that state: where a transaction has changed very much, LMDB writes some of it
    /// early, on pages that were free.
    changed_little: bool,
    /// Whether what is found may be changed.
    is_write: bool,
}

/// Whether a walk is to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    Not,
    /// Nothing more is wanted.
    Here,
}

/// What takes each record of a walk, with its key, and says whether it goes on.
type EachRecord<'e, 't> = &'e mut dyn FnMut(&'t [u8], &'t [u8]) -> Result<ControlFlow<(), Stop>>;

impl<K> Clone for VerifiedDb<'_, K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K> Copy for VerifiedDb<'_, K> {}

impl<'t, K: Keyspace> VerifiedDb<'t, K> {
    /// Returns the key space as a snapshot sees it.
    pub(crate) fn of_snapshot(
        environment: &'t Environment,
        txn: &'t heed::RoTxn<'t>,
        db: Db,
    ) -> Result<Self> {
        let state = txn.id();
        let records = VerifiedRecords {
            environment,
            txn,
            db,
            describe: K::describe,
            state,
            tree: environment.optional_tree(K::DATABASE, txn, state)?,
            removed: None,
            changed_little: true,
            is_write: false,
        };
        Ok(Self { records, kept: PhantomData })
    }

    /// Returns the key space as a transaction sees it that may have written.
    pub(crate) fn of_write(
        environment: &'t Environment,
        txn: &'t heed::RwTxn<'t>,
        db: Db,
        removed: Option<&'t BTreeSet<Vec<u8>>>,
        changed_little: bool,
    ) -> Result<Self> {
        let state = state_of_write(txn);
        let records = VerifiedRecords {
            environment,
            txn,
            db,
            describe: K::describe,
            state,
            tree: environment.optional_tree(K::DATABASE, txn, state)?,
            removed,
            changed_little,
            is_write: true,
        };
        Ok(Self { records, kept: PhantomData })
    }
}

impl<'t, K> Deref for VerifiedDb<'t, K> {
    type Target = VerifiedRecords<'t>;

    fn deref(&self) -> &VerifiedRecords<'t> {
        &self.records
    }
}

impl<'t> VerifiedRecords<'t> {
    /// Returns the record of a key, whole; `None` if it is proved that there is none.
    pub(crate) fn record(&self, key: &[u8]) -> Result<Option<&'t [u8]>> {
        let Some(record) = self.found(key)? else {
            return if self.is_absent(key)? { Ok(None) } else { Err(lmdb::damaged_page()) };
        };
        self.check_place(record)?;
        self.check_record(key, record)?;
        Ok(Some(record))
    }

    /// Returns a record that must be there.
    pub(crate) fn must_have(&self, key: &[u8]) -> Result<&'t [u8]> {
        self.record(key)?.ok_or_else(|| missing_record(self.describe, key))
    }

    /// Returns what the record of a key says; `None` if it is proved that there is none.
    pub(crate) fn read<T>(
        &self,
        key: &[u8],
        decode: impl FnOnce(&'t [u8]) -> Option<T>,
    ) -> Result<Option<T>> {
        let Some(record) = self.record(key)? else { return Ok(None) };
        decode(body(record)).map(Some).ok_or_else(|| damaged_record(self.describe, key))
    }

    /// Returns what a record says that must be there.
    pub(crate) fn must_read<T>(&self, key: &[u8], decode: impl FnOnce(&'t [u8]) -> Option<T>) -> Result<T> {
        self.read(key, decode)?.ok_or_else(|| missing_record(self.describe, key))
    }

    /// Returns a record that must be there, if it was found sound before in this very snapshot.
    pub(crate) fn must_still_have(&self, key: &[u8]) -> Result<&'t [u8]> {
        let record = self.found(key)?.ok_or_else(|| missing_record(self.describe, key))?;
        self.check_place(record)?;
        Ok(record)
    }

    /// Returns the record of a key, as far as a search finds one.
    fn found(&self, key: &[u8]) -> Result<Option<&'t [u8]>> {
        if self.removed.is_none() {
            return self.tree.get(&self.environment.reader, self.txn, key).map_err(lmdb::damage);
        }
        // LMDB alone knows what the transaction has written.
        self.tree.check_leaf(&self.environment.reader, self.txn, key).map_err(lmdb::damage)?;
        self.db.get(self.txn, key).map_err(lmdb::error)
    }

    /// Goes through the records whose keys begin with a prefix, behind another key, in their order. Nothing of them
    /// is missed as far as it goes. Whether it came to the end, or to where nothing more is wanted.
    pub(crate) fn walk(
        &self,
        prefix: &[u8],
        after: Option<&[u8]>,
        mut each: impl FnMut(&'t [u8], &'t [u8]) -> Result<ControlFlow<(), Stop>>,
    ) -> Result<bool> {
        self.walk_each(prefix, after, &mut each)
    }

    fn walk_each(&self, prefix: &[u8], after: Option<&[u8]>, each: EachRecord<'_, 't>) -> Result<bool> {
        let mut ahead = LeavesAhead::new(&self.environment.reader, self.tree);
        ahead.of_key(self.txn, after.unwrap_or(prefix)).map_err(lmdb::damage)?;
        let mut last = match after {
            Some(after) => self.db.get_lower_than_or_equal_to(self.txn, after),
            None => self.db.get_lower_than(self.txn, prefix),
        }
        .map_err(lmdb::error)?;
        if let Some((key, record)) = last {
            self.check(key, record)?;
            if after.map_or(key >= prefix, |after| key > after) {
                return Err(lmdb::damaged_page());
            }
        }
        let from = match after {
            Some(after) => (Bound::Excluded(after), Bound::Unbounded),
            None => (Bound::Included(prefix), Bound::Unbounded),
        };
        let mut records = self.db.range(self.txn, &from).map_err(lmdb::error)?;
        loop {
            let step = records.next().transpose().map_err(lmdb::error)?;
            if let Some((key, _)) = step {
                ahead.of_entry(self.txn, key).map_err(lmdb::damage)?;
            }
            let (before, next) = (last.map(|(key, _)| key), step.map(|(key, _)| key));
            if !self.adjacent(before, next)? {
                return Err(lmdb::damaged_page());
            }
            let Some((key, record)) = step else { return Ok(true) };
            if key < prefix || before.is_some_and(|before| key <= before) {
                return Err(lmdb::damaged_page());
            }
            self.check(key, record)?;
            if !key.starts_with(prefix) {
                return Ok(true);
            }
            match each(key, record)? {
                ControlFlow::Continue(Stop::Not) => {}
                ControlFlow::Continue(Stop::Here) => return Ok(true),
                ControlFlow::Break(()) => return Ok(false),
            }
            last = step;
        }
    }

    /// Gives `take` each record that a search for its key finds as the walk does. What is wrong with a record goes to `problem`
    /// with its key, and the walk goes on; where records are not in order it ends with an error.
    pub(crate) fn check_each(
        &self,
        mut take: impl FnMut(&[u8], &[u8]) -> Result<()>,
        mut problem: impl FnMut(Option<&[u8]>, Error),
    ) -> Result<()> {
        let (mut seen, mut last): (u64, Option<&[u8]>) = (0, None);
        for pair in self.db.iter(self.txn).map_err(lmdb::error)? {
            let (key, record) = pair.map_err(lmdb::error)?;
            seen += 1;
            if last.is_some_and(|last| last >= key) {
                return Err(lmdb::damaged_page());
            }
            last = Some(key);
            let checked = self.record(key).and_then(|found| match found {
                Some(found) if std::ptr::eq(found, record) => take(key, record),
                _ => Err(missing_record(self.describe, key)),
            });
            if let Err(error) = checked {
                problem(Some(key), error);
            }
        }
        if self.db.len(self.txn).map_err(lmdb::error)? != seen {
            problem(None, lmdb::damaged_page());
        }
        Ok(())
    }

    /// Has the pages looked at that LMDB changes for the records that a plan writes, and for those of `counts`, which are written at
    /// the transaction's end, or go then.
    pub(crate) fn meet(
        &self,
        writes: &Writes,
        written: usize,
        counts: &mut dyn Iterator<Item = (&[u8], bool)>,
    ) -> Result<()> {
        let mut most = written;
        let mut meet = |key: &[u8], goes: bool| {
            most += usize::from(goes);
            let written = Written { key, removed: goes.then_some(most) };
            let check = |key: &[u8], record: &[u8]| self.check_entry(key, record);
            self.tree.meet(&self.environment.reader, self.txn, written, &check).map_err(lmdb::damage)
        };
        for (key, write) in writes.iter() {
            meet(key, matches!(write, Write::Remove))?;
        }
        for (key, goes) in counts {
            meet(key, goes)?;
        }
        Ok(())
    }

    /// Returns whether a key has no record in the state that the transaction began with, or has been removed since.
    fn is_absent(&self, key: &[u8]) -> Result<bool> {
        let check = |key: &[u8], record: &[u8]| self.check_entry(key, record);
        let is_absent = self.tree.is_absent(&self.environment.reader, self.txn, key, check);
        Ok(is_absent.map_err(lmdb::damage)? || self.removed.is_some_and(|removed| removed.contains(key)))
    }

    /// Returns whether nothing stands between two records that were met one after the other; without one, none before the first
    /// or after the last.
    fn adjacent(&self, before: Option<&[u8]>, after: Option<&[u8]>) -> Result<bool> {
        let (environment, txn) = (self.environment, self.txn);
        let pages = environment.dbs.pages;
        let leaf = |key| pages.of(key).is_some().then(|| pages.place(key));
        if let (Some(one), Some(other)) = (before.and_then(leaf), after.and_then(leaf))
            && one == other
        {
            return Ok(true);
        }
        if self.removed.is_none() {
            return self.tree.adjoin(&environment.reader, txn, before, after).map_err(lmdb::damage);
        }
        for key in before.into_iter().chain(after) {
            self.tree.check_way(&environment.reader, txn, key).map_err(lmdb::damage)?;
        }
        // What this transaction has written is on no page of that tree: a search from each must come to the other.
        let next = match before {
            Some(before) => self.db.get_greater_than(txn, before),
            None => self.db.first(txn),
        };
        if next.map_err(lmdb::error)?.map(|(found, _)| found) != after {
            return Ok(false);
        }
        let previous = match after {
            Some(after) => self.db.get_lower_than(txn, after),
            None => self.db.last(txn),
        };
        Ok(previous.map_err(lmdb::error)?.map(|(found, _)| found) == before)
    }

    /// Checks a record that was met, and the pages that it lies in.
    fn check(&self, key: &[u8], record: &[u8]) -> Result<()> {
        let pages = self.environment.dbs.pages;
        if self.changed_little && pages.of(key).is_some() {
            pages.check_leaf(key).map_err(lmdb::damage)?;
            self.environment.check_in_use(self.txn, self.state, key)?;
        }
        self.check_place(record)?;
        self.check_record(key, record)
    }

    /// Checks that a record lies in its page, and that the page is in use.
    fn check_place(&self, record: &[u8]) -> Result<()> {
        // What this transaction has changed does not lie in the map.
        let pages = self.environment.dbs.pages;
        if !self.changed_little || pages.of(record).is_none() {
            return Ok(());
        }
        pages.check_value(record).map_err(lmdb::damage)?;
        self.environment.check_in_use(self.txn, self.state, record)?;
        // Who reads changes nothing.
        if !self.is_write {
            return Ok(());
        }
        self.environment.reader.check_run(self.txn, self.state, record).map_err(lmdb::damage)
    }

    /// Checks the checksum of a record that a search or a write has come to.
    fn check_entry(&self, key: &[u8], record: &[u8]) -> lmdb_verify::Result<()> {
        self.check_record(key, record).map_err(lmdb::entry_error)
    }

    /// Checks the checksum of a record.
    fn check_record(&self, key: &[u8], record: &[u8]) -> Result<()> {
        if meta::opened(key, record).is_some() { Ok(()) } else { Err(damaged_record(self.describe, key)) }
    }
}

/// Returns what a record says, whose checksum was looked at.
pub(crate) fn body(record: &[u8]) -> &[u8] {
    record.split_last_chunk::<{ meta::CHECKSUM }>().map_or(&[], |(body, _)| body)
}

/// Returns the error of a record that is not what was written.
#[cold]
pub(crate) fn damaged<K: Keyspace>(key: &[u8]) -> Error {
    damaged_record(K::describe, key)
}

#[cold]
fn damaged_record(describe: fn(&[u8]) -> String, key: &[u8]) -> Error {
    Error::new(ErrorKind::Corrupt).because(format!("{} is damaged", describe(key)))
}

/// Returns the error of a record that must be there.
#[cold]
pub(crate) fn missing<K: Keyspace>(key: &[u8]) -> Error {
    missing_record(K::describe, key)
}

#[cold]
fn missing_record(describe: fn(&[u8]) -> String, key: &[u8]) -> Error {
    Error::new(ErrorKind::Corrupt).because(format!("{} is missing", describe(key)))
}
