//! Which calls make an engine's commits durable: counted by `strace`, in a process of their own.

use std::collections::BTreeMap;
use std::process::Command;

use super::engine::{Opening, SyncMode};
use super::{Employee, Maker, chosen};
use crate::place::Place;
use crate::{Arguments, Result};

/// Calls that wait for the disk; a file opened with `O_DSYNC` or `O_SYNC` waits in `pwrite64` and the like.
const CALLS: [&str; 7] = ["fdatasync", "fsync", "msync", "sync_file_range", "pwrite64", "pwritev", "write"];
const COMMITS: u64 = 100;

pub(crate) fn run(arguments: &Arguments, peers: &[Maker]) -> Result<()> {
    if arguments.op == "child" {
        return child(arguments, peers);
    }
    println!(
        "| engine | commits | flushes | writes to a file opened with `O_DSYNC` or `O_SYNC` | of a commit |"
    );
    println!("|---|---:|---:|---:|---:|");
    for maker in chosen(arguments, peers)?.iter().filter(|maker| !maker.reads_only) {
        let mut traced = Vec::new();
        // Twice the commits, so that what opening does falls out.
        for commits in [COMMITS, 2 * COMMITS] {
            traced.push(trace(maker, commits)?);
        }
        let of = |name: &str| {
            let count = |counts: &BTreeMap<String, u64>| counts.get(name).copied().unwrap_or(0);
            let counts: Vec<_> = traced.iter().map(count).collect();
            counts.last().copied().unwrap_or(0).saturating_sub(counts.first().copied().unwrap_or(0))
        };
        let (flushes, writes) = (of("flush"), of("synced write"));
        let each = crate::measure::count_of(flushes + writes) / crate::measure::count_of(COMMITS);
        println!("| {} | {COMMITS} | {flushes} | {writes} | {each:.2} |", maker.name);
    }
    Ok(())
}

fn trace(maker: &Maker, commits: u64) -> Result<BTreeMap<String, u64>> {
    let calls = format!("trace=openat,open,close,{}", CALLS.join(","));
    let program = std::env::current_exe()?;
    let mut command = Command::new("strace");
    command.args(["-f", "-y", "-qq", "-s", "0", "-e", &calls]).arg(program);
    command.args(["company-syncs", "--op", "child", "--engine", maker.name, "--count", &commits.to_string()]);
    let output = command.output().map_err(|error| format!("`strace` is needed to count flushes: {error}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    Ok(counted(&String::from_utf8_lossy(&output.stderr)))
}

/// Counts calls in what strace prints, in which `-y` puts each descriptor's path.
fn counted(trace: &str) -> BTreeMap<String, u64> {
    let mut synced = std::collections::BTreeSet::new();
    let mut counts = BTreeMap::new();
    for line in trace.lines() {
        let Some((before, rest)) = line.split_once('(') else { continue };
        let call = before.rsplit(' ').next().unwrap_or(before);
        // Descriptor and path, as `7</dev/shm/data.mdb>`.
        let descriptor = |text: &str| text.split(['>', ',', ')']).next().map(str::to_owned);
        match call {
            "openat" | "open" if rest.contains("O_DSYNC") || rest.contains("O_SYNC") => {
                if let Some((_, opened)) = rest.rsplit_once("= ") {
                    synced.extend(descriptor(opened));
                }
            }
            "close" => {
                if let Some(closed) = descriptor(rest) {
                    synced.remove(&closed);
                }
            }
            "fdatasync" | "fsync" | "msync" | "sync_file_range" => {
                *counts.entry("flush".to_owned()).or_default() += 1;
            }
            call if CALLS.contains(&call) && descriptor(rest).is_some_and(|d| synced.contains(&d)) => {
                *counts.entry("synced write".to_owned()).or_default() += 1;
            }
            _ => {}
        }
    }
    counts
}

fn child(arguments: &Arguments, peers: &[Maker]) -> Result<()> {
    let maker = super::ENGINES.iter().chain(peers).find(|maker| maker.name == arguments.engine);
    let maker = maker.ok_or("there is no such engine")?;
    let place = Place::on_disk()?;
    let engine = (maker.open)(&place.join("store"), &Opening::with(SyncMode::Durable))?;
    for number in 0..u64::try_from(arguments.count)? {
        engine.insert(&Employee::numbered(number, arguments.rows))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flushes_and_synced_writes_are_counted() {
        let trace = "\
[pid 7] openat(AT_FDCWD</w>, \"/w/data\"..., O_RDWR|O_DSYNC|O_CLOEXEC) = 9</w/data>
[pid 7] pwrite64(8</w/data>, \"\"..., 4096, 0) = 4096
[pid 7] fdatasync(8</w/data>) = 0
[pid 8] pwrite64(9</w/data>, \"\"..., 128, 0 <unfinished ...>
[pid 7] close(9</w/data>) = 0
[pid 7] pwrite64(9</w/other>, \"\"..., 4096, 0) = 4096
+++ exited with 0 +++";
        let counts = counted(trace);
        assert_eq!(counts.get("flush"), Some(&1));
        assert_eq!(counts.get("synced write"), Some(&1));
    }
}
