//! Each operation on one entity.

use integration_tests::Scratch;
use table_core::{DynamicEntity, ErrorKind, IfMatch};

#[test]
fn an_insert_is_read_back_and_not_repeated() {
    let scratch = Scratch::new();
    let table = scratch.store().create_table("Company").unwrap();
    let jun = DynamicEntity::new("Marketing", "empid_000002").with("FirstName", "Jun").with("Age", 47);
    let etag = table.insert(&jun).unwrap();
    let read = table.get("Marketing", "empid_000002").unwrap().unwrap();
    assert_eq!(read, jun);
    assert_eq!(read.etag(), Some(etag));
    assert_eq!(table.insert(&jun).unwrap_err().kind(), ErrorKind::EntityAlreadyExists);
    assert_eq!(table.get("Marketing", "empid_000003").unwrap(), None);
}

#[test]
fn replace_removes_what_is_left_out_and_merge_does_not() {
    let scratch = Scratch::new();
    let table = scratch.store().create_table("Company").unwrap();
    table.insert(&DynamicEntity::new("p", "r").with("A", 1).with("B", 2)).unwrap();
    table.merge(&DynamicEntity::new("p", "r").with("B", 3).with("C", 4), IfMatch::Any).unwrap();
    let expected = DynamicEntity::new("p", "r").with("A", 1).with("B", 3).with("C", 4);
    assert_eq!(table.get("p", "r").unwrap(), Some(expected));
    let short = DynamicEntity::new("p", "r").with("C", 5);
    table.replace(&short, IfMatch::Any).unwrap();
    assert_eq!(table.get("p", "r").unwrap(), Some(short));
}

#[test]
fn a_mixed_batch_is_refused_by_its_first_wrong_operation_and_leaves_nothing() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let table = store.create_table("Company").unwrap();
    let entity = |row: &str| DynamicEntity::new("p", row).with("A", 1);
    table.insert(&entity("there")).unwrap();
    let before = store.stats().unwrap();
    let taken = |batch: table_core::Batch| batch.insert(entity("there"));
    let missing = |batch: table_core::Batch| batch.delete("missing");
    let new = || table.batch("p").insert(entity("a")).put(entity("b")).insert(entity("c"));
    let refused = [
        (taken(new()), ErrorKind::EntityAlreadyExists),
        (missing(new()), ErrorKind::EntityNotFound),
        (missing(taken(new())), ErrorKind::EntityAlreadyExists),
        (taken(missing(new())), ErrorKind::EntityNotFound),
    ];
    for (batch, expected) in refused {
        let error = batch.insert(entity("z")).commit().unwrap_err();
        assert_eq!((error.kind(), error.index()), (expected, Some(3)));
        let named = if expected == ErrorKind::EntityNotFound { "missing" } else { "there" };
        assert!(error.to_string().contains(&format!("`{named}`")), "{error}");
    }
    assert_eq!(store.stats().unwrap().tables, before.tables);
    assert_eq!(table.query(&table_core::Query::new()).unwrap().count(), 1);
    assert!(store.check().unwrap().problems.is_empty());
    new().delete("there").commit().unwrap();
    assert_eq!(table.query(&table_core::Query::new()).unwrap().count(), 3);
    assert!(store.check().unwrap().problems.is_empty());
}
