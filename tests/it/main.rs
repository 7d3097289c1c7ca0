//! Behaviour of the store, a module for each.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::as_conversions,
    reason = "a test that fails panics"
)]

mod architecture;
mod blind;
mod canary;
mod concurrency;
mod copies;
mod crash;
mod damage;
mod derive;
mod encrypting;
mod encryption;
mod errors;
mod faults;
mod hostile;
mod hygiene;
mod layouts;
mod limits;
mod lints;
mod model;
mod operations;
mod power;
mod queries;
mod ranges;
mod reads;
mod sealed;
mod sets;
mod signed;
mod space;
mod tables;
mod tampering;
mod temporary;
mod time;
mod values;
mod verify;
mod writes;
