//! What every backend must do, over this project's own server, and over an emulator where there is one.

#![expect(clippy::unwrap_used, reason = "helpers of tests, outside their functions")]

#[path = "support/server.rs"]
mod server;

use std::hash::BuildHasher;
use std::sync::OnceLock;

use table_azure::{AzureOptions, AzureTables};

use self::server::Own;

/// Returns tables of a name's own on the project's own server, of which a program has one.
fn on_own() -> AzureTables {
    static SERVER: OnceLock<Own> = OnceLock::new();
    prefixed(&server::connection(SERVER.get_or_init(Own::start).address))
}

/// Returns tables of a name's own on the emulator that `TABLE_AZURE_EMULATOR` is the connection string of; `None` without it.
fn on_emulator() -> Option<AzureTables> {
    std::env::var("TABLE_AZURE_EMULATOR").ok().map(|connection| prefixed(&connection))
}

/// Returns tables whose names begin as no others do: many tests share one server. `TABLE_AZURE_PREFIX` stands before that.
fn prefixed(connection: &str) -> AzureTables {
    let chance = std::collections::hash_map::RandomState::new().hash_one(0);
    let run = std::env::var("TABLE_AZURE_PREFIX").unwrap_or_default();
    let options = AzureOptions::new().prefix(&format!("{run}T{:010x}", chance >> 24));
    options.lease(std::time::Duration::from_millis(200)).connect(connection).unwrap()
}

mod over_the_own_server {
    table_conformance::conformance!(super::on_own().backend().clone());
}

/// What the emulator does otherwise than the service's documentation says, by the check that sees it.
const DIFFERENCES: [(&str, &str); 1] = [("every_value_comes_back", "it gives -0.0 back as 0")];

/// `TABLE_AZURE_EMULATOR` has the connection string of an emulator that listens: `cargo xtask test --azure` starts one.
#[test]
fn the_emulator_passes_what_every_backend_must() {
    if std::env::var_os("TABLE_AZURE_EMULATOR").is_none() {
        println!("NOT RUN: `TABLE_AZURE_EMULATOR` names no emulator");
        return;
    }
    let next = std::sync::atomic::AtomicUsize::new(0);
    let run = || {
        while let Some(check) =
            table_conformance::CHECKS.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed))
        {
            if let Some((_, why)) = DIFFERENCES.iter().find(|(name, _)| *name == check.name) {
                println!("left out: {}: {why}", check.name);
                continue;
            }
            println!("{}", check.name);
            (check.run)(on_emulator().unwrap().backend());
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(run);
        }
    });
}
