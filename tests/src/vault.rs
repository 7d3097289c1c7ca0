//! Typed entities with sealed fields whose keys are rotated while others write, and what must be in the store whatever
//! came between.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use table_core::crypt::{KeyHandle, KeyRing, Scope};
use table_core::{DynamicEntity, Entity, ErrorKind, IfMatch, Key, Query, Result, Store, Table};

use crate::random::Random;

/// An account, whose secret says which it is.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Vault", kind = "account")]
#[key(partition = "{team}", row = "account_{id:04}")]
#[index(by_count, row = "count_{turns:06:inverted}_{id:04}", copy(secret))]
#[index(by_name, row = "name_{name}_{id:04}")]
#[index(by_secret, row = "secret_{secret:blind}", unique, copy = keys)]
#[index(by_flag, row = "flag_{id:04}", when = Account::is_odd, copy(amount))]
pub struct Account {
    team: String,
    id: u32,
    name: String,
    turns: u32,
    #[encrypt(blind)]
    secret: String,
    #[encrypt]
    amount: i64,
}

impl Account {
    fn is_odd(&self) -> bool {
        self.turns % 2 == 1
    }

    fn new(id: u32) -> Self {
        let mut account = Self {
            team: TEAMS[usize::try_from(id % 4).unwrap_or_default()].into(),
            id,
            name: format!("n{}", id % 7),
            turns: 0,
            secret: String::new(),
            amount: 0,
        };
        account.reseal(0);
        account
    }

    /// Sets what is secret by what is not.
    fn reseal(&mut self, turns: u32) {
        self.turns = turns;
        self.secret = format!("{} of {} at {turns}", self.id, self.team);
        self.amount = i64::from(self.id) << (turns % 40);
    }
}

/// The partitions.
const TEAMS: [&str; 4] = ["east", "north", "south", "west"];

/// How many accounts there are, come and go aside: several steps of a job.
pub const ACCOUNTS: u32 = 600;

/// The store in this directory, with keys in a ring beside it.
pub fn open(dir: &Path) -> Result<Store> {
    let ring = dir.join("ring");
    let ring = if ring.exists() { KeyRing::open(ring) } else { KeyRing::create(ring) };
    crate::relaxed().encryption(Arc::new(ring?)).open(dir.join("store"))
}

/// Makes the table and its accounts.
pub fn prepare(store: &Store) -> Result<()> {
    let report = store.table::<Account>()?.bulk_insert((0..ACCOUNTS).map(Account::new))?;
    assert!(report.failures.is_empty());
    Ok(())
}

/// Adds an account of this number.
pub fn add(store: &Store, id: u32) -> Result<()> {
    store.table::<Account>()?.insert(&Account::new(id)).map(drop)
}

/// How many accounts hold anything that another key has sealed than this.
pub fn sealed_otherwise(store: &Store, key: KeyHandle) -> Result<u64> {
    let mut many = 0;
    for row in store.dynamic_table("Vault")?.query(&Query::new())? {
        let row = row?;
        let is_other = |property| {
            row.get(property).and_then(|value| value.as_bytes()).and_then(KeyHandle::of) != Some(key)
        };
        let is_own = row.row_key().starts_with("account_");
        many += u64::from(is_own && (is_other("Secret") || is_other("Amount")));
    }
    Ok(many)
}

/// Changes an account in some way, or adds or removes one.
pub fn write(table: &Table<Account>, random: &mut Random) -> Result<()> {
    let id = u32::try_from(random.below(ACCOUNTS.into())).unwrap_or_default();
    let (one, other) = (Account::new(id), Account::new(ACCOUNTS + id % 50));
    let key = Key::of(&one);
    let done = match random.below(6) {
        0 => table.update(key, |a| a.reseal(a.turns + 1)).map(drop),
        1 => table.update(key, |a| a.name = format!("n{}", a.turns % 5)).map(drop),
        2 => table.merge(key, Account::patch().name("patched"), IfMatch::Any).map(drop),
        3 => table.put(&one).map(drop),
        4 => table.insert(&other).map(drop),
        _ => table.delete(Key::of(&other)),
    };
    match done {
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::EntityNotFound | ErrorKind::EntityAlreadyExists | ErrorKind::ConditionNotMet
            ) =>
        {
            Ok(())
        }
        done => done,
    }
}

/// Rotates the key, seals everything anew and destroys the old keys. Says after each step of the job that changed something how many rows have
/// been seen at which generation of the keys.
pub fn rotate(store: &Store, mut say: impl FnMut(u64, u64)) -> Result<()> {
    let encryption = store.encryption()?;
    encryption.rotate(&Scope::store())?;
    finish(store, |seen| {
        if let Ok(generation) = encryption.generation() {
            say(seen, generation);
        }
    })
}

/// Goes on with the job to its end, and destroys the keys that seal nothing any more.
pub fn finish(store: &Store, mut say: impl FnMut(u64)) -> Result<()> {
    let mut job = store.table::<Account>()?.reencrypt()?;
    let mut changed = job.report().changed;
    while job.step()? {
        // What changed nothing may be looked at again.
        if changed < job.report().changed {
            changed = job.report().changed;
            say(job.report().seen);
        }
    }
    if let Some(failure) = job.report().failures.first() {
        panic!("{} failed: {failure}", job.report().failed);
    }
    store.encryption()?.destroy_unused().map(drop)
}

/// Looks at every row: each entity opens, its secret is its own and of its count, and its copies hold its very bytes.
/// Returns how many entities there are.
pub fn check(store: &Store) -> Result<usize> {
    let table = store.table::<Account>()?;
    let snapshot = store.snapshot()?;
    let mut rows = BTreeMap::new();
    for row in snapshot.query(table.dynamic(), &Query::new())? {
        let row = row?;
        rows.insert(row.row_key().to_owned(), row);
    }
    let total = rows.len();
    let (mut entities, mut expected) = (0, 0);
    for account in table.at(&snapshot).rows().across_partitions() {
        let account = account?;
        let mut right = Account::clone(&account);
        right.reseal(account.turns);
        assert_eq!(*account, right);
        entities += 1;
        expected += 4 + usize::from(account.is_odd());
        let Account { id, turns, name, .. } = &*account;
        let row = |key: String| rows.get(&key).unwrap_or_else(|| panic!("there is no {key}"));
        let own = row(format!("account_{id:04}"));
        let agrees = |copy: &DynamicEntity, property: &str| {
            let bytes = own.get(property).and_then(|value| value.as_bytes());
            assert!(bytes.and_then(KeyHandle::of).is_some(), "{own:?}");
            assert_eq!(copy.get(property), own.get(property), "{}: {property}", copy.row_key());
        };
        agrees(row(format!("count_{:06}_{id:04}", 999_999 - turns)), "Secret");
        let by_name = row(format!("name_{name}_{id:04}"));
        agrees(by_name, "Secret");
        agrees(by_name, "Amount");
        // Where its token says, under a key that is there.
        let by_secret = table.get(Account::by_secret(&account.team, account.secret.as_str()))?;
        assert_eq!(by_secret.map(|found| found.id), Some(account.id));
        if account.is_odd() {
            agrees(row(format!("flag_{id:04}")), "Amount");
        }
    }
    assert_eq!(total, expected, "rows of no entity");
    Ok(entities)
}
