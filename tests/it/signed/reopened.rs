//! What somebody without keys takes away of what says that anything is sealed or signed, before and after an opening that
//! may write: whatever he leaves out, no opening vouches for the rest.

use integration_tests::forge::Forge;
use table_core::{DynamicEntity, ErrorKind, IfMatch, Query, Store};

use super::forged::{Patient, patient, town};
use super::{Account, Bank, account};

/// A table's record without its digest.
fn bare(name: &[u8], body: &[u8]) -> Vec<u8> {
    let mut bare = body[..22 + name.len()].to_vec();
    bare[4..6].copy_from_slice(&[0; 2]);
    bare
}

/// Takes the note that the store has keys, and the digest of the set of tables.
fn forget(forge: &Forge) {
    forge.edit_meta(|body| {
        body[52] &= !1;
        body[100..116].fill(0);
    });
}

/// Takes every table's digest.
fn strip(forge: &Forge) {
    for (name, body) in forge.tables() {
        forge.put_table(&name, &bare(&name, &body));
    }
}

/// Has each of two tables pass for the other: their rows, and what their values are bound to.
fn exchange(forge: &Forge) {
    let tables = forge.tables();
    let record = |name: &[u8]| tables.iter().find(|(known, _)| known == name).unwrap().1.clone();
    let (first, second) = (record(b"bank"), record(b"clinic"));
    let under = |body: &[u8], name: &[u8]| [&body[..4], &[0, 0], &body[6..22], name].concat();
    forge.put_table(b"bank", &under(&second, b"Bank"));
    forge.put_table(b"clinic", &under(&first, b"Clinic"));
}

/// Takes every layout.
fn forget_layouts(forge: &Forge) {
    for (_, body) in forge.tables() {
        let table = u32::from_le_bytes(body[..4].try_into().unwrap());
        for (entry, _) in forge.entries(table).into_iter().filter(|(entry, _)| entry[0] == 4) {
            forge.put_entry(table, &entry, None);
        }
    }
}

/// Takes the digest of every row, and has the accounts be somebody else's.
fn forge_rows(forge: &Forge) {
    for (key, mut image) in forge.rows() {
        if image.digest.take().is_none() {
            continue;
        }
        for (.., value) in image.properties.iter_mut().filter(|(.., value)| value == b"Ann") {
            *value = b"Eve".to_vec();
        }
        forge.put_row(&key, Some(&image));
    }
}

/// Takes something away.
type Edit = fn(&Forge);

/// Every combination of these.
fn forgeries() -> Vec<(String, Vec<Edit>)> {
    let all: [(&str, Edit); 5] = [
        ("no note", forget),
        ("no digests", strip),
        ("tables exchanged", exchange),
        ("no layouts", forget_layouts),
        ("rows forged", forge_rows),
    ];
    let combination = |chosen: u32| {
        let of = all.iter().enumerate().filter(|(at, _)| chosen >> at & 1 == 1).map(|(_, what)| what);
        let (names, edits): (Vec<_>, Vec<_>) = of.copied().unzip();
        (names.join(", "), edits)
    };
    // Forged rows alone leave the tables as they are, and are of another test.
    (1..1 << all.len()).filter(|chosen| chosen & 0b1111 != 0).map(combination).collect()
}

/// Reads all there is, on every path: nothing but what was written is given, and nothing is written in the clear.
fn survey(store: &Store, what: &str) -> usize {
    let mut refused = 0;
    let mut note = |error: table_core::Error| {
        let kinds = [
            ErrorKind::NotGenuine,
            ErrorKind::SchemaMismatch,
            ErrorKind::DecryptionFailed,
            ErrorKind::TableNotFound,
            ErrorKind::LayoutChanged,
        ];
        assert!(kinds.contains(&error.kind()), "{what}: {error:?}");
        refused += 1;
    };
    match store.table::<Account>() {
        Ok(accounts) => {
            for id in 1..=3 {
                match accounts.get(Account::key("Bonn", id)) {
                    Ok(found) => assert!(found.is_none_or(|found| *found == account(id)), "{what}"),
                    Err(error) => note(error),
                }
            }
            for found in accounts.rows().branch("Bonn").into_iter() {
                found.map_or_else(&mut note, |found| assert_eq!(*found, account(found.id), "{what}"));
            }
        }
        Err(error) => note(error),
    }
    match store.table::<Patient>() {
        Ok(patients) => {
            for id in [1, 2] {
                match patients.get(Patient::key("East", id)) {
                    Ok(found) => assert!(found.is_none_or(|found| *found == patient(id)), "{what}"),
                    Err(error) => note(error),
                }
                match patients.get(Patient::by_name("East", format!("Name{id}"))) {
                    Ok(found) => assert!(found.is_none_or(|found| *found == patient(id)), "{what}"),
                    Err(error) => note(error),
                }
            }
            if let Err(error) = patients.insert(&patient(9)) {
                note(error);
            }
        }
        Err(error) => note(error),
    }
    for table in ["Bank", "Clinic"] {
        let Ok(table) = store.dynamic_table(table) else { continue };
        for row in [("East", "patient_001"), ("Bonn", "account_000001")] {
            if let Err(error) = table.get(row.0, row.1) {
                note(error);
            }
        }
        for found in table.query(&Query::new()).into_iter().flatten() {
            if let Err(error) = found {
                note(error);
            }
        }
        let rule = table.raw().encrypting(|_, _, _| false);
        for kind in [None, Some("patient")] {
            let plain = DynamicEntity::new("East", "patient_001").with("Ssn", "in the clear");
            let plain = kind.into_iter().fold(plain, |plain, kind| plain.with("EntityType", kind));
            let _: Result<_, table_core::Error> = rule.merge(&plain, IfMatch::Any);
        }
    }
    refused
}

