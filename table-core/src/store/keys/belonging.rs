//! That a store has keys: noted with its data, so that keys which are lost are told from keys that never were.
//!
//! The keys are made first, and the note is durable before anybody gets them: so what is sealed, or vouched for, stands in
//! a store that says so. Where a crash came between, the next opening notes it.

use super::{DIRECTORY, Encryption};
use crate::error::{Error, ErrorKind, Result};
use crate::store::lmdb;
use crate::store::open::{Environment, has_data};
use crate::store::records::features::Feature;
use crate::store::records::meta::Meta;

/// Opens the keys of a store that is opened with a provider, and makes them if it has none.
pub(in crate::store) fn open(environment: &Environment, meta: &Meta) -> Result<Option<Encryption>> {
    let options = &environment.options;
    let Some(provider) = &options.encryption else { return Ok(None) };
    let is_noted = meta.features.has(Feature::Sealed);
    if is_noted && !options.new_keys && !has_data(&environment.path.join(DIRECTORY)) {
        return Err(missing(environment).and(
            " (or, if what is sealed may be lost for ever, open the store with `OpenOptions::new_keys`)",
        ));
    }
    let keys = Encryption::open_keys(&environment.path, options, meta.identity, provider.0.clone())?;
    // Who only reads seals nothing.
    if !is_noted && !options.read_only {
        note(environment)?;
    }
    Ok(Some(keys))
}

fn read(environment: &Environment) -> Result<Meta> {
    let txn = environment.read_txn()?;
    Meta::read(environment.dbs.main, &txn)
}

/// Notes durably, whatever the store's level, that it has keys.
fn note(environment: &Environment) -> Result<()> {
    let note = || {
        let mut txn = environment.write_txn()?;
        let mut meta = Meta::begin(environment.dbs.main, &txn)?;
        if !meta.features.has(Feature::Sealed) {
            meta.features.set(Feature::Sealed);
            meta.write(environment.dbs.main, &mut txn)?;
            environment.commit(txn)?;
        }
        // Also what another process has committed this moment.
        environment.env.force_sync().map_err(lmdb::error)
    };
    note().map_err(|error| environment.refusal(error))
}

/// What is wrong if the data say that there are keys, and there are none.
pub(super) fn check(environment: &Environment) -> Result<()> {
    let lost =
        read(environment)?.features.has(Feature::Sealed) && !has_data(&environment.path.join(DIRECTORY));
    if lost { Err(missing(environment)) } else { Ok(()) }
}

#[cold]
fn missing(environment: &Environment) -> Error {
    Error::new(ErrorKind::KeyUnavailable).because(format!(
        "the store's values are sealed, and its keys are missing at `{}`; take that directory from a backup",
        environment.path.join(DIRECTORY).display()
    ))
}
