//! Stores that are open more than once: in one process, and in several that may die.

use super::*;
use crate::Store;

#[test]
fn a_second_opening_shares_the_first() {
    let dir = scratch();
    let first = open_store(dir.path()).unwrap();
    let again = open_with(dir.path(), &OpenOptions::default().create(false)).unwrap();
    assert!(Arc::ptr_eq(&first, &again));
    drop(first);
    assert!(Arc::ptr_eq(&again, &open_store(dir.path()).unwrap()));
}

#[test]
fn other_options_are_a_conflict_until_the_store_is_closed() {
    let dir = scratch();
    let store = open_store(dir.path()).unwrap();
    let options = OpenOptions::default().map_size(1 << 30);
    let error = open_with(dir.path(), &options).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::OptionsConflict);
    let text = "cannot open the store: the store is open in this process with `map_size` 1099511627776, \
                not 1073741824; use the same options, or close it first";
    assert_eq!(error.to_string(), text);
    drop(store);
    assert_eq!(open_with(dir.path(), &options).unwrap().0.env.info().map_size, 1 << 30);
}

#[test]
fn a_failed_opening_leaves_the_store_free() {
    let dir = scratch();
    let refused = || Error::new(ErrorKind::Corrupt).because("because");
    let error = open::<Handle>(dir.path(), &OpenOptions::default(), |_| Err(refused())).unwrap_err();
    assert_eq!(error.to_string(), "cannot open the store: because");
    let panicked = thread::scope(|scope| {
        let opening = || open::<Handle>(dir.path(), &OpenOptions::default(), |_| panic!("on purpose"));
        scope.spawn(opening).join()
    });
    assert!(panicked.is_err());
    drop(open_store(dir.path()).unwrap());
}

#[test]
fn a_store_that_has_stopped_is_opened_anew_once_the_thread_that_frees_space_lets_go_of_it() {
    let dir = scratch();
    let store = Store::open(dir.path().join("store")).unwrap();
    let shared = store.clone().into_shared();
    assert!(shared.reclaimer.begin());
    shared.writer.stop();
    drop(store);
    let thread = thread::spawn(move || {
        thread::sleep(Duration::from_millis(300));
        shared.reclaimer.end();
        // It is still there for a moment when it says that it has ended.
        thread::sleep(Duration::from_millis(10));
    });
    let store = Store::open(dir.path().join("store")).unwrap();
    store.create_table("Company").unwrap();
    thread.join().unwrap();

    // Handles that are kept belong to the store that has stopped, and so do those of a second opening.
    store.shared().writer.stop();
    let again = Store::open(dir.path().join("store")).unwrap();
    assert_eq!(again.create_table("Other").unwrap_err().kind(), ErrorKind::OutcomeUnknown);
    drop((store, again));
    Store::open(dir.path().join("store")).unwrap().create_table("Other").unwrap();
}

#[test]
fn another_type_is_not_handed_out() {
    let dir = scratch();
    let _store = open_store(dir.path()).unwrap();
    let error = open(dir.path(), &OpenOptions::default(), |_| Ok(Arc::new(7_u32))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::OptionsConflict);
}

#[test]
fn opening_while_other_threads_close() {
    let dir = scratch();
    let path = dir.path().join("store");
    thread::scope(|scope| {
        for thread in 0..4 {
            let path = &path;
            scope.spawn(move || {
                for round in 0..200 {
                    let store = open_store(path).unwrap();
                    store.put([(format!("{thread} {round}"), vec![1])]);
                    // The last of the four closes the store.
                    thread::yield_now();
                    drop(store);
                }
            });
        }
    });
    assert_eq!(open_store(&path).unwrap().read_all(), 800);
}

#[test]
fn reopening_right_after_a_drop_on_another_thread() {
    let dir = scratch();
    for _ in 0..200 {
        let store = open_store(dir.path()).unwrap();
        let dropping = thread::spawn(move || drop(store));
        drop(open_store(dir.path()).unwrap());
        dropping.join().unwrap();
    }
}

