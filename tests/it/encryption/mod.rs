//! Fields with `#[encrypt]`: sealed in every file, typed again when they are read.

mod keys;
mod refusals;
mod values;

use std::path::PathBuf;
use std::sync::Arc;

use table_core::crypt::{MemoryKeys, Secret};
use table_core::{
    DynamicEntity, DynamicTable, Entity, EntitySet, Error, ErrorKind, Projection, Properties, Store, Table,
    Ticks, Uuid, Value,
};

/// What no file may ever hold.
const CANARY: &str = "canary-078-05-1120";

#[derive(Properties, Clone, Debug, PartialEq)]
struct Bank {
    bank: String,
    #[encrypt]
    iban: String,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Payroll", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, row = "email_{email}", unique)]
#[index(by_name, row = "name_{name}_{id:06}", copy(ssn, salary))]
#[index(by_age, row = "age_{age:03}_{id:06}", copy = keys)]
struct Employee {
    department: String,
    id: u32,
    name: String,
    email: String,
    age: u8,
    #[encrypt]
    ssn: Secret<String>,
    #[encrypt]
    photo: Vec<u8>,
    #[encrypt]
    retired: bool,
    #[encrypt]
    grade: i32,
    #[encrypt]
    salary: i64,
    #[encrypt]
    share: f64,
    #[encrypt]
    born: Ticks,
    #[encrypt]
    pass: Uuid,
    #[encrypt]
    note: Option<String>,
    #[encrypt]
    #[property(json)]
    tags: Vec<String>,
    #[encrypt]
    #[property(default)]
    level: u8,
    #[flatten]
    account: Bank,
}

#[derive(Projection, Debug, PartialEq)]
#[projection(of = Employee)]
struct Pay {
    salary: i64,
}

#[derive(EntitySet, Clone, Debug, PartialEq)]
enum Payroll {
    Employee(Employee),
}

fn employee(id: u32) -> Employee {
    Employee {
        department: "Sales".into(),
        id,
        name: format!("Name{id}"),
        email: format!("{id}@contoso.com"),
        age: 40,
        ssn: Secret::new(CANARY.into()),
        photo: CANARY.into(),
        retired: true,
        grade: -7,
        salary: 1 << 40,
        share: 0.1,
        born: Ticks::new(600_000_000_000_000_000).unwrap(),
        pass: Uuid::from_u128(u128::from(id)),
        note: Some(CANARY.into()),
        tags: vec![CANARY.into()],
        level: 200,
        account: Bank { bank: "Bank".into(), iban: CANARY.into() },
    }
}

/// A place for a store, and its keys.
struct Scratch {
    dir: tempfile::TempDir,
    keys: Arc<MemoryKeys>,
}

impl Scratch {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap(), keys: Arc::new(MemoryKeys::new().unwrap()) }
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join("store")
    }

    fn store(&self) -> Store {
        Store::options().map_size(1 << 28).encryption(self.keys.clone()).open(self.path()).unwrap()
    }
}

fn staff(store: &Store) -> Table<Employee> {
    store.table().unwrap()
}

fn key(id: u32) -> table_core::Key<Employee> {
    Employee::key("Sales", id)
}

/// The rows of the employee: its own and its copies.
fn rows(table: &DynamicTable, id: u32) -> Vec<DynamicEntity> {
    let keys =
        [format!("empid_{id:06}"), format!("email_{id}@contoso.com"), format!("name_Name{id}_{id:06}")];
    keys.iter().map(|row| table.get("Sales", row).unwrap().unwrap()).collect()
}

fn sealed(row: &DynamicEntity, property: &str) -> Option<Vec<u8>> {
    match row.get(property) {
        Some(Value::Binary(bytes)) => Some(bytes.clone()),
        None => None,
        Some(other) => panic!("{property} is {:?}", other.edm_type()),
    }
}

/// The kind of an error that shows no plaintext.
#[track_caller]
fn kind<T>(result: Result<T, Error>) -> ErrorKind {
    let error = result.err().expect("it was to be refused");
    let text = format!("{error} {error:?}");
    assert!(!text.contains("canary") && !text.contains(&(1_u64 << 40).to_string()), "{text}");
    error.kind()
}
