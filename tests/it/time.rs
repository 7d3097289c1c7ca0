//! Versions: each write has a time of its own, after that of every write before it.

use std::collections::BTreeSet;
use std::sync::Mutex;

use integration_tests::Scratch;
use table_core::{DynamicEntity, DynamicTable, ETag, ErrorKind, IfMatch, Query, Result, Ticks, Value};

fn entity(row: impl ToString) -> DynamicEntity {
    DynamicEntity::new("p", row.to_string()).with("Value", 1)
}

#[test]
fn each_write_is_later_than_the_last_though_it_changes_nothing() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let table = store.create_table("Times").unwrap();
    let other = store.create_table("Others").unwrap();
    let before = Ticks::now();
    let mut last = table.insert(&entity(0)).unwrap();
    assert!(last.timestamp() >= before);
    let writes: [fn(&DynamicTable) -> Result<ETag>; 4] = [
        |table| table.put(&entity(0)),
        |table| table.replace(&entity(0), IfMatch::Any),
        |table| table.merge(&entity(0), IfMatch::Any),
        |table| table.insert_or_merge(&DynamicEntity::new("p", "0")),
    ];
    for _ in 0..200 {
        // Quicker than the clock ticks, some of them; over two tables, for a store has one time.
        for write in writes {
            for table in [&table, &other] {
                let etag = write(table).unwrap();
                assert!(etag.timestamp() > last.timestamp());
                assert_eq!(table.get("p", "0").unwrap().unwrap().etag(), Some(etag));
                last = etag;
            }
        }
    }
    // Deleted and inserted again, it is no earlier.
    table.delete("p", "0").unwrap();
    assert!(table.insert(&entity(0)).unwrap().timestamp() > last.timestamp());
}

#[test]
fn a_refused_write_leaves_the_version_alone() {
    let scratch = Scratch::new();
    let table = scratch.store().create_table("Times").unwrap();
    let etag = table.insert(&entity(0)).unwrap();
    table.insert(&entity(0)).unwrap_err();
    table.merge(&entity(1), IfMatch::Any).unwrap_err();
    table.batch("p").merge(entity(0), IfMatch::Any).delete("1").commit().unwrap_err();
    let read = table.get("p", "0").unwrap().unwrap();
    assert_eq!((read.etag(), read.timestamp()), (Some(etag), Some(etag.timestamp())));
}

#[test]
fn times_rise_over_threads_too() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let table = store.create_table("Times").unwrap();
    // The latest write that was answered: one that begins later must have a later time.
    let answered = Mutex::new(Ticks::MIN);
    let etags = Mutex::new(BTreeSet::new());
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (table, answered, etags) = (&table, &answered, &etags);
            scope.spawn(move || {
                for number in 0..150 {
                    let before = *answered.lock().unwrap();
                    let row = format!("{thread}_{}", number % 3);
                    let etag = match number % 3 {
                        0 => table.put(&entity(row)),
                        1 => table.insert_or_merge(&entity(row)),
                        _ => table.batch("p").put(entity(row)).commit().map(|done| done.etag(0)),
                    };
                    let time = etag.unwrap().timestamp();
                    assert!(time > before);
                    let mut latest = answered.lock().unwrap();
                    *latest = time.max(*latest);
                    assert!(etags.lock().unwrap().insert(time.get()), "one time twice");
                }
            });
        }
    });
    assert_eq!(etags.lock().unwrap().len(), 8 * 150);
}

#[test]
fn the_entities_of_a_batch_share_their_time() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let table = store.create_table("Times").unwrap();
    let old = table.insert(&entity("old")).unwrap();
    let batch = table
        .batch("p")
        .insert(entity("a"))
        .insert_or_merge(entity("b"))
        .put(entity("c"))
        .merge(entity("old"), old);
    let etag = batch.commit().unwrap().etag(0);
    let found: Vec<_> = table.query(&Query::new()).unwrap().map(Result::unwrap).collect();
    assert_eq!(found.len(), 4);
    assert!(found.iter().all(|entity| entity.etag() == Some(etag)));
    assert!(etag.timestamp() > old.timestamp());
    // Batches of one transaction do not: each is a write of its own.
    store
        .bulk((0..100).map(|row| table.batch("q").insert(DynamicEntity::new("q", format!("{row:03}")))))
        .unwrap()
        .into_result()
        .unwrap();
    let times: Vec<_> =
        table.query(&Query::new().partition("q")).unwrap().map(|row| row.unwrap().timestamp()).collect();
    assert_eq!(times.len(), 100);
    assert!(times.is_sorted_by(|a, b| a < b));
}

#[test]
fn a_version_is_as_good_as_its_text() {
    let scratch = Scratch::new();
    let table = scratch.store().create_table("Times").unwrap();
    let first = table.insert(&entity(0)).unwrap();
    let text = first.to_string();
    assert!(text.starts_with("W/\"datetime'20") && text.ends_with("Z'\""), "{text}");
    let kept: ETag = text.parse().unwrap();
    assert_eq!((kept, ETag::from_timestamp(first.timestamp())), (first, first));
    let second = table.merge(&entity(0), kept).unwrap();
    for error in [
        table.merge(&entity(0), kept).unwrap_err(),
        table.replace(&entity(0), kept).unwrap_err(),
        table.delete_if("p", "0", kept).unwrap_err(),
        table.batch("p").insert(entity(1)).merge(entity(0), kept).commit().unwrap_err(),
    ] {
        assert_eq!((error.kind(), error.kind().status()), (ErrorKind::ConditionNotMet, 412));
    }
    // One tick off is another version.
    for ticks in [second.timestamp().get() - 1, second.timestamp().get() + 1] {
        let near = ETag::from_timestamp(Ticks::new(ticks).unwrap());
        assert_eq!(table.merge(&entity(0), near).unwrap_err().kind(), ErrorKind::ConditionNotMet);
    }
    table.delete_if("p", "0", second).unwrap();
}

#[test]
fn time_goes_on_after_another_open() {
    let scratch = Scratch::new();
    let mut last = Ticks::MIN;
    for _ in 0..20 {
        let table = scratch.store().create_table_if_missing("Times").unwrap();
        let etag = table.insert_or_merge(&entity(0)).unwrap();
        assert!(etag.timestamp() > last);
        last = etag.timestamp();
    }
    let copy = scratch.path().join("copy");
    scratch.store().copy_to(&copy).unwrap();
    let table = table_core::Store::open(&copy).unwrap().dynamic_table("Times").unwrap();
    assert_eq!(table.get("p", "0").unwrap().unwrap().timestamp(), Some(last));
    assert!(table.insert_or_merge(&entity(0)).unwrap().timestamp() > last);
}

#[test]
fn the_clock_that_is_stored_is_the_stores_and_no_property() {
    let scratch = Scratch::new();
    let table = scratch.store().create_table("Times").unwrap();
    let etag = table.insert(&DynamicEntity::new("p", "r").with("Time", Ticks::UNIX_EPOCH)).unwrap();
    let read = table.get("p", "r").unwrap().unwrap();
    assert_eq!(read.get("Timestamp"), None);
    assert_eq!(read.get("Time").and_then(Value::as_ticks), Some(Ticks::UNIX_EPOCH));
    assert_ne!(read.timestamp(), Some(Ticks::UNIX_EPOCH));
    let found = |filter| table.query(&Query::new().filter(filter)).unwrap().count();
    assert_eq!(found(table_core::prop("Timestamp").eq(etag.timestamp())), 1);
    assert_eq!(found(table_core::prop("Timestamp").gt(etag.timestamp())), 0);
}
