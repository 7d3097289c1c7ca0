//! What [`lmdb_verify`] finds wrong, in this crate's errors.

use std::path::Path;

use lmdb_verify::{Cause, Foreign};
use table_engine::error::{Error, ErrorKind};

use super::{damaged_page, error, io_error};

/// What is to be done about a store that can't be written to by what is damaged.
const SALVAGE: &str = "take the store from a backup, or copy what can be read by `Store::copy_to`";

/// Returns the error of a page in the map, or of an entry on one, as one of this crate.
#[cold]
pub(crate) fn damage(found: lmdb_verify::Error) -> Error {
    let corrupt = |because| Error::new(ErrorKind::Corrupt).because(because);
    match found.into_cause() {
        Cause::Page => damaged_page(),
        Cause::Lmdb(refused) => error(refused),
        Cause::Unread(unread) => io_error(unread),
        Cause::Entry(refused) => match refused.downcast::<Error>() {
            Ok(refused) => *refused,
            Err(other) => corrupt(other.to_string()),
        },
        Cause::FreeList => corrupt(format!(
            "the list of free pages is damaged, and a write by it could overwrite what is in use; {SALVAGE}"
        )),
        Cause::Database(name) => corrupt(format!(
            "a page of LMDB's database `{name}` is damaged, and a write could lose what is on it; {SALVAGE}"
        )),
        other => corrupt(lmdb_verify::Error::from(other).to_string()),
    }
}

/// Returns the error of a data file as one of this crate. `advice` goes on behind what is wrong with the file.
#[cold]
pub(crate) fn file_damage(found: lmdb_verify::Error, data: &Path, advice: &str) -> Error {
    let path = data.display();
    let corrupt = |what: &str| Error::new(ErrorKind::Corrupt).because(format!("`{path}` {what}{advice}"));
    match found.into_cause() {
        Cause::Unread(error) => {
            let because = format!("reading `{path}`: {error}");
            io_error(error).because(because)
        }
        Cause::Foreign(foreign) => {
            let what = match foreign {
                Foreign::Empty => ", so no store; remove it to have a store made there",
                Foreign::NotLmdb => ", so no store",
                Foreign::Format(_) => "",
            };
            Error::new(ErrorKind::Incompatible).because(format!("`{path}` {foreign}{what}{advice}"))
        }
        Cause::FirstLeaf => corrupt("is damaged: the way to the store's own record leads nowhere"),
        Cause::File { what, .. } => corrupt(&what),
        other => damage(other.into()),
    }
}

/// Returns the error of an entry, as checks of entries hand it to [`lmdb_verify`]. [`damage`] gives it back.
#[cold]
pub(crate) fn entry_error(error: Error) -> lmdb_verify::Error {
    lmdb_verify::Error::entry(error)
}
