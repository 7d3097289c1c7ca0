//! Sources and holders changed by several at one time.

use std::thread;

use integration_tests::random::Random;
use integration_tests::{Scratch, assert_sound};
use table_core::ErrorKind;

use super::{Department, Employee, Project, assert_copied, department, employee, project};

/// Changes by each thread: `TABLE_CORE_COPIED_THREADS`.
fn changes() -> u64 {
    std::env::var("TABLE_CORE_COPIED_THREADS").map_or(1_000, |text| text.parse().expect("a number"))
}

/// What others may have done first.
fn is_anothers(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::EntityNotFound | ErrorKind::EntityAlreadyExists | ErrorKind::ConditionNotMet)
}

#[test]
fn copies_are_right_when_several_write_at_one_time() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    store.table::<Department>().unwrap().insert(&department("Sales", Some(1))).unwrap();
    for id in 0..4 {
        store.table::<Employee>().unwrap().insert(&employee("Sales", id)).unwrap();
    }
    thread::scope(|scope| {
        for thread in 0..4 {
            let store = &store;
            scope.spawn(move || {
                let (staff, departments) =
                    (store.table::<Employee>().unwrap(), store.table::<Department>().unwrap());
                let projects = store.table::<Project>().unwrap();
                let mut random = Random::new(100 + thread);
                for step in 0..changes() {
                    let (id, other) = (random.below(4) as u32, random.below(4) as u32);
                    let key = || Employee::key("Sales", id);
                    let title = ["autumn", "spring"][random.below(2) as usize];
                    let done = match random.below(9) {
                        0 | 1 => staff.update(key(), |one| one.name = format!("{thread} {step}")).map(drop),
                        2 => staff.delete(key()),
                        3 => staff.put(&employee("Sales", id)).map(drop),
                        4 => staff.update(key(), |one| one.boss_id = Some(other)).map(drop),
                        5 => departments
                            .update(Department::key("Sales"), |one| {
                                (one.manager_id, one.city) = (Some(id), format!("{thread} {step}"));
                            })
                            .map(drop),
                        6 => projects.put(&project(title, "Sales", id, Some(other))).map(drop),
                        7 => projects.delete(Project::key("west", title)),
                        _ => store
                            .transaction()
                            .put(&employee("Sales", id))
                            .put(&project(title, "Sales", id, None))
                            .commit()
                            .map(drop),
                    };
                    if let Err(error) = done {
                        assert!(is_anothers(error.kind()), "{error}");
                    }
                }
            });
        }
    });
    assert_copied(&store);
    assert_sound(&store);
}

#[cfg(feature = "postgres")]
mod on_postgres {
    use integration_tests::executors::Executor;

    #[test]
    fn copies_are_right_when_several_write_at_one_time() {
        Executor::Postgres.run(super::copies_are_right_when_several_write_at_one_time);
    }
}
