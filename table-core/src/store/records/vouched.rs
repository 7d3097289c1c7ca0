//! Tables whose kinds seal or sign: a keyed digest vouches for the records that say so.
//!
//! The record of such a table in the catalog carries a digest of its name, its identity, its number, and the layouts of
//! those kinds. The store's own record carries one of the set of such tables. Without the keys nobody can exchange two
//! tables, make a table forget that something in it is sealed, or make one vanish from those that are verified. A process
//! with the keys compares the digests whenever the catalog's generation has moved.

use super::catalog::{self, Entry};
use super::layouts;
use super::meta::Meta;
use crate::error::{Error, ErrorKind, Result};
use crate::row::vault::Authority;
use crate::store::lmdb::{Databases, WriteTxn};

/// The labels of a table's digest, and of the digest of the set of tables.
const TABLE: &str = "table";
const TABLES: &str = "tables";

/// Bytes of either digest.
pub(crate) const DIGEST: usize = 16;

/// The digest that a table's record is to carry; `None` if none of its kinds seals or signs.
fn of_table(
    dbs: &Databases,
    txn: &heed::RoTxn<'_>,
    (store, authority): (&[u8; 16], &dyn Authority),
    entry: &Entry,
) -> Result<Option<[u8; DIGEST]>> {
    let layouts = layouts::vouched(dbs, txn, entry.id)?;
    if layouts.is_empty() {
        return Ok(None);
    }
    let number = entry.id.to_le_bytes();
    let mut parts: Vec<&[u8]> = vec![store, &entry.identity, &number, entry.name.as_bytes()];
    for (kind, layout) in &layouts {
        parts.extend([kind.as_bytes(), layout.as_bytes()]);
    }
    Ok(Some(authority.digest(TABLE, &parts)))
}

/// The digest of the tables that carry one.
pub(crate) fn of_tables(store: &[u8; 16], authority: &dyn Authority, entries: &[Entry]) -> [u8; DIGEST] {
    let mut identities: Vec<&[u8]> = entries
        .iter()
        .filter(|entry| entry.digest.is_some())
        .map(|entry| entry.identity.as_slice())
        .collect();
    identities.sort_unstable();
    identities.insert(0, store);
    authority.digest(TABLES, &identities)
}

/// Verifies the set of tables that are vouched for.
pub(crate) fn verify_tables(
    dbs: &Databases,
    txn: &heed::RoTxn<'_>,
    meta: &Meta,
    authority: &dyn Authority,
) -> Result<()> {
    let entries = catalog::list(dbs, txn, meta)?;
    if of_tables(&meta.identity, authority, &entries) == meta.vouched {
        return Ok(());
    }
    Err(Error::new(ErrorKind::NotGenuine).because(
        "the tables that hold sealed or signed rows are not those that the store's keys vouch for: somebody without the \
         keys has changed the catalog",
    ))
}

/// Verifies a table's record and the layouts of its kinds.
pub(crate) fn verify_table(
    dbs: &Databases,
    txn: &heed::RoTxn<'_>,
    meta: &Meta,
    authority: &dyn Authority,
    entry: &Entry,
) -> Result<()> {
    if of_table(dbs, txn, (&meta.identity, authority), entry)? == entry.digest {
        return Ok(());
    }
    let error = Error::new(ErrorKind::NotGenuine).because(
        "the table's record, or the layout of a kind that seals or signs, is not one that the store's keys vouch for: \
         somebody without the keys has changed or exchanged it",
    );
    Err(error.table(&entry.name))
}

/// Vouches for a table as it is now, and for the set with it.
pub(crate) fn vouch(
    dbs: &Databases,
    txn: &mut WriteTxn<'_>,
    meta: &mut Meta,
    authority: &dyn Authority,
    entry: &Entry,
) -> Result<()> {
    let digest = of_table(dbs, txn, (&meta.identity, authority), entry)?;
    if digest != entry.digest {
        catalog::rewrite(dbs, txn, meta, entry, &Entry { digest, ..entry.clone() })?;
        vouch_set(dbs, txn, meta, authority)?;
    }
    Ok(())
}

/// Vouches for the set of tables as it is now.
pub(crate) fn vouch_set(
    dbs: &Databases,
    txn: &WriteTxn<'_>,
    meta: &mut Meta,
    authority: &dyn Authority,
) -> Result<()> {
    let entries = catalog::list(dbs, txn, meta)?;
    meta.vouched = of_tables(&meta.identity, authority, &entries);
    Ok(())
}
