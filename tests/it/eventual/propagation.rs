//! Who propagates, when, and what becomes of what fails.

use std::sync::PoisonError;
use std::time::{Duration, Instant};

use integration_tests::eventual::{Employee, TABLES, Worker, check};
use integration_tests::opened::Needs;
use integration_tests::random::Random;
use integration_tests::{Scratch, assert_sound, on_executors_with_jobs};
use table_core::store::Propagate;
use table_core::typed::Propagation;
use table_core::{DynamicEntity, ErrorKind, IfMatch, Query, Store, Tables};

use super::{company, company_on_lmdb, employee, manual};

/// Waits until nothing is to follow any more.
fn await_propagated(store: &Tables) {
    let begun = Instant::now();
    while store.pending_propagation().unwrap().entities > 0 {
        assert!(begun.elapsed() < Duration::from_secs(30), "{}", store.pending_propagation().unwrap());
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Whether the process has a thread that propagates.
fn has_thread() -> bool {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let name = |task: std::path::PathBuf| std::fs::read_to_string(task.join("comm")).unwrap_or_default();
    tasks.filter_map(Result::ok).any(|task| name(task.path()).starts_with("table-core sett"))
}

#[test]
fn a_thread_propagates_as_long_as_there_is_something_to_do() {
    let scratch = Scratch::new();
    let store = scratch.open(&Needs::default());
    let staff = store.table::<Employee>().unwrap();
    for id in 0..50 {
        staff.insert(&employee("Sales", id, "Jones")).unwrap();
    }
    await_propagated(&store);
    assert_eq!(check(&store).unwrap().len(), 50);
    for id in 0..50 {
        staff.update(Employee::key("Sales", id), |e| e.last_name = "Hall".into()).unwrap();
    }
    await_propagated(&store);
    assert_eq!(staff.by_name().last_name("Hall").count().unwrap(), 50);
    assert_eq!(check(&store).unwrap().len(), 50);
    assert_sound(&store);
    drop((store, staff));
    // Other tests may have one.
    let begun = Instant::now();
    while has_thread() && begun.elapsed() < Duration::from_secs(5) {
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn what_one_process_leaves_another_propagates_once_it_opens_the_kind() {
    let (scratch, store) = company();
    assert_eq!(store.pending_propagation().unwrap().entities, 3);
    drop(store);
    let store = scratch.open(&Needs::default());
    // Nobody here knows the kind yet.
    assert_eq!(store.propagate().unwrap().unwrap_err_kinds(), ["employee"]);
    let pending_propagation = store.pending_propagation().unwrap();
    assert_eq!(
        (pending_propagation.entities, pending_propagation.unknown_kinds),
        (3, vec!["employee".to_owned()])
    );
    store.table::<Employee>().unwrap();
    await_propagated(&store);
    assert_eq!(check(&store).unwrap().len(), 3);
}

trait Kinds {
    fn unwrap_err_kinds(self) -> Vec<String>;
}

impl Kinds for Propagation {
    fn unwrap_err_kinds(self) -> Vec<String> {
        match self {
            Self::Incomplete { kinds, .. } => kinds,
            other => panic!("{other:?}"),
        }
    }
}

/// One whose elements can't always be had.
mod fragile {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicBool, Ordering};

    use table_core::Entity;
    use table_core::schema::KeyElements;

    pub static PANICS: AtomicBool = AtomicBool::new(false);

    /// Held by the test that has them panic, which runs on several executors.
    pub static ALONE: Mutex<()> = Mutex::new(());

    #[derive(Entity, Clone, Debug, PartialEq)]
    #[entity(table = "Texts", kind = "text")]
    #[key(partition = "{book}", row = "text_{id:06}")]
    #[index(by_word, table = "Words", partition = "{book}", row = "{words[]}_{id:06}", copy = keys, as = word, eventual)]
    pub struct Text {
        pub book: String,
        pub id: u32,
        #[property(json)]
        pub words: List,
    }

    #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
    pub struct List(pub Vec<String>);

    impl KeyElements for List {
        type Element = String;

        fn elements(&self) -> impl Iterator<Item = &String> {
            let panics = PANICS.load(Ordering::Relaxed) && self.0.iter().any(|word| word == "bad");
            assert!(!panics, "these words are not to be read");
            self.0.iter()
        }
    }
}

#[test]
fn what_panics_is_set_aside_in_the_end_and_holds_up_nobody() {
    use std::sync::atomic::Ordering;

    use fragile::{ALONE, List, PANICS, Text};

    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let scratch = Scratch::new();
    let store = manual(&scratch);
    let texts = store.table::<Text>().unwrap();
    let text = |id, words: &[&str]| Text {
        book: "b".into(),
        id,
        words: List(words.iter().map(|word| (*word).to_owned()).collect()),
    };
    for (id, words) in [(1, &["good"][..]), (2, &["bad"]), (3, &["other", "good"])] {
        texts.insert(&text(id, words)).unwrap();
    }
    PANICS.store(true, Ordering::Relaxed);
    for tries in 1..=16 {
        assert_eq!(store.propagate().unwrap().unwrap_err_kinds(), Vec::<String>::new());
        assert_eq!(texts.by_word().book("b").count().unwrap(), 3);
        let pending_propagation = store.pending_propagation().unwrap();
        assert_eq!(
            (pending_propagation.entities, pending_propagation.set_aside),
            (1, u64::from(tries == 16))
        );
        let failed = &pending_propagation.failing[0];
        assert_eq!((&*failed.table, &*failed.partition, &*failed.row), ("Texts", "b", "text_000002"));
        assert_eq!((failed.tries, failed.is_set_aside), (tries, tries == 16));
        assert!(failed.error.contains("panicked"), "{}", failed.error);
    }
    assert!(
        store.pending_propagation().unwrap().to_string().contains("1 set aside"),
        "{}",
        store.pending_propagation().unwrap()
    );
    // Nobody tries it any more.
    store.propagate().unwrap();
    assert_eq!(store.pending_propagation().unwrap().failing[0].tries, 16);
    assert_sound(&store);
    PANICS.store(false, Ordering::Relaxed);
    store.propagate().unwrap();
    assert_eq!(store.pending_propagation().unwrap().set_aside, 1);
    // By hand, or by a change.
    assert_eq!(store.retry_failed().unwrap(), 1);
    assert_eq!(store.retry_failed().unwrap(), 0);
    assert_eq!(store.propagate().unwrap(), Propagation::Complete);
    assert_eq!(texts.by_word().book("b").word("bad").count().unwrap(), 1);
    assert_sound(&store);
}

#[test]
fn a_panic_in_the_background_harms_nothing_and_is_tried_again() {
    // A row that is not to be where a copy goes: a raw write makes it one of a kind that the propagator does not know.
    let scratch = Scratch::new();
    let store = scratch.open(&Needs::default());
    let staff = store.table::<Employee>().unwrap();
    let company = store.dynamic_table("Company").unwrap();
    staff.insert(&employee("Sales", 1, "Jones")).unwrap();
    await_propagated(&store);
    // The entity can't be read any more, and so not be propagated.
    let before = company.get("Sales", "empid_000001").unwrap().unwrap();
    let broken =
        DynamicEntity::new("Sales", "empid_000001").with("EntityType", "employee").with("LastName", 7);
    company.raw().replace(&broken, IfMatch::Any).unwrap();
    staff.insert(&employee("Sales", 2, "Jones")).unwrap();
    await_propagated(&store);
    company.raw().replace(&before, IfMatch::Any).unwrap();
    assert_eq!(staff.by_name().last_name("Jones").count().unwrap(), 2);
    assert_sound(&store);
}

#[test]
fn an_entity_that_cannot_be_read_fails_until_it_is_changed() {
    let (_scratch, store) = company();
    let staff = store.table::<Employee>().unwrap();
    let raw = store.dynamic_table("Company").unwrap().raw();
    let broken =
        DynamicEntity::new("Sales", "empid_000001").with("EntityType", "employee").with("LastName", 7);
    raw.replace(&broken, IfMatch::Any).unwrap();
    for _ in 0..3 {
        assert_eq!(store.propagate().unwrap().unwrap_err_kinds(), Vec::<String>::new());
    }
    let pending_propagation = store.pending_propagation().unwrap();
    assert_eq!((pending_propagation.entities, pending_propagation.failing[0].tries), (1, 3));
    assert_eq!(staff.by_name().across_partitions().count().unwrap(), 2);
    // The change of the entity begins anew.
    raw.delete("Sales", "empid_000001").unwrap();
    raw.delete("Sales", "age_030_000001").unwrap();
    store.dynamic_table("Codes").unwrap().raw().delete("codes", "00001").unwrap();
    staff.insert(&employee("Sales", 1, "Again")).unwrap();
    assert_eq!(store.pending_propagation().unwrap().failing.len(), 0);
    assert_eq!(store.propagate().unwrap(), Propagation::Complete);
    assert_eq!(check(&store).unwrap().len(), 3);
}

#[test]
fn tables_are_dropped_together_with_what_is_to_follow() {
    let (_scratch, store) = company();
    store.propagate().unwrap();
    let staff = store.table::<Employee>().unwrap();
    staff.update(Employee::key("Sales", 1), |e| e.last_name = "Hall".into()).unwrap();
    assert_eq!(store.pending_propagation().unwrap().entities, 1);
    store.drop_tables(&TABLES).unwrap();
    assert_eq!(store.pending_propagation().unwrap().entities, 0);
    assert_eq!(store.propagate().unwrap(), Propagation::Complete);
    assert!(store.tables().unwrap().is_empty(), "propagation makes no table anew");
    if let Some(store) = store.lmdb() {
        store.reclaim().unwrap();
        assert_eq!(store.check().unwrap().pending_propagation, 0);
    }
    // Another table of the name knows nothing of the one before.
    let staff = store.table::<Employee>().unwrap();
    staff.insert(&employee("Sales", 1, "Jones")).unwrap();
    assert_eq!(store.propagate().unwrap(), Propagation::Complete);
    assert_eq!(check(&store).unwrap().len(), 1);
    assert_sound(&store);
}

/// The index is to be made again, of all entities that are there then; and what was to follow follows, or has come by that.
#[test]
fn a_dropped_table_of_copies_is_made_again_and_never_by_propagation() {
    let (_scratch, store) = company();
    store.propagate().unwrap();
    let staff = store.table::<Employee>().unwrap();
    staff.update(Employee::key("Sales", 1), |e| e.last_name = "Hill".into()).unwrap();
    store.drop_table("Names").unwrap();
    assert_eq!(store.propagate().unwrap(), Propagation::Complete);
    assert!(!store.tables().unwrap().contains(&"Names".to_owned()));
    let staff = store.table::<Employee>().unwrap();
    assert_eq!(staff.by_name().last_name("Hill").count().unwrap_err().kind(), ErrorKind::IndexBuilding);
    staff.update(Employee::key("Legal", 2), |e| e.last_name = "Hall".into()).unwrap();
    staff.insert(&employee("Legal", 7, "Hill")).unwrap();
    staff.delete(Employee::key("Sales", 3)).unwrap();
    staff.rebuild().unwrap().run().unwrap();
    staff.update(Employee::key("Legal", 7), |e| e.is_inside = false).unwrap();
    assert_eq!(store.propagate().unwrap(), Propagation::Complete);
    assert_eq!(check(&store).unwrap().len(), 3);
    assert_sound(&store);
}

#[test]
fn copies_of_a_dropped_table_of_entities_are_not_read() {
    let (_scratch, store) = company();
    store.propagate().unwrap();
    let staff = store.table::<Employee>().unwrap();
    staff.update(Employee::key("Sales", 1), |e| e.last_name = "Hill".into()).unwrap();
    store.drop_table("Company").unwrap();
    assert_eq!(store.pending_propagation().unwrap().entities, 0);
    let staff = store.table::<Employee>().unwrap();
    staff.insert(&employee("Sales", 1, "Hall")).unwrap();
    store.propagate().unwrap();
    assert_eq!(staff.by_name().last_name("Jones").count().unwrap_err().kind(), ErrorKind::IndexBuilding);
    staff.rebuild().unwrap().run().unwrap();
    assert_eq!(store.propagate().unwrap(), Propagation::Complete);
    assert_eq!(check(&store).unwrap().len(), 1);
    if let Some(store) = store.lmdb() {
        store.reclaim().unwrap();
    }
    assert_sound(&store);
}

#[test]
fn what_is_still_to_follow_is_not_wrong_and_what_never_will_is_mended() {
    let (_scratch, store) = company();
    let staff = store.table::<Employee>().unwrap();
    assert!(staff.check().unwrap().is_sound());
    store.propagate().unwrap();
    staff.update(Employee::key("Sales", 1), |e| e.last_name = "Hill".into()).unwrap();
    staff.delete(Employee::key("Sales", 3)).unwrap();
    let report = staff.check().unwrap();
    assert!(report.is_sound(), "{report} {:?}", report.problems);
    store.propagate().unwrap();
    // A copy that is gone, one that says something else, and one of nobody.
    let names = store.dynamic_table("Names").unwrap().raw();
    names.delete("name_Hill", "Sales_000001").unwrap();
    let kind = |row: DynamicEntity| row.with("EntityType", "employee.by_name").with("Email", "x");
    names.replace(&kind(DynamicEntity::new("name_Jones", "Legal_000002")), IfMatch::Any).unwrap();
    names.insert(&kind(DynamicEntity::new("name_Zoe", "Legal_000002"))).unwrap();
    let report = staff.check().unwrap();
    assert_eq!((report.missing, report.stale, report.orphans), (1, 1, 1), "{:?}", report.problems);
    assert_eq!(staff.repair().unwrap().run().unwrap().wrong(), 3);
    assert!(staff.check().unwrap().is_sound());
    assert_eq!(store.pending_propagation().unwrap().entities, 0);
    assert_eq!(check(&store).unwrap().len(), 2);
}

/// An index that follows is added to a struct, changed and dropped as others are.
#[test]
fn an_index_that_follows_comes_changes_and_goes() {
    mod before {
        #[derive(table_core::Entity, Clone)]
        #[entity(table = "Company", kind = "employee")]
        #[key(partition = "{department}", row = "empid_{id:06}")]
        pub struct Employee {
            pub department: String,
            pub id: u32,
            pub name: String,
        }
    }
    mod with {
        #[derive(table_core::Entity, Clone)]
        #[entity(table = "Company", kind = "employee")]
        #[key(partition = "{department}", row = "empid_{id:06}")]
        #[index(by_name, table = "Names", partition = "{name}", row = "{department}_{id:06}", copy = keys, eventual)]
        pub struct Employee {
            pub department: String,
            pub id: u32,
            pub name: String,
        }
    }
    mod moved {
        #[derive(table_core::Entity, Clone)]
        #[entity(table = "Company", kind = "employee")]
        #[key(partition = "{department}", row = "empid_{id:06}")]
        #[index(by_name, table = "Names", partition = "{department}", row = "{name}_{id:06}", copy = keys, eventual)]
        pub struct Employee {
            pub department: String,
            pub id: u32,
            pub name: String,
        }
    }
    let scratch = Scratch::new();
    let store = manual(&scratch);
    let staff = store.table::<before::Employee>().unwrap();
    for id in 0..30 {
        staff
            .insert(&before::Employee { department: "Sales".into(), id, name: format!("n{}", id % 3) })
            .unwrap();
    }
    let staff = store.table::<with::Employee>().unwrap();
    assert_eq!(staff.by_name().name("n1").count().unwrap_err().kind(), ErrorKind::IndexBuilding);
    staff.rebuild().unwrap().run().unwrap();
    assert_eq!(
        (staff.by_name().name("n1").count().unwrap(), store.pending_propagation().unwrap().entities),
        (10, 0)
    );
    staff.update(with::Employee::key("Sales", 1), |e| e.name = "n2".into()).unwrap();
    assert_eq!(
        (staff.by_name().name("n1").count().unwrap(), store.pending_propagation().unwrap().entities),
        (10, 1)
    );

    // What is left of the former declaration goes by the sweep, whichever process propagates, and when.
    let staff = store.table::<moved::Employee>().unwrap();
    staff.rebuild().unwrap().run().unwrap();
    staff.update(moved::Employee::key("Sales", 2), |e| e.name = "n1".into()).unwrap();
    assert_eq!(store.propagate().unwrap(), Propagation::Complete);
    let names = |store: &Tables| store.dynamic_table("Names").unwrap().query(&Query::new()).unwrap().count();
    assert_eq!((names(&store), staff.check().unwrap().is_sound()), (30, true));
    assert_eq!(staff.by_name().department("Sales").name("n1").count().unwrap(), 10);
    staff.delete(moved::Employee::key("Sales", 2)).unwrap();
    staff.drop_index("by_name").unwrap().run().unwrap();
    store.propagate().unwrap();
    assert_eq!(names(&store), 0);
    assert_sound(&store);
}

#[test]
fn a_copy_of_the_store_propagates_what_it_was_copied_with() {
    let (scratch, store) = company_on_lmdb();
    let copy = scratch.path().join("copy");
    store.copy_to(&copy).unwrap();
    store.propagate().unwrap();
    let other = Store::options().propagate(Propagate::Manual).open(&copy).unwrap();
    assert_eq!(
        (store.pending_propagation().unwrap().entities, other.pending_propagation().unwrap().entities),
        (0, 3)
    );
    other.table::<Employee>().unwrap();
    assert_eq!(other.propagate().unwrap(), Propagation::Complete);
    assert_eq!(check(&other).unwrap().len(), 3);
    assert_sound(&other);
    // Nor does a store lose what is to follow when it is compacted.
    let staff = store.table::<Employee>().unwrap();
    staff.update(Employee::key("Sales", 1), |e| e.last_name = "Hill".into()).unwrap();
    drop(staff);
    let store = store.compact().unwrap();
    assert_eq!(store.pending_propagation().unwrap().entities, 1);
    store.table::<Employee>().unwrap();
    assert_eq!(store.propagate().unwrap(), Propagation::Complete);
    assert_eq!(check(&store).unwrap().len(), 3);
    assert_sound(&store);
}

/// The thread lets go of the store, which is compacted, and what was left is propagated by the next.
#[test]
fn a_store_is_compacted_while_the_background_propagates() {
    let scratch = Scratch::new();
    let mut store = scratch.store_with(&integration_tests::relaxed());
    for round in 0..3 {
        let staff = store.table::<Employee>().unwrap();
        let many = (0..700).map(|id| employee("Sales", 1_000 * round + id, "Jones"));
        assert_eq!(staff.bulk_insert(many).unwrap().committed, 700);
        drop(staff);
        // Another handle is in the way, and the thread goes on.
        let other = store.clone();
        assert_eq!(store.compact().unwrap_err().kind(), ErrorKind::StoreInUse);
        store = other.compact().unwrap();
    }
    store.table::<Employee>().unwrap();
    await_propagated(&store);
    assert_eq!(check(&store).unwrap().len(), 2_100);
}

#[test]
fn a_store_for_reading_only_propagates_nothing_and_says_so() {
    let (scratch, store) = company_on_lmdb();
    drop(store);
    let store = Store::options().read_only(true).open(scratch.path().join("store")).unwrap();
    let staff = store.table::<Employee>().unwrap();
    assert_eq!(staff.by_name().across_partitions().count().unwrap(), 0);
    assert_eq!(store.pending_propagation().unwrap().entities, 3);
    assert_eq!(store.propagate().unwrap_err().kind(), ErrorKind::ReadOnly);
}

/// An entry says the index and not the table, so that what was left under one name is propagated under another.
#[test]
fn what_is_to_follow_follows_into_renamed_tables() {
    mod before {
        #[derive(table_core::Entity, Clone)]
        #[entity(table = "Company", kind = "employee")]
        #[key(partition = "{department}", row = "empid_{id:06}")]
        #[index(by_name, table = "Names", partition = "{name}", row = "{department}_{id:06}", copy = keys, eventual)]
        pub struct Employee {
            pub department: String,
            pub id: u32,
            pub name: String,
        }
    }
    mod after {
        #[derive(table_core::Entity, Clone)]
        #[entity(table = "Firm", kind = "employee")]
        #[key(partition = "{department}", row = "empid_{id:06}")]
        #[index(by_name, table = "People", partition = "{name}", row = "{department}_{id:06}", copy = keys, eventual)]
        pub struct Employee {
            pub department: String,
            pub id: u32,
            pub name: String,
        }
    }
    let scratch = Scratch::new();
    let store = manual(&scratch);
    let staff = store.table::<before::Employee>().unwrap();
    for id in 0..3 {
        staff.insert(&before::Employee { department: "Sales".into(), id, name: "Jones".into() }).unwrap();
    }
    store.propagate().unwrap();
    staff.update(before::Employee::key("Sales", 1), |e| e.name = "Hall".into()).unwrap();
    staff.delete(before::Employee::key("Sales", 2)).unwrap();
    store.rename_table("Company", "Firm").unwrap();
    store.rename_table("Names", "People").unwrap();
    // By the former declaration there is nothing to be found.
    assert_eq!(store.propagate().unwrap().unwrap_err_kinds(), Vec::<String>::new());
    assert_eq!(store.pending_propagation().unwrap().entities, 2);
    let staff = store.table::<after::Employee>().unwrap();
    assert_eq!(store.propagate().unwrap(), Propagation::Complete);
    let names: Vec<_> = staff.by_name().across_partitions().into_iter().map(|row| row.unwrap().id).collect();
    assert_eq!((names, staff.check().unwrap().is_sound()), (vec![1, 0], true));
    assert_sound(&store);
}

/// Rows that somebody has put where a former copy lay stay there: an entry removes its entity's copies alone.
#[test]
fn what_is_not_the_entitys_copy_is_left_alone() {
    let (_scratch, store) = company();
    let staff = store.table::<Employee>().unwrap();
    store.propagate().unwrap();
    let names = store.dynamic_table("Names").unwrap();
    staff.update(Employee::key("Sales", 1), |e| e.last_name = "Hall".into()).unwrap();
    let own = DynamicEntity::new("name_Jones", "Sales_000001").with("Note", "mine");
    names.raw().replace(&own, IfMatch::Any).unwrap();
    assert_eq!(store.propagate().unwrap(), Propagation::Complete);
    assert!(names.get("name_Jones", "Sales_000001").unwrap().is_some());
    assert_eq!(names.query(&Query::new().partition("name_Hall")).unwrap().count(), 2);
}

/// Writers, propagators and droppers by chance in one process; in the end every copy is what the entities say.
#[test]
fn whatever_happens_in_between_propagated_is_what_the_entities_say() {
    let steps = std::env::var("EVENTUAL_STEPS").ok().and_then(|text| text.parse().ok()).unwrap_or(10_000_u64);
    let seed = std::env::var("EVENTUAL_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(7_u64);
    let scratch = Scratch::new();
    let options = Store::options().propagate(Propagate::Manual).durability(table_core::Durability::Relaxed);
    let mut store = scratch.store_with(&options);
    let mut worker = Worker::new(&store, seed).unwrap();
    let mut random = Random::new(seed + 1);
    let (mut propagated, mut checked, mut dropped) = (0, 0, 0);
    let rebuild = |store: &Store| _ = store.table::<Employee>().unwrap().rebuild().unwrap().run().unwrap();
    for _ in 0..steps {
        match random.below(400) {
            0..=40 => {
                store.propagate().unwrap();
                propagated += 1;
            }
            41 | 42 => {
                rebuild(&store);
                assert_eq!(store.propagate().unwrap(), Propagation::Complete);
                check(&store).unwrap();
                checked += 1;
            }
            43 => {
                // All, or one of them alone; not that of the unique copies, which may not come again.
                let at = usize::try_from(random.below(6)).unwrap();
                store.drop_tables(TABLES[..3].get(at..=at).unwrap_or(&TABLES)).unwrap();
                store.table::<Employee>().unwrap();
                if at == 0 {
                    rebuild(&store);
                }
                dropped += 1;
            }
            45 => rebuild(&store),
            44 => {
                drop(worker);
                store = store.compact().unwrap();
                worker = Worker::new(&store, random.number()).unwrap();
            }
            _ => {
                worker.step();
            }
        }
    }
    rebuild(&store);
    assert_eq!(store.propagate().unwrap(), Propagation::Complete);
    let left = check(&store).unwrap().len();
    println!("{steps} steps, {propagated} propagation, {checked} checks, {dropped} drops, {left} employees");
    assert!(propagated > 0 && checked > 0);
    assert_sound(&store);
}

/// Threads write while the background and two others propagate.
#[test]
fn many_write_and_many_propagate() {
    let scratch = Scratch::new();
    let store = scratch.open(&Needs::default());
    Worker::new(&store, 0).unwrap();
    std::thread::scope(|scope| {
        for seed in 1..4 {
            let mut worker = Worker::new(&store, seed).unwrap();
            scope.spawn(move || (0..700).for_each(|_| _ = worker.step()));
        }
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..60 {
                    store.propagate().unwrap();
                    std::thread::sleep(Duration::from_millis(1));
                }
            });
        }
    });
    assert_eq!(store.propagate().unwrap(), Propagation::Complete);
    check(&store).unwrap();
    assert_sound(&store);
}

on_executors_with_jobs! {
    a_thread_propagates_as_long_as_there_is_something_to_do
    what_one_process_leaves_another_propagates_once_it_opens_the_kind
    what_panics_is_set_aside_in_the_end_and_holds_up_nobody
    a_panic_in_the_background_harms_nothing_and_is_tried_again
    an_entity_that_cannot_be_read_fails_until_it_is_changed
    tables_are_dropped_together_with_what_is_to_follow
    a_dropped_table_of_copies_is_made_again_and_never_by_propagation
    copies_of_a_dropped_table_of_entities_are_not_read
    what_is_still_to_follow_is_not_wrong_and_what_never_will_is_mended
    an_index_that_follows_comes_changes_and_goes
    what_is_to_follow_follows_into_renamed_tables
    what_is_not_the_entitys_copy_is_left_alone
    many_write_and_many_propagate
}
