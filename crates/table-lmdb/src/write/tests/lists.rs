//! Lists that several plans of one transaction change.

use std::collections::{BTreeMap, BTreeSet};
use std::thread;

use table_derive::Entity;
use table_engine::{DynamicEntity, ErrorKind, Result, Table};

use crate::Store;
use crate::tests_scratch::in_memory;
use crate::write::adding::EXAMINED;

#[derive(Entity, Clone, Debug)]
#[entity(table = "Grouped", kind = "member")]
#[key(partition = "all", row = "member_{name}")]
#[index_list(by_group, row = "group_{group}", of = name)]
struct Member {
    name: String,
    group: u8,
}

fn store() -> (tempfile::TempDir, Store) {
    let dir = in_memory();
    let store = Store::open(dir.path().join("store")).unwrap();
    (dir, store)
}

/// Some 1,200 of them are more than a row holds.
fn member(at: u32, group: u8) -> Member {
    Member { name: format!("{at:05}{}", "n".repeat(395)), group }
}

/// How often this thread has written a list while it does this.
fn written(work: impl FnOnce()) -> usize {
    let before = EXAMINED.get();
    work();
    EXAMINED.get() - before
}

#[test]
fn a_load_onto_one_list_writes_it_twice_in_each_transaction() {
    let (_dir, store) = store();
    let table = store.table::<Member>().unwrap();
    let load = |from: u32, to: u32| {
        let report = table.bulk_insert((from..to).map(|at| member(at, 1))).unwrap();
        assert!(report.failures.is_empty());
    };
    // What its row has room for, what needs a blob, and what goes from one to the other.
    for (from, to) in [(0, 1_000), (1_000, 2_000), (2_000, 3_000)] {
        let commits = store.stats().unwrap().commits;
        assert_eq!(written(|| load(from, to)), 2, "{from}");
        assert_eq!(store.stats().unwrap().commits, commits + 1);
    }
    assert_eq!(table.list(Member::by_group(1)).unwrap().len(), 3_000);
    assert!(table.check().unwrap().is_sound());
    assert!(store.check().unwrap().problems.is_empty());
    // One change alone writes it once.
    assert_eq!(written(|| load(3_000, 3_001)), 1);
    assert_eq!(written(|| table.delete(Member::key(member(0, 1).name)).unwrap()), 1);
}

#[test]
fn of_a_load_beyond_the_end_of_a_list_those_are_refused_that_have_no_room() {
    let (_dir, store) = store();
    let table = store.table::<Member>().unwrap();
    let most = (4 << 20) / 401;
    let report = table.bulk_insert((0..most + 3).map(|at| member(at, 1))).unwrap();
    assert_eq!((report.committed, report.failures.len()), (u64::from(most), 3));
    for (failure, at) in report.failures.iter().zip(most..) {
        assert_eq!((failure.index, failure.error.kind()), (u64::from(at), ErrorKind::EntityTooLarge));
    }
    assert_eq!(u32::try_from(table.list(Member::by_group(1)).unwrap().len()), Ok(most));
    assert!(table.check().unwrap().is_sound());
}

/// A change by one plan among those of other writers.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// An entity is put in a group, or goes.
    Put(u32, u8),
    Remove(u32),
    /// The list's row is written, or removed, by its properties.
    Write(u8),
    Erase(u8),
    /// An entity is inserted that is there already: it is refused.
    Refused,
}

fn carry_out(table: &Table<Member>, step: Step) -> Result<()> {
    let raw = table.dynamic().raw();
    let list = |group: u8| format!("group_{group:03}");
    match step {
        Step::Put(at, group) => table.put(&member(at, group)).map(drop),
        Step::Remove(at) => table.delete(Member::key(member(at, 0).name)),
        Step::Write(group) => {
            let row = DynamicEntity::new("all", list(group)).with("EntityType", "member.by_group");
            raw.put(&row.with("Ids", "written")).map(drop)
        }
        Step::Erase(group) => raw.delete("all", &list(group)),
        Step::Refused => table.insert(&member(0, 0)).map(drop),
    }
}

