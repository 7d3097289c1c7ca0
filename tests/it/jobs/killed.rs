//! Jobs whose process is killed, again and again, in each kind of job: each ends right, nothing is done twice, and no write
//! that was acknowledged meanwhile is lost. `CRASH_JOBS` says how many kills of each.

use std::time::Duration;

use integration_tests::child::Child;
use integration_tests::elsewhere;
use integration_tests::random::Random;
use integration_tests::releases::{Copies, Staff, assert_rows, second};
use integration_tests::{Scratch, assert_sound, relaxed};
use table_core::{Entity, Store};

use super::filled;

const MANY: u32 = 1_200;

fn kills() -> u32 {
    std::env::var("CRASH_JOBS").map_or(8, |text| text.parse().expect("a number"))
}

/// What a kind of job goes over, and what must be so when it has ended.
struct World {
    store: Store,
    staff: Staff,
    random: Random,
    /// How often something was written since the job began.
    written: u64,
}

impl World {
    /// Writes that are acknowledged, of entities that the job leaves.
    fn write(&mut self, kill: u32) {
        if self.staff.is_empty() {
            return;
        }
        let table = self.store.table::<second::Employee>().unwrap();
        for _ in 0..3 {
            let id = self.random.below(u64::from(MANY)) as u32;
            let department = ["Sales", "Legal"][self.random.below(2) as usize];
            let Some((email, _)) = self.staff.get_mut(&(department.to_owned(), id)) else { continue };
            let new = format!("{kill}-{department}-{id}@contoso.com");
            table.update(second::Employee::key(department, id), |e| e.email.clone_from(&new)).unwrap();
            *email = new;
            self.written += 1;
        }
    }
}

/// Has a job of this kind killed so many times; `begin` makes what it goes over, `end` looks at what has become of it, and
/// says how many it must have changed.
fn killed(kind: &str, begin: impl Fn(&mut World), end: impl Fn(&mut World) -> u64) {
    let scratch = Scratch::new();
    let path = scratch.path().join("store");
    let store = relaxed().open(&path).unwrap();
    let mut world = World { store, staff: Staff::new(), random: Random::new(7), written: 0 };
    begin(&mut world);
    let (mut last, mut ended, mut kill) = (0, 0, 0);
    loop {
        let mut child =
            Child::start(env!("CARGO_BIN_EXE_crash-child"), "job", &[path.to_str().unwrap(), kind]);
        child.expect("ready");
        world.write(kill);
        std::thread::sleep(Duration::from_micros(world.random.below(60_000)));
        // From the last on none is killed, so that the job ends.
        let said = if kill < kills() {
            child.kill()
        } else {
            vec![child.next_within(Duration::from_secs(120)).unwrap().unwrap()]
        };
        kill += 1;
        let jobs = world.store.jobs().unwrap();
        let changed = jobs.first().map(|job| job.changed);
        if let Some(changed) = changed {
            assert!(changed >= last, "{kind}: it went back from {last} to {changed}");
            last = changed;
            assert!(said.is_empty(), "{kind}: {said:?}");
            continue;
        }
        let many = end(&mut world);
        if let Some(done) = said.first() {
            // What was written since an index began to be filled is in it, and is passed.
            let passed = if kind == "rebuild" { world.written } else { 0 };
            let is_right = (many.saturating_sub(passed)..=many).any(|many| *done == format!("done {many}"));
            assert!(is_right, "{kind}: something of {many} was done twice, or left out: {done}");
            ended += 1;
        }
        last = 0;
        if kill > kills() {
            break;
        }
        begin(&mut world);
        world.written = 0;
    }
    drop(world);
    let store = relaxed().verify_first(true).open(&path).unwrap();
    assert_sound(&store);
    println!("{kind}: {kill} processes, all but the last killed; {ended} ends were told");
}

/// Employees of the second release, with its index or without.
fn fill(world: &mut World, has_index: bool) {
    let table = world.store.table::<second::Employee>().unwrap();
    if world.staff.is_empty() {
        world.staff = filled(&world.store, MANY);
    }
    if has_index {
        table.rebuild().unwrap().run().unwrap();
    } else {
        drop(table.drop_index("by_email").map(|job| job.run().unwrap()));
    }
}

fn look(world: &World, has_index: bool) {
    let release = Copies::OF[usize::from(has_index)];
    assert_rows(&world.store.dynamic_table("Company").unwrap(), &world.staff, release);
}

#[test]
fn a_rebuild_that_is_killed_goes_on() {
    killed(
        "rebuild",
        |world| fill(world, false),
        |world| {
            look(world, true);
            u64::from(MANY)
        },
    );
}

#[test]
fn a_drop_that_is_killed_goes_on() {
    killed(
        "drop",
        |world| fill(world, true),
        |world| {
            look(world, false);
            u64::from(MANY)
        },
    );
}

#[test]
fn deletions_that_are_killed_go_on() {
    // Those over 45 are deleted, and come again.
    let again = |world: &mut World| {
        fill(world, true);
        let table = world.store.table::<second::Employee>().unwrap();
        for (id, age) in (0..MANY).map(|id| (id, 20 + (id % 50) as u8)) {
            let (at, email) = (("Sales".to_owned(), id), format!("{id}@contoso.com"));
            if let std::collections::btree_map::Entry::Vacant(vacant) = world.staff.entry(at) {
                vacant.insert((email.clone(), age));
                table.insert(&second::Employee { department: "Sales".into(), id, email, age }).unwrap();
            }
        }
        world.staff.retain(|_, (_, age)| *age < 45);
    };
    killed("delete-where", again, |world| {
        look(world, true);
        u64::from(MANY) - world.staff.len() as u64
    });
}

#[test]
fn the_deletion_of_a_partition_that_is_killed_goes_on() {
    let again = |world: &mut World| {
        let table = world.store.table::<second::Employee>().unwrap();
        let departments: &[&str] = if world.staff.is_empty() { &["Legal", "Sales"] } else { &["Sales"] };
        for department in departments {
            let one = |id: u32| second::Employee {
                department: (*department).into(),
                id,
                email: format!("{department}-{id}@contoso.com"),
                age: 20 + (id % 50) as u8,
            };
            assert!(table.bulk_insert((0..MANY).map(one)).unwrap().failures.is_empty());
            if *department == "Legal" {
                let one = |id| ((one(id).department, id), (one(id).email, one(id).age));
                world.staff = (0..MANY).map(one).collect();
            }
        }
    };
    killed("delete-partition", again, |world| {
        look(world, true);
        u64::from(MANY)
    });
}

/// The index lies in another table, and its former rows in a third.
#[test]
fn a_rebuild_elsewhere_that_is_killed_goes_on() {
    let begin = |world: &mut World| {
        let staff = world.store.table::<elsewhere::Employee>().unwrap();
        if staff.all().count().unwrap() == 0 {
            let mut random = Random::new(5);
            let many = (0..400).map(|id| elsewhere::Employee {
                id,
                email: format!("{id}"),
                badge: Some(id),
                ..elsewhere::employee(&mut random)
            });
            assert!(staff.bulk_insert(many).unwrap().failures.is_empty());
        }
        world.store.drop_table("Skills").unwrap();
        drop(world.store.table::<elsewhere::Employee>().unwrap());
    };
    killed("elsewhere", begin, |world| {
        let staff = elsewhere::check(&world.store).unwrap();
        let report = world.store.table::<elsewhere::Employee>().unwrap().check().unwrap();
        assert!(report.is_sound(), "{report}");
        assert_eq!(elsewhere::Employee::SCHEMA.indexes.len(), 5);
        staff.len() as u64
    });
}
