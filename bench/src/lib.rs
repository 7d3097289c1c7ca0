//! table-core beside what one would use instead, in one run in which all take turns.
//!
//! ```text
//! cargo run --release -p table-bench -- [company|ops|properties|threads|submit|drop|open|forms|lend|living|unending|periods|shapes|codec|all|tidy] [--rows N] [--rounds N]
//! ```
//!
//! - [`company`]: the workload that every engine can do: typed employees with a unique and a plain index.
//!   The package in `bench/peers` runs it with `native_db`, redb, `SQLite` and fjall as well.
//! - `tidy` removes the files of runs that were killed.
//! - The others look at one side of table-core beside hand-written LMDB, each.
//!
//! Times depend on the machine and its load; ratios within a run are what counts. Nothing here fails for being slow,
//! but an engine that reads something else than the others does.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "the report is this program's output")]

mod arguments;
#[cfg(feature = "async")]
mod awaiting;
mod codec;
pub mod company;
mod digest;
mod dropping;
mod engine;
mod floor;
mod following;
mod forms;
mod lending;
mod living;
mod measure;
mod opening;
mod ops;
mod ours;
mod periods;
mod place;
mod profile;
mod properties;
mod random;
mod report;
mod rows;
mod shapes;
mod submitting;
mod summing;
mod threads;
mod transacting;
pub mod wide;

use std::process::ExitCode;

pub(crate) use arguments::Arguments;
pub use digest::Digest;

/// The result of whatever an engine or the harness does.
pub type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Runs what the command line asks for, with these engines beside table-core and the floor.
pub fn run(peers: &[company::Maker], wide_peers: &[wide::WideMaker]) -> ExitCode {
    let done =
        Arguments::parse(std::env::args().skip(1)).and_then(|arguments| parts(&arguments, peers, wide_peers));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn parts(arguments: &Arguments, peers: &[company::Maker], wide_peers: &[wide::WideMaker]) -> Result<()> {
    match arguments.part.as_str() {
        "company" => company::run(arguments, peers),
        "company-profile" => company::profile(arguments, peers),
        "company-syncs" => company::syncs(arguments, peers),
        "ops" => ops::run(arguments),
        "properties" => properties::run(arguments, wide_peers),
        "threads" => threads::run(arguments),
        "submit" => submitting::run(arguments),
        #[cfg(feature = "async")]
        "await" => awaiting::run(arguments),
        "drop" => dropping::run(arguments),
        "follow" => following::run(arguments),
        "sum" => summing::run(arguments),
        "transaction" => transacting::run(arguments),
        "periods" => periods::run(arguments),
        "shapes" => shapes::run(arguments),
        "lend" => lending::run(arguments),
        "lend-profile" => lending::profile(arguments),
        "living" => living::run(arguments),
        "unending" => living::unending::run(arguments),
        "codec" => codec::run(arguments),
        "open" => opening::run(arguments),
        "forms" => forms::run(arguments),
        "forms-profile" => forms::profile(arguments),
        "profile" => profile::run(arguments),
        "tidy" => Ok(place::tidy()?),
        "all" => {
            ops::run(arguments)?;
            properties::run(arguments, wide_peers)?;
            threads::run(arguments)?;
            dropping::run(arguments)?;
            opening::run(arguments)?;
            forms::run(arguments)
        }
        other => Err(format!("there is no part `{other}`").into()),
    }
}
