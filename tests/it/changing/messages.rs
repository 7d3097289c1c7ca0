//! The first thing that somebody sees after an edit says what to write.

use std::fmt::Write;

use integration_tests::Scratch;
use table_core::{Entity, Error, KeyPart, Result, Store};

#[derive(KeyPart, Clone, Copy, Debug, PartialEq)]
#[key_part(rename_all = "kebab-case")]
enum Role {
    Seller,
    Buyer,
}

/// As it was released.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{role}_{id:06}")]
#[index(by_email, row = "email_{email}", unique)]
struct Employee {
    department: String,
    role: Role,
    id: u32,
    email: String,
    age: i32,
    phone: Option<String>,
    salary: i64,
}

fn employee(id: u32) -> Employee {
    Employee {
        department: "Sales".into(),
        role: Role::Seller,
        id,
        email: format!("{id}@contoso.com"),
        age: 40,
        phone: Some("555-0100".into()),
        salary: 1,
    }
}

/// What a program hears that opens the table by a struct, makes what is missing of its indexes, and reads.
fn hears<E: table_core::typed::InOneTable>(
    store: &Store,
    read: impl FnOnce(&table_core::Table<E>) -> Result<()>,
) -> Error {
    let heard = store.table::<E>().and_then(|table| {
        read(&table)?;
        table.rebuild()?.run().map(drop)
    });
    heard.err().unwrap()
}

/// An edit of the struct, by what differs.
macro_rules! edit {
    ($store:expr, $said:expr, $edit:literal, { $($item:item)* } $read:expr) => {{
        $($item)*
        let error = hears::<Employee>($store, $read);
        writeln!($said, "# {}\n\n{:?}\n{error}\n", $edit, error.kind()).unwrap();
    }};
}

