//! Typed entities in the store that is damaged: with copies, what must be unique, a field that may be absent, and values
//! that are sealed.

use table_core::{Copied, Entity, EntitySet, Key, Result, Store, Stored};

use super::Findings;

/// A person, whose e-mail is unique.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "People", kind = "person")]
#[key(partition = "{team}", row = "person_{id:04}")]
#[index(by_email, row = "email_{email}", unique)]
#[index(by_name, row = "name_{name}_{id:04}", copy(nick))]
pub(super) struct Person {
    pub(super) team: String,
    pub(super) id: u32,
    pub(super) email: String,
    pub(super) name: String,
    pub(super) nick: Option<String>,
}

/// A patient, whose number is unique, and sealed.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "People", kind = "patient")]
#[key(partition = "{team}", row = "patient_{id:04}")]
#[index(by_number, row = "number_{number:blind}", unique, copy = keys)]
pub(super) struct Patient {
    pub(super) team: String,
    pub(super) id: u32,
    #[encrypt(blind)]
    pub(super) number: String,
    #[encrypt]
    pub(super) note: String,
}

/// Who is in a team.
#[derive(EntitySet, Clone, Debug, PartialEq)]
enum Team {
    Person(Person),
    Patient(Patient),
}

pub(super) const TEAMS: [&str; 3] = ["east", "north", "west"];
const PERSONS: u32 = 45;
const PATIENTS: u32 = 15;

fn team(id: u32) -> String {
    TEAMS[usize::try_from(id).unwrap_or_default() % TEAMS.len()].to_owned()
}

impl Person {
    pub(super) fn new(id: u32) -> Self {
        Self {
            team: team(id),
            id,
            email: format!("{id}@contoso.com"),
            name: format!("n{}", id % 5),
            nick: id.is_multiple_of(2).then(|| format!("the {id}th")),
        }
    }
}

impl Patient {
    pub(super) fn new(id: u32) -> Self {
        Self { team: team(id), id, number: format!("number {id}"), note: format!("note {id}").repeat(3) }
    }
}

pub(super) fn build(store: &Store) -> Result<()> {
    let (persons, patients) = (store.table::<Person>()?, store.table::<Patient>()?);
    for id in 0..PERSONS {
        // Written before with other values, so that old pages have them.
        let right = Person::new(id);
        persons.insert(&Person { nick: None, name: "before".into(), ..right.clone() })?;
        persons.put(&right)?;
    }
    for id in 0..PATIENTS {
        patients.insert(&Patient { note: "before".into(), ..Patient::new(id) })?;
        patients.put(&Patient::new(id))?;
    }
    Ok(())
}

/// What the typed entities are, in order.
#[derive(Debug)]
pub(super) struct People {
    pub(super) persons: Vec<Person>,
    pub(super) patients: Vec<Patient>,
}

impl People {
    /// Makes sure that a sound store has them.
    pub(super) fn read(store: &Store) -> Result<Self> {
        let mut people = Self {
            persons: (0..PERSONS).map(Person::new).collect(),
            patients: (0..PATIENTS).map(Patient::new).collect(),
        };
        people.persons.sort_by(|one, other| (&one.team, one.id).cmp(&(&other.team, other.id)));
        people.patients.sort_by(|one, other| (&one.team, one.id).cmp(&(&other.team, other.id)));
        let mut findings = Findings::default();
        people.compare(store, &mut findings);
        assert_eq!((findings.errors, &findings.notes), (0, &Vec::new()));
        Ok(people)
    }

    /// Reads them in every way.
    pub(super) fn compare(&self, store: &Store, findings: &mut Findings) {
        self.compare_persons(store, findings);
        self.compare_patients(store, findings);
        self.compare_teams(store, findings);
    }

