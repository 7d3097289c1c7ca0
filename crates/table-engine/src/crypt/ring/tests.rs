use super::*;

fn scratch() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("keys");
    (dir, path)
}

fn quick(path: &Path) -> KeyRing {
    KeyRing::make(path, || Protection::with_passphrase("open sesame", Cost::LEAST)).unwrap()
}

fn wraps(ring: &KeyRing, by: &KeyRing) {
    let (id, key) = (ring.current().unwrap(), SecretKey::generate().unwrap());
    let wrapped = ring.wrap(&id, &key, b"context").unwrap();
    assert_eq!(by.unwrap(&id, &wrapped, b"context").unwrap().expose(), key.expose());
    assert!(by.unwrap(&id, &wrapped, b"other").unwrap_err().is_refused());
}

#[test]
fn a_ring_is_found_again_with_its_keys() {
    for passphrase in [None, Some("open sesame")] {
        let (_dir, path) = scratch();
        let ring = if passphrase.is_some() { quick(&path) } else { KeyRing::create(&path).unwrap() };
        let again = KeyRing::load(&path, passphrase).unwrap();
        wraps(&ring, &again);
        // A key that one handle makes, the other finds.
        let (old, new) = (ring.current().unwrap(), ring.rotate().unwrap());
        assert_eq!(again.current().unwrap(), new);
        wraps(&ring, &again);
        assert_eq!(ring.remove(&new).unwrap_err().kind(), ErrorKind::KeyUnavailable);
        ring.remove(&old).unwrap();
        assert_eq!(ring.remove(&old).unwrap_err().kind(), ErrorKind::KeyUnavailable);
        assert_eq!(KeyRing::load(&path, passphrase).unwrap().ids(), [new]);
        assert_eq!(KeyRing::create(&path).unwrap_err().kind(), ErrorKind::TargetExists);
        let left = std::fs::read_dir(path.parent().unwrap()).unwrap().count();
        assert_eq!(left, 2, "the ring and its lock, and nothing unfinished");
    }
}

#[test]
fn the_wrong_passphrase_or_none_is_told_apart() {
    let (_dir, path) = scratch();
    quick(&path);
    let refused = |passphrase| KeyRing::load(&path, passphrase).unwrap_err();
    assert!(refused(Some("open says me")).to_string().ends_with("the passphrase is not the key ring's"));
    assert!(refused(None).to_string().contains("has a passphrase"));
    std::fs::remove_file(&path).unwrap();
    assert!(refused(None).to_string().contains("there is no key ring"));
    KeyRing::create(&path).unwrap();
    assert!(refused(Some("x")).to_string().contains("has no passphrase"));
    assert!(Protection::with_passphrase("", Cost::LEAST).is_err());
}

#[test]
fn every_flipped_bit_and_every_cut_is_refused() {
    for sealed in [false, true] {
        let (_dir, path) = scratch();
        let ring = if sealed { quick(&path) } else { KeyRing::create(&path).unwrap() };
        let bytes = std::fs::read(&path).unwrap();
        let passphrase = sealed.then_some("open sesame");
        file::open(&bytes, passphrase).unwrap();
        for bit in 0..bytes.len() * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(file::open(&flipped, passphrase).is_err(), "bit {bit}");
            assert!(file::open_again(&flipped, &ring.protection()).is_err(), "bit {bit}");
        }
        for length in 0..bytes.len() {
            assert!(file::open(&bytes[..length], passphrase).is_err(), "length {length}");
        }
    }
}

#[test]
fn a_file_that_asks_for_all_memory_is_refused() {
    let (_dir, path) = scratch();
    quick(&path);
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[10..14].copy_from_slice(&u32::MAX.to_le_bytes());
    let at = bytes.len() - 8;
    let sum = crate::hash::xxh3_64(&bytes[..at]);
    bytes[at..].copy_from_slice(&sum.to_le_bytes());
    assert_eq!(file::open(&bytes, Some("open sesame")).unwrap_err().kind(), ErrorKind::Corrupt);
}

#[cfg(unix)]
#[test]
fn a_file_that_others_can_read_is_refused() {
    use std::os::unix::fs::PermissionsExt;

    let (_dir, path) = scratch();
    KeyRing::create(&path).unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    for mode in [0o640, 0o604, 0o660, 0o644] {
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        let error = KeyRing::open(&path).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::KeyUnavailable);
        assert!(error.to_string().contains("chmod 600"), "{error}");
    }
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o400)).unwrap();
    KeyRing::open(&path).unwrap();
}

