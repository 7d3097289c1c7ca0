//! Jobs beside writers that never stop: whether each ends, in how many times what it takes alone, and what rate the writers
//! keep.

mod kinds;

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use table_core::store::Propagate;
use table_core::typed::{InOneTable, Propagation};
use table_core::{Durability, ErrorKind, Query, Store, Table};

use self::kinds::{eventual, former, indexed, summed, versioned};
use crate::Arguments;
use crate::report;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

const WRITERS: usize = 8;
/// How long the writers go on when the job has ended: that is the rate that they keep some of.
const AFTER: Duration = Duration::from_secs(1);
/// A job that has not ended by then is one that does not end.
const LONGEST: Duration = Duration::from_secs(300);

type Write = Box<dyn Fn(u32) -> table_core::Result<()> + Send + Sync>;
type Work = Box<dyn FnOnce() -> Result<()>>;

/// A store with so many entities, what is to be done there, and what others write meanwhile.
struct Case {
    store: Store,
    write: Write,
    work: Work,
}

/// What a job came to beside writers.
struct Run {
    seconds: f64,
    /// What was written in a second while it ran, and afterwards.
    rates: [f64; 2],
    /// By how many MiB the store's file grew while it ran.
    grown: f64,
}

fn file(store: &Store) -> Result<u64> {
    Ok(std::fs::metadata(store.path().join("data.mdb"))?.len())
}

#[expect(clippy::cast_precision_loss, clippy::as_conversions, reason = "few megabytes")]
fn mebibytes(bytes: u64) -> f64 {
    bytes as f64 / 1_048_576.0
}

fn seconds(work: Work) -> Result<f64> {
    let begun = Instant::now();
    work()?;
    Ok(begun.elapsed().as_secs_f64())
}

/// Does the work of a case while writers write entities from this number on.
fn beside(case: Case, first: u32) -> Result<Run> {
    let (is_over, next, written) = (AtomicBool::new(false), AtomicU32::new(first), AtomicU32::new(0));
    let Case { store, write, work } = case;
    let writer = || -> Result<()> {
        while !is_over.load(Ordering::Relaxed) {
            match write(next.fetch_add(1, Ordering::Relaxed)) {
                Ok(()) => {
                    written.fetch_add(1, Ordering::Relaxed);
                }
                // It is begun a moment later.
                Err(error) if error.kind() == ErrorKind::MigrationPending => thread::yield_now(),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    };
    let done = || f64::from(written.load(Ordering::Relaxed));
    thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS).map(|_| scope.spawn(writer)).collect();
        let was = file(&store)?;
        let (begun, before) = (Instant::now(), done());
        let worked = work();
        let took = begun.elapsed().as_secs_f64();
        let (during, after) = (done() - before, Instant::now());
        let grown = mebibytes(file(&store)?.saturating_sub(was));
        thread::sleep(AFTER);
        let rates = [during / took, (done() - before - during) / after.elapsed().as_secs_f64()];
        is_over.store(true, Ordering::Relaxed);
        for writer in writers {
            writer.join().map_err(|_| "a writer has panicked")??;
        }
        worked?;
        Ok(Run { seconds: took, rates, grown })
    })
}

/// Measures a case alone and beside writers, by turns, and says the medians.
fn line(name: &str, rows: u32, rounds: usize, make: &dyn Fn(u32) -> Result<Case>) -> Result<()> {
    let (mut alone, mut runs) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        alone.push(seconds(make(rows)?.work)?);
        runs.push(beside(make(rows)?, rows)?);
    }
    let median = |mut all: Vec<f64>| {
        all.sort_by(f64::total_cmp);
        all.get(all.len() / 2).copied().unwrap_or_default()
    };
    let of = |one: &dyn Fn(&Run) -> f64| median(runs.iter().map(one).collect());
    let (alone, took) = (median(alone), of(&|run| run.seconds));
    let [during, after] = [0, 1].map(|at| of(&|run| run.rates.get(at).copied().unwrap_or_default()));
    println!(
        "| {name} | {alone:.2} | {took:.2} | **{:.1}** | {during:.0} | {after:.0} | **{:.2}** | {:.0} |",
        took / alone,
        during / after,
        of(&|run| run.grown)
    );
    Ok(())
}

