//! Blobs of table-core, plain files, and blobs of a table in `SQLite`: put, read whole, streamed, deleted.
//!
//! Each call is on disk when it returns: table-core's default; a file that is written under another name, flushed and renamed,
//! and whose directory is flushed; WAL with `synchronous = FULL`. The engines take turns, operation by operation.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::{Connection, MAIN_DB, params};

use table_core::Store;
use table_core::blob::Container;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Sizes in bytes, and how many of each in a round.
const SIZES: [(usize, usize); 4] = [(16 << 10, 100), (100 << 10, 100), (1 << 20, 40), (16 << 20, 6)];
const BUFFER: usize = 64 << 10;

/// What is measured of each.
trait Engine {
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

const TABLE: &str =
    "CREATE TABLE blob (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, bytes BLOB NOT NULL)";

fn connect(path: &Path) -> Result<Connection> {
    let connection = Connection::open(path)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "mmap_size", 1_i64 << 30)?;
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

fn measure(
    engines: &mut [&mut dyn Engine; 3],
    (size, many): (usize, usize),
    times: &mut Times,
) -> Result<()> {
    let mut buffer = vec![0; BUFFER];
    let [put, got, streamed, deleted] = times;
    let made: Vec<_> =
        (0..many).map(|number| format!("{size}-{number}")).zip((1..).map(|seed| bytes(size, seed))).collect();
    // Whoever comes first pays for what the others find done, so each does in its turn.
    let turns = |number: usize| (0..3).map(move |turn| (turn + number) % 3);
    for (number, (name, bytes)) in made.iter().enumerate() {
        for at in turns(number) {
            let begun = Instant::now();
            engines[at].put(name, bytes)?;
            put[at].push(begun.elapsed());
        }
    }
    for (number, (name, bytes)) in made.iter().enumerate() {
        let sum: u64 = bytes.chunks(BUFFER).map(|part| u64::from(part[0])).sum();
        for at in turns(number) {
            let begun = Instant::now();
            let found = engines[at].get(name)?;
            got[at].push(begun.elapsed());
            if found != *bytes {
                return Err(format!("`{name}` has other bytes").into());
            }
            drop(found);
            let begun = Instant::now();
            let found = engines[at].stream(name, &mut buffer)?;
            streamed[at].push(begun.elapsed());
            if found != sum {
                return Err(format!("`{name}` was streamed otherwise").into());
            }
        }
    }
    for (number, (name, _)) in made.iter().enumerate() {
        for at in turns(number) {
            let begun = Instant::now();
            engines[at].delete(name)?;
            deleted[at].push(begun.elapsed());
        }
    }
    Ok(())
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default().as_secs_f64() * 1e6
}

/// `blobs [--rounds N] [--dir DIRECTORY]`.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let value = |name: &str| {
        arguments.iter().position(|argument| argument == name).and_then(|at| arguments.get(at + 1))
    };
    let rounds: usize = value("--rounds").map_or(Ok(3), |text| text.parse())?;
    let base = value("--dir").map_or_else(std::env::temp_dir, PathBuf::from);
    let dir = base.join(format!("blobs-{}", std::process::id()));
    fs::create_dir_all(dir.join("files"))?;
    let store = Store::open(dir.join("store"))?;
    let (mut ours, mut files) = (store.container("blobs")?, Files(dir.join("files")));
    let mut sqlite = connect(&dir.join("data.sqlite"))?;
    println!("Medians in µs: table-core / files / SQLite\n");
    println!("| bytes | put | read whole | streamed | deleted |\n| ---: | ---: | ---: | ---: | ---: |");
    for (size, many) in SIZES {
        let mut times = Times::default();
        for _ in 0..rounds {
            measure(&mut [&mut ours, &mut files, &mut sqlite], (size, many), &mut times)?;
        }
        let cells = times.map(|engines| engines.map(median).map(|median| format!("{median:.0}")).join(" / "));
        println!("| {size} | {} |", cells.join(" | "));
    }
    drop((ours, store, sqlite));
    fs::remove_dir_all(&dir)?;
    Ok(())
}
