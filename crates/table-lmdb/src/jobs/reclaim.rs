//! Freeing the space of what was dropped, a little at a time: tables, containers, large blobs, uploads that have stopped.
//!
//! Each step is a transaction of its own, which waits in the writers' queue like any other. It finds in the store what is
//! left to do, and does some of it. So the work can stop at any moment, go on after a restart, and run in several
//! processes.

use std::ops::Bound;
use std::sync::{Arc, Weak};

use lmdb_verify::{LeavesAhead, Tree, Written, state_of_write};

use table_engine::error::{Error, ErrorKind, Result};
use table_engine::messages::Clock;
use table_engine::row::key::Number;

use crate::blobs::{BlobOverlay, BlobTxnState};
use crate::handle::shared::Shared;
use crate::lmdb::{self, Db, WriteTxn};
use crate::open::{Environment, OptionalDb};
use crate::records::catalog::{self, Entry};
use crate::records::features::Feature;
use crate::records::meta::Meta;
use crate::records::names;
use crate::scan::read;
use crate::verified::OverlayContext;
use crate::write::references::References;
use crate::write::transaction::clock;

/// The most that one step removes.
const STEP_ROWS: usize = 2_000;
const STEP_BYTES: usize = 64 * 1024 * 1024;

/// The words that follow "cannot " in an error.
pub(crate) const ATTEMPTED: &str = "reclaim the space of dropped tables";

/// Frees space in the background, if there is any to free. The thread ends when there is none, when it fails, or when
/// the last handle of the store is dropped.
pub(crate) fn start(inner: &Arc<Shared>) {
    if !anything_left(inner) || !inner.reclaimer.begin() {
        return;
    }
    let weak = Arc::downgrade(inner);
    let spawned =
        std::thread::Builder::new().name("table-core reclaim".into()).spawn(move || background(&weak));
    if let Err(error) = spawned {
        // The next drop or open tries again.
        inner.reclaimer.end();
        let error = Error::new(ErrorKind::Io).because("no thread could be started").caused_by(error);
        inner.reclaimer.note(Some(&error.attempted(ATTEMPTED)));
    }
}

fn anything_left(inner: &Shared) -> bool {
    let left = || {
        let txn = inner.environment.read_txn()?;
        let meta = Meta::read(inner.environment.dbs.main, &txn)?;
        drop(txn);
        Ok(meta.tombstones.count > 0 || meta.features.has(Feature::Blobs) && inner.has_left_blobs()?)
    };
    left().unwrap_or_else(|error: Error| {
        inner.reclaimer.note(Some(&error.attempted(ATTEMPTED)));
        false
    })
}

fn background(weak: &Weak<Shared>) {
    while let Some(inner) = weak.upgrade() {
        match step(&inner) {
            Ok(Some(_)) => {}
            // The error is noted. The next drop or open tries again.
            Err(_) => {
                inner.reclaimer.end();
                return;
            }
            Ok(None) => {
                inner.reclaimer.end();
                // A drop meanwhile has found the thread still here, and has started none.
                if !anything_left(&inner) || !inner.reclaimer.begin() {
                    return;
                }
            }
        }
        // Between two steps the thread has no handle, so a program that drops its last one closes the store.
        drop(inner);
        std::thread::yield_now();
    }
}

/// Frees the space of everything that was dropped. Returns how many rows were removed.
pub(crate) fn run(inner: &Shared) -> Result<u64> {
    let mut total = 0;
    while let Some(removed) = step(inner)? {
        total += u64::try_from(removed).unwrap_or(u64::MAX);
    }
    Ok(total)
}

/// Removes some rows in one transaction. Returns how many, or `None` if nothing is left to do.
fn step(inner: &Shared) -> Result<Option<usize>> {
    inner.purge_entries().map_err(|e| e.attempted(ATTEMPTED))?;
    inner.purge_blobs().map_err(|e| e.attempted(ATTEMPTED))?;
    // Every other call of a store that has stopped returns this error.
    let _lead = inner.writer.lead().map_err(|e| e.attempted(ATTEMPTED))?;
    let done =
        as_much_as_fits(inner).map_err(|e| inner.writer.explain_failure(inner, e).attempted(ATTEMPTED));
    // Under the lead, so that the last note is of the last step.
    inner.reclaimer.note(done.as_ref().err());
    done
}

fn as_much_as_fits(inner: &Shared) -> Result<Option<usize>> {
    let mut rows = STEP_ROWS;
    loop {
        match try_step(inner, rows).map_err(|e| inner.refusal(e)) {
            // Removing takes new pages before it frees old ones: with little room, less at a time.
            Err(e) if rows > 1 && matches!(e.kind(), ErrorKind::DiskFull | ErrorKind::MapFull) => rows /= 8,
            result => return result,
        }
        rows = rows.max(1);
    }
}

fn try_step(inner: &Shared, most: usize) -> Result<Option<usize>> {
    let dbs = &inner.environment.dbs;
    let mut txn = inner.environment.write_txn()?;
    let mut meta = Meta::begin(dbs.main, &txn)?;
    if meta.features.has(Feature::BlobRows) && inner.environment.known(OptionalDb::Blobs).is_none() {
        // A transaction can look into a database only that was opened before it. To open one takes a reader's slot, which
        // a store without blobs needs none of.
        drop(txn);
        inner.environment.open_late(OptionalDb::Blobs)?;
        txn = inner.environment.write_txn()?;
        meta = Meta::begin(dbs.main, &txn)?;
    }
    let Some(table) = catalog::tombstones(dbs, &txn, &meta)?.into_iter().next() else { return Ok(None) };
    if meta.features.has(Feature::BlobRows) {
        release_blobs(inner, &mut txn, &meta, &table, most)?;
    }
    let removed = remove_some(&inner.environment, &mut txn, &mut meta, &table, most)?;
    meta.write(dbs.main, &mut txn)?;
    inner.environment.commit(txn)?;
    Ok(Some(removed))
}