#[test]
fn two_who_change_a_ring_at_once_lose_nothing() {
    let (_dir, path) = scratch();
    KeyRing::create(&path).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let ring = KeyRing::open(&path).unwrap();
                for _ in 0..8 {
                    ring.rotate().unwrap();
                }
            });
        }
    });
    assert_eq!(KeyRing::open(&path).unwrap().ids().len(), 33);
}

#[test]
fn a_ring_opens_whole_while_another_changes_it() {
    let (_dir, path) = scratch();
    let ring = KeyRing::create(&path).unwrap();
    let reader = KeyRing::open(&path).unwrap();
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for _ in 0..50 {
                let old = ring.current().unwrap();
                ring.rotate().unwrap();
                ring.remove(&old).unwrap();
            }
        });
        while !writer.is_finished() {
            KeyRing::open(&path).unwrap();
            reader.current().unwrap();
        }
    });
    assert_eq!(reader.current().unwrap(), ring.current().unwrap());
}

/// Returns a file of these bytes, with the checksum that they have.
fn checked(body: &[u8]) -> Vec<u8> {
    [body, &crate::hash::xxh3_64(body).to_le_bytes()].concat()
}

/// Returns the file of a ring without a passphrase that holds so many keys.
fn ring_of(keys: u64) -> Vec<u8> {
    let entries = (0..keys).flat_map(|at| [&[7; 8][..], &at.to_be_bytes(), &[9; SecretKey::BYTES]].concat());
    checked(&b"tablekey\x01\x00".iter().copied().chain(entries).collect::<Vec<_>>())
}

#[test]
fn a_passphrase_is_stretched_as_the_documentation_says() {
    let (_dir, path) = scratch();
    let ring = KeyRing::create_with_passphrase(&path, "correct horse").unwrap();
    wraps(&ring, &KeyRing::open_with_passphrase(&path, "correct horse").unwrap());
    let bytes = std::fs::read(&path).unwrap();
    let numbers: Vec<_> =
        bytes[10..22].chunks(4).map(|number| u32::from_le_bytes(number.try_into().unwrap())).collect();
    assert_eq!(numbers, [64 * 1024, 3, 1], "KiB, passes, lanes");
}

#[test]
fn what_a_passphrase_may_cost_has_bounds() {
    let (_dir, path) = scratch();
    quick(&path);
    let bytes = std::fs::read(&path).unwrap();
    let refused = |memory: u32, passes: u32, lanes: u32| {
        let mut body = bytes[..bytes.len() - 8].to_vec();
        for (at, number) in [(10, memory), (14, passes), (18, lanes)] {
            body[at..at + 4].copy_from_slice(&number.to_le_bytes());
        }
        file::open(&checked(&body), Some("open sesame")).unwrap_err()
    };
    let mib = 1 << 10;
    for (memory, passes, lanes) in [
        (1 << 20, 3, 1),
        (64 * mib + 1, 3, 1),
        (64 * mib, 4, 1),
        (64 * mib, 3, 2),
        (u32::MAX, u32::MAX, u32::MAX),
        // Less could be guessed, or can't be done at all.
        (64 * mib - 1, 3, 1),
        (64 * mib, 2, 1),
        (7, 1, 1),
        (8, 0, 1),
        (8, 1, 0),
    ] {
        let begun = std::time::Instant::now();
        let error = refused(memory, passes, lanes);
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{memory} {passes} {lanes}");
        assert!(error.to_string().contains(&format!("asks for {memory} KiB, {passes} passes")), "{error}");
        assert!(begun.elapsed().as_millis() < 50, "it was stretched");
    }
    // What is asked for is done; the key that it gives is another one.
    assert!(refused(64 * mib, 3, 1).to_string().ends_with("is not the key ring's"));
}

