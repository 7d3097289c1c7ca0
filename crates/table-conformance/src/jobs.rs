//! Jobs: work over a whole table in steps, which a backend may keep and carry out.

use std::sync::Arc;

use table_derive::Entity;
use table_engine::__executor::{Backend, JobRecord, Position, StepSize};
use table_engine::{DynamicEntity, IfMatch, Query, Table};

use super::{check_lacks, tables};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_age, row = "age_{age:03}_{id:06}")]
struct Employee {
    department: String,
    id: u32,
    age: u8,
}

fn employee(id: u32) -> Employee {
    Employee { department: "Sales".into(), id, age: u8::try_from(id % 50).unwrap() }
}

/// Returns a table of so many employees. A backend without jobs refuses whatever is one.
fn staff(backend: &Arc<dyn Backend>, count: u32) -> Option<Table<Employee>> {
    let staff = tables(backend).table::<Employee>().unwrap();
    staff.bulk_insert((0..count).map(employee)).unwrap().into_result().unwrap();
    let Err(error) = staff.dynamic().exec().jobs().map(drop) else { return Some(staff) };
    check_lacks(&error, "jobs");
    let run = [
        staff.rebuild().and_then(|job| job.run().map(drop)),
        staff.repair().and_then(|job| job.run().map(drop)),
        staff.delete_partition(Employee::partition("Sales")).and_then(|job| job.run().map(drop)),
        tables(backend).jobs().map(drop),
    ];
    for refused in run {
        check_lacks(&refused.unwrap_err(), "jobs");
    }
    assert_eq!(staff.rows().department("Sales").count().unwrap(), u64::from(count));
    None
}

fn ages(staff: &Table<Employee>) -> Vec<u32> {
    let found = staff.by_age().department("Sales").into_iter().map(|found| found.unwrap());
    found.map(|employee| 1_000 * u32::from(employee.age) + employee.id).collect()
}

pub(crate) fn a_repair_mends_every_copy(backend: &Arc<dyn Backend>) {
    let Some(staff) = staff(backend, 120) else { return };
    let before = ages(&staff);
    let raw = staff.dynamic().raw();
    for (id, age) in [(7, 7), (70, 20), (119, 19)] {
        raw.delete("Sales", &format!("age_{age:03}_{id:06}")).unwrap();
    }
    let own = DynamicEntity::new("Sales", "empid_000040").with("Age", 99);
    raw.merge(&own, IfMatch::Any).unwrap();
    assert!(!staff.check().unwrap().is_sound());
    staff.repair().unwrap().run().unwrap();
    assert!(staff.check().unwrap().is_sound());
    let after = ages(&staff);
    assert_eq!(after.len(), before.len());
    assert_eq!(after.last(), Some(&99_040));
    assert!(tables(backend).jobs().unwrap().is_empty());
}

/// A job that is dropped between two steps goes on where it was, and does no row twice.
pub(crate) fn a_job_goes_on_where_it_was(backend: &Arc<dyn Backend>) {
    let Some(staff) = staff(backend, 600) else { return };
    let job = || staff.delete_partition(Employee::partition("Sales")).unwrap();
    let mut first = job().steps_of(100);
    assert!(first.step().unwrap());
    let changed = first.progress().changed;
    drop(first);
    let left = || staff.rows().department("Sales").count().unwrap();
    assert_eq!(left(), 600 - changed);
    let [noted] = &tables(backend).jobs().unwrap()[..] else { panic!("one job has begun") };
    assert_eq!(noted.changed, changed);
    // What the first has done counts, though its rows are gone.
    assert_eq!(job().run().unwrap().changed, 600);
    assert_eq!(left(), 0);
    let rows = tables(backend).dynamic_table("Company").unwrap().query(&Query::new()).unwrap().count();
    assert_eq!(rows, 0, "copies are left");
    assert!(tables(backend).jobs().unwrap().is_empty());
}

pub(crate) fn a_table_is_gone_over_in_bounded_steps(backend: &Arc<dyn Backend>) {
    let Some(staff) = staff(backend, 300) else { return };
    let jobs = staff.dynamic().exec().jobs().unwrap();
    assert_eq!(jobs.row_count().unwrap(), 600);
    assert!(jobs.byte_count().unwrap() > 0);
    let (mut seen, mut after) = (Vec::new(), None::<Position>);
    loop {
        let mut step = Vec::new();
        let (last, looked) = jobs
            .rows_after(after.as_ref(), StepSize { rows: 70 }, &mut |view, _| {
                let (partition, row) = view.keys();
                step.push(Position { partition: partition.into(), row: row.into() });
                Ok(true)
            })
            .unwrap();
        assert!(step.len() <= 70 && looked == u64::try_from(step.len()).unwrap());
        seen.extend(step);
        let Some(last) = last else { break };
        assert_eq!(seen.last(), Some(&last));
        after = Some(last);
    }
    assert_eq!(seen.len(), 600);
    assert!(seen.is_sorted_by(|a, b| a < b), "rows come in their order, each once");
    assert_eq!(jobs.last_row().unwrap().as_ref(), seen.last());

    // How far a job is, is kept and forgotten.
    let record =
        JobRecord { done: 7, position: seen.first().cloned(), ..JobRecord::new(600, "asked".into()) };
    jobs.keep("own", Some(&record)).unwrap();
    assert_eq!(jobs.job("own").unwrap().as_ref(), Some(&record));
    assert_eq!(jobs.begun().unwrap(), [("own".to_owned(), record)]);
    jobs.keep("own", None).unwrap();
    assert_eq!(jobs.job("own").unwrap(), None);
}