/// Runs a job to its end.
macro_rules! run {
    ($job:expr) => {{
        let (mut job, begun) = ($job, Instant::now());
        while job.step()? {
            if begun.elapsed() > LONGEST {
                return Err(format!("it does not end: {}", job.progress()).into());
            }
        }
        Ok(())
    }};
}

/// A store with so many entities.
fn filled<E: InOneTable>(new: fn(u32) -> E, rows: Range<u32>) -> Result<(Store, Table<E>)> {
    let options = Store::options().durability(Durability::Relaxed).map_size(16 << 30);
    let store = options.propagate(Propagate::Manual).temporary()?;
    let table = store.table::<E>()?;
    if table.bulk_insert(rows.map(new))?.failures.is_empty() {
        Ok((store, table))
    } else {
        Err("some were not loaded".into())
    }
}

/// Inserts an entity.
fn inserting<E: InOneTable + 'static>(store: &Store, new: fn(u32) -> E) -> Result<Write>
where
    Table<E>: Send + Sync,
{
    let table = store.table::<E>()?;
    Ok(Box::new(move |id| table.insert(&new(id)).map(drop)))
}

fn rebuild(rows: u32) -> Result<Case> {
    let (store, _) = filled(former::Plain::new, 0..rows)?;
    let table = store.table::<indexed::Plain>()?;
    let write = inserting(&store, indexed::Plain::new)?;
    Ok(Case { store, write, work: Box::new(move || run!(table.rebuild()?)) })
}

/// Rebuilds while those who write do so in the first of two partitions: the job has to come past them.
fn rebuild_of_two(rows: u32) -> Result<Case> {
    let (store, table) = filled(former::Plain::new, 0..rows)?;
    table.insert(&former::Plain { p: "q".into(), ..former::Plain::new(0) })?;
    let table = store.table::<indexed::Plain>()?;
    let write = inserting(&store, indexed::Plain::new)?;
    Ok(Case { store, write, work: Box::new(move || run!(table.rebuild()?)) })
}

/// Rebuilds while those who write change 64 entities again and again.
fn rebuild_of_changing(rows: u32) -> Result<Case> {
    let (store, _) = filled(former::Plain::new, 0..rows)?;
    let (table, changed) = (store.table::<indexed::Plain>()?, store.table::<indexed::Plain>()?);
    let write = move |id: u32| {
        let key = indexed::Plain::key("p", id % 64 * (rows / 64));
        changed.update(key, |plain| plain.v += 1).map(drop)
    };
    Ok(Case { store, write: Box::new(write), work: Box::new(move || run!(table.rebuild()?)) })
}

fn migration(rows: u32) -> Result<Case> {
    let (store, _) = filled(former::Plain::new, 0..rows)?;
    let write = inserting(&store, versioned::Plain::new)?;
    let of = store.clone();
    Ok(Case { store, write, work: Box::new(move || run!(of.migration::<versioned::Plain>()?.steps()?)) })
}

fn repair(rows: u32) -> Result<Case> {
    let (store, table) = filled(indexed::Plain::new, 0..rows)?;
    let raw = table.dynamic().clone().raw();
    let of_index = Query::new().partition("p").row_prefix("v_").top(1_000);
    for copy in raw.query(&of_index)? {
        let copy = copy?;
        raw.delete(copy.partition_key(), copy.row_key())?;
    }
    let write = inserting(&store, indexed::Plain::new)?;
    Ok(Case { store, write, work: Box::new(move || run!(table.repair()?)) })
}

fn recount(rows: u32) -> Result<Case> {
    let (store, table) = filled(summed::Plain::new, 0..rows)?;
    let write = inserting(&store, summed::Plain::new)?;
    table.drop_index("total")?.run()?;
    Ok(Case { store, write, work: Box::new(move || run!(table.rebuild()?)) })
}