#[test]
fn a_snapshot_that_outlives_its_store_is_waited_for_and_then_named() {
    let dir = scratch();
    let store = open_store(dir.path()).unwrap();
    let snapshot = store.0.static_read_txn().unwrap();
    drop(store);
    let began = Instant::now();
    let dropping = thread::spawn(move || {
        thread::sleep(Duration::from_millis(100));
        drop(snapshot);
    });
    let store = open_store(dir.path()).unwrap();
    assert!(began.elapsed() >= Duration::from_millis(90));
    dropping.join().unwrap();

    let snapshot = store.0.static_read_txn().unwrap();
    drop(store);
    let error = open_store(dir.path()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::OptionsConflict);
    assert!(error.to_string().contains("iterator of it is still alive"), "{error}");
    drop(snapshot);
    drop(open_store(dir.path()).unwrap());
}

#[test]
fn a_store_replaced_in_its_directory_is_another_store() {
    let dir = scratch();
    let path = dir.path().join("store");
    let old = open_store(&path).unwrap();
    fs::rename(&path, dir.path().join("moved")).unwrap();
    assert!(Arc::ptr_eq(&old, &open_store(&dir.path().join("moved")).unwrap()));
    drop(old);
    let new = open_store(&path).unwrap();
    assert_ne!(new.0.path, open_store(&dir.path().join("moved")).unwrap().0.path);
}

#[test]
fn an_environment_opened_past_the_registry_is_waited_for_and_then_named() {
    let dir = scratch();
    drop(open_store(dir.path()).unwrap());
    let sizes = || Sizes { map: 1 << 20, readers: 8, durability: Durability::Durable };
    let env = map::open(dir.path(), sizes()).unwrap();
    let closing = thread::spawn(move || {
        thread::sleep(Duration::from_millis(100));
        drop(env);
    });
    drop(open_store(dir.path()).unwrap());
    closing.join().unwrap();

    let env = map::open(dir.path(), sizes()).unwrap();
    let error = open_store(dir.path()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::OptionsConflict);
    assert!(error.to_string().contains("is still open in this process"), "{error}");
    drop(env);
    drop(open_store(dir.path()).unwrap());
}

fn few_readers() -> OpenOptions {
    OpenOptions::default().max_readers(3)
}

/// Takes a reader slot and dies without giving it back.
pub(super) fn die_reading(place: &Path) {
    let store = open_with(place, &few_readers()).unwrap();
    let _txn = store.0.read_txn().unwrap();
    say("reading");
    std::process::abort();
}

/// Dies with the writer's lock and an uncommitted row.
pub(super) fn die_writing(place: &Path) {
    let store = open_with(place, &few_readers()).unwrap();
    let mut txn = store.0.env.write_txn().unwrap();
    store.0.dbs.data.put(&mut txn, b"lost", b"").unwrap();
    say("writing");
    std::process::abort();
}

/// Holds the store open until told to go.
pub(super) fn hold(place: &Path) {
    let _store = open_with(place, &few_readers()).unwrap();
    say("holding");
    io::stdin().read_to_end(&mut Vec::new()).unwrap();
}

fn dies(role: &str, place: &Path) {
    let mut child = play(role, place);
    wait_for(&mut child, role.trim_start_matches("die "));
    assert!(!child.wait().unwrap().success());
}

#[test]
fn the_slots_of_dead_readers_are_free_again() {
    let dir = scratch();
    let store = open_with(dir.path(), &few_readers()).unwrap();
    for _ in 0..3 {
        // Each is cleared when the next one opens, and on demand.
        dies("die reading", dir.path());
    }
    assert_eq!(store.0.clear_stale_readers().unwrap(), 1);
    assert_eq!(store.0.clear_stale_readers().unwrap(), 0);

    dies("die reading", dir.path());
    let held: Vec<_> = (0..2).map(|_| store.0.static_read_txn().unwrap()).collect();
    let last = store.0.read_txn().unwrap();
    let error = store.0.read_txn().map(drop).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TooManyReaders);
    drop(last);
    dies("die reading", dir.path());
    drop(store.0.static_read_txn().unwrap());
    drop(held);
}

