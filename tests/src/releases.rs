//! A kind of entity as three releases of a program declare it, and what a plain look at all rows must find.

use std::collections::BTreeMap;

use table_core::{DynamicTable, Query};

/// The first release: one index.
pub mod first {
    use table_core::Entity;

    /// An employee.
    #[derive(Entity, Clone, Debug, PartialEq)]
    #[entity(table = "Company", kind = "employee")]
    #[key(partition = "{department}", row = "empid_{id:06}")]
    #[index(by_age, row = "age_{age:03}_{id:06}")]
    pub struct Employee {
        /// The department.
        pub department: String,
        /// The number.
        pub id: u32,
        /// The e-mail.
        pub email: String,
        /// The age.
        pub age: u8,
    }
}

/// The second: an index more, which is unique.
pub mod second {
    use table_core::Entity;

    /// An employee.
    #[derive(Entity, Clone, Debug, PartialEq)]
    #[entity(table = "Company", kind = "employee")]
    #[key(partition = "{department}", row = "empid_{id:06}")]
    #[index(by_age, row = "age_{age:03}_{id:06}")]
    #[index(by_email, row = "email_{email}", unique)]
    pub struct Employee {
        /// The department.
        pub department: String,
        /// The number.
        pub id: u32,
        /// The e-mail.
        pub email: String,
        /// The age.
        pub age: u8,
    }
}

/// The third: what was unique is so no longer, one index has another key and copies less, and there is one that not every
/// entity has a copy in.
pub mod third {
    use table_core::Entity;

    /// An employee.
    #[derive(Entity, Clone, Debug, PartialEq)]
    #[entity(table = "Company", kind = "employee")]
    #[key(partition = "{department}", row = "empid_{id:06}")]
    #[index(by_age, row = "age_{age:03}!{id:06}", copy = keys)]
    #[index(by_email, row = "email_{email}_{id:06}")]
    #[index(by_youth, row = "youth_{id:06}", when = Employee::is_young)]
    pub struct Employee {
        /// The department.
        pub department: String,
        /// The number.
        pub id: u32,
        /// The e-mail.
        pub email: String,
        /// The age.
        pub age: u8,
    }

    impl Employee {
        fn is_young(&self) -> bool {
            self.age < 30
        }
    }
}

/// One employee, by department and number: e-mail and age.
pub type Staff = BTreeMap<(String, u32), (String, u8)>;

/// What an index has of an employee.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copies {
    /// By age, as the first release has it.
    Age,
    /// By e-mail, as the second has it.
    Email,
    /// By age, as the third has it.
    BareAge,
    /// By e-mail, as the third has it.
    CommonEmail,
    /// Those below thirty.
    Youth,
}

impl Copies {
    /// Those of each release.
    pub const OF: [&[Self]; 3] =
        [&[Self::Age], &[Self::Age, Self::Email], &[Self::BareAge, Self::CommonEmail, Self::Youth]];

    fn row(self, id: u32, email: &str, age: u8) -> Option<(String, &'static str)> {
        Some(match self {
            Self::Age => (format!("age_{age:03}_{id:06}"), "employee.by_age"),
            Self::BareAge => (format!("age_{age:03}!{id:06}"), "employee.by_age"),
            Self::Email => (format!("email_{email}"), "employee.by_email"),
            Self::CommonEmail => (format!("email_{email}_{id:06}"), "employee.by_email"),
            Self::Youth if age < 30 => (format!("youth_{id:06}"), "employee.by_youth"),
            Self::Youth => return None,
        })
    }
}

/// Makes sure that the rows of a table are the employees and their copies in these indexes, each once, and no other; and that
/// each copy says what its employee does.
pub fn assert_rows(table: &DynamicTable, staff: &Staff, indexes: &[Copies]) {
    let mut expected = BTreeMap::new();
    for ((department, id), (email, age)) in staff {
        let own = (format!("empid_{id:06}"), "employee");
        let copies = indexes.iter().filter_map(|index| index.row(*id, email, *age));
        for (row, kind) in std::iter::once(own).chain(copies) {
            let before = expected.insert((department.clone(), row), (kind, *id, email, *age));
            assert!(before.is_none(), "two rows of one key: {before:?}");
        }
    }
    for row in table.query(&Query::new()).expect("the table can be read") {
        let row = row.expect("the row can be read");
        let at = (row.partition_key().to_owned(), row.row_key().to_owned());
        let found = expected.remove(&at).unwrap_or_else(|| panic!("a row too much: {row:?}"));
        let (kind, id, email, age) = found;
        let text = |name| row.get(name).and_then(|value| value.as_str());
        assert_eq!(text("EntityType"), Some(kind), "{at:?}");
        // What a row has in its key it need not have besides.
        assert!(text("Email").is_none_or(|found| found == email), "{row:?} of {id}");
        let number = |name| row.get(name).and_then(|value| value.as_i32());
        assert!(number("Age").is_none_or(|found| found == i32::from(age)), "{row:?} of {id}");
    }
    assert!(expected.is_empty(), "missing: {expected:#?}");
}
