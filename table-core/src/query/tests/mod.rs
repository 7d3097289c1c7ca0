//! Tests of several files together.

mod meaning;
mod narrowing;
mod strategies;
mod text;