/// As `messages.txt` has them, for a reader of the messages.
#[test]
fn ten_edits_and_what_is_said() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let staff = store.table::<Employee>().unwrap();
    for id in 1..3 {
        staff.insert(&employee(id)).unwrap();
    }
    drop(staff);
    drop(store);
    let store = &scratch.store();
    let mut said = String::new();
    edit!(
        store,
        said,
        "a field is renamed",
        {
            #[derive(Entity)]
            #[entity(table = "Company", kind = "employee")]
            #[key(partition = "{department}", row = "empid_{role}_{id:06}")]
            #[index(by_email, row = "email_{mail}", unique)]
            struct Employee {
                department: String,
                role: Role,
                id: u32,
                mail: String,
                age: i32,
                phone: Option<String>,
                salary: i64,
            }
        } | _
            | Ok(())
    );
    edit!(
        store,
        said,
        "a field is removed",
        {
            #[derive(Entity)]
            #[entity(table = "Company", kind = "employee")]
            #[key(partition = "{department}", row = "empid_{role}_{id:06}")]
            #[index(by_email, row = "email_{email}", unique)]
            struct Employee {
                department: String,
                role: Role,
                id: u32,
                email: String,
                phone: Option<String>,
                salary: i64,
            }
        } | _
            | Ok(())
    );
    edit!(
        store,
        said,
        "a field has another type",
        {
            #[derive(Entity)]
            #[entity(table = "Company", kind = "employee")]
            #[key(partition = "{department}", row = "empid_{role}_{id:06}")]
            #[index(by_email, row = "email_{email}", unique)]
            struct Employee {
                department: String,
                role: Role,
                id: u32,
                email: String,
                age: String,
                phone: Option<String>,
                salary: i64,
            }
        } | _
            | Ok(())
    );
    edit!(
        store,
        said,
        "a new index",
        {
            #[derive(Entity)]
            #[entity(table = "Company", kind = "employee")]
            #[key(partition = "{department}", row = "empid_{role}_{id:06}")]
            #[index(by_email, row = "email_{email}", unique)]
            #[index(by_salary, row = "salary_{salary:offset}_{role}_{id:06}")]
            struct Employee {
                department: String,
                role: Role,
                id: u32,
                email: String,
                age: i32,
                phone: Option<String>,
                salary: i64,
            }
        } | staff
            | staff.by_salary().department("Sales").count().map(drop)
    );
    edit!(
        store,
        said,
        "another template of the row key",
        {
            #[derive(Entity)]
            #[entity(table = "Company", kind = "employee")]
            #[key(partition = "{department}", row = "employee_{role}_{id:06}")]
            #[index(by_email, row = "email_{email}", unique)]
            struct Employee {
                department: String,
                role: Role,
                id: u32,
                email: String,
                age: i32,
                phone: Option<String>,
                salary: i64,
            }
        } | _
            | Ok(())
    );
    edit!(
        store,
        said,
        "another template of the partition key",
        {
            #[derive(Entity)]
            #[entity(table = "Company", kind = "employee")]
            #[key(partition = "dept_{department}", row = "empid_{role}_{id:06}")]
            #[index(by_email, row = "email_{email}", unique)]
            struct Employee {
                department: String,
                role: Role,
                id: u32,
                email: String,
                age: i32,
                phone: Option<String>,
                salary: i64,
            }
        } | _
            | Ok(())
    );
    edit!(
        store,
        said,
        "the kind is renamed",
        {
            #[derive(Entity)]
            #[entity(table = "Company", kind = "worker")]
            #[key(partition = "{department}", row = "empid_{role}_{id:06}")]
            #[index(by_email, row = "email_{email}", unique)]
            struct Employee {
                department: String,
                role: Role,
                id: u32,
                email: String,
                age: i32,
                phone: Option<String>,
                salary: i64,
            }
        } | _
            | Ok(())
    );
    edit!(
        store,
        said,
        "a variant in a key is renamed",
        {
            #[derive(KeyPart, Clone, Copy)]
            #[key_part(rename_all = "kebab-case")]
            enum Role {
                Salesman,
                Buyer,
            }

            #[derive(Entity)]
            #[entity(table = "Company", kind = "employee")]
            #[key(partition = "{department}", row = "empid_{role}_{id:06}")]
            #[index(by_email, row = "email_{email}", unique)]
            struct Employee {
                department: String,
                role: Role,
                id: u32,
                email: String,
                age: i32,
                phone: Option<String>,
                salary: i64,
            }
        } | _
            | Ok(())
    );
    edit!(
        store,
        said,
        "an encrypted field is added",
        {
            #[derive(Entity)]
            #[entity(table = "Company", kind = "employee")]
            #[key(partition = "{department}", row = "empid_{role}_{id:06}")]
            #[index(by_email, row = "email_{email}", unique)]
            struct Employee {
                department: String,
                role: Role,
                id: u32,
                email: String,
                age: i32,
                phone: Option<String>,
                salary: i64,
                #[encrypt]
                ssn: String,
            }
        } | _
            | Ok(())
    );
    edit!(
        store,
        said,
        "a field that was optional no longer is",
        {
            #[derive(Entity)]
            #[entity(table = "Company", kind = "employee")]
            #[key(partition = "{department}", row = "empid_{role}_{id:06}")]
            #[index(by_email, row = "email_{email}", unique)]
            struct Employee {
                department: String,
                role: Role,
                id: u32,
                email: String,
                age: i32,
                phone: String,
                salary: i64,
            }
        } | _
            | Ok(())
    );
    edit!(
        store,
        said,
        "a field is encrypted",
        {
            #[derive(Entity)]
            #[entity(table = "Company", kind = "employee")]
            #[key(partition = "{department}", row = "empid_{role}_{id:06}")]
            #[index(by_email, row = "email_{email}", unique)]
            struct Employee {
                department: String,
                role: Role,
                id: u32,
                email: String,
                age: i32,
                phone: Option<String>,
                #[encrypt]
                salary: i64,
            }
        } | _
            | Ok(())
    );
    edit!(
        store,
        said,
        "a new unique index, and two entities that claim one key",
        {
            #[derive(Entity)]
            #[entity(table = "Company", kind = "employee")]
            #[key(partition = "{department}", row = "empid_{role}_{id:06}")]
            #[index(by_email, row = "email_{email}", unique)]
            #[index(by_phone, row = "phone_{phone}", unique)]
            #[expect(clippy::duplicated_attributes, reason = "each index says for itself that it is unique")]
            struct Employee {
                department: String,
                role: Role,
                id: u32,
                email: String,
                age: i32,
                phone: Option<String>,
                salary: i64,
            }
        } | staff
            | {
                staff.rebuild()?.run()?;
                staff.by_phone().department("Sales").count().map(drop)
            }
    );
    assert_eq!(said.trim_end(), include_str!("messages.txt").trim_end(), "{said}");
}
