//! Freeing the space of dropped tables, a little at a time.
//!
//! A step is a transaction of its own that takes the writers' queue like any other, finds in the store what is left
//! to do, and does some of it. So it can stop at any moment, go on after a restart, and run in several processes.

use std::ops::Bound;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::error::{Error, ErrorKind, Result};
use crate::model::Ticks;
use crate::store::Inner;
use crate::store::lmdb::{self, Databases, Db, WriteTxn};
use crate::store::records::catalog::{self, Entry};
use crate::store::records::meta::Meta;

/// The most that one step removes.
const STEP_ROWS: usize = 2_000;
const STEP_BYTES: usize = 64 * 1024 * 1024;

/// As it follows "cannot " in an error.
const ATTEMPTED: &str = "reclaim the space of dropped tables";

/// Why the space of dropped tables is not being freed; see [`StoreStats`](crate::StoreStats::reclaim_failure).
///
/// ```
/// # use table_core::Store;
/// # let dir = tempfile::tempdir()?;
/// # let store = Store::open(dir.path().join("company.tables"))?;
/// if let Some(failure) = store.stats()?.reclaim_failure {
///     eprintln!("dropped tables still take room, since {}: {}", failure.since, failure.message);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReclaimFailure {
    /// What is wrong, for a program to act on.
    pub kind: ErrorKind,
    /// What the last attempt failed with, for people.
    pub message: String,
    /// When the first attempt failed; each one since then has.
    pub since: Ticks,
}

/// What this process knows of its freeing of space.
#[derive(Debug, Default)]
pub(crate) struct Reclaimer {
    /// Whether a thread of it does so in the background.
    is_running: AtomicBool,
    failure: Mutex<Option<ReclaimFailure>>,
}

impl Reclaimer {
    /// The failure of the last step, unless it succeeded.
    pub(crate) fn failure(&self) -> Option<ReclaimFailure> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Notes what became of a step.
    fn note(&self, error: Option<&Error>) {
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        *failure = error.map(|error| ReclaimFailure {
            kind: error.kind(),
            message: error.to_string(),
            since: failure.as_ref().map_or_else(Ticks::now, |first| first.since),
        });
    }

    /// Whether the caller is to be the thread in the background.
    fn begin(&self) -> bool {
        !self.is_running.swap(true, Ordering::AcqRel)
    }

    pub(crate) fn is_running(&self) -> bool {
        self.is_running.load(Ordering::Acquire)
    }

    fn end(&self) {
        self.is_running.store(false, Ordering::Release);
    }
}

/// Frees space in the background, if there is any to free. The thread ends when there is none, when it fails, or when
/// the last handle of the store is dropped.
pub(crate) fn start(inner: &Arc<Inner>) {
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

fn anything_left(inner: &Inner) -> bool {
    let left = || {
        let txn = inner.environment.read_txn()?;
        Ok(Meta::read(inner.environment.dbs.main, &txn)?.graves.count > 0)
    };
    left().unwrap_or_else(|error: Error| {
        inner.reclaimer.note(Some(&error.attempted(ATTEMPTED)));
        false
    })
}

fn background(weak: &Weak<Inner>) {
    while let Some(inner) = weak.upgrade() {
        match step(&inner) {
            Ok(Some(_)) => {}
            // It is noted. What is left is tried again at the next drop or open.
            Err(_) => {
                inner.reclaimer.end();
                return;
            }
            Ok(None) => {
                inner.reclaimer.end();
                // A table dropped since has found the thread still here, and has started none.
                if !anything_left(&inner) || !inner.reclaimer.begin() {
                    return;
                }
            }
        }
        drop(inner);
        std::thread::yield_now();
    }
}

/// Frees all there is to free; returns the rows removed.
pub(crate) fn run(inner: &Inner) -> Result<u64> {
    let mut total = 0;
    while let Some(removed) = step(inner)? {
        total += u64::try_from(removed).unwrap_or(u64::MAX);
    }
    Ok(total)
}

/// One transaction; returns the rows it removed, or `None` if nothing is left to do.
fn step(inner: &Inner) -> Result<Option<usize>> {
    // A store that has stopped says so wherever it is asked.
    let _lead = inner.writer.lead().map_err(|e| e.attempted(ATTEMPTED))?;
    let done = as_much_as_fits(inner).map_err(|e| inner.writer.judge(inner, e).attempted(ATTEMPTED));
    // Under the lead, so that what is noted last is of the last step.
    inner.reclaimer.note(done.as_ref().err());
    done
}

fn as_much_as_fits(inner: &Inner) -> Result<Option<usize>> {
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

fn try_step(inner: &Inner, most: usize) -> Result<Option<usize>> {
    let dbs = &inner.environment.dbs;
    let mut txn = inner.environment.write_txn()?;
    let mut meta = Meta::begin(dbs.main, &txn)?;
    let Some(table) = catalog::graves(dbs, &txn, &meta)?.into_iter().next() else { return Ok(None) };
    let removed = remove_some(dbs, &mut txn, &mut meta, &table, most)?;
    meta.write(dbs.main, &mut txn)?;
    inner.environment.commit(txn)?;
    Ok(Some(removed))
}

/// Removes rows of a dropped table; when none is left, its dictionary; and last, the note that it was dropped.
fn remove_some(
    dbs: &Databases,
    txn: &mut WriteTxn<'_>,
    meta: &mut Meta,
    table: &Entry,
    most: usize,
) -> Result<usize> {
    let rows = remove_first(dbs.data, txn, table.id, most)?;
    if rows > 0 {
        return Ok(rows);
    }
    if remove_first(dbs.names, txn, table.id, most)? == 0 {
        catalog::forget_grave(dbs, txn, meta, table)?;
    }
    Ok(0)
}

/// Removes the first entries whose key starts with the table's number.
fn remove_first(db: Db, txn: &mut WriteTxn<'_>, table: u32, most: usize) -> Result<usize> {
    let prefix = table.to_be_bytes();
    let (mut bytes, mut last) = (0, None);
    for entry in db.prefix_iter(txn, &prefix).map_err(lmdb::error)?.take(most) {
        let (key, value) = entry.map_err(lmdb::error)?;
        bytes += key.len() + value.len();
        last = Some(key.to_vec());
        if bytes >= STEP_BYTES {
            break;
        }
    }
    let Some(last) = last else { return Ok(0) };
    let range = (Bound::Included(prefix.as_slice()), Bound::Included(last.as_slice()));
    db.delete_range(txn, &range).map_err(lmdb::error)
}
