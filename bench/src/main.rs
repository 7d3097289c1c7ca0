//! table-core against what one would write by hand on heed, in one run that alternates between the two.
//!
//! ```text
//! cargo run --release -p table-bench -- [ops|properties|threads|drop|open|all] [--rows N] [--rounds N] [--cell MS]
//! cargo run --release -p table-bench -- profile --engine ours|floor --op get|miss|scan|views-one|views-all|range|
//!     insert|batch|replace|merge|one-of-200 [--count N] [--rows N]
//! ```
//!
//! Times depend on the machine and its load; ratios within a run are what counts. Nothing here fails for being slow,
//! but an engine that reads something else than the other does.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "the report is this program's output")]

mod digest;
mod dropping;
mod engine;
mod floor;
mod measure;
mod opening;
mod ops;
mod ours;
mod place;
mod profile;
mod properties;
mod random;
mod report;
mod rows;
mod threads;

use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

/// What the command line asks for.
pub(crate) struct Arguments {
    part: String,
    pub(crate) rows: u64,
    pub(crate) rounds: usize,
    /// How long each cell of the threads' table runs.
    pub(crate) cell: Duration,
    pub(crate) engine: String,
    pub(crate) op: String,
    pub(crate) count: usize,
}

fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Arguments, Box<dyn Error + Send + Sync>> {
    let mut parsed = Arguments {
        part: "all".to_owned(),
        rows: 100_000,
        rounds: 40,
        cell: Duration::from_secs(2),
        engine: "ours".to_owned(),
        op: "get".to_owned(),
        count: 10_000,
    };
    while let Some(argument) = arguments.next() {
        if !argument.starts_with("--") {
            parsed.part = argument;
            continue;
        }
        let value = arguments.next().ok_or_else(|| format!("`{argument}` needs a value"))?;
        match argument.as_str() {
            "--rows" => parsed.rows = value.parse()?,
            "--rounds" => parsed.rounds = value.parse()?,
            "--cell" => parsed.cell = Duration::from_millis(value.parse()?),
            "--engine" => parsed.engine = value,
            "--op" => parsed.op = value,
            "--count" => parsed.count = value.parse()?,
            _ => return Err(format!("there is no option `{argument}`").into()),
        }
    }
    // A department has at least a hundred rows, so that a range has its hundred.
    if parsed.rows < 5_000 || parsed.rounds == 0 || parsed.count == 0 {
        return Err("at least 5,000 rows, one round and one operation".into());
    }
    Ok(parsed)
}

fn run() -> Result<(), Box<dyn Error + Send + Sync>> {
    let arguments = parse(std::env::args().skip(1))?;
    match arguments.part.as_str() {
        "ops" => ops::run(&arguments),
        "properties" => properties::run(&arguments),
        "threads" => threads::run(&arguments),
        "drop" => dropping::run(&arguments),
        "open" => opening::run(&arguments),
        "profile" => profile::run(&arguments),
        "all" => {
            ops::run(&arguments)?;
            properties::run(&arguments)?;
            threads::run(&arguments)?;
            dropping::run(&arguments)?;
            opening::run(&arguments)
        }
        other => Err(format!("there is no part `{other}`").into()),
    }
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
