//! Rows that become another version, and programs of the version before.

use table_core::ErrorKind;

use super::Shared;
use super::releases::{fill, first, staff_of_first, staff_of_second, staff_of_third, third};

#[test]
fn rows_become_the_version_that_is_declared_and_former_programs_write_no_more() {
    let shared = Shared::new();
    let tables = shared.connect();
    fill(&tables, 70);
    let old = staff_of_first(&tables);
    let staff = staff_of_third(&tables);
    // Before it begins the former program goes on, and its rows are read.
    old.update(first::Employee::key("Sales", 7), |one| one.email = "seven@contoso.com".into()).unwrap();
    assert_eq!(staff.get(third::Employee::key("Sales", 7)).unwrap().unwrap().user, "seven");
    let one = third::Employee { department: "Sales".into(), id: 8, user: "8".into(), host: "h".into() };
    assert_eq!(staff.put(&one).unwrap_err().kind(), ErrorKind::MigrationPending);
    tables.migration::<third::Employee>().unwrap().run().unwrap();
    let hosts = staff.by_host().department("Sales").host("contoso.com").count().unwrap();
    assert_eq!(hosts, 70);
    staff.put(&one).unwrap();
    for tables in [&tables, &shared.connect()] {
        let Ok(old) = tables.table::<first::Employee>() else { continue };
        let refused = old.update(first::Employee::key("Sales", 9), |one| one.email.push('x')).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::LayoutChanged, "{refused}");
    }
    assert!(tables.jobs().unwrap().is_empty());
}

#[test]
fn a_row_that_can_t_be_converted_stops_it_and_says_why() {
    let shared = Shared::new();
    let tables = shared.connect();
    fill(&tables, 30);
    let bad = first::Employee { department: "Sales".into(), id: 13, email: "nowhere".into() };
    staff_of_first(&tables).put(&bad).unwrap();
    let staff = staff_of_third(&tables);
    let error = tables.migration::<third::Employee>().unwrap().run().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotConverted, "{error}");
    assert!(error.to_string().contains("`nowhere` has no host"), "{error}");
    staff.delete(third::Employee::key("Sales", 13)).unwrap_or_else(|_| {
        tables.dynamic_table("Company").unwrap().raw().delete("Sales", "empid_000013").unwrap();
    });
    let others = shared.connect();
    others.migration::<third::Employee>().unwrap().run().unwrap();
    assert_eq!(staff.by_host().department("Sales").host("contoso.com").count().unwrap(), 29);
}

#[test]
fn indexes_of_the_version_before_are_removed() {
    let shared = Shared::new();
    let tables = shared.connect();
    fill(&tables, 25);
    staff_of_second(&tables).rebuild().unwrap().run().unwrap();
    tables.migration::<third::Employee>().unwrap().run().unwrap();
    let rows = tables.dynamic_table("Company").unwrap().query(&table_core::Query::new()).unwrap();
    let rows: Vec<_> = rows.map(|row| row.unwrap().row_key().to_owned()).collect();
    assert_eq!(rows.len(), 50);
    assert!(rows.iter().all(|row| !row.starts_with("email_")));
}
