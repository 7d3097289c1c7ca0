//! Records that are damaged, gone or another's: all that needs them is refused, and nothing is changed.

use super::*;
use crate::store::keys::record::{KEYS, KeyRecord, META, SCOPES, key_key, scope_key};
use crate::store::meta;

/// A store with a value, the keys of its partition's scope, and a peer that remembers nothing yet.
pub(super) struct Damaged {
    pub(super) scratch: Scratch,
    store: Store,
    company: DynamicTable,
    /// Under the former key of the scope, which has another by now.
    pub(super) sealed: Vec<u8>,
}

impl Damaged {
    pub(super) fn new() -> Self {
        let scratch = Scratch::new();
        let store = scratch.store();
        let company = table(&store);
        let encryption = store.encryption().unwrap();
        let cell = company.cell("Sales", "1", "Ssn").unwrap().scoped(KeyScope::Partition);
        let sealed = encryption.seal(&cell, SSN).unwrap();
        encryption.rotate(&company.partition_key_scope("Sales").unwrap()).unwrap();
        Self { scratch, store, company, sealed }
    }

    pub(super) fn keys(&self) -> &Encryption {
        self.store.encryption().unwrap()
    }

    pub(super) fn cell(&self) -> Cell<'static> {
        self.company.cell("Sales", "1", "Ssn").unwrap().scoped(KeyScope::Partition)
    }

    fn scope(&self) -> Scope {
        self.company.partition_key_scope("Sales").unwrap()
    }

    pub(super) fn old(&self) -> KeyHandle {
        KeyHandle::of(&self.sealed).unwrap()
    }

    pub(super) fn records(&self) -> Vec<(Vec<u8>, Vec<u8>)> {
        let txn = self.keys().vault.read_txn().unwrap();
        let records = self.keys().vault.side.db.iter(&txn).unwrap().map(Result::unwrap);
        records.map(|(key, record)| (key.to_vec(), record.to_vec())).collect()
    }

    fn record(&self, key: &[u8]) -> Vec<u8> {
        self.records().into_iter().find(|(at, _)| at == key).unwrap().1
    }

    /// Writes a record as another process might.
    fn put(&self, key: &[u8], record: Option<&[u8]>) {
        let mut txn = self.keys().vault.write_txn().unwrap();
        match record {
            Some(record) => self.keys().vault.side.db.put(&mut txn, key, record).unwrap(),
            None => assert!(self.keys().vault.side.db.delete(&mut txn, key).unwrap()),
        }
        txn.commit().unwrap();
    }

    /// Does something with the keys, as one who remembers nothing of them.
    fn run(&self, operation: &str) -> Result<()> {
        let (keys, cell, scope) = (self.peer()?, self.cell(), self.scope());
        match operation {
            "open" => keys.open(&cell, &self.sealed).map(drop),
            "seal" => keys.seal(&cell, SSN).map(drop),
            "reseal" => keys.reseal(&cell, &self.sealed).map(drop),
            "token" => keys.token(&cell, TokenScope::Partition, SSN).map(drop),
            "tokens" => keys.tokens(&cell, TokenScope::Partition, SSN).map(drop),
            "keys" => keys.keys().map(drop),
            "destroy" => keys.destroy(self.old()),
            "shred" => keys.shred(&scope).map(drop),
            "rewrap" => keys.rewrap(),
            "rotate" => keys.rotate(&scope).map(drop),
            "rotate_all" => keys.rotate_all().map(drop),
            _ => unreachable!("{operation}"),
        }
    }

    pub(super) fn peer(&self) -> Result<Encryption> {
        let identity = self.keys().vault.identity;
        let keys = Encryption::open_keys(&self.scratch.path, false, identity, self.scratch.provider.clone())?;
        Ok(keys.of_store(Arc::downgrade(&self.store.inner)))
    }

    /// Those operations are refused with this kind, and no record and no file is changed by it.
    fn refuses(&self, kind: ErrorKind, operations: &[&str]) {
        let before = self.records();
        for name in operations {
            assert_eq!(self.run(name).unwrap_err().kind(), kind, "{name}");
            assert!(self.records() == before, "{name} changed the records");
            assert_eq!(self.scratch.roots(), 1, "{name}");
        }
    }
}

const ALL: &[&str] = &[
    "open",
    "seal",
    "reseal",
    "token",
    "tokens",
    "keys",
    "destroy",
    "shred",
    "rewrap",
    "rotate",
    "rotate_all",
];

/// One bit is another.
fn flipped(record: &[u8]) -> Vec<u8> {
    let mut record = record.to_vec();
    record[2] ^= 1;
    record
}

/// Another body, under a checksum that fits.
pub(super) fn resealed(key: &[u8], body: &[u8]) -> Vec<u8> {
    let mut record = [body, &[0; meta::CHECKSUM]].concat();
    meta::seal(key, &mut record);
    record
}

pub(super) fn body(record: &[u8]) -> &[u8] {
    &record[..record.len() - meta::CHECKSUM]
}

