//! `tables backup`, `compact`, `reclaim`, `create`, `drop` and `rename`.

use std::fs;

use crate::fixture::copy;
use crate::run::{on, on_company};

#[test]
fn tables_come_go_and_are_renamed() {
    let (_directory, place) = copy();
    assert_eq!(on(place.store(), &["create", "Teams"]).code, 2);
    assert_eq!(on(place.store(), &["create", "--write", "Teams", "Rooms"]).code, 0);
    let ran = on(place.store(), &["create", "--write", "Teams"]);
    assert!(ran.code == 1 && ran.err.contains("there is a table `Teams`"), "{}", ran.err);
    assert_eq!(on(place.store(), &["rename", "--write", "Teams", "Groups"]).code, 0);
    let names = || -> Vec<String> {
        let ran = on(place.store(), &["ls", "--format", "csv"]);
        ran.out.lines().filter_map(|line| Some(line.split_once(',')?.0.to_owned())).collect()
    };
    assert!(names().contains(&"Groups".to_owned()) && !names().contains(&"Teams".to_owned()));
    // All or none are dropped.
    assert_eq!(on(place.store(), &["drop", "--write", "Groups", "Nothing"]).code, 3);
    assert!(names().contains(&"Groups".to_owned()));
    assert_eq!(on(place.store(), &["drop", "--write", "Groups", "Rooms"]).code, 0);
    assert!(!names().contains(&"Groups".to_owned()) && !names().contains(&"Rooms".to_owned()));
    assert_eq!(on(place.store(), &["create", "--write", "1"]).code, 1);
}

#[test]
fn a_store_is_compacted_and_its_space_reclaimed() {
    let (_directory, place) = copy();
    assert_eq!(on(place.store(), &["compact"]).code, 2);
    assert_eq!(on(place.store(), &["drop", "--write", "Tickets"]).code, 0);
    assert_eq!(on(place.store(), &["reclaim", "--write"]).code, 0);
    let ran = on(place.store(), &["stats"]);
    assert!(ran.out.contains("\"dropped tables\":0"), "{}", ran.out);
    let ran = on(place.store(), &["compact", "--write"]);
    let found: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert!(found["bytes after"].as_u64() < found["bytes before"].as_u64(), "{}", ran.shown());
    assert_eq!(on(place.store(), &["get", "Company", "Sales", "empid_000042"]).code, 0);
}

#[test]
fn a_backup_is_a_store_of_its_own() {
    let directory = tempfile::tempdir().unwrap();
    let target = directory.path().join("backup.tables");
    let target = target.to_str().unwrap();
    let ran = on_company(&["backup", target]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let rows = |store: &str| on(store, &["query", "Company", "--copies"]).out;
    assert_eq!(rows(target), on_company(&["query", "Company", "--copies"]).out);
    let before = fs::read_dir(target).unwrap().count();
    assert_eq!(on_company(&["backup", target]).code, 1);
    assert_eq!(fs::read_dir(target).unwrap().count(), before);
}
