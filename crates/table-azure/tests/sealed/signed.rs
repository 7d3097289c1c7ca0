//! Rows that carry a keyed digest: one that was changed without the keys is refused.

use table_azure::AzureTables;
use table_azure::client::{Operation, Outcome};
use table_core::{DynamicEntity, Entity, ErrorKind, IfMatch, Query};

use super::rotation::{open, provider};
use super::server::{Own, connection};

#[derive(Clone, Debug, PartialEq, Entity)]
#[entity(table = "Accounts", kind = "account", signed)]
#[key(partition = "{team}", row = "{id:06}")]
#[index(by_owner, row = "owner_{owner}_{id:06}")]
#[index(elsewhere, table = "Owners", partition = "{owner}", row = "{team}_{id:06}", eventual)]
struct Account {
    team: String,
    id: u32,
    owner: String,
    amount: i64,
    rate: f64,
}

/// Its copies hold what is sealed, so that they are signed.
#[derive(Clone, Debug, PartialEq, Entity)]
#[entity(table = "Bonuses", kind = "bonus")]
#[key(partition = "{company}", row = "bonus_{id:04}")]
#[index(by_year, row = "year_{year:04}_{id:04}")]
struct Bonus {
    company: String,
    id: u32,
    year: u16,
    #[encrypt]
    amount: i64,
}

fn account(id: u32) -> Account {
    Account { team: "a".into(), id, owner: "Jones".into(), amount: 5, rate: -0.0 }
}

fn bonus(id: u32) -> Bonus {
    Bonus { company: "contoso".into(), id, year: 2026, amount: 7 }
}

/// Writes a row past the store.
fn send(tables: &AzureTables, table: &str, partition: &str, operation: Operation) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let outcome = runtime.block_on(tables.client().execute(table, partition, &[operation])).unwrap();
    assert!(matches!(outcome, Outcome::Done(_)), "{outcome:?}");
}

/// Puts a row past the store, as it is.
fn put(tables: &AzureTables, table: &str, row: &DynamicEntity) {
    let mut body = Vec::new();
    let writer = table_core::odata::Writer::new(table_core::odata::Metadata::Full);
    writer.double_types().entity(row.clone(), &mut body).unwrap();
    send(tables, table, row.partition_key(), Operation::replace(row.row_key(), None, body));
}

fn row(tables: &AzureTables, table: &str, key: &str) -> DynamicEntity {
    super::raw(tables, table).into_iter().find(|row| row.row_key() == key).unwrap()
}

#[test]
fn a_row_that_is_signed_is_not_changed_by_others() {
    let (server, provider) = (Own::start(), provider());
    let (tables, other) = (open(&server, &provider), open(&server, &provider));
    let accounts = tables.table::<Account>().unwrap();
    for id in 0..2 {
        accounts.insert(&account(id)).unwrap();
    }
    let read = other.table::<Account>().unwrap();
    accounts.update(Account::key("a", 0), |account| account.amount = 6).unwrap();
    accounts.merge(Account::key("a", 0), Account::patch().rate(f64::NAN), IfMatch::Any).unwrap();
    assert_eq!(read.get(Account::key("a", 0)).unwrap().unwrap().amount, 6);
    assert_eq!(read.by_owner().team("a").entities().count().unwrap(), 2);
    // The digest is no property of the row.
    let seen = accounts.dynamic().get("a", "000000").unwrap().unwrap();
    assert!(seen.get("TcDigest").is_none() && row(&tables, "Accounts", "000000").get("TcDigest").is_some());

    for key in ["000000", "owner_Jones_000000"] {
        let was = row(&tables, "Accounts", key);
        let mut unsigned = DynamicEntity::new("a", key);
        for (name, value) in was.properties().filter(|(name, _)| *name != "TcDigest") {
            unsigned.set(name, value.clone());
        }
        let mut moved = DynamicEntity::new("a", key.replace("000000", "000009"));
        for (name, value) in was.properties() {
            moved.set(name, value.clone());
        }
        for (what, forged) in [
            ("a value", was.clone().with("Amount", 7_i64)),
            ("a property more", was.clone().with("Extra", true)),
            ("no digest", unsigned),
            ("another digest", was.clone().with("TcDigest", vec![0; 16])),
            ("no bytes of a digest", was.clone().with("TcDigest", "text")),
            ("another key", moved),
        ] {
            put(&tables, "Accounts", &forged);
            let error = match key {
                "000000" => read.all().into_iter().collect::<Result<Vec<_>, _>>().unwrap_err(),
                _ => read
                    .by_owner()
                    .team("a")
                    .entities()
                    .into_iter()
                    .collect::<Result<Vec<_>, _>>()
                    .unwrap_err(),
            };
            assert_eq!(error.kind(), ErrorKind::NotGenuine, "{what}: {error}");
            assert_eq!(error.row_key(), Some(forged.row_key()), "{what}");
            put(&tables, "Accounts", &was);
            if forged.row_key() != key {
                send(&tables, "Accounts", "a", Operation::delete(forged.row_key(), "*".into()));
            }
            assert_eq!(read.all().into_iter().count(), 2);
        }
    }
    // Neither one property of it shows.
    let forged = row(&tables, "Accounts", "000001").with("Amount", 7_i64);
    put(&tables, "Accounts", &forged);
    let shown = accounts.dynamic().query(&Query::new().select(["Owner"])).unwrap();
    let shown: Result<Vec<_>, _> = shown.collect();
    assert_eq!(shown.unwrap_err().kind(), ErrorKind::NotGenuine);
    let error = accounts.update(Account::key("a", 1), |account| account.amount += 1).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotGenuine, "{error}");
    assert_eq!(row(&tables, "Accounts", "000001").get("Amount"), forged.get("Amount"));
}

