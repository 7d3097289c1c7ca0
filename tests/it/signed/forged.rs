//! What somebody can do who may write the file and has no keys, on a small store, all of it: whatever is read afterwards is
//! what was written, or it is an error.

use integration_tests::forge::{Forge, Image, row_key, table_of};
use table_core::{DynamicEntity, Entity, Error, ErrorKind, Store};

use super::{Account, Bank, account};

/// A kind with a sealed field, whose copies are signed.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Clinic", kind = "patient")]
#[key(partition = "{ward}", row = "patient_{id:03}")]
#[index(by_name, row = "name_{name}", unique)]
pub(super) struct Patient {
    ward: String,
    id: u8,
    name: String,
    #[encrypt]
    pub(super) ssn: String,
}

pub(super) fn patient(id: u8) -> Patient {
    Patient { ward: "East".into(), id, name: format!("Name{id}"), ssn: format!("078-05-112{id}") }
}

/// A kind of which nothing is vouched for.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Notes", kind = "note")]
#[key(partition = "all", row = "note_{id:03}")]
pub(super) struct Note {
    id: u8,
    text: String,
}

const IDS: [u32; 3] = [1, 2, 3];

pub(super) fn town() -> Bank {
    let bank = Bank::new();
    let (store, _) = bank.open();
    store.set::<super::Kept>().unwrap();
    let (patients, notes) = (store.table::<Patient>().unwrap(), store.table::<Note>().unwrap());
    for id in [1, 2] {
        patients.insert(&patient(id)).unwrap();
        notes.insert(&Note { id, text: "text".into() }).unwrap();
    }
    bank
}

/// What a look at everything came to.
#[derive(Debug, Default)]
struct Survey {
    errors: Vec<Error>,
    missing: usize,
}

impl Survey {
    fn note<T: PartialEq + std::fmt::Debug>(&mut self, read: Result<Option<T>, Error>, expected: &T) {
        match read {
            Ok(Some(found)) => assert_eq!(found, *expected, "what was forged is believed"),
            Ok(None) => self.missing += 1,
            Err(error) => self.errors.push(error),
        }
    }

    fn is_refused(&self) -> bool {
        let kinds = [
            ErrorKind::NotGenuine,
            ErrorKind::SchemaMismatch,
            ErrorKind::Corrupt,
            ErrorKind::DecryptionFailed,
        ];
        for error in &self.errors {
            assert!(kinds.contains(&error.kind()), "{error:?}");
        }
        !self.errors.is_empty()
    }
}

/// Reads every account on every path.
fn survey_accounts(store: &Store, survey: &mut Survey) {
    let accounts = match store.table::<Account>() {
        Ok(accounts) => accounts,
        Err(error) => return survey.errors.push(error),
    };
    for id in IDS {
        let expected = account(id);
        let own = accounts.get(Account::key("Bonn", id));
        survey.note(own.map(|found| found.map(table_core::Stored::into_inner)), &expected);
        let view = accounts.view(Account::key("Bonn", id), |view| view.balance());
        survey.note(view, &expected.balance);
        let copy = accounts.get(Account::by_owner("Bonn", "Ann", id));
        survey.note(copy.map(|found| found.map(table_core::Copied::into_inner)), &expected);
        let part = accounts.get(Account::by_iban("Bonn", expected.iban.clone()));
        survey.note(part.map(|found| found.map(|row| row.balance)), &expected.balance);
    }
    for found in accounts.rows().branch("Bonn").into_iter() {
        match found {
            Ok(found) => assert_eq!(*found, account(found.id)),
            Err(error) => survey.errors.push(error),
        }
    }
    let rich = accounts.rows().branch("Bonn").filter(|account| account.balance.gt(300));
    match rich.count() {
        Ok(count) => assert_eq!(count, 0, "what was forged is counted"),
        Err(error) => survey.errors.push(error),
    }
    let any = store.set::<super::Kept>().and_then(|kept| kept.get_any("Bonn", "account_000001"));
    let is_expected = |kept: table_core::Stored<super::Kept>| match table_core::Stored::into_inner(kept) {
        super::Kept::Account(found) => found,
        super::Kept::Card(_) => panic!("another kind"),
    };
    survey.note(any.map(|found| found.map(is_expected)), &account(1));
    for found in accounts.by_owner().branch("Bonn").into_iter() {
        match found {
            Ok(found) => assert_eq!(*found, account(found.id)),
            Err(error) => survey.errors.push(error),
        }
    }
}

