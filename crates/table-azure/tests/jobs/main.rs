//! Jobs on a table of the service: indexes that come and go, and versions of rows, beside processes that go by what they have
//! read of their states for as long as a lease.

#![expect(clippy::unwrap_used, reason = "helpers of tests, outside their functions")]

mod beside;
mod broken_off;
mod refused;
mod releases;
#[cfg(feature = "encrypt")]
mod resealed;
#[path = "../support/server.rs"]
mod server;
mod versions;

use std::hash::BuildHasher;
use std::sync::OnceLock;
use std::time::Duration;

use table_azure::{AzureOptions, AzureTables};

use self::server::Own;

/// The lease of the tables of a test.
const LEASE: Duration = Duration::from_millis(100);

/// Tables that several programs share, each by a handle of its own.
struct Shared {
    connection: String,
    prefix: String,
}

impl Shared {
    /// Makes tables on the emulator that `TABLE_AZURE_EMULATOR` names, else on the project's own server.
    fn new() -> Self {
        static SERVER: OnceLock<Own> = OnceLock::new();
        let own = || server::connection(SERVER.get_or_init(Own::start).address);
        let connection = std::env::var("TABLE_AZURE_EMULATOR").unwrap_or_else(|_| own());
        let chance = std::collections::hash_map::RandomState::new().hash_one(0);
        let run = std::env::var("TABLE_AZURE_PREFIX").unwrap_or_default();
        Self { connection, prefix: format!("{run}J{:010x}", chance >> 24) }
    }

    fn options(&self) -> AzureOptions {
        AzureOptions::new().prefix(&self.prefix).lease(LEASE)
    }

    /// Connects as another program does.
    fn connect(&self) -> AzureTables {
        self.options().connect(&self.connection).unwrap()
    }
}
