//! Copies that follow their entities, where those who write lose requests and answers, and those who propagate die.

use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use table_azure::client::Retries;
use table_azure::{AzureOptions, AzureTables};
use table_core::store::Propagate;
use table_core::typed::{Eventual, Propagation};
use table_core::{Entity, ErrorKind, Stored, Table};

use super::proxy::{Faults, Proxy};
use super::server::{Own, connection};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_name, table = "Names", partition = "{last_name}", row = "{department}_{id:06}", eventual)]
struct Employee {
    department: String,
    id: u32,
    last_name: String,
}

fn employee(id: u32, last_name: &str) -> Employee {
    Employee { department: "Sales".into(), id, last_name: last_name.into() }
}

/// Returns the names under which the copy of an employee lies.
fn names(staff: &Table<Employee>, id: u32) -> Vec<&'static str> {
    let is_there = |name: &&str| staff.get(Employee::by_name(*name, "Sales", id)).unwrap().is_some();
    ["Jones", "Smith", "Brown"].into_iter().filter(is_there).collect()
}

/// Two write, each behind a connection that loses requests and answers; three propagate, whose requests are lost, doubled and
/// held up, and who give up at the first loss, as if they had died. In the end the copies are those of the entities.
#[test]
fn copies_are_the_entities_whichever_propagators_die() {
    let server = Own::start();
    let options = AzureOptions::new().propagate(Propagate::Manual);
    let direct = options.connect(&connection(server.address)).unwrap();
    let staff = direct.table::<Employee>().unwrap();
    let runs = std::env::var("AZURE_EVENTUAL").ok().and_then(|runs| runs.parse().ok()).unwrap_or(40_u32);
    let choices = ["Jones", "Smith", "Brown"];
    let faults =
        Faults { requests_lost: 60, answers_lost: 90, doubled: 60, delayed: 200, ..Faults::default() };
    let proxy = Proxy::start(server.address, faults, 7);
    let behind = |attempts| {
        let retries = Retries::default().attempts(attempts).first_wait(Duration::from_millis(1));
        let retries = retries.longest_wait(Duration::from_millis(20));
        let options = AzureOptions::new().propagate(Propagate::Manual).retries(retries);
        options.timeout(Duration::from_secs(5)).connect(&connection(proxy.address)).unwrap()
    };
    let opened = |store: &AzureTables| loop {
        if let Ok(staff) = store.table::<Employee>() {
            return staff;
        }
    };
    thread::scope(|scope| {
        for writer in 0..2_usize {
            scope.spawn(move || {
                let store = behind(12);
                let staff = opened(&store);
                for change in 0..usize::try_from(runs).unwrap() * 4 {
                    let id = u32::try_from(change / 4).unwrap();
                    let name = choices[(change + change / 4 + writer) % 3];
                    let done = if (change + writer) % 4 == 3 {
                        staff.delete(Employee::key("Sales", id))
                    } else {
                        staff.put(&employee(id, name)).map(drop)
                    };
                    if let Err(error) = done {
                        let kind = error.kind();
                        let may_be = matches!(
                            kind,
                            ErrorKind::OutcomeUnknown
                                | ErrorKind::EntityNotFound
                                | ErrorKind::ConditionNotMet
                        );
                        assert!(may_be, "{error}");
                    }
                }
            });
        }
        for _ in 0..3 {
            scope.spawn(|| {
                let store = behind(1);
                let _staff = opened(&store);
                for _ in 0..runs {
                    drop(store.propagate());
                }
            });
        }
    });
    assert!(proxy.done.lost.load(Ordering::Relaxed) > 0 && proxy.done.doubled.load(Ordering::Relaxed) > 0);
    // What is doubled has come by then.
    thread::sleep(Duration::from_millis(60));
    direct.retry_failed().unwrap();
    assert_eq!(direct.propagate().unwrap(), Propagation::Complete);
    for id in 0..runs {
        let entity = staff.get(Employee::key("Sales", id)).unwrap();
        let wanted: Vec<_> = entity.iter().map(|entity| entity.last_name.as_str()).collect();
        assert_eq!(names(&staff, id), wanted, "{id}");
        if let Some(entity) = entity {
            let copy = staff.get(Employee::by_name(&entity.last_name, "Sales", id)).unwrap().unwrap();
            assert_eq!(Eventual::as_of(&copy), Stored::etag(&entity), "{id}");
        }
    }
}