#[test]
fn a_signed_row_is_not_taken_for_that_of_another_table() {
    let (server, provider) = (Own::start(), provider());
    let tables = open(&server, &provider);
    let accounts = tables.table::<Account>().unwrap();
    accounts.insert(&account(1)).unwrap();
    let was = row(&tables, "Accounts", "000001");
    let other = AzureTables::clone(&tables);
    let archive = other.create_table("Archive").unwrap();
    put(&tables, "Archive", &was);
    assert_eq!(archive.get("a", "000001").unwrap_err().kind(), ErrorKind::NotGenuine);
}

#[test]
fn rows_that_are_signed_are_written_by_their_structs_alone() {
    let (server, provider) = (Own::start(), provider());
    let tables = open(&server, &provider);
    tables.table::<Account>().unwrap().insert(&account(1)).unwrap();
    let before = format!("{:?}", super::raw(&tables, "Accounts"));
    let dynamic = tables.dynamic_table("Accounts").unwrap();
    let forged = |key: &str| DynamicEntity::new("a", key).with("EntityType", "account").with("Amount", 9_i64);
    let merged = DynamicEntity::new("a", "000001").with("Amount", 9_i64);
    for refused in [
        dynamic.raw().put(&forged("000002")).map(drop),
        dynamic.raw().insert(&forged("000003")).map(drop),
        dynamic.raw().merge(&merged, IfMatch::Any).map(drop),
        dynamic.raw().put(&merged).map(drop),
    ] {
        let error = refused.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::SchemaMismatch, "{error}");
    }
    assert_eq!(format!("{:?}", super::raw(&tables, "Accounts")), before, "nothing was written");
    dynamic.raw().delete("a", "000001").unwrap();
}

#[test]
fn copies_that_hold_a_sealed_value_are_signed_and_so_are_those_that_follow() {
    let (server, provider) = (Own::start(), provider());
    let (tables, other) = (open(&server, &provider), open(&server, &provider));
    tables.table::<Bonus>().unwrap().insert(&bonus(1)).unwrap();
    tables.table::<Account>().unwrap().insert(&account(1)).unwrap();
    tables.propagate().unwrap();
    let (bonuses, accounts) = (other.table::<Bonus>().unwrap(), other.table::<Account>().unwrap());
    assert_eq!(bonuses.get(Bonus::by_year("contoso", 2026, 1)).unwrap().unwrap().amount, 7);
    assert_eq!(accounts.get(Account::elsewhere("Jones", "a", 1)).unwrap().unwrap().amount, 5);
    for (table, key) in [("Bonuses", "year_2026_0001"), ("Owners", "a_000001")] {
        let was = row(&tables, table, key);
        assert!(was.get("TcDigest").is_some());
        put(&tables, table, &was.clone().with("Extra", 2027_i32));
        let error = match table {
            "Bonuses" => bonuses.get(Bonus::by_year("contoso", 2026, 1)).map(drop),
            _ => accounts.get(Account::elsewhere("Jones", "a", 1)).map(drop),
        };
        assert_eq!(error.unwrap_err().kind(), ErrorKind::NotGenuine, "{table}");
        put(&tables, table, &was);
    }
    // The entity's own row is not signed, and its sealed value can't be another's.
    assert!(row(&tables, "Bonuses", "bonus_0001").get("TcDigest").is_none());
}

#[test]
fn without_the_keys_signed_rows_are_neither_read_nor_written() {
    let (server, provider) = (Own::start(), provider());
    let tables = open(&server, &provider);
    tables.table::<Account>().unwrap().insert(&account(1)).unwrap();
    // The entry of the outbox goes by itself, at some time.
    tables.propagate().unwrap();
    let before = super::raw(&tables, "Accounts").len();
    let without = AzureTables::connect(&connection(server.address)).unwrap();
    let read = without.table::<Account>().and_then(|accounts| accounts.get(Account::key("a", 1)).map(drop));
    assert_eq!(read.unwrap_err().kind(), ErrorKind::KeyUnavailable);
    let written = without.table::<Account>().and_then(|accounts| accounts.insert(&account(2)).map(drop));
    assert_eq!(written.unwrap_err().kind(), ErrorKind::KeyUnavailable);
    let seen = without.dynamic_table("Accounts").unwrap().get("a", "000001");
    assert_eq!(seen.unwrap_err().kind(), ErrorKind::KeyUnavailable);
    assert_eq!(super::raw(&tables, "Accounts").len(), before);
}
