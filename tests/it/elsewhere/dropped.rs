//! Tables of entities and of their copies are dropped, together or one of them.

use integration_tests::assert_sound;
use integration_tests::elsewhere::{Employee, check};
use table_core::{ErrorKind, Store};

use super::{Executor, company, employee, seen};

/// The copies are to be made again, of all entities that are there then.
#[test]
fn an_index_whose_table_was_dropped_is_made_again() {
    let (_scratch, store) = company();
    let staff = store.table::<Employee>().unwrap();
    store.drop_table("names").unwrap();
    let gone = staff.get(Employee::by_badge(1)).unwrap_err();
    assert!([ErrorKind::IndexBuilding, ErrorKind::TableNotFound].contains(&gone.kind()), "{gone}");
    let staff = store.table::<Employee>().unwrap();
    for error in
        [staff.get(Employee::by_badge(1)).unwrap_err(), staff.by_name().last_name("n1").count().unwrap_err()]
    {
        assert_eq!(error.kind(), ErrorKind::IndexBuilding, "{error}");
    }
    // What lies elsewhere is read, and all is written.
    assert_eq!(staff.get(Employee::by_email("1@contoso.com")).unwrap().map(|e| e.id), Some(1));
    staff.insert(&employee("New", 7, "7@contoso.com")).unwrap();
    staff.delete(Employee::key("Legal", 2)).unwrap();
    let taken = staff.update(Employee::key("Sales", 3), |e| e.badge = Some(7)).unwrap_err();
    assert_eq!(taken.kind(), ErrorKind::UniqueConflict);
    staff.rebuild().unwrap().run().unwrap();
    assert_eq!(check(&store).unwrap().len(), 3);
    assert_eq!(staff.get(Employee::by_badge(1)).unwrap().map(|e| e.id), Some(1));
    assert!(staff.get(Employee::by_badge(2)).unwrap().is_none());
    assert_sound(&store);
}

/// A job that was filling the index when its table was dropped begins again.
#[test]
fn an_index_that_is_filled_is_made_again_when_its_table_is_dropped() {
    let (_scratch, store) = company();
    store.drop_table("Names").unwrap();
    let staff = store.table::<Employee>().unwrap();
    let mut job = staff.rebuild().unwrap();
    while store.dynamic_table("Names").unwrap().query(&table_core::Query::new()).unwrap().count() == 0 {
        assert!(job.step().unwrap());
    }
    store.drop_table("Names").unwrap();
    let staff = store.table::<Employee>().unwrap();
    staff.rebuild().unwrap().run().unwrap();
    assert_eq!(check(&store).unwrap().len(), 3);
}

/// The copies of a table of entities that is no more are never taken for those of another.
#[test]
fn copies_of_dropped_entities_are_not_read() {
    let (_scratch, store) = company();
    store.drop_table("Company").unwrap();
    assert_eq!(store.dynamic_table("Names").unwrap().query(&table_core::Query::new()).unwrap().count(), 6);
    // Before anything is written, and after.
    for id in 1..3 {
        let staff = store.table::<Employee>().unwrap();
        let snapshot = store.snapshot().unwrap();
        for error in [
            staff.get(Employee::by_badge(1)).unwrap_err(),
            staff.at(&snapshot).get(Employee::by_badge(1)).unwrap_err(),
            staff.by_name().last_name("n1").into_iter().next().unwrap().unwrap_err(),
            staff.by_skill().across_partitions().count().unwrap_err(),
        ] {
            assert_eq!(error.kind(), ErrorKind::IndexBuilding, "{error}");
        }
        // What was in the table itself is gone with it.
        assert!(staff.get(Employee::by_email("3@contoso.com")).unwrap().is_none());
        staff.insert(&employee("Sales", id, &format!("{id}@contoso.com"))).unwrap();
    }
    let staff = store.table::<Employee>().unwrap();
    staff.rebuild().unwrap().run().unwrap();
    assert_eq!(check(&store).unwrap().len(), 2);
    assert!(staff.get(Employee::by_badge(3)).unwrap().is_none());
    assert_eq!(staff.get(Employee::by_badge(1)).unwrap().map(|e| e.id), Some(1));
    assert_sound(&store);
}

#[test]
fn a_table_of_entities_and_those_of_their_copies_go_together() {
    let (_scratch, store) = company();
    store.drop_tables(&["Company", "NAMES", "Skills"]).unwrap();
    assert!(store.tables().unwrap().is_empty());
    let staff = store.table::<Employee>().unwrap();
    assert!(staff.get(Employee::by_badge(1)).unwrap().is_none());
    staff.insert(&employee("New", 1, "1@contoso.com")).unwrap();
    assert_eq!(check(&store).unwrap().len(), 1);
    assert_sound(&store);
}

/// Where there are no jobs to make them again, neither goes without the other.
#[test]
fn without_jobs_a_table_of_entities_and_those_of_their_copies_go_together_or_not_at_all() {
    Executor::Map.run(|| {
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
        assert_eq!((gone.kind(), gone.table_name()), (ErrorKind::TableNotFound, Some("Company")));
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

integration_tests::on_executors_with_jobs! {
    an_index_whose_table_was_dropped_is_made_again
    an_index_that_is_filled_is_made_again_when_its_table_is_dropped
    copies_of_dropped_entities_are_not_read
    a_table_of_entities_and_those_of_their_copies_go_together
}
