//! Whether others work on the machine.

use std::time::{Duration, Instant};

/// Others' share of the processors below which the machine is quiet.
const QUIET: f64 = 0.05;

/// The processors' time since the machine started, in ticks: of all, and of this process.
#[derive(Clone, Copy, Debug)]
struct Ticks {
    busy: f64,
    all: f64,
    own: f64,
}

fn sum(fields: &[&str]) -> f64 {
    fields.iter().filter_map(|field| field.parse::<f64>().ok()).sum()
}

impl Ticks {
    fn now() -> Option<Self> {
        let stat = std::fs::read_to_string("/proc/stat").ok()?;
        // user, nice, system, idle, waiting, interrupts (two), taken by other virtual machines.
        let all: Vec<_> = stat.lines().next()?.split_whitespace().skip(1).take(8).collect();
        let idle = sum(all.get(3..5).unwrap_or_default());
        let all = sum(&all);
        let own = std::fs::read_to_string("/proc/self/stat").ok()?;
        // What follows the program's name, which may hold anything.
        let own: Vec<_> = own.rsplit_once(')')?.1.split_whitespace().skip(11).take(2).collect();
        let own = sum(&own);
        Some(Self { busy: all - idle, all, own })
    }
}

/// Watches what share of the processors' time others take.
#[derive(Debug)]
pub(super) struct Watch(Option<Ticks>);

impl Watch {
    pub(super) fn start() -> Self {
        Self(Ticks::now())
    }

    /// Others' share since the start, where the system tells.
    pub(super) fn others(&self) -> Option<f64> {
        let (start, end) = (self.0?, Ticks::now()?);
        let all = end.all - start.all;
        (all > 0.0).then(|| ((end.busy - start.busy) - (end.own - start.own)).max(0.0) / all)
    }
}

/// Waits for a quiet machine, up to a bound over all waits of a run.
#[derive(Debug)]
pub(super) struct Quiet {
    left: Duration,
}

impl Quiet {
    pub(super) fn within(left: Duration) -> Self {
        Self { left }
    }

    /// Returns when others have taken less than a twentieth of the machine for two seconds, or the time is up.
    pub(super) fn wait(&mut self) {
        let mut calm = 0;
        while !self.left.is_zero() && calm < 2 {
            let (begun, watch) = (Instant::now(), Watch::start());
            std::thread::sleep(Duration::from_secs(1));
            calm = if watch.others().is_some_and(|others| others >= QUIET) { 0 } else { calm + 1 };
            // A quiet second is not a second waited for.
            if calm == 0 {
                self.left = self.left.saturating_sub(begun.elapsed());
            }
        }
    }
}
