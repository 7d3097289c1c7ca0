//! Numbers added to slots where they are stored.

use std::thread;

use integration_tests::{Scratch, assert_sound, on_other_executors};
use table_core::{DynamicEntity, Entity, ErrorKind, IfMatch, Stored};

use super::{Day, day};

/// What nothing else depends on: it is added to inside the transaction.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Hits", kind = "page")]
#[key(partition = "{site}", row = "page_{name}")]
#[index(by_title, row = "title_{title}_{name}", copy = keys)]
struct Page {
    site: String,
    name: String,
    title: String,
    #[series]
    hits: [Option<u32>; 24],
    #[series]
    #[property(default = 7)]
    score: [i8; 3],
    #[series]
    bytes: [i64; 2],
}

fn page() -> Page {
    let (hits, score, bytes) = ([None; 24], [7, -3, 0], [0, i64::MAX - 2]);
    Page { site: "w".into(), name: "a".into(), title: "t".into(), hits, score, bytes }
}

fn key() -> table_core::Key<Page> {
    Page::key("w", "a")
}

#[test]
fn numbers_are_added_to_slots() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let pages = store.table::<Page>().unwrap();
    let before = pages.insert(&page()).unwrap();
    let etag = pages.add(key(), Page::add().hits(13, 5).hits(2, 1).hits(13, 2).score(1, -7)).unwrap();
    let mut expected = page();
    (expected.hits[13], expected.hits[2], expected.score[1]) = (Some(7), Some(1), -10);
    let read = pages.get(key()).unwrap().unwrap();
    assert_eq!((&*read, Stored::etag(&read)), (&expected, etag));
    assert!(etag != before);
    pages.add(key(), Page::add().hits(13, -7).bytes(1, 2)).unwrap();
    (expected.hits[13], expected.bytes[1]) = (Some(0), i64::MAX);
    assert_eq!(pages.get(key()).unwrap().unwrap(), expected);
    // It is a row like any other to what comes after.
    let merged = pages.merge(key(), Page::patch().hits(13, None).title("u"), etag);
    assert_eq!(merged.unwrap_err().kind(), ErrorKind::ConditionNotMet);
    let merged = pages.merge(key(), Page::patch().hits(13, None).title("u"), IfMatch::Any).unwrap();
    (expected.hits[13], expected.title) = (None, "u".into());
    assert_eq!(*merged, expected);
    assert_eq!(pages.by_title().site("w").title("u").count().unwrap(), 1);
    assert_sound(&store);
}

#[test]
fn what_can_not_be_added_is_refused_and_nothing_is_written() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let pages = store.table::<Page>().unwrap();
    pages.insert(&page()).unwrap();
    let refused = |add, kind, words: &str| {
        let error = pages.add(key(), add).unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().contains(words), "{error}");
    };
    let out = ErrorKind::ValueOutOfRange;
    refused(
        Page::add().hits(3, 1).hits(24, 1),
        out,
        "the series `hits` has 24 slots, 0 to 23, and no slot 24",
    );
    refused(Page::add().hits(usize::MAX, 1), out, "no slot");
    refused(Page::add().hits(3, 1).hits(4, -1), out, "less than a `u32` holds");
    refused(Page::add().hits(4, i64::MAX), out, "more than a `u32` holds");
    refused(Page::add().score(0, 121), out, "more than a `i8` holds");
    refused(Page::add().bytes(1, 3), out, "more than a `i64` holds");
    assert_eq!(pages.get(key()).unwrap().unwrap(), page());
    let error = pages.add(Page::key("w", "b"), Page::add().hits(0, 1)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::EntityNotFound, "{error}");
    assert_eq!((error.table_name(), error.row_key()), (Some("Hits"), Some("page_b")), "{error}");
    // A row of another kind in its place is none of it, and one of another type none to be added to.
    let other = DynamicEntity::new("w", "page_c").with("EntityType", "other").with("Hits_00", 1_i64);
    pages.dynamic().raw().insert(&other).unwrap();
    let error = pages.add(Page::key("w", "c"), Page::add().hits(0, 1)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::SchemaMismatch, "{error}");
    pages
        .dynamic()
        .raw()
        .merge(&DynamicEntity::new("w", "page_a").with("Hits_00", "x"), IfMatch::Any)
        .unwrap();
    let error = pages.add(key(), Page::add().hits(0, 1)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::SchemaMismatch, "{error}");
}

#[test]
fn a_slot_that_is_absent_counts_as_what_it_reads_as() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let pages = store.table::<Page>().unwrap();
    pages.insert(&page()).unwrap();
    let bare =
        DynamicEntity::new("w", "page_d").with("EntityType", "page").with("Title", "d").with("Other", 3);
    let bare = bare.with("Bytes_00", 1_i64).with("Bytes_01", 2_i64);
    pages.dynamic().raw().insert(&bare).unwrap();
    pages.add(Page::key("w", "d"), Page::add().hits(3, 4).score(2, 1).bytes(0, 1)).unwrap();
    let read = pages.get(Page::key("w", "d")).unwrap().unwrap();
    assert_eq!((read.hits[3], read.score, read.bytes), (Some(4), [7, 7, 8], [2, 2]));
    // What no field has stays.
    let row = pages.dynamic().get("w", "page_d").unwrap().unwrap();
    assert_eq!(row.get("Other").and_then(|other| other.as_i64()), Some(3));
}

