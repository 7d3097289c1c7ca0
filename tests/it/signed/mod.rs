//! Rows that carry a keyed digest: what is written by others than their struct, or changed by who has no keys.

mod forged;
mod renamed;
mod reopened;

use std::sync::Arc;

use integration_tests::Scratch;
use table_core::crypt::MemoryKeys;
use table_core::{DynamicEntity, Entity, EntitySet, ErrorKind, IfMatch, Query, Store, Table};

/// What a bank keeps: nothing of it secret, and all of it to be believed.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Bank", kind = "account", signed)]
#[key(partition = "{branch}", row = "account_{id:06}")]
#[index(by_owner, row = "owner_{owner}_{id:06}")]
#[index(by_iban, row = "iban_{iban}", unique, copy(balance))]
struct Account {
    branch: String,
    id: u32,
    owner: String,
    iban: String,
    balance: i64,
    note: Option<String>,
}

fn account(id: u32) -> Account {
    Account {
        branch: "Bonn".into(),
        id,
        owner: "Ann".into(),
        iban: format!("DE{id:04}"),
        balance: 100 * i64::from(id),
        // A large value has a digest of its own.
        note: (id == 2).then(|| "n".repeat(3_000)),
    }
}

/// A store with three accounts.
struct Bank {
    scratch: Scratch,
    keys: Arc<MemoryKeys>,
}

impl Bank {
    fn new() -> Self {
        let bank = Self { scratch: Scratch::new(), keys: Arc::new(MemoryKeys::new().unwrap()) };
        let (_store, accounts) = bank.open();
        for id in 1..=3 {
            accounts.insert(&account(id)).unwrap();
        }
        bank
    }

    fn open(&self) -> (Store, Table<Account>) {
        let options = integration_tests::relaxed().encryption(self.keys.clone());
        let store = options.open(self.scratch.path().join("store")).unwrap();
        let accounts = store.table().unwrap();
        (store, accounts)
    }

    fn open_without_keys(&self) -> Store {
        integration_tests::relaxed().open(self.scratch.path().join("store")).unwrap()
    }
}

fn all(accounts: &Table<Account>) -> Vec<u32> {
    accounts.rows().branch("Bonn").into_iter().map(|found| found.unwrap().id).collect()
}

#[test]
fn what_the_struct_writes_is_read_on_every_path() {
    let bank = Bank::new();
    let (store, accounts) = bank.open();
    assert_eq!(all(&accounts), [1, 2, 3]);
    for id in 1..=3 {
        let found = accounts.get(Account::key("Bonn", id)).unwrap().unwrap();
        assert_eq!(found, account(id));
        let copy = accounts.get(Account::by_owner("Bonn", "Ann", id)).unwrap().unwrap();
        assert_eq!(*copy, account(id));
        let part = accounts.get(Account::by_iban("Bonn", format!("DE{id:04}"))).unwrap().unwrap();
        assert_eq!(part.balance, 100 * i64::from(id));
    }
    // A changed one is signed anew, and a moved one for its new place.
    accounts.update(Account::key("Bonn", 2), |account| account.balance = 7).unwrap();
    accounts.merge(Account::key("Bonn", 3), Account::patch().owner("Bob"), IfMatch::Any).unwrap();
    accounts.move_to(Account::key("Bonn", 1), |account| account.id = 9).unwrap();
    assert_eq!(all(&accounts), [2, 3, 9]);
    assert_eq!(accounts.by_owner().branch("Bonn").owner("Bob").count().unwrap(), 1);
    assert_eq!(accounts.rows().branch("Bonn").filter(|account| account.balance.eq(7)).count().unwrap(), 1);
    let rows: u64 = store.check().unwrap().rows;
    assert_eq!((rows, store.check().unwrap().problems.len()), (9, 0));
    // As bytes, in the table that knows no struct.
    assert_eq!(accounts.dynamic().query(&Query::new()).unwrap().filter(Result::is_ok).count(), 9);
}

#[test]
fn a_copy_of_the_store_opens_and_is_genuine() {
    let bank = Bank::new();
    let (store, _accounts) = bank.open();
    let copy = bank.scratch.path().join("copy");
    store.copy_to(&copy).unwrap();
    let copy = integration_tests::relaxed().encryption(bank.keys.clone()).open(&copy).unwrap();
    assert_eq!(all(&copy.table::<Account>().unwrap()), [1, 2, 3]);
}

