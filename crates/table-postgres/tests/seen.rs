//! What a person sees of a store, by `psql`.

#![allow(clippy::unwrap_used, reason = "a test that fails panics")]

mod support;

use std::process::Command;

use support::{schema, server};
use table_core::{DynamicEntity, Entity, Ticks, Uuid};
use table_postgres::PostgresTables;

#[derive(Clone, Debug, PartialEq, Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, row = "email_{email}", unique)]
struct Employee {
    department: String,
    id: u32,
    email: String,
    age: i32,
    salary: i64,
    rating: f64,
    hired: Ticks,
    badge: Uuid,
    photo: Vec<u8>,
    is_manager: bool,
}

/// A later release, which has a field more.
mod later {
    use table_core::{Entity, Ticks, Uuid};

    #[derive(Clone, Debug, PartialEq, Entity)]
    #[entity(table = "Company", kind = "employee")]
    #[key(partition = "{department}", row = "empid_{id:06}")]
    #[index(by_email, row = "email_{email}", unique)]
    pub(crate) struct Employee {
        pub(crate) department: String,
        pub(crate) id: u32,
        pub(crate) email: String,
        pub(crate) age: i32,
        pub(crate) salary: i64,
        pub(crate) rating: f64,
        pub(crate) hired: Ticks,
        pub(crate) badge: Uuid,
        pub(crate) photo: Vec<u8>,
        pub(crate) is_manager: bool,
        pub(crate) nickname: Option<String>,
    }

    impl Employee {
        pub(crate) fn of(one: super::Employee, nickname: Option<&str>) -> Self {
            let super::Employee {
                department,
                id,
                email,
                age,
                salary,
                rating,
                hired,
                badge,
                photo,
                is_manager,
            } = one;
            let nickname = nickname.map(str::to_owned);
            Self { department, id, email, age, salary, rating, hired, badge, photo, is_manager, nickname }
        }
    }
}

fn psql(sql: &str) -> String {
    let done = Command::new("psql").args([&*server(), "-Atc", sql]).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap().trim().to_owned()
}

fn employee(id: u32, rating: f64) -> Employee {
    Employee {
        department: "Sales".into(),
        id,
        email: format!("{id}@example.com"),
        age: 41,
        salary: 1 << 40,
        rating,
        hired: "2026-05-04T03:02:01.5Z".parse().unwrap(),
        badge: Uuid::from_u128(7),
        photo: vec![1, 2, 255],
        is_manager: id == 1,
    }
}

#[test]
fn a_person_sees_tables_and_kinds_with_columns_of_their_types() {
    let schema = schema();
    let tables = PostgresTables::options().schema(&schema).connect(&server()).unwrap();
    let staff = tables.table::<Employee>().unwrap();
    staff.insert(&employee(1, 4.5)).unwrap();
    staff.insert(&employee(2, f64::NAN)).unwrap();
    staff.insert(&employee(3, f64::NEG_INFINITY)).unwrap();
    let of_kind = format!("{schema}.\"company.employee\"");
    // The copies are no entities.
    assert_eq!(psql(&format!("SELECT count(*), sum(\"Age\") + 1 FROM {of_kind}")), "3|124");
    // The server looks at the kind first: no number can be read out of a copy's key.
    assert_eq!(
        psql(&format!("SELECT \"Department\", \"Email\" FROM {of_kind} WHERE \"Id\" > 2")),
        "Sales|3@example.com"
    );
    let columns = "\"RowKey\", \"Salary\", extract(year from \"Hired\"), \"Badge\", \"Photo\", \"IsManager\", \"Rating\"";
    assert_eq!(
        psql(&format!("SELECT {columns} FROM {of_kind} WHERE \"PartitionKey\" = 'Sales' AND \"IsManager\"")),
        r"empid_000001|1099511627776|2026|00000000-0000-0000-0000-000000000007|\x0102ff|t|4.5"
    );
    assert_eq!(psql(&format!("SELECT \"Rating\" FROM {of_kind} ORDER BY 1")), "-Infinity\n4.5\nNaN");
    let recent = "now() - \"Timestamp\" BETWEEN interval '-1 second' AND interval '1 minute'";
    assert_eq!(psql(&format!("SELECT count(*) FROM {of_kind} WHERE {recent}")), "3");
    let of_table = format!("{schema}.company");
    assert_eq!(psql(&format!("SELECT count(*) FROM {of_table} WHERE \"EntityType\" LIKE 'employee%'")), "6");
    let names = format!("SELECT \"Properties\"->>'Email' FROM {of_table} WHERE \"RowKey\" = 'empid_000002'");
    assert_eq!(psql(&names), "2@example.com");

    let staff = tables.table::<later::Employee>().unwrap();
    staff.insert(&later::Employee::of(employee(4, 1.0), Some("Joe"))).unwrap();
    assert_eq!(psql(&format!("SELECT \"Nickname\" FROM {of_kind} WHERE \"Nickname\" IS NOT NULL")), "Joe");
    assert_eq!(psql(&format!("SELECT max(\"Age\") FROM {of_kind}")), "41");
}

