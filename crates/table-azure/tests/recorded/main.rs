//! The requests of each kind of operation as they go over the wire, kept in `requests.txt`: a change of what is sent is seen
//! there, also by who has neither an emulator nor an account.
//!
//! `AZURE_RECORD=1 cargo test -p table-azure --test recorded` writes the file anew.

#![expect(clippy::unwrap_used, reason = "helpers of tests, outside their functions")]

mod recorder;
#[path = "../support/server.rs"]
mod server;

use std::path::Path;

use table_azure::AzureOptions;
use table_core::{DynamicEntity, Entity, IfMatch, Query, Table};

use self::recorder::Recorder;
use self::server::Own;

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, row = "email_{email}", unique)]
struct Employee {
    department: String,
    id: u32,
    email: String,
    age: u8,
}

fn employee(id: u32) -> Employee {
    Employee { department: "R&D 'x'".into(), id, email: format!("é{id}@contoso.com"), age: 30 }
}

fn key(id: u32) -> table_core::typed::Key<Employee> {
    Employee::key("R&D 'x'", id)
}

/// A call, by what it is.
type Call<'c> = (&'static str, Box<dyn Fn() + 'c>);

fn calls<'c>(staff: &'c Table<Employee>, tables: &'c table_azure::AzureTables) -> Vec<Call<'c>> {
    let company = move || tables.dynamic_table("Company").unwrap();
    let note = |text: &str| DynamicEntity::new("notes", "1").with("Text", text).with("Rate", 1.0);
    vec![
        ("insert, which notes the layout", Box::new(move || staff.insert(&employee(1)).map(drop).unwrap())),
        ("insert", Box::new(move || staff.insert(&employee(2)).map(drop).unwrap())),
        ("get", Box::new(move || assert!(staff.get(key(1)).unwrap().is_some()))),
        ("get what is not there", Box::new(move || assert!(staff.get(key(9)).unwrap().is_none()))),
        (
            "get by an index",
            Box::new(move || {
                let found = staff.get(Employee::by_email("R&D 'x'", "é1@contoso.com")).unwrap();
                assert_eq!(found.unwrap().id, 1);
            }),
        ),
        ("put over what is there", Box::new(move || staff.put(&employee(1)).map(drop).unwrap())),
        (
            "update, which moves a copy",
            Box::new(move || drop(staff.update(key(1), |one| one.email = "new@contoso.com".into()).unwrap())),
        ),
        (
            "query of a range",
            Box::new(move || {
                assert_eq!(staff.rows().department("R&D 'x'").id(1..5).count().unwrap(), 2);
            }),
        ),
        (
            "query with a filter",
            Box::new(move || {
                let found = staff.rows().department("R&D 'x'").filter(|one| one.age.ge(30)).count().unwrap();
                assert_eq!(found, 2);
            }),
        ),
        ("write by properties", Box::new(move || company().put(&note("a")).map(drop).unwrap())),
        (
            "merge by properties",
            Box::new(move || company().merge(&note("b"), IfMatch::Any).map(drop).unwrap()),
        ),
        (
            "page",
            Box::new(move || {
                assert_eq!(company().page(&Query::new(), 2, None).unwrap().entities.len(), 2);
            }),
        ),
        ("delete", Box::new(move || staff.delete(key(2)).unwrap())),
        (
            "rebuild of an index that is there",
            Box::new(move || staff.rebuild().unwrap().run().map(drop).unwrap()),
        ),
        ("list of tables", Box::new(move || assert_eq!(tables.tables().unwrap(), ["Company"]))),
        ("drop of a table", Box::new(move || tables.drop_table("Company").unwrap())),
    ]
}

#[test]
fn each_operation_sends_what_it_did() {
    let own = Own::start();
    let recorder = Recorder::start(own.address);
    let tables = AzureOptions::new().connect(&server::connection(recorder.address)).unwrap();
    let staff = tables.table::<Employee>().unwrap();
    let mut text = format!("# open, which creates the table\n\n{}", recorder.take());
    for (what, call) in calls(&staff, &tables) {
        call();
        text.extend(["# ", what, "\n\n", &*recorder.take()]);
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded/requests.txt");
    if std::env::var_os("AZURE_RECORD").is_some() {
        std::fs::write(&path, &text).unwrap();
        return;
    }
    let kept = std::fs::read_to_string(&path).unwrap();
    let (mut sent, mut of) = (text.lines(), "");
    for (number, line) in (1..).zip(kept.lines()) {
        if line.starts_with('#') {
            of = line;
        }
        assert_eq!(sent.next(), Some(line), "line {number} of requests.txt, of `{of}`");
    }
    assert_eq!(sent.next(), None, "more is sent than requests.txt has");
}
