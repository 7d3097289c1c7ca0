//! The name of a kind changed in the dictionary, so that all of its rows say that they are another's.

use integration_tests::forge::Forge;
use table_core::{DynamicEntity, DynamicTable, EntitySet, Error, ErrorKind, IfMatch, Query, prop};

use super::forged::{Note, Patient, town};
use super::{Account, Bank};

/// A kind, with the table that it is in, in lower case as well.
struct Renamed {
    table: &'static str,
    kind: &'static str,
    /// A row of it.
    row: (&'static str, &'static str),
    /// A kind whose name it gets, which gets its own.
    other: Option<&'static str>,
}

/// The kinds that seal or sign, by a name that nothing has had, and by that of their own copies.
const VOUCHED: [Renamed; 4] = [
    Renamed { table: "Clinic", kind: "patient", row: ("East", "patient_001"), other: None },
    Renamed {
        table: "Clinic",
        kind: "patient",
        row: ("East", "patient_001"),
        other: Some("patient.by_name"),
    },
    Renamed { table: "Bank", kind: "account", row: ("Bonn", "account_000001"), other: None },
    Renamed {
        table: "Bank",
        kind: "account",
        row: ("Bonn", "account_000001"),
        other: Some("account.by_owner"),
    },
];

/// A kind of which nothing is vouched for.
const PLAIN: Renamed = Renamed { table: "Notes", kind: "note", row: ("all", "note_001"), other: None };

impl Renamed {
    /// Gives the kind another name, with everything that is counted in step.
    fn forge(&self, bank: &Bank) {
        let forge = Forge::open(&bank.scratch.path().join("store"));
        let folded = self.table.to_lowercase().into_bytes();
        let record = forge.tables().into_iter().find(|(name, _)| *name == folded).unwrap().1;
        let table = u32::from_le_bytes(record[..4].try_into().unwrap());
        let symbol = |kind: &str| {
            let mut entries = forge.entries(table).into_iter();
            entries.find(|(entry, text)| entry[0] == 2 && text == kind.as_bytes()).unwrap().0
        };
        let name = |symbol: &[u8], text: &str| {
            forge.put_entry(table, symbol, Some(text.as_bytes()));
            forge.put_entry(table, &[&[3], text.as_bytes()].concat(), Some(&[symbol[2], symbol[1]]));
        };
        let own = symbol(self.kind);
        match self.other {
            Some(other) => {
                let theirs = symbol(other);
                name(&own, other);
                name(&theirs, self.kind);
            }
            None => {
                forge.put_entry(table, &[&[3], self.kind.as_bytes()].concat(), None);
                name(&own, "visitor");
            }
        }
        forge.close();
    }
}

#[derive(EntitySet, Clone, Debug, PartialEq)]
enum Treated {
    Patient(Patient),
}

/// How many rows each dynamic reader gives.
fn dynamic_reads(table: &DynamicTable, row: (&str, &str)) -> Vec<(&'static str, Result<usize, Error>)> {
    let count = |query: &Query| {
        let rows = table.query(query)?.collect::<Result<Vec<_>, _>>()?;
        Ok(rows.len())
    };
    let all = Query::new().partition(row.0);
    let filtered = all.clone().filter(prop("EntityType").ne("nothing"));
    vec![
        ("get", table.get(row.0, row.1).map(|found| usize::from(found.is_some()))),
        ("query", count(&all)),
        ("filter", count(&filtered)),
        ("page", table.page(&all, 10, None).map(|page| page.entities.len())),
    ]
}

/// Has the digest of a table pass for one of before the numbers of kinds were among what it is of.
fn pass_for_former(bank: &Bank, table: &str) {
    let forge = Forge::open(&bank.scratch.path().join("store"));
    let folded = table.to_lowercase().into_bytes();
    let mut record = forge.tables().into_iter().find(|(name, _)| *name == folded).unwrap().1;
    assert_eq!(record[4] & 3, 3);
    record[4] &= !2;
    forge.put_table(&folded, &record);
    forge.close();
}

