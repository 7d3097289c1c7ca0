//! The command line, as it is called.

#![expect(clippy::needless_raw_string_hashes, reason = "snapshots are written so")]
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by a panic"
)]

#[path = "../../examples/company/fill.rs"]
mod fill;
#[path = "../../examples/company/kinds.rs"]
mod kinds;

mod beside;
mod blobs;
mod check;
mod edit;
mod explain;
mod fixture;
mod get;
mod help;
mod jobs;
mod keys;
mod design;
mod ls;
mod maintain;
mod query;
mod queues;
mod run;
mod schema;
mod shell;
mod stats;
mod untouched;
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    unreachable_pub,
    reason = "what a test can't make fails it"
)]

mod copy;
mod export;
mod import;
mod ls;
mod resume;
mod run;
mod sealed;
mod store;
mod sample;
#[cfg(feature = "serve")]
mod serve;
#[cfg(feature = "studio")]
mod studio;
