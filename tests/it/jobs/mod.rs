//! Indexes that come and go while programs write, and the jobs that make and remove them.

mod apart;
mod beside;
mod cancelled;
mod check;
mod damaged;
mod deleted;
mod flipped;
mod killed;
mod mended;
mod random;
mod repaired;
mod resealed;
mod unending;

use integration_tests::releases::{Copies, Staff, assert_rows, first, second, third};
use integration_tests::{Scratch, assert_sound};
use table_core::{DynamicEntity, Entity, ErrorKind, IfMatch, Query, Store, Tables};

/// Employees that differ in everything.
fn staff(many: u32) -> Staff {
    let one = |id| (("Sales".to_owned(), id), (format!("{id}@contoso.com"), 20 + (id % 50) as u8));
    (0..many).map(one).collect()
}

fn first_of(staff: &Staff) -> Vec<first::Employee> {
    let one = |((department, id), (email, age)): (&(String, u32), &(String, u8))| first::Employee {
        department: department.clone(),
        id: *id,
        email: email.clone(),
        age: *age,
    };
    staff.iter().map(one).collect()
}

fn filled(store: &Tables, many: u32) -> Staff {
    let staff = staff(many);
    let report = store.table::<first::Employee>().unwrap().bulk_insert(first_of(&staff)).unwrap();
    assert!(report.failures.is_empty());
    staff
}

fn key(id: u32) -> table_core::Key<second::Employee> {
    second::Employee::key("Sales", id)
}

#[test]
fn an_index_that_is_added_is_made_and_says_so_until_then() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let mut staff = filled(&store, 1_200);
    let table = store.table::<second::Employee>().unwrap();
    let by_email = |email: &str| table.get(second::Employee::by_email("Sales", email));

    // Nothing but that index is held up.
    for round in 0..2 {
        let error = by_email("7@contoso.com").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::IndexBuilding, "{error}");
        assert!(
            error.to_string().contains("`by_email`") && error.to_string().contains("`Table::rebuild`"),
            "{error}"
        );
        let snapshot = store.snapshot().unwrap();
        for error in [
            table.exists(second::Employee::by_email("Sales", "7@contoso.com")).unwrap_err(),
            table.get_many([second::Employee::by_email("Sales", "7@contoso.com")]).unwrap_err(),
            table.at(&snapshot).get(second::Employee::by_email("Sales", "7@contoso.com")).unwrap_err(),
            table.by_email().department("Sales").into_iter().next().unwrap().unwrap_err(),
            table.by_email().department("Sales").count().unwrap_err(),
            table.by_email().department("Sales").page(3, None).unwrap_err(),
            table.by_email().department("Sales").entities().into_iter().next().unwrap().unwrap_err(),
            table.at(&snapshot).by_email().department("Sales").into_iter().next().unwrap().unwrap_err(),
        ] {
            assert_eq!(error.kind(), ErrorKind::IndexBuilding, "{error}");
        }
        assert_eq!(table.get(key(7)).unwrap().unwrap().email, "7@contoso.com");
        assert_eq!(table.rows().department("Sales").into_iter().count(), 1_200);
        assert_eq!(table.by_age().department("Sales").age(27).into_iter().count(), 24);
        table.update(key(7), |e| e.age = 90 + round).unwrap();
        table.update(key(7), |e| e.age = 27).unwrap();
        drop(store.table::<first::Employee>().unwrap());
    }
    assert!(store.jobs().unwrap().is_empty());

    let mut job = table.rebuild().unwrap();
    let error = by_email("7@contoso.com").unwrap_err();
    assert!(error.to_string().contains("0 of about 2400 rows"), "{error}");
    let mut steps = 0;
    while job.step().unwrap() {
        steps += 1;
        assert_eq!(store.jobs().unwrap().len(), usize::from(by_email("7@contoso.com").is_err()));
    }
    assert!(steps > 5, "{steps}");
    assert_eq!(job.progress().changed, 1_200);
    assert_eq!(by_email("7@contoso.com").unwrap().unwrap().id, 7);
    assert_eq!(table.by_email().department("Sales").count().unwrap(), 1_200);
    assert_rows(table.dynamic(), &staff, Copies::OF[1]);

    // It is kept and unique from now on.
    table.update(key(7), |e| e.email = "seven@contoso.com".into()).unwrap();
    staff.get_mut(&("Sales".to_owned(), 7)).unwrap().0 = "seven@contoso.com".into();
    let error = table.update(key(8), |e| e.email = "seven@contoso.com".into()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UniqueConflict);
    assert_rows(table.dynamic(), &staff, Copies::OF[1]);
    // There is nothing left to do.
    assert!(!table.rebuild().unwrap().step().unwrap());
    assert_sound(&store);
}

