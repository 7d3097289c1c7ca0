//! Commits that are on disk before they return, by the time of day.

use std::cell::Cell;
use std::path::Path;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::Employee;
use super::engine::{Engine, Maker, SyncMode};
use super::memory::{Loaded, load_all};
use super::tables::{Report, Table};
use crate::measure::{self, Clock, Contender, Timer, count_of};
use crate::ops::seeded;
use crate::place::Place;
use crate::report::Unit;
use crate::{Arguments, Digest, Result};

/// Employees that are there before.
const BEFORE: u64 = 10_000;
/// Transactions of a hundred, and of one, in a round.
const BATCHES: u64 = 20;
const INSERTS: u64 = 50;
const WRITERS: u64 = 16;
const READERS: u64 = 2;

/// Employees' numbers for each engine, none given out twice. All engines get the same in one round; the floor, which
/// runs twice, others the second time.
struct Numbers(Cell<u64>);

impl Numbers {
    fn take(&self, count: u64) -> std::ops::Range<u64> {
        let first = self.0.get();
        self.0.set(first + count);
        first..first + count
    }
}

fn staff(arguments: &Arguments, numbers: std::ops::Range<u64>) -> Vec<Employee> {
    numbers.map(|number| Employee::numbered(number, arguments.rows)).collect()
}

/// Only the count: each turn has employees of its own.
fn counted(engine: &dyn Engine, staff: &[Employee]) -> Result<Digest> {
    Ok(Digest { rows: engine.get(staff)?.rows, sum: 0 })
}

pub(super) fn run(arguments: &Arguments, makers: &[Maker], report: &mut Report) -> Result<()> {
    let durable = ["durable-load", "durable-insert", "threads", "mixed"];
    if !durable.iter().any(|id| report.wants(id)) {
        return Ok(());
    }
    let place = Place::on_disk()?;
    report.place("Durable", place.path());
    let writers: Vec<_> = makers.iter().filter(|maker| !maker.reads_only).copied().collect();
    let loaded = load_all(arguments, &writers, &place, SyncMode::Durable, BEFORE)?;
    let numbers = Numbers(Cell::new(BEFORE));
    let rounds = arguments.rounds.div_ceil(4);

    if report.wants("durable-load") {
        let run = |engine: &dyn Engine, timer: &mut Timer| {
            let staff = staff(arguments, numbers.take(100 * BATCHES));
            timer.time(|| staff.chunks(100).try_for_each(|hundred| engine.load(hundred)))?;
            counted(engine, &staff)
        };
        let table =
            Table::new("durable-load", "durable load, transactions of 100, an employee", Unit::Microseconds);
        measured(report, table, &loaded, rounds, 100 * BATCHES, &run)?;
    }
    if report.wants("durable-insert") {
        let run = |engine: &dyn Engine, timer: &mut Timer| {
            // A multiple of a hundred is taken, so that loads go on with full hundreds.
            let mut staff = staff(arguments, numbers.take(INSERTS.next_multiple_of(100)));
            staff.truncate(usize::try_from(INSERTS)?);
            timer.time(|| staff.iter().try_for_each(|e| engine.insert(e)))?;
            counted(engine, &staff)
        };
        let table = Table::new("durable-insert", "durable insert, a transaction each", Unit::Microseconds);
        measured(report, table, &loaded, rounds, INSERTS, &run)?;
    }
    let flush = flush(place.path())?;
    report.say(&format!(
        "A write of 4 KiB with its flush takes {} here (median of 50).",
        Unit::Microseconds.show(flush)
    ));
    if report.wants("threads") {
        threads(arguments, &loaded, &numbers, report)?;
    }
    if report.wants("mixed") {
        mixed(arguments, &loaded, &numbers, report)?;
    }
    Ok(())
}

fn measured(
    report: &mut Report,
    table: Table,
    loaded: &[Loaded],
    rounds: usize,
    operations: u64,
    run: &dyn Fn(&dyn Engine, &mut Timer) -> Result<Digest>,
) -> Result<()> {
    let entered = loaded
        .iter()
        .map(|one| Contender::new(one.maker.name, move |_, timer: &mut Timer| run(&*one.engine, timer)))
        .collect();
    report.measure(table.clock("time of day"), |_| measure::rounds(Clock::Wall, rounds, operations, entered))
}

/// How long the disk takes to take in a page.
fn flush(dir: &Path) -> Result<f64> {
    let path = dir.join("flush");
    let file = std::fs::File::create(&path)?;
    let mut times = Vec::new();
    for _ in 0..50 {
        let begun = Instant::now();
        std::os::unix::fs::FileExt::write_all_at(&file, &[1; 4_096], 0)?;
        file.sync_data()?;
        times.push(measure::nanoseconds(begun.elapsed()));
    }
    std::fs::remove_file(path)?;
    Ok(measure::median(&times))
}

/// What threads did in a cell's time: operations of those that wrote, and of those that read.
struct Did {
    elapsed: Duration,
    written: u64,
    read: u64,
}