#[test]
fn without_keys_signed_rows_are_neither_read_nor_written() {
    let bank = Bank::new();
    let store = bank.open_without_keys();
    let accounts = store.table::<Account>().unwrap();
    let unavailable = |error: table_core::Error| {
        assert_eq!(error.kind(), ErrorKind::KeyUnavailable, "{error}");
    };
    unavailable(accounts.get(Account::key("Bonn", 1)).unwrap_err());
    unavailable(accounts.insert(&account(4)).unwrap_err());
    unavailable(accounts.rows().branch("Bonn").into_iter().next().unwrap().unwrap_err());
    unavailable(accounts.dynamic().get("Bonn", "account_000001").unwrap_err());
    // What takes no keys is checked.
    assert!(store.check().unwrap().problems.is_empty());
}

#[test]
fn what_no_struct_has_written_is_refused() {
    let bank = Bank::new();
    let (store, accounts) = bank.open();
    // Not even by a handle that may write rows of declared kinds.
    let table = &accounts.dynamic().raw();
    let forged = || {
        DynamicEntity::new("Bonn", "account_000009")
            .with("EntityType", "account")
            .with("Owner", "Eve")
            .with("Iban", "DE0009")
            .with("Balance", 1_000_000_i64)
    };
    let refused = |error: table_core::Error| {
        assert_eq!(error.kind(), ErrorKind::SchemaMismatch, "{error}");
        assert!(error.to_string().contains("signed"), "{error}");
    };
    refused(table.insert(&forged()).unwrap_err());
    refused(table.put(&forged()).unwrap_err());
    refused(table.encrypting(|_, _, _| false).insert(&forged()).unwrap_err());
    // A batch with one of them is refused whole, by name.
    let batch = table.batch("Bonn").insert(DynamicEntity::new("Bonn", "free")).insert(forged());
    let error = batch.commit().unwrap_err();
    assert_eq!(error.index(), Some(1));
    refused(error);
    assert!(table.get("Bonn", "free").unwrap().is_none());
    // Neither can one that is there be changed, whatever it is to become.
    let row = DynamicEntity::new("Bonn", "account_000001").with("Balance", 5_i64);
    refused(table.merge(&row, IfMatch::Any).unwrap_err());
    refused(table.insert_or_merge(&row).unwrap_err());
    refused(table.replace(&row, IfMatch::Any).unwrap_err());
    refused(table.put(&row).unwrap_err());
    let copy = DynamicEntity::new("Bonn", "owner_Eve_000001").with("EntityType", "account.by_owner");
    refused(table.insert(&copy).unwrap_err());
    assert_eq!(*accounts.get(Account::key("Bonn", 1)).unwrap().unwrap(), account(1));
    // Other kinds of rows are nobody's concern, and such a handle may delete these.
    table.insert(&DynamicEntity::new("Bonn", "free").with("Balance", 5_i64)).unwrap();
    let error = accounts.dynamic().delete("Bonn", "account_000003").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::DeclaredKind);
    table.delete("Bonn", "account_000003").unwrap();
    assert!(store.check().unwrap().problems.is_empty());
}

#[test]
fn a_kind_that_has_rows_does_not_become_signed() {
    #[derive(Entity)]
    #[entity(table = "Bank", kind = "account")]
    #[key(partition = "{branch}", row = "account_{id:06}")]
    #[index(by_owner, row = "owner_{owner}_{id:06}")]
    #[index(by_iban, row = "iban_{iban}", unique, copy(balance))]
    struct Unsigned {
        branch: String,
        id: u32,
        owner: String,
        iban: String,
        balance: i64,
        note: Option<String>,
    }
    let bank = Bank::new();
    let (store, _) = bank.open();
    let error = store.table::<Unsigned>().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LayoutChanged);
    assert!(error.to_string().contains("- signed"), "{error}");
}

/// What is secret and what is to be believed, in one.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Bank", kind = "card", signed)]
#[key(partition = "{branch}", row = "card_{id:06}")]
#[index(by_number, row = "number_{number:blind}", unique)]
struct Card {
    branch: String,
    id: u32,
    #[encrypt(blind)]
    number: String,
    limit: i32,
}