/// What commits costs more than what looks: where nothing is to be done, little is committed.
#[test]
fn a_step_that_finds_nothing_looks_on() {
    let scratch = Scratch::new();
    let store = scratch.store_with(&integration_tests::relaxed());
    filled(&store, 6_000);
    let table = store.table::<second::Employee>().unwrap();
    let mut job = table.rebuild().unwrap();
    let (mut sweeping, mut filling) = (0, 0);
    loop {
        let phase = if job.progress().changed == 0 { &mut sweeping } else { &mut filling };
        *phase += 1;
        if !job.step().unwrap() {
            break;
        }
    }
    // Of 12,000 rows none is to be swept, and half are to be filled: at 500 looks a step it would be 24 steps each.
    assert!(sweeping < 12, "{sweeping}");
    assert!((12..24).contains(&filling), "{filling}");
    assert_eq!(job.progress().changed, 6_000);
    assert!(table.check().unwrap().is_sound());
    let mut job = table.drop_index("by_email").unwrap();
    while job.step().unwrap() {}
    assert_eq!(job.progress().changed, 6_000);
    assert!(store.jobs().unwrap().is_empty());
    assert_sound(&store);
}

#[test]
fn who_does_not_know_an_index_that_is_kept_writes_nothing() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let staff = filled(&store, 30);
    let old = store.table::<first::Employee>().unwrap();
    let new = store.table::<second::Employee>().unwrap();
    let age = |age| old.update(first::Employee::key("Sales", 3), |e| e.age = age).map(drop);
    age(50).unwrap();
    let mut job = new.rebuild().unwrap();
    // The rows of former times are removed, of which there are none; nobody keeps the index yet.
    age(51).unwrap();
    while store.jobs().unwrap().first().is_some_and(|job| job.done == 0 || job.changed == 0) {
        job.step().unwrap();
    }
    for _ in 0..2 {
        let error = age(52).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LayoutChanged);
        assert!(error.to_string().contains("`Table::drop_index(\"by_email\")`"), "{error}");
        let more =
            first::Employee { department: "Sales".into(), id: 99, email: "n@contoso.com".into(), age: 1 };
        assert_eq!(old.insert(&more).unwrap_err().kind(), ErrorKind::LayoutChanged);
        assert_eq!(old.bulk_insert([&more]).unwrap().failures[0].error.kind(), ErrorKind::LayoutChanged);
        let egt = old.egt(first::Employee::partition("Sales")).insert(&more);
        assert_eq!(egt.commit().unwrap_err().kind(), ErrorKind::LayoutChanged);
        // It reads as ever, and opens the table again.
        assert_eq!(old.get(first::Employee::key("Sales", 3)).unwrap().unwrap().age, 51);
        assert_eq!(
            store.table::<first::Employee>().unwrap().by_age().department("Sales").count().unwrap(),
            30
        );
        new.rebuild().unwrap().run().unwrap();
    }
    // The way back.
    let dropped = old.drop_index("by_email").unwrap();
    age(20 + 3).unwrap();
    assert_eq!(
        new.get(second::Employee::by_email("Sales", "3@contoso.com")).unwrap_err().kind(),
        ErrorKind::IndexBuilding
    );
    dropped.run().unwrap();
    assert_rows(old.dynamic(), &staff, Copies::OF[0]);
    assert_eq!(old.drop_index("by_email").unwrap_err().kind(), ErrorKind::EntityNotFound);
    assert!(store.jobs().unwrap().is_empty());
    assert_sound(&store);
}

