//! Two releases of a program that have one store open: the second has an optional field more, and an index.

use std::collections::BTreeMap;

use table_core::{Error, ErrorKind, Store};

use crate::random::Random;

/// The first release.
pub mod first {
    use table_core::Entity;

    /// An employee.
    #[derive(Entity, Clone, Debug, PartialEq)]
    #[entity(table = "Company", kind = "employee")]
    #[key(partition = "{department}", row = "empid_{id:06}")]
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

/// The second.
pub mod second {
    use table_core::Entity;

    /// An employee.
    #[derive(Entity, Clone, Debug, PartialEq)]
    #[entity(table = "Company", kind = "employee")]
    #[key(partition = "{department}", row = "empid_{id:06}")]
    #[index(by_email, row = "email_{email}", unique)]
    #[index(by_age, row = "age_{age:03}_{id:06}", copy = keys)]
    pub struct Employee {
        /// The department.
        pub department: String,
        /// The number.
        pub id: u32,
        /// The e-mail.
        pub email: String,
        /// The age.
        pub age: u8,
        /// New in this release.
        pub phone: Option<String>,
    }
}

/// What is known of an employee: e-mail, age, phone.
pub type One = (String, u8, Option<String>);

/// Employees by their numbers.
pub type Staff = BTreeMap<u32, One>;

/// How many there are.
pub const MANY: u32 = 600;

/// Fills a store as the first release does.
pub fn fill(store: &Store) -> Staff {
    let staff: Staff =
        (0..MANY).map(|id| (id, (format!("{id}@contoso.com"), 20 + (id % 50) as u8, None))).collect();
    let of = |(id, (email, age, _)): (&u32, &One)| first::Employee {
        department: "Sales".into(),
        id: *id,
        email: email.clone(),
        age: *age,
    };
    let table = store.table::<first::Employee>().expect("the table opens");
    assert!(table.bulk_insert(staff.iter().map(of)).expect("they are loaded").failures.is_empty());
    staff
}

/// Changes a person whose number is `thread` or a multiple of four above it, as a release does; which one that is, and what the
/// change came to. What the release doesn't know of them is `None` here.
pub fn write(store: &Store, release: u32, thread: u32, random: &mut Random) -> (u32, Result<One, Error>) {
    let id = random.below(u64::from(MANY / 4)) as u32 * 4 + thread;
    let (email, age) = (format!("{}-{id}@contoso.com", random.below(1_000)), 20 + random.below(50) as u8);
    let written = if release == 1 {
        store.table::<first::Employee>().and_then(|table| {
            let key = first::Employee::key("Sales", id);
            let written = table.update(key, |e| (e.email, e.age) = (email.clone(), age))?;
            Ok((written.email.clone(), written.age, None))
        })
    } else {
        let phone = Some(format!("555-{:04}", random.below(10_000)));
        store.table::<second::Employee>().and_then(|table| {
            let key = second::Employee::key("Sales", id);
            let change = |e: &mut second::Employee| {
                (e.email, e.age, e.phone) = (email.clone(), age, phone.clone());
            };
            let written = table.update(key, change)?;
            Ok((written.email.clone(), written.age, written.phone.clone()))
        })
    };
    (id, written)
}

/// Whether an error says that the program is of a release that can't write now.
pub fn is_outdated(error: &Error) -> bool {
    error.kind() == ErrorKind::LayoutChanged
}
