//! What a declaration of summaries looks like, and what a store notes of it.

use integration_tests::{Scratch, assert_sound};
use table_core::{Entity, ErrorKind};

use super::{Employee, Level, Payroll, assert_summarized, employee};

#[test]
fn a_schema_shows_its_summaries_and_where_they_lie() {
    let drawn = Employee::SCHEMA.to_string();
    let line = |kind: &str| drawn.lines().find(|line| line.starts_with(kind)).unwrap_or_default().to_owned();
    let payroll = line("payroll, summary");
    assert!(payroll.contains("{department}") && payroll.contains("Salaries: sum of Salary"), "{drawn}");
    assert!(payroll.contains("Employees: count, Seniors: count of some"), "{drawn}");
    assert!(line("level, summary, in table Levels, atomic").contains("Paid: sum of Salary"), "{drawn}");
    assert_eq!(Payroll::SCHEMA.summary_of, Some("Employee"));
    assert!(
        Employee::SCHEMA.markdown().to_string().contains("| payroll, summary | `{department}` | `payroll` |")
    );
}

#[test]
fn a_summary_follows_when_its_table_is_dropped_or_that_of_its_entities() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let people: Vec<_> = (1..4).map(|id| employee("Sales", id, 4, 10)).collect();
    store.table::<Employee>().unwrap().bulk_insert(people.clone()).unwrap().into_result().unwrap();
    let level = || store.table::<Level>().unwrap().get(Level::key(4));
    assert_eq!(level().unwrap().unwrap().employees, 3);
    // Its own: it is to be made anew, and is kept all the while.
    store.drop_table("Levels").unwrap();
    assert_eq!(level().unwrap_err().kind(), ErrorKind::IndexBuilding);
    let staff = store.table::<Employee>().unwrap();
    staff.insert(&employee("Sales", 9, 4, 10)).unwrap();
    staff.delete(Employee::key("Sales", 1)).unwrap();
    staff.rebuild().unwrap().run().unwrap();
    assert_eq!(level().unwrap().unwrap().employees, 3);
    assert!(staff.check().unwrap().is_sound());
    // The entities': what they had summed up is of nobody.
    store.drop_table("Company").unwrap();
    let staff = store.table::<Employee>().unwrap();
    assert_eq!(level().unwrap_err().kind(), ErrorKind::IndexBuilding);
    staff.insert(&employee("Sales", 2, 4, 10)).unwrap();
    staff.rebuild().unwrap().run().unwrap();
    assert_summarized(&store, &[employee("Sales", 2, 4, 10)]);
    // Both.
    store.drop_tables(&["Company", "Levels"]).unwrap();
    store.table::<Employee>().unwrap().insert(&employee("Sales", 3, 4, 10)).unwrap();
    assert_summarized(&store, &[employee("Sales", 3, 4, 10)]);
    assert_sound(&store);
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
    let north =
        store.table::<below::ByRegion>().unwrap().get(below::ByRegion::key("North")).unwrap().unwrap();
    assert_eq!((north.orders, north.cents), (3, 3 * i64::from(u32::MAX)));
}
