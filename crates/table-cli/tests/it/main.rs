//! The command line, as it is called.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::needless_raw_string_hashes,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    unreachable_pub,
    reason = "what a test can't make fails it, and snapshots are written so"
)]

#[cfg(feature = "azure")]
#[path = "../../../table-azure/tests/support/server.rs"]
mod azure_server;
#[path = "../../examples/company/fill.rs"]
mod fill;
#[path = "../../examples/company/kinds.rs"]
mod kinds;

mod beside;
mod blobs;
mod by_layout;
mod check;
mod copy;
mod copy_whole;
mod design;
mod edit;
#[cfg(any(feature = "azure", feature = "postgres"))]
mod elsewhere;
mod explain;
mod export;
mod fixture;
mod get;
mod help;
mod import;
mod jobs;
mod keys;
mod ls;
mod maintain;
mod newcomer;
#[cfg(feature = "azure")]
mod on_azure;
#[cfg(feature = "postgres")]
mod on_postgres;
#[cfg(feature = "parquet")]
mod parquet;
mod progress;
mod query;
mod queues;
mod resume;
mod resume_copy;
mod run;
mod sample;
mod schema;
mod sealed;
#[cfg(feature = "serve")]
mod serve;
mod shell;
mod stats;
mod store;
#[cfg(feature = "studio")]
mod studio;
mod terminal;
mod untouched;
mod wide;
