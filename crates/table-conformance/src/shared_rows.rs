//! The abilities `additions` and `eventual`: rows that many entities add to, and copies that follow later.

use std::sync::Arc;
use std::thread;

use table_derive::Entity;
use table_engine::__executor::Backend;
use table_engine::typed::Propagation;

use super::{check_lacks, tables};

#[derive(Entity, Clone, Debug)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[summarized_in(Payroll)]
struct Employee {
    department: String,
    id: u32,
    salary: i64,
}

#[derive(Entity, Debug)]
#[entity(table = "Company", kind = "payroll")]
#[key(partition = "{department}", row = "payroll")]
#[summary(of = Employee)]
struct Payroll {
    department: String,
    #[summary(count)]
    employees: u64,
    #[summary(sum = salary)]
    salaries: i64,
}

fn employee(id: u32, salary: i64) -> Employee {
    Employee { department: "Sales".into(), id, salary }
}

/// Of what many add at once nothing is lost, and what is refused adds nothing.
pub(crate) fn numbers_are_added_to(backend: &Arc<dyn Backend>) {
    let tables = tables(backend);
    let (staff, payrolls) = (tables.table::<Employee>().unwrap(), tables.table::<Payroll>().unwrap());
    if !backend.abilities().additions {
        check_lacks(&staff.insert(&employee(1, 1_000)).unwrap_err(), "ability `additions`");
        assert!(staff.get(Employee::key("Sales", 1)).unwrap().is_none());
        return;
    }
    thread::scope(|scope| {
        for thread in 0..4 {
            let staff = &staff;
            scope.spawn(move || {
                for id in 0..25 {
                    staff.insert(&employee(25 * thread + id, 10)).unwrap();
                }
            });
        }
    });
    let sales = || {
        let found = payrolls.get(Payroll::key("Sales")).unwrap();
        found.map(|sales| (sales.employees, sales.salaries))
    };
    assert_eq!(sales(), Some((100, 1_000)));
    staff.insert(&employee(7, 10)).unwrap_err();
    assert_eq!(sales(), Some((100, 1_000)));
    staff.update(Employee::key("Sales", 7), |employee| employee.salary = 500).unwrap();
    staff.delete(Employee::key("Sales", 8)).unwrap();
    assert_eq!(sales(), Some((99, 1_480)));
    for id in (0..100).filter(|id| *id != 8) {
        staff.delete(Employee::key("Sales", id)).unwrap();
    }
    assert_eq!(sales(), None);
}

#[derive(Entity, Clone, Debug)]
#[entity(table = "People", kind = "person")]
#[key(partition = "{country}", row = "{id:06}")]
#[index(by_name, table = "Names", partition = "{name}", row = "{country}_{id:06}", eventual)]
struct Person {
    country: String,
    id: u32,
    name: String,
}

/// Copies that follow are what their entities say once they have followed, however often they changed meanwhile.
pub(crate) fn copies_follow_their_entities(backend: &Arc<dyn Backend>) {
    let tables = tables(backend);
    let person = |name: &str| Person { country: "Norway".into(), id: 1, name: name.into() };
    if !backend.abilities().eventual {
        check_lacks(&backend.outbox().map(drop).unwrap_err(), "ability `eventual`");
        check_lacks(&tables.propagate().unwrap_err(), "ability `eventual`");
        let refused = tables.table::<Person>().and_then(|people| people.insert(&person("Ann")));
        check_lacks(&refused.unwrap_err(), "ability `eventual`");
        return;
    }
    let people = tables.table::<Person>().unwrap();
    let named = |name: &str| {
        assert_eq!(tables.propagate().unwrap(), Propagation::Complete);
        people.get(Person::by_name(name, "Norway", 1)).unwrap().is_some()
    };
    people.insert(&person("Ann")).unwrap();
    assert!(named("Ann"));
    for name in ["Bea", "Cleo"] {
        people.update(Person::key("Norway", 1), |person| person.name = name.into()).unwrap();
    }
    assert!(named("Cleo") && !named("Ann") && !named("Bea"));
    people.delete(Person::key("Norway", 1)).unwrap();
    assert!(!named("Cleo"));
    assert_eq!(tables.pending_propagation().unwrap().entities, 0);
}
