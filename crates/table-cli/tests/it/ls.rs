//! `tables ls`.

use table_core::Store;

use crate::run::tables;

#[test]
fn tables_are_listed_in_each_format() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("company.tables");
    let store = Store::open(&path).unwrap();
    store.create_table("Company").unwrap();
    store.close().unwrap();
    let path = path.to_str().unwrap();

    let ran = tables(&["ls", "--store", path]);
    assert_eq!(
        (ran.out.as_str(), ran.code),
        ("{\"table\":\"Company\",\"kind\":null,\"version\":null}\n", 0),
        "{}",
        ran.err
    );
    let ran = tables(&["ls", "--store", path, "--format", "table"]);
    assert_eq!(ran.out, "table    kind  version\nCompany\n");
    let ran = tables(&["ls", "--store", path, "--format", "csv"]);
    assert_eq!(ran.out, "table,kind,version\nCompany,,\n");
}

#[test]
fn a_store_that_is_not_there_is_not_made() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("nothing.tables");
    let ran = tables(&["ls", "--store", path.to_str().unwrap(), "--errors", "json"]);
    assert_eq!((ran.out.as_str(), ran.code), ("", 3), "{}", ran.err);
    assert!(ran.err.starts_with("{\"error\":{\"code\":"), "{}", ran.err);
    assert!(!path.exists());
}
