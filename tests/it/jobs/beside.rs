//! Jobs beside writers in threads and processes, and jobs whose process is killed.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use integration_tests::child::Child;
use integration_tests::random::Random;
use integration_tests::releases::{Copies, Staff, assert_rows, first, second};
use integration_tests::{Scratch, assert_sound, relaxed};
use table_core::ErrorKind;

use super::filled;

/// Writers of both releases go on while the index is made; what each was told is so.
#[test]
fn writers_of_both_releases_lose_nothing_while_an_index_is_made() {
    const MANY: u32 = 400;
    let scratch = Scratch::new();
    let store = scratch.tables_with(&relaxed());
    let staff = Mutex::new(filled(&store, MANY));
    let (is_over, written, refused) = (AtomicBool::new(false), AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for thread in 0..4_u32 {
            let (store, staff, is_over, written, refused) = (&store, &staff, &is_over, &written, &refused);
            scope.spawn(move || {
                let (old, new) =
                    (store.table::<first::Employee>().unwrap(), store.table::<second::Employee>().unwrap());
                let mut random = Random::new(u64::from(thread));
                while !is_over.load(Ordering::Relaxed) {
                    // Each thread has entities of its own.
                    let id = random.below(u64::from(MANY / 4)) as u32 * 4 + thread;
                    let (email, age) =
                        (format!("{}-{id}@contoso.com", random.below(1_000)), 20 + random.below(50) as u8);
                    let change = |e: &mut String, a: &mut u8| {
                        e.clone_from(&email);
                        *a = age;
                    };
                    let done = if thread % 2 == 0 {
                        let key = first::Employee::key("Sales", id);
                        old.update(key, |e| change(&mut e.email, &mut e.age)).map(drop)
                    } else {
                        let key = second::Employee::key("Sales", id);
                        new.update(key, |e| change(&mut e.email, &mut e.age)).map(drop)
                    };
                    match done {
                        Ok(()) => {
                            staff.lock().unwrap().insert(("Sales".into(), id), (email, age));
                            written.fetch_add(1, Ordering::Relaxed);
                        }
                        Err(error) => {
                            assert_eq!((error.kind(), thread % 2), (ErrorKind::LayoutChanged, 0), "{error}");
                            refused.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                }
            });
        }
        for round in 0..3 {
            let table = store.table::<second::Employee>().unwrap();
            let mut job = table.rebuild().unwrap().gentle();
            while job.step().unwrap() {
                let found = table.get(second::Employee::by_email("Sales", "nobody@contoso.com"));
                assert!(matches!(found.map_err(|e| e.kind()), Ok(None) | Err(ErrorKind::IndexBuilding)));
            }
            if round < 2 {
                table.drop_index("by_email").unwrap().run().unwrap();
            }
        }
        is_over.store(true, Ordering::Relaxed);
    });
    assert!(written.into_inner() > 50 && refused.into_inner() > 0);
    let table = store.table::<second::Employee>().unwrap();
    assert_rows(table.dynamic(), &staff.into_inner().unwrap(), Copies::OF[1]);
    assert_sound(&store);
}

/// A job that gives way takes few rows at a time at first, and no more than others where that has them wait no longer; and
/// others write between its steps.
#[test]
fn two_that_share_a_job_meet_at_the_ends_of_its_parts() {
    for _ in 0..30 {
        let scratch = Scratch::new();
        let store = scratch.tables_with(&relaxed());
        let staff = filled(&store, 50);
        // Few rows: both are at the end of a part at one time in many of the rounds.
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let mut job = store.table::<second::Employee>().unwrap().rebuild().unwrap().steps_of(10);
                    while job.step().unwrap() {}
                });
            }
        });
        let table = store.table::<second::Employee>().unwrap();
        assert_eq!(table.by_email().department("Sales").count().unwrap(), staff.len() as u64);
        assert_rows(&store.dynamic_table("Company").unwrap(), &staff, Copies::OF[1]);
    }
}

