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
