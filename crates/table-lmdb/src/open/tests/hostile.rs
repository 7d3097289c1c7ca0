//! What lies under the names of a store's files and is not theirs, and headers that lie.

use super::*;

/// What a test puts into the place of the lock file.
fn plant(dir: &Path, kind: &str) -> PathBuf {
    let lock = dir.join("lock.mdb");
    let target = dir.join("precious");
    fs::write(&target, "precious").unwrap();
    fs::remove_file(&lock).unwrap_or_default();
    match kind {
        "a symbolic link" => std::os::unix::fs::symlink(&target, &lock).unwrap(),
        "a dangling link" => std::os::unix::fs::symlink(dir.join("nothing"), &lock).unwrap(),
        "a hard link" => fs::hard_link(&target, &lock).unwrap(),
        "a directory" => fs::create_dir(&lock).unwrap(),
        "a pipe" => assert!(Command::new("mkfifo").arg(&lock).status().unwrap().success()),
        "a socket" => drop(std::os::unix::net::UnixListener::bind(&lock).unwrap()),
        kind => panic!("{kind}"),
    }
    target
}

#[test]
fn what_is_no_lock_file_is_refused_and_left_as_it_is() {
    for kind in ["a symbolic link", "a dangling link", "a hard link", "a directory", "a pipe", "a socket"] {
        let dir = scratch();
        drop(open_store(dir.path()).unwrap());
        let target = plant(dir.path(), kind);
        let before = fs::read(dir.path().join(DATA)).unwrap();
        for _ in 0..2 {
            let error = open_store(dir.path()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Incompatible, "{kind}: {error}");
            let text = error.to_string();
            assert!(text.contains("lock.mdb") && text.contains("remove it"), "{kind}: {text}");
        }
        assert_eq!(fs::read_to_string(&target).unwrap(), "precious", "{kind}");
        assert!(!dir.path().join("nothing").exists(), "{kind}");
        assert_eq!(fs::read(dir.path().join(DATA)).unwrap(), before, "{kind}");
        // Without it the store is as it was.
        let lock = dir.path().join("lock.mdb");
        if kind == "a directory" { fs::remove_dir(lock) } else { fs::remove_file(lock) }.unwrap();
        drop(open_store(dir.path()).unwrap());
    }
}

/// Sets a field of both header pages.
fn patch_headers(data: &Path, offset: usize, change: impl Fn(u64) -> u64) {
    let mut bytes = fs::read(data).unwrap();
    for page in [0, 4_096] {
        let field: &mut [u8; 8] = (&mut bytes[page + offset..page + offset + 8]).try_into().unwrap();
        *field = change(u64::from_le_bytes(*field)).to_le_bytes();
    }
    fs::write(data, bytes).unwrap();
}

/// Where a header page has its last page's number.
const LAST_PAGE: usize = 16 + 120;

#[test]
fn a_header_with_pages_that_no_map_has_is_damaged() {
    for bit in 28..50 {
        let dir = scratch();
        drop(varied(dir.path()));
        let data = dir.path().join(DATA);
        patch_headers(&data, LAST_PAGE, |page| page ^ 1 << bit);
        let before = fs::read(&data).unwrap();
        let error = open_store(dir.path()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{bit}: {error}");
        assert!(error.to_string().contains("is damaged: its last page is number"), "{bit}: {error}");
        assert_eq!(fs::read(&data).unwrap(), before);
    }
}

#[test]
fn a_header_with_pages_that_the_file_lacks_and_that_are_not_free_is_damaged() {
    let makers: [fn(&Path) -> Arc<Handle>; 2] = [varied, rightly_short];
    for rightly in makers {
        for bit in 10..28 {
            let dir = scratch();
            // Where there is little address space, a map is smaller.
            let map_pages = rightly(dir.path()).0.env.info().map_size / 4_096;
            let words = if 1 << bit < map_pages { "neither used nor free" } else { "and it may grow to" };
            let data = dir.path().join(DATA);
            patch_headers(&data, LAST_PAGE, |page| page | 1 << bit);
            let error = open_store(dir.path()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{bit}: {error}");
            assert!(error.to_string().contains(words), "{bit}: {error}");
            patch_headers(&data, LAST_PAGE, |page| page & !(1 << bit));
            drop(open_store(dir.path()).unwrap());
        }
    }
}
