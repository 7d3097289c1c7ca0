//! Processes that convert entities, and are killed.

use std::time::Duration;

use integration_tests::child::Child;
use integration_tests::random::Random;
use integration_tests::versions::{self, second};
use integration_tests::{Scratch, assert_sound, migrated, relaxed};
use table_core::store::Propagate;
use table_core::typed::Propagation;
use table_core::{ErrorKind, Query};

const MANY: u32 = 2_000;

/// A process that converts is killed, again and again, while this one writes: nothing is lost, and nothing is done twice.
#[test]
fn a_conversion_whose_process_is_killed_ends_right() {
    let kills = std::env::var("CRASH_JOBS").map_or(12, |text| text.parse().expect("a number"));
    let scratch = Scratch::new();
    let path = scratch.path().join("store");
    let store = relaxed().open(&path).unwrap();
    let mut random = Random::new(11);
    let (mut ages, mut far) = (Vec::new(), None);
    for _ in 0..kills {
        if !store.tables().unwrap().is_empty()
            && store.migration::<second::Employee>().unwrap().from().is_none()
        {
            check(&store, &ages);
            store.drop_table("Company").unwrap();
            (ages, far) = (Vec::new(), None);
        }
        if ages.is_empty() {
            versions::fill(&store, MANY);
            ages = (0..MANY).map(versions::age).collect();
        }
        let staff = store.table::<second::Employee>().unwrap();
        let mut child = Child::start(env!("CARGO_BIN_EXE_crash-child"), "convert", &[path.to_str().unwrap()]);
        child.expect("ready");
        let begun = std::time::Instant::now();
        let patience = Duration::from_micros(random.below(60_000));
        while begun.elapsed() < patience {
            let id = random.below(u64::from(MANY)) as u32;
            let age = random.below(90) as u8;
            let key = second::Employee::key("Sales", id);
            match staff.update(key, |e| e.age = age) {
                Ok(_) => ages[id as usize] = age,
                // It is not begun yet.
                Err(error) => assert_eq!(error.kind(), ErrorKind::MigrationPending, "{error}"),
            }
        }
        child.kill();
        // It is where its last step has left it, and never before that; each entity is converted once at most.
        for job in store.jobs().unwrap().into_iter().filter(|job| job.name.starts_with("convert")) {
            assert!(job.changed <= u64::from(MANY), "{job:?}");
            assert!(far.is_none_or(|far| far <= (job.done, job.changed)), "{far:?} {job:?}");
            far = Some((job.done, job.changed));
        }
        for _ in 0..20 {
            let id = random.below(u64::from(MANY)) as u32;
            let found = staff.get(second::Employee::key("Sales", id)).unwrap().unwrap();
            assert_eq!(found.age, ages[id as usize], "{id}");
        }
    }
    store.migration::<second::Employee>().unwrap().run().unwrap();
    check(&store, &ages);
    drop(store);
    let store = relaxed().verify_first(true).open(&path).unwrap();
    check(&store, &ages);
}

fn check(store: &table_core::Store, ages: &[u8]) {
    store.migration::<second::Employee>().unwrap().run().unwrap();
    let staff = store.table::<second::Employee>().unwrap();
    let found: Vec<_> = staff.all().into_iter().map(|row| row.unwrap().age).collect();
    assert_eq!(found, ages);
    let rows = store.dynamic_table("Company").unwrap().query(&Query::new()).unwrap().count();
    assert_eq!(rows, 2 * ages.len());
    assert!(staff.check().unwrap().is_sound() && store.jobs().unwrap().is_empty());
    assert_sound(store);
}

/// A process that converts entities with copies in other tables is killed, again and again: it goes on where it was, and in the
/// end as many rows were changed as there were to change, neither one more nor one less.
#[test]
fn each_row_of_a_conversion_that_is_killed_is_changed_once() {
    const MANY: u32 = 600;
    let kills: u32 = std::env::var("CRASH_JOBS").map_or(12, |text| text.parse().expect("a number"));
    let scratch = Scratch::new();
    let path = scratch.path().join("store");
    let store = relaxed().propagate(Propagate::Manual).open(&path).unwrap();
    let mut random = Random::new(13);
    let (mut staff, mut last, mut ended) = (migrated::Staff::new(), 0, 0);
    for kill in 0_u32.. {
        if staff.is_empty() {
            staff = migrated::fill(&store, MANY);
            assert_eq!(store.propagate().unwrap(), Propagation::Complete);
            migrated::assert_rows(&store, &staff, 1);
        }
        let mut child =
            Child::start(env!("CARGO_BIN_EXE_crash-child"), "convert-counted", &[path.to_str().unwrap()]);
        child.expect("ready");
        // From the last one on none is killed, so that the conversion ends.
        let said = if kill < kills {
            std::thread::sleep(Duration::from_micros(random.below(40_000)));
            child.kill()
        } else {
            std::iter::from_fn(|| Some(child.line()).filter(|line| line != "done")).collect()
        };
        for changed in said.iter().filter(|line| *line != "done") {
            let changed: u64 = changed.parse().unwrap();
            assert!(changed >= last, "it went back from {last} to {changed}");
            last = changed;
        }
        let jobs = store.jobs().unwrap();
        if let Some(job) = jobs.iter().find(|job| job.name.starts_with("convert")) {
            // A step may have been carried out of which nothing was said.
            assert!(job.changed >= last, "{job:?} after {last}");
            last = job.changed;
        } else if jobs.is_empty() {
            // The entities, and two copies and a part of a list of each in other tables.
            let former = u64::from(MANY) * 3 + 5;
            if said.iter().any(|line| line == "done") || kill >= kills {
                assert_eq!(last, former, "something was changed twice, or left out");
                ended += 1;
            }
            migrated::assert_rows(&store, &staff, 2);
            let tables = store.tables().unwrap();
            store.drop_tables(&tables.iter().map(String::as_str).collect::<Vec<_>>()).unwrap();
            (staff, last) = (migrated::Staff::new(), 0);
            if kill >= kills {
                break;
            }
        }
    }
    assert_sound(&store);
    println!("{kills} kills, {ended} ends were counted");
}
