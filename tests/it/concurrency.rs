//! Threads that write and read at one time.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use integration_tests::Scratch;
use table_core::{Batch, DynamicEntity, DynamicTable, ErrorKind, IfMatch, Query, Result, Store, Value, prop};

const THREADS: usize = 8;

fn counter(row: &str, count: i64) -> DynamicEntity {
    DynamicEntity::new("p", row).with("Count", count)
}

fn counted(entity: &DynamicEntity) -> i64 {
    entity.get("Count").and_then(Value::as_i64).unwrap()
}

/// Runs something on every thread, all at one time.
fn together<R: Send>(run: impl Fn(usize) -> R + Sync) -> Vec<R> {
    let barrier = Barrier::new(THREADS);
    std::thread::scope(|scope| {
        let start = |thread| {
            let (barrier, run) = (&barrier, &run);
            scope.spawn(move || {
                barrier.wait();
                run(thread)
            })
        };
        let threads: Vec<_> = (0..THREADS).map(start).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// Adds one, as often as it takes; returns how often somebody else was quicker.
fn increment(
    table: &DynamicTable,
    write: impl Fn(&DynamicEntity, IfMatch) -> Result<table_core::ETag>,
) -> usize {
    let mut lost = 0;
    loop {
        let read = table.get("p", "counter").unwrap().unwrap();
        match write(&counter("counter", counted(&read) + 1), read.etag().unwrap().into()) {
            Ok(_) => return lost,
            Err(error) => assert_eq!(error.kind(), ErrorKind::ConditionNotMet),
        }
        lost += 1;
    }
}

#[test]
fn increments_by_etag_lose_nothing() {
    const EACH: usize = 100;
    let scratch = Scratch::new();
    let store = scratch.store();
    let table = store.create_table("Counters").unwrap();
    table.insert(&counter("counter", 0)).unwrap();
    let lost = together(|thread| {
        let by_batch = |entity: &DynamicEntity, condition| {
            let own = counter(&format!("own{thread}"), counted(entity));
            table.batch("p").put(own).merge(entity.clone(), condition).commit().map(|done| done.etag(1))
        };
        let count = |number| match (thread + number) % 3 {
            0 => increment(&table, |entity, condition| table.replace(entity, condition)),
            1 => increment(&table, |entity, condition| table.merge(entity, condition)),
            _ => increment(&table, by_batch),
        };
        (0..EACH).map(count).sum::<usize>()
    });
    let total = table.get("p", "counter").unwrap().unwrap();
    assert_eq!(counted(&total), (THREADS * EACH) as i64);
    // What lost by its ETag did not write the batch's other row either.
    let own = table.query(&Query::new().row_prefix("own")).unwrap().map(|entity| counted(&entity.unwrap()));
    assert!(own.into_iter().all(|count| count <= counted(&total)));
    println!("{} increments, {} retries", THREADS * EACH, lost.iter().sum::<usize>());
}

#[test]
fn each_member_of_a_group_gets_its_own_answer() {
    const ROUNDS: usize = 60;
    let scratch = Scratch::new();
    let store = scratch.store();
    let table = store.create_table("Groups").unwrap();
    table.insert(&counter("there", 0)).unwrap();
    let gone = store.create_table("Gone").unwrap();
    store.drop_table("Gone").unwrap();
    let before = store.stats().unwrap();
    let answers = together(|thread| {
        let mut won = 0;
        for round in 0..ROUNDS {
            let own = format!("own_{thread}_{round:03}");
            let refused = |result: Result<_>, kind, row: Option<&str>, index| {
                let error: table_core::Error = result.unwrap_err();
                assert_eq!((error.kind(), error.row_key(), error.index()), (kind, row, index));
            };
            // One of all wins.
            let shared = format!("shared_{round:03}");
            match table.insert(&counter(&shared, thread as i64)) {
                Ok(_) => won += 1,
                result => refused(result.map(|_| ()), ErrorKind::EntityAlreadyExists, Some(&shared), None),
            }
            // Some fail always, in company of some that never do.
            match thread % 4 {
                0 => drop(table.insert(&counter(&own, 1)).unwrap()),
                1 => {
                    let batch = table.batch("p").insert(counter(&own, 1)).insert(counter("there", 1));
                    let result = batch.commit().map(|_| ());
                    refused(result, ErrorKind::EntityAlreadyExists, Some("there"), Some(1));
                }
                2 => {
                    let batch = table.batch("p").insert_or_merge(counter(&own, 1)).delete("nobody");
                    let result = batch.commit().map(|_| ());
                    refused(result, ErrorKind::EntityNotFound, Some("nobody"), Some(1));
                }
                _ => {
                    let result = gone.insert(&counter(&own, 1)).map(|_| ());
                    refused(result, ErrorKind::TableNotFound, Some(&own), None);
                }
            }
        }
        won
    });
    assert_eq!(answers.iter().sum::<usize>(), ROUNDS);
    let found =
        |prefix| table.query(&Query::new().partition("p").row_prefix(prefix)).unwrap().map(Result::unwrap);
    assert_eq!(found("shared_").count(), ROUNDS);
    let own: Vec<_> = found("own_").map(|entity| entity.row_key()[4..5].to_owned()).collect();
    assert_eq!(own.len(), THREADS / 4 * ROUNDS);
    assert!(own.iter().all(|thread| thread == "0" || thread == "4"));
    assert_eq!(counted(&table.get("p", "there").unwrap().unwrap()), 0);
    let stats = store.stats().unwrap();
    assert_eq!(stats.tables[0].entities as usize, 1 + ROUNDS + own.len());
    // A refused write is no write, and some shared their commit.
    assert_eq!((stats.batches - before.batches) as usize, ROUNDS + own.len());
    assert!(stats.commits - before.commits <= stats.batches - before.batches);
    assert!(store.check().unwrap().problems.is_empty());
}

#[test]
fn batches_of_many_threads_are_whole_and_every_one_there() {
    const EACH: usize = 60;
    let scratch = Scratch::new();
    let store = scratch.store();
    let table = store.create_table("Batches").unwrap();
    together(|thread| {
        for number in 0..EACH {
            let batch = |partition: String| {
                (0..10).fold(table.batch(&*partition), |batch, row| {
                    let row = format!("{thread}_{number:03}_{row}");
                    // Names that are new to the table, the same from several threads at once.
                    batch.insert(DynamicEntity::new(&*partition, row).with(&format!("N{}", number % 20), 1))
                })
            };
            batch("shared".into()).commit().unwrap();
            if number % 10 == 0 {
                // A load of many among the rest.
                let own =
                    store.bulk((0..5).map(|part| batch(format!("own{thread}_{number}_{part}")))).unwrap();
                assert_eq!((own.committed, own.failures.len()), (5, 0));
            }
        }
    });
    let shared = table.query(&Query::new().partition("shared")).unwrap().map(Result::unwrap);
    assert_eq!(shared.count(), THREADS * EACH * 10);
    let own = table.query(&Query::new().partition_prefix("own")).unwrap().map(Result::unwrap);
    assert_eq!(own.count(), THREADS * EACH / 10 * 5 * 10);
    for name in 0..20 {
        let with = Query::new().partition("shared").filter(prop(&format!("N{name}")).eq(1));
        assert_eq!(table.query(&with).unwrap().count(), THREADS * EACH * 10 / 20);
    }
    assert!(store.check().unwrap().problems.is_empty());
}

/// Sets a flag when it is dropped, also by a panic, so that nobody waits for ever.
struct Done<'a>(&'a AtomicBool);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

#[test]
fn readers_never_see_half_a_batch() {
    const ROWS: usize = 20;
    const BATCHES: i64 = 150;
    let scratch = Scratch::new();
    let store = scratch.store();
    let table = store.create_table("Whole").unwrap();
    let other = store.create_table("Other").unwrap();
    let batch = |count: i64| -> Batch {
        let rows = (0..ROWS).map(|row| counter(&format!("{row:03}"), count));
        let batch = rows.fold(table.batch("p"), Batch::put);
        // A row that is there in every second version alone.
        if count % 2 == 0 { batch.insert(counter("even", count)) } else { batch.delete("even") }
    };
    batch(0).commit().unwrap();
    let (done, reads) = (AtomicBool::new(false), AtomicUsize::new(0));
    let query = &Query::new().partition("p");
    let whole = |found: Vec<DynamicEntity>, last: &mut i64| {
        let count = counted(&found[0]);
        assert!(found.iter().all(|entity| counted(entity) == count && entity.etag() == found[0].etag()));
        assert_eq!(found.len(), ROWS + usize::from(count % 2 == 0));
        assert!(count >= *last, "a later read saw an earlier state");
        *last = count;
        reads.fetch_add(1, Ordering::Relaxed);
    };
    std::thread::scope(|scope| {
        let (done, reads, whole) = (&done, &reads, &whole);
        let (store, table, other) = (&store, &table, &other);
        scope.spawn(move || {
            let _done = Done(done);
            // On a busy machine the readers may come late.
            for count in 1..=100 * BATCHES {
                batch(count).commit().unwrap();
                if count >= BATCHES && reads.load(Ordering::Relaxed) >= 10 {
                    break;
                }
            }
        });
        scope.spawn(move || {
            // Company, so that groups are formed.
            while !done.load(Ordering::Acquire) {
                other.insert_or_merge(&counter("x", 1)).unwrap();
            }
        });
        scope.spawn(move || {
            let mut last = 0;
            while !done.load(Ordering::Acquire) {
                whole(table.query(query).unwrap().map(Result::unwrap).collect(), &mut last);
                whole(table.page(query, 1_000, None).unwrap().entities, &mut last);
            }
        });
        scope.spawn(move || {
            let mut last = 0;
            while !done.load(Ordering::Acquire) {
                let snapshot = store.snapshot().unwrap();
                let first: Vec<_> = snapshot.query(table, query).unwrap().map(Result::unwrap).collect();
                whole(first.clone(), &mut last);
                let again = snapshot.views(table, &query.clone().rev()).unwrap();
                let mut again: Vec<_> = again.map(|view| view.unwrap().to_entity().unwrap()).collect();
                again.reverse();
                assert_eq!(again, first);
                let row = snapshot.get(table, "p", "000").unwrap().unwrap();
                assert_eq!(row.etag(), first[0].etag());
            }
        });
    });
    println!("{} reads while batches were written", reads.load(Ordering::Relaxed));
    assert!(reads.load(Ordering::Relaxed) > 0);
}

#[test]
fn tables_come_and_go_under_writers_who_are_told() {
    const ROUNDS: usize = 40;
    let scratch = Scratch::new();
    let store = scratch.store();
    let done = AtomicBool::new(false);
    let written = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let (store, done, written) = (&store, &done, &written);
        scope.spawn(move || {
            let _done = Done(done);
            for _ in 0..ROUNDS {
                let table = store.create_table_if_missing("Shared").unwrap();
                let before = written.load(Ordering::Relaxed);
                while written.load(Ordering::Relaxed) < before + 20 {
                    std::thread::yield_now();
                }
                store.drop_table("Shared").unwrap();
                // From here on nothing goes through the old handle, in any thread.
                assert_eq!(table.insert(&counter("late", 1)).unwrap_err().kind(), ErrorKind::TableNotFound);
                assert_eq!(table.get("p", "late").unwrap_err().kind(), ErrorKind::TableNotFound);
            }
        });
        for thread in 0..4 {
            scope.spawn(move || {
                let mut number = 0;
                while !done.load(Ordering::Acquire) {
                    let table = store.create_table_if_missing("Shared").unwrap();
                    loop {
                        number += 1;
                        let row = format!("{thread}_{number:06}");
                        match table.insert(&counter(&row, number)) {
                            Ok(_) => drop(written.fetch_add(1, Ordering::Relaxed)),
                            Err(error) => {
                                assert_eq!(error.kind(), ErrorKind::TableNotFound);
                                break;
                            }
                        }
                        // What was just written is there, unless the table is gone.
                        match table.get("p", &row) {
                            Ok(found) => assert_eq!(found.map(|entity| counted(&entity)), Some(number)),
                            Err(error) => assert_eq!(error.kind(), ErrorKind::TableNotFound),
                        }
                        if done.load(Ordering::Acquire) {
                            break;
                        }
                    }
                }
            });
        }
    });
    store.reclaim().unwrap();
    let report = store.check().unwrap();
    assert!(report.problems.is_empty(), "{:?}", report.problems);
    assert_eq!(store.stats().unwrap().dropped, 0);
}

