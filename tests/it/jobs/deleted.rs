//! Deletions by a query: each row is looked at twice at most, however few are found, and what comes to be found meanwhile goes.

use integration_tests::releases::{Copies, assert_rows, second};
use integration_tests::{Scratch, assert_sound, relaxed};
use table_core::typed::Job;
use table_core::{Entity, Tables};

use super::filled;

/// Runs a job to its end: how many rows it has looked at in all, and how many in a step at most. After each step `meanwhile`.
fn looked(mut job: Job<'_>, mut meanwhile: impl FnMut(u64)) -> (u64, u64) {
    let (mut all, mut most, mut before) = (0, 0, 0);
    for number in 0.. {
        let more = job.step().unwrap();
        let done = job.progress().done;
        // It begins again with the first row.
        let step = done.checked_sub(before).unwrap_or(done);
        (all, most, before) = (all + step, most.max(step), done);
        meanwhile(number);
        if !more {
            break;
        }
    }
    (all, most)
}

#[test]
fn each_row_is_looked_at_twice_however_few_are_found() {
    let scratch = Scratch::new();
    let store = scratch.tables_with(&relaxed());
    let mut staff = filled(&store, 20_000);
    let table = store.table::<second::Employee>().unwrap();
    table.rebuild().unwrap().run().unwrap();
    // One of fifty, ten at a time: forty steps and more.
    let old = table.rows().department("Sales").filter(|e| e.age.eq(33)).entities();
    let (all, most) = looked(table.delete_where(old).unwrap().steps_of(10), |_| {});
    staff.retain(|_, (_, age)| *age != 33);
    assert_eq!(staff.len(), 19_600);
    assert_rows(table.dynamic(), &staff, Copies::OF[1]);
    // All that were there, and then those that are left; of either time the last step is not told of, which looks at 400.
    assert!((38_800..=39_600).contains(&all), "{all}");
    // A step that finds none ends as well.
    assert!((10..=400).contains(&most), "{most}");
    let none = table.rows().department("Sales").filter(|e| e.age.eq(33)).entities();
    let (all, most) = looked(table.delete_where(none).unwrap().steps_of(10), |_| {});
    assert!((19_200..=19_600).contains(&all) && most <= 400, "{all} {most}");

    // A partition, beside rows of another kind in it: of each entity one row is looked at, once.
    let (all, _) =
        looked(table.delete_partition(second::Employee::partition("Sales")).unwrap().steps_of(100), |_| {});
    assert!(all <= 3 * 19_600 + 100, "{all}");
    assert_eq!(table.all().count().unwrap(), 0);
    assert!(store.jobs().unwrap().is_empty());
    assert_sound(&store);
}

#[test]
fn what_comes_to_be_found_behind_it_goes_too() {
    let scratch = Scratch::new();
    let store = scratch.tables_with(&relaxed());
    let mut staff = filled(&store, 1_000);
    let table = store.table::<second::Employee>().unwrap();
    table.rebuild().unwrap().run().unwrap();
    let by_age = |id, age| drop(table.update(second::Employee::key("Sales", id), |e| e.age = age).unwrap());
    for from_last in [false, true] {
        let old = table.rows().department("Sales").filter(|e| e.age.ge(65)).entities();
        let old = if from_last { old.rev() } else { old };
        let (first, last) = if from_last { (999, 0) } else { (0, 999) };
        by_age(first, 20);
        by_age(last, 69);
        let job = table.delete_where(old).unwrap().steps_of(5);
        looked(job, |number| {
            // It has passed the one, and not the other.
            if number == 3 {
                by_age(first, 66);
                by_age(last, 20);
            }
        });
        staff.get_mut(&("Sales".to_owned(), last)).unwrap().1 = 20;
        staff.remove(&("Sales".to_owned(), first)).unwrap();
        staff.retain(|_, (_, age)| *age < 65);
        assert_rows(table.dynamic(), &staff, Copies::OF[1]);
        // For the other way.
        let (department, email) = ("Sales".to_owned(), format!("again-{first}@contoso.com"));
        let age = 20;
        staff.insert((department.clone(), first), (email.clone(), age));
        table.insert(&second::Employee { department, id: first, email, age }).unwrap();
        for id in (1..999).filter(|id| id % 50 >= 45) {
            let (department, email) = ("Sales".to_owned(), format!("{id}@contoso.com"));
            staff.insert((department.clone(), id), (email.clone(), 65));
            table.insert(&second::Employee { department, id, email, age: 65 }).unwrap();
        }
        if from_last {
            assert_eq!(staff.len(), 1_000);
        }
    }
    assert_sound(&store);
}

