//! Markdown tables on standard output.

use std::path::Path;

use table_core::Ticks;

use crate::measure::{self, Times};

/// States when and where a run takes place.
pub(crate) fn machine(directory: &Path, sync: &str) {
    println!("\n{}; {sync}\n", machine_line(directory));
}

/// When and where: the time, the processors, the load, and the file system.
pub(crate) fn machine_line(directory: &Path) -> String {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load: Vec<_> = load.split(' ').take(4).collect();
    let threads = std::thread::available_parallelism().map_or(0, usize::from);
    let processors = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = processors.lines().find_map(|line| line.strip_prefix("model name\t: ")).unwrap_or("unknown");
    format!(
        "{}; {threads} × {model}; load {}; files on {}",
        Ticks::now(),
        load.join(" "),
        file_system(directory),
    )
}

/// The kind of the file system that the mount table names for a path.
fn file_system(path: &Path) -> String {
    let table = std::fs::read_to_string("/proc/mounts").unwrap_or_default();
    let path = path.canonicalize().unwrap_or_default();
    let mounts = table.lines().filter_map(|line| {
        let mut fields = line.split(' ').skip(1);
        Some((fields.next()?, fields.next()?))
    });
    let above = mounts.filter(|(point, _)| path.starts_with(point));
    above
        .max_by_key(|(point, _)| point.len())
        .map_or_else(|| "unknown".to_owned(), |(_, kind)| kind.to_owned())
}

/// The heading of a table of [`comparison`]s.
pub(crate) fn comparison_head() {
    println!("| workload | floor | ours | ratio | noise (floor/floor, quartiles) | aim | |");
    println!("|---|---:|---:|---:|---:|---:|---|");
}

/// Lines for one workload: each contender beside the floor.
pub(crate) fn comparison(workload: &str, unit: Unit, times: &[Times], aim: Option<f64>) {
    let [floor, others @ .., again] = times else { return };
    let (low, high) = measure::noise(again, floor);
    for other in others {
        let ratio = measure::ratio(other, floor);
        println!(
            "| {workload}{} | {} | {} | **{ratio:.2}** | {low:.2}–{high:.2} | {} | {} |",
            other.name,
            unit.show(measure::median(&floor.rounds)),
            unit.show(measure::median(&other.rounds)),
            aim.map_or_else(String::new, |aim| format!("{aim:.2}")),
            verdict(ratio, aim),
        );
    }
}

pub(crate) fn verdict(ratio: f64, aim: Option<f64>) -> &'static str {
    match aim {
        None => "",
        Some(aim) if ratio <= aim => "met",
        Some(_) => "**missed**",
    }
}

/// In what times are shown.
#[derive(Clone, Copy)]
pub(crate) enum Unit {
    Nanoseconds,
    Microseconds,
    Milliseconds,
}

impl Unit {
    pub(crate) fn show(self, nanoseconds: f64) -> String {
        match self {
            Self::Nanoseconds => format!("{nanoseconds:.0} ns"),
            Self::Microseconds => format!("{:.2} µs", nanoseconds / 1e3),
            Self::Milliseconds => format!("{:.2} ms", nanoseconds / 1e6),
        }
    }
}
