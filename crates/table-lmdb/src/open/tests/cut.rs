//! Files that end before their last page.

use super::*;

/// A store with every kind of page: branches, leaves, long values, free pages.
pub(crate) fn varied(path: &Path) -> Arc<Handle> {
    let store = open_store(path).unwrap();
    let value = |n: u32| vec![1; if n.is_multiple_of(10) { 9_000 } else { 200 }];
    store.put((0..600_u32).map(|n| (format!("{n:05} {}", "k".repeat(150)), value(n))));
    let mut txn = store.0.env.write_txn().unwrap();
    for n in (0..600_u32).filter(|n| n.is_multiple_of(7)) {
        store.0.dbs.data.delete(&mut txn, format!("{n:05} {}", "k".repeat(150)).as_bytes()).unwrap();
    }
    store.commit(txn);
    store
}

/// A value put and deleted in one transaction leaves a header that counts pages the file never had.
pub(crate) fn rightly_short(path: &Path) -> Arc<Handle> {
    let store = open_store(path).unwrap();
    // LMDB gives pages back within the transaction once it has looked for free ones, so there must be some.
    for round in 1..5 {
        store.put((0..50_u32).map(|n| (format!("{n:05}"), vec![round; 500])));
    }
    let mut txn = store.0.env.write_txn().unwrap();
    store.0.dbs.data.put(&mut txn, b"long", &vec![1; 1_000_000]).unwrap();
    store.0.dbs.data.delete(&mut txn, b"long").unwrap();
    store.commit(txn);
    store
}

fn is_short(path: &Path) -> bool {
    !is_whole(&mut File::open(path.join(DATA)).unwrap()).unwrap()
}

#[test]
fn a_file_that_is_rightly_short_is_opened() {
    let dir = scratch();
    let path = dir.path().join("store");
    drop(rightly_short(&path));
    assert!(is_short(&path), "the case that this is about");
    let store = open_store(&path).unwrap();
    assert_eq!(store.read_all(), 50);
    store.put((0..3_000_u32).map(|n| (format!("y{n:05}"), vec![1; 500])));
    assert_eq!(store.read_all(), 3_050);
}

/// Copies the store to `place`, cut to every number of pages and to a few lengths between.
fn cut_copies(store: &Path, place: &Path) -> usize {
    let bytes = fs::read(store.join(DATA)).unwrap();
    let lengths =
        (0..bytes.len()).step_by(4_096).chain([1, 100, 4_095, 4_097, 4_247, 4_248, bytes.len() - 1]);
    let lengths: Vec<_> = lengths.collect();
    for length in &lengths {
        let dir = place.join(format!("{length}"));
        fs::create_dir_all(&dir).unwrap();
        fs::write(dir.join(DATA), &bytes[..*length]).unwrap();
    }
    lengths.len()
}

/// Opens every store in a directory. Whatever opens must be readable and writable to the end.
pub(super) fn open_all(place: &Path) {
    let mut opened = 0;
    for entry in fs::read_dir(place).unwrap() {
        let path = entry.unwrap().path();
        match open_store(&path) {
            Ok(store) => {
                store.read_all();
                store.put((0..200_u32).map(|n| (format!("z{n}"), vec![1; 300])));
                store.read_all();
                opened += 1;
            }
            Err(error) => {
                let kind = error.kind();
                assert!(matches!(kind, ErrorKind::Corrupt | ErrorKind::Incompatible), "{path:?}: {error}");
            }
        }
        fs::remove_dir_all(path).unwrap();
    }
    say(&format!("opened {opened}."));
}

#[test]
fn a_file_cut_anywhere_is_an_error_or_a_store_and_never_a_signal() {
    let dir = scratch();
    let [varied_at, short_at, copy_at] = ["varied", "short", "copy"].map(|name| dir.path().join(name));
    let store = varied(&varied_at);
    copy_to(&store.0.env, &copy_at).unwrap();
    drop((store, rightly_short(&short_at)));
    for path in [&varied_at, &short_at, &copy_at] {
        let place = dir.path().join("cut");
        let count = cut_copies(path, &place);
        let text = ends_well(play("open cut files", &place));
        // A compact copy has no page that it could do without.
        assert!(path != &copy_at || count > 50 && text.contains("opened 0."), "{text}");
    }
}

#[test]
fn a_cut_file_says_what_is_missing() {
    let dir = scratch();
    let [path, copy] = ["store", "copy"].map(|name| dir.path().join(name));
    copy_to(&varied(&path).0.env, &copy).unwrap();
    let data = copy.join(DATA);
    let length = fs::metadata(&data).unwrap().len();
    File::options().write(true).open(&data).unwrap().set_len(length - 1).unwrap();
    let error = open_store(&copy).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    let text = error.to_string();
    assert!(
        text.contains("is shorter than its data: page ") && text.contains("restore it from a copy"),
        "{text}"
    );
    // The lock is free, and the data file as it was.
    assert_eq!(fs::metadata(&data).unwrap().len(), length - 1);
    File::options().write(true).open(&data).unwrap().set_len(length).unwrap();
}
