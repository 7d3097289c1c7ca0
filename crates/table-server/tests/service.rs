//! The service, asked without sockets.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::format_push_string,
    clippy::format_collect,
    clippy::type_complexity,
    reason = "a test fails by a panic, and need not be quick"
)]

#[path = "service/account.rs"]
mod account;
#[path = "service/batches.rs"]
mod batches;
#[path = "service/client.rs"]
mod client;
#[path = "service/entities.rs"]
mod entities;
#[path = "service/kinds.rs"]
mod kinds;
#[path = "service/misuse.rs"]
mod misuse;
#[path = "service/recorded.rs"]
mod recorded;
#[path = "service/sas_batches.rs"]
mod sas_batches;
#[path = "service/sas_matrix.rs"]
mod sas_matrix;
#[path = "service/sas_tokens.rs"]
mod sas_tokens;
#[path = "support/signing.rs"]
mod signing;
#[path = "service/storm.rs"]
mod storm;
#[path = "service/stormy.rs"]
mod stormy;
#[path = "service/tables.rs"]
mod tables;
