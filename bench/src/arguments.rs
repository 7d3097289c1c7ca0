//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use crate::Result;

/// What the command line asks for.
#[derive(Debug)]
pub(crate) struct Arguments {
    pub(crate) part: String,
    /// Without it, as many as the part is meant for.
    asked_rows: Option<u64>,
    pub(crate) rows: u64,
    pub(crate) rounds: usize,
    /// How long each cell of the threads' table runs.
    pub(crate) cell: Duration,
    pub(crate) engine: String,
    pub(crate) op: String,
    pub(crate) count: usize,
    /// The engines to run, or none for all.
    pub(crate) engines: Vec<String>,
    /// The workloads to run, or none for all.
    pub(crate) only: Vec<String>,
    /// Ten million employees, on disk.
    pub(crate) large: bool,
    /// Whether what is profiled is done on a store that was opened again, after one write.
    pub(crate) reopened: bool,
    /// How long to wait, in all, for a machine on which nobody else works.
    pub(crate) wait: Duration,
    /// Where tables, JSON and chart are written, besides standard output.
    pub(crate) out: Option<PathBuf>,
}

const LARGE: u64 = 10_000_000;

impl Arguments {
    pub(crate) fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self> {
        let mut parsed = Self {
            part: "all".to_owned(),
            asked_rows: None,
            rows: 100_000,
            rounds: 40,
            cell: Duration::from_secs(2),
            engine: "ours".to_owned(),
            op: "get".to_owned(),
            count: 10_000,
            engines: Vec::new(),
            only: Vec::new(),
            large: false,
            reopened: false,
            wait: Duration::ZERO,
            out: None,
        };
        while let Some(argument) = arguments.next() {
            if !argument.starts_with("--") {
                parsed.part = argument;
                continue;
            }
            if argument == "--large" {
                parsed.large = true;
                continue;
            }
            if argument == "--reopened" {
                parsed.reopened = true;
                continue;
            }
            let value = arguments.next().ok_or_else(|| format!("`{argument}` needs a value"))?;
            let list = || value.split(',').map(|name| name.trim().to_owned()).collect();
            match argument.as_str() {
                "--rows" => parsed.asked_rows = Some(value.parse()?),
                "--rounds" => parsed.rounds = value.parse()?,
                "--cell" => parsed.cell = Duration::from_millis(value.parse()?),
                "--engine" => parsed.engine = value,
                "--op" => parsed.op = value,
                "--count" => parsed.count = value.parse()?,
                "--engines" => parsed.engines = list(),
                "--only" => parsed.only = list(),
                "--wait" => parsed.wait = Duration::from_secs(value.parse()?),
                "--out" => parsed.out = Some(value.into()),
                _ => return Err(format!("there is no option `{argument}`").into()),
            }
        }
        let default = if parsed.large { LARGE } else { parsed.rows };
        parsed.rows = parsed.asked_rows.unwrap_or(default);
        // A department has at least a hundred rows, so that a range has its hundred.
        if parsed.rows < 5_000 || parsed.rounds == 0 || parsed.count == 0 {
            return Err("at least 5,000 rows, one round and one operation".into());
        }
        Ok(parsed)
    }
}
