//! Rows by their properties in store transactions, among entities of structs.

use integration_tests::{Scratch, assert_sound};
use table_core::{DynamicEntity, ErrorKind, IfMatch, Store};

use super::{EXECUTORS, Employee, Payroll, company, dynamic, employee, seen};

#[test]
fn rows_of_several_tables_are_written_together() {
    for executor in EXECUTORS {
        executor.run(|| {
            let scratch = Scratch::new();
            let (store, staff, table) = company(&scratch);
            let log = store.create_table("Log").unwrap();
            let line = |row: &str| DynamicEntity::new("2026", row).with("Text", "hired");
            let (one, two) = (dynamic(&employee("Sales", 1)), employee("Legal", 2));
            let first = line("0001");
            store
                .transaction()
                .insert_row(&table, &one)
                .insert(&two)
                .insert_row(&log, &first)
                .commit()
                .unwrap();
            assert!(staff.get(Employee::key("Sales", 1)).unwrap().is_some());
            assert_eq!(log.get("2026", "0001").unwrap().unwrap().get("Text"), Some(&"hired".into()));

            // What is unique over partitions is exchanged.
            let change = |partition: &str, row: &str, desk: i32| {
                DynamicEntity::new(partition, row).with("Desk", desk).with("Salary", 7)
            };
            let (to_two, to_one) = (change("Sales", "empid_000001", 2), change("Legal", "empid_000002", 1));
            let (second, third) = (line("0002"), line("0001").with("More", 1));
            store
                .transaction()
                .merge_row(&table, &to_two, IfMatch::Any)
                .insert_or_merge_row(&table, &to_one)
                .put_row(&log, &second)
                .merge_row(&log, &third, IfMatch::Any)
                .commit()
                .unwrap();
            assert_eq!(staff.get(Employee::by_desk(2)).unwrap().map(|found| found.id), Some(1));
            let payrolls = store.table::<Payroll>().unwrap();
            assert_eq!(payrolls.get(Payroll::key("Legal")).unwrap().unwrap().salaries, 7);

            let before = seen(&store);
            let wrong = dynamic(&employee("Sales", 3)).with("Age", -1);
            let refused =
                store.transaction().insert_row(&log, &line("0003")).insert_row(&table, &wrong).commit();
            let error = refused.unwrap_err();
            assert_eq!((error.kind(), error.index()), (ErrorKind::SchemaMismatch, Some(1)), "{error}");
            for (transaction, kind) in [
                (store.transaction().insert_row(&log, &first), ErrorKind::EntityAlreadyExists),
                (store.transaction().delete_row(&log, "2026", "0009"), ErrorKind::EntityNotFound),
                (store.transaction().insert_row(&table, &one), ErrorKind::EntityAlreadyExists),
                (
                    store.transaction().delete_row(&table, "Sales", "contract_Open_000001"),
                    ErrorKind::DeclaredKind,
                ),
                (
                    store.transaction().delete_row(&table.raw(), "Sales", "contract_Open_000001"),
                    ErrorKind::DeclaredKind,
                ),
                (
                    store.transaction().insert_row(&log, &second).put_row(&log, &second),
                    ErrorKind::EntityAlreadyExists,
                ),
                (store.transaction().put_row(&log, &second).put_row(&log, &second), ErrorKind::DuplicateRow),
            ] {
                let error = transaction.commit().unwrap_err();
                assert_eq!(error.kind(), kind, "{error}");
                assert_eq!(seen(&store), before);
            }
            let transaction = store.transaction().delete_row(&table, "Sales", "empid_000001");
            transaction.delete_row(&log, "2026", "0001").commit().unwrap();
            assert!(staff.get(Employee::key("Sales", 1)).unwrap().is_none());
            assert_sound(&store);
        });
    }
}

#[test]
fn a_table_of_another_store_is_refused() {
    let (one, other) = (Store::temporary().unwrap(), Store::temporary().unwrap());
    let table = other.create_table("Log").unwrap();
    let row = DynamicEntity::new("a", "b");
    let error = one.transaction().insert_row(&table, &row).commit().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TableNotFound, "{error}");
    assert!(table.get("a", "b").unwrap().is_none());
}
