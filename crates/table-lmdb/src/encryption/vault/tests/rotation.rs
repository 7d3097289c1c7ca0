//! Keys that follow one another, and the jobs that seal anew.

use super::*;

#[test]
fn a_rotated_key_seals_and_the_old_one_still_opens() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let (company, encryption) = (table(&store), store.encryption().unwrap());
    let peer = scratch.peer(&store);
    let cell = company.cell("Sales", "1", "Ssn").unwrap();
    let old = encryption.seal(&cell, SSN).unwrap();
    assert!(peer.open(&cell, &old).is_ok());
    let (old_key, generation) = (KeyHandle::of(&old).unwrap(), peer.generation().unwrap());
    let old_token = encryption.token(&cell, TokenScope::Partition, SSN).unwrap();

    let new_key = encryption.rotate(&Scope::store()).unwrap();
    assert!(peer.generation().unwrap() > generation);
    // Both seal with the new key at once, though the other remembered the old one.
    for one in [encryption, &peer] {
        let sealed = one.seal(&cell, SSN).unwrap();
        assert_eq!(KeyHandle::of(&sealed), Some(new_key));
        assert_eq!(one.open(&cell, &old).unwrap().as_value_ref(), SSN);
        let tokens = one.tokens(&cell, TokenScope::Partition, SSN).unwrap();
        assert_eq!(tokens[0], one.token(&cell, TokenScope::Partition, SSN).unwrap());
        assert_eq!(tokens[1..], [old_token]);
    }
    // The current key is not destroyed by itself, nor one that there isn't.
    assert_eq!(kind(encryption.destroy(new_key)), ErrorKind::KeyUnavailable);
    assert_eq!(kind(encryption.destroy(KeyHandle(1))), ErrorKind::KeyUnavailable);
    let resealed = encryption.reseal(&cell, &old).unwrap().unwrap();
    assert_eq!(encryption.reseal(&cell, &resealed).unwrap(), None);
    encryption.destroy(old_key).unwrap();
    for one in [encryption, &peer] {
        assert_eq!(one.open(&cell, &resealed).unwrap().as_value_ref(), SSN);
        assert_eq!(kind(one.open(&cell, &old)), ErrorKind::KeySuperseded);
        assert_eq!(one.tokens(&cell, TokenScope::Partition, SSN).unwrap().len(), 1);
        assert_eq!(one.keys().unwrap().len(), 1);
    }
}

#[test]
fn versions_wrap_around_only_where_tokens_stay_apart() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let encryption = store.encryption().unwrap();
    for _ in 0..256 {
        encryption.rotate(&Scope::store()).unwrap();
    }
    let error = encryption.rotate(&Scope::store()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::KeyUnavailable);
    assert!(error.to_string().contains("`Encryption::destroy_unused`"), "{error}");
    let oldest = encryption.keys().unwrap().remove(0).handle;
    encryption.destroy(oldest).unwrap();
    encryption.rotate(&Scope::store()).unwrap();
}

#[test]
fn a_job_is_found_where_it_was_broken_off() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let encryption = store.encryption().unwrap();
    assert_eq!(encryption.progress("re-encrypt").unwrap(), None);
    let progress = Progress {
        position: Some(("Sales".to_owned(), "empid_000001".to_owned())),
        seen: 500,
        changed: 499,
        generation: 3,
    };
    encryption.save_progress("re-encrypt", Some(&progress)).unwrap();
    assert_eq!(encryption.progress("re-encrypt").unwrap(), Some(progress.clone()));
    assert_eq!(scratch.peer(&store).progress("re-encrypt").unwrap(), Some(progress));
    encryption.save_progress("re-encrypt", None).unwrap();
    assert_eq!(encryption.progress("re-encrypt").unwrap(), None);
    assert_eq!(kind(encryption.progress("")), ErrorKind::InvalidKey);
    assert_eq!(kind(encryption.save_progress(&"x".repeat(257), None)), ErrorKind::InvalidKey);
}

#[test]
fn jobs_of_two_names_keep_out_of_each_others_way() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let encryption = store.encryption().unwrap();
    let far = |seen| Progress { seen, ..Progress::default() };
    for (name, seen) in [("one", 1), ("two", 2), ("o", 3)] {
        encryption.save_progress(name, Some(&far(seen))).unwrap();
    }
    encryption.save_progress("o", None).unwrap();
    assert_eq!(
        ["one", "two", "o"].map(|name| encryption.progress(name).unwrap()),
        [Some(far(1)), Some(far(2)), None]
    );
}

#[test]
fn a_jobs_name_has_1_to_256_bytes() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let encryption = store.encryption().unwrap();
    let longest = "x".repeat(256);
    encryption.save_progress(&longest, Some(&Progress::default())).unwrap();
    assert_eq!(encryption.progress(&longest).unwrap(), Some(Progress::default()));
    for name in ["", &"x".repeat(257), &"\u{e9}".repeat(129)] {
        let errors =
            [encryption.progress(name).unwrap_err(), encryption.save_progress(name, None).unwrap_err()];
        for error in errors {
            assert_eq!(error.kind(), ErrorKind::InvalidKey);
            assert!(error.to_string().contains(&format!("1 to 256 bytes, not {}", name.len())), "{error}");
        }
    }
}

#[test]
fn many_scopes_are_listed_and_rotated() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let (company, encryption) = (table(&store), store.encryption().unwrap());
    assert_eq!(encryption.rotate_all().unwrap(), 0);
    let count = 300;
    for number in 0..count {
        encryption.rotate(&company.partition_key_scope(&format!("{number:04}")).unwrap()).unwrap();
    }
    let names = |encryption: &Encryption| -> Vec<_> {
        let keys = encryption.keys().unwrap();
        keys.iter().map(|key| (key.scope.to_string(), key.version, key.current)).collect()
    };
    let expected = |number| format!("partition `{number:04}` of table 1");
    assert_eq!(names(encryption), (0..count).map(|number| (expected(number), 1, true)).collect::<Vec<_>>());
    // Whose keys were destroyed gets none before it needs one.
    encryption.shred(&company.partition_key_scope("0001").unwrap()).unwrap();
    let generation = encryption.generation().unwrap();
    assert_eq!(encryption.rotate_all().unwrap(), count - 1);
    assert_eq!(encryption.generation().unwrap(), generation + count - 1);
    let rotated = (0..count).filter(|number| *number != 1);
    let both = rotated.flat_map(|number| [(expected(number), 1, false), (expected(number), 2, true)]);
    assert_eq!(names(&scratch.peer(&store)), both.collect::<Vec<_>>());
}
