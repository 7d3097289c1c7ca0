//! How much memory of its own a process takes for some work: pages of the store's file are not its own.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// The pages of this process that no file is behind, in KiB; 0 where the system does not tell.
fn own() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}

/// Seconds that the work took, and MiB of its own that the process had meanwhile at most.
pub(super) fn most<T>(work: impl FnOnce() -> Result<T>) -> Result<((f64, f64), T)> {
    let (is_over, most) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                most.fetch_max(own(), Ordering::Relaxed);
                std::thread::sleep(Duration::from_millis(5));
            }
        });
        let begun = Instant::now();
        let done = work();
        let took = begun.elapsed().as_secs_f64();
        is_over.store(true, Ordering::Relaxed);
        let kib = u32::try_from(most.load(Ordering::Relaxed)).unwrap_or(u32::MAX);
        Ok(((took, f64::from(kib) / 1_024.0), done?))
    })
}
