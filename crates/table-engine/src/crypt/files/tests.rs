use super::*;

fn scratch() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("keys");
    (dir, path)
}

fn kind<T>(result: Result<T>) -> ErrorKind {
    result.err().expect("it was refused").kind()
}

fn entries(dir: &Path) -> usize {
    fs::read_dir(dir).unwrap().count()
}

#[test]
fn a_file_is_made_once_and_is_its_owners_alone() {
    let (dir, path) = scratch();
    create(&path, b"one").unwrap();
    check_private(&path).unwrap();
    assert_eq!(kind(create(&path, b"two")), ErrorKind::TargetExists);
    assert_eq!(**read(&path).unwrap().unwrap(), *b"one");
    assert_eq!(entries(dir.path()), 1, "nothing is left of what was refused");
    assert_eq!(kind(create(&dir.path().join("missing/keys"), b"one")), ErrorKind::Io);
}

#[test]
fn what_is_replaced_or_wiped_is_overwritten() {
    let (dir, path) = scratch();
    create(&path, b"one").unwrap();
    // A process that has it open sees what becomes of its bytes.
    let previous = File::open(&path).unwrap();
    replace(&path, b"three").unwrap();
    assert_eq!(**contents(&previous).unwrap(), [0; 3]);
    let last = File::open(&path).unwrap();
    assert_eq!(**contents(&last).unwrap(), *b"three");
    let last = File::open(&path).unwrap();
    wipe(&path).unwrap();
    assert_eq!(**contents(&last).unwrap(), [0; 5]);
    assert!(read(&path).unwrap().is_none());
    wipe(&path).unwrap();
    assert_eq!(kind(replace(&path, b"four")), ErrorKind::Io);
    assert_eq!(entries(dir.path()), 0);
}

#[cfg(unix)]
#[test]
fn what_has_another_name_is_not_overwritten() {
    let (dir, path) = scratch();
    let [twin, link, other] = ["twin", "link", "other"].map(|name| dir.path().join(name));
    create(&path, b"one").unwrap();
    fs::hard_link(&path, &twin).unwrap();
    std::os::unix::fs::symlink(&path, &link).unwrap();
    for name in [&twin, &link] {
        wipe(name).unwrap();
        assert!(fs::symlink_metadata(name).is_err());
        assert_eq!(fs::read(&path).unwrap(), b"one");
    }
    wipe_beside(&path.with_file_name("./keys"), &path).unwrap();
    assert!(!path.exists());

    create(&path, b"two").unwrap();
    fs::hard_link(&path, &twin).unwrap();
    let error = replace(&path, b"three").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::KeyUnavailable);
    assert!(error.to_string().contains("2 names, by hard links"), "{error}");
    assert_eq!(fs::read(&twin).unwrap(), b"two");
    assert_eq!(entries(dir.path()), 2, "nothing is left of what was refused");
    fs::rename(&twin, &other).unwrap();
    wipe(&path).unwrap();
    assert_eq!(fs::read(&other).unwrap(), b"two", "what is a copy by a hard link stays");

    // Behind a link nothing could be replaced.
    std::os::unix::fs::symlink(&other, &link).unwrap();
    let error = read(&link).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::KeyUnavailable);
    assert!(error.to_string().contains("is a symbolic link"), "{error}");
}

#[test]
fn left_overs_of_a_file_go_and_nothing_else_does() {
    let (dir, path) = scratch();
    create(&path, b"one").unwrap();
    let beside = |name: &str| dir.path().join(name);
    let (half, twin) = (beside("keys.new-0123456789abcdef"), beside("keys.new-fedcba9876543210"));
    fs::write(&half, "half").unwrap();
    fs::hard_link(&path, &twin).unwrap();
    let others = ["keys.new-0123456789abcdef0", "keys.new-mine", "keys2.new-0123456789abcdef", "keys.lock"];
    for name in others {
        fs::write(beside(name), "mine").unwrap();
    }
    let open = File::open(&half).unwrap();
    wipe_left_overs(&path).unwrap();
    assert_eq!(**contents(&open).unwrap(), [0; 4], "a key that nobody has");
    assert!(!half.exists() && !twin.exists());
    assert_eq!(fs::read(&path).unwrap(), b"one");
    assert!(others.iter().all(|name| fs::read(beside(name)).unwrap() == b"mine"));
    assert_eq!(kind(wipe_left_overs(&dir.path().join("missing/keys"))), ErrorKind::Io);
}

