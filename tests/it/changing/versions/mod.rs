//! Structs in several versions: rows of a former one are read as what they become, and a migration writes them anew.

mod apart;
mod derived;
mod jobs;
mod keys;
mod killed;
mod random;
mod reads;
mod sealed;
mod sets;
mod stopped;
mod writes;

use integration_tests::Scratch;
use table_core::{Entity, Query, Tables};

/// The first release.
pub(super) mod v1 {
    use table_core::Entity;

    #[derive(Entity, Clone, Debug, PartialEq)]
    #[entity(table = "Company", kind = "employee")]
    #[key(partition = "{department}", row = "empid_{id:06}")]
    #[index(by_email, row = "email_{email}", unique)]
    #[index(by_age, row = "age_{age}_{id:06}", copy(name))]
    pub(in super::super) struct Employee {
        pub department: String,
        pub id: u32,
        pub name: String,
        pub age: u32,
        pub email: String,
    }
}

/// It knows a property more.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, row = "email_{email}", unique)]
#[index(by_age, row = "age_{age}_{id:06}", copy(name))]
struct Badged {
    department: String,
    id: u32,
    name: String,
    age: u32,
    email: String,
    badge: Option<String>,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(kind = "employee", version = 1, former)]
#[key(partition = "{department}", row = "empid_{id:06}")]
pub(super) struct EmployeeV1 {
    department: String,
    id: u32,
    name: String,
    age: u32,
    email: String,
}

/// The second release: a name in two parts, an age of a byte, another index.
pub(super) mod v2 {
    use table_core::{Entity, Projection};

    use super::EmployeeV1;

    #[derive(Entity, Clone, Debug, PartialEq)]
    #[entity(table = "Company", kind = "employee", version = 2, from = EmployeeV1)]
    #[key(partition = "{department}", row = "empid_{id:06}")]
    #[index(by_email, row = "email_{email}", unique)]
    #[index(by_last_name, row = "last_{last_name}_{id:06}", copy(first_name))]
    pub(in super::super) struct Employee {
        pub department: String,
        pub id: u32,
        pub first_name: String,
        pub last_name: String,
        pub age: u8,
        pub email: String,
        #[property(default = 1)]
        pub level: i32,
    }

    impl TryFrom<EmployeeV1> for Employee {
        type Error = String;

        fn try_from(former: EmployeeV1) -> Result<Self, String> {
            let EmployeeV1 { department, id, name, age, email } = former;
            let (first, last) = name.split_once(' ').ok_or_else(|| format!("`{name}` is one name"))?;
            let age = u8::try_from(age).map_err(|_| format!("nobody is {age} years old"))?;
            let (first_name, last_name) = (first.to_owned(), last.to_owned());
            Ok(Self { department, id, first_name, last_name, age, email, level: 1 })
        }
    }

    #[derive(Projection, Debug, PartialEq)]
    #[projection(of = Employee)]
    pub(in super::super) struct Contact {
        pub id: u32,
        pub last_name: String,
    }
}

fn first(id: u32) -> v1::Employee {
    let (department, email) = ("Sales".to_owned(), format!("{id}@contoso.com"));
    v1::Employee { department, id, name: format!("Jun Cao{}", id % 5), age: 20 + id % 50, email }
}

fn second(id: u32) -> v2::Employee {
    let v1::Employee { department, id, name, age, email } = first(id);
    let (first_name, last_name) = name.split_once(' ').unwrap();
    let (first_name, last_name) = (first_name.to_owned(), last_name.to_owned());
    v2::Employee { department, id, first_name, last_name, age: u8::try_from(age).unwrap(), email, level: 1 }
}

fn filled(scratch: &Scratch, many: u32) -> Tables {
    let store = scratch.tables();
    let report = store.table::<v1::Employee>().unwrap().bulk_insert((0..many).map(first)).unwrap();
    assert!(report.failures.is_empty());
    store
}

fn key(id: u32) -> table_core::Key<v2::Employee> {
    v2::Employee::key("Sales", id)
}

/// How many rows there are of each kind, as they are stored.
fn kinds(store: &Tables) -> Vec<(String, usize)> {
    let mut kinds = std::collections::BTreeMap::new();
    for row in store.dynamic_table("Company").unwrap().query(&Query::new()).unwrap() {
        let row = row.unwrap();
        let kind = row.get("EntityType").and_then(|kind| kind.as_str()).unwrap().to_owned();
        *kinds.entry(kind).or_default() += 1;
    }
    kinds.into_iter().collect()
}

/// Every entity is of version 2, and its copies are what they are to be.
fn assert_converted(store: &Tables, many: usize) {
    let staff = store.table::<v2::Employee>().unwrap();
    let of = |kind: &str| (kind.to_owned(), many);
    assert_eq!(
        kinds(store),
        [of("employee@2"), of("employee@2.by_email"), of("employee@2.by_last_name")]
            .into_iter()
            .filter(|(_, many)| *many > 0)
            .collect::<Vec<_>>()
    );
    let report = staff.check().unwrap();
    assert!(report.is_sound() && report.entities == many as u64, "{report}");
    assert!(store.jobs().unwrap().is_empty());
    integration_tests::assert_sound(store);
}
