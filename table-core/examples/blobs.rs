//! Blobs beside plain files: put, read whole, streamed, deleted; what is left of the file when they come and go; and a log
//! beside a buffered file.
//!
//! A file is put as carefully as a blob is: written under another name, flushed, renamed, and its directory flushed.
//! `cargo run --release -p table-core --features blob,json --example blobs`

#![allow(clippy::print_stdout, reason = "the figures are this program's output")]

use std::error::Error;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use table_core::blob::Log;
use table_core::{Durability, Store};

type Done<T> = Result<T, Box<dyn Error>>;

/// Sizes in bytes, and how many of each.
const SIZES: [(usize, usize); 4] = [(16 << 10, 200), (100 << 10, 200), (1 << 20, 60), (16 << 20, 12)];

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

/// The middle one.
fn median(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default().as_secs_f64() * 1e6
}

fn timed<T>(times: &mut Vec<Duration>, run: impl FnOnce() -> Done<T>) -> Done<T> {
    let begun = Instant::now();
    let done = run()?;
    times.push(begun.elapsed());
    Ok(done)
}

fn put_file(directory: &Path, name: &str, bytes: &[u8]) -> Done<()> {
    let private = directory.join(format!(".{name}"));
    let mut file = File::create(&private)?;
    file.write_all(bytes)?;
    file.sync_data()?;
    fs::rename(&private, directory.join(name))?;
    File::open(directory)?.sync_all()?;
    Ok(())
}

fn delete_file(directory: &Path, name: &str) -> Done<()> {
    fs::remove_file(directory.join(name))?;
    File::open(directory)?.sync_all()?;
    Ok(())
}

fn stream(mut reader: impl Read, buffer: &mut [u8]) -> Done<u64> {
    let mut sum = 0;
    loop {
        let read = reader.read(buffer)?;
        if read == 0 {
            return Ok(sum);
        }
        sum += u64::from(buffer.first().copied().unwrap_or(0));
    }
}

fn main() -> Done<()> {
    let directory = tempfile::tempdir()?;
    let store = Store::open(directory.path().join("store"))?;
    let blobs = store.container("blobs")?;
    let files = directory.path().join("files");
    fs::create_dir(&files)?;
    let mut buffer = vec![0; 64 * 1024];
    println!("medians in us, of the store and of files\n");
    println!("{:>9} {:>21} {:>21} {:>21} {:>21}", "bytes", "put", "get", "stream", "delete");
    for (size, many) in SIZES {
        let mut times: [[Vec<Duration>; 2]; 4] = Default::default();
        let [put, get, streamed, deleted] = &mut times;
        let names: Vec<_> = (0..many).map(|number| format!("{size}-{number}")).collect();
        for (seed, name) in (1..).zip(&names) {
            let bytes = bytes(size, seed);
            timed(&mut put[0], || Ok(blobs.put(name, &bytes)?))?;
            timed(&mut put[1], || put_file(&files, name, &bytes))?;
        }
        for name in &names {
            timed(&mut get[0], || Ok(blobs.get(name)?.map(|bytes| bytes.len())))?;
            timed(&mut get[1], || Ok(fs::read(files.join(name))?.len()))?;
            timed(&mut streamed[0], || stream(blobs.open(name)?, &mut buffer))?;
            timed(&mut streamed[1], || stream(File::open(files.join(name))?, &mut buffer))?;
        }
        for name in &names {
            timed(&mut deleted[0], || Ok(blobs.delete(name)?))?;
            timed(&mut deleted[1], || delete_file(&files, name))?;
        }
        let both = times.map(|both| {
            let [store, files] = both.map(median);
            format!("{store:.0} / {files:.0}")
        });
        let [put, get, streamed, deleted] = both;
        println!("{size:>9} {put:>21} {get:>21} {streamed:>21} {deleted:>21}");
    }
    let stats = store.stats()?;
    println!("\nthe store's file has {} MiB, and {} blobs", stats.file_bytes >> 20, stats.blobs.blobs);
    churn(&Store::options().durability(Durability::Relaxed).open(directory.path().join("churned"))?)?;

    let log: Log<String> = store.log("entries")?;
    let entry = "GET /catalog/bicycles?color=red 200 1 ms".to_owned();
    let many = 200_000;
    let begun = Instant::now();
    for _ in 0..many {
        log.append(&entry)?;
    }
    log.flush()?;
    let in_store = begun.elapsed();
    let begun = Instant::now();
    let mut file = BufWriter::with_capacity(64 * 1024, File::create(files.join("log"))?);
    for _ in 0..many {
        writeln!(file, "{{\"at\":\"{}\",\"entry\":\"{entry}\"}}", table_core::Ticks::now())?;
    }
    file.into_inner()?.sync_data()?;
    let in_file = begun.elapsed();
    let begun = Instant::now();
    let read = log.entries()?.count();
    let read_store = begun.elapsed();
    let begun = Instant::now();
    let lines = BufReader::with_capacity(64 * 1024, File::open(files.join("log"))?).lines().count();
    let read_file = begun.elapsed();
    let each = |time: Duration| time.as_secs_f64() * 1e6 / f64::from(many);
    println!(
        "log: {:.2} us an entry, a buffered file that is flushed once {:.2} us; read {:.2} us an entry of {read}, the file's lines, \
         which nobody takes apart, {:.2} us of {lines}",
        each(in_store),
        each(in_file),
        each(read_store),
        each(read_file),
    );
    Ok(())
}

/// Blobs of all sizes up to 1 MiB take the places of others, thousands of times: what the file has beside what is in it.
fn churn(store: &Store) -> Done<()> {
    let blobs = store.container("churned")?;
    let mut random = 1_u64;
    let mut below = |bound: u64| {
        random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (random >> 33) % bound
    };
    let all = bytes(1 << 20, 7);
    for step in 0..=8_000_u32 {
        if step % 2_000 == 0 {
            let stats = store.stats()?;
            let free = stats.space.free_bytes;
            println!(
                "after {step} puts and deletions: {} MiB in {} blobs, the file has {} MiB, {} of them free",
                stats.blobs.bytes >> 20,
                stats.blobs.blobs,
                stats.file_bytes >> 20,
                free >> 20
            );
        }
        let name = below(200).to_string();
        if below(4) == 0 {
            blobs.delete(&name)?;
        } else {
            // As many small ones as large ones.
            let size = 1 << below(21);
            let length = usize::try_from(below(size))?;
            blobs.put(&name, all.get(..length).unwrap_or_default())?;
        }
    }
    Ok(())
}