#[test]
fn a_bulk_load_is_made_of_what_is_read_and_written_meanwhile() {
    let scratch = Scratch::new();
    let (store, other) = (scratch.store(), Scratch::new());
    let table = store.create_table("Loads").unwrap();
    let foreign = other.store().create_table("Loads").unwrap();
    table.insert(&counter("0000", 0)).unwrap();
    let batches = (1..200).map(|number| {
        // No transaction is open while the load is made.
        assert!(table.get("p", "0000").unwrap().is_some());
        table.insert(&counter(&format!("by_hand_{number}"), number)).unwrap();
        let table = if number == 100 { &foreign } else { &table };
        table.batch("p").insert(counter(&format!("{number:04}"), number))
    });
    let report = store.bulk(batches).unwrap();
    assert_eq!((report.committed, report.failures.len()), (198, 1));
    assert_eq!((report.failures[0].index, report.failures[0].error.kind()), (99, ErrorKind::TableNotFound));
    assert_eq!(table.query(&Query::new()).unwrap().map(Result::unwrap).count(), 1 + 199 + 198);
    assert_eq!(foreign.query(&Query::new()).unwrap().count(), 0);
}

#[test]
fn no_reader_slot_left_is_an_error_that_passes() {
    let scratch = Scratch::new();
    let store = Store::options().max_readers(3).open(scratch.path().join("store")).unwrap();
    let table = store.create_table("Readers").unwrap();
    table.insert(&counter("a", 1)).unwrap();
    let snapshots = [(); 3].map(|()| store.snapshot().unwrap());
    for error in [
        store.snapshot().unwrap_err(),
        table.query(&Query::new()).unwrap_err(),
        table.page(&Query::new(), 1, None).unwrap_err(),
        table.get("p", "a").unwrap_err(),
        store.stats().unwrap_err(),
    ] {
        assert_eq!(
            (error.kind(), error.kind().code(), error.kind().status()),
            (ErrorKind::TooManyReaders, "ServerBusy", 503)
        );
    }
    // Who has a slot reads on, and writers need none.
    assert_eq!(snapshots[0].query(&table, &Query::new()).unwrap().count(), 1);
    table.insert(&counter("b", 1)).unwrap();
    drop(snapshots);
    assert_eq!(table.query(&Query::new()).unwrap().count(), 2);
    assert!(table.get("p", "b").unwrap().is_some());
}

#[test]
fn handles_are_shared_and_sent() {
    fn shared<T: Send + Sync>() {}
    fn sent<T: Send>() {}
    shared::<Store>();
    shared::<DynamicTable>();
    shared::<Batch>();
    shared::<Query>();
    shared::<DynamicEntity>();
    shared::<table_core::Error>();
    sent::<table_core::Snapshot>();
    sent::<table_core::store::Rows>();
}
