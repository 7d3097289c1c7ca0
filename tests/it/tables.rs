//! Tables: their names, their end, and what is left of them.

use std::time::{Duration, Instant};

use integration_tests::Scratch;
use table_core::{DynamicEntity, DynamicTable, ErrorKind, IfMatch, Query, Result, Store, Ticks};

/// Fills a table with rows of about so many bytes.
fn fill(store: &Store, table: &DynamicTable, rows: usize, bytes: usize) {
    let batches = (0..rows).step_by(100).map(|start| {
        let end = rows.min(start + 100);
        (start..end).fold(table.batch("p"), |batch, row| {
            batch.insert(DynamicEntity::new("p", format!("{row:06}")).with("Value", vec![7; bytes]))
        })
    });
    assert!(store.bulk(batches).unwrap().failures.is_empty());
}

fn count(table: &DynamicTable) -> usize {
    table.query(&Query::new()).unwrap().map(Result::unwrap).count()
}

fn assert_gone<T: std::fmt::Debug>(result: Result<T>) -> String {
    let error = result.unwrap_err();
    assert_eq!(
        (error.kind(), error.kind().code(), error.kind().status()),
        (ErrorKind::TableNotFound, "TableNotFound", 404)
    );
    error.to_string()
}

/// Everything that a handle can be asked for fails.
fn assert_dropped(store: &Store, handle: &DynamicTable, why: &str) {
    let entity = DynamicEntity::new("p", "r").with("New", 1);
    let snapshot = store.snapshot().unwrap();
    for text in [
        assert_gone(handle.get("p", "r")),
        assert_gone(handle.insert(&entity)),
        assert_gone(handle.replace(&entity, IfMatch::Any)),
        assert_gone(handle.merge(&entity, IfMatch::Any)),
        assert_gone(handle.put(&entity)),
        assert_gone(handle.insert_or_merge(&entity)),
        assert_gone(handle.delete("p", "r")),
        assert_gone(handle.batch("p").insert(entity.clone()).commit()),
        assert_gone(handle.query(&Query::new())),
        assert_gone(handle.page(&Query::new(), 1, None)),
        assert_gone(snapshot.get(handle, "p", "r")),
        assert_gone(snapshot.view(handle, "p", "r")),
        assert_gone(snapshot.query(handle, &Query::new())),
        assert_gone(snapshot.views(handle, &Query::new())),
        assert_gone(snapshot.page(handle, &Query::new(), 1, None)),
    ] {
        assert!(text.ends_with(why), "{text}");
    }
    let report = store.bulk([handle.batch("p").insert(entity)]).unwrap();
    assert_eq!(report.failures[0].error.kind(), ErrorKind::TableNotFound);
}

#[test]
fn names_are_compared_without_regard_to_case_and_kept_as_given() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let table = store.create_table("CamelCase").unwrap();
    table.insert(&DynamicEntity::new("p", "r")).unwrap();
    for name in ["CamelCase", "camelcase", "CAMELCASE", "cAMELcASE"] {
        let same = store.dynamic_table(name).unwrap();
        assert_eq!((same.name(), count(&same)), ("CamelCase", 1));
        assert_eq!(store.create_table_if_missing(name).unwrap().name(), "CamelCase");
        let error = store.create_table(name).unwrap_err();
        assert_eq!((error.kind(), error.kind().status()), (ErrorKind::TableAlreadyExists, 409));
        assert_eq!(
            error.to_string(),
            format!(
                "cannot create table `{name}`: there is a table `CamelCase`; names differ in more than case"
            )
        );
    }
    store.create_table("camel").unwrap();
    store.create_table("Zebra").unwrap();
    store.create_table("a00").unwrap();
    assert_eq!(store.tables().unwrap(), ["a00", "camel", "CamelCase", "Zebra"]);
    store.drop_table("CAMELcase").unwrap();
    assert_eq!(store.create_table("camelCASE").unwrap().name(), "camelCASE");
    drop((store, table));
    assert_eq!(scratch.store().tables().unwrap(), ["a00", "camel", "camelCASE", "Zebra"]);
}

