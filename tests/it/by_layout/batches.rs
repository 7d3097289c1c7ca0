//! Batches with entities of declared kinds.

use integration_tests::{Scratch, assert_sound};
use table_core::{DynamicEntity, ErrorKind, IfMatch, Store};

use super::{EXECUTORS, Employee, assert_same, company, dynamic, employee, seen};

#[test]
fn a_batch_of_entities_is_made_whole_or_not_at_all() {
    for executor in EXECUTORS {
        executor.run(|| {
            let (here, there) = (Scratch::new(), Scratch::new());
            let ((store, _, table), (typed, other, _)) = (company(&here), company(&there));
            let (one, two, three) = (employee("Sales", 1), employee("Sales", 2), employee("Sales", 3));
            table
                .batch("Sales")
                .insert(dynamic(&one))
                .put(dynamic(&two))
                .insert_or_merge(dynamic(&three))
                .commit()
                .unwrap();
            for one in [&one, &two, &three] {
                other.insert(one).unwrap();
            }
            assert_same(&store, &typed);

            // Two exchange what is unique, which takes a plan of both.
            let mail = |row: &str, mail: &str| DynamicEntity::new("Sales", row).with("Email", mail);
            table
                .batch("Sales")
                .merge(mail("empid_000001", "Sales2@contoso.com"), IfMatch::Any)
                .merge(mail("empid_000002", "Sales1@contoso.com"), IfMatch::Any)
                .delete("empid_000003")
                .commit()
                .unwrap();
            other
                .egt(Employee::partition("Sales"))
                .update(Employee::key("Sales", 1), |one| one.email = "Sales2@contoso.com".into())
                .update(Employee::key("Sales", 2), |two| two.email = "Sales1@contoso.com".into())
                .delete(Employee::key("Sales", 3))
                .commit()
                .unwrap();
            assert_same(&store, &typed);

            let before = seen(&store);
            let error = table
                .batch("Sales")
                .insert(dynamic(&employee("Sales", 4)))
                .insert(dynamic(&one))
                .commit()
                .unwrap_err();
            assert_eq!((error.kind(), error.index()), (ErrorKind::EntityAlreadyExists, Some(1)), "{error}");
            let wrong = dynamic(&employee("Sales", 5)).with("Age", 256);
            let error = table.batch("Sales").insert(dynamic(&three)).insert(wrong).commit().unwrap_err();
            assert_eq!((error.kind(), error.index()), (ErrorKind::SchemaMismatch, Some(1)), "{error}");
            assert_eq!(error.row_key(), Some("empid_000005"));
            assert_eq!(seen(&store), before);
            assert_sound(&store);
        });
    }
}

#[test]
fn rows_of_no_declared_kind_go_with_entities() {
    for executor in EXECUTORS {
        executor.run(|| {
            let scratch = Scratch::new();
            let (store, staff, table) = company(&scratch);
            let note = |row: &str| DynamicEntity::new("Sales", row).with("Text", "of nobody");
            table.insert(&note("note_2")).unwrap();
            let old = table.insert(&note("note_3")).unwrap();
            let batch = table
                .batch("Sales")
                .insert(dynamic(&employee("Sales", 1)))
                .insert(note("note_1"))
                .merge(note("note_2").with("More", 1), IfMatch::Any)
                .delete_if("note_3", old)
                .insert_or_merge(note("note_4"));
            batch.commit().unwrap();
            assert!(staff.get(Employee::key("Sales", 1)).unwrap().is_some());
            let note_2 = table.get("Sales", "note_2").unwrap().unwrap();
            assert_eq!(note_2.properties().len(), 2);
            assert!(table.get("Sales", "note_3").unwrap().is_none());
            assert!(table.get("Sales", "note_4").unwrap().is_some());

            let before = seen(&store);
            let error = batch.commit().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::EntityAlreadyExists, "{error}");
            let two = || dynamic(&employee("Sales", 2));
            for (batch, kind) in [
                (table.batch("Sales").insert(two()).insert(note("note_1")), ErrorKind::EntityAlreadyExists),
                (table.batch("Sales").insert(two()).delete("note_9"), ErrorKind::EntityNotFound),
                (table.batch("Sales").insert(two()).merge(note("note_2"), old), ErrorKind::ConditionNotMet),
                (table.batch("Sales").insert(two()).insert(two()), ErrorKind::DuplicateRow),
                // A copy is nobody's but its entity's.
                (
                    table.batch("Sales").insert(two()).delete("email_Sales1@contoso.com"),
                    ErrorKind::DeclaredKind,
                ),
                (table.batch("Sales").insert(two()).put(note("empid_000001")), ErrorKind::DeclaredKind),
                (
                    table.batch("Sales").insert(two()).put(note("email_Sales2@contoso.com")),
                    ErrorKind::DuplicateRow,
                ),
            ] {
                let error = batch.commit().unwrap_err();
                assert_eq!(error.kind(), kind, "{error}");
                assert_eq!(seen(&store), before);
            }
            assert_sound(&store);
        });
    }
}

#[test]
fn each_batch_of_a_load_is_planned_if_it_must_be() {
    let scratch = Scratch::new();
    let (tables, _, table) = company(&scratch);
    let store = Store::of(&tables).unwrap();
    let batches = (0..20).map(|id| {
        let batch = table.batch("Sales").insert(DynamicEntity::new("Sales", format!("note_{id}")));
        if id % 2 == 0 { batch.insert(dynamic(&employee("Sales", id))) } else { batch }
    });
    let report = store.bulk(batches).unwrap();
    assert_eq!((report.committed, report.failures.len()), (20, 0), "{:?}", report.failures);
    assert_eq!(store.table::<Employee>().unwrap().all().count().unwrap(), 10);
    assert_sound(&tables);
}

/// What is submitted is written as it is: only a commit reads what a plan takes.
#[test]
fn a_submitted_batch_of_entities_is_refused_and_says_what_writes_it() {
    for executor in EXECUTORS {
        executor.run(|| {
            let scratch = Scratch::new();
            let (store, _, table) = company(&scratch);
            let before = seen(&store);
            let plain = DynamicEntity::new("Sales", "note").with("Text", "a");
            let batch = table.batch("Sales").insert(plain).insert(dynamic(&employee("Sales", 1)));
            let (done, answer) = std::sync::mpsc::channel();
            let taken = batch.submit(move |committed| done.send(committed).unwrap_or_default());
            let answered = taken.and_then(|()| answer.recv().unwrap());
            let error = answered.unwrap_err();
            assert_eq!((error.kind(), error.index()), (ErrorKind::DeclaredKind, Some(1)), "{error}");
            assert!(error.to_string().contains("`Batch::commit` plans its copies too"), "{error}");
            assert_eq!(seen(&store), before);
            batch.commit().unwrap();
            assert_sound(&store);
        });
    }
}
