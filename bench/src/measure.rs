//! Rounds that alternate between engines, and what becomes of their times.

use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::digest::Digest;

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// Gets the round's number and how it is to time itself; returns what it read.
type Run<'a> = Box<dyn FnMut(usize, &mut Timer) -> Result<Digest> + 'a>;

/// One way to do a workload. The digest tells what was read.
pub(crate) struct Contender<'a> {
    pub(crate) name: &'static str,
    pub(crate) run: Run<'a>,
    /// Whether its digest is to equal the floor's.
    pub(crate) compared: bool,
    /// Whether threads of its own work for it, so that their processor time is its too.
    pub(crate) threads: bool,
}

impl<'a> Contender<'a> {
    pub(crate) fn new(name: &'static str, run: impl FnMut(usize, &mut Timer) -> Result<Digest> + 'a) -> Self {
        Self { name, run: Box::new(run), compared: true, threads: false }
    }

    /// Reads something else than the floor does.
    pub(crate) fn of_its_own(mut self) -> Self {
        self.compared = false;
        self
    }

    /// Whether threads of its own work for it.
    pub(crate) fn with_threads(mut self, threads: bool) -> Self {
        self.threads = threads;
        self
    }
}

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clock {
    /// The processor's time of this thread, in user and system: other programs on the machine hardly touch it. Where
    /// the system does not tell, the time of day.
    Processor,
    /// The time of day: for what waits for a disk or for other threads.
    Wall,
}

/// Times the part of a round that counts.
#[derive(Debug)]
pub(crate) struct Timer {
    clock: Clock,
    /// Whether the time of all threads of this process counts.
    threads: bool,
    total: Duration,
}

impl Timer {
    pub(crate) fn time<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let processor = self.processor();
        let begun = Instant::now();
        let result = std::hint::black_box(work());
        let elapsed = begun.elapsed();
        let used = self.processor().zip(processor).map(|(end, start)| end.saturating_sub(start));
        self.total += used.unwrap_or(elapsed);
        result
    }

    fn processor(&self) -> Option<Duration> {
        if self.clock == Clock::Wall {
            return None;
        }
        // Linux brings a thread's account up to date when it yields.
        std::thread::yield_now();
        if !self.threads {
            return account(Path::new("/proc/thread-self"));
        }
        let tasks = std::fs::read_dir("/proc/self/task").ok()?;
        // A thread that ends meanwhile takes its time with it.
        Some(tasks.filter_map(|task| account(&task.ok()?.path())).sum())
    }
}

/// The processor time of a thread.
fn account(task: &Path) -> Option<Duration> {
    let account = std::fs::read_to_string(task.join("schedstat")).ok()?;
    account.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}

/// The times of one contender, in nanoseconds for one operation.
#[derive(Debug)]
pub(crate) struct Times {
    pub(crate) name: &'static str,
    pub(crate) rounds: Vec<f64>,
}

/// Runs every contender in every round. The first is the floor, and runs a second time in each round: the noise.
pub(crate) fn rounds(
    clock: Clock,
    count: usize,
    operations: u64,
    entered: Vec<Contender<'_>>,
) -> Result<Vec<Times>> {
    Ok(fields(clock, count, operations, vec![entered])?.pop().unwrap_or_default())
}

/// Runs several fields of contenders, each with a floor of its own, in the same rounds: so the times of two fields can be
/// compared round by round, whatever the machine did meanwhile. One after the other they can't.
pub(crate) fn fields(
    clock: Clock,
    count: usize,
    operations: u64,
    mut entered: Vec<Vec<Contender<'_>>>,
) -> Result<Vec<Vec<Times>>> {
    let names = |field: &Vec<Contender<'_>>| {
        let names = field.iter().map(|one| one.name).chain(["floor again"]);
        names.map(|name| Times { name, rounds: Vec::new() }).collect()
    };
    let mut times: Vec<Vec<_>> = entered.iter().map(names).collect();
    let in_field =
        |(field, entered): (usize, &Vec<_>)| turns(entered.len()).into_iter().map(move |at| (field, at));
    let order: Vec<_> = entered.iter().enumerate().flat_map(in_field).collect();
    for round in 0..=count {
        let mut floors = vec![None; entered.len()];
        for turn in 0..order.len() {
            // Every round starts with another contender, and every other round goes the other way.
            let turn = (turn + round / 2) % order.len();
            let turn = if round % 2 == 0 { turn } else { order.len() - 1 - turn };
            let Some((field, place)) = order.get(turn).copied() else { continue };
            let (Some(contenders), Some(times), Some(floor)) =
                (entered.get_mut(field), times.get_mut(field), floors.get_mut(field))
            else {
                continue;
            };
            let which = if place == contenders.len() { 0 } else { place };
            let Some(contender) = contenders.get_mut(which) else { continue };
            let mut watch = Timer { clock, threads: contender.threads, total: Duration::ZERO };
            let digest = (contender.run)(round, &mut watch)?;
            if contender.compared && *floor.get_or_insert(digest) != digest {
                return Err(
                    format!("{} read something else: {digest:?}, not {floor:?}", contender.name).into()
                );
            }
            // The first round warms up.
            if let (Some(times), true) = (times.get_mut(place), round > 0) {
                times.rounds.push(nanoseconds(watch.total) / count_of(operations));
            }
        }
    }
    Ok(times)
}

