//! Blobs of table-core, plain files, and blobs of a table in `SQLite`: put, read whole, streamed, deleted.
//!
//! Each call is on disk when it returns: table-core's default; a file that is written under another name, flushed and renamed,
//! and whose directory is flushed; WAL with `synchronous = FULL`. The engines take turns, operation by operation, in each of
//! their six orders: each but the first finds memory that the one before has given back. How much new memory a read needs
//! is the allocator's affair; glibc's takes all of it anew with `MALLOC_MMAP_THRESHOLD_=131072`, and keeps what it has with
//! `MALLOC_MMAP_MAX_=0 MALLOC_TRIM_THRESHOLD_=8589934592 MALLOC_TOP_PAD_=268435456`.
//!
//! `--threads N` has so many threads put and delete at one time, and counts how many of these are done in a second.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::{Connection, MAIN_DB, params};

use table_core::Store;
use table_core::blob::Container;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Blobs of one size.
#[derive(Clone, Copy)]
struct Batch {
    /// The bytes of each.
    size: usize,
    many: usize,
}

const fn batch(size: usize, many: usize) -> Batch {
    Batch { size, many }
}

/// The blobs of a round.
const SIZES: [Batch; 4] =
    [batch(16 << 10, 100), batch(100 << 10, 100), batch(1 << 20, 40), batch(16 << 20, 6)];
const BUFFER: usize = 64 << 10;
/// The blobs that each thread puts.
const SHARED: [Batch; 3] = [batch(16 << 10, 60), batch(100 << 10, 40), batch(1 << 20, 12)];
/// The orders in which the engines take turns.
const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [2, 1, 0], [1, 2, 0], [0, 2, 1], [2, 0, 1], [1, 0, 2]];

/// What is measured of each.
trait Engine: Send {
    fn put(&mut self, name: &str, bytes: &[u8]) -> Result<()>;
    fn get(&mut self, name: &str) -> Result<Vec<u8>>;
    /// Reads it by pieces; the sum of their first bytes.
    fn stream(&mut self, name: &str, buffer: &mut [u8]) -> Result<u64>;
    fn delete(&mut self, name: &str) -> Result<()>;
}

impl Engine for Container {
    fn put(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        Self::put(self, name, bytes)?;
        Ok(())
    }

    fn get(&mut self, name: &str) -> Result<Vec<u8>> {
        Self::get(self, name)?.ok_or_else(|| "a blob is missing".into())
    }

    fn stream(&mut self, name: &str, buffer: &mut [u8]) -> Result<u64> {
        sum(self.open(name)?, buffer)
    }

    fn delete(&mut self, name: &str) -> Result<()> {
        Self::delete(self, name)?;
        Ok(())
    }
}

struct Files(PathBuf);

impl Files {
    fn flush_names(&self) -> Result<()> {
        Ok(File::open(&self.0)?.sync_all()?)
    }
}

impl Engine for Files {
    fn put(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        let private = self.0.join(format!(".{name}"));
        let mut file = File::create(&private)?;
        file.write_all(bytes)?;
        file.sync_data()?;
        fs::rename(&private, self.0.join(name))?;
        self.flush_names()
    }

    fn get(&mut self, name: &str) -> Result<Vec<u8>> {
        Ok(fs::read(self.0.join(name))?)
    }

    fn stream(&mut self, name: &str, buffer: &mut [u8]) -> Result<u64> {
        sum(File::open(self.0.join(name))?, buffer)
    }

    fn delete(&mut self, name: &str) -> Result<()> {
        fs::remove_file(self.0.join(name))?;
        self.flush_names()
    }
}

const TABLE: &str = "CREATE TABLE IF NOT EXISTS blob (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, bytes BLOB NOT NULL)";

fn connect(path: &Path) -> Result<Connection> {
    let connection = Connection::open(path)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "mmap_size", 1_i64 << 30)?;
    connection.busy_timeout(Duration::from_secs(60))?;
    connection.execute_batch(TABLE)?;
    Ok(connection)
}

