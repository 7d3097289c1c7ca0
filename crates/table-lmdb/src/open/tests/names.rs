//! Data files with two names.

use super::*;

/// What is refused, and that nothing is written.
#[track_caller]
fn refused(dir: &Path, options: &OpenOptions) {
    let names = || {
        let mut names: Vec<_> = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
        names.sort();
        names
    };
    let before = (names(), fs::read(dir.join(DATA)).unwrap());
    let error = open_with(dir, options).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Incompatible, "{error}");
    let text = error.to_string();
    let data = dir.canonicalize().unwrap().join(DATA);
    assert!(text.contains(&*data.to_string_lossy()), "{text}");
    assert!(text.contains("has another name too") && text.contains("copy the file"), "{text}");
    assert_eq!((names(), fs::read(dir.join(DATA)).unwrap()), before);
}

#[test]
fn a_data_file_with_another_name_is_refused_by_either() {
    let dir = scratch();
    let [path, other] = ["store", "other"].map(|name| dir.path().join(name));
    let store = open_store(&path).unwrap();
    store.put([("key".to_owned(), vec![1])]);
    drop(store);
    fs::create_dir(&other).unwrap();
    fs::hard_link(path.join(DATA), other.join(DATA)).unwrap();
    let read_only = OpenOptions::default().read_only(true);
    for dir in [&path, &other] {
        refused(dir, &OpenOptions::default());
        refused(dir, &read_only);
    }
    // What the error says helps: a copy in the place of one of them.
    fs::copy(other.join(DATA), other.join("copy")).unwrap();
    fs::rename(other.join("copy"), other.join(DATA)).unwrap();
    for dir in [&path, &other] {
        assert_eq!(open_with(dir, &read_only).unwrap().read_all(), 1);
        assert_eq!(open_store(dir).unwrap().read_all(), 1);
    }
    // So does another name that goes.
    fs::hard_link(path.join(DATA), path.join("another")).unwrap();
    refused(&path, &OpenOptions::default());
    fs::remove_file(path.join("another")).unwrap();
    drop(open_store(&path).unwrap());
}

#[test]
fn a_name_that_a_crash_during_creation_left_is_no_other() {
    let dir = scratch();
    drop(open_store(dir.path()).unwrap());
    let left = dir.path().join(".new-1-2-3");
    fs::create_dir(&left).unwrap();
    fs::hard_link(dir.path().join(DATA), left.join(DATA)).unwrap();
    // A reader leaves it there.
    drop(open_with(dir.path(), &OpenOptions::default().read_only(true)).unwrap());
    assert!(left.join(DATA).exists());
    drop(open_store(dir.path()).unwrap());
    assert!(!left.exists());
    // Beside the private name there is another, by which the file could be opened.
    fs::create_dir(&left).unwrap();
    fs::hard_link(dir.path().join(DATA), left.join(DATA)).unwrap();
    fs::hard_link(dir.path().join(DATA), dir.path().join("another")).unwrap();
    refused(dir.path(), &OpenOptions::default().read_only(true));
}

#[test]
fn a_store_that_is_being_made_is_not_refused() {
    for _ in 0..300 {
        let dir = scratch();
        let data = dir.path().join(DATA);
        thread::scope(|scope| {
            let making = scope.spawn(|| create::create(dir.path()));
            while !making.is_finished() {
                if let Ok(file) = File::open(&data) {
                    hard_links::check(dir.path(), &file, &data, false).unwrap();
                }
            }
            making.join().unwrap().unwrap();
        });
        assert_eq!(fs::metadata(&data).unwrap().len() % 4_096, 0);
        drop(open_store(dir.path()).unwrap());
    }
}
