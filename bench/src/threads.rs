//! Threads that write at one time, each commit on disk before its call returns.

use std::error::Error;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use table_core::Store;

use crate::Arguments;
use crate::engine::Engine;
use crate::floor::Floor;
use crate::measure::{self, count_of};
use crate::ours::Ours;
use crate::place::Place;
use crate::report::{self, Unit};
use crate::rows::{self, Key, Sample};

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

const THREADS: [usize; 4] = [1, 4, 16, 64];

/// What one cell of the table came to.
#[derive(Clone, Copy)]
struct Cell {
    commits: f64,
    /// Batches in one transaction; 1 by definition for the floor.
    group: f64,
    median: f64,
    p99: f64,
    /// The slowest thread's commits over the mean thread's.
    fairness: f64,
}

/// How the commits are made.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Group,
    Alone,
    Floor,
}

impl Mode {
    const ALL: [Self; 3] = [Self::Group, Self::Alone, Self::Floor];

    fn words(self) -> &'static str {
        match self {
            Self::Group => "group commit",
            Self::Alone => "`group_limit(1)`",
            Self::Floor => "floor, LMDB's own lock",
        }
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let place = Place::on_disk()?;
    let rounds = arguments.rounds.div_ceil(10);
    println!("\n## Threads, each inserting one row a commit, {rounds} rounds of {:?}", arguments.cell);
    report::machine(place.path(), "durable");
    let mut cells = vec![vec![Vec::new(); Mode::ALL.len()]; THREADS.len()];
    let mut disk = Vec::new();
    let mut number = 0;
    for _ in 0..rounds {
        for (threads, cells) in THREADS.iter().zip(&mut cells) {
            for (mode, cells) in Mode::ALL.iter().zip(cells) {
                disk.push(flush(place.path())?);
                number += 1;
                let dir = place.join(&number.to_string());
                cells.push(cell(&dir, *mode, *threads, arguments.cell)?);
                std::fs::remove_dir_all(&dir)?;
            }
        }
    }
    println!(
        "A write of 4 KiB with its flush, before each cell: median {}, quartiles {} to {}\n",
        Unit::Microseconds.show(measure::median(&disk)),
        Unit::Microseconds.show(measure::quantile(&disk, 0.25)),
        Unit::Microseconds.show(measure::quantile(&disk, 0.75)),
    );
    println!(
        "| threads | | commits/s | against 1 thread | mean group | median | p99 | slowest/mean thread |"
    );
    println!("|---:|---|---:|---:|---:|---:|---:|---:|");
    for (threads, of_threads) in THREADS.iter().zip(&cells) {
        for (index, (mode, rounds)) in Mode::ALL.iter().zip(of_threads).enumerate() {
            let of =
                |field: &dyn Fn(&Cell) -> f64| measure::median(&rounds.iter().map(field).collect::<Vec<_>>());
            let alone = cells.first().and_then(|modes| modes.get(index)).map_or(&[][..], Vec::as_slice);
            let speedups: Vec<_> =
                rounds.iter().zip(alone).map(|(many, one)| many.commits / one.commits).collect();
            println!(
                "| {threads} | {} | {:.0} | {:.2} | {:.1} | {} | {} | {:.2} |",
                mode.words(),
                of(&|cell| cell.commits),
                measure::median(&speedups),
                of(&|cell| cell.group),
                Unit::Microseconds.show(of(&|cell| cell.median)),
                Unit::Milliseconds.show(of(&|cell| cell.p99)),
                of(&|cell| cell.fairness),
            );
        }
    }
    Ok(())
}

/// How long the disk takes to take in a page.
fn flush(dir: &Path) -> Result<f64> {
    let path = dir.join("flush");
    let file = File::create(&path)?;
    let mut times = Vec::new();
    for _ in 0..20 {
        let begun = Instant::now();
        file.write_all_at(&[1; 4_096], 0)?;
        file.sync_data()?;
        times.push(measure::nanoseconds(begun.elapsed()));
    }
    std::fs::remove_file(path)?;
    Ok(measure::median(&times))
}

fn cell(dir: &Path, mode: Mode, threads: usize, time: Duration) -> Result<Cell> {
    match mode {
        Mode::Floor => {
            let floor = Floor::open(dir)?;
            let (cell, commits) = measured(&floor, threads, time)?;
            let last = floor.scan()?.rows;
            floor.close();
            checked(cell, commits, last)
        }
        Mode::Group | Mode::Alone => {
            let options =
                if mode == Mode::Alone { Store::options().group_limit(1) } else { Store::options() };
            let ours = Ours::open(dir, &options)?;
            let before = ours.store.stats()?;
            let (mut cell, commits) = measured(&ours, threads, time)?;
            let after = ours.store.stats()?;
            cell.group = count_of(after.batches - before.batches) / count_of(after.commits - before.commits);
            checked(cell, commits, ours.scan()?.rows)
        }
    }
}

/// What was answered must be there.
fn checked(cell: Cell, commits: u64, rows: u64) -> Result<Cell> {
    if rows == commits { Ok(cell) } else { Err(format!("{commits} commits left {rows} rows").into()) }
}

/// Lets the threads insert for a while.
fn measured(engine: &dyn Engine, threads: usize, time: Duration) -> Result<(Cell, u64)> {
    let (stop, start) = (AtomicBool::new(false), Barrier::new(threads + 1));
    let write = |thread: usize| -> Result<Vec<f64>> {
        let mut latencies = Vec::new();
        start.wait();
        while !stop.load(Ordering::Relaxed) {
            let row = sample(thread, latencies.len());
            let begun = Instant::now();
            engine.insert(std::slice::from_ref(&row))?;
            latencies.push(measure::nanoseconds(begun.elapsed()));
        }
        Ok(latencies)
    };
    let (elapsed, latencies) = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..threads).map(|thread| scope.spawn(move || write(thread))).collect();
        start.wait();
        let begun = Instant::now();
        std::thread::sleep(time);
        stop.store(true, Ordering::Relaxed);
        let elapsed = begun.elapsed();
        let latencies: Vec<_> = handles.into_iter().map(std::thread::ScopedJoinHandle::join).collect();
        (elapsed, latencies)
    });
    let mut each = Vec::new();
    for latencies in latencies {
        each.push(latencies.map_err(|_| "a thread panicked")??);
    }
    let counts: Vec<_> = each.iter().map(|latencies| u64::try_from(latencies.len()).unwrap_or(0)).collect();
    let total: u64 = counts.iter().sum();
    let mean = count_of(total) / count_of(u64::try_from(threads)?);
    let slowest = counts.iter().copied().min().unwrap_or(0);
    let all: Vec<_> = each.concat();
    let cell = Cell {
        commits: count_of(total) / elapsed.as_secs_f64(),
        group: 1.0,
        median: measure::median(&all),
        p99: measure::quantile(&all, 0.99),
        fairness: count_of(slowest) / mean,
    };
    Ok((cell, total))
}

fn sample(thread: usize, number: usize) -> Sample {
    rows::employee(Key { partition: format!("thread-{thread:02}"), row: format!("empid_{number:06}") })
}
