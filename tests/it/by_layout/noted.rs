//! Kinds that are noted before anything is written.

use integration_tests::Scratch;
use table_core::{DynamicEntity, Entity, ErrorKind, Store};

use super::{EXECUTORS, company, seen};

/// A release that knows less of an employee.
#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Other {
    department: String,
    id: u32,
    city: String,
}

#[test]
fn a_kind_is_noted_once_and_nothing_is_written() {
    for executor in EXECUTORS {
        executor.run(|| {
            let scratch = Scratch::new();
            let (store, staff, table) = company(&scratch);
            assert!(seen(&store).is_empty(), "{:?}", seen(&store));
            let noted = || store.kinds().unwrap().iter().map(|kind| kind.layout()).collect::<Vec<_>>();
            let layouts = noted();
            assert!(layouts.iter().any(|layout| layout.contains("by_desk")), "{layouts:?}");
            staff.note_kind().unwrap();
            assert_eq!(noted(), layouts);

            let bare = DynamicEntity::new("Sales", "empid_000007").with("EntityType", "employee");
            assert_eq!(table.insert(&bare).unwrap_err().kind(), ErrorKind::SchemaMismatch);

            // What a write is refused for is refused here.
            let other = store.table::<Other>();
            let refused = other.and_then(|other| other.note_kind()).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::LayoutChanged, "{refused}");
            assert_eq!(noted(), layouts);
        });
    }
}

#[test]
fn nothing_is_noted_in_a_store_that_is_only_read() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("company.tables");
    let store = Store::open(&path).unwrap();
    store.create_table("Company").unwrap();
    store.close().unwrap();
    let store = Store::options().read_only(true).open(&path).unwrap();
    let refused = store.table::<Other>().unwrap().note_kind().unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::ReadOnly);
    assert_eq!(refused.table_name(), Some("Company"));
    assert!(store.kinds().unwrap().is_empty());
}