fn propagation(rows: u32) -> Result<Case> {
    let (store, _) = filled(eventual::Plain::new, 0..rows)?;
    let write = inserting(&store, eventual::Plain::new)?;
    let of = store.clone();
    let work = move || match of.propagate()? {
        Propagation::Complete => Ok(()),
        left => Err(format!("some is left: {left:?}").into()),
    };
    Ok(Case { store, write, work: Box::new(work) })
}

fn delete_where(rows: u32) -> Result<Case> {
    let (store, table) = filled(indexed::Plain::new, 0..rows)?;
    let write = inserting(&store, indexed::Plain::new)?;
    let work = move || {
        let query = table.rows().p("p").filter(|plain| plain.v.lt(5)).entities();
        run!(table.delete_where(query)?)
    };
    Ok(Case { store, write, work: Box::new(work) })
}

fn check_of_table(rows: u32) -> Result<Case> {
    let (store, table) = filled(indexed::Plain::new, 0..rows)?;
    let write = inserting(&store, indexed::Plain::new)?;
    let work = move || if table.check()?.is_sound() { Ok(()) } else { Err("the copies are wrong".into()) };
    Ok(Case { store, write, work: Box::new(work) })
}

fn check_of_store(rows: u32) -> Result<Case> {
    let (store, _) = filled(indexed::Plain::new, 0..rows)?;
    let write = inserting(&store, indexed::Plain::new)?;
    let of = store.clone();
    let work = move || if of.check()?.problems.is_empty() { Ok(()) } else { Err("it is damaged".into()) };
    Ok(Case { store, write, work: Box::new(work) })
}

#[cfg(feature = "encrypt")]
fn reencrypt(rows: u32) -> Result<Case> {
    use table_core::crypt::{MemoryKeys, Scope};

    let options = Store::options().durability(Durability::Relaxed).map_size(16 << 30);
    let store = options.encryption(std::sync::Arc::new(MemoryKeys::new()?)).temporary()?;
    let table = store.table::<kinds::sealed::Plain>()?;
    table.bulk_insert((0..rows).map(kinds::sealed::Plain::new))?.into_result()?;
    store.encryption()?.rotate(&Scope::store())?;
    let write = inserting(&store, kinds::sealed::Plain::new)?;
    Ok(Case { store, write, work: Box::new(move || run!(table.reencrypt()?)) })
}

/// Makes a store with so many entities, what is written to it, and what is done meanwhile.
type Make = fn(u32) -> Result<Case>;

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    println!("\n## Jobs beside writers that never stop");
    let machine = std::env::temp_dir();
    report::machine(&machine, "relaxed, temporary stores; eight writers, who append as fast as they can");
    let rows = u32::try_from(arguments.rows)?;
    println!("{rows} entities; the median of {} rounds, alone and beside by turns\n", arguments.rounds);
    println!("| | s alone | s beside | times | writes/s during | after | kept | file grew, MiB |");
    println!("|---|---:|---:|---:|---:|---:|---:|---:|");
    let cases: &[(&str, Make)] = &[
        ("rebuild", rebuild),
        ("rebuild, appended to the first of two partitions", rebuild_of_two),
        ("rebuild, 64 entities changed", rebuild_of_changing),
        ("migration", migration),
        #[cfg(feature = "encrypt")]
        ("reencrypt", reencrypt),
        ("repair", repair),
        ("rebuild of a summary", recount),
        ("propagate", propagation),
        ("delete_where", delete_where),
        ("check of the table", check_of_table),
        ("check of the store", check_of_store),
    ];
    let is_asked = |name: &str| arguments.only.is_empty() || arguments.only.iter().any(|only| only == name);
    for (name, make) in cases.iter().filter(|(name, _)| is_asked(name)) {
        line(name, rows, arguments.rounds, make)?;
    }
    Ok(())
}
