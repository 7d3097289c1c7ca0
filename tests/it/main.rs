//! Behaviour of the store, a module for each. What takes minutes is in `slow.rs`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::as_conversions,
    reason = "a test that fails panics"
)]

mod another_store;
mod architecture;
mod blind;
mod blobs;
mod by_layout;
mod canary;
mod changing;
mod concurrency;
mod conveniences;
mod copied;
mod cost;
mod damage;
mod derive;
mod documents;
mod elsewhere;
mod encrypting;
mod encryption;
mod errors;
mod eventual;
mod executors;
mod format;
mod guide;
mod hygiene;
mod jobs;
mod json;
mod layouts;
mod limits;
mod lints;
mod lists;
mod operations;
mod pairs;
mod periods;
mod queries;
mod queues;
mod ranges;
mod reads;
mod references;
mod refusals;
mod root;
mod sealed;
mod series;
mod sets;
mod shapes;
mod signed;
mod space;
mod suggestions;
mod summaries;
mod tables;
mod tampering;
mod temporary;
mod time;
mod transactions;
mod types;
mod values;
mod verify;
mod web;
mod wide;
mod writes;
