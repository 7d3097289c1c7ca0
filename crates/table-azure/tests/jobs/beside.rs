//! Indexes that are made and dropped beside writers and readers that go by former states.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;

use table_core::{ErrorKind, Query, Table};

use super::Shared;
use super::releases::{fill, first, second, staff_of_first, staff_of_second};

const WRITERS: u32 = 4;
/// Of each writer.
const ENTITIES: u32 = 6;

/// What each entity's address is by what its writer was told.
type Model = BTreeMap<u32, String>;

/// Ends the writers, also where the test fails.
struct Over<'o>(&'o AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn addresses(staff: &Table<second::Employee>) -> Model {
    let found = staff.rows().department("Sales").into_iter().map(Result::unwrap);
    found.map(|one| (one.id, one.email.clone())).collect()
}

/// Makes sure that the index has what the entities have, and that no row is left over.
fn check(shared: &Shared, model: &Model) {
    let tables = shared.connect();
    let staff = staff_of_second(&tables);
    assert_eq!(addresses(&staff), *model);
    let by_email = staff.by_email().department("Sales").into_iter().map(Result::unwrap);
    assert_eq!(by_email.map(|one| (one.id, one.email.clone())).collect::<Model>(), *model);
    for (id, email) in model {
        let found = staff.get(second::Employee::by_email("Sales", email)).unwrap().unwrap();
        assert_eq!(found.id, *id);
    }
    let rows = tables.dynamic_table("Company").unwrap().query(&Query::new()).unwrap().count();
    assert_eq!(rows, model.len() * 2, "copies are left");
    assert!(tables.jobs().unwrap().is_empty());
}

#[test]
fn an_index_that_is_added_is_made_of_the_entities_that_are_there() {
    let shared = Shared::new();
    let tables = shared.connect();
    fill(&tables, 120);
    let staff = staff_of_second(&tables);
    let by_email = || staff.get(second::Employee::by_email("Sales", "7@contoso.com"));
    let error = by_email().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::IndexBuilding, "{error}");
    assert!(error.to_string().contains("`Table::rebuild`"), "{error}");
    let mut job = staff.rebuild().unwrap().steps_of(50);
    let [begun] = &tables.jobs().unwrap()[..] else { panic!("one job has begun") };
    assert_eq!(begun.table, "Company");
    while job.step().unwrap() {}
    assert_eq!(job.progress().changed, 120);
    assert_eq!(by_email().unwrap().unwrap().id, 7);
    let model = (0..120).map(|id| (id, format!("{id}@contoso.com"))).collect();
    check(&shared, &model);
    // The first release would leave copies as they are.
    let others = shared.connect();
    let error = staff_of_first(&others)
        .put(&first::Employee { department: "Sales".into(), id: 7, email: "x@contoso.com".into() })
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LayoutChanged, "{error}");
    staff.drop_index("by_email").unwrap().run().unwrap();
    let rows = tables.dynamic_table("Company").unwrap().query(&Query::new()).unwrap().count();
    assert_eq!(rows, 120);
    assert_eq!(by_email().unwrap_err().kind(), ErrorKind::IndexBuilding);
    // There is nothing that it would leave as it is now.
    let old = first::Employee { department: "Sales".into(), id: 7, email: "y@contoso.com".into() };
    staff_of_first(&shared.connect()).put(&old).unwrap();
}

#[test]
fn what_writers_were_told_is_so_while_an_index_comes_and_goes() {
    let shared = Shared::new();
    fill(&shared.connect(), 1);
    let admin = shared.connect();
    let staff = staff_of_second(&admin);
    staff.rebuild().unwrap().run().unwrap();
    let (is_over, written, refused) = (AtomicBool::new(false), AtomicU32::new(0), AtomicU32::new(0));
    let models = thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let (shared, is_over, written, refused) = (&shared, &is_over, &written, &refused);
                scope.spawn(move || {
                    let tables = shared.connect();
                    let (staff, mut model, mut number) = (staff_of_second(&tables), Model::new(), 0_u32);
                    while !is_over.load(Ordering::Relaxed) {
                        number += 1;
                        let id = 1 + writer + WRITERS * (number.wrapping_mul(7_919) % ENTITIES);
                        let email = format!("{id}.{}@contoso.com", number % 5);
                        let one = second::Employee { department: "Sales".into(), id, email: email.clone() };
                        let (key, is_there) = (second::Employee::key("Sales", id), model.contains_key(&id));
                        let done = match (is_there, number % 4) {
                            (false, _) => staff.insert(&one).map(drop),
                            (true, 0) => staff.delete(key),
                            (true, 1) => staff.put(&one).map(drop),
                            (true, _) => staff.update(key, |found| found.email.clone_from(&email)).map(drop),
                        };
                        match done {
                            Ok(()) if is_there && number.is_multiple_of(4) => drop(model.remove(&id)),
                            Ok(()) => drop(model.insert(id, email)),
                            // It has lost to changes of states as often as it tries.
                            Err(error) if error.kind() == ErrorKind::ConditionNotMet => {
                                refused.fetch_add(1, Ordering::Relaxed);
                                continue;
                            }
                            Err(error) => panic!("{writer}: {error}"),
                        }
                        written.fetch_add(1, Ordering::Relaxed);
                    }
                    model
                })
            })
            .collect();
        let over = Over(&is_over);
        for _ in 0..2 {
            staff.drop_index("by_email").unwrap().run().unwrap();
            let mut job = staff.rebuild().unwrap().steps_of(20);
            while job.step().unwrap() {}
        }
        drop(over);
        writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect::<Model>()
    });
    let mut all = models;
    all.insert(0, "0@contoso.com".into());
    check(&shared, &all);
    assert!(written.into_inner() > 100);
    assert_eq!(refused.into_inner(), 0);
}

#[test]
fn a_reader_by_an_index_is_refused_or_finds_what_is_there() {
    let shared = Shared::new();
    fill(&shared.connect(), 30);
    let admin = shared.connect();
    let staff = staff_of_second(&admin);
    staff.rebuild().unwrap().run().unwrap();
    let is_over = AtomicBool::new(false);
    let (found, refused) = thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let tables = shared.connect();
            let (staff, mut found, mut refused) = (staff_of_second(&tables), 0_u32, 0_u32);
            while !is_over.load(Ordering::Relaxed) {
                match staff.by_email().department("Sales").count() {
                    Ok(count) => {
                        assert_eq!(count, 30);
                        found += 1;
                    }
                    Err(error) => {
                        assert_eq!(error.kind(), ErrorKind::IndexBuilding, "{error}");
                        refused += 1;
                    }
                }
            }
            (found, refused)
        });
        let over = Over(&is_over);
        staff.drop_index("by_email").unwrap().run().unwrap();
        staff.rebuild().unwrap().run().unwrap();
        drop(over);
        reader.join().unwrap()
    });
    assert!(found > 0 && refused > 0, "{found} {refused}");
}
