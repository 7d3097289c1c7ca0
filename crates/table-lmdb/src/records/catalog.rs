//! The tables that there are.

mod state;

use table_engine::error::{Error, ErrorKind};
use table_engine::fields::Fields;
use table_engine::model::names;
use table_engine::row::key::NUMBERS;

pub(crate) use self::state::TableState;
use super::counts::Counts;
use super::meta::{self, IDENTITY, Meta};
use super::periods::{self, PeriodsEntry};
use super::record_digest::{RecordDigest, SetDigest};
use crate::lmdb::{self, Databases, WriteTxn};

/// A table in the catalog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) id: u32,
    pub(crate) name: Box<str>,
    /// Its identity, which no other table has, of whatever store.
    pub(crate) identity: [u8; IDENTITY],
    /// The keyed digest of a table whose kinds seal or sign.
    pub(crate) digest: Option<RecordMac>,
    /// The names that it had before, the latest last, without those of tables that were created since.
    pub(crate) former: Vec<Box<str>>,
}

/// A table's keyed digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RecordMac {
    pub(crate) digest: [u8; 16],
    /// Whether it covers the numbers of the kinds' texts. Those that were made before it did are still believed.
    pub(crate) has_numbers: bool,
}

/// The flag of a record that carries a keyed digest, and that of one whose digest covers the numbers of kinds.
const AUTHENTICATED: u16 = 1;
const NUMBERED: u16 = 2;

/// The flag of a record of a table that has former names.
const RENAMED: u16 = 4;

/// How many former names are kept.
const FORMER: usize = 8;

impl Entry {
    fn decode(key: &[u8], record: &[u8]) -> Result<Self, Error> {
        let entry = Self::read(key, record).filter(|entry| folded(&entry.name).as_bytes() == key);
        entry.ok_or_else(|| damaged("the table catalog", key))
    }

    fn read(key: &[u8], record: &[u8]) -> Option<Self> {
        let mut body = Fields(meta::opened(key, record)?);
        let id = body.u32().filter(|id| *id < NUMBERS)?;
        // A record with another flag is no record of this version.
        let flags = body
            .u16()
            .filter(|flags| [0, AUTHENTICATED, AUTHENTICATED | NUMBERED].contains(&(flags & !RENAMED)))?;
        let identity = body.take()?;
        let mut former = Vec::new();
        if flags & RENAMED != 0 {
            let [count] = body.take()?;
            for _ in 0..count {
                let [length] = body.take()?;
                former.push(std::str::from_utf8(body.bytes(usize::from(length))?).ok()?.into());
            }
            // The flag says that there are former names.
            former.first()?;
        }
        let (name, digest) = match body.0.split_last_chunk() {
            Some((name, digest)) if flags & AUTHENTICATED != 0 => {
                (name, Some(RecordMac { digest: *digest, has_numbers: flags & NUMBERED != 0 }))
            }
            _ if flags & AUTHENTICATED != 0 => return None,
            _ => (body.0, None),
        };
        let name = std::str::from_utf8(name).ok()?;
        Some(Self { id, name: name.into(), identity, digest, former })
    }

    pub(crate) fn encode(&self, key: &[u8]) -> Vec<u8> {
        let mut body = Vec::with_capacity(6 + IDENTITY + self.name.len() + meta::CHECKSUM);
        body.extend_from_slice(&self.id.to_le_bytes());
        let flags = match &self.digest {
            Some(RecordMac { has_numbers: true, .. }) => AUTHENTICATED | NUMBERED,
            Some(_) => AUTHENTICATED,
            None => 0,
        };
        let flags = flags | if self.former.is_empty() { 0 } else { RENAMED };
        body.extend_from_slice(&flags.to_le_bytes());
        body.extend_from_slice(&self.identity);
        // Names have 63 bytes at most, and there are few.
        let byte = |number: usize| u8::try_from(number).unwrap_or(u8::MAX);
        if !self.former.is_empty() {
            body.push(byte(self.former.len()));
        }
        for name in &self.former {
            body.push(byte(name.len()));
            body.extend_from_slice(name.as_bytes());
        }
        body.extend_from_slice(self.name.as_bytes());
        body.extend_from_slice(self.digest.as_ref().map_or(&[], |record_mac| &record_mac.digest[..]));
        meta::sealed(key, body)
    }

