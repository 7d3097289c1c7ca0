//! Money that threads and processes move between partitions and tables: at every moment it is as much as there was.

use std::collections::BTreeMap;

use table_core::{DynamicEntity, Entity, ErrorKind, IfMatch, Query, Result, Tables};

use crate::random::Random;

/// An account of a branch: each branch is a partition.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Accounts", kind = "account")]
#[key(partition = "branch_{branch:02}", row = "account_{id:03}")]
#[index(by_balance, row = "balance_{balance:010}_{id:03}", copy = keys)]
pub struct Account {
    branch: u32,
    id: u32,
    balance: u64,
}

/// Money on its way, in a table of its own.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Transit", kind = "parcel")]
#[key(partition = "day_{day:02}", row = "parcel_{id:06}")]
#[index(by_amount, row = "amount_{amount:010}", unique, copy = keys)]
pub struct Parcel {
    day: u32,
    id: u32,
    amount: u64,
}

/// How many branches there are.
const BRANCHES: u32 = 4;
/// How many accounts each of them has.
const ACCOUNTS: u32 = 3;
/// What is on each of the accounts at first.
const FIRST: u64 = 1_000;
/// How many days there are.
const DAYS: u32 = 2;
/// How many parcels there can be in a day.
const PARCELS: u32 = 5;

/// What there is of money at every moment.
pub const TOTAL: u64 = FIRST * 12;

/// Opens the accounts.
pub fn prepare(store: &Tables) -> Result<()> {
    let accounts = store.table::<Account>()?;
    store.table::<Parcel>()?;
    for branch in 0..BRANCHES {
        for id in 0..ACCOUNTS {
            accounts.insert(&Account { branch, id, balance: FIRST })?;
        }
    }
    Ok(())
}

/// One who moves money, again and again.
#[derive(Debug)]
pub struct Clerk {
    store: Tables,
    random: Random,
    /// How many transfers were made.
    pub done: u64,
    /// How many were refused, since they could not be made.
    pub refused: u64,
}

impl Clerk {
    /// A clerk with choices of its own.
    pub fn new(store: &Tables, seed: u64) -> Self {
        Self { store: store.clone(), random: Random::new(seed), done: 0, refused: 0 }
    }

    /// Where it moves money.
    pub fn store(&self) -> &Tables {
        &self.store
    }

    fn below(&mut self, end: u32) -> u32 {
        u32::try_from(self.random.below(end.into())).unwrap_or_default()
    }

    /// Makes a transfer, and says whether it was made. Panics if it is refused for a reason that there can't be.
    pub fn step(&mut self) -> bool {
        let done = match self.random.below(4) {
            0 => self.send(),
            1 => self.receive(),
            _ => self.transfer(),
        };
        match done {
            Ok(()) => self.done += 1,
            Err(error) => {
                let expected = [
                    ErrorKind::DuplicateRow,
                    ErrorKind::EntityAlreadyExists,
                    ErrorKind::EntityNotFound,
                    ErrorKind::UniqueConflict,
                    ErrorKind::ConditionNotMet,
                ];
                assert!(expected.contains(&error.kind()), "{error}");
                assert!(error.index().is_some(), "{error}");
                self.refused += 1;
                return false;
            }
        }
        true
    }

    /// From one account to others, maybe of one branch.
    fn transfer(&mut self) -> Result<()> {
        let key = |clerk: &mut Self| (clerk.below(BRANCHES), clerk.below(ACCOUNTS));
        let (from, to, other) = (key(self), key(self), key(self));
        let amount = self.random.below(50);
        let moved = std::cell::Cell::new(0);
        self.store
            .transaction()
            .update(Account::key(from.0, from.1), |account: &mut Account| {
                moved.set((2 * amount).min(account.balance / 2 * 2));
                account.balance -= moved.get();
            })
            .update(Account::key(to.0, to.1), |account: &mut Account| account.balance += moved.get() / 2)
            .update(Account::key(other.0, other.1), |account: &mut Account| {
                account.balance += moved.get() / 2
            })
            .commit()
            .map(drop)
    }

