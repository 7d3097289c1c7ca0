//! Records that are damaged, gone or another's: all that needs them is refused, and nothing is changed.

use table_engine::model::Ticks;

use super::*;
use crate::encryption::vault::change::{number, set_digest};
use crate::encryption::vault::record;
use crate::encryption::vault::record::{KeyRecord, META, Meta, ScopeRecord, State, key_key};
use crate::records::meta;

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

    /// Writes a record, or takes it away, as damage of the file does: what is counted and noted of records stays.
    pub(super) fn put(&self, key: &[u8], record: Option<&[u8]>) {
        self.write(key, record, false);
    }

    /// Changes a record as an attacker does that knows the format and lacks the keys.
    pub(super) fn forge(&self, key: &[u8], record: Option<&[u8]>) {
        self.write(key, record, true);
    }

    fn write(&self, key: &[u8], record: Option<&[u8]>, counted: bool) {
        let (db, mut txn) = (self.keys().vault.side.db, self.keys().vault.side.env.write_txn().unwrap());
        let mut meta = Meta::decode(db.get(&txn, META).unwrap().unwrap()).unwrap();
        match record {
            Some(record) => db.put(&mut txn, key, record).unwrap(),
            None => assert!(db.delete(&mut txn, key).unwrap()),
        }
        if counted {
            meta.set_digest = set_digest(db, &txn).unwrap();
        }
        meta.transaction = number(&txn);
        db.put(&mut txn, META, &meta.encode()).unwrap();
        txn.commit().unwrap();
    }

    /// Writes the environment's own record: `None`, or what is made of the right one's body.
    fn put_own(&self, good: &Meta, make: impl FnOnce(Vec<u8>) -> Option<Vec<u8>>) {
        let (db, mut txn) = (self.keys().vault.side.db, self.keys().vault.side.env.write_txn().unwrap());
        let right = Meta { transaction: number(&txn), ..*good };
        match make(body(&right.encode()).to_vec()) {
            Some(record) => db.put(&mut txn, META, &record).unwrap(),
            None => drop(db.delete(&mut txn, META).unwrap()),
        }
        txn.commit().unwrap();
    }

    /// What a check finds.
    pub(super) fn problems(&self) -> Vec<String> {
        self.store.check().unwrap().problems.into_iter().map(|problem| problem.what).collect()
    }

    /// Where the scope's record lies.
    fn scope_at(&self) -> [u8; 17] {
        record::scope_key(self.keys().authenticator().unwrap(), self.scope().as_bytes())
    }

    /// The scope's record with other contents, vouched for.
    fn authenticated(&self, record: &ScopeRecord) -> Vec<u8> {
        record.encode(self.keys().authenticator().unwrap(), &self.scope_at())
    }

    /// Does something with the keys, as a process that remembers none of them.
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
            "rewrap" => keys.rewrap().map(drop),
            "rotate" => keys.rotate(&scope).map(drop),
            "rotate_all" => keys.rotate_all().map(drop),
            _ => unreachable!("{operation}"),
        }
    }

    pub(super) fn peer(&self) -> Result<Encryption> {
        let identity = self.keys().vault.identity;
        let keys = Encryption::open_keys(&self.scratch.path, false, identity, self.scratch.provider.clone())?;
        let store = Arc::downgrade(&self.store.clone().into_shared());
        Ok(keys.of_store(store))
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

type Make<'a> = Box<dyn Fn(Vec<u8>) -> Option<Vec<u8>> + 'a>;

#[test]
fn nothing_is_done_with_keys_whose_own_record_is_damaged() {
    let damaged = Damaged::new();
    let (open, cell) = (damaged.peer().unwrap(), damaged.cell());
    open.open(&cell, &damaged.sealed).unwrap();
    let good = Meta::decode(&damaged.record(META)).unwrap();
    let copy = damaged.scratch.path.with_file_name("copy");
    let whole = |body: Vec<u8>| Some(resealed(META, &body));
    let with = |at: usize, byte: u8| {
        move |mut body: Vec<u8>| {
            body[at] = byte;
            whole(body)
        }
    };
    let bad: [(Make<'_>, ErrorKind); 5] = [
        (Box::new(|body| whole(body).map(|record| flipped(&record))), ErrorKind::Corrupt),
        (Box::new(with(0, 3)), ErrorKind::Incompatible),
        (Box::new(with(36, 2)), ErrorKind::Incompatible),
        // Of another commit than the file's header.
        (Box::new(with(51, 1)), ErrorKind::Corrupt),
        (Box::new(|_| None), ErrorKind::Incompatible),
    ];
    for (make, kind) in bad {
        damaged.put_own(&good, make);
        damaged.refuses(kind, ALL);
        // Also in a process that had opened them before.
        for outcome in [
            open.open(&cell, &damaged.sealed).map(drop),
            open.seal(&cell, SSN).map(drop),
            open.tokens(&cell, TokenScope::Partition, SSN).map(drop),
            open.generation().map(drop),
            open.rotate(&damaged.scope()).map(drop),
            open.shred(&damaged.scope()).map(drop),
            open.progress("job").map(drop),
            open.save_progress("job", None),
            damaged.store.copy_to(&copy).map(drop),
        ] {
            let error = outcome.unwrap_err();
            assert_eq!(error.kind(), kind, "{error}");
        }
        assert!(!copy.exists(), "nothing is left of a copy without keys");
        assert_eq!(damaged.store.check().unwrap().problems.len(), 1);
        damaged.put_own(&good, whole);
    }
    for length in 0..body(&good.encode()).len() {
        damaged.put_own(&good, |mut body| {
            body.truncate(length);
            whole(body)
        });
        assert!(damaged.peer().is_err(), "length {length}");
    }
    damaged.put_own(&good, |body| whole([&body[..], &[0]].concat()));
    assert_eq!(kind(damaged.peer()), ErrorKind::Corrupt);
    damaged.put_own(&good, whole);
    assert_eq!(open.open(&cell, &damaged.sealed).unwrap().as_value_ref(), SSN);
    damaged.peer().unwrap();
}

#[test]
fn nothing_is_done_in_a_scope_whose_record_is_damaged_and_it_can_be_shredded() {
    let damaged = Damaged::new();
    let at = damaged.scope_at();
    let record = damaged.record(&at);
    let needy = ["seal", "reseal", "token", "tokens", "keys", "destroy", "rotate"];
    for (bad, kind) in [
        (flipped(&record), ErrorKind::Corrupt),
        (resealed(&at, b""), ErrorKind::Corrupt),
        (damaged.authenticated(&ScopeRecord::default())[1..].to_vec(), ErrorKind::Corrupt),
        // Changed without the MAC key.
        (resealed(&at, &body(&record)[..body(&record).len() - 1]), ErrorKind::DecryptionFailed),
        (resealed(&at, &flipped(body(&record))), ErrorKind::DecryptionFailed),
    ] {
        damaged.forge(&at, Some(&bad));
        damaged.refuses(kind, &needy);
        // What needs a key by its name alone is none the worse, and neither is another scope.
        damaged.run("open").unwrap();
        damaged.run("rewrap").unwrap();
        let other = damaged.company.cell("Marketing", "1", "Ssn").unwrap().scoped(KeyScope::Partition);
        damaged.peer().unwrap().seal(&other, SSN).unwrap();
        let problems = damaged.store.check().unwrap().problems;
        assert!(
            problems.iter().any(|problem| problem.what.contains("the record of a scope: ")),
            "{problems:?}"
        );
    }
    // It takes no record to destroy all keys of a scope, and the next key is a later one.
    let bad = flipped(&record);
    damaged.put(&at, Some(&bad));
    assert_eq!(damaged.keys().shred(&damaged.scope()).unwrap(), 2);
    let again = damaged.keys().rotate(&damaged.scope()).unwrap();
    let info = damaged.keys().keys().unwrap().into_iter().find(|key| key.handle == again).unwrap();
    assert_eq!((info.version, info.current), (3, true));
    let opened = damaged.peer().unwrap().open(&damaged.cell(), &damaged.sealed);
    assert_eq!(kind(opened), ErrorKind::KeyShredded);
    assert_eq!(damaged.problems(), [""; 0]);
}

#[test]
fn a_scope_whose_record_names_anothers_key_does_not_seal() {
    let damaged = Damaged::new();
    let elsewhere = damaged.company.partition_key_scope("Marketing").unwrap();
    let other = damaged.keys().rotate(&elsewhere).unwrap();
    let at = damaged.scope_at();
    let right = damaged.record(&at);
    // Also in a record that the MAC key authenticates.
    damaged.forge(&at, Some(&damaged.authenticated(&ScopeRecord { latest: 2, keys: vec![(2, other)] })));
    damaged.refuses(ErrorKind::DecryptionFailed, &["seal", "reseal", "token", "tokens"]);
    let error = damaged.peer().unwrap().seal(&damaged.cell(), SSN).unwrap_err();
    assert!(error.to_string().contains(&format!("the data key {other}, which is another's")), "{error}");
    assert!(damaged.problems().iter().any(|problem| problem.contains("lacks the data key")));
    damaged.forge(&at, Some(&right));
    damaged.run("seal").unwrap();
    assert_eq!(damaged.problems(), [""; 0]);
}

#[test]
fn a_damaged_key_is_refused_and_harms_no_other() {
    let damaged = Damaged::new();
    let at = key_key(damaged.old());
    assert!(record::is_key(&at));
    let record = damaged.record(&at);
    let needy = ["open", "reseal", "tokens", "keys", "destroy"];
    let mut unknown = body(&record).to_vec();
    unknown[0] = 4;
    for bad in [flipped(&record), resealed(&at, &unknown)].into_iter().chain([2, 3].map(|state| {
        let mut destroyed_and_there = body(&record).to_vec();
        destroyed_and_there[0] = state;
        resealed(&at, &destroyed_and_there)
    })) {
        damaged.forge(&at, Some(&bad));
        damaged.refuses(ErrorKind::Corrupt, &needy);
        damaged.run("seal").unwrap();
        let problems = damaged.problems();
        assert!(problems.iter().any(|problem| problem.contains(&format!("data key {}: ", damaged.old()))));
    }
    // Up to the check nothing may lack; the wrapped key behind it is no key any more.
    for length in 0..body(&record).len() {
        damaged.forge(&at, Some(&resealed(&at, &body(&record)[..length])));
        let error = damaged.peer().unwrap().open(&damaged.cell(), &damaged.sealed).unwrap_err();
        let expected = if length < 45 { ErrorKind::Corrupt } else { ErrorKind::DecryptionFailed };
        assert_eq!(error.kind(), expected, "length {length}");
    }
    damaged.forge(&at, None);
    damaged.refuses(ErrorKind::KeyUnavailable, &["open", "reseal", "tokens", "destroy"]);
    damaged.forge(&at, Some(&record));
    damaged.run("open").unwrap();

    // The one that seals.
    let current = damaged.keys().keys().unwrap().into_iter().find(|key| key.current).unwrap().handle;
    let record = damaged.record(&key_key(current));
    damaged.put(&key_key(current), Some(&flipped(&record)));
    damaged.refuses(ErrorKind::Corrupt, &["seal", "reseal", "token", "tokens", "keys"]);
    damaged.run("open").unwrap();
    // With a new one the scope seals again.
    damaged.run("rotate").unwrap();
    damaged.run("seal").unwrap();
    damaged.put(&key_key(current), Some(&record));
}

#[test]
fn a_damaged_key_keeps_no_other_from_being_renewed_or_destroyed() {
    let damaged = Damaged::new();
    let (keys, old) = (damaged.keys(), damaged.old());
    let elsewhere = damaged.company.cell("Marketing", "1", "Ssn").unwrap().scoped(KeyScope::Partition);
    let sealed = keys.seal(&elsewhere, SSN).unwrap();
    let current = keys.seal(&damaged.cell(), SSN).unwrap();
    let (at, opens) = (key_key(old), |keys: &Encryption| {
        assert_eq!(keys.open(&elsewhere, &sealed).unwrap().as_value_ref(), SSN);
        assert_eq!(keys.open(&damaged.cell(), &current).unwrap().as_value_ref(), SSN);
    });
    assert_eq!(keys.rewrap().unwrap(), []);
    let bad = flipped(&damaged.record(&at));
    damaged.put(&at, Some(&bad));
    assert_eq!(keys.rewrap().unwrap(), [old], "it is told");
    assert_eq!(damaged.record(&at), bad, "and stays as it was");
    opens(&damaged.peer().unwrap());
    assert_eq!(keys.shred(&damaged.company.partition_key_scope("Nobody").unwrap()).unwrap(), 0);
    opens(&damaged.peer().unwrap());
    assert_eq!(kind(damaged.peer().unwrap().open(&damaged.cell(), &damaged.sealed)), ErrorKind::Corrupt);
    // Those that are old and unused go, but for the damaged one.
    let unused = keys.rotate(&damaged.company.partition_key_scope("Unused").unwrap()).unwrap();
    keys.rotate(&damaged.company.partition_key_scope("Unused").unwrap()).unwrap();
    assert_eq!(keys.destroy_unused().unwrap(), 1);
    assert_eq!(kind(keys.vault.key(unused)), ErrorKind::KeySuperseded);
    // The scope of the damaged one can be shredded, and used again.
    assert_eq!(keys.shred(&damaged.scope()).unwrap(), 1);
    assert_eq!(kind(keys.open(&damaged.cell(), &current)), ErrorKind::KeyShredded);
    let again = keys.seal(&damaged.cell(), SSN).unwrap();
    let tokens = keys.tokens(&damaged.cell(), TokenScope::Partition, SSN).unwrap();
    assert_eq!((keys.open(&damaged.cell(), &again).unwrap().as_value_ref(), tokens.len()), (SSN, 1));
    assert_eq!(damaged.record(&at), bad);

    // A record without a key's name belongs to no key, and a check reports it.
    damaged.forge(b"k\x09", Some(&resealed(b"k\x09", &[0; 4])));
    damaged.run("rewrap").unwrap();
    damaged.run("shred").unwrap();
    assert_eq!(damaged.problems().len(), 2);
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
    let changed = |change: &dyn Fn(&mut [u8; 32], &mut Vec<u8>)| {
        let mut record = right.clone();
        if let State::Alive { check, wrapped } = &mut record.state {
            change(check, wrapped);
        }
        record
    };
    for forged in [
        changed(&|_, wrapped| wrapped[60] ^= 1),
        changed(&|check, _| check[0] ^= 1),
        KeyRecord { state: other.state, ..right.clone() },
        KeyRecord { version: right.version + 4, ..right.clone() },
        KeyRecord { made: Ticks::UNIX_EPOCH, ..right.clone() },
    ] {
        damaged.forge(&at, Some(&forged.encode(&at)));
        damaged.refuses(ErrorKind::DecryptionFailed, &["open", "reseal"]);
        let error = damaged.peer().unwrap().open(&damaged.cell(), &damaged.sealed).unwrap_err();
        assert!(error.to_string().contains(&damaged.old().to_string()), "{error}");
        assert_eq!((error.partition_key(), error.row_key()), (Some("Sales"), Some("1")));
        assert_eq!(damaged.problems().len(), 1);
    }
    damaged.forge(&at, Some(&record));
    damaged.run("open").unwrap();
}

#[test]
fn a_key_that_is_destroyed_while_it_is_looked_up_makes_no_token() {
    let damaged = Damaged::new();
    let at = damaged.scope_at();
    let former = damaged.record(&at);
    damaged.keys().destroy(damaged.old()).unwrap();
    // As a reader has it that listed the keys a moment before.
    damaged.forge(&at, Some(&former));
    let tokens = damaged.peer().unwrap().tokens(&damaged.cell(), TokenScope::Partition, SSN).unwrap();
    let current = damaged.peer().unwrap().token(&damaged.cell(), TokenScope::Partition, SSN).unwrap();
    assert_eq!(tokens, [current]);
}

#[test]
fn what_is_missing_is_told_from_what_never_was() {
    let damaged = Damaged::new();
    let absent = || damaged.company.cell("Nobody", "1", "Ssn").unwrap().scoped(KeyScope::Partition);
    let tokens = |keys: &Encryption| keys.tokens(&absent(), TokenScope::Partition, SSN);
    damaged.keys().save_progress("job", Some(&Progress::default())).unwrap();
    // Each record gone by itself, as a page that lost it.
    for (key, record) in damaged.records().iter().filter(|(key, _)| key != META) {
        damaged.put(key, None);
        let error = damaged.peer().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
        assert_eq!(damaged.problems().len(), 1);
        damaged.put(key, Some(record));
    }
    // An older one in its place, as a page that was in use before.
    let at = damaged.scope_at();
    let former = damaged.record(&at);
    damaged.keys().rotate(&damaged.scope()).unwrap();
    let latest = damaged.record(&at);
    damaged.put(&at, Some(&former));
    let error = damaged.peer().unwrap_err();
    assert!(error.to_string().contains("other records than were written last"), "{error}");
    damaged.put(&at, Some(&latest));
    damaged.peer().unwrap();
    // One bit of a record's key is another. In a tree it stands where it stood, beside the place where it is looked for;
    // here it has moved to its place in order, which mostly is the same.
    let (mut told, mut flips) = (0, 0);
    for (key, record) in damaged.records().iter().filter(|(key, _)| matches!(key[0], b's' | b'k' | b'j')) {
        for bit in 8..key.len() * 8 {
            let mut flipped = key.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            damaged.put(key, None);
            damaged.put(&flipped, Some(record));
            let peer = damaged.peer().unwrap();
            let found = peer.vault.find(&peer.vault.read_txn().unwrap(), key).map(drop);
            told += u32::from(found.is_err_and(|error| error.kind() == ErrorKind::Corrupt));
            flips += 1;
            assert!(damaged.problems().iter().any(|problem| problem.contains("damaged")));
            damaged.put(&flipped, None);
            damaged.put(key, Some(record));
        }
    }
    assert!(told * 10 > flips * 9, "{told} of {flips}");
    // Beside a record that is damaged otherwise what is missing is known to be.
    assert_eq!(tokens(&damaged.peer().unwrap()).unwrap(), []);
    for (key, record) in damaged.records().iter().filter(|(key, _)| key[0] == b's') {
        damaged.put(key, Some(&flipped(record)));
        assert_eq!(tokens(&damaged.peer().unwrap()).unwrap(), []);
        damaged.put(key, Some(record));
    }
    assert_eq!(damaged.problems(), [""; 0]);
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
    let at = damaged.scope_at();
    let authenticator = damaged.keys().authenticator().unwrap();
    let mut record = ScopeRecord::decode(authenticator, &at, &damaged.record(&at)).unwrap();
    record.latest = u32::MAX;
    damaged.forge(&at, Some(&damaged.authenticated(&record)));
    damaged.refuses(ErrorKind::KeyUnavailable, &["rotate", "rotate_all"]);
    damaged.run("seal").unwrap();
    // Nor a first one, once all are destroyed.
    record.keys.clear();
    damaged.forge(&at, Some(&damaged.authenticated(&record)));
    damaged.refuses(ErrorKind::KeyUnavailable, &["seal", "token", "rotate"]);
}

#[test]
fn records_that_are_neither_keys_nor_scopes_are_left_alone() {
    let damaged = Damaged::new();
    let others = [b"l", b"t"].map(|key| (key, resealed(key, b"what a later library keeps here")));
    for (key, record) in &others {
        damaged.forge(*key, Some(record));
    }
    for operation in ["keys", "rewrap", "rotate_all", "destroy", "shred"] {
        damaged.run(operation).unwrap();
    }
    for (key, record) in &others {
        assert_eq!(damaged.record(*key), *record);
    }
    assert_eq!(damaged.problems(), [""; 0]);
}

#[test]
fn a_scope_that_names_a_key_which_is_destroyed_or_gone_is_told() {
    let damaged = Damaged::new();
    let old = damaged.old();
    let at = key_key(old);
    let record = damaged.record(&at);
    let right = KeyRecord::decode(&at, &record).unwrap();
    for state in [State::Shredded, State::Superseded] {
        damaged.forge(&at, Some(&KeyRecord { state, ..right.clone() }.encode(&at)));
        let problems = damaged.problems();
        assert_eq!(problems, [format!("keys, the record of a scope: its data key {old} was destroyed")]);
    }
    damaged.forge(&at, None);
    let problems = damaged.problems();
    assert_eq!(problems, [format!("keys, the record of a scope: its data key {old} is missing")]);
    // The other way round it is told of the key.
    damaged.forge(&at, Some(&record));
    assert_eq!(damaged.problems(), [""; 0]);
    damaged.forge(&damaged.scope_at(), None);
    assert!(damaged.problems().iter().all(|problem| problem.contains("lacks the data key")));
    assert_eq!(damaged.problems().len(), 2);
}

#[test]
fn a_file_of_the_keys_that_can_not_be_read_is_an_error_of_the_check() {
    let damaged = Damaged::new();
    let keys = damaged.scratch.path.join("keys");
    let aside = damaged.scratch.path.with_file_name("aside");
    std::fs::rename(&keys, &aside).unwrap();
    // Keys that are gone are a problem of the store, and a directory that the system does not give is none.
    let problems = damaged.problems();
    assert!(problems.len() == 1 && problems[0].contains("its keys are missing"), "{problems:?}");
    std::os::unix::fs::symlink(&keys, &keys).unwrap();
    let error = damaged.store.check().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io, "{error}");
    assert!(error.to_string().starts_with("cannot check the store: "), "{error}");
    std::fs::remove_file(&keys).unwrap();
    std::fs::rename(&aside, &keys).unwrap();
    assert_eq!(damaged.problems(), [""; 0]);
}