    /// Returns whether the table had this name before.
    pub(crate) fn was(&self, name: &str) -> bool {
        self.former.iter().any(|former| former.eq_ignore_ascii_case(name))
    }

    /// Removes a name from the former ones, since another table comes to have it.
    fn forget(
        &self,
        dbs: &Databases,
        txn: &mut WriteTxn<'_>,
        meta: &mut Meta,
        name: &str,
    ) -> Result<(), Error> {
        if !self.was(name) {
            return Ok(());
        }
        let mut without = self.clone();
        without.former.retain(|former| !former.eq_ignore_ascii_case(name));
        rewrite(dbs, txn, meta, self, &without)
    }

    /// Returns the table by another name, with its own among the former ones.
    fn renamed(&self, name: &str) -> Self {
        let former = self.former.iter().chain([&self.name]).filter(|known| !known.eq_ignore_ascii_case(name));
        let mut former: Vec<_> = former.cloned().collect();
        former.drain(..former.len().saturating_sub(FORMER));
        Self { name: name.into(), former, ..self.clone() }
    }
}

/// Returns a record of the catalog; nothing of one that is of no table.
pub(crate) fn decode(key: &[u8], record: &[u8]) -> Result<Option<Entry>, Error> {
    if periods::is_one(key) {
        return PeriodsEntry::decode(key, record).map(|_| None);
    }
    Entry::decode(key, record).map(Some)
}

/// Returns a record of the dropped tables.
pub(crate) fn decode_tombstone(key: &[u8], record: &[u8]) -> Result<Option<Entry>, Error> {
    tombstone(key, record).map(Some)
}

fn tombstone(key: &[u8], record: &[u8]) -> Result<Entry, Error> {
    let entry = Entry::read(key, record).filter(|entry| tombstone_key(entry.id) == key);
    entry.ok_or_else(|| damaged("the dropped tables", key))
}

#[cold]
fn damaged(records: &str, key: &[u8]) -> Error {
    let because = format!("the record of {records} under `{}` is damaged", key.escape_ascii());
    Error::new(ErrorKind::Corrupt).because(because)
}

/// Returns a table's key in the catalog: names are compared without regard to case, and are ASCII.
pub(crate) fn folded(name: &str) -> String {
    name.to_ascii_lowercase()
}

/// Returns the table of this name; `None` only after all records of the catalog were seen.
pub(crate) fn find(
    dbs: &Databases,
    txn: &heed::RoTxn<'_>,
    meta: &Meta,
    name: &str,
) -> Result<Option<Entry>, Error> {
    if let Some(entry) = seen(dbs, txn, name)? {
        return Ok(Some(entry));
    }
    others(dbs, txn, meta, name).map(|_| None)
}

/// Returns every table, none of which has this name: the record of one that was not [seen] may lie on a page that is damaged.
pub(crate) fn others(
    dbs: &Databases,
    txn: &heed::RoTxn<'_>,
    meta: &Meta,
    name: &str,
) -> Result<Vec<Entry>, Error> {
    let others = || {
        let (key, entries) = (folded(name), list(dbs, txn, meta)?);
        let missed = entries.iter().any(|entry| folded(&entry.name) == key);
        if missed { Err(lmdb::damaged_page()) } else { Ok(entries) }
    };
    others().map_err(|e: Error| e.table(name))
}

/// Returns the table of this name, if a search finds it. One that is not found may still be there.
pub(crate) fn seen(dbs: &Databases, txn: &heed::RoTxn<'_>, name: &str) -> Result<Option<Entry>, Error> {
    names::check_table(name)?;
    let key = folded(name);
    let Some(record) = dbs.catalog.get(txn, key.as_bytes()).map_err(lmdb::error)? else { return Ok(None) };
    let look = || {
        dbs.check_entry(record, record)?;
        let entry = Entry::decode(key.as_bytes(), record)?;
        // A former page may hold the table as it was, or a table that was dropped.
        if RecordDigest::read(dbs.main, txn, entry.id)?.catalog == meta::checksum_of(record) {
            Ok(Some(entry))
        } else {
            Err(lmdb::damaged_page())
        }
    };
    look().map_err(|e: Error| e.table(name))
}

