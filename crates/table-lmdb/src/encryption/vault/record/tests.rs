use table_engine::crypt::{Scope, SecretKey};
use table_engine::sealing::job::Progress;

use super::*;

/// Whatever is not the very record is refused.
fn frozen<T: PartialEq + std::fmt::Debug>(value: &T, record: &[u8], decode: impl Fn(&[u8]) -> Result<T>) {
    assert_eq!(&decode(record).unwrap(), value);
    for bit in 0..record.len() * 8 {
        let mut flipped = record.to_vec();
        flipped[bit / 8] ^= 1 << (bit % 8);
        assert!(decode(&flipped).is_err(), "bit {bit}");
    }
    for length in 0..record.len() {
        assert!(decode(&record[..length]).is_err(), "length {length}");
    }
}

#[test]
fn records_survive_and_every_flipped_bit_is_seen() {
    let set_digest = RecordCounts { keys: 3, scopes: 2, jobs: 1, digest: u64::MAX };
    let meta =
        Meta { identity: [7; 16], root: 0x1234, generation: 9, is_new: false, transaction: 11, set_digest };
    frozen(&meta, &meta.encode(), Meta::decode);

    let authenticator = MacKeyRecord { check: [9; 32], wrapped: vec![5; 88] };
    frozen(&authenticator, &authenticator.encode(), MacKeyRecord::decode);

    let key = key_key(KeyHandle(0x0102));
    assert_eq!(handle_of(&key).unwrap(), KeyHandle(0x0102));
    assert!(is_key(&key));
    let alive = State::Alive { check: [9; 32], wrapped: vec![5; 88] };
    for state in [alive, State::Shredded, State::Superseded] {
        let record = KeyRecord { version: 2, made: Ticks::UNIX_EPOCH, state };
        frozen(&record, &record.encode(&key), |bytes| KeyRecord::decode(&key, bytes));
    }

    let authenticator = MacKey::new(&SecretKey::generate().unwrap());
    let key = scope_key(&authenticator, Scope::table(3).as_bytes());
    let scope = ScopeRecord { latest: 4, keys: vec![(3, KeyHandle(8)), (4, KeyHandle(9))] };
    assert_eq!(scope.current(), Some(KeyHandle(9)));
    frozen(&scope, &scope.encode(&authenticator, &key), |bytes| {
        ScopeRecord::decode(&authenticator, &key, bytes)
    });

    let key = job_key("re-encrypt Company");
    for position in [None, Some(("Sales".to_owned(), "empid_000001".to_owned()))] {
        let progress = Progress { position, seen: 5, changed: 3, generation: 7 };
        frozen(&progress, &progress::encode(&progress, &key), |bytes| progress::decode(&key, bytes));
    }
}

#[test]
fn who_lacks_the_authority_writes_no_scopes_record() {
    let [authenticator, other] = [(); 2].map(|()| MacKey::new(&SecretKey::generate().unwrap()));
    let (scope, elsewhere) = (Scope::table(3), Scope::table(4));
    let key = scope_key(&authenticator, scope.as_bytes());
    assert_ne!(key, scope_key(&other, scope.as_bytes()), "not even its name");
    let record = ScopeRecord { latest: 4, keys: vec![(4, KeyHandle(9))] };
    let refused = |record: &[u8]| {
        ScopeRecord::decode(&authenticator, &key, record).unwrap_err().kind() == ErrorKind::DecryptionFailed
    };
    assert!(refused(&record.encode(&other, &key)));
    // Another scope's, with a checksum that fits here.
    let of_other = record.encode(&authenticator, &scope_key(&authenticator, elsewhere.as_bytes()));
    assert!(refused(&sealed(&key, of_other[..of_other.len() - meta::CHECKSUM].to_vec())));
    let mut redirected = record.encode(&authenticator, &key);
    redirected.truncate(redirected.len() - meta::CHECKSUM);
    redirected[8] ^= 1;
    assert!(refused(&sealed(&key, redirected)));
}

#[test]
fn a_tally_takes_back_what_it_was_given() {
    let records = [(&b"k1"[..], 1_u8), (b"k2", 2), (b"s1", 3), (b"j1", 4), (b"a", 5)];
    let record = |number: u8| sealed(b"x", vec![number]);
    let mut set_digest = RecordCounts::default();
    for (key, number) in &records {
        set_digest.add(key, &record(*number));
    }
    assert_eq!((set_digest.keys, set_digest.scopes, set_digest.jobs, set_digest.records()), (2, 1, 1, 4));
    assert_ne!(set_digest.digest, 0);
    for (key, number) in &records {
        set_digest.remove(key, &record(*number));
    }
    assert_eq!(set_digest, RecordCounts::default());
}