    /// From an account into a parcel, of which there may be one, or another of its amount.
    fn send(&mut self) -> Result<()> {
        let (branch, account) = (self.below(BRANCHES), self.below(ACCOUNTS));
        let parcel = Parcel { day: self.below(DAYS), id: self.below(PARCELS), amount: self.random.below(10) };
        let Some(read) = self.store.table::<Account>()?.get(Account::key(branch, account))? else {
            return Ok(());
        };
        let left = read.balance.checked_sub(parcel.amount);
        let Some(balance) = left else { return Ok(()) };
        let change = Account::patch().balance(balance);
        let etag = table_core::Stored::etag(&read);
        let transaction = self.store.transaction().insert(&parcel);
        transaction.merge(Account::key(branch, account), change, etag).commit().map(drop)
    }

    /// Out of a parcel into an account.
    fn receive(&mut self) -> Result<()> {
        let (branch, account) = (self.below(BRANCHES), self.below(ACCOUNTS));
        let (day, id) = (self.below(DAYS), self.below(PARCELS));
        let Some(parcel) = self.store.table::<Parcel>()?.get(Parcel::key(day, id))? else { return Ok(()) };
        let etag = table_core::Stored::etag(&parcel);
        self.store
            .transaction()
            .update(Account::key(branch, account), |account: &mut Account| account.balance += parcel.amount)
            .delete_if(Parcel::key(day, id), etag)
            .commit()
            .map(drop)
    }
}

/// What there is of money in one snapshot of the store.
pub fn total(store: &Tables) -> Result<u64> {
    let snapshot = store.snapshot()?;
    let (accounts, parcels) = (store.table::<Account>()?, store.table::<Parcel>()?);
    let mut total = 0;
    for account in accounts.at(&snapshot).rows().across_partitions() {
        total += account?.balance;
    }
    for parcel in parcels.at(&snapshot).rows().across_partitions() {
        total += parcel?.amount;
    }
    Ok(total)
}

/// Looks at every row: each must be what the accounts and the parcels imply, and none may be missing. Panics if it is not
/// so.
pub fn check(store: &Tables) -> Result<()> {
    let rows = |table: &table_core::DynamicTable| -> Result<Vec<(String, String)>> {
        let key = |row: DynamicEntity| (row.partition_key().to_owned(), row.row_key().to_owned());
        table.query(&Query::new())?.map(|row| row.map(key)).collect()
    };
    let (accounts, parcels) = (store.table::<Account>()?, store.table::<Parcel>()?);
    let mut implied = BTreeMap::new();
    for account in accounts.rows().across_partitions() {
        let Account { branch, id, balance } = *account?;
        let partition = format!("branch_{branch:02}");
        implied.insert((partition.clone(), format!("account_{id:03}")), ());
        implied.insert((partition, format!("balance_{balance:010}_{id:03}")), ());
    }
    assert!(rows(accounts.dynamic())?.iter().eq(implied.keys()), "{implied:?}");
    implied.clear();
    for parcel in parcels.rows().across_partitions() {
        let Parcel { day, id, amount } = *parcel?;
        implied.insert((format!("day_{day:02}"), format!("parcel_{id:06}")), ());
        implied.insert((format!("day_{day:02}"), format!("amount_{amount:010}")), ());
    }
    assert!(rows(parcels.dynamic())?.iter().eq(implied.keys()), "{implied:?}");
    Ok(())
}

/// Whether a change would be refused by what it demands: never met, so that tests see nothing is written.
pub fn never_met(store: &Tables) -> Result<()> {
    let old = table_core::ETag::from_timestamp(table_core::Ticks::MIN);
    let double = |account: &mut Account| account.balance *= 2;
    let transaction = store.transaction().update(Account::key(0, 0), double);
    transaction.delete_if(Account::key(1, 0), IfMatch::ETag(old)).commit().map(drop)
}
