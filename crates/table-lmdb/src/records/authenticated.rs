//! Tables whose kinds seal or sign: a keyed digest authenticates the records that say so.
//!
//! The record of such a table in the catalog carries a digest of its name, its identity, its number, the layouts of
//! those kinds, and the numbers of the texts that say which rows are theirs. So these are numbered when the table is
//! authenticated. The store's own record carries one of the set of such tables. It takes the keys to exchange two
//! tables, to make a table forget that something in it is sealed, or to make one vanish from those that are verified. A
//! process with the keys compares the digests whenever the catalog's generation has moved.

use table_engine::error::{Error, ErrorKind, Result};
use table_engine::row::vault::Authenticator;

use table_engine::sorting;

use super::catalog::{self, Entry, RecordMac};
use super::meta::Meta;
use super::{kinds, layouts, names};
use crate::lmdb::{Databases, WriteTxn};

/// The labels of a table's digest, of one without the numbers of its kinds, and of the digest of the set of tables.
const NUMBERED: &str = "numbered table";
const TABLE: &str = "table";
const TABLES: &str = "tables";

/// Bytes of either digest.
pub(crate) const DIGEST: usize = 16;

/// The keys of a store, with the identity that its digests are bound to.
struct Signer<'s> {
    store: &'s [u8; 16],
    authenticator: &'s dyn Authenticator,
}

/// Returns the digest that a table's record is to carry; `None` if none of its kinds seals or signs.
fn of_table(
    dbs: &Databases,
    txn: &heed::RoTxn<'_>,
    signer: &Signer<'_>,
    entry: &Entry,
    has_numbers: bool,
) -> Result<Option<RecordMac>> {
    let Signer { store, authenticator } = *signer;
    let layouts = layouts::authenticated(dbs, txn, entry.id)?;
    if layouts.is_empty() {
        return Ok(None);
    }
    let number = entry.id.to_le_bytes();
    let mut parts: Vec<&[u8]> = vec![store, &entry.identity, &number, entry.name.as_bytes()];
    for (kind, layout) in &layouts {
        parts.extend([kind.as_bytes(), layout.as_bytes()]);
    }
    if !has_numbers {
        return Ok(Some(RecordMac { digest: authenticator.digest(TABLE, &parts), has_numbers }));
    }
    let symbols = names::symbols(dbs, txn, entry.id)?;
    let texts = texts(&layouts)?;
    let numbers: Vec<_> = texts.iter().map(|text| symbols.id(text).map(u16::to_le_bytes)).collect();
    for (text, number) in texts.iter().zip(&numbers) {
        // A text that came when all numbers were given out never gets one.
        parts.extend([text.as_bytes(), number.as_ref().map_or(&[], |number| &number[..])]);
    }
    Ok(Some(RecordMac { digest: authenticator.digest(NUMBERED, &parts), has_numbers }))
}

/// Returns the texts of `EntityType` on the rows of kinds, in the order of their layouts.
fn texts(layouts: &[(&str, &str)]) -> Result<Vec<Box<str>>> {
    let mut texts = Vec::new();
    for (kind, layout) in layouts {
        texts.extend(kinds::texts(layout, kind)?);
    }
    Ok(texts)
}

/// Gives numbers to the texts that say which rows are of the kinds that are authenticated.
fn number(dbs: &Databases, txn: &mut WriteTxn<'_>, table: u32) -> Result<()> {
    let texts = texts(&layouts::authenticated(dbs, txn, table)?)?;
    names::number_symbols(dbs, txn, table, &texts)
}

/// Returns the digest of the tables that carry one.
pub(crate) fn of_tables(
    store: &[u8; 16],
    authenticator: &dyn Authenticator,
    entries: &[Entry],
) -> [u8; DIGEST] {
    let mut identities: Vec<&[u8]> = entries
        .iter()
        .filter(|entry| entry.digest.is_some())
        .map(|entry| entry.identity.as_slice())
        .collect();
    sorting::sort(&mut identities);
    identities.insert(0, store);
    authenticator.digest(TABLES, &identities)
}

