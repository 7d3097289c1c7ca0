//! Three releases of a program: the second has an index more, and the third keeps entities in another version.

use table_azure::AzureTables;
use table_core::Table;

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

    impl TryFrom<Former> for Employee {
        type Error = String;

        fn try_from(former: Former) -> Result<Self, String> {
            let Former { department, id, email } = former;
            let (user, host) = email.split_once('@').ok_or_else(|| format!("`{email}` has no host"))?;
            Ok(Self { department, id, user: user.to_owned(), host: host.to_owned() })
        }
    }
}

pub(crate) fn staff_of_first(tables: &AzureTables) -> Table<first::Employee> {
    tables.table().unwrap()
}

pub(crate) fn staff_of_second(tables: &AzureTables) -> Table<second::Employee> {
    tables.table().unwrap()
}

pub(crate) fn staff_of_third(tables: &AzureTables) -> Table<third::Employee> {
    tables.table().unwrap()
}

/// Inserts so many employees by the first release.
pub(crate) fn fill(tables: &AzureTables, count: u32) {
    let staff = staff_of_first(tables);
    let employee =
        |id| first::Employee { department: "Sales".into(), id, email: format!("{id}@contoso.com") };
    assert_eq!(staff.bulk_insert((0..count).map(employee)).unwrap().into_result().unwrap(), u64::from(count));
}
