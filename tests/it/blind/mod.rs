//! Fields with `#[encrypt(blind)]`: looked up by tokens, in indexes and filters, before and after a rotation.

mod lookups;
mod rotation;
mod scopes;
mod tokens;

use std::sync::Arc;

use integration_tests::opened::{Needs, Opened};
use table_core::crypt::{MemoryKeys, Secret};
use table_core::{Entity, EntitySet, Error, ErrorKind, Projection, Query, Table, Tables};

/// What nothing may show.
const SSN: &str = "123-45-6789";

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Payroll", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_ssn, row = "ssn_{ssn:blind}", unique)]
#[index(by_iban, row = "iban_{iban:blind}_{id:06}", copy(name))]
#[index(by_pin, row = "pin_{pin:blind}_{name}_{id:06}", copy = keys)]
#[index(by_name, row = "name_{name}_{id:06}", copy(ssn))]
struct Employee {
    department: String,
    id: u32,
    name: String,
    #[encrypt(blind)]
    ssn: Secret<String>,
    #[encrypt(blind, tokens = table)]
    iban: Option<String>,
    #[encrypt(blind)]
    pin: i32,
    #[encrypt]
    salary: i64,
}

#[derive(Projection, Debug, PartialEq)]
#[projection(of = Employee)]
struct Named {
    id: u32,
    name: String,
}

#[derive(EntitySet, Clone, Debug, PartialEq)]
enum Payroll {
    Employee(Employee),
}

fn employee(id: u32, ssn: &str) -> Employee {
    Employee {
        department: "Sales".into(),
        id,
        name: format!("Name{id}"),
        ssn: ssn.into(),
        iban: Some("DE02".into()),
        pin: 4711,
        salary: 90_000,
    }
}

struct Scratch {
    scratch: integration_tests::Scratch,
    keys: Arc<MemoryKeys>,
}

impl Scratch {
    fn new() -> Self {
        Self { scratch: integration_tests::Scratch::new(), keys: Arc::new(MemoryKeys::new().unwrap()) }
    }

    /// Opens the store of the test's executor.
    fn store(&self) -> Opened {
        self.scratch.open(&Needs { keys: Some(self.keys.clone()), ..Needs::default() })
    }

    fn without_provider(&self) -> Opened {
        self.scratch.open(&Needs::default())
    }
}

fn staff(store: &Tables) -> Table<Employee> {
    store.table().unwrap()
}

fn key(id: u32) -> table_core::Key<Employee> {
    Employee::key("Sales", id)
}

fn rotate(store: &Opened) {
    store.encryption().unwrap().rotate_all().unwrap();
}

fn ids<T: std::ops::Deref<Target = Employee>>(
    found: impl IntoIterator<Item = table_core::Result<T>>,
) -> Vec<u32> {
    found.into_iter().map(|found| found.unwrap().id).collect()
}

/// Every row of the table, keys and versions.
fn rows(staff: &Table<Employee>) -> Vec<Result<(String, Option<table_core::ETag>), ErrorKind>> {
    // Without keys, up to the first copy that is signed.
    let rows = staff.dynamic().query(&Query::new()).unwrap();
    rows.map(|row| row.map(|row| (row.row_key().to_owned(), row.etag())).map_err(|error| error.kind()))
        .collect()
}

/// Refused, with nothing written and nothing shown.
#[track_caller]
fn refused<T>(staff: &Table<Employee>, kind: ErrorKind, run: impl FnOnce() -> Result<T, Error>) -> String {
    let before = rows(staff);
    let error = run().err().expect("it was to be refused");
    let text = format!("{error} {error:?}");
    assert_eq!(error.kind(), kind, "{text}");
    assert!(!text.contains(SSN), "{text}");
    assert_eq!(rows(staff), before, "{text}");
    text
}
