//! The binary as a process: what it prints, how it ends, and that it loses nothing that it has acknowledged.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by a panic"
)]

mod client;
mod ends;
mod keys;
mod load;
mod logs;
mod queues;
mod running;
#[path = "../support/signing.rs"]
mod signing;
mod starts;
#[cfg(feature = "tls")]
mod tls;