/// Has the steps carried out by one transaction, in their order.
fn together(store: &Store, table: &Table<Member>, steps: &[Step]) -> Vec<Result<()>> {
    let writer = &store.shared().writer;
    let lead = writer.lead().unwrap();
    thread::scope(|scope| {
        let mut threads = Vec::new();
        for step in steps {
            let before = writer.waiting();
            let thread = scope.spawn(move || carry_out(table, *step));
            // A removal of an id that is not there is refused before it comes to a transaction.
            while writer.waiting() == before && !thread.is_finished() {
                thread::yield_now();
            }
            threads.push(thread);
        }
        drop(lead);
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

#[test]
fn plans_of_one_transaction_leave_what_they_would_leave_one_after_another() {
    let (_dir, store) = store();
    let table = store.table::<Member>().unwrap();
    let (mut members, mut lists) = (BTreeMap::<u32, u8>::new(), BTreeMap::<u8, BTreeSet<String>>::new());
    for at in 0..60 {
        // Lists that their rows have room for, and one that has a blob.
        let group = u8::try_from(at % 3).unwrap();
        table.insert(&member(at, group)).unwrap();
        members.insert(at, group);
    }
    table.bulk_insert((1_000..2_300).map(|at| member(at, 2))).unwrap().into_result().unwrap();
    members.extend((1_000..2_300).map(|at| (at, 2)));
    for (at, group) in &members {
        lists.entry(*group).or_default().insert(member(*at, 0).name);
    }
    let mut random = 17_u32;
    let mut below = |bound: u32| {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (random >> 8) % bound
    };
    for round in 0..40 {
        // Each entity is changed by one of them: what is planned is not overtaken.
        let steps: Vec<_> = (1..10)
            .map(|place| {
                let (at, group) = (place * 6 + below(6), u8::try_from(below(3)).unwrap());
                match below(9) {
                    0 => Step::Write(group),
                    1 => Step::Erase(group),
                    2 => Step::Refused,
                    3 | 4 => Step::Remove(at),
                    _ => Step::Put(at, group),
                }
            })
            .collect();
        let commits = store.stats().unwrap().commits;
        let done = together(&store, &table, &steps);
        assert!(store.stats().unwrap().commits <= commits + 1, "round {round}");
        for (step, done) in steps.into_iter().zip(done) {
            let what = format!("round {round}, {step:?}: {done:?}");
            let mut leave = |at: u32, members: &mut BTreeMap<u32, u8>| {
                let former = members.remove(&at)?;
                lists.entry(former).or_default().remove(&member(at, 0).name);
                Some(())
            };
            match step {
                Step::Put(at, group) => {
                    assert!(done.is_ok(), "{what}");
                    // One that stays where it was has nothing to change.
                    if members.get(&at) != Some(&group) {
                        leave(at, &mut members);
                        lists.entry(group).or_default().insert(member(at, 0).name);
                        members.insert(at, group);
                    }
                }
                Step::Remove(at) => assert_eq!(done.is_ok(), leave(at, &mut members).is_some(), "{what}"),
                Step::Write(group) => {
                    assert!(done.is_ok(), "{what}");
                    lists.insert(group, BTreeSet::from(["written".to_owned()]));
                }
                Step::Erase(group) => {
                    let was_there = lists.insert(group, BTreeSet::new()).is_some_and(|list| !list.is_empty());
                    assert_eq!(done.is_ok(), was_there, "{what}");
                }
                Step::Refused => {
                    assert_eq!(done.unwrap_err().kind(), ErrorKind::EntityAlreadyExists);
                }
            }
        }
        for group in 0..3 {
            let row = table.dynamic().get("all", &format!("group_{group:03}")).unwrap();
            let ids = row.map_or_else(String::new, |row| ids_of(&store, &row));
            let wanted = lists.get(&group).into_iter().flatten().map(String::as_str);
            assert_eq!(ids, wanted.collect::<Vec<_>>().join(","), "round {round}, group {group}");
        }
    }
    // Raw writes have left lists that are none of the entities'; all else agrees.
    table.repair().unwrap().run().unwrap();
    assert!(table.check().unwrap().is_sound());
    assert!(store.check().unwrap().problems.is_empty());
    assert!(table.list(Member::by_group(2)).unwrap().len() > 1_300);
}

/// The text of a list's ids, wherever it lies.
fn ids_of(store: &Store, row: &DynamicEntity) -> String {
    if let Some(blob) = row.get("Ids").and_then(table_engine::blob::Blob::of) {
        return String::from_utf8(blob.get(store).unwrap()).unwrap();
    }
    let texts = row.properties().filter(|(name, _)| name.starts_with("Ids"));
    texts.filter_map(|(_, text)| text.as_str()).collect::<Vec<_>>().join(",")
}