/// Returns every table, by folded name.
pub(crate) fn list(dbs: &Databases, txn: &heed::RoTxn<'_>, meta: &Meta) -> Result<Vec<Entry>, Error> {
    all(dbs, txn, meta).map(|all| all.entries)
}

/// Every record of the catalog.
pub(crate) struct AllRecords {
    /// The tables, by folded name.
    pub(crate) entries: Vec<Entry>,
    /// The templates of tables for each period.
    pub(crate) templates: Vec<PeriodsEntry>,
}

/// Reads every record of the catalog, and compares them with the digest that the store keeps of them.
pub(crate) fn all(dbs: &Databases, txn: &heed::RoTxn<'_>, meta: &Meta) -> Result<AllRecords, Error> {
    #[cfg(test)]
    LISTED.set(LISTED.get() + 1);
    let (mut entries, mut templates, mut found) = (Vec::new(), Vec::new(), SetDigest::default());
    for pair in dbs.catalog.iter(txn).map_err(lmdb::error)? {
        let (key, record) = pair.map_err(lmdb::error)?;
        dbs.check_entry(key, record)?;
        if periods::is_one(key) {
            templates.push(PeriodsEntry::decode(key, record)?);
        } else {
            entries.push(Entry::decode(key, record)?);
        }
        found.add(record);
    }
    meta.catalog.check(found, "tables")?;
    Ok(AllRecords { entries, templates })
}