#[test]
fn nothing_is_done_with_keys_whose_own_record_is_damaged() {
    let damaged = Damaged::new();
    let (open, cell) = (damaged.peer().unwrap(), damaged.cell());
    open.open(&cell, &damaged.sealed).unwrap();
    let record = damaged.record(META);
    let copy = damaged.scratch.path.with_file_name("copy");
    let mut newer = body(&record).to_vec();
    newer[0] += 1;
    let mut of_a_later_library = body(&record).to_vec();
    *of_a_later_library.last_mut().unwrap() = 1;
    for (bad, kind) in [
        (Some(flipped(&record)), ErrorKind::Corrupt),
        (Some(resealed(META, &newer)), ErrorKind::Incompatible),
        (Some(resealed(META, &of_a_later_library)), ErrorKind::Incompatible),
        (None, ErrorKind::Incompatible),
    ] {
        damaged.put(META, bad.as_deref());
        damaged.refuses(kind, ALL);
        // Also who had opened them before.
        for outcome in [
            open.open(&cell, &damaged.sealed).map(drop),
            open.seal(&cell, SSN).map(drop),
            open.tokens(&cell, TokenScope::Partition, SSN).map(drop),
            open.generation().map(drop),
            open.rotate(&damaged.scope()).map(drop),
            open.shred(&damaged.scope()).map(drop),
            damaged.store.copy_to(&copy).map(drop),
        ] {
            let error = outcome.unwrap_err();
            assert_eq!(error.kind(), kind, "{error}");
        }
        assert!(!copy.exists(), "nothing is left of a copy without keys");
        damaged.put(META, Some(&record));
    }
    for length in 0..body(&record).len() {
        damaged.put(META, Some(&resealed(META, &body(&record)[..length])));
        assert!(damaged.peer().is_err(), "length {length}");
    }
    damaged.put(META, Some(&resealed(META, &[body(&record), &[0]].concat())));
    assert_eq!(kind(damaged.peer()), ErrorKind::Corrupt);
    damaged.put(META, Some(&record));
    assert_eq!(open.open(&cell, &damaged.sealed).unwrap().as_value_ref(), SSN);
}

#[test]
fn nothing_is_done_in_a_scope_whose_record_is_damaged() {
    let damaged = Damaged::new();
    let at = scope_key(damaged.scope().as_bytes());
    assert!(SCOPES.contains(&&at[..]));
    let record = damaged.record(&at);
    let needy = ["seal", "reseal", "token", "tokens", "keys", "destroy", "shred", "rotate", "rotate_all"];
    for bad in
        [flipped(&record), resealed(&at, &body(&record)[..body(&record).len() - 1]), resealed(&at, b"")]
    {
        damaged.put(&at, Some(&bad));
        damaged.refuses(ErrorKind::Corrupt, &needy);
        // What needs a key by its name alone is none the worse.
        damaged.run("open").unwrap();
        damaged.run("rewrap").unwrap();
    }
    damaged.put(&at, Some(&record));
    damaged.run("open").unwrap();

    // No scope has such a name.
    damaged.put(b"s\x09", Some(&resealed(b"s\x09", &[0; 4])));
    damaged.refuses(ErrorKind::Corrupt, &["keys", "rotate_all"]);
}

#[test]
fn a_key_whose_record_is_damaged_is_refused_and_never_left_behind() {
    let damaged = Damaged::new();
    let at = key_key(damaged.old());
    assert!(KEYS.contains(&&at[..]));
    let record = damaged.record(&at);
    let needy = ["open", "reseal", "tokens", "keys", "destroy", "shred", "rewrap"];
    let mut unknown = body(&record).to_vec();
    unknown[0] = 3;
    let mut destroyed_and_there = body(&record).to_vec();
    destroyed_and_there[0] = 2;
    for bad in [flipped(&record), resealed(&at, &unknown), resealed(&at, &destroyed_and_there)] {
        damaged.put(&at, Some(&bad));
        damaged.refuses(ErrorKind::Corrupt, &needy);
    }
    // Up to the scope's end nothing may lack; the wrapped key behind it is no key any more.
    let fixed = 1 + 4 + 8 + 32 + 2 + damaged.scope().as_bytes().len();
    for length in 0..body(&record).len() {
        damaged.put(&at, Some(&resealed(&at, &body(&record)[..length])));
        let error = damaged.peer().unwrap().open(&damaged.cell(), &damaged.sealed).unwrap_err();
        let expected = if length < fixed { ErrorKind::Corrupt } else { ErrorKind::DecryptionFailed };
        assert_eq!(error.kind(), expected, "length {length}");
    }
    damaged.put(&at, None);
    damaged.refuses(ErrorKind::KeyUnavailable, &["open", "reseal", "tokens", "destroy"]);
    damaged.put(&at, Some(&record));
    damaged.run("open").unwrap();

    // The one that seals.
    let current = damaged.keys().keys().unwrap().into_iter().find(|key| key.current).unwrap().handle;
    let record = damaged.record(&key_key(current));
    damaged.put(&key_key(current), Some(&flipped(&record)));
    damaged.refuses(ErrorKind::Corrupt, &["seal", "reseal", "token", "tokens", "keys", "rewrap"]);
    damaged.run("open").unwrap();
    damaged.put(&key_key(current), Some(&record));

    // No key has such a name.
    damaged.put(b"k\x09", Some(&resealed(b"k\x09", &[0; 4])));
    damaged.refuses(ErrorKind::Corrupt, &["rewrap", "shred"]);
}

