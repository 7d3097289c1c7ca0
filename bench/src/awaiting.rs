//! Tasks that each await a durable insert, on two workers, beside as many blocking threads as a program would have instead.

use std::path::Path;
use std::time::Instant;

use table_core::asynchronous::AsyncDynamicTable;
use table_core::{DynamicEntity, Store};

use crate::measure::{self, count_of};
use crate::place::Place;
use crate::{Arguments, Result, report};

/// The blocking threads, and the workers that poll.
const THREADS: usize = 16;
const WORKERS: usize = 2;
/// How many tasks there are, and how many rows each inserts, one after another.
const TASKS: [(usize, u64); 2] = [(1_000, 20), (10_000, 5)];
const ROWS_OF_A_THREAD: u64 = 500;

/// What one run came to.
#[derive(Clone, Copy)]
struct Cell {
    rate: f64,
    group: f64,
    /// Bytes of memory that each task took beside its row, while all of them waited.
    bytes: f64,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let place = Place::on_disk()?;
    let rounds = arguments.rounds.div_ceil(10);
    println!("\n## Awaited durable inserts, each of one row, {rounds} rounds");
    report::machine(place.path(), "durable");
    let mut cells: [Vec<Cell>; 3] = Default::default();
    for round in 0..rounds {
        let dir = place.join(&format!("threads{round}"));
        cells[0].push(threads(&dir)?);
        std::fs::remove_dir_all(&dir)?;
        for (at, (tasks, rows)) in TASKS.into_iter().enumerate() {
            let dir = place.join(&format!("tasks{round}"));
            if let Some(cells) = cells.get_mut(at + 1) {
                cells.push(awaited(&dir, tasks, rows)?);
            }
            std::fs::remove_dir_all(&dir)?;
        }
    }
    println!("\n| | writes/s | mean group | bytes a task |");
    println!("|---|---:|---:|---:|");
    let names = std::iter::once(format!("{THREADS} threads"))
        .chain(TASKS.map(|(tasks, _)| format!("{tasks} tasks on {WORKERS} workers")));
    for (name, cells) in names.zip(&cells) {
        let of = |field: fn(&Cell) -> f64| measure::median(&cells.iter().map(field).collect::<Vec<_>>());
        println!(
            "| {name} | {:.0} | {:.1} | {:.0} |",
            of(|cell| cell.rate),
            of(|cell| cell.group),
            of(|cell| cell.bytes)
        );
    }
    Ok(())
}

fn row(task: usize, number: u64) -> DynamicEntity {
    DynamicEntity::new(format!("task-{task:05}"), format!("empid_{number:08}"))
        .with("FirstName", "Jun")
        .with("LastName", "Hao")
        .with("Age", 34)
        .with("Email", "junhao@contoso.com")
}

/// Runs what writes, and returns what it came to.
fn measured(dir: &Path, rows: u64, write: impl FnOnce(&Store) -> Result<f64>) -> Result<Cell> {
    let store = Store::open(dir)?;
    store.create_table("Rows")?;
    let before = store.stats()?;
    let begun = Instant::now();
    let bytes = write(&store)?;
    let elapsed = begun.elapsed();
    let after = store.stats()?;
    Ok(Cell {
        rate: count_of(rows) / elapsed.as_secs_f64(),
        group: count_of(after.batches - before.batches) / count_of(after.commits - before.commits),
        bytes,
    })
}

fn threads(dir: &Path) -> Result<Cell> {
    let rows = ROWS_OF_A_THREAD * u64::try_from(THREADS)?;
    measured(dir, rows, |store| {
        let table = store.dynamic_table("Rows")?;
        std::thread::scope(|scope| {
            let write = |thread| {
                let table = &table;
                move || {
                    (0..ROWS_OF_A_THREAD).try_for_each(|number| table.insert(&row(thread, number)).map(drop))
                }
            };
            let handles: Vec<_> = (0..THREADS).map(|thread| scope.spawn(write(thread))).collect();
            for handle in handles {
                handle.join().map_err(|_| "a thread panicked")??;
            }
            Ok(0.0)
        })
    })
}

fn awaited(dir: &Path, tasks: usize, rows: u64) -> Result<Cell> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(WORKERS).build()?;
    measured(dir, rows * u64::try_from(tasks)?, |store| {
        let table = store.dynamic_table("Rows")?.to_async();
        let before = resident()?;
        let all: Vec<_> = (0..tasks).map(|task| runtime.spawn(write(table.clone(), task, rows))).collect();
        // All are there now; most of them wait.
        let bytes = (resident()? - before) / count_of(u64::try_from(tasks)?);
        runtime.block_on(async {
            for task in all {
                task.await??;
            }
            Ok(bytes)
        })
    })
}

async fn write(table: AsyncDynamicTable, task: usize, rows: u64) -> table_core::Result<()> {
    for number in 0..rows {
        table.insert(&row(task, number)).await?;
    }
    Ok(())
}

/// Returns the process's memory that is not the store's file.
fn resident() -> Result<f64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap_or("0 kB");
    Ok(line.trim().trim_end_matches(" kB").trim().parse::<f64>()? * 1024.0)
}