/// Returns whether something is authenticated, or would be: by a digest, or by a layout that seals or signs.
#[cfg(feature = "encrypt")]
pub(crate) fn is_any(dbs: &Databases, txn: &heed::RoTxn<'_>, meta: &Meta) -> Result<bool> {
    if meta.authenticated != [0; DIGEST] {
        return Ok(true);
    }
    for entry in catalog::list(dbs, txn, meta)? {
        if entry.digest.is_some() || !layouts::authenticated(dbs, txn, entry.id)?.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Verifies the set of tables that are authenticated.
pub(crate) fn verify_tables(
    dbs: &Databases,
    txn: &heed::RoTxn<'_>,
    meta: &Meta,
    authenticator: &dyn Authenticator,
) -> Result<()> {
    let entries = catalog::list(dbs, txn, meta)?;
    if of_tables(&meta.identity, authenticator, &entries) == meta.authenticated {
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
    authenticator: &dyn Authenticator,
    entry: &Entry,
) -> Result<()> {
    let has_numbers = entry.digest.is_none_or(|record_mac| record_mac.has_numbers);
    let signer = Signer { store: &meta.identity, authenticator };
    if of_table(dbs, txn, &signer, entry, has_numbers)? == entry.digest {
        return Ok(());
    }
    let error = Error::new(ErrorKind::NotGenuine).because(
        "the table's record, or the layout or the name of a kind that seals or signs, is not one that the store's keys vouch \
         for: somebody without the keys has changed or exchanged it",
    );
    Err(error.table(&entry.name))
}

/// Authenticates a table as it is now, and for the set with it.
pub(crate) fn authenticate(
    dbs: &Databases,
    txn: &mut WriteTxn<'_>,
    meta: &mut Meta,
    authenticator: &dyn Authenticator,
    entry: &Entry,
) -> Result<()> {
    number(dbs, txn, entry.id)?;
    let digest = of_table(dbs, txn, &Signer { store: &meta.identity, authenticator }, entry, true)?;
    if digest != entry.digest {
        catalog::rewrite(dbs, txn, meta, entry, &Entry { digest, ..entry.clone() })?;
        authenticate_set(dbs, txn, meta, authenticator)?;
    }
    Ok(())
}

/// Authenticates the set of tables as it is now.
pub(crate) fn authenticate_set(
    dbs: &Databases,
    txn: &WriteTxn<'_>,
    meta: &mut Meta,
    authenticator: &dyn Authenticator,
) -> Result<()> {
    let entries = catalog::list(dbs, txn, meta)?;
    meta.authenticated = of_tables(&meta.identity, authenticator, &entries);
    Ok(())
}

#[cfg(all(test, feature = "encrypt"))]
mod tests {
    use super::*;
    use crate::Store;
    use table_engine::DynamicEntity;
    use table_engine::crypt::key::SecretKey;
    use table_engine::crypt::mac::MacKey;

    /// Copies of the first hold what it seals. The second is of two rows, and signs all; nothing is authenticated of
    /// the third.
    const LAYOUTS: [(&str, &str); 3] = [
        (
            "patient",
            "version 2\npartition Ward:text\nrow \"patient_\" Id:u8:\"03\"\nproperty Ward String\nproperty Id Int32\n\
             property Name String\nproperty Ssn encrypted blind String\n\
             index by_name row \"name_\" Name:text copy all\nindex by_id row \"id_\" Id:u8 unique copy keys",
        ),
        (
            "account",
            "version 1\nsigned\npartition Bank:text\nrow Id:u32:\"06\"\nproperty Bank String\nproperty Id Int64\n\
             property Owner String\nproperty Balance Int64 part 1\nindex by_owner row \"owner_\" Owner:text copy all",
        ),
        ("note", "version 1\npartition \"all\"\nrow Id:u32\nproperty Id Int64\nproperty Text String"),
    ];

    /// The vectors were made by another program, from `docs/internals/format.md`.
    #[test]
    fn digests_of_tables_are_frozen() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path().join("store")).unwrap();
        // Some of the texts have their numbers already, which nothing but the rows' order has given them.
        let table = store.create_table("Clinic").unwrap();
        for text in ["note", "patient@2.by_id", "account"] {
            table.insert(&DynamicEntity::new("p", text).with("EntityType", text)).unwrap();
        }
        let environment = &store.shared().environment;
        let dbs = &environment.dbs;
        let mut txn = environment.write_txn().unwrap();
        let meta = Meta::begin(dbs.main, &txn).unwrap();
        let found = catalog::find(dbs, &txn, &meta, "Clinic").unwrap().unwrap();
        let entry = Entry { identity: *b"fedcba9876543210", ..found };
        assert_eq!(entry.id, 1);
        for (kind, layout) in LAYOUTS {
            layouts::put(dbs, &mut txn, entry.id, &layouts::read(layout, kind).unwrap()).unwrap();
        }
        number(dbs, &mut txn, entry.id).unwrap();
        let bytes: Vec<u8> = (0..32).collect();
        let key = MacKey::new(&SecretKey::from_slice(&bytes).unwrap());
        let store: &[u8; 16] = b"0123456789abcdef";
        let hex = |digest: [u8; DIGEST]| {
            digest.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
        };
        let signer = Signer { store, authenticator: &key };
        let of = |has_numbers| of_table(dbs, &txn, &signer, &entry, has_numbers).unwrap();
        let [numbered, former] = [true, false].map(of).map(Option::unwrap);
        assert!(numbered.has_numbers && !former.has_numbers);
        assert_eq!(hex(numbered.digest), "f3dc0299d8ad51cef3ba9d2945f0cc32");
        assert_eq!(hex(former.digest), "1b81ae4014d81d546fd221c9b4244c9a");
        // Of the set: what carries a digest, by its identity.
        let other = Entry { identity: *b"0000000000000001", name: "Bank".into(), id: 9, ..entry.clone() };
        let plain = Entry { digest: None, identity: *b"1111111111111111", ..other.clone() };
        let [entry, other] = [entry, other].map(|entry| Entry { digest: Some(numbered), ..entry });
        assert_eq!(hex(of_tables(store, &key, &[entry, plain, other])), "9556b4bc520f699f4929fef63e8e5382");
        assert_eq!(hex(of_tables(store, &key, &[])), "49e09012eafefb0a4db4bf6a314205a1");
    }
}