fn card(id: u32) -> Card {
    Card { branch: "Bonn".into(), id, number: format!("4711 {id}"), limit: 500 }
}

/// Everything that a branch keeps.
#[derive(EntitySet, Clone, Debug, PartialEq)]
enum Kept {
    Account(Account),
    Card(Card),
}

#[test]
fn sets_batches_and_loads_sign_what_they_write() {
    let bank = Bank::new();
    let (store, accounts) = bank.open();
    let kept = store.set::<Kept>().unwrap();
    kept.egt(Account::partition("Bonn")).insert(&account(4)).insert(&card(1)).commit().unwrap();
    let cards = store.table::<Card>().unwrap();
    cards.bulk_insert((2..=5).map(card)).unwrap().into_result().unwrap();
    let any = DynamicEntity::new("Bonn", "account_000009")
        .with("EntityType", "account")
        .with("Owner", "Ann")
        .with("Iban", "DE0009")
        .with("Balance", 900_i64);
    kept.insert_any(&any).unwrap();
    assert_eq!(*accounts.get(Account::key("Bonn", 9)).unwrap().unwrap(), account(9));
    let read: Vec<Kept> = kept
        .partition(Account::partition("Bonn"))
        .into_iter()
        .map(|found| table_core::Stored::into_inner(found.unwrap()))
        .collect();
    assert_eq!(read.len(), 5 + 5);
    assert!(read.contains(&Kept::Card(card(5))) && read.contains(&Kept::Account(account(9))));
    let found = cards.get(Card::by_number("Bonn", "4711 3")).unwrap().unwrap();
    assert_eq!(*found, card(3));
    assert!(store.check().unwrap().problems.is_empty());
}

#[test]
fn a_job_that_seals_anew_signs_anew() {
    let bank = Bank::new();
    let (store, _) = bank.open();
    let cards = store.table::<Card>().unwrap();
    cards.bulk_insert((1..=5).map(card)).unwrap().into_result().unwrap();
    let encryption = store.encryption().unwrap();
    encryption.rotate_all().unwrap();
    let report = cards.reencrypt().unwrap().run().unwrap();
    assert_eq!((report.changed, report.failed), (5, 0));
    assert!(encryption.destroy_unused().unwrap() > 0);
    for id in 1..=5 {
        assert_eq!(*cards.get(Card::key("Bonn", id)).unwrap().unwrap(), card(id));
        let copy = cards.get(Card::by_number("Bonn", format!("4711 {id}"))).unwrap().unwrap();
        assert_eq!(*copy, card(id));
    }
    assert!(store.check().unwrap().problems.is_empty());
}

#[test]
fn a_store_that_was_put_back_is_told_by_its_mark() {
    let bank = Bank::new();
    let path = bank.scratch.path().join("store");
    let (store, accounts) = bank.open();
    let early = store.mark().unwrap();
    let backup = bank.scratch.path().join("backup");
    store.copy_to(&backup).unwrap();
    accounts.insert(&account(4)).unwrap();
    let mark = store.mark().unwrap();
    assert_ne!(mark, early);
    drop((store, accounts));
    let open = |path: &std::path::Path, mark| {
        let options = integration_tests::relaxed().encryption(bank.keys.clone()).not_before(mark);
        options.open(path).map(drop).map_err(|error| error.kind())
    };
    assert_eq!(open(&path, mark), Ok(()));
    assert_eq!(open(&path, early), Ok(()));
    assert_eq!(open(&backup, early), Ok(()));
    assert_eq!(open(&backup, mark), Err(ErrorKind::RolledBack));
    // Nor is a store made that could not be the one.
    let nowhere = bank.scratch.path().join("nowhere");
    assert_eq!(open(&nowhere, mark), Err(ErrorKind::Io));
    assert!(!nowhere.exists());
    // Also one that is open already.
    let options = || integration_tests::relaxed().encryption(bank.keys.clone());
    let held = options().open(&backup).unwrap();
    assert_eq!(open(&backup, mark), Err(ErrorKind::RolledBack));
    drop(held);
    // Another store has another mark, however far it has come.
    let other = Bank::new();
    let theirs = other.open().0.mark().unwrap();
    assert_eq!(open(&path, theirs), Err(ErrorKind::RolledBack));
    assert_eq!("nothing".parse::<table_core::store::Mark>().unwrap_err().kind(), ErrorKind::InvalidMark);
}