/// Edits the file and opens the store with its keys, twice: what the first opening writes, the second finds. Returns
/// whether it was refused, and what the file holds then.
fn edited(bank: &Bank, what: &str, edits: &[fn(&Forge)]) -> Vec<u8> {
    let path = bank.scratch.path().join("store");
    let forge = Forge::open(&path);
    edits.iter().for_each(|edit| edit(&forge));
    forge.close();
    for opening in ["first", "second"] {
        let what = &format!("{what}, {opening} opening");
        for read_only in [false, true] {
            let options = integration_tests::relaxed().encryption(bank.keys.clone()).read_only(read_only);
            match options.open(&path) {
                Ok(store) => {
                    assert!(survey(&store, what) > 0, "{what}: nothing was refused");
                    assert!(!store.check().unwrap().problems.is_empty(), "{what}: the check finds nothing");
                }
                Err(error) => assert_eq!(error.kind(), ErrorKind::NotGenuine, "{what}: {error}"),
            }
        }
    }
    std::fs::read(path.join("data.mdb")).unwrap()
}

#[test]
fn no_opening_vouches_for_what_it_finds_beside_keys() {
    for (what, edits) in forgeries() {
        let file = edited(&town(), &what, &edits);
        assert!(!file.windows(12).any(|bytes| bytes == b"in the clear"), "{what}: written in the clear");
    }
}

#[test]
fn who_takes_the_keys_away_too_has_nothing_read() {
    let bank = town();
    let path = bank.scratch.path().join("store");
    let forge = Forge::open(&path);
    forget(&forge);
    strip(&forge);
    forge.close();
    std::fs::remove_dir_all(path.join("keys")).unwrap();
    // There are layouts that seal.
    let options = integration_tests::relaxed().encryption(bank.keys.clone());
    assert_eq!(options.open(&path).unwrap_err().kind(), ErrorKind::KeyUnavailable);
    let forge = Forge::open(&path);
    forget_layouts(&forge);
    forge.close();
    // It is a store in which nothing was ever sealed: as if another had been put in its place.
    let store = options.open(&path).unwrap();
    let patients = store.table::<Patient>().unwrap();
    assert_eq!(patients.get(Patient::key("East", 1)).unwrap_err().kind(), ErrorKind::KeyUnavailable);
    let copy = patients.get(Patient::by_name("East", "Name1"));
    assert_eq!(copy.unwrap_err().kind(), ErrorKind::NotGenuine);
    let accounts = store.table::<Account>().unwrap();
    assert_eq!(accounts.get(Account::key("Bonn", 1)).unwrap_err().kind(), ErrorKind::NotGenuine);
}

