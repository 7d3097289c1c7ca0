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
            assert!(file::open_again(&flipped, &ring.protection).is_err(), "bit {bit}");
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
    let sum = xxhash_rust::xxh3::xxh3_64(&bytes[..at]);
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

#[test]
fn nothing_shows_a_key() {
    let (_dir, path) = scratch();
    let ring = quick(&path);
    let key = ring.contents().newest_key();
    let contents = format!("{:?}", *ring.contents());
    let shown = format!("{ring:?} {:?} {contents}", ring.protection);
    let hex = format!("{:x}", uuid::Uuid::from_slice(&key[..16]).unwrap().simple());
    assert!(!shown.contains(&hex) && !shown.contains(&format!("{key:?}")), "{shown}");
}
