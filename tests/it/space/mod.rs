//! What a store's file is used for, and what becomes of it.

mod compact;
mod read_only;
mod stats;

/// The program whose roles other processes play.
const PROGRAM: &str = env!("CARGO_BIN_EXE_crash-child");
