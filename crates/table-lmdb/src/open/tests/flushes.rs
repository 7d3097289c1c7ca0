//! Directories that can't be flushed: what is not durable is not said to be.

use super::atomic_create::tests::failing;
use super::creating::entries;
use super::*;

/// That opening failed at a flush, and has left what tells the next one to flush.
#[track_caller]
fn is_unflushed(error: &Error) {
    assert_eq!(error.kind(), ErrorKind::Io, "{error}");
    assert!(error.to_string().contains("flushing the directory"), "{error}");
}

fn marks(dir: &Path) -> usize {
    entries(dir).iter().filter(|name| name.starts_with(".new-")).count()
}

#[test]
fn a_store_whose_name_is_not_flushed_is_an_error_until_it_is() {
    let dir = scratch();
    failing(dir.path(), 1, || {
        for attempt in 0..3 {
            is_unflushed(&open_store(dir.path()).unwrap_err());
            assert!(dir.path().join(DATA).exists(), "others may have it open");
            assert_eq!(marks(dir.path()), 1, "attempt {attempt}");
        }
        is_unflushed(&open_with(dir.path(), &OpenOptions::default().create(false)).unwrap_err());
    });
    let store = open_store(dir.path()).unwrap();
    assert_eq!(entries(dir.path()), ["data.mdb", "lock.mdb"]);
    assert_eq!(store.read_all(), 0);
}

#[test]
fn who_comes_second_does_not_take_the_name_for_durable_either() {
    let dir = scratch();
    // The winner has given the name, and is about to flush.
    let winner = atomic_create::Private::new(dir.path()).unwrap();
    create::lay_out(winner.path()).unwrap();
    assert!(winner.place().unwrap());
    failing(dir.path(), 1, || {
        is_unflushed(&open_store(dir.path()).unwrap_err());
        is_unflushed(&create::create(dir.path()).unwrap_err());
        assert_eq!(marks(dir.path()), 2);
        is_unflushed(&winner.settle().unwrap_err());
    });
    assert_eq!(marks(dir.path()), 2);
    // The second process flushes for both.
    create::create(dir.path()).unwrap();
    drop(open_store(dir.path()).unwrap());
    assert_eq!(entries(dir.path()), ["data.mdb", "lock.mdb"]);
}

#[test]
fn a_directory_that_was_there_is_flushed_as_one_that_was_made() {
    let dir = scratch();
    let (outer, inner) = (dir.path().join("a"), dir.path().join("a/b"));
    for made_before in [false, true] {
        if made_before {
            fs::create_dir_all(&inner).unwrap();
        }
        failing(dir.path(), 1, || is_unflushed(&open_store(&inner).unwrap_err()));
        assert_eq!(outer.exists(), made_before);
        assert!(!inner.join(DATA).exists());
    }
    drop(open_store(&inner).unwrap());
}

#[cfg(unix)]
#[test]
fn behind_a_link_the_real_directories_are_flushed() {
    let dir = scratch();
    let [real, link] = ["real", "link"].map(|name| dir.path().join(name));
    fs::create_dir(&real).unwrap();
    let other = scratch();
    std::os::unix::fs::symlink(&real, other.path().join("link")).unwrap();
    std::os::unix::fs::symlink(other.path().join("link"), &link).unwrap();
    failing(dir.path(), 1, || is_unflushed(&open_store(&link.join("store")).unwrap_err()));
    assert!(entries(&real).is_empty());
}

#[cfg(feature = "encrypt")]
#[test]
fn so_it_is_with_an_environment_beside_a_store() {
    let dir = scratch();
    let keys = dir.path().join("keys");
    let open =
        |create| aux_env::open(&keys, create, |_| None, |_| Ok(vec![(b"key".to_vec(), b"record".to_vec())]));
    fs::create_dir(&keys).unwrap();
    failing(&keys, 1, || {
        for create in [true, true, false] {
            is_unflushed(&open(create).unwrap_err());
            assert_eq!(marks(&keys), 1);
        }
    });
    let side = open(false).unwrap();
    assert_eq!(side.db.get(&side.read_txn().unwrap(), b"key").unwrap(), Some(&b"record"[..]));
    assert_eq!(entries(&keys), ["data.mdb", "lock.mdb"]);
}

/// Copies a store with what stands for its keys, while a flush of the target fails.
fn copy_failing(nth: u32) -> (TempDir, PathBuf, Error) {
    let dir = scratch();
    let [path, target] = ["store", "copy"].map(|name| dir.path().join(name));
    let store = open_store(&path).unwrap();
    store.put([("row".to_owned(), vec![1])]);
    fs::create_dir(&target).unwrap();
    let copied = failing(&target, nth, || {
        copy_with(&store.0.env, &target, Meta::transaction_of, |copy| {
            fs::create_dir(copy.join("keys")).unwrap();
            fs::write(copy.join("keys/root"), "key").unwrap();
            Ok(())
        })
    });
    (dir, target, copied.unwrap_err())
}

#[test]
fn a_copy_whose_keys_are_not_flushed_is_not_made() {
    let (_dir, target, error) = copy_failing(1);
    is_unflushed(&error);
    assert!(entries(&target).is_empty());
}

#[test]
fn a_copy_whose_name_is_not_flushed_is_an_error_and_keeps_its_keys() {
    let (_dir, target, error) = copy_failing(2);
    is_unflushed(&error);
    assert!(error.to_string().contains("the copy is there and whole"), "{error}");
    assert_eq!(marks(&target), 1);
    let copy = open_store(&target).unwrap();
    assert_eq!(copy.read_all(), 1);
    assert_eq!(entries(&target), ["data.mdb", "keys", "lock.mdb"]);
    assert_eq!(fs::read_to_string(target.join("keys/root")).unwrap(), "key");
}

#[test]
fn a_target_with_a_store_is_taken_whatever_its_flush_does() {
    let dir = scratch();
    let [path, target] = ["store", "copy"].map(|name| dir.path().join(name));
    let store = open_store(&path).unwrap();
    drop(open_store(&target).unwrap());
    let error = failing(&target, 1, || copy_to(&store.0.env, &target)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TargetExists, "{error}");
}