/// Lets threads insert employees of their own, and others read what is there.
fn together(
    arguments: &Arguments,
    engine: &dyn Engine,
    numbers: &Numbers,
    writers: u64,
    readers: u64,
) -> Result<Did> {
    /// More than a thread can write in any cell's time.
    const ROOM: u64 = 1_000_000;
    let first = numbers.take(writers * ROOM).start;
    let (stop, start) = (AtomicBool::new(false), Barrier::new(usize::try_from(writers + readers + 1)?));
    let (written, read) = (AtomicU64::new(0), AtomicU64::new(0));
    let write = |thread: u64| -> Result<()> {
        let mut numbers = first + thread * ROOM..;
        start.wait();
        while !stop.load(Ordering::Relaxed) {
            let Some(number) = numbers.next() else { break };
            engine.insert(&Employee::numbered(number, arguments.rows))?;
            written.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    };
    let reads = |thread: u64| -> Result<()> {
        let mut random = seeded(usize::try_from(thread)?);
        start.wait();
        while !stop.load(Ordering::Relaxed) {
            let asked: Vec<_> =
                (0..20).map(|_| Employee::numbered(random.below(BEFORE), arguments.rows)).collect();
            if engine.get(&asked)?.rows != 20 {
                return Err("an employee is missing".into());
            }
            read.fetch_add(20, Ordering::Relaxed);
        }
        Ok(())
    };
    let elapsed = std::thread::scope(|scope| -> Result<Duration> {
        let write = &write;
        let reads = &reads;
        let mut handles = Vec::new();
        handles.extend((0..writers).map(|thread| scope.spawn(move || write(thread))));
        handles.extend((0..readers).map(|thread| scope.spawn(move || reads(thread))));
        start.wait();
        let begun = Instant::now();
        std::thread::sleep(arguments.cell);
        stop.store(true, Ordering::Relaxed);
        let elapsed = begun.elapsed();
        for handle in handles {
            handle.join().map_err(|_| "a thread panicked")??;
        }
        Ok(elapsed)
    })?;
    Ok(Did { elapsed, written: written.into_inner(), read: read.into_inner() })
}

/// The time for one of so many.
fn each(elapsed: Duration, count: u64) -> f64 {
    measure::nanoseconds(elapsed) / count_of(count.max(1))
}

fn threads(arguments: &Arguments, loaded: &[Loaded], numbers: &Numbers, report: &mut Report) -> Result<()> {
    let table = Table::new("threads", "16 threads, durable inserts, an insert's time", Unit::Microseconds);
    let commits = || {
        loaded
            .iter()
            .map(|one| one.engine.commits().map(Option::unwrap_or_default))
            .collect::<Result<Vec<_>>>()
    };
    let before = commits()?;
    cells(arguments, loaded, report, [Some(table), None], &|engine| {
        let did = together(arguments, engine, numbers, WRITERS, 0)?;
        Ok([each(did.elapsed, did.written), 0.0])
    })?;
    for ((one, before), after) in loaded.iter().zip(before).zip(commits()?) {
        let (commits, inserts) = (after.0 - before.0, after.1 - before.1);
        if commits > 0 {
            let each = count_of(inserts) / count_of(commits);
            report
                .say(&format!("16 threads: {each:.1} inserts a commit on average with {}.", one.maker.name));
        }
    }
    Ok(())
}

fn mixed(arguments: &Arguments, loaded: &[Loaded], numbers: &Numbers, report: &mut Report) -> Result<()> {
    let tables = [
        Table::new(
            "mixed-reads",
            "2 threads get while one inserts: time a get, both together",
            Unit::Microseconds,
        ),
        Table::new("mixed-writes", "the same: a durable insert", Unit::Microseconds),
    ];
    cells(arguments, loaded, report, tables.map(Some), &|engine| {
        let did = together(arguments, engine, numbers, 1, READERS)?;
        Ok([each(did.elapsed, did.read), each(did.elapsed, did.written)])
    })
}

/// Rounds of cells that give up to two figures each.
fn cells(
    arguments: &Arguments,
    loaded: &[Loaded],
    report: &mut Report,
    tables: [Option<Table>; 2],
    run: &dyn Fn(&dyn Engine) -> Result<[f64; 2]>,
) -> Result<()> {
    report.quiet();
    let watch = super::quiet::Watch::start();
    let runs = loaded.len() + 1;
    let name = |place: usize| loaded.get(place).map_or("floor again", |one| one.maker.name);
    let times = || (0..runs).map(|place| measure::Times { name: name(place), rounds: Vec::new() }).collect();
    let mut figures: [Vec<measure::Times>; 2] = [times(), times()];
    for round in 0..arguments.rounds.div_ceil(10) {
        for turn in 0..runs {
            let place = (turn + round) % runs;
            let Some(one) = loaded.get(place).or_else(|| loaded.first()) else { continue };
            let did = run(&*one.engine)?;
            for (figures, did) in figures.iter_mut().zip(did) {
                if let Some(times) = figures.get_mut(place) {
                    times.rounds.push(did);
                }
            }
        }
    }
    for (table, figures) in tables.into_iter().zip(figures) {
        if let Some(table) = table {
            report.add(table.clock("time of day"), figures, watch.others())?;
        }
    }
    Ok(())
}