fn survey_patients(store: &Store, survey: &mut Survey) {
    let patients = match store.table::<Patient>() {
        Ok(patients) => patients,
        Err(error) => return survey.errors.push(error),
    };
    for id in [1, 2] {
        let copy = patients.get(Patient::by_name("East", format!("Name{id}")));
        survey.note(copy.map(|found| found.map(table_core::Copied::into_inner)), &patient(id));
        let own = patients.get(Patient::key("East", id));
        survey.note(own.map(|found| found.map(|found| found.ssn.clone())), &patient(id).ssn);
    }
}

/// Does something to the file and looks at everything.
fn after(bank: &Bank, forge: impl FnOnce(&Forge)) -> Survey {
    let path = bank.scratch.path().join("store");
    let open = Forge::open(&path);
    forge(&open);
    open.close();
    let (mut survey, options) =
        (Survey::default(), integration_tests::relaxed().encryption(bank.keys.clone()));
    match options.open(&path) {
        Ok(store) => {
            survey_accounts(&store, &mut survey);
            survey_patients(&store, &mut survey);
        }
        Err(error) => survey.errors.push(error),
    }
    survey
}

/// Every signed row: its key and its parts.
fn signed_rows(bank: &Bank) -> Vec<(Vec<u8>, Image)> {
    let forge = Forge::open(&bank.scratch.path().join("store"));
    let rows = forge.rows().into_iter().filter(|(_, image)| image.digest.is_some()).collect();
    forge.close();
    rows
}

/// Puts rows as they were.
fn restore(bank: &Bank, rows: &[&(Vec<u8>, Image)]) {
    let forge = Forge::open(&bank.scratch.path().join("store"));
    for (key, image) in rows {
        forge.put_row(key, Some(image));
    }
    forge.close();
}

#[test]
fn the_forger_puts_rows_that_the_store_takes_for_its_own() {
    let bank = town();
    let rows = signed_rows(&bank);
    // Three accounts with two copies each, and a copy of each of two patients.
    assert_eq!(rows.len(), 9 + 2);
    let survey = after(&bank, |forge| {
        for (key, image) in &rows {
            forge.put_row(key, Some(image));
        }
    });
    assert!(survey.errors.is_empty() && survey.missing == 0, "{survey:?}");
    let (store, _) = bank.open();
    assert!(store.check().unwrap().problems.is_empty());
}

#[test]
fn no_change_of_a_signed_row_is_believed() {
    let bank = town();
    let rows = signed_rows(&bank);
    for row in &rows {
        let (key, image) = row;
        let mut changed = Vec::new();
        let mut change = |what: String, edit: &dyn Fn(&mut Image)| {
            let mut forged = image.clone();
            edit(&mut forged);
            if forged != *image {
                changed.push((what, forged));
            }
        };
        change("without its digest".into(), &|image| image.digest = None);
        for bit in [0, 7, 64, 127] {
            change(format!("bit {bit} of its digest"), &|image| {
                if let Some(digest) = &mut image.digest {
                    digest[bit / 8] ^= 1 << (bit % 8);
                }
            });
        }
        for at in 0..image.properties.len() {
            change(format!("without property {at}"), &|image| drop(image.properties.remove(at)));
            change(format!("property {at} of another type"), &|image| image.properties[at].1 ^= 1);
            change(format!("property {at} under another name"), &|image| {
                let free = (0..20).find(|id| image.properties.iter().all(|(known, ..)| known != id)).unwrap();
                image.properties[at].0 = free;
                image.properties.sort();
            });
            for byte in [0, image.properties[at].2.len().saturating_sub(1)] {
                change(format!("byte {byte} of property {at}"), &|image| {
                    if let Some(byte) = image.properties[at].2.get_mut(byte) {
                        *byte ^= 1;
                    }
                });
            }
        }
        for (what, forged) in changed {
            let survey = after(&bank, |forge| forge.put_row(key, Some(&forged)));
            assert!(survey.is_refused(), "{}: {what}", key.escape_ascii());
        }
        restore(&bank, &[row]);
    }
}