    fn compare_persons(&self, store: &Store, findings: &mut Findings) {
        let table = match store.table::<Person>() {
            Ok(table) => table,
            Err(error) => return findings.error(&error),
        };
        for person in &self.persons {
            let Person { team, email, name, id, .. } = person;
            one(findings, table.get(Key::of(person)).map(|found| found.map(Stored::into_inner)), person);
            let by_email = table.get(Person::by_email(team, email));
            one(findings, by_email.map(|found| found.map(Copied::into_inner)), person);
            match table.get(Person::by_email(team, format!("{email}x").as_str())) {
                Ok(None) => {}
                Ok(Some(found)) => findings.wrong(|| format!("invented {found:?}")),
                Err(error) => findings.error(&error),
            }
            let rows = table.by_name().team(team).name(name).id(*id).entities();
            let expected: Vec<_> = self.persons.iter().filter(|p| p.id == *id).collect();
            all(findings, rows, &expected);
        }
        for team in TEAMS {
            let mut expected: Vec<_> = self.persons.iter().filter(|person| person.team == team).collect();
            all(findings, table.rows().team(team), &expected);
            expected.sort_by_key(|person| (person.name.clone(), person.id));
            let copies = table.by_name().team(team).select::<Named>().into_iter();
            let expected: Vec<_> =
                expected.into_iter().map(|p| Named { id: p.id, nick: p.nick.clone() }).collect();
            compare(findings, copies, expected.iter());
        }
        all(findings, table.rows().across_partitions(), &self.persons.iter().collect::<Vec<_>>());
    }

    fn compare_patients(&self, store: &Store, findings: &mut Findings) {
        let table = match store.table::<Patient>() {
            Ok(table) => table,
            Err(error) => return findings.error(&error),
        };
        for patient in &self.patients {
            one(findings, table.get(Key::of(patient)).map(|found| found.map(Stored::into_inner)), patient);
            let by_number = table.get(Patient::by_number(&patient.team, patient.number.as_str()));
            one(findings, by_number.map(|found| found.map(|found| found.id)), &patient.id);
            match table.get(Patient::by_number(&patient.team, "no number")) {
                Ok(None) => {}
                Ok(Some(found)) => findings.wrong(|| format!("invented {found:?}")),
                Err(error) => findings.error(&error),
            }
        }
        all(findings, table.rows().across_partitions(), &self.patients.iter().collect::<Vec<_>>());
    }

    fn compare_teams(&self, store: &Store, findings: &mut Findings) {
        let set = match store.set::<Team>() {
            Ok(set) => set,
            Err(error) => return findings.error(&error),
        };
        for team in TEAMS {
            let patients = self.patients.iter().filter(|patient| patient.team == team);
            let persons = self.persons.iter().filter(|person| person.team == team);
            let expected: Vec<_> =
                patients.cloned().map(Team::Patient).chain(persons.cloned().map(Team::Person)).collect();
            let rows = set.partition(Person::partition(team)).into_iter();
            compare(findings, rows.map(|row| row.map(Stored::into_inner)), expected.iter());
        }
    }
}

/// What the copies by name have beside it.
#[derive(table_core::Projection, Clone, Debug, PartialEq)]
#[projection(of = Person)]
struct Named {
    id: u32,
    nick: Option<String>,
}

/// Compares what a key finds with what it should.
pub(super) fn one<T: PartialEq + std::fmt::Debug>(
    findings: &mut Findings,
    found: Result<Option<T>>,
    expected: &T,
) {
    match found {
        Ok(Some(found)) if found == *expected => {}
        Ok(Some(found)) => findings.wrong(|| format!("{found:?} in place of {expected:?}")),
        Ok(None) => findings.missed(|| format!("no {expected:?}")),
        Err(error) => findings.error(&error),
    }
}

pub(super) fn all<E: Entity + Clone + PartialEq + std::fmt::Debug>(
    findings: &mut Findings,
    rows: impl IntoIterator<Item = Result<Stored<E>>>,
    expected: &[&E],
) {
    compare(findings, rows.into_iter().map(|row| row.map(Stored::into_inner)), expected.iter().copied());
}

/// Compares what a query gives with what it should; after an error nothing more is asked.
pub(super) fn compare<'e, T: PartialEq + std::fmt::Debug + 'e>(
    findings: &mut Findings,
    found: impl Iterator<Item = Result<T>>,
    mut expected: impl Iterator<Item = &'e T>,
) {
    for row in found {
        match (row, expected.next()) {
            (Err(error), _) => return findings.error(&error),
            (Ok(row), Some(right)) if row == *right => {}
            (Ok(row), right) => return findings.wrong(|| format!("{row:?} in place of {right:?}")),
        }
    }
    if let Some(left) = expected.next() {
        findings.short += 1;
        findings.note(|| format!("a query ends before {left:?}"));
    }
}