#[test]
fn a_table_that_is_missing_is_not_found_until_it_is_created() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let text = assert_gone(store.dynamic_table("Company"));
    assert_eq!(text, "cannot open table `Company`: there is no such table; create it first");
    // The kind is that of all else, the service's code is not.
    let code = |result: Result<()>| result.map_err(|error| (error.kind(), error.code(), error.status()));
    let missing = Err((ErrorKind::TableNotFound, "ResourceNotFound", 404));
    assert_eq!(code(store.drop_table("Company")), missing);
    assert_eq!(
        code(store.dynamic_table("Company").map(drop)),
        Err((ErrorKind::TableNotFound, "TableNotFound", 404))
    );
    assert_eq!(
        assert_gone(store.drop_table("Company")),
        "cannot drop table `Company`: there is no such table"
    );
    assert_eq!(store.create_table_if_missing("Company").unwrap().name(), "Company");
    assert_eq!(store.dynamic_table("company").unwrap().name(), "Company");
    store.drop_table("Company").unwrap();
    assert_gone(store.drop_table("Company"));
    assert_eq!(code(store.drop_table("Company")), missing);
}

#[test]
fn threads_that_create_one_table_get_one_table() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let created: Vec<_> = std::thread::scope(|scope| {
        let create = || {
            scope.spawn(|| (store.create_table("Company").is_ok(), store.create_table_if_missing("Company")))
        };
        let threads: Vec<_> = (0..8).map(|_| create()).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(created.iter().filter(|(first, _)| *first).count(), 1);
    for (row, (_, table)) in created.iter().enumerate() {
        table.as_ref().unwrap().insert(&DynamicEntity::new("p", format!("{row}"))).unwrap();
    }
    assert_eq!(count(&store.dynamic_table("Company").unwrap()), 8);
}

#[test]
fn every_operation_of_an_old_handle_fails() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let table = store.create_table("Company").unwrap();
    let clone = table.clone();
    table.insert(&DynamicEntity::new("p", "r")).unwrap();
    store.drop_table("COMPANY").unwrap();
    assert_dropped(&store, &table, "the table was dropped");
    let anew = store.create_table("Company").unwrap();
    for handle in [&table, &clone] {
        assert_dropped(&store, handle, "the table was dropped and created anew; get a new handle");
    }
    assert_eq!(count(&anew), 0);
    // Another table changes nothing about that.
    store.create_table("Other").unwrap();
    assert_dropped(&store, &table, "the table was dropped and created anew; get a new handle");
    anew.insert(&DynamicEntity::new("p", "r")).unwrap();
    store.reclaim().unwrap();
    assert_dropped(&store, &table, "the table was dropped and created anew; get a new handle");
    assert_eq!(count(&anew), 1);
}

#[test]
fn a_name_is_free_at_once_and_the_new_table_is_empty() {
    let scratch = Scratch::new();
    let store = scratch.store();
    for round in 0..20 {
        let table = store.create_table("Company").unwrap();
        assert_eq!(count(&table), 0);
        assert_eq!(table.get("p", "000000").unwrap(), None);
        fill(&store, &table, 50 + round, 10);
        assert_eq!(count(&table), 50 + round);
        store.drop_table("Company").unwrap();
    }
    assert!(store.check().unwrap().problems.is_empty());
    store.reclaim().unwrap();
    assert_eq!(store.stats().unwrap().dropped, 0);
    let report = store.check().unwrap();
    assert_eq!((report.tables, report.rows, report.problems.len()), (0, 0, 0));
}

#[test]
fn reclaiming_frees_every_row_and_the_space_is_used_again() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let kept = store.create_table("Kept").unwrap();
    fill(&store, &kept, 100, 10);
    let mut sizes = Vec::new();
    for _ in 0..6 {
        let table = store.create_table("Large").unwrap();
        fill(&store, &table, 5_000, 500);
        store.drop_table("Large").unwrap();
        // Some of them a thread in the background may have freed already.
        assert!(store.reclaim().unwrap() <= 5_000);
        assert_eq!(store.reclaim().unwrap(), 0);
        let stats = store.stats().unwrap();
        assert_eq!((stats.dropped, stats.tables.len()), (0, 1));
        sizes.push(stats.file_bytes);
    }
    assert!(sizes[5] <= sizes[1] + (1 << 20), "{sizes:?}");
    // What is left is what a store that never had the other table holds.
    let compact = scratch.path().join("compact");
    store.copy_to(&compact).unwrap();
    assert!(std::fs::metadata(compact.join("data.mdb")).unwrap().len() < 100_000);
    assert_eq!(count(&kept), 100);
    assert!(store.check().unwrap().problems.is_empty());
}

