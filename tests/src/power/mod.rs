//! Power failures: a process is recorded, and a disk that forgets what was not flushed shows what could be left of its
//! work at any moment.
//!
//! 1. `power-child record` does some [work](Work) with the recorder preloaded.
//! 2. A [`disk::Disk`] follows the [`log`], and at many of its places makes an [image](images).
//! 3. `power-child verify` opens each image twice and compares it with what the process had acknowledged by then.

pub mod batches;
mod begun;
mod blobs;
mod checked;
pub mod compact;
pub mod copies;
pub mod creation;
pub mod disk;
pub mod file;
pub mod images;
pub mod log;
pub mod mixed;
pub mod plain;
mod reclaimed;
mod rolls;
pub mod run;
mod scans;
pub mod sealed;
mod shapes;

use std::path::Path;

use table_core::Durability;

/// What was acknowledged before the power went, in order.
pub type Acks<'a> = &'a [String];

/// What a recorded process does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Several threads write, make tables and drop them.
    Batches(Durability),
    /// One thread writes, and goes on when it is refused something.
    Plain(Durability),
    /// Sealed values are written, keys rotated, values sealed anew and old keys destroyed.
    Sealed(Durability),
    /// Stores are made.
    Creation,
    /// A store is copied while it changes.
    Copies,
    /// One thread writes, and compacts the store in between.
    Compact(Durability),
    /// Indexes are made and dropped by steps, and messages sent and dealt with.
    Begun(Durability),
    /// Blobs are put, in stages and at once, appended to, held by rows and removed, and a log written.
    Blobs(Durability),
    /// Sealed blobs are held by rows and removed, and keys rotated and destroyed.
    Scans(Durability),
    /// Index lists go from their rows into blobs, and back.
    Rolls(Durability),
    /// Periods come and go, copies follow, summaries and copies of other entities are kept, and entities converted.
    Shapes(Durability),
    /// A little of all, by one thread that goes on when it is refused something.
    Mixed(Durability),
    /// A store with keys, which is there already, is opened and checked, and what came of it is said.
    Checked,
    /// A table of a store that is there already is dropped, and others are read until its space is free.
    Reclaimed,
}

impl Work {
    /// By the words that a child is given.
    pub fn parse(words: &str) -> Option<Self> {
        let (name, level) = words.split_once(' ').unwrap_or((words, "durable"));
        let level = if level == "relaxed" { Durability::Relaxed } else { Durability::Durable };
        Some(match name {
            "batches" => Self::Batches(level),
            "plain" => Self::Plain(level),
            "sealed" => Self::Sealed(level),
            "creation" => Self::Creation,
            "copies" => Self::Copies,
            "compact" => Self::Compact(level),
            "begun" => Self::Begun(level),
            "blobs" => Self::Blobs(level),
            "scans" => Self::Scans(level),
            "rolls" => Self::Rolls(level),
            "shapes" => Self::Shapes(level),
            "mixed" => Self::Mixed(level),
            "checked" => Self::Checked,
            "reclaimed" => Self::Reclaimed,
            _ => return None,
        })
    }

    /// Makes what has to be there before it, unrecorded.
    pub fn prepare(self, root: &Path) {
        match self {
            Self::Checked => checked::prepare(root),
            Self::Reclaimed => reclaimed::prepare(root),
            _ => {}
        }
    }

    /// Does it in a directory.
    pub fn run(self, root: &Path, seed: u64) {
        match self {
            Self::Batches(level) => batches::run(root, level, seed),
            Self::Plain(level) => plain::run(root, level, seed),
            Self::Sealed(level) => sealed::run(root, level),
            Self::Creation => creation::run(root),
            Self::Copies => copies::run(root),
            Self::Compact(level) => compact::run(root, level, seed),
            Self::Begun(level) => begun::run(root, level),
            Self::Blobs(level) => blobs::run(root, level),
            Self::Scans(level) => scans::run(root, level),
            Self::Rolls(level) => rolls::run(root, level),
            Self::Shapes(level) => shapes::run(root, level),
            Self::Mixed(level) => mixed::run(root, level, seed),
            Self::Checked => checked::run(root),
            Self::Reclaimed => reclaimed::run(root),
        }
    }

    /// Looks at what is left of it. Gives how many commits that were acknowledged are lost, as a relaxed store may lose
    /// the last; an error says what else is wrong.
    pub fn verify(self, root: &Path, acks: Acks<'_>, seed: u64) -> Result<u64, String> {
        match self {
            Self::Batches(level) => batches::verify(root, level, seed, acks),
            Self::Plain(level) | Self::Compact(level) => plain::verify(root, level, seed, acks),
            Self::Sealed(level) => sealed::verify(root, level, acks),
            Self::Creation => creation::verify(root, acks),
            Self::Copies => copies::verify(root, acks),
            Self::Begun(level) => begun::verify(root, level, acks),
            Self::Blobs(level) => blobs::verify(root, level, acks),
            Self::Scans(level) => scans::verify(root, level, acks),
            Self::Rolls(level) => rolls::verify(root, level, acks),
            Self::Shapes(level) => shapes::verify(root, level, acks),
            Self::Mixed(level) => mixed::verify(root, level, seed, acks),
            Self::Checked => checked::verify(root),
            Self::Reclaimed => reclaimed::verify(root, acks),
        }
    }
}

/// The text of what went wrong.
pub fn wrong(what: &str, error: impl std::fmt::Display) -> String {
    format!("{what}: {error}")
}
