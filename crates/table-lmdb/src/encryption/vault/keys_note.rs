//! The note that a store has keys. It lies with the data, so that lost keys are told from keys that never were.
//!
//! The keys are made first, and the note is durable before any caller gets them. So every sealed value, and every
//! digest, stands in a store that says it has keys. Until the note is durable the keys are [new](super::new_keys), and
//! say so; after a crash in between, the next opening makes others in their place, and the note.
//!
//! Beside keys that are in use nothing is authenticated by an opening: a note that is missing there was taken away.

use table_engine::crypt::mac::MacKey;
use table_engine::error::{Error, ErrorKind, Result};

use super::key_store::{PATIENCE, without_end};
use super::new_keys::NewKeys;
use super::{DIRECTORY, Encryption};
use crate::lmdb::{self, Databases, WriteTxn};
use crate::open::{Environment, has_data};
use crate::records::features::Feature;
use crate::records::meta::Meta;
use crate::records::{authenticated, catalog};

/// Opens the keys of a store that is opened with a provider, and makes them if it has none.
pub(crate) fn open(environment: &Environment) -> Result<Option<Encryption>> {
    let options = &environment.options;
    let Some(provider) = &options.encryption else { return Ok(None) };
    let identity = {
        let txn = environment.read_txn()?;
        let meta = Meta::read(environment.dbs.main, &txn)?;
        let has_keys = has_data(&environment.path.join(DIRECTORY))?;
        if !has_keys && !options.new_keys && is_sealed(&environment.dbs, &txn, &meta)? {
            return Err(lost(environment));
        }
        meta.identity
    };
    for _ in 0..PATIENCE {
        let keys = Encryption::open_keys(&environment.path, options, identity, provider.0.clone())?;
        if belong(environment, &keys)? {
            return Ok(Some(keys));
        }
    }
    Err(without_end())
}

/// Returns whether the store says that it has keys.
pub(crate) fn are_noted(environment: &Environment) -> Result<bool> {
    read(environment).map(|meta| meta.features.has(Feature::Sealed))
}

fn read(environment: &Environment) -> Result<Meta> {
    let txn = environment.read_txn()?;
    Meta::read(environment.dbs.main, &txn)
}

/// Returns whether the data say that they have keys, or hold what takes some.
fn is_sealed(dbs: &Databases, txn: &heed::RoTxn<'_>, meta: &Meta) -> Result<bool> {
    Ok(meta.features.has(Feature::Sealed) || authenticated::is_any(dbs, txn, meta)?)
}

/// Makes sure that data and keys belong together; `false` if the keys have been replaced and are to be opened again.
fn belong(environment: &Environment, keys: &Encryption) -> Result<bool> {
    let vault = &keys.vault;
    let Some(root) = vault.new_under() else {
        // The process whose keys are new no longer has noted them before.
        return if are_noted(environment)? { Ok(true) } else { Err(unnoted()) };
    };
    if environment.options.read_only {
        let txn = environment.read_txn()?;
        let meta = Meta::read(environment.dbs.main, &txn)?;
        let is_finished = is_authenticated(environment, &txn, &meta, keys.authenticator()?)?;
        return if is_finished { Ok(true) } else { Err(unfinished()) };
    }
    // Keys that this opening has made are known to be new. The provider is asked while no lock is held.
    let spare =
        (vault.made != Some(root)).then(|| NewKeys::make(&vault.identity, &*vault.provider)).transpose()?;
    note(environment, keys, root, spare).map_err(|error| environment.refusal(error))
}

/// Notes durably, whatever the store's level, that the store has these keys, which are new, and has them authenticate
/// what it says of sealing. That is nothing as yet, unless the keys take the place of lost ones.
fn note(environment: &Environment, keys: &Encryption, root: u64, spare: Option<NewKeys>) -> Result<bool> {
    let (dbs, vault) = (&environment.dbs, &keys.vault);
    let mut txn = environment.write_txn()?;
    // A process that replaces or notes them holds the lock of the data, too.
    if vault.new_root()? != Some(root) {
        return Ok(false);
    }
    let mut meta = Meta::begin(dbs.main, &txn)?;
    let mut replaced = None;
    if is_authenticated(environment, &txn, &meta, keys.authenticator()?)? {
        drop(txn);
    } else {
        if !environment.options.new_keys && is_sealed(dbs, &txn, &meta)? {
            return Err(lost(environment));
        }
        replaced = spare.map(|spare| vault.replace(root, spare)).transpose()?;
        let authenticator = replaced.as_ref().map_or_else(|| keys.authenticator(), Ok)?;
        meta.features.set(Feature::Sealed);
        authenticate_all(dbs, &mut txn, &mut meta, authenticator)?;
        meta.write(dbs.main, &mut txn)?;
        environment.commit(txn)?;
    }
    // Also what another process has committed this moment.
    environment.env.force_sync().map_err(lmdb::error)?;
    vault.settle()?;
    Ok(replaced.is_none())
}

/// Returns whether the data say that they have keys, and these are the ones that authenticate them.
fn is_authenticated(
    environment: &Environment,
    txn: &heed::RoTxn<'_>,
    meta: &Meta,
    authenticator: &MacKey,
) -> Result<bool> {
    if !meta.features.has(Feature::Sealed) {
        return Ok(false);
    }
    match authenticated::verify_tables(&environment.dbs, txn, meta, authenticator) {
        Err(error) if error.kind() == ErrorKind::NotGenuine => Ok(false),
        verified => verified.map(|()| true),
    }
}

/// Refuses data that say that there are keys if there are none, and keys in use of which the data don't say.
pub(super) fn check(environment: &Environment, has_used_keys: bool) -> Result<()> {
    match (are_noted(environment)?, has_used_keys) {
        (true, false) if !has_data(&environment.path.join(DIRECTORY))? => Err(missing(environment)),
        (false, true) => Err(unnoted()),
        _ => Ok(()),
    }
}

#[cold]
fn missing(environment: &Environment) -> Error {
    Error::new(ErrorKind::KeyUnavailable).because(format!(
        "the store's values are sealed, and its keys are missing at `{}`; take that directory from a backup",
        environment.path.join(DIRECTORY).display()
    ))
}

#[cold]
fn lost(environment: &Environment) -> Error {
    missing(environment)
        .and(" (or, if what is sealed may be lost for ever, open the store with `OpenOptions::new_keys`)")
}

#[cold]
fn unnoted() -> Error {
    Error::new(ErrorKind::NotGenuine).because(
        "the store's keys are in use, and its data do not say that they have any: somebody without the keys has changed the \
         data, or the data are older than the keys; take both from one backup, or move the directory of the keys away if \
         nothing in these data was ever sealed or signed",
    )
}

#[cold]
fn unfinished() -> Error {
    Error::new(ErrorKind::KeyUnavailable).because(
        "the store's keys were being made when the process that made them ended, or are being made now; open the store for \
         writing once",
    )
}

/// Authenticates everything as it is, by keys that are new: nothing seals or signs, or the options of the opening say
/// that the former keys are lost.
fn authenticate_all(
    dbs: &Databases,
    txn: &mut WriteTxn<'_>,
    meta: &mut Meta,
    authenticator: &MacKey,
) -> Result<()> {
    for entry in catalog::list(dbs, txn, meta)? {
        authenticated::authenticate(dbs, txn, meta, authenticator, &entry)?;
    }
    authenticated::authenticate_set(dbs, txn, meta, authenticator)
}