#[test]
fn a_dead_writer_leaves_neither_its_lock_nor_its_row() {
    let dir = scratch();
    let store = open_with(dir.path(), &few_readers()).unwrap();
    store.put([("kept".to_owned(), vec![1])]);
    dies("die writing", dir.path());
    store.put([("next".to_owned(), vec![2])]);
    assert_eq!(store.read_all(), 2);
}

#[test]
fn the_process_that_came_first_decides_how_many_may_read() {
    let dir = scratch();
    drop(open_with(dir.path(), &few_readers()).unwrap());
    let mut child = play("hold", dir.path());
    wait_for(&mut child, "holding");
    let store = open_store(dir.path()).unwrap();
    assert_eq!(store.0.env.max_readers(), 3);
    drop(child.stdin.take());
    ends_well(child);
}

#[test]
fn a_copy_is_a_store_and_a_store_is_never_overwritten() {
    let dir = scratch();
    let (path, target) = (dir.path().join("store"), dir.path().join("backups/monday"));
    let store = open_store(&path).unwrap();
    let rows = |range: std::ops::Range<u32>| range.map(|n| (format!("{n:05}"), vec![1; 3_000]));
    store.put(rows(0..500));
    {
        let mut txn = store.0.env.write_txn().unwrap();
        for n in 100..500 {
            store.0.dbs.data.delete(&mut txn, format!("{n:05}").as_bytes()).unwrap();
        }
        store.commit(txn);
    }
    copy_to(&store.0.env, &target).unwrap();
    let sizes = [&path, &target].map(|dir| fs::metadata(dir.join(DATA)).unwrap().len());
    assert!(sizes[1] < sizes[0] / 2, "{sizes:?}: free pages are left out");
    let names: Vec<_> = fs::read_dir(&target).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, [DATA]);

    let before = fs::read(target.join(DATA)).unwrap();
    for taken in [&target, &path] {
        let error = copy_to(&store.0.env, taken).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TargetExists);
        assert!(error.to_string().starts_with("cannot copy the store: "), "{error}");
    }
    assert_eq!(fs::read(target.join(DATA)).unwrap(), before);

    let copy = open_store(&target).unwrap();
    assert_eq!((copy.read_all(), store.read_all()), (100, 100));
    copy.put(rows(1_000..1_010));
    assert_eq!((copy.read_all(), store.read_all()), (110, 100));
    drop(copy);
    assert_eq!(open_store(&target).unwrap().read_all(), 110);
}

#[test]
fn a_copy_that_fails_leaves_nothing() {
    let dir = scratch();
    let store = open_with(&dir.path().join("store"), &few_readers()).unwrap();
    let held: Vec<_> = (0..3).map(|_| store.0.static_read_txn().unwrap()).collect();
    let error = copy_to(&store.0.env, &dir.path().join("a/b")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TooManyReaders);
    assert!(!dir.path().join("a").exists());
    drop(held);
    let file = dir.path().join("file");
    fs::write(&file, "kept").unwrap();
    let error = copy_to(&store.0.env, &file).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TargetExists);
    copy_to(&store.0.env, &dir.path().join("a/b")).unwrap();
}

#[test]
fn copies_race_for_a_target_and_one_wins() {
    let dir = scratch();
    let store = open_store(&dir.path().join("store")).unwrap();
    store.put([("row".to_owned(), vec![1; 100_000])]);
    let target = dir.path().join("target");
    let won = thread::scope(|scope| {
        let copies: Vec<_> = (0..4).map(|_| scope.spawn(|| copy_to(&store.0.env, &target))).collect();
        copies
            .into_iter()
            .map(|copy| copy.join().unwrap())
            .filter(|copied| match copied {
                Ok(()) => true,
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::TargetExists, "{error}");
                    false
                }
            })
            .count()
    });
    assert_eq!(won, 1);
    assert_eq!(open_store(&target).unwrap().read_all(), 1);
    assert_eq!(fs::read_dir(&target).unwrap().count(), 2);
}