#[test]
fn space_comes_back_by_itself_also_after_another_open() {
    let scratch = Scratch::new();
    let store = scratch.store();
    fill(&store, &store.create_table("Large").unwrap(), 10_000, 10);
    store.drop_table("Large").unwrap();
    drop(store);
    let store = scratch.store();
    let deadline = Instant::now() + Duration::from_secs(60);
    while store.stats().unwrap().dropped > 0 {
        assert!(Instant::now() < deadline);
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(store.reclaim().unwrap(), 0);
    assert!(store.check().unwrap().problems.is_empty());
}

/// A store in which one table takes all room but for the little that dropping it takes, in a map of 4 MiB.
fn nearly_full(scratch: &Scratch) -> Store {
    const MAP: u64 = 4 << 20;
    let store = Store::options().map_size(4 << 20).open(scratch.path().join("store")).unwrap();
    let table = store.create_table("Large").unwrap();
    for batch in 0.. {
        let rows = (0..100).map(|row| DynamicEntity::new("p", format!("{batch:04}{row:02}")));
        rows.fold(table.batch("p"), table_core::Batch::insert).commit().unwrap();
        if store.stats().unwrap().file_bytes > MAP - (200 << 10) {
            break;
        }
    }
    store
}

#[test]
fn what_keeps_space_from_being_freed_is_told_until_it_is_over() {
    let scratch = Scratch::new();
    let store = nearly_full(&scratch);
    assert_eq!(store.stats().unwrap().reclaim_failure, None);
    let begun = Ticks::now();

    // Nothing that a snapshot sees is used again: so each step takes room, and gives none.
    let snapshot = store.snapshot().unwrap();
    store.drop_table("Large").unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    let failure = loop {
        if let Some(failure) = store.stats().unwrap().reclaim_failure {
            break failure;
        }
        assert!(Instant::now() < deadline, "{:?}", store.stats());
        std::thread::sleep(Duration::from_millis(5));
    };
    assert_eq!(failure.kind, ErrorKind::MapFull);
    assert!(failure.message.starts_with("cannot reclaim the space of dropped tables: "), "{failure:?}");
    assert!(failure.since >= begun && failure.since <= Ticks::now(), "{failure:?}");

    // Who tries again learns of it, and it goes on since then.
    let error = store.reclaim().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::MapFull);
    let stats = store.stats().unwrap();
    assert_eq!((stats.dropped, stats.reclaim_failure.map(|failure| failure.since)), (1, Some(failure.since)));

    drop(snapshot);
    // Room is back for the next drop, whose thread frees what the first left.
    store.create_table("Small").unwrap();
    store.drop_table("Small").unwrap();
    while store.stats().unwrap().dropped > 0 {
        assert!(Instant::now() < deadline, "{:?}", store.stats());
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(store.stats().unwrap().reclaim_failure, None);
    assert!(store.check().unwrap().problems.is_empty());
}

#[test]
fn writers_get_their_turns_while_space_is_freed() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let other = store.create_table("Other").unwrap();
    // A machine that is busy may free it all before this thread gets to write: then once more.
    let most = (0..10).map(|_| {
        fill(&store, &store.create_table("Large").unwrap(), 20_000, 10);
        store.drop_table("Large").unwrap();
        let mut writes = 0;
        while store.stats().unwrap().dropped > 0 {
            other.put(&DynamicEntity::new("p", format!("{writes}"))).unwrap();
            writes += 1;
        }
        writes
    });
    assert!(most.into_iter().any(|writes| writes > 3));
}

