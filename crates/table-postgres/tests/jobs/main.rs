//! Jobs on PostgreSQL: indexes that come and go beside writers in several handles, as several processes have them, conversions
//! of versions, and jobs that another handle goes on with.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test that fails panics"
)]

mod cached;
mod elsewhere;
mod migrated;
mod refused;
mod releases;
#[cfg(feature = "encrypt")]
mod resealed;
mod resumed;
#[path = "../support/mod.rs"]
mod support;
mod transitions;