/// A change that was planned when nobody was to keep an index is planned again once the index has been made: else an entity
/// that the job has passed would be without its copy, or with that of before.
#[test]
fn what_was_planned_before_an_index_was_made_or_dropped_is_planned_again() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let mut staff = filled(&store, 30);
    let (old, new) = (store.table::<first::Employee>().unwrap(), store.table::<second::Employee>().unwrap());
    let mut calls = 0;
    new.update(key(7), |e| {
        calls += 1;
        if calls == 1 {
            new.rebuild().unwrap().run().unwrap();
        }
        e.email = "made@contoso.com".into();
    })
    .unwrap();
    assert_eq!(calls, 2);
    staff.get_mut(&("Sales".to_owned(), 7)).unwrap().0 = "made@contoso.com".into();
    assert_rows(new.dynamic(), &staff, Copies::OF[1]);

    let mut calls = 0;
    new.update(key(7), |e| {
        calls += 1;
        if calls == 1 {
            new.drop_index("by_email").unwrap().run().unwrap();
        }
        e.email = "dropped@contoso.com".into();
    })
    .unwrap();
    assert_eq!(calls, 2);
    staff.get_mut(&("Sales".to_owned(), 7)).unwrap().0 = "dropped@contoso.com".into();
    assert_rows(new.dynamic(), &staff, Copies::OF[0]);

    // Who does not know the index writes no more.
    let error = old
        .update(first::Employee::key("Sales", 7), |e| {
            drop(new.rebuild().unwrap().run());
            e.email = "lost@contoso.com".into();
        })
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LayoutChanged, "{error}");
    assert_rows(new.dynamic(), &staff, Copies::OF[1]);
    assert_sound(&store);
}

#[test]
fn two_that_claim_one_key_stop_the_job_until_one_of_them_changes() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let mut staff = filled(&store, 40);
    let old = store.table::<first::Employee>().unwrap();
    old.update(first::Employee::key("Sales", 30), |e| e.email = "10@contoso.com".into()).unwrap();
    let new = store.table::<second::Employee>().unwrap();
    for _ in 0..2 {
        let error = new.rebuild().unwrap().run().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::UniqueConflict, "{error}");
        let text = error.to_string();
        for named in ["empid_000010", "empid_000030", "email_10@contoso.com"] {
            assert!(text.contains(named), "{text}");
        }
        let error = new.get(second::Employee::by_email("Sales", "1@contoso.com")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::IndexBuilding);
        // The one that has no copy changes in what is not unique: its conflict is told. The one that has it goes on.
        let error = new.update(key(30), |e| e.age = 1).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::UniqueConflict, "{error}");
        new.update(key(10), |e| e.age = 30).unwrap();
    }
    // It goes, and takes nothing of the other's along.
    new.delete(key(30)).unwrap();
    staff.remove(&("Sales".to_owned(), 30));
    new.rebuild().unwrap().run().unwrap();
    assert_rows(new.dynamic(), &staff, Copies::OF[1]);
    assert_eq!(new.get(second::Employee::by_email("Sales", "10@contoso.com")).unwrap().unwrap().id, 10);
    assert_sound(&store);
}

#[test]
fn an_index_of_another_declaration_is_made_anew_and_keeps_writers_off_until_it_is_begun() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let staff = filled(&store, 100);
    store.table::<second::Employee>().unwrap().rebuild().unwrap().run().unwrap();
    let third = store.table::<third::Employee>().unwrap();
    let error = third.update(third::Employee::key("Sales", 3), |e| e.age = 30).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LayoutChanged);
    assert!(
        error.to_string().contains("\n  - index by_age ") && error.to_string().contains("`Table::rebuild`"),
        "{error}"
    );
    let error = third.by_age().department("Sales").into_iter().next().unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::IndexBuilding);
    assert_eq!(third.rows().department("Sales").into_iter().count(), 100);

    let job = third.rebuild().unwrap();
    third.update(third::Employee::key("Sales", 3), |e| e.age = 24).unwrap();
    third.update(third::Employee::key("Sales", 3), |e| e.age = 23).unwrap();
    job.gentle().run().unwrap();
    assert_rows(third.dynamic(), &staff, Copies::OF[2]);
    assert_eq!(third.by_youth().department("Sales").count().unwrap(), 20);
    let second = store.table::<second::Employee>().unwrap();
    assert_eq!(second.update(key(3), |e| e.age = 9).unwrap_err().kind(), ErrorKind::LayoutChanged);
    assert_sound(&store);
}

