//! What a declaration of summaries looks like, and what a store notes of it.

use integration_tests::Scratch;
use table_core::{Entity, ErrorKind};

use super::{Employee, Level, Payroll, employee};

#[test]
fn a_schema_shows_its_summaries_and_where_they_lie() {
    let drawn = Employee::SCHEMA.to_string();
    let line = |kind: &str| drawn.lines().find(|line| line.starts_with(kind)).unwrap_or_default().to_owned();
    let payroll = line("payroll, summary");
    assert!(payroll.contains("{department}") && payroll.contains("Salaries: sum of Salary"), "{drawn}");
    assert!(payroll.contains("Employees: count, Seniors: count of some"), "{drawn}");
    assert!(line("level, summary, in table Levels, atomic").contains("Paid: sum of Salary"), "{drawn}");
    assert_eq!(Payroll::SCHEMA.summary_of, Some("Employee"));
    assert!(Employee::SCHEMA.markdown().to_string().contains("| payroll, summary | `{department}` | `payroll` |"));
}

#[test]
fn the_tables_of_entities_and_their_summaries_are_dropped_together() {
    let scratch = Scratch::new();
    let store = scratch.store();
    store.table::<Employee>().unwrap().insert(&employee("Sales", 1, 4, 10)).unwrap();
    for table in ["Company", "Levels"] {
        let error = store.drop_table(table).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::CopiesElsewhere, "{error}");
    }
    store.drop_tables(&["Company", "Levels"]).unwrap();
    store.table::<Employee>().unwrap().insert(&employee("Sales", 2, 4, 10)).unwrap();
    let level = store.table::<Level>().unwrap().get(Level::key(4)).unwrap().unwrap();
    assert_eq!((level.employees, level.salaries), (1, 10));
}

/// Two kinds in two modules, each of which is told of the other from above and from below.
mod below {
    use table_core::Entity;

    #[derive(Entity)]
    #[entity(table = "Sales", kind = "by_region")]
    #[key(partition = "{region}", row = "total")]
    #[summary(of = super::above::Order)]
    pub(super) struct ByRegion {
        pub(super) region: String,
        #[summary(count)]
        pub(super) orders: u64,
        #[summary(sum = cents)]
        pub(super) cents: i64,
    }
}

mod above {
    use table_core::Entity;

    #[derive(Entity)]
    #[entity(table = "Sales", kind = "order")]
    #[key(partition = "{region}", row = "order_{number:08}")]
    #[summarized_in(super::below::ByRegion)]
    pub(super) struct Order {
        region: String,
        number: u32,
        cents: u32,
    }

    pub(super) fn order(number: u32, cents: u32) -> Order {
        Order { region: "North".into(), number, cents }
    }
}

#[test]
fn sides_find_each_other_in_whatever_modules() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let orders = store.table::<above::Order>().unwrap();
    for number in 0..3 {
        orders.insert(&above::order(number, u32::MAX)).unwrap();
    }
    let north = store.table::<below::ByRegion>().unwrap().get(below::ByRegion::key("North")).unwrap().unwrap();
    assert_eq!((north.orders, north.cents), (3, 3 * i64::from(u32::MAX)));
}
