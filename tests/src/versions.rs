//! A struct in two versions, for tests of processes that convert it.

use table_core::{Entity, Store};

/// The entity as it was first declared.
pub mod first {
    use super::Entity;

    /// An employee.
    #[derive(Entity, Clone, Debug, PartialEq)]
    #[entity(table = "Company", kind = "employee")]
    #[key(partition = "{department}", row = "empid_{id:06}")]
    #[index(by_name, row = "name_{name}_{id:06}")]
    pub struct Employee {
        /// The department.
        pub department: String,
        /// The number.
        pub id: u32,
        /// Both names.
        pub name: String,
        /// The age.
        pub age: u32,
    }
}

/// The entity as it is declared now.
pub mod second {
    use super::Entity;

    /// What it was.
    #[derive(Entity)]
    #[entity(kind = "employee", version = 1, former)]
    #[key(partition = "{department}", row = "empid_{id:06}")]
    pub struct EmployeeV1 {
        department: String,
        id: u32,
        name: String,
        age: u32,
    }

    /// An employee.
    #[derive(Entity, Clone, Debug, PartialEq)]
    #[entity(table = "Company", kind = "employee", version = 2, from = EmployeeV1)]
    #[key(partition = "{department}", row = "empid_{id:06}")]
    #[index(by_last_name, row = "last_{last_name}_{id:06}")]
    pub struct Employee {
        /// The department.
        pub department: String,
        /// The number.
        pub id: u32,
        /// The first name.
        pub first_name: String,
        /// The last name.
        pub last_name: String,
        /// The age.
        pub age: u8,
    }

    impl TryFrom<EmployeeV1> for Employee {
        type Error = &'static str;

        fn try_from(former: EmployeeV1) -> Result<Self, &'static str> {
            let EmployeeV1 { department, id, name, age } = former;
            let (first, last) = name.split_once(' ').ok_or("it is one name")?;
            let age = u8::try_from(age).map_err(|_| "nobody is so old")?;
            let (first_name, last_name) = (first.to_owned(), last.to_owned());
            Ok(Self { department, id, first_name, last_name, age })
        }
    }
}

/// The age of an employee who was just hired.
pub fn age(id: u32) -> u8 {
    20 + u8::try_from(id % 50).unwrap_or_default()
}

/// An employee who was just hired, by the first version.
pub fn hired(id: u32) -> first::Employee {
    let (department, name) = ("Sales".into(), format!("Jun Cao{}", id % 7));
    first::Employee { department, id, name, age: u32::from(age(id)) }
}

/// Hires as many, by the first version.
///
/// # Panics
///
/// If one is refused.
pub fn fill(store: &Store, many: u32) {
    let table = store.table::<first::Employee>().expect("the table is there");
    let report = table.bulk_insert((0..many).map(hired)).expect("the store goes on");
    assert!(report.failures.is_empty(), "{:?}", report.failures);
}
