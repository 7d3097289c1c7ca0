//! What becomes of sealed values in the course of time: keys that are rotated, lost and destroyed, and properties that are
//! sealed only later.

mod blobs;
mod copies;
mod damaged;
mod lost;
mod migration;
mod rotation;
mod tokens;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use integration_tests::opened::{Needs, Opened};
use table_core::crypt::{KeyHandle, MemoryKeys, Secret};
use table_core::{
    DynamicEntity, DynamicTable, Entity, Error, ErrorKind, Key, Query, Store, Table, Tables, Value,
};

/// What no error may ever show.
const CANARY: &str = "canary-078-05-1120";

/// An employee with a copy in every sort of index.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Payroll", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, row = "email_{email}", unique)]
#[index(by_badge, row = "badge_{badge:04}", unique, when = Employee::is_present)]
#[index(by_desk, row = "desk_{desk:04}_{id:06}", when = Employee::is_present, copy(salary))]
#[index(by_skill, row = "skill_{skills[]}_{id:06}", copy(ssn), as = skill)]
#[index(by_age, row = "age_{age:03}_{id:06}", copy = keys)]
struct Employee {
    department: String,
    id: u32,
    email: String,
    badge: u16,
    desk: u16,
    present: bool,
    #[property(json)]
    skills: Vec<String>,
    age: u8,
    #[encrypt]
    ssn: Secret<String>,
    #[encrypt]
    salary: i64,
    #[encrypt]
    note: Option<String>,
}

impl Employee {
    fn is_present(&self) -> bool {
        self.present
    }
}

fn employee(id: u32) -> Employee {
    Employee {
        department: "Sales".into(),
        id,
        email: format!("{id}@contoso.com"),
        badge: u16::try_from(id % 10_000).unwrap(),
        desk: 7,
        present: id.is_multiple_of(2),
        skills: ["rust", "sql", "rest"]
            .into_iter()
            .take(usize::try_from(id % 4).unwrap())
            .map(Into::into)
            .collect(),
        age: 40,
        ssn: Secret::new(format!("{CANARY} {id}")),
        salary: SALARY,
        note: id.is_multiple_of(3).then(|| CANARY.into()),
    }
}

fn key(id: u32) -> Key<Employee> {
    Employee::key("Sales", id)
}

/// A place for a store, and its keys.
struct Scratch {
    scratch: integration_tests::Scratch,
    keys: Arc<MemoryKeys>,
}

impl Scratch {
    fn new() -> Self {
        Self { scratch: integration_tests::Scratch::new(), keys: Arc::new(MemoryKeys::new().unwrap()) }
    }

    /// Where the store is on LMDB.
    fn path(&self) -> PathBuf {
        self.scratch.path().join("store")
    }

    /// Opens the store of the test's executor.
    fn open(&self) -> Opened {
        self.scratch.open(&Needs { keys: Some(self.keys.clone()), ..Needs::default() })
    }

    fn open_without_provider(&self) -> Opened {
        self.scratch.open(&Needs::default())
    }

    /// Opens the store on LMDB.
    fn store(&self) -> Store {
        self.store_at(&self.path())
    }

    fn store_at(&self, path: &Path) -> Store {
        integration_tests::relaxed().map_size(1 << 28).encryption(self.keys.clone()).open(path).unwrap()
    }

    fn without_provider(&self) -> Store {
        integration_tests::relaxed().map_size(1 << 28).open(self.path()).unwrap()
    }
}

fn staff(store: &Tables) -> Table<Employee> {
    store.table().unwrap()
}

/// Of so many digits that no token and no key's name has them by chance.
const SALARY: i64 = 9_876_543_210_123_456;

/// The error, which shows no plaintext.
#[track_caller]
fn refused<T>(result: Result<T, Error>) -> Error {
    let error = result.err().expect("it was to be refused");
    let text = format!("{error} {error:?}");
    assert!(!text.contains("canary") && !text.replace('_', "").contains(&SALARY.to_string()), "{text}");
    error
}

#[track_caller]
fn kind<T>(result: Result<T, Error>) -> ErrorKind {
    refused(result).kind()
}

/// Every row of a table.
fn rows(table: &DynamicTable) -> Vec<DynamicEntity> {
    table.query(&Query::new()).unwrap().map(Result::unwrap).collect()
}

/// The keys that the values of a row are sealed with, by property.
fn handles(row: &DynamicEntity) -> Vec<(&str, KeyHandle)> {
    let handle = |value: &Value| value.as_bytes().and_then(KeyHandle::of);
    row.properties().filter_map(|(name, value)| Some((name, handle(value)?))).collect()
}

/// Every copy is of an entity, and holds the bytes that the entity holds; returns how many rows there are.
fn assert_copies_agree(table: &DynamicTable) -> usize {
    let rows = rows(table);
    let own = |id: i64| {
        let key = format!("empid_{id:06}");
        rows.iter().find(|row| row.row_key() == key).unwrap_or_else(|| panic!("no {key}"))
    };
    for copy in rows.iter().filter(|row| !row.row_key().starts_with("empid_")) {
        let id = copy.get("Id").and_then(|id| id.as_i64());
        let id = id.unwrap_or_else(|| copy.row_key().rsplit('_').next().unwrap().parse().unwrap());
        for (property, _) in handles(copy) {
            assert_eq!(copy.get(property), own(id).get(property), "{}: {property}", copy.row_key());
        }
    }
    rows.len()
}