#[test]
fn a_job_goes_on_where_it_is_from_any_handle() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let staff = filled(&store, 1_500);
    let mut seen = Vec::new();
    for _ in 0..100 {
        let table = store.table::<second::Employee>().unwrap();
        let mut job = table.rebuild().unwrap().steps_of(100);
        if !job.step().unwrap() {
            break;
        }
        seen.extend(store.jobs().unwrap().iter().map(|job| (job.done, job.changed)));
    }
    // One step sweeps, and fifteen fill. On a busy machine steps end sooner, but each looks at a hundred rows at least: of three
    // thousand, twice.
    assert!(seen.len() >= 16 && seen.len() <= 62, "{seen:?}");
    // It goes back once, from its first part to its second.
    let back = seen.iter().zip(seen.iter().skip(1)).filter(|((done, _), (next, _))| next < done);
    assert!(back.count() <= 1, "{seen:?}");
    // No entity was filled twice.
    assert_eq!(seen.iter().map(|(_, changed)| *changed).max(), Some(1_500));
    let table = store.table::<second::Employee>().unwrap();
    assert_rows(table.dynamic(), &staff, Copies::OF[1]);
    // Two at one time share it.
    table.drop_index("by_email").unwrap().run().unwrap();
    let (mut one, mut other) = (table.rebuild().unwrap(), table.rebuild().unwrap());
    while one.step().unwrap() | other.step().unwrap() {}
    assert_rows(table.dynamic(), &staff, Copies::OF[1]);
    assert_sound(&store);
}

#[test]
fn a_table_that_is_dropped_takes_its_jobs_and_states_along() {
    let scratch = Scratch::new();
    let store = scratch.store();
    filled(&store, 700);
    let table = store.table::<second::Employee>().unwrap();
    let mut job = table.rebuild().unwrap();
    job.step().unwrap();
    store.drop_table("Company").unwrap();
    assert_eq!(job.step().unwrap_err().kind(), ErrorKind::TableNotFound);
    assert!(store.jobs().unwrap().is_empty());
    let table = store.table::<second::Employee>().unwrap();
    table.insert(&second::Employee { department: "Sales".into(), id: 1, email: "a".into(), age: 1 }).unwrap();
    assert!(table.get(second::Employee::by_email("Sales", "a")).unwrap().is_some());
    store.reclaim().unwrap();
    assert_sound(&store);
}

/// What is read by an older snapshot is never half an index.
#[test]
fn a_snapshot_from_before_an_index_was_ready_does_not_read_it() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    filled(&store, 50);
    let table = store.table::<second::Employee>().unwrap();
    let mut job = table.rebuild().unwrap();
    let mut taken = vec![store.snapshot().unwrap()];
    while job.step().unwrap() {
        taken.push(store.snapshot().unwrap());
    }
    let ready = store.snapshot().unwrap();
    table.update(key(1), |e| e.age = 1).unwrap();
    let count = |at: &table_core::Snapshot| table.at(at).by_email().department("Sales").count();
    let before: Vec<_> = taken.iter().map(|at| count(at).map_err(|e| e.kind())).collect();
    assert!(before.iter().all(|found| matches!(found, Ok(50) | Err(ErrorKind::IndexBuilding))), "{before:?}");
    assert!(before.iter().any(Result::is_err));
    assert_eq!(count(&ready).unwrap(), 50);
}

#[test]
fn a_store_that_keeps_no_jobs_says_so() {
    let store = integration_tests::MapStore::new().tables();
    let table = store.table::<first::Employee>().unwrap();
    let one = first::Employee { department: "Sales".into(), id: 1, email: "a".into(), age: 1 };
    table.insert(&one).unwrap();
    assert_eq!(store.jobs().unwrap_err().kind(), ErrorKind::Unsupported);
    assert_eq!(table.drop_index("by_age").unwrap_err().kind(), ErrorKind::Unsupported);
    // There an index is of the layout, and neither comes nor goes.
    assert_eq!(store.table::<second::Employee>().unwrap_err().kind(), ErrorKind::LayoutChanged);
}

