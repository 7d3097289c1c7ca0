//! Stores that go with their last handle.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use table_core::crypt::MemoryKeys;
use table_core::{DynamicEntity, ErrorKind, Query, Store};

fn row(row: &str) -> DynamicEntity {
    DynamicEntity::new("p", row).with("Text", "here")
}

/// Waits a moment: a thread that frees the space of dropped tables may hold the store for so long.
fn is_gone(path: &PathBuf) -> bool {
    let patience = Instant::now() + Duration::from_secs(10);
    while fs::symlink_metadata(path).is_ok() && Instant::now() < patience {
        thread::sleep(Duration::from_millis(1));
    }
    fs::symlink_metadata(path).is_err()
}

#[test]
fn two_stores_are_apart() {
    let (one, other) = (Store::temporary().unwrap(), Store::temporary().unwrap());
    assert_ne!(one.path(), other.path());
    let table = one.create_table("Table").unwrap();
    table.insert(&row("1")).unwrap();
    assert!(other.tables().unwrap().is_empty());
    assert_eq!(other.dynamic_table("Table").unwrap_err().kind(), ErrorKind::TableNotFound);
    assert_eq!(one.tables().unwrap(), ["Table"]);
}

#[test]
fn the_directory_goes_with_the_store() {
    let store = Store::temporary().unwrap();
    let path = store.path().to_owned();
    assert!(path.starts_with(std::env::temp_dir().canonicalize().unwrap()), "{path:?}");
    let kept = store.clone();
    drop(store);
    assert!(path.join("data.mdb").is_file());
    drop(kept);
    assert!(fs::symlink_metadata(&path).is_err(), "{path:?} is left");
}

#[cfg(unix)]
#[test]
fn nobody_else_can_look_into_it() {
    use std::os::unix::fs::PermissionsExt;
    let store = Store::temporary().unwrap();
    assert_eq!(fs::metadata(store.path()).unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn whatever_reads_the_store_keeps_it() {
    let store = Store::temporary().unwrap();
    let path = store.path().to_owned();
    let table = store.create_table("Table").unwrap();
    drop(store);
    table.insert(&row("1")).unwrap();
    table.insert(&row("2")).unwrap();

    let mut rows = table.query(&Query::new()).unwrap();
    assert_eq!(rows.next().unwrap().unwrap().row_key(), "1");
    drop(table);
    assert!(path.join("data.mdb").is_file());
    assert_eq!(rows.next().unwrap().unwrap().row_key(), "2");
    drop(rows);
    assert!(is_gone(&path));
}

#[test]
fn a_panic_takes_the_store_along() {
    let mut path = None;
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let store = Store::temporary().unwrap();
        let table = store.create_table("Table").unwrap();
        table.insert(&row("1")).unwrap();
        path = Some(store.path().to_owned());
        assert!(table.get("p", "1").unwrap().is_none(), "what a test expected");
    }));
    assert!(panicked.is_err());
    assert!(is_gone(&path.unwrap()));
}

#[test]
fn a_compacted_store_still_goes_with_its_last_handle() {
    let store = Store::temporary().unwrap();
    let path = store.path().to_owned();
    store.create_table("Table").unwrap().insert(&row("1")).unwrap();
    let store = store.compact().unwrap();
    assert_eq!(store.path(), path);
    assert!(store.dynamic_table("Table").unwrap().get("p", "1").unwrap().is_some());
    drop(store);
    assert!(is_gone(&path));
}

#[test]
fn a_second_opening_shares_it() {
    let store = Store::options().temporary().unwrap();
    let path = store.path().to_owned();
    let again = Store::open(&path).unwrap();
    drop(store);
    again.create_table("Table").unwrap();
    drop(again);
    assert!(is_gone(&path));
}

#[test]
fn options_hold_for_it_too() {
    let store = Store::options().encryption(Arc::new(MemoryKeys::new().unwrap())).temporary().unwrap();
    let path = store.path().to_owned();
    let sealed = store.create_table("Table").unwrap().encrypting(|_, _, property| property == "Text");
    sealed.insert(&row("1")).unwrap();
    assert_eq!(sealed.get("p", "1").unwrap().unwrap().get("Text").unwrap().as_str(), Some("here"));
    drop((store, sealed));
    assert!(is_gone(&path));
}
