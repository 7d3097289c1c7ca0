//! Many entities at once.

use integration_tests::Scratch;
use table_core::{Entity, ErrorKind, Query};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, row = "email_{email}", unique, copy = keys)]
struct Employee {
    department: String,
    id: u32,
    email: String,
}

fn employee(id: u32, email: &str) -> Employee {
    Employee { department: "Sales".into(), id, email: email.into() }
}

#[test]
fn what_can_be_added_is_and_the_rest_is_named() {
    let scratch = Scratch::new();
    let staff = scratch.tables().table::<Employee>().unwrap();
    let given = [
        employee(1, "a"),
        employee(2, "a"),
        employee(1_000_000, "b"),
        employee(3, "x/y"),
        employee(1, "c"),
        employee(4, "d"),
        employee(5, &"e".repeat(600)),
    ];
    let report = staff.bulk_insert(&given).unwrap();
    assert_eq!(report.committed, 2);
    let failures: Vec<_> = report.failures.iter().map(|f| (f.index, f.error.kind())).collect();
    assert_eq!(
        failures,
        [
            (1, ErrorKind::UniqueConflict),
            (2, ErrorKind::ValueOutOfRange),
            (3, ErrorKind::InvalidKey),
            (4, ErrorKind::EntityAlreadyExists),
            (6, ErrorKind::KeyTooLong),
        ]
    );
    assert_eq!(
        report.failures[0].error.to_string(),
        "cannot insert into table `Company`, partition `Sales`, row `email_a`: another entity has this key in the \
         unique index `by_email`"
    );
    let keys: Vec<_> =
        staff.dynamic().query(&Query::new()).unwrap().map(|row| row.unwrap().row_key().to_owned()).collect();
    assert_eq!(keys, ["email_a", "email_d", "empid_000001", "empid_000004"]);
    assert_eq!(staff.bulk_insert(Vec::<Employee>::new()).unwrap().committed, 0);
}

integration_tests::on_other_executors! {
    what_can_be_added_is_and_the_rest_is_named
}
