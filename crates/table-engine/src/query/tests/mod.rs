//! Tests of several files together.

mod meaning;
mod narrowing;
pub(crate) mod ranges;
mod strategies;
mod text;
