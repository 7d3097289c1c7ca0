//! Processes that convert entities, and are killed.

use std::time::Duration;

use integration_tests::child::Child;
use integration_tests::random::Random;
use integration_tests::versions::{self, second};
use integration_tests::{Scratch, assert_sound, relaxed};
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
