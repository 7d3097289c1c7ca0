//! A store with declared kinds, copies that disagree and values that a page must not take for its own.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test fails by a panic"
)]

use std::path::Path;
use std::time::Duration;

use table_core::{DynamicEntity, Entity, IfMatch, Store};

/// What would be a script if it were not escaped.
pub(crate) const SCRIPT: &str = "<script>alert('taken')</script>";

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, row = "email_{email}", unique)]
#[index(by_name, row = "name_{last_name}_{id:06}", copy(email))]
pub(crate) struct Employee {
    pub(crate) department: String,
    pub(crate) id: u32,
    pub(crate) last_name: String,
    pub(crate) email: String,
    pub(crate) age: u32,
}

/// Makes the store, with so many employees of each of two departments.
pub(crate) fn company(path: &Path, employees: u32) {
    let store = Store::open(path).unwrap();
    let staff = store.table::<Employee>().unwrap();
    for department in ["Legal", "Sales"] {
        let employee = |id| Employee {
            department: department.into(),
            id,
            last_name: format!("Name{id}"),
            email: format!("{id}@contoso.com"),
            age: 20 + id % 50,
        };
        staff.bulk_insert((0..employees).map(employee)).unwrap().into_result().unwrap();
    }
    let raw = store.dynamic_table("Company").unwrap().raw();
    // What a writer leaves that knows of no copies.
    let stale = DynamicEntity::new("Sales", "name_Name1_000001").with("Email", "nobody@contoso.com");
    raw.merge(&stale, IfMatch::Any).unwrap();
    raw.delete("Sales", "email_2@contoso.com").unwrap();
    let notes = store.create_table("Notes").unwrap();
    notes.insert(&DynamicEntity::new("inbox", "<b>one").with("Text", SCRIPT)).unwrap();
    let hires = store.queue::<String>("hires").unwrap().into_text().max_dequeues(1);
    hires.send(&format!("{{\"name\":\"{SCRIPT}\"}}")).unwrap();
    let hire = hires.receive(Duration::from_secs(60)).unwrap().unwrap();
    hire.fail(SCRIPT, Duration::ZERO).unwrap();
    assert!(hires.receive(Duration::from_secs(60)).unwrap().is_none());
    store.close().unwrap();
}
