//! Writing to a damaged store: what is there is not added again, and what was written is read.

use table_core::{
    Copied, DynamicEntity, DynamicTable, ErrorKind, IfMatch, Key, Result, Store, Stored, Table,
};

use super::people::{Patient, Person, one};
use super::{Findings, Truth, begun, below};
use crate::random::Random;

/// Rows of each table that are written.
const ROWS: usize = 6;

/// Rows of each table that are written in one load, half of which are there. So many that leaves are split.
const LOADED: usize = 120;

/// Persons who are written in one load, a third of whom are there, and a third of whom have others' e-mails.
const PERSONS_LOADED: u32 = 90;

impl Truth {
    /// Adds what is there, which must be refused; changes, removes and adds rows, and reads them again.
    pub(super) fn write(&self, store: &Store, random: &mut Random, findings: &mut Findings) {
        for (name, rows) in &self.tables {
            let made = store.create_table(name).map(drop);
            // The name of a period's table is taken, whether it is there or not.
            let taken = match begun::is_of_period(name) {
                true => ErrorKind::InvalidTableName,
                false => ErrorKind::TableAlreadyExists,
            };
            refused(findings, made, taken, || format!("a second table {name}"));
            // Rows of entities are added by their properties: it is the store that must not have them twice.
            let table = match store.dynamic_table(name) {
                Ok(table) => table.raw(),
                Err(error) => {
                    findings.error(&error);
                    continue;
                }
            };
            load(store, &table, rows, is_declared(name), random, findings);
            for round in 0..ROWS {
                let row = &rows[below(random, rows.len())];
                let again = table.insert(row).map(drop);
                // A patient's copies hold what is sealed, so they are signed, and not to be written so at all.
                let kind = row.get("EntityType").and_then(|kind| kind.as_str()).unwrap_or_default();
                let refusal = match kind.starts_with("patient.") {
                    true => ErrorKind::SchemaMismatch,
                    false => ErrorKind::EntityAlreadyExists,
                };
                refused(findings, again, refusal, || format!("a second {row:?}"));
                if is_declared(name) {
                    // Its rows are entities and their copies.
                    continue;
                }
                let (partition, key) = (row.partition_key(), row.row_key());
                let new = DynamicEntity::new(partition, format!("{key} {round}")).with("Round", -1);
                let written = table.insert(&new).map(drop);
                let read = || table.get(partition, new.row_key());
                read_back(findings, written, read, &new, ErrorKind::EntityNotFound);
                let changed = DynamicEntity::new(partition, key).with("Round", -2);
                let written = table.merge(&changed, IfMatch::Any).map(drop);
                let read = || Ok(table.get(partition, key)?.map(|row| rounds_only(&row)));
                read_back(findings, written, read, &changed, ErrorKind::EntityNotFound);
                let replaced = DynamicEntity::new(partition, key).with("Round", -3);
                let written = table.put(&replaced).map(drop);
                let read = || table.get(partition, key);
                read_back(findings, written, read, &replaced, ErrorKind::EntityNotFound);
            }
            if is_declared(name) {
                continue;
            }
            let gone = &rows[below(random, rows.len())];
            match table.delete(gone.partition_key(), gone.row_key()) {
                Ok(()) => match table.get(gone.partition_key(), gone.row_key()) {
                    Ok(None) => {}
                    Ok(Some(found)) => findings.wrong(|| format!("{found:?} after it was deleted")),
                    Err(error) => findings.error(&error),
                },
                Err(error) if error.kind() == ErrorKind::EntityNotFound => {
                    findings.missed(|| format!("no {gone:?} to be deleted"));
                }
                Err(error) => findings.error(&error),
            }
        }
        self.write_people(store, random, findings);
        self.begun.go_on(store, findings);
    }

    fn write_people(&self, store: &Store, random: &mut Random, findings: &mut Findings) {
        let (persons, patients) = match (store.table::<Person>(), store.table::<Patient>()) {
            (Ok(persons), Ok(patients)) => (persons, patients),
            (Err(error), _) | (_, Err(error)) => return findings.error(&error),
        };
        let (exists, taken) = (ErrorKind::EntityAlreadyExists, ErrorKind::UniqueConflict);
        self.load_persons(&persons, random, findings);
        for round in 0..6 {
            let old = &self.people.persons[below(random, self.people.persons.len())];
            let other = Person { team: old.team.clone(), ..Person::new(100 + round) };
            refused(findings, persons.insert(old).map(drop), exists, || format!("a second {old:?}"));
            let twin = Person { email: old.email.clone(), ..other.clone() };
            refused(findings, persons.insert(&twin).map(drop), taken, || {
                format!("another's e-mail: {twin:?}")
            });
            let written = persons.insert(&other).map(drop);
            if typed(findings, written) {
                let by_email = persons.get(Person::by_email(&other.team, other.email.as_str()));
                one(findings, by_email.map(|row| row.map(Copied::into_inner)), &other);
            }
            let written = persons.update(Key::of(old), |person| person.nick = Some("new".into())).map(drop);
            if typed(findings, written) {
                let changed = Person { nick: Some("new".into()), ..old.clone() };
                let read = persons.get(Key::of(old));
                one(findings, read.map(|row| row.map(Stored::into_inner)), &changed);
                // So that the next round finds it as it was.
                let back = persons.put(old).map(drop);
                typed(findings, back);
            }
        }
        for round in 0..2 {
            let old = &self.people.patients[below(random, self.people.patients.len())];
            let other = Patient { team: old.team.clone(), ..Patient::new(100 + round) };
            refused(findings, patients.insert(old).map(drop), exists, || format!("a second {old:?}"));
            let twin = Patient { number: old.number.clone(), ..other.clone() };
            refused(findings, patients.insert(&twin).map(drop), taken, || {
                format!("another's number: {twin:?}")
            });
            let written = patients.insert(&other).map(drop);
            if typed(findings, written) {
                let read = patients.get(Patient::by_number(&other.team, other.number.as_str()));
                one(findings, read.map(|row| row.map(|row| row.id)), &other.id);
            }
        }
    }
}

