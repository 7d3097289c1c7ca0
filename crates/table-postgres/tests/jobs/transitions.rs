//! Indexes that come and go as fast as they can beside eight writers: whatever was acknowledged is so, and an index that is read
//! has a copy of each entity and no other.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use table_core::{ErrorKind, Table};
use table_postgres::PostgresTables;

use crate::releases::{connect, key, second};
use crate::support::options;

const WRITERS: u32 = 8;
/// Of each writer.
const ENTITIES: u32 = 12;
const SPAN: Duration = Duration::from_secs(9);

/// What each entity's address is by what its writer was told.
type Model = BTreeMap<u32, String>;

/// Ends the writers, also where the test fails.
struct Over<'o>(&'o AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Writes entities that no other writer writes, until it is over; returns what they are then.
fn write(tables: &PostgresTables, writer: u32, is_over: &AtomicBool, written: &AtomicU64) -> Model {
    let (staff, mut model) = (second(tables), Model::new());
    let mut number = 0_u32;
    while !is_over.load(Ordering::Relaxed) {
        number += 1;
        let id = writer + WRITERS * (number.wrapping_mul(7_919) % ENTITIES);
        let email = format!("{id}.{}@example.com", number % 5);
        let one = second::Employee { department: "Sales".into(), id, email: email.clone() };
        let is_there = model.contains_key(&id);
        let done = match (is_there, number % 4) {
            (false, _) => staff.insert(&one).map(drop),
            (true, 0) => staff.delete(key(id)),
            (true, 1) => staff.put(&one).map(drop),
            (true, _) => staff.update(key(id), |found| found.email.clone_from(&email)).map(drop),
        };
        match done {
            Ok(()) if is_there && number.is_multiple_of(4) => drop(model.remove(&id)),
            Ok(()) => drop(model.insert(id, email)),
            Err(error) => panic!("{writer}: {error}"),
        }
        written.fetch_add(1, Ordering::Relaxed);
    }
    model
}

/// Makes sure that the index says what the entities do, both at one moment, if it can be read then.
fn check(tables: &PostgresTables, staff: &Table<second::Employee>) -> bool {
    let snapshot = tables.snapshot().unwrap();
    let by_index =
        staff.at(&snapshot).by_email().department("Sales").into_iter().collect::<Result<Vec<_>, _>>();
    let by_index = match by_index {
        Ok(found) => found,
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::IndexBuilding, "{error}");
            return false;
        }
    };
    let own = staff.at(&snapshot).rows().department("Sales").into_iter().map(Result::unwrap);
    let mut own: Vec<_> = own.map(|one| (one.email.clone(), one.id)).collect();
    let mut found: Vec<_> = by_index.into_iter().map(|one| (one.email.clone(), one.id)).collect();
    own.sort_unstable();
    found.sort_unstable();
    assert_eq!(own, found);
    true
}

#[test]
fn writers_and_readers_are_right_in_every_state_of_an_index() {
    let options = options();
    let tables = connect(&options);
    let staff = second(&tables);
    // With the first entity the kind is noted.
    let first = second::Employee { department: "Legal".into(), id: 1, email: "1@example.com".into() };
    staff.insert(&first).unwrap();
    let handles: Vec<_> = (0..4).map(|_| connect(&options)).collect();
    let (is_over, written, until) = (AtomicBool::new(false), AtomicU64::new(0), Instant::now() + SPAN);
    let (mut transitions, mut read) = (0_u32, 0_u32);
    let models = thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let tables = &handles[usize::try_from(writer).unwrap() % handles.len()];
                let (is_over, written) = (&is_over, &written);
                scope.spawn(move || write(tables, writer, is_over, written))
            })
            .collect();
        let reader = scope.spawn(|| {
            let (tables, mut read) = (connect(&options), 0);
            let staff = second(&tables);
            while !is_over.load(Ordering::Relaxed) {
                read += u32::from(check(&tables, &staff));
            }
            read
        });
        let over = Over(&is_over);
        let mut rounds = 0_u32;
        while Instant::now() < until {
            staff.drop_index("by_email").unwrap().run().unwrap();
            let mut job = staff.rebuild().unwrap().steps_of(if rounds % 16 == 3 { 5 } else { 500 });
            while job.step().unwrap() {}
            // Dropping, absent; and removed, filled, ready.
            transitions += 5;
            rounds += 1;
            check(&tables, &staff);
        }
        drop(over);
        read += reader.join().unwrap();
        writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect::<Model>()
    });
    assert!(check(&tables, &staff));
    let found = staff.rows().department("Sales").into_iter().map(Result::unwrap);
    assert_eq!(found.map(|one| (one.id, one.email.clone())).collect::<Model>(), models);
    assert!(staff.check().unwrap().is_sound());
    println!("{transitions} transitions beside {} writes, {read} reads of the index", written.into_inner());
    assert!(transitions > 0 && read > 0, "{transitions} {read}");
}