#[test]
fn copies_follow_what_is_added() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let days = store.table::<Day>().unwrap();
    days.insert(&day(4)).unwrap();
    days.add(Day::key("web1", 4), Day::add().requests(3, 10).requests(4, -10)).unwrap();
    let mut expected = day(4);
    (expected.requests[3], expected.requests[4]) = (413, 394);
    assert_eq!(days.get(Day::key("web1", 4)).unwrap().unwrap(), expected);
    assert_eq!(days.get(Day::by_rack("web1", 1, 4)).unwrap().unwrap(), expected);
    let error = days.add(Day::key("web1", 4), Day::add().requests(3, i64::MAX)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ValueOutOfRange);
    assert_eq!(days.get(Day::by_rack("web1", 1, 4)).unwrap().unwrap(), expected);
}

/// With others in one batch and in one transaction they are added, or none is.
#[test]
fn numbers_are_added_together_with_other_changes() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let pages = store.table::<Page>().unwrap();
    let (first, second) = (page(), Page { name: "b".into(), ..page() });
    pages.insert(&first).unwrap();
    let committed = pages
        .egt(Page::partition("w"))
        .insert(&second)
        .add(key(), Page::add().hits(13, 5).hits(13, 1).score(0, -7))
        .commit()
        .unwrap();
    let read = pages.get(key()).unwrap().unwrap();
    assert_eq!((read.hits[13], read.score[0], Stored::etag(&read)), (Some(6), 0, committed.etag(1)));
    let there = || [pages.get(key()).unwrap().unwrap(), pages.get(Page::key("w", "b")).unwrap().unwrap()];
    let before = there();

    // A sum beyond the type, a slot that there is not, and an entity that there is not: nothing is written.
    let refused = |add: table_core::Result<table_core::store::Committed>, kind, words: &str| {
        let error = add.unwrap_err();
        assert_eq!((error.kind(), error.index()), (kind, Some(1)), "{error}");
        assert!(error.to_string().contains(words) && error.to_string().contains("`Hits`"), "{error}");
        assert_eq!(there(), before);
    };
    let batch = || pages.egt(Page::partition("w")).update(Page::key("w", "b"), |page| page.title.clear());
    let out = ErrorKind::ValueOutOfRange;
    refused(batch().add(key(), Page::add().hits(13, -7)).commit(), out, "less than a `u32` holds");
    refused(batch().add(key(), Page::add().hits(24, 1)).commit(), out, "no slot 24");
    let none = Page::key("w", "c");
    refused(batch().add(none, Page::add().hits(0, 1)).commit(), ErrorKind::EntityNotFound, "page_c");
    let explained = batch().add(key(), Page::add().hits(13, 1)).explain().unwrap();
    assert!(explained.to_string().contains("page_a"), "{explained}");
    assert_eq!(there(), before);
}

#[test]
fn numbers_are_added_in_a_store_transaction() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let (pages, days) = (store.table::<Page>().unwrap(), store.table::<Day>().unwrap());
    pages.insert(&page()).unwrap();
    days.insert(&day(4)).unwrap();
    let day_key = || Day::key("web1", 4);
    thread::scope(|scope| {
        for _ in 0..4 {
            let store = &store;
            scope.spawn(move || {
                for _ in 0..10 {
                    let transaction = store.transaction().add(key(), Page::add().hits(1, 1));
                    transaction.add(day_key(), Day::add().requests(3, 10)).commit().unwrap();
                }
            });
        }
    });
    assert_eq!(pages.get(key()).unwrap().unwrap().hits[1], Some(40));
    let mut expected = day(4);
    expected.requests[3] += 400;
    assert_eq!(days.get(day_key()).unwrap().unwrap(), expected);
    assert_eq!(days.get(Day::by_rack("web1", 1, 4)).unwrap().unwrap(), expected);
    let add = store.transaction().add(key(), Page::add().hits(1, 1));
    let error = add.add(day_key(), Day::add().requests(3, i64::MAX)).commit().unwrap_err();
    assert_eq!((error.kind(), error.index()), (ErrorKind::ValueOutOfRange, Some(1)), "{error}");
    assert_eq!(pages.get(key()).unwrap().unwrap().hits[1], Some(40));
    assert_sound(&store);
}

on_other_executors! {
    numbers_are_added_to_slots
    numbers_are_added_together_with_other_changes
    what_can_not_be_added_is_refused_and_nothing_is_written
    a_slot_that_is_absent_counts_as_what_it_reads_as
    copies_follow_what_is_added
}

#[test]
fn sixteen_threads_lose_nothing() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let pages = store.table::<Page>().unwrap();
    pages.insert(&page()).unwrap();
    thread::scope(|scope| {
        for thread in 0..16_usize {
            let pages = &pages;
            scope.spawn(move || {
                for count in 0..40 {
                    pages.add(key(), Page::add().hits(13, 1).hits(thread, 2).bytes(0, count)).unwrap();
                    if count % 10 == 0 {
                        pages.merge(key(), Page::patch().title(format!("{thread}")), IfMatch::Any).unwrap();
                    }
                }
            });
        }
    });
    let read = pages.get(key()).unwrap().unwrap();
    assert_eq!((read.hits[13], read.bytes[0]), (Some(16 * 40 + 80), 16 * 780));
    assert_eq!(read.hits[..13], [Some(80); 13]);
    assert!(pages.check().unwrap().is_sound());
    assert_sound(&store);
}
