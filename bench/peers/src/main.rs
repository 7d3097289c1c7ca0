//! The benchmark with what one would use instead of table-core.
//!
//! ```text
//! cargo run --release --manifest-path bench/peers/Cargo.toml -- company [--rows N] [--rounds N] [--engines a,b]
//!     [--only load,get,..] [--large] [--wait SECONDS] [--out DIRECTORY]
//! cargo run --release --manifest-path bench/peers/Cargo.toml -- properties [--rows N] [--rounds N]
//! cargo run --release --manifest-path bench/peers/Cargo.toml -- queue [--messages N] [--rounds N] [--dir DIRECTORY]
//! cargo run --release --manifest-path bench/peers/Cargo.toml -- blobs [--rounds N] [--dir DIRECTORY]
//! ```

mod blobs;
mod fjall;
mod native_db;
mod queue;
mod record;
mod redb;
mod sqlite;
mod wide;
mod wide_models;

use std::process::ExitCode;

use table_bench::company::Maker;
use table_bench::wide::WideMaker;

const PEERS: [Maker; 4] = [native_db::MAKER, redb::MAKER, sqlite::MAKER, fjall::MAKER];
const WIDE_PEERS: [WideMaker; 4] = [wide_models::NATIVE_DB, wide::REDB, wide::SQLITE, wide::FJALL];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match arguments.split_first().map(|(first, rest)| (first.as_str(), rest)) {
        Some(("queue", rest)) => queue::run(rest),
        Some(("blobs", rest)) => blobs::run(rest),
        _ => return table_bench::run(&PEERS, &WIDE_PEERS),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use table_bench::company::{SyncMode, conforms};

    #[test]
    fn every_peer_reads_the_same_property() {
        for maker in super::WIDE_PEERS {
            table_bench::wide::conforms(&maker).unwrap_or_else(|error| panic!("{}: {error}", maker.name));
        }
    }

    #[test]
    fn every_peer_does_the_same() {
        for maker in super::PEERS {
            for sync in [SyncMode::Lax, SyncMode::Durable] {
                conforms(&maker, sync).unwrap_or_else(|error| panic!("{}, {sync:?}: {error}", maker.name));
            }
        }
    }
}