#[test]
fn a_file_with_a_name_of_its_own_is_made_where_nothing_is() {
    let (dir, path) = scratch();
    create_named(&path, b"one").unwrap();
    check_private(&path).unwrap();
    assert_eq!(kind(create_named(&path, b"two")), ErrorKind::TargetExists);
    assert_eq!(**read(&path).unwrap().unwrap(), *b"one");
    assert_eq!(entries(dir.path()), 1);
}

#[cfg(unix)]
#[test]
fn what_is_read_of_a_file_that_was_replaced_meanwhile_is_not_believed() {
    let (_dir, path) = scratch();
    create(&path, b"one").unwrap();
    let previous = File::open(&path).unwrap();
    assert!(is_named(&previous, &path).unwrap());
    replace(&path, b"two").unwrap();
    assert!(!is_named(&previous, &path).unwrap());
    assert_eq!(**contents(&previous).unwrap(), [0; 3], "such a reader finds what it was overwritten with");
    assert_eq!(**read(&path).unwrap().unwrap(), *b"two");
    // Nor of one whose place can't be looked at.
    assert!(is_named(&previous, &path.join("below")).is_err());
    wipe(&path).unwrap();
    assert!(!is_named(&previous, &path).unwrap());
}

#[test]
fn a_reader_finds_one_whole_file_or_another_while_they_are_replaced() {
    let (_dir, path) = scratch();
    create(&path, &[1; 4_096]).unwrap();
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for round in 2..100 {
                replace(&path, &[round; 4_096]).unwrap();
            }
        });
        while !writer.is_finished() {
            let bytes = read(&path).unwrap().unwrap();
            assert!(bytes.len() == 4_096 && bytes[0] != 0 && bytes.iter().all(|byte| *byte == bytes[0]));
        }
    });
}

#[test]
fn a_directory_can_not_be_read_as_a_file() {
    let (dir, _) = scratch();
    let error = read(dir.path()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::KeyUnavailable);
    assert!(error.to_string().contains("is not a file"), "{error}");
    #[cfg(unix)]
    assert_eq!(kind(check_private(&dir.path().join("missing"))), ErrorKind::Io);
}

#[test]
fn what_is_no_file_is_an_error_and_not_an_absence() {
    let (dir, path) = scratch();
    create(&path, b"one").unwrap();
    let below = path.join("below");
    for error in [read(&below).unwrap_err(), wipe(&below).unwrap_err(), wipe(dir.path()).unwrap_err()] {
        assert_eq!(error.kind(), ErrorKind::Io);
        assert!(error.to_string().contains(dir.path().to_str().unwrap()), "{error}");
    }
}

#[test]
fn what_the_system_refuses_has_a_kind() {
    for (io, expected) in [
        (io::ErrorKind::StorageFull, ErrorKind::DiskFull),
        (io::ErrorKind::QuotaExceeded, ErrorKind::DiskFull),
        (io::ErrorKind::AlreadyExists, ErrorKind::TargetExists),
        (io::ErrorKind::PermissionDenied, ErrorKind::Io),
    ] {
        assert_eq!(failed("making", Path::new("keys"), io.into()).kind(), expected);
    }
}

#[test]
fn a_file_without_a_directory_lies_in_the_current_one() {
    sync_directory(Path::new("keys")).unwrap();
}

#[cfg(unix)]
#[cfg_attr(not(target_os = "linux"), ignore = "pipes have been tried on Linux alone")]
#[test]
fn what_is_no_file_is_refused_and_not_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let pipe = dir.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for path in [dir.path(), &*pipe] {
        let error = read(path).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::KeyUnavailable);
        assert!(error.to_string().contains("is not a file"), "{error}");
    }
}
