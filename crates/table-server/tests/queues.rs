//! The service of queues, asked without sockets.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test fails by a panic")]

#[path = "queues/access.rs"]
mod access;
#[path = "queues/client.rs"]
mod client;
#[path = "queues/messages.rs"]
mod messages;
#[path = "queues/misuse.rs"]
mod misuse;
#[path = "queues/of_queues.rs"]
mod of_queues;
#[path = "queues/programs.rs"]
mod programs;
#[path = "support/signing.rs"]
mod signing;
