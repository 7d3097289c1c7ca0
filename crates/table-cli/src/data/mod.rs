//! Data in and out: entities in files, and from one store to another.

pub(crate) mod blobs;
pub(crate) mod compare;
pub(crate) mod containers;
pub(crate) mod copy;
pub(crate) mod copy_journal;
pub(crate) mod counts;
pub(crate) mod digest;
pub(crate) mod export;
pub(crate) mod files;
pub(crate) mod form;
pub(crate) mod import;
pub(crate) mod journal;
pub(crate) mod journal_file;
pub(crate) mod kinds;
pub(crate) mod load;
pub(crate) mod manifest;
pub(crate) mod notes;
pub(crate) mod open;
pub(crate) mod place;
pub(crate) mod pull;
pub(crate) mod queues;
pub(crate) mod read;
pub(crate) mod reject;
pub(crate) mod scan;
mod text;
pub(crate) mod whole;
mod write;

use table_core::{Error, ErrorKind};

use crate::failure::Failure;

/// Returns the failure of a command that has done what it could, and refuses the rest in these words.
pub(crate) fn refused(kind: ErrorKind, text: String) -> Failure {
    Failure::Store(Error::new(kind).because(text))
}
