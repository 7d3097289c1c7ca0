//! Openings and exchanges while another process has the store's directory locked.

use super::*;
use crate::open::open_lock::{OpenLock, PATIENCE};

/// A machine that does other things as well.
const SLACK: Duration = Duration::from_secs(10);

fn contents(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files: Vec<_> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.clone(), fs::read(path).unwrap()))
        .collect();
    files.sort();
    files
}

/// What an opening says that doesn't get its turn, and how long it takes.
#[track_caller]
fn refused_in_time<T: std::fmt::Debug>(dir: &Path, wait: impl FnOnce() -> Result<T>) {
    let begun = Instant::now();
    let error = wait().unwrap_err();
    let took = begun.elapsed();
    assert!(took >= PATIENCE && took < PATIENCE + SLACK, "{took:?}");
    assert_eq!(error.kind(), ErrorKind::StoreBusy);
    let text = error.to_string();
    let path = dir.canonicalize().unwrap();
    assert!(text.contains(&*path.to_string_lossy()) && text.contains("another process"), "{text}");
}

/// A role: locks the directory until it is told to go on.
pub(super) fn lock(place: &Path) {
    let dir = File::open(place).unwrap();
    dir.lock().unwrap();
    say("locked");
    io::stdin().read_exact(&mut [0]).unwrap();
}

#[test]
fn an_opening_ends_in_time_while_another_process_has_the_directory_locked() {
    let dir = scratch();
    let store = open_store(dir.path()).unwrap();
    store.put([("key".to_owned(), vec![1])]);
    drop(store);
    let before = contents(dir.path());

    let mut holder = play("lock", dir.path());
    wait_for(&mut holder, "locked");
    refused_in_time(dir.path(), || open_store(dir.path()));
    let read_only = OpenOptions::default().read_only(true);
    refused_in_time(dir.path(), || open_with(dir.path(), &read_only));
    assert_eq!(contents(dir.path()), before);

    // A lock that is released while an opening waits holds it up no longer.
    thread::scope(|scope| {
        let opening = scope.spawn(|| open_store(dir.path()).map(|store| store.read_all()));
        thread::sleep(PATIENCE / 8);
        holder.stdin.take().unwrap().write_all(b"\n").unwrap();
        assert_eq!(opening.join().unwrap().unwrap(), 1);
    });
    ends_well(holder);
    assert_eq!(open_store(dir.path()).unwrap().read_all(), 1);
}

#[test]
fn a_compaction_ends_in_time_while_the_store_is_being_opened() {
    let dir = scratch();
    let store = open_store(dir.path()).unwrap();
    store.put([("key".to_owned(), vec![1])]);
    let before = contents(dir.path());
    let opening = OpenLock::to_open(dir.path()).unwrap();
    refused_in_time(dir.path(), || compact(&store.0));
    assert_eq!(contents(dir.path()), before);
    // Others are opened meanwhile.
    drop(OpenLock::to_open(dir.path()).unwrap());
    drop(opening);
    compact(&store.0).unwrap();
    drop(store);
    assert_eq!(open_store(dir.path()).unwrap().read_all(), 1);
}

#[test]
fn without_hard_links_a_store_that_is_locked_is_not_made() {
    let dir = scratch();
    let turn = OpenLock::to_exchange(dir.path()).unwrap();
    fs::write(dir.path().join("made"), "made").unwrap();
    let rename = || atomic_create::rename(&dir.path().join("made"), &dir.path().join(DATA), dir.path());
    refused_in_time(dir.path(), rename);
    assert!(!dir.path().join(DATA).exists());
    drop(turn);
    assert!(rename().unwrap());
}