impl Engine for Connection {
    fn put(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        self.prepare_cached("INSERT INTO blob (name, bytes) VALUES (?1, ?2)")?
            .execute(params![name, bytes])?;
        Ok(())
    }

    fn get(&mut self, name: &str) -> Result<Vec<u8>> {
        let mut get = self.prepare_cached("SELECT bytes FROM blob WHERE name = ?1")?;
        Ok(get.query_row([name], |row| row.get(0))?)
    }

    fn stream(&mut self, name: &str, buffer: &mut [u8]) -> Result<u64> {
        let number = {
            let mut find = self.prepare_cached("SELECT number FROM blob WHERE name = ?1")?;
            find.query_row([name], |row| row.get(0))?
        };
        sum(self.blob_open(MAIN_DB, "blob", "bytes", number, true)?, buffer)
    }

    fn delete(&mut self, name: &str) -> Result<()> {
        self.prepare_cached("DELETE FROM blob WHERE name = ?1")?.execute([name])?;
        Ok(())
    }
}

fn sum(mut reader: impl Read, buffer: &mut [u8]) -> Result<u64> {
    let mut sum = 0;
    loop {
        // As much as there is room for: one reader gives more at once than another.
        let mut filled = 0;
        while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            match reader.read(rest)? {
                0 => break,
                read => filled += read,
            }
        }
        if filled == 0 {
            return Ok(sum);
        }
        sum += u64::from(buffer.first().copied().unwrap_or(0));
    }
}

/// Bytes that no file system finds alike.
fn bytes(length: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut bytes = Vec::with_capacity(length + 8);
    while bytes.len() < length {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend_from_slice(&state.to_le_bytes());
    }
    bytes.truncate(length);
    bytes
}

/// The times of one size: for each kind of call, those of each engine.
type Times = [[Vec<Duration>; 3]; 4];

fn measure(engines: &mut [&mut dyn Engine; 3], batch: Batch, times: &mut Times) -> Result<()> {
    let Batch { size, many } = batch;
    let mut buffer = vec![0; BUFFER];
    let [put, got, streamed, deleted] = times;
    let made: Vec<_> =
        (0..many).map(|number| format!("{size}-{number}")).zip((1..).map(|seed| bytes(size, seed))).collect();
    let turns = || made.iter().zip(ORDERS.iter().cycle());
    for ((name, bytes), order) in turns() {
        for at in *order {
            let begun = Instant::now();
            engines[at].put(name, bytes)?;
            put[at].push(begun.elapsed());
        }
    }
    for ((name, bytes), order) in turns() {
        let sum: u64 = bytes.chunks(BUFFER).map(|part| u64::from(part[0])).sum();
        // What one has read stays until all have, so that each needs new memory.
        let mut kept = Vec::with_capacity(3);
        for at in *order {
            let begun = Instant::now();
            let found = engines[at].get(name)?;
            got[at].push(begun.elapsed());
            if found != *bytes {
                return Err(format!("`{name}` has other bytes").into());
            }
            kept.push(found);
            let begun = Instant::now();
            let found = engines[at].stream(name, &mut buffer)?;
            streamed[at].push(begun.elapsed());
            if found != sum {
                return Err(format!("`{name}` was streamed otherwise").into());
            }
        }
    }
    for ((name, _), order) in turns() {
        for at in *order {
            let begun = Instant::now();
            engines[at].delete(name)?;
            deleted[at].push(begun.elapsed());
        }
    }
    Ok(())
}

