//! Whether an engine does what it is asked, by what the generator of the employees says.

use super::employee::DEPARTMENTS;
use super::engine::{Maker, Opening, SyncMode};
use super::{Employee, Engine};
use crate::place::Place;
use crate::{Digest, Result};

/// What a correct engine reads of these employees.
pub(super) fn expected(staff: &[Employee]) -> Digest {
    let mut digest = Digest::default();
    for e in staff {
        digest.employee(&e.department, e.id, &e.first_name, &e.last_name, &e.email, e.age, e.salary);
    }
    digest
}

fn same(what: &str, read: Digest, expected: Digest) -> Result<()> {
    if read == expected { Ok(()) } else { Err(format!("{what}: {read:?}, not {expected:?}").into()) }
}

fn everything(when: &str, engine: &dyn Engine, staff: &[Employee]) -> Result<()> {
    same(&format!("scan {when}"), engine.scan()?, expected(staff))?;
    same(&format!("get {when}"), engine.get(staff)?, expected(staff))?;
    same(&format!("get by e-mail {when}"), engine.get_by_email(staff)?, expected(staff))?;
    for asked in staff.iter().step_by(97) {
        let department = || staff.iter().filter(|e| e.department == asked.department);
        let namesakes: Vec<_> = department().filter(|e| e.last_name == asked.last_name).cloned().collect();
        let asked = std::slice::from_ref(asked);
        same(&format!("list {when}"), engine.list_by_last_name(asked)?, expected(&namesakes))?;
        let first = asked.first().map_or(0, |e| e.id);
        let range: Vec<_> = department().filter(|e| (first..first + 20).contains(&e.id)).cloned().collect();
        same(&format!("range {when}"), engine.range(asked, 20)?, expected(&range))?;
    }
    Ok(())
}

/// Loads a small company into an engine, changes it, and compares all that can be read with what must be there.
///
/// # Errors
///
/// The first thing that is not as it must be.
pub fn conforms(maker: &Maker, sync: SyncMode) -> Result<()> {
    let rows = 100 * DEPARTMENTS;
    let place = Place::for_tests(maker.name)?;
    // Not the place itself, which this run holds by a lock: an engine may lock its own directory.
    let dir = place.join("engine");
    std::fs::create_dir(&dir)?;
    let engine = (maker.open)(&dir, &Opening::with(sync))?;
    let engine = &*engine;
    let mut staff: Vec<_> = (0..rows).map(|number| Employee::numbered(number, 4 * rows)).collect();
    for hundred in staff.chunks(100) {
        engine.load(hundred)?;
    }
    everything("after loading", engine, &staff)?;

    let refused = |what: &str, done: Result<()>| match done {
        Ok(()) => Err(format!("{what} was not refused")),
        Err(_) => Ok(()),
    };
    let new = Employee::numbered(rows, 4 * rows);
    let taken = staff.iter().find(|e| e.department == new.department).ok_or("a department is empty")?.clone();
    refused(
        "a key that is taken",
        engine.insert(&Employee { email: "new@contoso.com".to_owned(), ..taken.clone() }),
    )?;
    refused(
        "an e-mail address that is taken",
        engine.insert(&Employee { email: taken.email.clone(), ..new.clone() }),
    )?;
    // Alone: `bulk_insert` adds the others of a load by design, where one large transaction adds none.
    refused("a load of what is there", engine.load(std::slice::from_ref(&taken)))?;
    refused("a change to an address that is taken", {
        let other =
            staff.iter().rfind(|e| e.department == taken.department).ok_or("a department is empty")?;
        engine.change_email(other, &taken.email)
    })?;
    everything("after what was refused", engine, &staff)?;

    engine.insert(&new)?;
    staff.push(new);
    // Whether an engine reads the old address from its store.
    for (number, e) in staff.iter_mut().enumerate().step_by(7) {
        let old = Employee { email: "unknown@contoso.com".to_owned(), ..e.clone() };
        e.email = format!("changed.{number}@contoso.com");
        engine.change_email(&old, &e.email)?;
    }
    everything("after changes", engine, &staff)?;

    let mut number = 0_u64;
    let mut kept = Vec::new();
    for e in staff {
        number += 1;
        if number.is_multiple_of(5) {
            engine.delete(&Employee { last_name: "Unknown".to_owned(), ..e })?;
        } else {
            kept.push(e);
        }
    }
    everything("after deletes", engine, &kept)?;
    engine.clear()?;
    engine.reclaim()
}

#[cfg(test)]
mod tests {
    use super::super::ENGINES;
    use super::*;

    #[test]
    fn every_engine_does_the_same() {
        for maker in ENGINES {
            conforms(maker, SyncMode::Lax).unwrap_or_else(|error| panic!("{}: {error}", maker.name));
        }
    }

    #[test]
    fn keys_and_addresses_differ() {
        let staff: Vec<_> = (0..20_000).map(|number| Employee::numbered(number, 20_000)).collect();
        let count = |key: fn(&Employee) -> (String, String)| {
            staff.iter().map(key).collect::<std::collections::HashSet<_>>().len()
        };
        assert_eq!(count(|e| (e.department.clone(), e.id.to_string())), 20_000);
        assert_eq!(count(|e| (String::new(), e.email.clone())), 20_000);
        // So large a company that names have numbers.
        let emails: std::collections::HashSet<_> =
            (0..200_000).map(|number| Employee::numbered(number, 10_000_000).email).collect();
        assert_eq!(emails.len(), 200_000);
        let departments = count(|e| (e.department.clone(), String::new()));
        assert_eq!(u64::try_from(departments).unwrap(), DEPARTMENTS);
    }

    #[test]
    fn a_digest_tells_employees_apart() {
        let e = Employee::numbered(7, 10_000);
        for other in [
            Employee { id: 8, ..e.clone() },
            Employee { age: 1, ..e.clone() },
            Employee { salary: 1.0, ..e.clone() },
            Employee { first_name: "Other".to_owned(), ..e.clone() },
            Employee { email: format!("{}!", e.email), ..e.clone() },
        ] {
            assert_ne!(expected(std::slice::from_ref(&e)), expected(&[other]));
        }
    }
}
