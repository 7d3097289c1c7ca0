//! The note that a store has keys. It lies with the data, so that lost keys are told from keys that never were.
//!
//! The keys are made first, and the note is durable before anybody gets them. So every sealed value, and every digest,
//! stands in a store that says it has keys. After a crash between the two, the next opening makes the note.

use super::{DIRECTORY, Encryption};
use crate::crypt::mac::MacKey;
use crate::error::{Error, ErrorKind, Result};
use crate::store::lmdb::{self, Databases, WriteTxn};
use crate::store::open::{Environment, has_data};
use crate::store::records::features::Feature;
use crate::store::records::meta::Meta;
use crate::store::records::{catalog, vouched};

/// Opens the keys of a store that is opened with a provider, and makes them if it has none.
pub(in crate::store) fn open(environment: &Environment) -> Result<Option<Encryption>> {
    let options = &environment.options;
    let Some(provider) = &options.encryption else { return Ok(None) };
    let meta = read(environment)?;
    let is_noted = meta.features.has(Feature::Sealed);
    let has_keys = has_data(&environment.path.join(DIRECTORY));
    if is_noted && !options.new_keys && !has_keys {
        return Err(missing(environment).and(
            " (or, if what is sealed may be lost for ever, open the store with `OpenOptions::new_keys`)",
        ));
    }
    let keys = Encryption::open_keys(&environment.path, options, meta.identity, provider.0.clone())?;
    if !options.read_only && (!is_noted || !has_keys) {
        note(environment, keys.authority()?)?;
    }
    Ok(Some(keys))
}

fn read(environment: &Environment) -> Result<Meta> {
    let txn = environment.read_txn()?;
    Meta::read(environment.dbs.main, &txn)
}

/// Notes durably, whatever the store's level, that it has keys, and has them vouch for what it says of sealing. That is
/// nothing as yet, unless the keys take the place of lost ones.
fn note(environment: &Environment, authority: &MacKey) -> Result<()> {
    let note = || {
        let mut txn = environment.write_txn()?;
        let mut meta = Meta::begin(environment.dbs.main, &txn)?;
        let before = meta;
        meta.features.set(Feature::Sealed);
        vouch_all(&environment.dbs, &mut txn, &mut meta, authority)?;
        if meta != before {
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

/// Vouches for everything as it is: by keys that are new, for who says that the former ones are lost.
fn vouch_all(dbs: &Databases, txn: &mut WriteTxn<'_>, meta: &mut Meta, authority: &MacKey) -> Result<()> {
    for entry in catalog::list(dbs, txn, meta)? {
        vouched::vouch(dbs, txn, meta, authority, &entry)?;
    }
    vouched::vouch_set(dbs, txn, meta, authority)
}
