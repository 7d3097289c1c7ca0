//! Writers and readers who go on while a job runs.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use table_core::ErrorKind;

use crate::measure::{nanoseconds, quantile};
use crate::random::Random;
use crate::report::Unit;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

const WRITERS: u64 = 4;
const READERS: u64 = 4;

/// How long each call of some threads took, in nanoseconds, and how long they called.
pub(super) struct Calls {
    writes: Vec<f64>,
    reads: Vec<f64>,
    seconds: f64,
}

impl Calls {
    pub(super) fn p99(&self) -> f64 {
        quantile(&self.writes, 0.99)
    }

    /// Cells of a table: writes in a second, their median, p99 and longest, and the p99 of reads.
    pub(super) fn cells(&self) -> String {
        let count = u32::try_from(self.writes.len()).unwrap_or(u32::MAX);
        let show = |share| Unit::Milliseconds.show(quantile(&self.writes, share));
        format!(
            "{:.0} | {} | {} | {} | {}",
            f64::from(count) / self.seconds,
            show(0.5),
            show(0.99),
            show(1.0),
            Unit::Milliseconds.show(quantile(&self.reads, 0.99))
        )
    }
}

/// What a thread does again and again.
pub(super) type Call<'c> = &'c (dyn Fn(&mut Random) -> table_core::Result<()> + Sync);

/// Has writers and readers call while `work` goes on in this thread.
pub(super) fn during<T>(
    write: Call<'_>,
    read: Call<'_>,
    work: impl FnOnce() -> Result<T>,
) -> Result<(T, Calls)> {
    let is_over = AtomicBool::new(false);
    let calls = |number: u64, call: Call<'_>| -> Result<Vec<f64>> {
        let (mut random, mut times) = (Random::new(number), Vec::new());
        while !is_over.load(Ordering::Relaxed) {
            let begun = Instant::now();
            match call(&mut random) {
                Ok(()) => times.push(nanoseconds(begun.elapsed())),
                // What is being made is not read.
                Err(error)
                    if matches!(error.kind(), ErrorKind::IndexBuilding | ErrorKind::MigrationPending) =>
                {
                    thread::sleep(Duration::from_millis(1));
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(times)
    };
    thread::scope(|scope| {
        let spawn = |numbers: std::ops::Range<u64>, call| {
            let calls = &calls;
            let spawned = numbers.map(|number| scope.spawn(move || calls(number, call)));
            spawned.collect::<Vec<_>>()
        };
        let (writers, readers) = (spawn(0..WRITERS, write), spawn(WRITERS..WRITERS + READERS, read));
        let begun = Instant::now();
        let done = work();
        let seconds = begun.elapsed().as_secs_f64();
        is_over.store(true, Ordering::Relaxed);
        let join = |threads: Vec<thread::ScopedJoinHandle<'_, Result<Vec<f64>>>>| -> Result<Vec<f64>> {
            let mut all = Vec::new();
            for thread in threads {
                all.extend(thread.join().map_err(|_| "a thread has panicked")??);
            }
            Ok(all)
        };
        let calls = Calls { writes: join(writers)?, reads: join(readers)?, seconds };
        Ok((done?, calls))
    })
}