#[test]
fn a_file_whose_checksum_fits_is_still_taken_apart_with_care() {
    for sealed in [false, true] {
        let (_dir, path) = scratch();
        let ring = if sealed { quick(&path) } else { KeyRing::create(&path).unwrap() };
        let bytes = std::fs::read(&path).unwrap();
        let (body, passphrase) = (&bytes[..bytes.len() - 8], sealed.then_some("open sesame"));
        for length in 0..body.len() {
            let cut = checked(&body[..length]);
            assert!(file::open(&cut, passphrase).is_err(), "length {length}");
            assert!(file::open_again(&cut, &ring.protection()).is_err(), "length {length}");
        }
        assert!(file::open(&checked(&[body, &[0]].concat()), passphrase).is_err());
        for (at, other, kind) in
            [(0, b'T', ErrorKind::Incompatible), (8, 2, ErrorKind::Incompatible), (9, 2, ErrorKind::Corrupt)]
        {
            let mut changed = body.to_vec();
            changed[at] = other;
            assert_eq!(file::open(&checked(&changed), passphrase).unwrap_err().kind(), kind, "byte {at}");
        }
    }
    assert_eq!(file::open(&ring_of(0), None).unwrap_err().kind(), ErrorKind::Corrupt);
}

#[test]
fn keys_are_written_without_growing_so_that_none_is_left_behind() {
    let (protection, contents) = file::open(&ring_of(1_000), None).unwrap();
    let bytes = file::encode(&protection, &contents).unwrap();
    assert_eq!(*bytes, ring_of(1_000));
    assert!(bytes.capacity() <= bytes.len() + 128, "{} for {}", bytes.capacity(), bytes.len());
}

#[test]
fn a_ring_has_room_for_a_thousand_keys() {
    let (_dir, path) = scratch();
    files::create(&path, &ring_of(999)).unwrap();
    let ring = KeyRing::open(&path).unwrap();
    ring.rotate().unwrap();
    assert_eq!(ring.ids().len(), 1_000);
    let error = ring.rotate().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::KeyUnavailable);
    assert!(error.to_string().starts_with("cannot add a key to the key ring: "), "{error}");
    assert!(error.to_string().contains("1000") && error.to_string().contains("remove old ones"), "{error}");
    assert_eq!(KeyRing::open(&path).unwrap().ids().len(), 1_000);
    assert_eq!(file::open(&ring_of(1_001), None).unwrap_err().kind(), ErrorKind::Corrupt);
}

#[test]
fn a_key_that_another_handle_made_is_found_without_asking_for_the_current_one() {
    let (_dir, path) = scratch();
    let (ring, key) = (KeyRing::create(&path).unwrap(), SecretKey::generate().unwrap());
    let again = KeyRing::open(&path).unwrap();
    let id = ring.rotate().unwrap();
    let wrapped = ring.wrap(&id, &key, b"context").unwrap();
    assert_eq!(again.unwrap(&id, &wrapped, b"context").unwrap().expose(), key.expose());
    assert_eq!(again.ids(), ring.ids());
    let unknown = KeyId::new(uuid::Uuid::nil().to_string()).unwrap();
    for id in [unknown, KeyId::new("no key's name").unwrap()] {
        assert!(again.wrap(&id, &key, b"context").unwrap_err().is_not_found());
        assert!(again.unwrap(&id, &wrapped, b"context").unwrap_err().is_not_found());
        assert!(again.remove(&id).unwrap_err().to_string().contains("has no such key"));
    }
    assert_eq!(again.ids().len(), 2, "what was not found changes nothing");
}

#[test]
fn a_ring_whose_file_is_gone_or_anothers_says_so() {
    let (dir, path) = scratch();
    let ring = quick(&path);
    let (old, key) = (ring.current().unwrap(), SecretKey::generate().unwrap());
    std::fs::remove_file(&path).unwrap();
    let other = KeyId::new(uuid::Uuid::nil().to_string()).unwrap();
    let errors = || {
        [
            Error::from(ring.current().unwrap_err()),
            Error::from(ring.wrap(&other, &key, b"context").unwrap_err()),
            ring.rotate().unwrap_err(),
            ring.remove(&other).unwrap_err(),
        ]
    };
    for error in errors() {
        assert_eq!(error.kind(), ErrorKind::KeyUnavailable);
        assert!(error.to_string().contains("there is no key ring at"), "{error}");
    }
    // One with another passphrase, or none, in its place.
    for other in [quick, |path: &Path| KeyRing::create(path).unwrap()] {
        drop(other(&path));
        for error in errors() {
            assert_eq!(error.kind(), ErrorKind::KeyUnavailable);
            assert!(error.to_string().contains("another key ring has taken"), "{error}");
        }
        // The keys that it had serve on.
        wraps_by(&ring, &old, &key);
        std::fs::remove_file(&path).unwrap();
    }
    let plain = KeyRing::create(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    quick(&path);
    assert!(plain.rotate().unwrap_err().to_string().contains("another key ring has taken"));
    // A lock that can't be opened.
    std::fs::remove_dir_all(dir.path()).unwrap();
    let error = ring.rotate().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    assert!(error.to_string().contains(".lock"), "{error}");
}

fn wraps_by(ring: &KeyRing, id: &KeyId, key: &SecretKey) {
    let wrapped = ring.wrap(id, key, b"context").unwrap();
    assert_eq!(ring.unwrap(id, &wrapped, b"context").unwrap().expose(), key.expose());
}

#[test]
fn a_ring_is_not_made_where_it_can_not_be() {
    let (dir, path) = scratch();
    assert_eq!(KeyRing::create(path.join("below")).unwrap_err().kind(), ErrorKind::Io);
    let error = KeyRing::create_with_passphrase(&path, "").unwrap_err();
    assert_eq!(error.to_string(), "cannot make the key ring: the passphrase is empty");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    assert_eq!(KeyRing::open(dir.path()).unwrap_err().kind(), ErrorKind::KeyUnavailable);
    // Also a link that leads nowhere is something.
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(dir.path().join("nowhere"), &path).unwrap();
        assert_eq!(KeyRing::create(&path).unwrap_err().kind(), ErrorKind::TargetExists);
    }
}

