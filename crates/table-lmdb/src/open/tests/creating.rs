//! Stores that come into being.

use super::*;

pub(super) fn entries(dir: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_missing_store_is_made_with_its_directories() {
    let dir = scratch();
    let path = dir.path().join("a/b/company.tables");
    let store = open_store(&path).unwrap();
    assert_eq!(entries(&path), ["data.mdb", "lock.mdb"]);
    assert_eq!(store.0.path, path.canonicalize().unwrap());
    assert_eq!(store.0.options, OpenOptions::default());
    assert_eq!(store.read_all(), 0);

    let txn = store.0.read_txn().unwrap();
    let meta = Meta::decode(store.0.dbs.main.get(&txn, META_KEY).unwrap().unwrap()).unwrap();
    assert_eq!(meta, Meta { identity: meta.identity, transaction: 1, ..Meta::initial(1_982) });
    assert_eq!(store.0.env.info().map_size, 1 << 40);
    assert_eq!(store.0.env.max_readers(), 1_024);
    let unsafe_flags = {
        use heed::EnvFlags as Flags;
        Flags::NO_SYNC | Flags::NO_META_SYNC | Flags::WRITE_MAP | Flags::MAP_ASYNC | Flags::NO_LOCK
    };
    assert!(!store.0.env.flags().unwrap().unwrap().intersects(unsafe_flags));
}

#[test]
fn a_store_keeps_its_rows() {
    let dir = scratch();
    let path = dir.path().join("store");
    open_store(&path).unwrap().put([("row".to_owned(), vec![7; 10_000])]);
    for durability in [Durability::Relaxed, Durability::Durable] {
        let store = open_with(&path, &OpenOptions::default().durability(durability)).unwrap();
        let relaxed = store.0.env.flags().unwrap().unwrap().contains(heed::EnvFlags::NO_META_SYNC);
        assert_eq!(relaxed, durability == Durability::Relaxed);
        assert_eq!(store.read_all(), 1);
    }
}

#[test]
fn a_relative_path_is_of_the_current_directory() {
    // Another test's current directory is this one's too: the path has to lead out of it.
    let dir = scratch();
    let here = std::env::current_dir().unwrap();
    let up = "../".repeat(here.components().count());
    let relative = PathBuf::from(format!("{up}{}", dir.path().join("store").display()));
    assert!(relative.is_relative());
    let store = open_store(&relative).unwrap();
    assert_eq!(store.0.path, dir.path().join("store").canonicalize().unwrap());
}

#[test]
fn a_mount_point_with_what_a_new_file_system_holds_will_do() {
    let dir = scratch();
    fs::create_dir(dir.path().join("lost+found")).unwrap();
    drop(open_store(dir.path()).unwrap());
    assert_eq!(entries(dir.path()), ["data.mdb", "lock.mdb", "lost+found"]);
}

#[test]
fn what_a_crash_during_creation_left_is_removed() {
    let dir = scratch();
    let left = dir.path().join(".new-1-2-3");
    fs::create_dir(&left).unwrap();
    fs::write(left.join("data.mdb"), [0; 100]).unwrap();
    fs::write(left.join("lock.mdb"), [0; 100]).unwrap();
    // A lock file that outlived its store.
    fs::write(dir.path().join("lock.mdb"), [7; 8_192]).unwrap();
    let store = open_store(dir.path()).unwrap();
    assert_eq!(entries(dir.path()), ["data.mdb", "lock.mdb"]);
    assert_eq!(store.read_all(), 0);
}

#[test]
fn a_creator_whose_directory_is_removed_opens_what_is_there() {
    let dir = scratch();
    let path = dir.path().join("store");
    for _ in 0..20 {
        let stop = Barrier::new(2);
        thread::scope(|scope| {
            scope.spawn(|| {
                stop.wait();
                for _ in 0..200 {
                    atomic_create::settle(&path).unwrap_or_default();
                }
            });
            stop.wait();
            match create::create(&path) {
                Ok(()) => assert!(path.join(DATA).exists()),
                // Removing them without a store in place is this test's own doing.
                Err(error) => assert_eq!(error.kind(), ErrorKind::Io, "{error}"),
            }
        });
        drop(open_store(&path).unwrap());
        fs::remove_dir_all(&path).unwrap();
    }
    fs::create_dir(&path).unwrap();
    create::create(&path).unwrap();
    create::create(&path).unwrap();
    assert_eq!(entries(&path), ["data.mdb"]);
}

#[test]
fn eight_threads_make_one_store() {
    for _ in 0..10 {
        let dir = scratch();
        let path = dir.path().join("x/store");
        let start = Barrier::new(8);
        let stores: Vec<_> = thread::scope(|scope| {
            let threads: Vec<_> = (0..8)
                .map(|_| {
                    scope.spawn(|| {
                        start.wait();
                        open_store(&path).unwrap()
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(stores.iter().all(|store| Arc::ptr_eq(store, &stores[0])));
        assert_eq!(entries(&path), ["data.mdb", "lock.mdb"]);
    }
}

/// Makes a store as soon as all may, and puts one row into it.
pub(super) fn play_creator(place: &Path) {
    say("ready");
    let go = place.join("go");
    while !go.exists() {
        thread::sleep(Duration::from_micros(200));
    }
    for round in 0..10 {
        let store = open_store(&place.join(format!("store {round}"))).unwrap();
        store.put([(format!("{}", std::process::id()), vec![1])]);
    }
}

#[test]
fn four_processes_make_one_store() {
    let dir = scratch();
    let mut children: Vec<_> = (0..4).map(|_| play("create", dir.path())).collect();
    for child in &mut children {
        wait_for(child, "ready");
    }
    fs::write(dir.path().join("go"), "").unwrap();
    for child in children {
        ends_well(child);
    }
    for round in 0..10 {
        let path = dir.path().join(format!("store {round}"));
        assert_eq!(open_store(&path).unwrap().read_all(), 4, "a row was lost in a store of its own");
        assert_eq!(entries(&path), ["data.mdb", "lock.mdb"]);
    }
}

#[track_caller]
fn refused(path: &Path, options: &OpenOptions, kind: ErrorKind, text: &str) {
    let error = open_with(path, options).unwrap_err();
    assert_eq!(error.kind(), kind, "{error}");
    let message = error.to_string();
    assert!(message.starts_with("cannot open the store: ") && message.contains(text), "{message}");
    assert!(!message.ends_with('.'), "{message}");
}

#[test]
fn a_store_that_is_not_to_be_made_is_missed() {
    let dir = scratch();
    let path = dir.path().join("a/store");
    let options = OpenOptions::default().create(false);
    refused(&path, &options, ErrorKind::Io, "there is no store at");
    assert!(entries(dir.path()).is_empty());
    drop(open_store(&path).unwrap());
    drop(open_with(&path, &options).unwrap());
}

#[test]
fn other_things_at_the_path_are_named() {
    let dir = scratch();
    let options = OpenOptions::default();
    let file = dir.path().join("file");
    fs::write(&file, "text").unwrap();
    refused(&file, &options, ErrorKind::Incompatible, "is a file; a store is a directory");
    refused(&file.join("below"), &options, ErrorKind::Io, "finding");
    refused(Path::new(""), &options, ErrorKind::Io, "finding");

    let odd = dir.path().join("odd");
    fs::create_dir_all(odd.join(DATA)).unwrap();
    refused(&odd, &options, ErrorKind::Incompatible, "is not a file");
}

#[cfg(unix)]
#[test]
fn a_data_file_behind_a_link_is_refused_and_a_directory_behind_one_is_not() {
    let dir = scratch();
    let path = dir.path().join("store");
    let store = open_store(&path).unwrap();
    let linked = dir.path().join("linked");
    std::os::unix::fs::symlink(&path, &linked).unwrap();
    assert!(Arc::ptr_eq(&store, &open_store(&linked).unwrap()));

    let other = dir.path().join("other");
    fs::create_dir(&other).unwrap();
    fs::hard_link(path.join(DATA), other.join(DATA)).unwrap();
    assert!(Arc::ptr_eq(&store, &open_store(&other).unwrap()), "one file, one store");
    fs::remove_file(other.join(DATA)).unwrap();
    std::os::unix::fs::symlink(path.join(DATA), other.join(DATA)).unwrap();
    refused(&other, &OpenOptions::default(), ErrorKind::Incompatible, "symbolic link");
}

#[test]
fn a_directory_that_cannot_be_written_is_an_error_and_stays_empty() {
    // The root user may write anywhere but into a file.
    let dir = scratch();
    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    let error = open_store(&file.join("a/b")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    assert_eq!(entries(dir.path()), ["file"]);
}

#[test]
fn foreign_data_files_are_refused_and_left_alone() {
    let dir = scratch();
    let options = OpenOptions::default();
    for (name, bytes, text) in [
        ("empty", Vec::new(), "is empty"),
        ("text", b"some other program's data".to_vec(), "not a file of LMDB"),
        ("zeros", vec![0; 100_000], "not a file of LMDB"),
        (
            "noise",
            (0..100_000_u32).map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()[3]).collect(),
            "not a file",
        ),
    ] {
        let path = dir.path().join(name);
        fs::create_dir(&path).unwrap();
        fs::write(path.join(DATA), &bytes).unwrap();
        refused(&path, &options, ErrorKind::Incompatible, text);
        assert_eq!(entries(&path), [DATA], "nothing is made beside another program's file");
        assert_eq!(fs::read(path.join(DATA)).unwrap(), bytes);
    }
}

/// An environment without what makes it a store.
fn foreign_environment(path: &Path, database: Option<&str>) {
    fs::create_dir(path).unwrap();
    let env = map::open(path, Sizes { map: 1 << 20, readers: 8, durability: Durability::Durable }).unwrap();
    let txn = env.write_txn().unwrap();
    let made = env.create_databases_and_commit(txn, |opener, txn| -> heed::Result<_> {
        let db = opener.create_database::<Bytes, Bytes>(txn, database)?;
        db.put(txn, b"data", b"a value where a database would stand")?;
        Ok(CommitOrAbort::<_, ()>::Commit(()))
    });
    made.unwrap();
    env.prepare_for_closing().wait();
}

#[test]
fn environments_of_other_programs_are_refused() {
    let dir = scratch();
    for (name, database) in [("unnamed", None), ("named", Some("data"))] {
        let path = dir.path().join(name);
        foreign_environment(&path, database);
        refused(&path, &OpenOptions::default(), ErrorKind::Incompatible, "is not a store");
    }
}

#[test]
fn another_format_and_a_larger_key_limit_are_refused() {
    let dir = scratch();
    for (name, mut meta, text) in [
        ("key limit", Meta::initial(1_983), "may hold keys of 1983 bytes"),
        ("key limit of a larger page", Meta::initial(u32::MAX), "may hold keys of 4294967295 bytes"),
    ] {
        let path = dir.path().join(name);
        let store = open_store(&path).unwrap();
        let mut txn = store.0.env.write_txn().unwrap();
        meta.write(store.0.dbs.main, &mut txn).unwrap();
        txn.commit().unwrap();
        drop(store);
        refused(&path, &OpenOptions::default(), ErrorKind::Incompatible, text);
    }

    let path = dir.path().join("format");
    let store = open_store(&path).unwrap();
    let mut record = Meta::initial(511).encode();
    record[0] = 9;
    crate::records::meta::seal(META_KEY, &mut record);
    let mut txn = store.0.env.write_txn().unwrap();
    store.0.dbs.main.put(&mut txn, META_KEY, &record).unwrap();
    txn.commit().unwrap();
    drop(store);
    refused(&path, &OpenOptions::default(), ErrorKind::Incompatible, "format version 9");
}

#[test]
fn a_store_without_one_of_its_databases_is_damaged() {
    let dir = scratch();
    let path = dir.path().join("store");
    foreign_environment(&path, Some("data"));
    let env = map::open(&path, Sizes { map: 1 << 20, readers: 8, durability: Durability::Durable }).unwrap();
    let txn = env.write_txn().unwrap();
    let made = env.create_databases_and_commit(txn, |opener, txn| -> heed::Result<_> {
        let main = opener.create_database::<Bytes, Bytes>(txn, None)?;
        Meta::initial(1_982).write(main, txn).unwrap();
        Ok(CommitOrAbort::<_, ()>::Commit(()))
    });
    made.unwrap();
    env.prepare_for_closing().wait();
    refused(&path, &OpenOptions::default(), ErrorKind::Corrupt, "lacks one of its databases");
}

#[test]
fn a_map_larger_than_the_addresses_says_so() {
    let dir = scratch();
    let options = OpenOptions::default().map_size(1 << 62);
    let error = open_with(dir.path(), &options).unwrap_err();
    assert!(error.to_string().contains("give a smaller `map_size`"), "{error}");
    // A smaller one than the file is raised to it.
    let store = open_with(dir.path(), &OpenOptions::default().map_size(1)).unwrap();
    assert_eq!(store.0.env.info().map_size, 65_536);
}

pub(super) fn open_in_little_room(place: &Path) {
    let store = open_store(place).unwrap();
    assert_eq!(store.0.env.info().map_size, 16 << 30);
    store.put([("row".to_owned(), vec![1])]);
    let error = open_with(&place.join("other"), &OpenOptions::default().map_size(1 << 38)).unwrap_err();
    assert!(error.to_string().contains("no room for 274877906944 bytes of addresses"), "{error}");
}

#[cfg(target_os = "linux")]
#[test]
fn the_default_map_takes_what_addresses_there_are() {
    let dir = scratch();
    let mut shell = Command::new("sh");
    // 40 GiB: the next smaller step of the default is 16.
    shell.args(["-c", "ulimit -v 41943040; exec \"$0\" \"$@\""]).arg(std::env::current_exe().unwrap());
    ends_well(play_in(shell, "open in little room", dir.path()));
    // Another process's larger map is no obstacle.
    assert_eq!(open_store(dir.path()).unwrap().read_all(), 1);
}