#[cfg(test)]
thread_local! {
    /// How often this thread has read all of the catalog.
    pub(crate) static LISTED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Adds a table; there must be none of this name.
pub(crate) fn create(
    dbs: &Databases,
    txn: &mut WriteTxn<'_>,
    meta: &mut Meta,
    name: &str,
) -> Result<Entry, Error> {
    if let Some(found) = seen(dbs, txn, name)? {
        let because = format!("there is a table `{}`; names differ in more than case", found.name);
        return Err(Error::new(ErrorKind::TableAlreadyExists).because(because).table(name));
    }
    for entry in &others(dbs, txn, meta, name)? {
        entry.forget(dbs, txn, meta, name)?;
    }
    add(dbs, txn, meta, name)
}

/// Adds a table whose name was not among those of all tables, or is [proved](crate::state) to be none of theirs.
pub(crate) fn add(
    dbs: &Databases,
    txn: &mut WriteTxn<'_>,
    meta: &mut Meta,
    name: &str,
) -> Result<Entry, Error> {
    names::check_table(name)?;
    let id = meta.next_table;
    if id >= NUMBERS {
        let because = "the store has given out every table number there is";
        return Err(Error::new(ErrorKind::Incompatible).because(because).table(name));
    }
    meta.next_table = id + 1;
    meta.generation += 1;
    let entry =
        Entry { id, name: name.into(), identity: meta::new_identity(), digest: None, former: Vec::new() };
    let key = folded(name);
    let record = entry.encode(key.as_bytes());
    dbs.catalog.put(txn, key.as_bytes(), &record).map_err(lmdb::error)?;
    meta.catalog.add(&record);
    // A record that damage hid has come to stand beside this one, or given way to it.
    if dbs.catalog.len(txn).map_err(lmdb::error)? != u64::from(meta.catalog.count) {
        return Err(lmdb::damaged_page().table(name));
    }
    Counts::default().write(dbs.main, txn, id)?;
    let record_digest = RecordDigest { catalog: meta::checksum_of(&record), ..RecordDigest::default() };
    record_digest.write(dbs.main, txn, id)?;
    Ok(entry)
}

/// Writes a table's record anew.
pub(crate) fn rewrite(
    dbs: &Databases,
    txn: &mut WriteTxn<'_>,
    meta: &mut Meta,
    old: &Entry,
    new: &Entry,
) -> Result<(), Error> {
    let key = folded(&new.name);
    let record = new.encode(key.as_bytes());
    meta.catalog.subtract(&old.encode(key.as_bytes()));
    meta.catalog.add(&record);
    dbs.catalog.put(txn, key.as_bytes(), &record).map_err(lmdb::error)?;
    let mut record_digest = RecordDigest::read(dbs.main, txn, new.id)?;
    record_digest.catalog = meta::checksum_of(&record);
    record_digest.write(dbs.main, txn, new.id)
}

/// Gives a table another name, which no other table may have.
pub(crate) fn rename(
    dbs: &Databases,
    txn: &mut WriteTxn<'_>,
    meta: &mut Meta,
    entry: &Entry,
    name: &str,
) -> Result<(), Error> {
    let (former, key) = (folded(&entry.name), folded(name));
    meta.generation += 1;
    meta.catalog.subtract(&entry.encode(former.as_bytes()));
    dbs.catalog.delete(txn, former.as_bytes()).map_err(lmdb::error)?;
    for other in list(dbs, txn, meta)?.iter().filter(|other| other.id != entry.id) {
        other.forget(dbs, txn, meta, name)?;
    }
    let record = entry.renamed(name).encode(key.as_bytes());
    meta.catalog.add(&record);
    dbs.catalog.put(txn, key.as_bytes(), &record).map_err(lmdb::error)?;
    let mut record_digest = RecordDigest::read(dbs.main, txn, entry.id)?;
    record_digest.catalog = meta::checksum_of(&record);
    record_digest.write(dbs.main, txn, entry.id)
}

/// Takes a table out of the catalog and leaves its rows to be reclaimed.
pub(crate) fn drop_table(
    dbs: &Databases,
    txn: &mut WriteTxn<'_>,
    meta: &mut Meta,
    name: &str,
) -> Result<Entry, Error> {
    let Some(entry) = find(dbs, txn, meta, name)? else {
        return Err(Error::new(ErrorKind::TableNotFound).table(name));
    };
    meta.generation += 1;
    let key = folded(name);
    meta.catalog.subtract(&entry.encode(key.as_bytes()));
    dbs.catalog.delete(txn, key.as_bytes()).map_err(lmdb::error)?;
    let key = tombstone_key(entry.id);
    let record = entry.encode(&key);
    dbs.tombstones.put(txn, &key, &record).map_err(lmdb::error)?;
    meta.tombstones.add(&record);
    Counts::remove(dbs.main, txn, entry.id)?;
    RecordDigest::remove(dbs.main, txn, entry.id)?;
    Ok(entry)
}

/// Returns the key of a dropped table among those to be reclaimed.
pub(crate) fn tombstone_key(table: u32) -> [u8; 4] {
    table.to_be_bytes()
}

/// Returns the dropped tables whose rows are still there.
pub(crate) fn tombstones(dbs: &Databases, txn: &heed::RoTxn<'_>, meta: &Meta) -> Result<Vec<Entry>, Error> {
    let (mut tables, mut found) = (Vec::new(), SetDigest::default());
    for pair in dbs.tombstones.iter(txn).map_err(lmdb::error)? {
        let (key, record) = pair.map_err(lmdb::error)?;
        dbs.check_entry(key, record)?;
        tables.push(tombstone(key, record)?);
        found.add(record);
    }
    meta.tombstones.check(found, "dropped tables")?;
    Ok(tables)
}

/// Forgets a dropped table, of which nothing is left.
pub(crate) fn forget_tombstone(
    dbs: &Databases,
    txn: &mut WriteTxn<'_>,
    meta: &mut Meta,
    entry: &Entry,
) -> Result<(), Error> {
    let key = tombstone_key(entry.id);
    meta.tombstones.subtract(&entry.encode(&key));
    dbs.tombstones.delete(txn, &key).map(drop).map_err(lmdb::error)
}