#[test]
fn nothing_shows_a_key() {
    let (_dir, path) = scratch();
    let ring = quick(&path);
    let key = ring.state().contents.newest_key();
    let contents = format!("{:?}", ring.state().contents);
    let shown = format!("{ring:?} {:?} {contents}", ring.protection());
    assert!(shown.contains(path.to_str().unwrap()) && shown.contains("Entry(SecretKey(..))"), "{shown}");
    assert!(shown.contains(ring.current().unwrap().as_str()), "{shown}");
    let hex = format!("{:x}", uuid::Uuid::from_slice(&key[..16]).unwrap().simple());
    assert!(!shown.contains(&hex) && !shown.contains(&format!("{key:?}")), "{shown}");
}

#[cfg(unix)]
mod places {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    use super::*;

    #[test]
    fn a_ring_behind_a_link_is_changed_where_it_lies() {
        let (dir, path) = scratch();
        std::fs::create_dir(dir.path().join("real")).unwrap();
        let file = dir.path().join("real/ring");
        drop(KeyRing::create(&file).unwrap());
        symlink(&file, &path).unwrap();
        let ring = KeyRing::open(&path).unwrap();
        let new = ring.rotate().unwrap();
        assert!(std::fs::symlink_metadata(&path).unwrap().is_symlink());
        for path in [&path, &file] {
            assert_eq!(KeyRing::open(path).unwrap().current().unwrap(), new);
        }
        assert!(dir.path().join("real/ring.lock").exists());
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2);
        // Where the link leads later is another matter.
        std::fs::remove_file(&path).unwrap();
        ring.rotate().unwrap();
    }

    #[test]
    fn a_ring_with_two_names_opens_and_is_not_changed() {
        let (dir, path) = scratch();
        let ring = KeyRing::create(&path).unwrap();
        let other = dir.path().join("other");
        std::fs::hard_link(&path, &other).unwrap();
        let before = std::fs::read(&path).unwrap();
        let old = ring.current().unwrap();
        for name in [&path, &other] {
            let ring = KeyRing::open(name).unwrap();
            for error in [ring.rotate().unwrap_err(), ring.change_passphrase(None).unwrap_err()] {
                assert_eq!(error.kind(), ErrorKind::KeyUnavailable);
                assert!(error.to_string().contains("2 names"), "{error}");
            }
            assert_eq!(std::fs::read(name).unwrap(), before);
            assert_eq!(ring.ids(), std::slice::from_ref(&old));
        }
        std::fs::remove_file(other).unwrap();
        ring.rotate().unwrap();
        ring.remove(&old).unwrap();
    }

    #[test]
    fn what_a_killed_change_left_goes_with_the_next_one() {
        let (dir, path) = scratch();
        let ring = KeyRing::create(&path).unwrap();
        let left =
            ["keys.new-0123456789abcdef", "keys.new-fedcba9876543210"].map(|name| dir.path().join(name));
        std::fs::write(&left[0], "a key that the ring has not").unwrap();
        // Died between the two names of a new ring.
        std::fs::hard_link(&path, &left[1]).unwrap();
        KeyRing::open(&path).unwrap();
        let new = ring.rotate().unwrap();
        assert!(left.iter().all(|left| !left.exists()));
        assert_eq!(KeyRing::open(&path).unwrap().current().unwrap(), new);
    }

    #[test]
    fn the_lock_is_its_owners_alone() {
        let (_dir, path) = scratch();
        let ring = KeyRing::create(&path).unwrap();
        let lock = path.with_file_name("keys.lock");
        let mode = || std::fs::metadata(&lock).unwrap().mode() & 0o777;
        ring.rotate().unwrap();
        assert_eq!(mode(), 0o600);
        std::fs::set_permissions(&lock, std::fs::Permissions::from_mode(0o644)).unwrap();
        ring.rotate().unwrap();
        assert_eq!(mode(), 0o600);
        // A link to another file is no lock, and the file stays as it is.
        let file = path.with_file_name("file");
        std::fs::write(&file, "mine").unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
        let link = |hard: bool| if hard { std::fs::hard_link(&file, &lock) } else { symlink(&file, &lock) };
        for hard in [false, true] {
            std::fs::remove_file(&lock).unwrap();
            link(hard).unwrap();
            let error = ring.rotate().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::KeyUnavailable);
            assert!(error.to_string().contains("keys.lock` is a link"), "{error}");
            assert_eq!(std::fs::metadata(&file).unwrap().mode() & 0o777, 0o644);
        }
        assert_eq!(ring.ids().len(), 3);
    }

    /// What root changes stays the owner's; where the tests are not root, there is no other owner to give it to.
    #[test]
    fn a_ring_that_root_changes_stays_its_owners() {
        let (_dir, path) = scratch();
        let ring = KeyRing::create(&path).unwrap();
        if std::os::unix::fs::chown(&path, Some(12_345), Some(12_345)).is_err() {
            return;
        }
        let old = ring.current().unwrap();
        ring.rotate().unwrap();
        ring.remove(&old).unwrap();
        ring.change_passphrase(Some("open sesame")).unwrap();
        for name in [&path, &path.with_file_name("keys.lock")] {
            let found = std::fs::metadata(name).unwrap();
            assert_eq!((found.uid(), found.mode() & 0o777), (12_345, 0o600), "{name:?}");
        }
    }
}