#[test]
fn no_bit_of_what_a_copy_has_sealed_can_be_flipped() {
    let bank = town();
    let rows = signed_rows(&bank);
    let (key, image) = rows.iter().find(|(key, _)| key.ends_with(b"name_Name1")).unwrap();
    let sealed = image.properties.iter().position(|(_, _, value)| value.len() > 67).unwrap();
    for bit in 0..image.properties[sealed].2.len() * 8 {
        let mut forged = image.clone();
        forged.properties[sealed].2[bit / 8] ^= 1 << (bit % 8);
        let forge = Forge::open(&bank.scratch.path().join("store"));
        forge.put_row(key, Some(&forged));
        forge.close();
        let options = integration_tests::relaxed().encryption(bank.keys.clone());
        let store = options.open(bank.scratch.path().join("store")).unwrap();
        let copy = store.table::<Patient>().unwrap().get(Patient::by_name("East", "Name1"));
        assert_eq!(copy.unwrap_err().kind(), ErrorKind::NotGenuine, "bit {bit}");
    }
}

#[test]
fn no_signed_row_can_take_another_ones_place() {
    let bank = town();
    let rows = signed_rows(&bank);
    for (number, (key, image)) in rows.iter().enumerate() {
        for (other, from) in rows.iter().enumerate() {
            if other != number {
                let survey = after(&bank, |forge| forge.put_row(key, Some(&from.1)));
                assert!(
                    survey.is_refused(),
                    "{} in the place of {}",
                    from.0.escape_ascii(),
                    key.escape_ascii()
                );
            }
        }
        restore(&bank, &[&(key.clone(), image.clone())]);
    }
    // Nor a place where there was none.
    let table = table_of(&rows[0].0);
    let copy = rows.iter().find(|(key, _)| key.ends_with(b"iban_DE0001")).unwrap();
    let moved = row_key(table, "Bonn", "iban_DE0009");
    let open = Forge::open(&bank.scratch.path().join("store"));
    open.put_row(&moved, Some(&copy.1));
    open.close();
    let (_store, accounts) = bank.open();
    let error = accounts.get(Account::by_iban("Bonn", "DE0009")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotGenuine, "{error}");
    assert_eq!((error.partition_key(), error.row_key()), (Some("Bonn"), Some("iban_DE0009")));
}

#[test]
fn no_name_and_no_shape_in_a_dictionary_can_be_exchanged() {
    let bank = town();
    let path = bank.scratch.path().join("store");
    let forge = Forge::open(&path);
    let tables = forge.tables();
    let number = |name: &[u8]| {
        let (_, body) = tables.iter().find(|(known, _)| known == name).unwrap();
        u32::from_le_bytes(body[..4].try_into().unwrap())
    };
    let bank_table = number(b"bank");
    let by_number: Vec<_> =
        forge.entries(bank_table).into_iter().filter(|(entry, _)| matches!(entry[0], 0 | 2 | 5)).collect();
    forge.close();
    assert!(by_number.len() >= 7, "{by_number:?}");
    for (entry, text) in &by_number {
        for (other, with) in &by_number {
            if other[0] != entry[0] || other == entry {
                continue;
            }
            let survey = after(&bank, |forge| {
                forge.put_entry(bank_table, entry, Some(with));
                forge.put_entry(bank_table, other, Some(text));
            });
            assert!(survey.is_refused(), "{} as {}", text.escape_ascii(), with.escape_ascii());
            let forge = Forge::open(&path);
            forge.put_entry(bank_table, entry, Some(text));
            forge.put_entry(bank_table, other, Some(with));
            forge.close();
        }
        let survey = after(&bank, |forge| forge.put_entry(bank_table, entry, Some(b"Other")));
        assert!(survey.is_refused(), "{}", text.escape_ascii());
        let forge = Forge::open(&path);
        forge.put_entry(bank_table, entry, Some(text));
        forge.close();
    }
    assert!(after(&bank, |_| {}).errors.is_empty());
}

