//! An employee as three releases declare it.

use crate::random::Random;

/// How many departments there are.
const DEPARTMENTS: u32 = 100;

/// The department of an employee.
pub(super) fn department(id: u32) -> String {
    format!("dept_{:03}", id % DEPARTMENTS)
}

/// The e-mail of an employee.
pub(super) fn email(id: u32) -> String {
    format!("{id}@contoso.com")
}

/// The first two releases: the second has an index more.
macro_rules! release {
    ($name:ident, $(#[$index:meta])*) => {
        pub(super) mod $name {
            use table_core::Entity;

            #[derive(Entity)]
            #[entity(table = "Company", kind = "employee")]
            #[key(partition = "{department}", row = "empid_{id:07}")]
            #[index(by_email, row = "email_{email}", unique)]
            $(#[$index])*
            pub(crate) struct Employee {
                pub(crate) department: String,
                pub(crate) id: u32,
                pub(crate) name: String,
                pub(crate) email: String,
                pub(crate) age: u8,
                pub(crate) salary: i64,
            }
        }
    };
}

release!(first,);
release!(second, #[index(by_age, row = "age_{age:03}_{id:07}", copy(name))]);

impl first::Employee {
    pub(super) fn new(id: u32) -> Self {
        let age = u8::try_from(20 + id % 50).unwrap_or(20);
        let (name, salary) = (format!("Jun Cao{:04}", id % 1_000), 1_000);
        Self { department: department(id), id, name, email: email(id), age, salary }
    }
}

/// The first, frozen, and what it becomes.
pub(super) mod third {
    use table_core::Entity;

    #[derive(Entity)]
    #[entity(kind = "employee", version = 1, former)]
    #[key(partition = "{department}", row = "empid_{id:07}")]
    struct Former {
        department: String,
        id: u32,
        name: String,
        email: String,
        age: u8,
        salary: i64,
    }

    #[derive(Entity)]
    #[entity(table = "Company", kind = "employee", version = 2, from = Former)]
    #[key(partition = "{department}", row = "empid_{id:07}")]
    #[index(by_email, row = "email_{email}", unique)]
    pub(crate) struct Employee {
        pub(crate) department: String,
        pub(crate) id: u32,
        pub(crate) first_name: String,
        pub(crate) last_name: String,
        pub(crate) email: String,
        pub(crate) age: u8,
        pub(crate) salary: i64,
    }

    impl From<Former> for Employee {
        fn from(former: Former) -> Self {
            let Former { department, id, name, email, age, salary } = former;
            let (first, last) = name.split_once(' ').unwrap_or((&name, ""));
            let (first_name, last_name) = (first.to_owned(), last.to_owned());
            Self { department, id, first_name, last_name, email, age, salary }
        }
    }
}

/// An age that somebody has next.
pub(super) fn age(random: &mut Random) -> u8 {
    u8::try_from(20 + random.below(50)).unwrap_or(20)
}
