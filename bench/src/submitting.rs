//! Writes that are submitted from few threads, beside as many blocking threads as a program would have instead.

use std::path::Path;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use table_core::{DynamicEntity, DynamicTable, Query, Store};

use crate::measure::{self, count_of};
use crate::place::Place;
use crate::{Arguments, Result, report};

/// The blocking threads.
const THREADS: usize = 16;
/// The threads that submit, and how many of the writes of each wait for their answer.
const SUBMITTERS: usize = 2;
const WAITING: usize = 500;

/// What one run came to.
#[derive(Clone, Copy)]
struct Cell {
    rate: f64,
    group: f64,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let place = Place::on_disk()?;
    let rounds = arguments.rounds.div_ceil(10);
    println!("\n## Submitted writes, each of one row, {rounds} rounds of {:?}", arguments.cell);
    report::machine(place.path(), "durable");
    let (mut blocking, mut submitted) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        let dir = place.join(&format!("blocking{round}"));
        blocking.push(cell(&dir, arguments.cell, THREADS, blocked)?);
        std::fs::remove_dir_all(&dir)?;
        let dir = place.join(&format!("submitted{round}"));
        submitted.push(cell(&dir, arguments.cell, SUBMITTERS, submits)?);
        std::fs::remove_dir_all(&dir)?;
    }
    let of = |cells: &[Cell], field: fn(&Cell) -> f64| {
        measure::median(&cells.iter().map(field).collect::<Vec<_>>())
    };
    let ratios: Vec<_> =
        submitted.iter().zip(&blocking).map(|(ours, theirs)| ours.rate / theirs.rate).collect();
    println!("\n| | writes/s | mean group |");
    println!("|---|---:|---:|");
    for (words, cells) in [
        (format!("{THREADS} threads, each waiting for its write"), &blocking),
        (format!("{SUBMITTERS} threads, {} writes waiting", SUBMITTERS * WAITING), &submitted),
    ] {
        println!("| {words} | {:.0} | {:.1} |", of(cells, |cell| cell.rate), of(cells, |cell| cell.group));
    }
    println!("\nSubmitted against blocking: {:.2}", measure::median(&ratios));
    Ok(())
}

/// Has threads write until they are told to stop; each returns how many of its writes were answered.
fn cell(
    dir: &Path,
    time: Duration,
    threads: usize,
    write: fn(&DynamicTable, usize, &AtomicBool) -> Result<u64>,
) -> Result<Cell> {
    let store = Store::open(dir)?;
    let table = store.create_table("Rows")?;
    let before = store.stats()?;
    let (stop, start) = (AtomicBool::new(false), Barrier::new(threads + 1));
    let (written, elapsed) = std::thread::scope(|scope| {
        let (stop, start, table) = (&stop, &start, &table);
        let run = move |thread| {
            start.wait();
            write(table, thread, stop)
        };
        let handles: Vec<_> = (0..threads).map(|thread| scope.spawn(move || run(thread))).collect();
        start.wait();
        let begun = Instant::now();
        std::thread::sleep(time);
        stop.store(true, Ordering::Relaxed);
        let mut written = 0;
        for handle in handles {
            written += handle.join().map_err(|_| "a thread panicked")??;
        }
        Ok::<_, Box<dyn std::error::Error + Send + Sync>>((written, begun.elapsed()))
    })?;
    let after = store.stats()?;
    let rows = table.query(&Query::new())?.count();
    if u64::try_from(rows)? != written {
        return Err(format!("{written} writes left {rows} rows").into());
    }
    Ok(Cell {
        rate: count_of(written) / elapsed.as_secs_f64(),
        group: count_of(after.batches - before.batches) / count_of(after.commits - before.commits),
    })
}

fn row(thread: usize, number: u64) -> DynamicEntity {
    DynamicEntity::new(format!("thread-{thread:02}"), format!("empid_{number:08}"))
        .with("FirstName", "Jun")
        .with("LastName", "Hao")
        .with("Age", 34)
        .with("Email", "junhao@contoso.com")
}

fn blocked(table: &DynamicTable, thread: usize, stop: &AtomicBool) -> Result<u64> {
    let mut number = 0;
    while !stop.load(Ordering::Relaxed) {
        table.insert(&row(thread, number))?;
        number += 1;
    }
    Ok(number)
}

fn submits(table: &DynamicTable, thread: usize, stop: &AtomicBool) -> Result<u64> {
    let (done, answers) = mpsc::channel();
    let (mut submitted, mut waiting) = (0, 0);
    while !stop.load(Ordering::Relaxed) {
        while waiting < WAITING {
            let entity = row(thread, submitted);
            let done = done.clone();
            let batch = table.batch(entity.partition_key().to_owned()).insert(entity);
            batch.submit(move |committed| done.send(committed.is_ok()).unwrap_or_default())?;
            (submitted, waiting) = (submitted + 1, waiting + 1);
        }
        for is_ok in std::iter::once(answers.recv()?).chain(answers.try_iter()) {
            waiting -= 1;
            if !is_ok {
                return Err("a write was refused".into());
            }
        }
    }
    drop(done);
    if answers.into_iter().all(|is_ok| is_ok) { Ok(submitted) } else { Err("a write was refused".into()) }
}