/// An event whose keys alone have most of its values.
#[derive(Entity)]
#[entity(table = "Events", kind = "event")]
#[key(
    partition = "{station}_{level:offset}",
    row = "{at:ticks}_{device}{is_valid}_{title:escaped}!{part:04}"
)]
struct Event {
    station: String,
    level: i16,
    at: Ticks,
    device: Uuid,
    is_valid: bool,
    title: String,
    part: u16,
    text: String,
}

/// A row does not hold what its keys say: the view has it out of them, but for what no expression of SQL reads.
#[test]
fn columns_of_what_the_keys_hold_are_read_out_of_them() {
    let schema = schema();
    let tables = PostgresTables::options().schema(&schema).connect(&server()).unwrap();
    let events = tables.table::<Event>().unwrap();
    for (station, level, title, part) in [("North 1", -7, "a_b, c", 12), ("S", i16::MAX, "", 9999)] {
        let (station, title) = (station.to_owned(), title.to_owned());
        let (at, device) = ("2026-05-04T03:02:01.5Z".parse().unwrap(), Uuid::from_u128(7));
        let (is_valid, text) = (part == 12, "x".to_owned());
        events.insert(&Event { station, level, at, device, is_valid, title, part, text }).unwrap();
    }
    let of_kind = format!("{schema}.\"events.event\"");
    let columns = format!(
        "SELECT string_agg(attname || ' ' || format_type(atttypid, NULL), ', ' ORDER BY attnum)
         FROM pg_attribute WHERE attrelid = '{of_kind}'::regclass AND attnum > 3"
    );
    assert_eq!(
        psql(&columns),
        "Station text, Level integer, At timestamp with time zone, Device uuid, IsValid boolean, \
         Part integer, Text text"
    );
    let rows = format!(
        "SELECT \"Station\", \"Level\", \"At\" AT TIME ZONE 'UTC', right(\"Device\"::text, 4), \"IsValid\", \
         \"Part\", \"Text\" FROM {of_kind} ORDER BY 1"
    );
    assert_eq!(
        psql(&rows),
        "North 1|-7|2026-05-04 03:02:01.5|0007|t|12|x\nS|32767|2026-05-04 03:02:01.5|0007|f|9999|x"
    );

    // Keys that a client has written by hand do not break the view: their columns are NULL where the template does not fit.
    let raw = events.dynamic().raw();
    for (at, (partition, row)) in
        [("T", "zz"), ("T_123456", "99999999999999999999_"), ("T_x1234", "é")].iter().enumerate()
    {
        raw.insert(
            &DynamicEntity::new(*partition, *row).with("EntityType", "event").with("Text", at.to_string()),
        )
        .unwrap();
    }
    let rows = format!(
        "SELECT \"Level\", \"At\", \"Device\", \"Part\", \"Text\" FROM {of_kind} WHERE \"PartitionKey\" LIKE 'T%' ORDER BY 5"
    );
    assert_eq!(psql(&rows), "||||0\n-9312||||1\n||||2");
}

/// Somebody has made a view of the view, which is left alone.
#[test]
fn a_view_that_others_are_made_of_is_in_nobodys_way() {
    let schema = schema();
    let tables = PostgresTables::options().schema(&schema).connect(&server()).unwrap();
    tables.table::<Employee>().unwrap().insert(&employee(1, 1.0)).unwrap();
    support::execute(&format!(
        "CREATE VIEW {schema}.mine AS SELECT \"Age\" FROM {schema}.\"company.employee\""
    ));
    let staff = tables.table::<later::Employee>().unwrap();
    staff.insert(&later::Employee::of(employee(4, 1.0), None)).unwrap();
    assert_eq!(psql(&format!("SELECT count(*) FROM {schema}.mine")), "2");
    // What is written by hand is read, if it is of the form.
    let sql = format!(
        "INSERT INTO {schema}.rows_1 VALUES ('Legal', 'x', 1, NULL, '{{ \"@\": {{\"Big\": \"Int64\"}},\n \"Big\": 5 }}')"
    );
    support::execute(&sql);
    let read = tables.dynamic_table("Company").unwrap().get("Legal", "x").unwrap().unwrap();
    assert_eq!(read.get("Big").and_then(table_core::Value::as_i64), Some(5));
    support::execute(&format!("UPDATE {schema}.rows_1 SET body = '[1]' WHERE pk = 'Legal'"));
    let error = tables.dynamic_table("Company").unwrap().get("Legal", "x").unwrap_err();
    assert_eq!((error.kind(), error.row_key()), (table_core::ErrorKind::Corrupt, Some("x")), "{error}");
}