/// Copies of sealed entities are made of what their rows have, and opened by nobody but the function that asks for it.
#[test]
fn an_index_over_tokens_of_sealed_values_is_made() {
    mod bare {
        #[derive(table_core::Entity, Debug)]
        #[entity(table = "Patients", kind = "patient")]
        #[key(partition = "{clinic}", row = "id_{id:06}")]
        pub(super) struct Patient {
            pub(super) clinic: String,
            pub(super) id: u32,
            #[encrypt(blind)]
            pub(super) card: String,
        }
    }
    #[derive(Entity, Debug)]
    #[entity(table = "Patients", kind = "patient")]
    #[key(partition = "{clinic}", row = "id_{id:06}")]
    #[index(by_card, row = "card_{card:blind}", unique)]
    struct Patient {
        clinic: String,
        id: u32,
        #[encrypt(blind)]
        card: String,
    }
    let scratch = Scratch::new();
    let keys = std::sync::Arc::new(table_core::crypt::MemoryKeys::new().unwrap());
    let store = scratch.store_with(&Store::options().encryption(keys));
    let old = store.table::<bare::Patient>().unwrap();
    let patient = |id: u32| bare::Patient { clinic: "c".into(), id, card: format!("card {id}") };
    assert!(old.bulk_insert((0..30).map(patient)).unwrap().failures.is_empty());
    let table = store.table::<Patient>().unwrap();
    let mut job = table.rebuild().unwrap();
    job.step().unwrap();
    job.step().unwrap();
    // Some are written while the index is filled.
    table.update(Patient::key("c", 7), |e| e.card = "other".into()).unwrap();
    table.update(Patient::key("c", 8), |e| e.card = "card 7".into()).unwrap();
    let twice = table.update(Patient::key("c", 9), |e| e.card = "other".into());
    assert_eq!(twice.unwrap_err().kind(), ErrorKind::UniqueConflict);
    table.delete(Patient::key("c", 20)).unwrap();
    job.run().unwrap();
    let found = |card: &str| table.get(Patient::by_card("c", card)).unwrap().map(|found| found.id);
    assert_eq!(
        (found("other"), found("card 7"), found("card 8"), found("card 20")),
        (Some(7), Some(8), None, None)
    );
    assert_eq!(table.dynamic().query(&Query::new()).unwrap().count(), 58);
    assert_sound(&store);
}

/// What a whole copy that is made carries of what its program doesn't know.
#[test]
fn a_copy_that_is_made_has_what_the_entity_has() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    filled(&store, 3);
    let table = store.table::<second::Employee>().unwrap();
    let note = DynamicEntity::new("Sales", "empid_000001").with("Note", "kept");
    table.dynamic().raw().merge(&note, IfMatch::Any).unwrap();
    table.rebuild().unwrap().run().unwrap();
    let copy = table.dynamic().get("Sales", "email_1@contoso.com").unwrap().unwrap();
    assert_eq!(copy.get("Note").and_then(|value| value.as_str()), Some("kept"));
}

/// What `break-protocols` leaves out stands in the code, and the tests that are to find it are there.
#[test]
fn each_step_that_can_be_left_out_is_there() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    for step in integration_tests::broken::STEPS {
        for [file, from, to] in step.changes {
            let text = std::fs::read_to_string(root.join(file)).unwrap();
            assert_eq!(text.matches(from).count(), 1, "{file}: {from}");
            assert_ne!(from, to);
        }
        for test in step.tests {
            let mut file = root.join("tests/it");
            file.extend(test.split("::").filter(|part| !part.is_empty() && !part.starts_with("each_row")));
            assert!(file.is_dir() || file.with_extension("rs").is_file(), "{test}");
        }
    }
}

integration_tests::on_executors_with_jobs! {
    an_index_that_is_added_is_made_and_says_so_until_then
    who_does_not_know_an_index_that_is_kept_writes_nothing
    what_was_planned_before_an_index_was_made_or_dropped_is_planned_again
    two_that_claim_one_key_stop_the_job_until_one_of_them_changes
    an_index_of_another_declaration_is_made_anew_and_keeps_writers_off_until_it_is_begun
    a_job_goes_on_where_it_is_from_any_handle
    a_snapshot_from_before_an_index_was_ready_does_not_read_it
    a_copy_that_is_made_has_what_the_entity_has
}

// The others look at snapshots, or at steps that happen whole and in their order, which the service's don't.
integration_tests::on_azure! {
    who_does_not_know_an_index_that_is_kept_writes_nothing
    what_was_planned_before_an_index_was_made_or_dropped_is_planned_again
    an_index_of_another_declaration_is_made_anew_and_keeps_writers_off_until_it_is_begun
    a_copy_that_is_made_has_what_the_entity_has
}
