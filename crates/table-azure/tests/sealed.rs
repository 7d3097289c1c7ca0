//! Sealed properties, by keys in a table of their own.

#![expect(clippy::unwrap_used, reason = "helpers of tests, outside their functions")]

#[path = "sealed/rewrapped.rs"]
mod rewrapped;
#[path = "sealed/rotation.rs"]
mod rotation;
#[path = "support/server.rs"]
mod server;
#[path = "sealed/signed.rs"]
mod signed;

use std::sync::Arc;
use std::thread;

use table_azure::client::{Operation, PageRequest};
use table_azure::{AzureOptions, AzureTables};
use table_core::asynchronous::block_on;
use table_core::crypt::{MemoryKeys, Secret};
use table_core::{DynamicEntity, Entity, ErrorKind};

use self::server::{Own, connection};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Payroll", kind = "employee")]
#[key(partition = "{company}", row = "empid_{id:04}")]
#[index(by_salary_band, row = "band_{band:02}_{id:04}", copy = keys)]
struct Employee {
    company: String,
    id: u32,
    band: u8,
    #[encrypt]
    ssn: Secret<String>,
    #[encrypt(scope = partition)]
    salary: i64,
}

fn employee(company: &str, id: u32) -> Employee {
    let ssn = format!("078-05-{id:04}");
    Employee { company: company.into(), id, band: 3, ssn: ssn.into(), salary: 1_000 + i64::from(id) }
}

fn open(server: &Own, keys: &Arc<MemoryKeys>) -> AzureTables {
    AzureOptions::new().encryption(keys.clone()).connect(&connection(server.address)).unwrap()
}

/// Returns all rows of a table as the service has them.
fn raw(tables: &AzureTables, table: &str) -> Vec<DynamicEntity> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(tables.client().page(table, &PageRequest::default())).unwrap().entities
}

#[test]
fn what_is_sealed_is_opened_by_the_provider_s_keys_alone() {
    let (server, keys) = (Own::start(), Arc::new(MemoryKeys::new().unwrap()));
    let tables = open(&server, &keys);
    let staff = tables.table::<Employee>().unwrap();
    for company in ["contoso", "fabrikam"] {
        for id in 1..4 {
            staff.insert(&employee(company, id)).unwrap();
        }
    }
    // Nothing of it is to be seen: neither the value nor the partition's name in the keys.
    let seen = format!("{:?} {:?}", raw(&tables, "Payroll"), raw(&tables, "TcKeys"));
    assert!(!seen.contains("078-05"), "{seen}");
    let of_numbers: Vec<_> =
        raw(&tables, "Payroll").into_iter().filter_map(|row| row.get("Salary").cloned()).collect();
    assert!(
        of_numbers.len() == 6 && of_numbers.iter().all(|salary| salary.as_bytes().is_some()),
        "{of_numbers:?}"
    );
    assert!(!format!("{:?}", raw(&tables, "TcKeys")).contains("contoso"));
    assert!(tables.tables().unwrap().iter().all(|name| name == "Payroll"));

    // Another process with the provider reads it, looks it up, and changes it.
    let other = open(&server, &keys);
    let staff = other.table::<Employee>().unwrap();
    assert_eq!(*staff.get(Employee::key("contoso", 2)).unwrap().unwrap(), employee("contoso", 2));
    assert_eq!(staff.by_salary_band().company("contoso").band(3).entities().count().unwrap(), 3);
    staff.update(Employee::key("contoso", 2), |one| one.salary = 5).unwrap();
    assert_eq!(staff.get(Employee::key("contoso", 2)).unwrap().unwrap().salary, 5);
    let salaries: Vec<_> =
        staff.rows().company("fabrikam").into_iter().map(|one| one.unwrap().salary).collect();
    assert_eq!(salaries, [1_001, 1_002, 1_003]);
    let awaited = block_on(async {
        let staff = other.to_async().table::<Employee>().await.unwrap();
        staff.get(Employee::key("fabrikam", 1)).await.unwrap().unwrap().salary
    });
    assert_eq!(awaited, 1_001);

    // One without it, or with another's, doesn't.
    let stranger = open(&server, &Arc::new(MemoryKeys::new().unwrap()));
    let found = stranger.table::<Employee>().and_then(|staff| staff.get(Employee::key("contoso", 1)));
    let refused = found.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::KeyUnavailable, "{refused}");
    let without = AzureTables::connect(&connection(server.address)).unwrap();
    let inserted = without.table::<Employee>().and_then(|staff| staff.insert(&employee("contoso", 7)));
    let refused = inserted.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::KeyUnavailable, "{refused}");
    assert!(refused.to_string().contains("`AzureOptions::encryption`"), "{refused}");
}