/// Takes the references of the rows that go next from their blobs.
fn release_blobs(
    inner: &Shared,
    txn: &mut WriteTxn<'_>,
    meta: &Meta,
    table: &Entry,
    most: usize,
) -> Result<()> {
    let environment = &inner.environment;
    let mut references = References::default();
    First::rows(environment, txn, most)?.each(txn, &Number::of(table.id), |_, row| references.go(row))?;
    if references.blobs.is_empty() {
        return Ok(());
    }
    let db = environment.known(OptionalDb::Blobs).ok_or_else(lmdb::damaged_page)?;
    let mut txn_state = BlobTxnState::open(db, txn)?;
    let clock = Clock { now: clock(), store: meta.high_water };
    let at = OverlayContext { clock, meta, changed_little: true };
    let mut overlay = BlobOverlay::begin(environment, txn, &txn_state, at)?;
    for (id, referred) in &references.blobs {
        overlay.let_go(*id, referred.count())?;
    }
    let planned = overlay.end()?;
    txn_state.write(txn, planned)?;
    txn_state.close(txn)
}

/// Removes rows of a dropped table; when none is left, its dictionary; and last, the note that it was dropped.
fn remove_some(
    environment: &Environment,
    txn: &mut WriteTxn<'_>,
    meta: &mut Meta,
    table: &Entry,
    most: usize,
) -> Result<usize> {
    let dbs = &environment.dbs;
    let rows = First::rows(environment, txn, most)?.remove(txn, &Number::of(table.id))?;
    if rows > 0 {
        return Ok(rows);
    }
    // The pages of the names were looked at before the first write.
    let names = First { environment, db: dbs.names, tree: None, most };
    if names.remove(txn, &names::table_prefix(table.id))? == 0 {
        catalog::forget_tombstone(dbs, txn, meta, table)?;
    }
    Ok(0)
}

/// The first entries of a database whose keys start with something, as far as one step removes them.
struct First<'e> {
    environment: &'e Environment,
    db: Db,
    /// The tree of the rows, where the entries are rows.
    tree: Option<Tree>,
    most: usize,
}

impl<'e> First<'e> {
    fn rows(environment: &'e Environment, txn: &WriteTxn<'_>, most: usize) -> Result<Self> {
        let tree = environment.rows_tree(txn, state_of_write(txn))?;
        Ok(Self { environment, db: environment.dbs.data, tree: Some(tree), most })
    }

    /// Removes the entries. Returns how many there were.
    fn remove(&self, txn: &mut WriteTxn<'_>, prefix: &[u8]) -> Result<usize> {
        let (mut last, mut checked) = (None, Ok(()));
        let state = state_of_write(txn);
        self.each(txn, prefix, |key, value| {
            last = Some(key.to_vec());
            if checked.is_ok() {
                checked = self.environment.reader.check_run(txn, state, value).map_err(lmdb::damage);
            }
        })?;
        checked?;
        let Some(last) = last else { return Ok(0) };
        let range = (Bound::Included(prefix), Bound::Included(last.as_slice()));
        self.db.delete_range(txn, &range).map_err(lmdb::error)
    }

    /// Has the pages looked at that change when an entry goes. Entries that go themselves may be damaged.
    fn meet(&self, txn: &WriteTxn<'_>, prefix: &[u8], key: &[u8]) -> Result<()> {
        let Some(tree) = self.tree else { return Ok(()) };
        let verify = |key: &[u8], row: &[u8]| {
            if key.starts_with(prefix) { Ok(()) } else { read::verify_entry(key, row) }
        };
        let written = Written { key, removed: Some(self.most) };
        tree.meet(&self.environment.reader, txn, written, &verify).map_err(lmdb::damage)
    }

    fn each(&self, txn: &WriteTxn<'_>, prefix: &[u8], mut each: impl FnMut(&[u8], &[u8])) -> Result<()> {
        let mut ahead = self.tree.map(|tree| LeavesAhead::new(&self.environment.reader, tree));
        ahead.iter().try_for_each(|ahead| ahead.of_key(txn, prefix)).map_err(lmdb::damage)?;
        let (mut bytes, mut leaf) = (0, None);
        for entry in self.db.prefix_iter(txn, prefix).map_err(lmdb::error)?.take(self.most) {
            let (key, value) = entry.map_err(lmdb::error)?;
            ahead.iter_mut().try_for_each(|ahead| ahead.of_entry(txn, key)).map_err(lmdb::damage)?;
            // Of an entry that is said to be longer, LMDB would move what lies beside its page.
            self.environment.dbs.check_entry(key, value)?;
            let place = self.environment.dbs.pages.place(key);
            if leaf != Some(place) {
                leaf = Some(place);
                self.meet(txn, prefix, key)?;
            }
            bytes += key.len() + value.len();
            each(key, value);
            if bytes >= STEP_BYTES {
                break;
            }
        }
        Ok(())
    }
}
