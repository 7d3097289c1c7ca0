//! Parts of pages that show a kind: its chart, its access patterns, what its changes write, its indexes, advice.

mod advice;
mod chart;
mod indexes;
mod numbers;
mod patterns;
mod sample;
mod section;
mod writes;

#[cfg(feature = "studio")]
pub(super) use self::advice::index_for;
pub(super) use self::chart::chart;
pub(super) use self::numbers::{bytes, count};
pub(super) use self::sample::Sample;
pub(super) use self::section::section;