/// The contenders in the order of their turns, by place; one place more is the floor's second run. That stands as far
/// from the first as it can, since it asks for what the first has just brought into the processor's caches.
fn turns(contenders: usize) -> Vec<usize> {
    let mut order: Vec<_> = (0..contenders).collect();
    order.insert(contenders.div_ceil(2), contenders);
    order
}

pub(crate) fn nanoseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e9
}

/// Counts here are far below 2^32.
pub(crate) fn count_of(count: u64) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

/// The value that this share of the values stay below.
pub(crate) fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = count_of(u64::try_from(sorted.len().saturating_sub(1)).unwrap_or(0));
    let at = format!("{:.0}", last * share).parse::<usize>().unwrap_or(0);
    sorted.get(at).copied().unwrap_or(f64::NAN)
}

pub(crate) fn median(values: &[f64]) -> f64 {
    quantile(values, 0.5)
}

/// The median of the rounds' ratios: each round compares what ran side by side.
pub(crate) fn ratio(times: &Times, base: &Times) -> f64 {
    let ratios: Vec<_> = times.rounds.iter().zip(&base.rounds).map(|(a, b)| a / b).collect();
    median(&ratios)
}

/// How far half of the rounds of the floor differ from the floor itself, either way.
pub(crate) fn noise(times: &Times, base: &Times) -> (f64, f64) {
    let ratios: Vec<_> = times.rounds.iter().zip(&base.rounds).map(|(a, b)| a / b).collect();
    (quantile(&ratios, 0.25), quantile(&ratios, 0.75))
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    fn reads(sum: u64) -> Digest {
        Digest { rows: 1, sum }
    }

    #[test]
    fn every_round_has_each_contender_of_each_field_once_and_its_floor_twice() {
        let ran = RefCell::new(Vec::new());
        let one = |name: &'static str, sum| {
            let ran = &ran;
            Contender::new(name, move |round, timer| {
                ran.borrow_mut().push((round, name));
                timer.time(|| Ok(reads(sum)))
            })
        };
        let entered = || vec![vec![one("a", 1), one("b", 1)], vec![one("c", 2), one("d", 2), one("e", 2)]];
        let times = fields(Clock::Wall, 5, 1, entered()).unwrap();
        let names = |field: &[Times]| field.iter().map(|times| times.name).collect::<Vec<_>>();
        assert_eq!(names(&times[0]), ["a", "b", "floor again"]);
        assert_eq!(names(&times[1]), ["c", "d", "e", "floor again"]);
        // One round more, to warm up, whose times don't count.
        assert!(times.iter().flatten().all(|times| times.rounds.len() == 5));
        let mut firsts = Vec::new();
        for round in 0..=5 {
            let ran = ran.borrow();
            let mut ran: Vec<_> = ran.iter().filter(|(of, _)| *of == round).map(|(_, name)| *name).collect();
            firsts.extend(ran.first().copied());
            ran.sort_unstable();
            assert_eq!(ran, ["a", "a", "b", "c", "c", "d", "e"], "round {round}");
        }
        firsts.sort_unstable();
        firsts.dedup();
        assert!(firsts.len() > 2, "rounds begin with {firsts:?} alone");
    }

    #[test]
    fn who_reads_something_else_than_the_floor_of_its_field_is_refused() {
        let one = |name, sum| Contender::new(name, move |_, _| Ok(reads(sum)));
        let fields = |entered| fields(Clock::Wall, 1, 1, entered);
        let error = fields(vec![vec![one("a", 1), one("b", 1)], vec![one("c", 2), one("d", 1)]]).unwrap_err();
        assert!(error.to_string().starts_with("d read something else"), "{error}");
        fields(vec![vec![one("a", 1)], vec![one("c", 2), one("d", 1).of_its_own()]]).unwrap();
    }

    #[test]
    fn a_ratio_is_the_median_of_the_rounds_ratios() {
        let times = |rounds: [f64; 3]| Times { name: "", rounds: rounds.into() };
        // A slow round slows both sides of it; the ratio of the medians would be 9.
        let (wide, narrow) = (times([2.0, 18.0, 20.0]), times([1.0, 2.0, 10.0]));
        assert!((ratio(&wide, &narrow) - 2.0).abs() < 1e-9);
    }
}