impl Truth {
    /// Adds persons who are there, others who have their e-mails, and others, in one load.
    fn load_persons(&self, persons: &Table<Person>, random: &mut Random, findings: &mut Findings) {
        let (exists, taken) = (ErrorKind::EntityAlreadyExists, ErrorKind::UniqueConflict);
        let mut loaded = Vec::new();
        for id in 1_000..1_000 + PERSONS_LOADED {
            let old = &self.people.persons[below(random, self.people.persons.len())];
            let new = Person { team: old.team.clone(), ..Person::new(id) };
            loaded.push(match id % 3 {
                0 => (old.clone(), Some(exists)),
                1 => (Person { email: old.email.clone(), ..new }, Some(taken)),
                _ => (new, None),
            });
        }
        let mut failures = match persons.bulk_insert(loaded.iter().map(|(person, _)| person)) {
            Ok(report) => report.failures.into_iter().peekable(),
            Err(error) => return findings.error(&error),
        };
        for ((person, refusal), number) in loaded.iter().zip(0..) {
            let failure = failures.next_if(|failure| failure.index == number);
            let written = failure.map_or(Ok(()), |failure| Err(failure.error));
            if let Some(refusal) = refusal {
                refused(findings, written, *refusal, || format!("by a load: {person:?}"));
            } else if typed(findings, written) {
                let found = persons.get(Key::of(person));
                one(findings, found.map(|row| row.map(Stored::into_inner)), person);
                let by_email = persons.get(Person::by_email(&person.team, person.email.as_str()));
                one(findings, by_email.map(|row| row.map(Copied::into_inner)), person);
            }
        }
    }
}

/// Adds rows that are there, and others beside them unless that `is_declared`, in one load: each by itself is refused, or is
/// there then.
fn load(
    store: &Store,
    table: &DynamicTable,
    rows: &[DynamicEntity],
    is_declared: bool,
    random: &mut Random,
    findings: &mut Findings,
) {
    let mut added = Vec::new();
    for at in 0..LOADED {
        let row = &rows[below(random, rows.len())];
        let (partition, key) = (row.partition_key(), row.row_key());
        if at % 2 == 0 || is_declared {
            added.push((row.clone(), false));
        } else {
            added.push((DynamicEntity::new(partition, format!("{key} loaded {at}")).with("Round", -4), true));
        }
    }
    let batches = added.iter().map(|(row, _)| table.batch(row.partition_key()).insert(row.clone()));
    let mut failures = match store.bulk(batches) {
        Ok(report) => report.failures.into_iter().peekable(),
        Err(error) => return findings.error(&error),
    };
    for ((row, is_new), number) in added.iter().zip(0..) {
        let failure = failures.next_if(|failure| failure.index == number);
        let written = failure.map_or(Ok(()), |failure| Err(failure.error));
        if *is_new {
            let read = || table.get(row.partition_key(), row.row_key());
            read_back(findings, written, read, row, ErrorKind::EntityNotFound);
        } else {
            // What is sealed is signed, and not to be written so at all.
            match written {
                Err(error) if error.kind() == ErrorKind::SchemaMismatch => {}
                written => refused(findings, written, ErrorKind::EntityAlreadyExists, || {
                    format!("a second {row:?} by a load")
                }),
            }
        }
    }
}

/// Whether the rows of a table are entities and their copies.
fn is_declared(table: &str) -> bool {
    table == "People" || begun::is_declared(table)
}

fn rounds_only(row: &DynamicEntity) -> DynamicEntity {
    let one = DynamicEntity::new(row.partition_key(), row.row_key());
    row.get("Round").into_iter().fold(one, |one, round| one.with("Round", round.clone()))
}

/// What must not succeed.
pub(super) fn refused(
    findings: &mut Findings,
    done: Result<()>,
    right: ErrorKind,
    note: impl FnOnce() -> String,
) {
    match done {
        Ok(()) => findings.wrong(note),
        Err(error) if error.kind() == right => {}
        Err(error) => findings.error(&error),
    }
}

/// Whether a write succeeded that there is nothing against.
fn typed(findings: &mut Findings, written: Result<()>) -> bool {
    match written {
        Ok(()) => true,
        Err(error) if error.kind() == ErrorKind::EntityNotFound => {
            findings.missed(|| error.to_string());
            false
        }
        Err(error) if [ErrorKind::EntityAlreadyExists, ErrorKind::UniqueConflict].contains(&error.kind()) => {
            findings.wrong(|| error.to_string());
            false
        }
        Err(error) => {
            findings.error(&error);
            false
        }
    }
}

/// A write that must succeed or be an error, and then is what is read; `absent` would say that the row is not there.
fn read_back(
    findings: &mut Findings,
    written: Result<()>,
    read: impl FnOnce() -> Result<Option<DynamicEntity>>,
    expected: &DynamicEntity,
    absent: ErrorKind,
) {
    match written {
        Ok(()) => match read() {
            Ok(Some(found)) if found.properties().eq(expected.properties()) => {}
            Ok(found) => findings.wrong(|| format!("{found:?} after {expected:?} was written")),
            Err(error) => findings.error(&error),
        },
        Err(error) if error.kind() == absent => findings.missed(|| error.to_string()),
        Err(error) if error.kind() == ErrorKind::EntityAlreadyExists => findings.wrong(|| error.to_string()),
        Err(error) => findings.error(&error),
    }
}
