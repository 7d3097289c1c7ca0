//! Time when the clock went back: the store's last time lies ahead.

use std::time::Duration;

use table_engine::error::{ErrorKind, Result};
use table_engine::model::{DynamicEntity, ETag, IfMatch, Ticks};

use crate::Store;
use crate::records::catalog;
use crate::tests_scratch::in_memory;

/// Records, with a new table, that the last write was made at this time.
fn set_high_water(store: &Store, table: &str, time: Ticks) {
    let change = store.shared().transact(|txn, dbs, meta| {
        meta.high_water = time;
        catalog::create(dbs, txn, meta, table)
    });
    change.unwrap();
}

fn tick(time: Ticks, after: u64) -> Ticks {
    Ticks::new(time.get() + after).unwrap()
}

fn entity(row: &str) -> DynamicEntity {
    DynamicEntity::new("p", row).with("Value", 1)
}

#[test]
fn times_go_on_by_single_ticks_while_the_clock_is_behind() {
    let dir = in_memory();
    let ahead = Ticks::now().checked_add(Duration::from_hours(1)).unwrap();
    let store = Store::open(dir.path().join("store")).unwrap();
    set_high_water(&store, "Table", ahead);
    let table = store.dynamic_table("Table").unwrap();
    let time = |etag: Result<ETag>| etag.unwrap().timestamp();
    assert_eq!(time(table.insert(&entity("a"))), tick(ahead, 1));
    // One tick for a batch, whatever it holds; none for what is refused.
    let batch = table.batch("p").insert(entity("b")).insert(entity("c")).merge(entity("a"), IfMatch::Any);
    assert_eq!(time(batch.commit().map(|committed| committed.etag(0))), tick(ahead, 2));
    assert_eq!(batch.commit().unwrap_err().kind(), ErrorKind::EntityAlreadyExists);
    assert_eq!(time(table.replace(&entity("a"), IfMatch::Any)), tick(ahead, 3));
    table.delete("p", "a").unwrap();
    assert_eq!(time(table.insert_or_merge(&entity("a"))), tick(ahead, 5));
    // One for each batch of a shared transaction.
    let rows = ["d", "e", "f"];
    store.bulk(rows.map(|row| table.batch("p").insert(entity(row)))).unwrap().into_result().unwrap();
    for (after, row) in (6..).zip(rows) {
        assert_eq!(table.get("p", row).unwrap().unwrap().timestamp(), Some(tick(ahead, after)));
    }
    drop((table, batch, store));

    let store = Store::open(dir.path().join("store")).unwrap();
    let table = store.dynamic_table("Table").unwrap();
    assert_eq!(time(table.insert(&entity("g"))), tick(ahead, 9));
    assert!(store.check().unwrap().problems.is_empty());
}

#[test]
fn the_clock_counts_again_once_it_has_caught_up() {
    let dir = in_memory();
    let store = Store::open(dir.path().join("store")).unwrap();
    let ahead = Ticks::now().checked_add(Duration::from_millis(30)).unwrap();
    set_high_water(&store, "Table", ahead);
    let table = store.dynamic_table("Table").unwrap();
    std::thread::sleep(Duration::from_millis(60));
    let before = Ticks::now();
    let time = table.insert(&entity("a")).unwrap().timestamp();
    assert!(time >= before && time > ahead);
}

#[test]
fn at_the_end_of_time_a_write_is_refused_and_a_read_is_not() {
    let dir = in_memory();
    let store = Store::open(dir.path().join("store")).unwrap();
    set_high_water(&store, "Table", Ticks::new(Ticks::MAX.get() - 1).unwrap());
    let table = store.dynamic_table("Table").unwrap();
    assert_eq!(table.insert(&entity("a")).unwrap().timestamp(), Ticks::MAX);
    let error = table.insert(&entity("b")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Incompatible);
    assert_eq!(
        error.to_string(),
        "cannot insert into table `Table`, partition `p`, row `b`: \
         the store's time has reached the end of the year 9999"
    );
    assert_eq!(table.get("p", "a").unwrap(), Some(entity("a")));
    assert_eq!(table.get("p", "b").unwrap(), None);
}