#[test]
fn a_passphrase_is_changed_given_and_taken_away() {
    let (_dir, path) = scratch();
    let ring = quick(&path);
    let (other, key) =
        (KeyRing::open_with_passphrase(&path, "open sesame").unwrap(), SecretKey::generate().unwrap());
    let (ids, id) = (ring.ids(), ring.current().unwrap());
    let wrapped = ring.wrap(&id, &key, b"context").unwrap();
    let mut previous = Some("open sesame");
    for new in [Some("correct horse"), None, Some("battery staple"), Some("battery staple"), None, None] {
        ring.change_passphrase(new).unwrap();
        if previous != new {
            assert_eq!(KeyRing::load(&path, previous).unwrap_err().kind(), ErrorKind::KeyUnavailable);
        }
        let again = KeyRing::load(&path, new).unwrap();
        assert_eq!(again.ids(), ids);
        assert_eq!(again.unwrap(&id, &wrapped, b"context").unwrap().expose(), key.expose());
        wraps(&ring, &again);
        previous = new;
    }
    // Nothing is written where the new one is none, and the handle goes on.
    let before = std::fs::read(&path).unwrap();
    let error = ring.change_passphrase(Some("")).unwrap_err();
    assert_eq!(error.to_string(), "cannot change the passphrase of the key ring: the passphrase is empty");
    assert_eq!(std::fs::read(&path).unwrap(), before);
    ring.rotate().unwrap();
    // A ring that is open by the old one keeps what it knows, and learns nothing more.
    assert_eq!(other.unwrap(&id, &wrapped, b"context").unwrap().expose(), key.expose());
    for error in [other.rotate().unwrap_err(), other.change_passphrase(None).unwrap_err()] {
        assert!(error.to_string().contains("or it has another passphrase; open it anew"), "{error}");
    }
    assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 2);
}

#[test]
fn a_passphrase_that_is_changed_leaves_no_key_in_the_clear() {
    let (_dir, path) = scratch();
    let ring = KeyRing::create(&path).unwrap();
    let key = ring.state().contents.newest_key();
    let mut previous = std::fs::File::open(&path).unwrap();
    ring.change_passphrase(Some("open sesame")).unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    io::Read::read_to_end(&mut previous, &mut bytes).unwrap();
    assert!(!bytes.windows(key.len()).any(|window| window == key));
}