#[test]
fn no_record_of_a_table_and_no_layout_can_be_changed() {
    let bank = town();
    let path = bank.scratch.path().join("store");
    let forge = Forge::open(&path);
    let tables = forge.tables();
    forge.close();
    assert_eq!(tables.len(), 3);
    let refused = |what: &str, forge: &dyn Fn(&Forge), back: &dyn Fn(&Forge)| {
        let survey = after(&bank, |open| forge(open));
        assert!(
            survey.errors.iter().any(|error| error.kind() == ErrorKind::NotGenuine),
            "{what}: {survey:?}"
        );
        // Nor is a field written in the clear by who asks the layouts.
        if let Ok(store) = integration_tests::relaxed().encryption(bank.keys.clone()).open(&path)
            && let Ok(clinic) = store.dynamic_table("Clinic")
        {
            let plain = DynamicEntity::new("East", "patient_009").with("EntityType", "patient");
            let plain = plain.with("Name", "Name9").with("Ssn", "in the clear");
            let _: Result<_, Error> = clinic.encrypting(|_, _, _| false).put(&plain);
            drop((clinic, store));
            let file = std::fs::read(path.join("data.mdb")).unwrap();
            assert!(!file.windows(12).any(|bytes| bytes == b"in the clear"), "{what}");
        }
        let open = Forge::open(&path);
        back(&open);
        open.close();
        assert!(after(&bank, |_| {}).errors.is_empty(), "{what}");
    };
    for (name, body) in &tables {
        if name == b"notes" {
            continue;
        }
        // Without its digest, under another number, of another identity.
        let name_length = name.len();
        let stripped = {
            let mut stripped = body[..22 + name_length].to_vec();
            stripped[4] = 0;
            stripped
        };
        let edits = [
            ("stripped", stripped),
            ("of another identity", {
                let mut edited = body.clone();
                edited[6] ^= 1;
                edited
            }),
            ("with another digest", {
                let mut edited = body.clone();
                *edited.last_mut().unwrap() ^= 1;
                edited
            }),
        ];
        for (what, edited) in edits {
            refused(what, &|forge| forge.put_table(name, &edited), &|forge| forge.put_table(name, body));
        }
        let table = u32::from_le_bytes(body[..4].try_into().unwrap());
        let forge = Forge::open(&path);
        let layouts: Vec<_> = forge.entries(table).into_iter().filter(|(entry, _)| entry[0] == 4).collect();
        forge.close();
        let (entry, text) = &layouts[0];
        let plain =
            String::from_utf8(text.clone()).unwrap().replace("encrypted ", "").replace("signed\n", "");
        for (what, new) in [("gone", None), ("edited", Some(plain.as_bytes()))] {
            refused(
                &format!("the layout is {what}"),
                &|forge| forge.put_entry(table, entry, new),
                &|forge| forge.put_entry(table, entry, Some(text)),
            );
        }
    }
    // Two that are exchanged, each under the other's name.
    let named = |name: &[u8]| tables.iter().find(|(known, _)| known == name).unwrap().1.clone();
    let (first, second) = (named(b"bank"), named(b"clinic"));
    let under = |body: &[u8], name: &[u8]| {
        // A record must give its key.
        let digest = &body[body.len() - 16..];
        [&body[..22], name, digest].concat()
    };
    refused(
        "exchanged",
        &|forge| {
            forge.put_table(b"bank", &under(&second, b"Bank"));
            forge.put_table(b"clinic", &under(&first, b"Clinic"));
        },
        &|forge| {
            forge.put_table(b"bank", &first);
            forge.put_table(b"clinic", &second);
        },
    );
    // And what says which tables are vouched for.
    for at in 100..116 {
        refused("the set of tables", &|forge| forge.edit_meta(|body| body[at] ^= 1), &|forge| {
            forge.edit_meta(|body| body[at] ^= 1)
        });
    }
}

#[test]
fn what_was_taken_from_a_table_is_not_vouched_for_when_another_goes() {
    let bank = town();
    let path = bank.scratch.path().join("store");
    let forge = Forge::open(&path);
    let (name, body) = forge.tables().into_iter().find(|(name, _)| name == b"bank").unwrap();
    let mut stripped = body[..22 + name.len()].to_vec();
    stripped[4] = 0;
    forge.put_table(&name, &stripped);
    forge.close();
    let options = integration_tests::relaxed().encryption(bank.keys.clone());
    let store = options.open(&path).unwrap();
    assert_eq!(store.drop_table("Clinic").unwrap_err().kind(), ErrorKind::NotGenuine);
    assert_eq!(store.table::<Account>().unwrap_err().kind(), ErrorKind::NotGenuine);
    assert!(!store.check().unwrap().problems.is_empty());
    assert_eq!(store.tables().unwrap(), ["Bank", "Clinic", "Notes"]);
}

#[test]
fn a_table_that_is_vouched_for_is_dropped_by_who_has_the_keys() {
    let bank = town();
    let store = bank.open_without_keys();
    let error = store.drop_table("Clinic").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::KeyUnavailable, "{error}");
    assert!(error.to_string().contains("authenticate the others"), "{error}");
    store.drop_table("Notes").unwrap();
    drop(store);
    let (store, accounts) = bank.open();
    store.drop_table("Clinic").unwrap();
    assert_eq!(*accounts.get(Account::key("Bonn", 1)).unwrap().unwrap(), account(1));
    store.table::<Patient>().unwrap().insert(&patient(1)).unwrap();
    drop((store, accounts));
    assert!(after(&bank, |_| {}).errors.is_empty());
}