#[test]
fn a_wrapped_key_opens_in_its_own_record_alone() {
    let damaged = Damaged::new();
    let at = key_key(damaged.old());
    let record = damaged.record(&at);
    let right = KeyRecord::decode(&at, &record).unwrap();
    let current = damaged.keys().rotate(&damaged.scope()).unwrap();
    let other_at = key_key(current);
    let other = KeyRecord::decode(&other_at, &damaged.record(&other_at)).unwrap();
    let mut wrong_bit = right.clone();
    wrong_bit.wrapped.as_mut().unwrap()[60] ^= 1;
    let mut wrong_check = right.clone();
    wrong_check.check[0] ^= 1;
    for forged in [
        wrong_bit,
        wrong_check,
        KeyRecord { wrapped: other.wrapped, ..right.clone() },
        KeyRecord { version: right.version + 4, ..right.clone() },
        KeyRecord { scope: Scope::store(), ..right.clone() },
    ] {
        damaged.put(&at, Some(&forged.encode(&at)));
        damaged.refuses(ErrorKind::DecryptionFailed, &["open", "reseal", "rewrap"]);
        let error = damaged.peer().unwrap().open(&damaged.cell(), &damaged.sealed).unwrap_err();
        assert!(error.to_string().contains(&damaged.old().to_string()), "{error}");
        assert_eq!((error.partition_key(), error.row_key()), (Some("Sales"), Some("1")));
    }
    // When it was made is not bound: it is told and decides nothing.
    let dated = KeyRecord { made: Ticks::UNIX_EPOCH, ..right };
    damaged.put(&at, Some(&dated.encode(&at)));
    damaged.run("open").unwrap();
}

#[test]
fn a_key_that_is_destroyed_while_it_is_looked_up_makes_no_token() {
    let damaged = Damaged::new();
    let at = scope_key(damaged.scope().as_bytes());
    let former = damaged.record(&at);
    damaged.keys().destroy(damaged.old()).unwrap();
    // As a reader has it that listed the keys a moment before.
    damaged.put(&at, Some(&former));
    let tokens = damaged.peer().unwrap().tokens(&damaged.cell(), TokenScope::Partition, SSN).unwrap();
    let current = damaged.peer().unwrap().token(&damaged.cell(), TokenScope::Partition, SSN).unwrap();
    assert_eq!(tokens, [current]);
}

#[test]
fn a_job_whose_record_is_damaged_does_not_begin_anew() {
    let damaged = Damaged::new();
    let progress =
        Progress { position: Some(("Sales".to_owned(), "1".to_owned())), seen: 5, changed: 3, generation: 7 };
    damaged.keys().save_progress("job", Some(&progress)).unwrap();
    let at = job_key("job");
    let record = damaged.record(&at);
    let mut no_text = body(&record).to_vec();
    no_text[27] = 0xff;
    let longer = [body(&record), &[0]].concat();
    let mut bad: Vec<_> = (0..body(&record).len()).map(|length| body(&record)[..length].to_vec()).collect();
    bad.extend([no_text, longer]);
    for bad in bad {
        damaged.put(&at, Some(&resealed(&at, &bad)));
        let error = damaged.keys().progress("job").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{bad:?}");
        assert!(error.to_string().starts_with("cannot read a job's progress: "), "{error}");
    }
    // It may be put aside, and its name used again.
    damaged.keys().save_progress("job", None).unwrap();
    assert_eq!(damaged.keys().progress("job").unwrap(), None);
}

#[test]
fn the_last_version_of_a_scope_has_no_successor() {
    let damaged = Damaged::new();
    let at = scope_key(damaged.scope().as_bytes());
    let mut record = body(&damaged.record(&at)).to_vec();
    record[..4].copy_from_slice(&u32::MAX.to_le_bytes());
    damaged.put(&at, Some(&resealed(&at, &record)));
    damaged.refuses(ErrorKind::KeyUnavailable, &["rotate", "rotate_all"]);
    damaged.run("seal").unwrap();
    // Nor a first one, once all are destroyed.
    damaged.put(&at, Some(&resealed(&at, &record[..4])));
    damaged.refuses(ErrorKind::KeyUnavailable, &["seal", "token", "rotate"]);
}

#[test]
fn records_that_are_neither_keys_nor_scopes_are_left_alone() {
    let damaged = Damaged::new();
    for other in [b"l", b"t"] {
        damaged.put(other, Some(b"what a later library keeps here"));
    }
    for operation in ["keys", "rewrap", "rotate_all", "destroy", "shred"] {
        damaged.run(operation).unwrap();
    }
    for other in [b"l", b"t"] {
        assert_eq!(damaged.record(other), b"what a later library keeps here");
    }
}