#[test]
fn what_can_t_be_sealed_is_refused_by_name_and_not_written() {
    let (server, keys) = (Own::start(), Arc::new(MemoryKeys::new().unwrap()));
    let tables = open(&server, &keys);
    let assumed = AzureOptions::new().assume_layouts().encryption(keys).connect(&connection(server.address));
    let inserted =
        assumed.unwrap().table::<Employee>().and_then(|staff| staff.insert(&employee("contoso", 1)));
    let refused = inserted.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unsupported, "{refused}");
    assert!(refused.to_string().contains("`AzureOptions::assume_layouts`"), "{refused}");
    assert!(raw(&tables, "Payroll").is_empty());
}

/// Many make the first key of one scope at a time: all have the one that was first.
#[test]
fn a_scope_has_one_key_whoever_makes_it() {
    let (server, keys) = (Own::start(), Arc::new(MemoryKeys::new().unwrap()));
    let staff = open(&server, &keys).table::<Employee>().unwrap();
    thread::scope(|scope| {
        for id in 0..8 {
            let (server, keys) = (&server, &keys);
            scope.spawn(move || {
                open(server, keys).table::<Employee>().unwrap().insert(&employee("contoso", id)).unwrap();
            });
        }
    });
    for id in 0..8 {
        assert_eq!(*staff.get(Employee::key("contoso", id)).unwrap().unwrap(), employee("contoso", id));
    }
    let scopes = raw(&open(&server, &keys), "TcKeys");
    assert_eq!(scopes.iter().filter(|row| row.row_key().starts_with("scope_")).count(), 2);
}

#[test]
fn a_record_of_a_key_that_was_changed_is_told() {
    let (server, keys) = (Own::start(), Arc::new(MemoryKeys::new().unwrap()));
    let tables = open(&server, &keys);
    tables.table::<Employee>().unwrap().insert(&employee("contoso", 1)).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let rows = raw(&tables, "TcKeys");
    let data_keys: Vec<_> = rows.iter().filter(|row| row.row_key().starts_with("key_")).collect();
    for (changed, kind) in [("AAAA", ErrorKind::DecryptionFailed), ("", ErrorKind::DecryptionFailed)] {
        for row in &data_keys {
            let key = row.row_key();
            let body = format!(
                r#"{{"PartitionKey":"keys","RowKey":"{key}","Wrapped@odata.type":"Edm.Binary","Wrapped":"{changed}"}}"#
            );
            let operation = [Operation::merge(key, Some("*".into()), body.into_bytes())];
            runtime.block_on(tables.client().execute("TcKeys", "keys", &operation)).unwrap();
        }
        let staff = open(&server, &keys).table::<Employee>().unwrap();
        let refused = staff.get(Employee::key("contoso", 1)).unwrap_err();
        assert_eq!(refused.kind(), kind, "{refused}");
    }
    // Without its row, the key is not there any more.
    for row in &data_keys {
        let operation = [Operation::delete(row.row_key(), "*".into())];
        runtime.block_on(tables.client().execute("TcKeys", "keys", &operation)).unwrap();
    }
    let staff = open(&server, &keys).table::<Employee>().unwrap();
    assert_eq!(staff.get(Employee::key("contoso", 1)).unwrap_err().kind(), ErrorKind::KeyUnavailable);
}

/// A process without the keys of a scope can't change which keys it has.
#[test]
fn a_record_of_a_scope_that_was_changed_is_told() {
    let (server, keys) = (Own::start(), Arc::new(MemoryKeys::new().unwrap()));
    let tables = open(&server, &keys);
    tables.table::<Employee>().unwrap().insert(&employee("contoso", 1)).unwrap();
    let scopes: Vec<_> =
        raw(&tables, "TcKeys").into_iter().filter(|row| row.row_key().starts_with("scope_")).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    // Each names the key of the other.
    for (row, other) in scopes.iter().zip(scopes.iter().rev()) {
        let (key, named) = (row.row_key(), other.get("Keys").unwrap().as_str().unwrap());
        let body = format!(r#"{{"PartitionKey":"keys","RowKey":"{key}","Keys":"{named}"}}"#);
        let operation = [Operation::merge(key, Some("*".into()), body.into_bytes())];
        runtime.block_on(tables.client().execute("TcKeys", "keys", &operation)).unwrap();
    }
    let staff = open(&server, &keys).table::<Employee>().unwrap();
    let refused = staff.insert(&employee("contoso", 2)).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::DecryptionFailed, "{refused}");
    // What is sealed says its key, and is still opened.
    assert_eq!(*staff.get(Employee::key("contoso", 1)).unwrap().unwrap(), employee("contoso", 1));
    assert_eq!(raw(&tables, "Payroll").len(), 2);
}
