//! The benchmark with what one would use instead of table-core.
//!
//! ```text
//! cargo run --release --manifest-path bench/peers/Cargo.toml -- company [--rows N] [--rounds N] [--engines a,b]
//!     [--only load,get,..] [--large] [--wait SECONDS] [--out DIRECTORY]
//! ```

mod fjall;
mod native_db;
mod record;
mod redb;
mod sqlite;

use std::process::ExitCode;

use table_bench::company::Maker;

const PEERS: [Maker; 4] = [native_db::MAKER, redb::MAKER, sqlite::MAKER, fjall::MAKER];

fn main() -> ExitCode {
    table_bench::run(&PEERS)
}

#[cfg(test)]
mod tests {
    use table_bench::company::{SyncMode, conforms};

    #[test]
    fn every_peer_does_the_same() {
        for maker in super::PEERS {
            for sync in [SyncMode::Lax, SyncMode::Durable] {
                conforms(&maker, sync).unwrap_or_else(|error| panic!("{}, {sync:?}: {error}", maker.name));
            }
        }
    }
}