/// How many blobs the threads put in a second, and delete, each thread by an engine of its own.
fn rates(engines: Vec<Box<dyn Engine + '_>>, batch: Batch) -> Result<[f64; 2]> {
    let Batch { size, many } = batch;
    let (threads, made) = (engines.len(), bytes(size, 7));
    let all = Barrier::new(threads + 1);
    thread::scope(|scope| {
        let (all, made) = (&all, &made);
        let work = move |(number, mut engine): (usize, Box<dyn Engine + '_>)| {
            let names: Vec<_> = (0..many).map(|of| format!("{size}-{number}-{of}")).collect();
            // An error is told when all have come to the end.
            let mut done = Ok(());
            all.wait();
            for name in &names {
                done = done.and_then(|()| engine.put(name, made));
            }
            all.wait();
            for name in &names {
                done = done.and_then(|()| engine.delete(name));
            }
            all.wait();
            done
        };
        let workers: Vec<_> =
            engines.into_iter().enumerate().map(|one| scope.spawn(move || work(one))).collect();
        all.wait();
        let begun = Instant::now();
        all.wait();
        let put = begun.elapsed();
        let begun = Instant::now();
        all.wait();
        let deleted = begun.elapsed();
        for worker in workers {
            worker.join().map_err(|_| "a thread panicked")??;
        }
        #[expect(clippy::cast_precision_loss, reason = "it is far below 2^52")]
        let count = (threads * many) as f64;
        Ok([put, deleted].map(|time| count / time.as_secs_f64()))
    })
}

/// Rates of so many threads, beside each other.
fn together(dir: &Path, container: &Container, threads: usize, rounds: usize) -> Result<()> {
    println!("Blobs a second of {threads} threads: table-core / files / SQLite\n");
    println!("| bytes | put | deleted |\n| ---: | ---: | ---: |");
    let files = Files(dir.join("files"));
    let engine = |of: usize| -> Result<Box<dyn Engine + '_>> {
        Ok(match of {
            0 => Box::new(container.clone()),
            1 => Box::new(Files(files.0.clone())),
            _ => Box::new(connect(&dir.join("data.sqlite"))?),
        })
    };
    for batch in SHARED {
        let mut found = [const { [const { Vec::new() }; 3] }; 2];
        for order in ORDERS.iter().cycle().take(rounds) {
            for of in *order {
                let engines = (0..threads).map(|_| engine(of)).collect::<Result<Vec<_>>>()?;
                for (found, rate) in found.iter_mut().zip(rates(engines, batch)?) {
                    found[of].push(rate);
                }
            }
        }
        let cells = found.map(|engines| {
            let median = |mut rates: Vec<f64>| {
                rates.sort_by(f64::total_cmp);
                rates.get(rates.len() / 2).copied().unwrap_or_default()
            };
            engines.map(|rates| format!("{:.0}", median(rates))).join(" / ")
        });
        println!("| {} | {} |", batch.size, cells.join(" | "));
    }
    Ok(())
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default().as_secs_f64() * 1e6
}

/// `blobs [--rounds N] [--threads N] [--dir DIRECTORY]`.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let value = |name: &str| {
        arguments.iter().position(|argument| argument == name).and_then(|at| arguments.get(at + 1))
    };
    let rounds: usize = value("--rounds").map_or(Ok(3), |text| text.parse())?;
    let base = value("--dir").map_or_else(std::env::temp_dir, PathBuf::from);
    let dir = base.join(format!("blobs-{}", std::process::id()));
    fs::create_dir_all(dir.join("files"))?;
    let store = Store::open(dir.join("store"))?;
    if let Some(threads) = value("--threads") {
        let container = store.container("blobs")?;
        together(&dir, &container, threads.parse()?, rounds)?;
        drop((container, store));
        fs::remove_dir_all(&dir)?;
        return Ok(());
    }
    let (mut ours, mut files) = (store.container("blobs")?, Files(dir.join("files")));
    let mut sqlite = connect(&dir.join("data.sqlite"))?;
    println!("Medians in µs: table-core / files / SQLite\n");
    println!("| bytes | put | read whole | streamed | deleted |\n| ---: | ---: | ---: | ---: | ---: |");
    for batch in SIZES {
        let mut times = Times::default();
        for _ in 0..rounds {
            measure(&mut [&mut ours, &mut files, &mut sqlite], batch, &mut times)?;
        }
        let cells = times.map(|engines| engines.map(median).map(|median| format!("{median:.0}")).join(" / "));
        println!("| {} | {} |", batch.size, cells.join(" | "));
    }
    drop((ours, store, sqlite));
    fs::remove_dir_all(&dir)?;
    Ok(())
}
