//! Tables of entities and of their copies are dropped together.

use integration_tests::assert_sound;
use integration_tests::elsewhere::{Employee, check};
use table_core::{ErrorKind, Store};

use super::{Executor, company, employee, seen};

#[test]
fn a_table_of_entities_and_those_of_their_copies_go_together_or_not_at_all() {
    for executor in [Executor::Lmdb, Executor::Map] {
        executor.run(|| {
            let (_scratch, store) = company();
            let before = seen(&store);
            let refused = |tables: &[&str]| {
                let error = match tables {
                    [table] => store.drop_table(table).unwrap_err(),
                    tables => store.drop_tables(tables).unwrap_err(),
                };
                assert_eq!(seen(&store), before);
                (error.kind(), error.to_string())
            };
            assert_eq!(
                refused(&["names"]),
                (
                    ErrorKind::CopiesElsewhere,
                    "cannot drop table `names`: the table holds copies of `employee`, whose entities are in table \
                     `Company`: drop both by `Store::drop_tables`"
                        .to_owned()
                )
            );
            assert_eq!(
                refused(&["Company"]).1,
                "cannot drop table `Company`: copies of `employee`, whose entities the table holds, are in table \
                 `Names`: drop both by `Store::drop_tables`"
            );
            assert_eq!(refused(&["Company", "Names"]).0, ErrorKind::CopiesElsewhere);
            assert_eq!(refused(&["Company", "Names", "Skills", "Nowhere"]).0, ErrorKind::TableNotFound);

            let staff = store.table::<Employee>().unwrap();
            store.drop_tables(&["Company", "NAMES", "Skills"]).unwrap();
            assert!(store.tables().unwrap().is_empty());
            let gone = staff.get(Employee::by_badge(1)).unwrap_err();
            assert_eq!((gone.kind(), gone.table_name()), (ErrorKind::TableNotFound, Some("Names")));
            let gone = staff.insert(&employee("New", 1, "1@contoso.com")).unwrap_err();
            assert_eq!(gone.kind(), ErrorKind::TableNotFound);
            // What comes after them serves nothing of what was.
            let staff = store.table::<Employee>().unwrap();
            assert!(staff.get(Employee::by_badge(1)).unwrap().is_none());
            staff.insert(&employee("New", 1, "1@contoso.com")).unwrap();
            assert_eq!(check(&store).unwrap().len(), 1);
            assert_sound(&store);
        });
    }
}

/// Tables that nothing ties to another go alone, as ever; and together.
#[test]
fn tables_without_copies_elsewhere_go_alone_or_together() {
    let scratch = integration_tests::Scratch::new();
    let store: Store = scratch.store();
    for name in ["First", "Second", "Third"] {
        store.create_table(name).unwrap();
    }
    store.drop_table("Second").unwrap();
    let twice = store.drop_tables(&["First", "first"]).unwrap_err();
    assert_eq!(twice.kind(), ErrorKind::TableNotFound);
    assert_eq!(store.tables().unwrap(), ["First", "Third"]);
    store.drop_tables(&["Third", "First"]).unwrap();
    assert!(store.tables().unwrap().is_empty());
}
