//! Three releases of a program: the second has an index more, and the third keeps entities in another version.

use table_core::Table;
use table_postgres::{PostgresOptions, PostgresTables};

use crate::support::{options, server};

pub(crate) mod first {
    use table_core::Entity;

    #[derive(Clone, Debug, PartialEq, Entity)]
    #[entity(table = "Company", kind = "employee")]
    #[key(partition = "{department}", row = "empid_{id:06}")]
    pub(crate) struct Employee {
        pub(crate) department: String,
        pub(crate) id: u32,
        pub(crate) email: String,
    }
}

pub(crate) mod second {
    use table_core::Entity;

    #[derive(Clone, Debug, PartialEq, Entity)]
    #[entity(table = "Company", kind = "employee")]
    #[key(partition = "{department}", row = "empid_{id:06}")]
    #[index(by_email, row = "email_{email}", unique)]
    pub(crate) struct Employee {
        pub(crate) department: String,
        pub(crate) id: u32,
        pub(crate) email: String,
    }
}

pub(crate) mod third {
    use table_core::Entity;

    #[derive(Clone, Debug, PartialEq, Entity)]
    #[entity(kind = "employee", version = 1, former)]
    #[key(partition = "{department}", row = "empid_{id:06}")]
    pub(crate) struct Former {
        pub(crate) department: String,
        pub(crate) id: u32,
        pub(crate) email: String,
    }

    #[derive(Clone, Debug, PartialEq, Entity)]
    #[entity(table = "Company", kind = "employee", version = 2, from = Former)]
    #[key(partition = "{department}", row = "empid_{id:06}")]
    #[index(by_host, row = "host_{host}_{id:06}")]
    pub(crate) struct Employee {
        pub(crate) department: String,
        pub(crate) id: u32,
        pub(crate) user: String,
        pub(crate) host: String,
    }

    impl From<Former> for Employee {
        fn from(former: Former) -> Self {
            let (user, host) = former.email.split_once('@').unwrap_or((&former.email, ""));
            let (user, host) = (user.to_owned(), host.to_owned());
            Self { department: former.department, id: former.id, user, host }
        }
    }
}

/// A store, and another handle on it as another process has it.
pub(crate) struct Two {
    pub(crate) ours: PostgresTables,
    pub(crate) theirs: PostgresTables,
}

impl Two {
    pub(crate) fn open() -> Self {
        let options = options();
        Self { ours: connect(&options), theirs: connect(&options) }
    }
}

pub(crate) fn connect(options: &PostgresOptions) -> PostgresTables {
    options.connect(&server()).unwrap()
}

pub(crate) fn email(id: u32) -> String {
    format!("{id}@example.com")
}

pub(crate) fn employee(id: u32) -> first::Employee {
    first::Employee { department: "Sales".into(), id, email: email(id) }
}

/// Fills the table with so many employees, as the first release does.
pub(crate) fn fill(tables: &PostgresTables, many: u32) -> Table<first::Employee> {
    let staff = tables.table::<first::Employee>().unwrap();
    staff.bulk_insert((1..=many).map(employee)).unwrap().into_result().unwrap();
    staff
}

pub(crate) fn second(tables: &PostgresTables) -> Table<second::Employee> {
    tables.table().unwrap()
}

pub(crate) fn key(id: u32) -> table_core::Key<second::Employee> {
    second::Employee::key("Sales", id)
}

/// Returns whom the index finds under an address.
pub(crate) fn by_email(staff: &Table<second::Employee>, email: &str) -> table_core::Result<Option<u32>> {
    Ok(staff.get(second::Employee::by_email("Sales", email))?.map(|found| found.id))
}
