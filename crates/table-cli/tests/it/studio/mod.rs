//! `tables studio`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test fails by a panic"
)]

mod browser;
mod changes;
mod elsewhere;
mod gate;
mod views;