#[test]
fn the_name_of_a_kind_that_seals_or_signs_is_vouched_for() {
    for (renamed, is_former) in VOUCHED.iter().flat_map(|renamed| [(renamed, false), (renamed, true)]) {
        let bank = town();
        renamed.forge(&bank);
        if is_former {
            pass_for_former(&bank, renamed.table);
        }
        let path = bank.scratch.path().join("store");
        let store = integration_tests::relaxed().encryption(bank.keys.clone()).open(&path).unwrap();
        let refused = |what: &str, error: Option<Error>| {
            let error = error.unwrap_or_else(|| panic!("{}: {what} is answered", renamed.kind));
            assert_eq!(error.kind(), ErrorKind::NotGenuine, "{what}: {error}");
        };
        // A read by a struct, alone or in a set.
        let (typed, set) = if renamed.table == "Bank" {
            (store.table::<Account>().map(drop), store.set::<super::Kept>().map(drop))
        } else {
            (store.table::<Patient>().map(drop), store.set::<Treated>().map(drop))
        };
        refused("a typed table", typed.err());
        refused("a set", set.err());
        let dynamic = store.dynamic_table(renamed.table).unwrap();
        for table in [&dynamic, &dynamic.raw()] {
            for (what, read) in dynamic_reads(table, renamed.row) {
                refused(what, read.err());
            }
        }
        let (partition, row) = renamed.row;
        let snapshot = store.snapshot().unwrap();
        refused("a view", snapshot.view(&dynamic, partition, row).map(drop).err());
        drop(snapshot);
        // And by a rule, which would write plain text where the kind's own is sealed.
        let rule = dynamic.raw().encrypting(|_, _, _| false);
        refused("a rule's get", rule.get(partition, row).err());
        let rows =
            rule.query(&Query::new().partition(partition)).and_then(Iterator::collect::<Result<Vec<_>, _>>);
        refused("a rule's query", rows.err());
        refused("a rule's page", rule.page(&Query::new(), 10, None).err());
        let plain = DynamicEntity::new(partition, row).with("Ssn", "in the clear");
        refused("a rule's merge", rule.merge(&plain, IfMatch::Any).err());
        refused("a rule's put", rule.put(&plain).err());
        refused("a rule's batch", rule.batch(partition).merge(plain, IfMatch::Any).commit().err());
        let new = DynamicEntity::new(partition, "new").with("Ssn", "in the clear");
        refused("a rule's insert", rule.insert(&new).err());
        let problems = store.check().unwrap().problems;
        assert!(problems.iter().any(|problem| problem.what.contains("vouch for")), "{problems:?}");
        // Nobody else is disturbed.
        let other = if renamed.table == "Bank" {
            store.table::<Patient>().map(drop)
        } else {
            store.table::<Account>().map(drop)
        };
        other.unwrap();
        drop((store, dynamic, rule));
        let file = std::fs::read(path.join("data.mdb")).unwrap();
        assert!(!file.windows(12).any(|bytes| bytes == b"in the clear"));
    }
}

/// What is vouched for by nothing: kinds that neither seal nor sign.
#[test]
fn rows_of_a_kind_that_nothing_vouches_for_are_not_found_by_another_name() {
    let bank = town();
    PLAIN.forge(&bank);
    let path = bank.scratch.path().join("store");
    for keys in [true, false] {
        let options = integration_tests::relaxed();
        let options = if keys { options.encryption(bank.keys.clone()) } else { options };
        let store = options.open(&path).unwrap();
        let notes = store.table::<Note>().unwrap();
        // A row that is asked for by its key is somebody else's, and no query finds one.
        let error = notes.get(Note::key(1)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::SchemaMismatch, "{error}");
        assert_eq!(notes.rows().count().unwrap(), 0);
        assert_eq!(notes.rows().into_iter().count(), 0);
        for (what, read) in dynamic_reads(notes.dynamic(), PLAIN.row) {
            assert_eq!(read.unwrap(), if what == "get" { 1 } else { 2 }, "{what}");
        }
        // A check of everything finds nothing either.
        assert_eq!(store.check().unwrap().problems.len(), 0);
    }
}

/// A process without the keys can't tell, but reads nothing that it would take for another kind's.
#[test]
fn without_the_keys_rows_of_a_renamed_kind_are_not_found_or_not_read() {
    for renamed in VOUCHED {
        let bank = town();
        renamed.forge(&bank);
        let store = bank.open_without_keys();
        let (key, rows) = match renamed.kind {
            "account" => {
                let accounts = store.table::<Account>().unwrap();
                let rows: Result<Vec<_>, _> = accounts.rows().branch("Bonn").into_iter().collect();
                (accounts.get(Account::key("Bonn", 1)).map(drop), rows.map(|rows| rows.len()))
            }
            _ => {
                let patients = store.table::<Patient>().unwrap();
                let rows: Result<Vec<_>, _> = patients.rows().ward("East").into_iter().collect();
                (patients.get(Patient::key("East", 1)).map(drop), rows.map(|rows| rows.len()))
            }
        };
        // Signed rows are read by nobody. One that says it is a copy with a sealed field lacks the digest of such.
        let expected = match (renamed.kind, renamed.other) {
            ("account", _) => (ErrorKind::KeyUnavailable, Err(ErrorKind::KeyUnavailable)),
            (_, Some(_)) => (ErrorKind::NotGenuine, Ok(0)),
            (_, None) => (ErrorKind::SchemaMismatch, Ok(0)),
        };
        let found = (key.unwrap_err().kind(), rows.map_err(|error| error.kind()));
        assert_eq!(found, expected, "{} {:?}", renamed.kind, renamed.other);
    }
}
