//! Repairs whose process is killed: what was mended stays so, and the next goes on and mends the rest, once.

use std::time::Duration;

use integration_tests::child::Child;
use integration_tests::random::Random;
use integration_tests::releases::{Copies, Staff, assert_rows, second};
use integration_tests::{Scratch, assert_sound, relaxed};
use table_core::{DynamicEntity, IfMatch, Store};

const MANY: u32 = 900;

/// Those whose copies are damaged; the others are written meanwhile.
fn is_damaged(id: u32) -> bool {
    id.is_multiple_of(3)
}

/// Takes copies away, changes some, and adds some of nobody: how many things are wrong then.
fn damage(store: &Store, staff: &Staff) -> u64 {
    let raw = store.dynamic_table("Company").unwrap().raw();
    let mut wrong = 0;
    for ((department, id), (email, age)) in staff.iter().filter(|((_, id), _)| is_damaged(*id)) {
        wrong += 1;
        let copy = format!("email_{email}");
        match id / 3 % 3 {
            0 => raw.delete(department, &copy).unwrap(),
            1 => {
                let other = DynamicEntity::new(department, &copy).with("Age", i32::from(*age) + 1);
                raw.merge(&other, IfMatch::Any).map(drop).unwrap();
            }
            _ => {
                let of_nobody = format!("email_{id}@nowhere.org");
                let found = raw.get(department, &copy).unwrap().unwrap();
                let row =
                    DynamicEntity::new(department, of_nobody).with("Email", format!("{id}@nowhere.org"));
                let rest = found.properties().filter(|(name, _)| *name != "Email");
                let row = rest.fold(row, |row, (name, value)| row.with(name, value.clone()));
                raw.insert(&row).map(drop).unwrap();
            }
        }
    }
    wrong
}

#[test]
fn a_repair_that_is_killed_goes_on() {
    let kills = std::env::var("CRASH_JOBS").map_or(8, |text| text.parse().expect("a number"));
    let scratch = Scratch::new();
    let path = scratch.path().join("store");
    let store = relaxed().open(&path).unwrap();
    let table = store.table::<second::Employee>().unwrap();
    let one = |id: u32| second::Employee {
        department: "Sales".into(),
        id,
        email: format!("{id}@contoso.com"),
        age: 20 + (id % 50) as u8,
    };
    assert!(table.bulk_insert((0..MANY).map(one)).unwrap().failures.is_empty());
    let mut staff: Staff = (0..MANY).map(|id| (("Sales".into(), id), (one(id).email, one(id).age))).collect();
    let change = |id: u32, email: String, staff: &mut Staff| {
        table.update(second::Employee::key("Sales", id), |e| e.email.clone_from(&email)).unwrap();
        staff.get_mut(&("Sales".to_owned(), id)).unwrap().0 = email;
    };
    let (mut random, mut wrong, mut last, mut halves, mut ended) = (Random::new(17), 0, 0, 0, 0);
    for kill in 0.. {
        if store.jobs().unwrap().is_empty() {
            (wrong, last) = (damage(&store, &staff), 0);
            assert_eq!(table.check().unwrap().wrong(), wrong);
        }
        let mut child = Child::start(env!("CARGO_BIN_EXE_crash-child"), "repair", &[path.to_str().unwrap()]);
        child.expect("ready");
        for _ in 0..3 {
            let id = random.below(u64::from(MANY)) as u32;
            if !is_damaged(id) {
                change(id, format!("{kill}-{id}@contoso.com"), &mut staff);
            }
        }
        std::thread::sleep(Duration::from_micros(random.below(60_000)));
        // From the last on none is killed, so that the job ends.
        let said = if kill < kills {
            child.kill()
        } else {
            vec![child.next_within(Duration::from_secs(120)).unwrap().unwrap()]
        };
        // Who dies between LMDB's meta page and the count in its lock has committed, and others see it with their next write.
        change(1, format!("{kill}-1-after@contoso.com"), &mut staff);
        let (report, jobs) = (table.check().unwrap(), store.jobs().unwrap());
        // What the job says that it has mended is mended, and nothing else.
        let mended = jobs.first().map_or(wrong, |job| job.changed);
        assert!(mended >= last, "it went back from {last} to {mended}");
        assert_eq!(report.wrong(), wrong - mended, "of {wrong} {mended} were mended: {report}");
        halves += u64::from(mended > 0 && mended < wrong);
        last = mended;
        if let Some(said) = said.first() {
            assert!(jobs.is_empty());
            assert_eq!(*said, format!("mended {wrong} of {wrong}"), "{report}");
            ended += 1;
        }
        if kill >= kills {
            break;
        }
    }
    assert_rows(&store.dynamic_table("Company").unwrap(), &staff, Copies::OF[1]);
    drop((table, store));
    assert_sound(&relaxed().verify_first(true).open(&path).unwrap());
    println!("repair: {kills} kills, {halves} of them in the midst of it, {ended} ends were told");
}