#[test]
fn a_gentle_job_gives_way_between_short_steps() {
    let scratch = Scratch::new();
    let store = scratch.store_with(&relaxed());
    filled(&store, 600);
    let (is_over, written) = (AtomicBool::new(false), AtomicU64::new(0));
    let table = store.table::<second::Employee>().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let table = store.table::<second::Employee>().unwrap();
            for id in (0..600).cycle() {
                if is_over.load(Ordering::Relaxed) {
                    break;
                }
                table.update(second::Employee::key("Sales", id), |e| e.age ^= 1).unwrap();
                written.fetch_add(1, Ordering::Relaxed);
            }
        });
        let mut job = table.rebuild().unwrap().gentle();
        let (mut steps, mut done, mut changed, mut most) = (0, 0, 0, 50);
        let began = std::time::Instant::now();
        let mut working = Duration::ZERO;
        loop {
            let step = std::time::Instant::now();
            let more = job.step().unwrap();
            working += step.elapsed();
            let now = job.progress();
            assert!(now.done <= done + 40 * most, "a step looks at few rows: {now} after {done}");
            assert!(now.changed <= changed + most, "a step changes few: {now} after {changed}");
            (steps, done, changed, most) = (steps + 1, now.done, now.changed, (2 * most).min(500));
            if !more {
                break;
            }
        }
        is_over.store(true, Ordering::Relaxed);
        // It has looked for former copies, and fills at most 50, 100, 200 and the rest: those that were changed meanwhile are in
        // the index.
        assert!(steps >= 3, "{steps} steps");
        // What it does not work it rests, so that a writer waits no longer than a step takes.
        assert!(working <= began.elapsed());
        let written = written.load(Ordering::Relaxed);
        assert!(written >= steps, "{written} writes beside {steps} steps");
    });
    assert!(table.check().unwrap().is_sound());
}

/// A process that makes an index is killed, again and again, while this one writes.
#[test]
fn a_job_whose_process_is_killed_ends_right() {
    let kills = std::env::var("CRASH_JOBS").map_or(12, |text| text.parse().expect("a number"));
    let scratch = Scratch::new();
    let path = scratch.path().join("store");
    let store = relaxed().open(&path).unwrap();
    let mut staff = filled(&store, 3_000);
    let mut random = Random::new(7);
    let mut last = BTreeMap::new();
    for kill in 0..kills {
        let mut child = Child::start(env!("CARGO_BIN_EXE_crash-child"), "rebuild", &[path.to_str().unwrap()]);
        child.expect("ready");
        for _ in 0..5 {
            let id = random.below(3_000) as u32;
            let email = format!("{kill}-{id}@contoso.com");
            let table = store.table::<second::Employee>().unwrap();
            table.update(second::Employee::key("Sales", id), |e| e.email.clone_from(&email)).unwrap();
            staff.get_mut(&("Sales".to_owned(), id)).unwrap().0 = email;
        }
        std::thread::sleep(Duration::from_micros(random.below(30_000)));
        child.kill();
        // It is where its last step has left it, and never before that.
        for job in store.jobs().unwrap() {
            let far = (job.changed, job.done);
            assert!(
                last.get(&job.begun).is_none_or(|before: &(u64, u64)| before.0 <= far.0),
                "{last:?} {far:?}"
            );
            assert!(job.changed <= 3_000, "an entity was done twice");
            last.insert(job.begun, far);
        }
        if store.jobs().unwrap().is_empty() {
            assert_rows(&store.dynamic_table("Company").unwrap(), &staff, Copies::OF[1]);
            store.table::<second::Employee>().unwrap().drop_index("by_email").unwrap().run().unwrap();
        }
    }
    let table = store.table::<second::Employee>().unwrap();
    table.rebuild().unwrap().run().unwrap();
    check(&store, &staff);
    drop(table);
    drop(store);
    let store = relaxed().verify_first(true).open(&path).unwrap();
    check(&store, &staff);
}

fn check(store: &table_core::Store, staff: &Staff) {
    assert_rows(&store.dynamic_table("Company").unwrap(), staff, Copies::OF[1]);
    assert_sound(store);
}

integration_tests::on_executors_with_jobs! {
    writers_of_both_releases_lose_nothing_while_an_index_is_made
    two_that_share_a_job_meet_at_the_ends_of_its_parts
}