/// Of one row he can say that it is another kind's: a rule seals there what it would seal on the kind's own.
#[test]
fn a_row_that_passes_for_another_kinds_gets_no_plain_value() {
    let bank = town();
    let path = bank.scratch.path().join("store");
    let forge = Forge::open(&path);
    let (key, mut image) = forge.rows().into_iter().find(|(key, _)| key.ends_with(b"patient_001")).unwrap();
    // No kind at all.
    image.properties.retain(|(_, tag, _)| *tag != 9);
    forge.put_row(&key, Some(&image));
    forge.close();
    let options = integration_tests::relaxed().encryption(bank.keys.clone());
    let store = options.open(&path).unwrap();
    let patients = store.table::<Patient>().unwrap();
    assert_eq!(patients.get(Patient::key("East", 1)).unwrap_err().kind(), ErrorKind::SchemaMismatch);
    let rule = store.dynamic_table("Clinic").unwrap().encrypting(|_, _, _| false);
    // What is there is opened as the kind's would be, and what is written is sealed.
    let read = |property: &str| {
        let row = rule.get("East", "patient_001").unwrap().unwrap();
        row.get(property).and_then(|value| value.as_str()).map(str::to_owned)
    };
    assert_eq!(read("Ssn"), Some(patient(1).ssn));
    let plain =
        DynamicEntity::new("East", "patient_001").with("Ssn", "in the clear").with("Name", "plain name");
    rule.merge(&plain, IfMatch::Any).unwrap();
    rule.insert(&DynamicEntity::new("East", "guest").with("Ssn", "in the clear")).unwrap();
    rule.insert_or_merge(&DynamicEntity::new("East", "guest 2").with("Ssn", "in the clear")).unwrap();
    assert_eq!(read("Ssn").as_deref(), Some("in the clear"));
    assert_eq!(read("Name").as_deref(), Some("plain name"));
    drop((store, rule, patients));
    let file = std::fs::read(path.join("data.mdb")).unwrap();
    let holds = |text: &[u8]| file.windows(text.len()).any(|bytes| bytes == text);
    assert!(!holds(b"in the clear") && holds(b"plain name"));
}

/// Rows of kinds all of whose rows are signed, without their digests.
#[test]
fn a_row_whose_digest_was_cut_off_is_refused_by_every_reader() {
    let bank = town();
    let path = bank.scratch.path().join("store");
    for (partition, row, table) in [
        ("Bonn", "account_000001", "Bank"),
        ("Bonn", "iban_DE0001", "Bank"),
        ("Bonn", "owner_Ann_000001", "Bank"),
        ("East", "name_Name1", "Clinic"),
    ] {
        let forge = Forge::open(&path);
        let (key, right) = forge.rows().into_iter().find(|(key, _)| key.ends_with(row.as_bytes())).unwrap();
        let mut image = right.clone();
        image.digest = None;
        forge.put_row(&key, Some(&image));
        forge.close();
        // With the keys, and without them.
        for keys in [true, false] {
            let options = integration_tests::relaxed();
            let options = if keys { options.encryption(bank.keys.clone()) } else { options };
            let store = options.open(&path).unwrap();
            let refused = |error: table_core::Error| {
                assert_eq!(error.kind(), ErrorKind::NotGenuine, "{row}: {error}");
                assert_eq!((error.partition_key(), error.row_key()), (Some(partition), Some(row)));
            };
            let dynamic = store.dynamic_table(table).unwrap();
            refused(dynamic.get(partition, row).unwrap_err());
            refused(dynamic.raw().get(partition, row).unwrap_err());
            let all = Query::new().partition(partition).row(row);
            for query in [all.clone(), all.filter(table_core::prop("Balance").ge(0_i64))] {
                refused(dynamic.query(&query).unwrap().next().unwrap().unwrap_err());
                refused(dynamic.page(&query, 10, None).unwrap_err());
            }
            let snapshot = store.snapshot().unwrap();
            refused(snapshot.view(&dynamic, partition, row).map(drop).unwrap_err());
            drop(snapshot);
            let change = DynamicEntity::new(partition, row).with("Owner", "Eve");
            refused(dynamic.raw().merge(&change, IfMatch::Any).unwrap_err());
            refused(dynamic.raw().insert_or_merge(&change).unwrap_err());
            refused(dynamic.raw().replace(&change, IfMatch::Any).unwrap_err());
            refused(dynamic.raw().put(&change).unwrap_err());
            if keys {
                refused(dynamic.raw().encrypting(|_, _, _| false).get(partition, row).unwrap_err());
            }
            let problems = store.check().unwrap().problems;
            assert_eq!(problems.len(), 1, "{row}: {problems:?}");
            assert!(problems[0].what.contains("carries no keyed digest"), "{problems:?}");
        }
        let forge = Forge::open(&path);
        forge.put_row(&key, Some(&right));
        forge.close();
    }
    // A raw handle may still delete one, and its struct writes it anew.
    let forge = Forge::open(&path);
    let (key, mut image) =
        forge.rows().into_iter().find(|(key, _)| key.ends_with(b"account_000001")).unwrap();
    image.digest = None;
    forge.put_row(&key, Some(&image));
    forge.close();
    let (store, accounts) = bank.open();
    accounts.dynamic().raw().delete("Bonn", "account_000001").unwrap();
    assert_eq!(store.check().unwrap().problems.len(), 0);
}