#[test]
fn a_snapshot_goes_on_reading_a_table_that_was_dropped() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let table = store.create_table("Company").unwrap();
    fill(&store, &table, 3_000, 20);
    let snapshot = store.snapshot().unwrap();
    store.drop_table("Company").unwrap();
    store.reclaim().unwrap();
    let anew = store.create_table("Company").unwrap();
    fill(&store, &anew, 10, 20);

    let whole = Query::new();
    assert_eq!(snapshot.query(&table, &whole).unwrap().map(Result::unwrap).count(), 3_000);
    let view = snapshot.view(&table, "p", "002999").unwrap().unwrap();
    assert_eq!(view.get("Value").unwrap().unwrap().as_bytes(), Some(&[7; 20][..]));
    let page = snapshot.page(&table, &whole.clone().rev(), 10, None).unwrap();
    assert_eq!(page.entities[0].row_key(), "002999");
    // Between reads of the snapshot, the handle is still one of a table that is gone.
    assert_gone(table.get("p", "000000"));
    assert_gone(table.insert(&DynamicEntity::new("p", "x")));
    assert_eq!(
        snapshot.page(&table, &whole.rev(), 10, page.next.as_ref()).unwrap().entities[0].row_key(),
        "002989"
    );
    // The new table is none of the snapshot's.
    for table in [&anew, &store.create_table("Other").unwrap()] {
        let text = assert_gone(snapshot.query(table, &Query::new()));
        assert!(text.ends_with("the table was created after the snapshot was taken"), "{text}");
    }
    assert_eq!(count(&anew), 10);
}

#[test]
fn stats_count_entities_bytes_and_commits() {
    let scratch = Scratch::new();
    let store = scratch.store();
    assert_eq!(store.stats().unwrap().tables, []);
    let (b, a) = (store.create_table("Bbb").unwrap(), store.create_table("aaa").unwrap());
    let empty = store.stats().unwrap();
    assert_eq!(empty.tables.iter().map(|table| &*table.name).collect::<Vec<_>>(), ["aaa", "Bbb"]);
    assert!(empty.tables.iter().all(|table| (table.entities, table.bytes) == (0, 0)));
    let entity = |row: &str, size| DynamicEntity::new("p", row).with("Value", vec![0; size]);
    a.insert(&entity("1", 1_000)).unwrap();
    a.insert(&entity("2", 10_000)).unwrap();
    let stats = store.stats().unwrap();
    assert_eq!((stats.commits - empty.commits, stats.batches - empty.batches), (2, 2));
    assert_eq!((stats.tables[0].entities, stats.tables[1].entities), (2, 0));
    assert!((11_000..11_100).contains(&stats.tables[0].bytes), "{stats:?}");
    // A replace counts for the difference, a merge for what it comes to; what is refused counts for nothing.
    a.replace(&entity("2", 1_000), IfMatch::Any).unwrap();
    a.merge(&DynamicEntity::new("p", "1").with("More", vec![0; 1_000]), IfMatch::Any).unwrap();
    a.insert(&entity("1", 50_000)).unwrap_err();
    a.batch("p").insert(entity("3", 50_000)).delete("4").commit().unwrap_err();
    let (before, stats) = (stats, store.stats().unwrap());
    assert_eq!((stats.commits - before.commits, stats.batches - before.batches), (2, 2));
    assert_eq!(stats.tables[0].entities, 2);
    assert!((3_000..3_100).contains(&stats.tables[0].bytes), "{stats:?}");
    a.delete("p", "1").unwrap();
    a.delete("p", "2").unwrap();
    b.batch("p").insert(entity("1", 1)).insert(entity("2", 1)).commit().unwrap();
    let stats = store.stats().unwrap();
    assert_eq!((stats.tables[0].entities, stats.tables[0].bytes, stats.tables[1].entities), (0, 0, 2));
    // Many batches in one transaction.
    store
        .bulk((3..50).map(|row| b.batch("p").insert(entity(&row.to_string(), 1))))
        .unwrap()
        .into_result()
        .unwrap();
    let bulk = store.stats().unwrap();
    assert_eq!((bulk.commits - stats.commits, bulk.batches - stats.batches), (1, 47));
    assert!(bulk.file_bytes > 0);
    drop((a, b, store));
    let again = scratch.store().stats().unwrap();
    assert_eq!((again.commits, again.batches), (0, 0));
    assert_eq!(again.tables, bulk.tables);
}
