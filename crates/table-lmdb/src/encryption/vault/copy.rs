//! Copying the keys beside a copy of the data.

use std::fs;
use std::path::Path;

use table_engine::crypt::files;
use table_engine::error::{Error, ErrorKind, Result};

use super::key_store::{PATIENCE, no_keys, without_end};
use super::record::{META, Meta};
use super::{DIRECTORY, change, root};
use crate::lmdb;
use crate::open::aux_env::{self, Access, AuxEnv};
use crate::open::{self, has_data};

/// Copies the keys of the store in this directory, if it has any, into a copy of it. They stay wrapped, so it takes
/// no provider.
///
/// To be called after the data are copied. A key is durable before the first value that needs it, so the keys of that
/// moment are all that the copied data need.
///
/// Data that were copied before they said that they have keys would not open beside keys that are in use.
pub(crate) fn copy_to(store: &Path, copy: &Path, access: impl Into<Access>, were_noted: bool) -> Result<()> {
    let (from, to) = (store.join(DIRECTORY), copy.join(DIRECTORY));
    if !has_data(&from)? {
        return Ok(());
    }
    let access = Access { create: false, ..access.into() };
    let side = aux_env::open(&from, access, Meta::number_of, |_| Ok(Vec::new()))?;
    for _ in 0..PATIENCE {
        let (root, is_new) = root(&side)?;
        if !were_noted && !is_new {
            return Err(Error::new(ErrorKind::NotGenuine).because(
                "the store has keys that are in use, and its data did not say so when they were copied: the keys were made \
                 meanwhile, so copy it again; or somebody without the keys has changed the data",
            ));
        }
        let copied = copy_once(&side, root, &to);
        // A key that was copied while the root key was renewed may lie under either.
        if self::root(&side)?.0 == root {
            return copied;
        }
        fs::remove_dir_all(&to).map_err(|error| files::failed("removing", &to, error))?;
    }
    Err(without_end())
}

/// Returns the number of the root key, and whether the keys are new.
fn root(side: &AuxEnv) -> Result<(u64, bool)> {
    let txn = side.read_txn()?;
    let meta = side.db.get(&txn, META).map_err(lmdb::error)?;
    let meta = meta.map_or_else(|| Err(no_keys(&side.path)), Meta::decode)?;
    change::check_commit(&side.path, &meta, &txn)?;
    Ok((meta.root, meta.is_new))
}

fn copy_once(side: &AuxEnv, root: u64, to: &Path) -> Result<()> {
    fs::create_dir_all(to).map_err(|error| files::failed("making", to, error))?;
    let from = root::path(&side.path, root);
    let bytes = files::read(&from)?.ok_or_else(|| root::missing(&from))?;
    files::create_named(&root::path(to, root), &bytes)?;
    open::copy_with(&side.env, to, |record| Meta::decode(record).map(|meta| meta.transaction), |_| Ok(()))
}