#[test]
fn of_a_query_with_a_limit_so_many_go() {
    let scratch = Scratch::new();
    let store = scratch.tables_with(&relaxed());
    let mut staff = filled(&store, 500);
    let table = store.table::<second::Employee>().unwrap();
    table.rebuild().unwrap().run().unwrap();
    // Of two hundred.
    let some = || table.rows().department("Sales").filter(|e| e.age.lt(40)).top(37).entities();
    for _ in 0..2 {
        let mut job = table.delete_where(some()).unwrap().steps_of(10);
        assert!(job.step().unwrap());
    }
    let done = table.delete_where(some()).unwrap().run().unwrap();
    assert_eq!(done.changed, 37);
    let gone: Vec<_> =
        staff.iter().filter(|(_, (_, age))| *age < 40).map(|(at, _)| at.clone()).take(37).collect();
    for at in gone {
        staff.remove(&at).unwrap();
    }
    assert_rows(table.dynamic(), &staff, Copies::OF[1]);
    // More than there are.
    let done = table.delete_where(table.rows().department("Sales").top(1_000).entities()).unwrap().run();
    assert_eq!(done.unwrap().changed, 463);
    assert!(store.jobs().unwrap().is_empty());
    assert_sound(&store);
}

/// A line of a log, which is spread over shards; found by each of its words, too.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Log", kind = "line")]
#[key(partition = "log_{source:shard(4)}", row = "line_{at:08}_{source}")]
#[index(by_level, partition = "level_{level}", row = "{at:08}_{source}", atomic)]
struct Line {
    source: u32,
    at: u32,
    level: u32,
}

fn lines(store: &Tables, many: u32) -> table_core::Table<Line> {
    let table = store.table::<Line>().unwrap();
    let line = |at| Line { source: at % 7, at, level: at % 40 };
    assert!(table.bulk_insert((0..many).map(line)).unwrap().failures.is_empty());
    table
}

#[test]
fn shards_are_gone_over_together() {
    let scratch = Scratch::new();
    let store = scratch.tables_with(&relaxed());
    let table = lines(&store, 8_000);
    let is_there = |level| table.rows().all_shards().filter(|l| l.level.eq(level)).count().unwrap();
    // Those of one level are far from one another, and lie in every shard.
    let of_level = |level| table.rows().all_shards().filter(|l| l.level.eq(level)).entities();
    let (all, most) = looked(table.delete_where(of_level(11)).unwrap().steps_of(10), |_| {});
    assert_eq!((is_there(11), is_there(12)), (0, 200));
    // Of each shard one row is looked at again in each step.
    assert!((15_000..16_500).contains(&all), "{all}");
    assert!(most <= 404, "{most}");
    // From the last to the first, and all that is left of two levels by the index.
    let backwards = of_level(12).rev();
    let done = table.delete_where(backwards).unwrap().steps_of(3).run().unwrap();
    assert_eq!((done.changed, is_there(12)), (200, 0));
    let of_index = table.by_level().level(13).entities();
    assert_eq!(table.delete_where(of_index).unwrap().steps_of(7).run().unwrap().changed, 200);
    assert_eq!((is_there(13), table.all().count().unwrap()), (0, 7_400));
    let report = table.check().unwrap();
    assert!(report.is_sound() && report.copies == 7_400, "{report}");
    assert_sound(&store);
}

thread_local! {
    /// What comes in between when a member is looked at whose turn it is.
    static BETWEEN: std::cell::RefCell<Option<Box<dyn FnOnce()>>> = const { std::cell::RefCell::new(None) };
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Club", kind = "member")]
#[key(partition = "{club}", row = "member_{id:06}")]
#[index(by_debt, row = "debt_{id:06}", when = owes)]
struct Member {
    club: String,
    id: u32,
    owed: u32,
}

fn owes(member: &Member) -> bool {
    if member.id == 9
        && let Some(between) = BETWEEN.take()
    {
        between();
    }
    member.owed > 0
}

/// One of the rows of a step is written when the others are about to be deleted: the step is made again, and of those that a
/// limit lets go none goes besides.
#[test]
fn a_step_that_is_overtaken_deletes_nothing_by_halves() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let table = store.table::<Member>().unwrap();
    let member = |id| Member { club: "c".into(), id, owed: id % 2 };
    assert!(table.bulk_insert((0..40).map(member)).unwrap().failures.is_empty());
    let mut job = table.delete_where(table.rows().club("c").top(10).entities()).unwrap();
    let other = table.clone();
    let between = move || drop(other.update(Member::key("c", 3), |e| e.owed += 2).unwrap());
    BETWEEN.set(Some(Box::new(between)));
    job.step().unwrap();
    assert!(BETWEEN.take().is_none(), "nobody came in between");
    // It was made again with what comes before, and what it had deleted behind that had not happened.
    assert_eq!((job.progress().changed, table.all().count().unwrap()), (3, 37));
    while job.step().unwrap() {}
    assert_eq!(job.progress().changed, 10);
    assert_eq!(table.all().count().unwrap(), 30);
    assert!(table.check().unwrap().is_sound() && store.jobs().unwrap().is_empty());
    assert_sound(&store);
}

integration_tests::on_executors_with_jobs! {
    each_row_is_looked_at_twice_however_few_are_found
    what_comes_to_be_found_behind_it_goes_too
    of_a_query_with_a_limit_so_many_go
    shards_are_gone_over_together
    a_step_that_is_overtaken_deletes_nothing_by_halves
}
