//! Jobs beside writers that never stop: each ends where its table ended when it began, and loses no more than what others write.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use integration_tests::{Scratch, assert_sound, relaxed};
use table_core::store::Propagate;
use table_core::typed::{Job, JobProgress, Propagation};
use table_core::{Entity, ErrorKind, Key, Query, Store, Table};

mod former {
    #[derive(table_core::Entity, Clone, Debug, PartialEq)]
    #[entity(table = "Plain", kind = "plain")]
    #[key(partition = "{p}", row = "{id:06}")]
    pub struct Plain {
        pub p: String,
        pub id: u32,
        pub v: u32,
    }
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Plain", kind = "plain")]
#[key(partition = "{p}", row = "{id:06}")]
#[index(by_v, row = "v_{v:06}_{id:06}", when = is_planned)]
struct Plain {
    p: String,
    id: u32,
    v: u32,
}

type Hook = Box<dyn Fn(u32)>;

thread_local! {
    /// What comes in between when a change of an entity of this number is planned by this thread.
    static INSIDE: RefCell<Option<Hook>> = const { RefCell::new(None) };
}

fn is_planned(plain: &Plain) -> bool {
    // What it writes is planned, too.
    if let Some(hook) = INSIDE.take() {
        hook(plain.id);
        INSIDE.set(Some(hook));
    }
    true
}

fn plain(id: u32) -> Plain {
    Plain { p: "p".into(), id, v: id }
}

/// How many there are when a job begins; a step changes so many.
const MANY: u32 = 400;
const STEP: u32 = 50;

fn filled() -> (Scratch, Store, Table<Plain>) {
    let scratch = Scratch::new();
    let store = scratch.store_with(&relaxed());
    let old = store.table::<former::Plain>().unwrap();
    let plain = |id| former::Plain { p: "p".into(), id, v: id };
    assert!(old.bulk_insert((0..MANY).map(plain)).unwrap().failures.is_empty());
    let table = store.table::<Plain>().unwrap();
    (scratch, store, table)
}

/// Appends more than a step takes.
fn append<E: table_core::typed::InOneTable>(table: &Table<E>, next: &AtomicU32, new: impl Fn(u32) -> E) {
    let first = next.fetch_add(STEP + 10, Ordering::Relaxed);
    assert!(table.bulk_insert((first..first + STEP + 10).map(new)).unwrap().failures.is_empty());
}

/// Runs a job to its end, in small steps, of which there may be so many; after each `between`.
fn ends<R>(job: Job<'_, R>, most: u32, mut between: impl FnMut()) -> JobProgress {
    let mut job = job.steps_of(STEP.into());
    for _ in 0..most {
        if !job.step().unwrap() {
            return job.progress().clone();
        }
        between();
    }
    panic!("it does not end: {}", job.progress());
}

/// Everything is in the index, once.
fn assert_filed(store: &Store, table: &Table<Plain>) {
    let report = table.check().unwrap();
    assert!(report.is_sound(), "{report}");
    let all = table.all().count().unwrap();
    assert_eq!((report.copies, table.by_v().p("p").count().unwrap()), (all, all));
    assert!(store.jobs().unwrap().is_empty());
    assert_sound(store);
}

/// Writers append more between two steps, and inside each, than a step takes.
#[test]
fn a_rebuild_ends_where_the_table_ended_when_it_began() {
    let (_scratch, store, table) = filled();
    let next = Rc::new(AtomicU32::new(MANY));
    let (inside, of_inside) = (table.clone(), next.clone());
    INSIDE.set(Some(Box::new(move |id| {
        if id < MANY && id.is_multiple_of(STEP) {
            append(&inside, &of_inside, plain);
        }
    })));
    let between = || append(&table, &next, plain);
    ends(table.rebuild().unwrap(), 40, between);
    INSIDE.set(None);
    assert!(next.load(Ordering::Relaxed) > 2 * MANY, "they have appended");
    assert_filed(&store, &table);

    // One that is dropped and asked for again goes on to the end that it had.
    table.drop_index("by_v").unwrap().run().unwrap();
    for _ in 0..5 {
        table.rebuild().unwrap().steps_of(STEP.into()).step().unwrap();
        append(&table, &next, plain);
    }
    let [begun] = &store.jobs().unwrap()[..] else { panic!("it is begun") };
    assert!(begun.done < begun.total);
    let all = next.load(Ordering::Relaxed);
    ends(table.rebuild().unwrap(), 2 * all / STEP + 20, || append(&table, &next, plain));
    assert_filed(&store, &table);

    // The same of its removal.
    let all = next.load(Ordering::Relaxed);
    ends(table.drop_index("by_v").unwrap(), 2 * all / STEP, || append(&table, &next, plain));
    assert_eq!(table.by_v().p("p").count().unwrap_err().kind(), ErrorKind::IndexBuilding);
    assert!(store.jobs().unwrap().is_empty());
}

/// Those of the former release append as long as nobody has to keep the index.
#[test]
fn what_a_former_release_appends_is_filed_too() {
    let (_scratch, store, table) = filled();
    let (old, next) = (store.table::<former::Plain>().unwrap(), AtomicU32::new(MANY));
    let mut refused = 0;
    ends(table.rebuild().unwrap(), 40, || {
        let id = next.fetch_add(1, Ordering::Relaxed);
        match old.insert(&former::Plain { p: "p".into(), id, v: id }) {
            Ok(_) => {}
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::LayoutChanged, "{error}");
                refused += 1;
            }
        }
    });
    assert!(refused > 0 && table.all().count().unwrap() > u64::from(MANY));
    assert_filed(&store, &table);
}

/// The table of an index is dropped when most of its copies are there: the end that was noted is none for what begins again.
#[test]
fn a_rebuild_that_begins_again_ends_where_the_table_ends_by_then() {
    #[derive(Entity)]
    #[entity(table = "Plain", kind = "plain")]
    #[key(partition = "{p}", row = "{id:06}")]
    #[index(by_v, table = "ByV", partition = "all", row = "v_{v:06}_{p}_{id:06}", atomic)]
    struct Elsewhere {
        p: String,
        id: u32,
        v: u32,
    }

    let (_scratch, store, _) = filled();
    let new = |id| Elsewhere { p: "p".into(), id, v: id };
    let table = store.table::<Elsewhere>().unwrap();
    let mut job = table.rebuild().unwrap().steps_of(STEP.into());
    while job.progress().changed < 200 {
        assert!(job.step().unwrap());
    }
    let next = AtomicU32::new(MANY);
    append(&table, &next, new);
    store.drop_table("ByV").unwrap();
    let table = store.table::<Elsewhere>().unwrap();
    ends(table.rebuild().unwrap(), 40, || append(&table, &next, new));
    let report = table.check().unwrap();
    assert!(report.is_sound() && report.copies == u64::from(next.into_inner()), "{report}");
}

#[test]
fn a_repair_ends_and_mends_what_was_there() {
    let (_scratch, store, table) = filled();
    table.rebuild().unwrap().run().unwrap();
    let raw = table.dynamic().clone().raw();
    for id in 0..100 {
        raw.delete("p", &format!("v_{id:06}_{id:06}")).unwrap();
    }
    let next = AtomicU32::new(MANY);
    ends(table.repair().unwrap(), 100, || append(&table, &next, plain));
    assert_filed(&store, &table);
}

#[test]
fn a_migration_ends_and_says_how_many_rows_it_has_looked_at() {
    #[derive(Entity)]
    #[entity(kind = "plain", version = 1, former)]
    #[key(partition = "{p}", row = "{id:06}")]
    struct First {
        p: String,
        id: u32,
        v: u32,
    }

    #[derive(Entity)]
    #[entity(table = "Plain", kind = "plain", version = 2, from = First)]
    #[key(partition = "{p}", row = "{id:06}")]
    #[index(by_v, row = "v_{v}_{id:06}")]
    #[summarized_in(Total)]
    struct Second {
        p: String,
        id: u32,
        v: String,
    }

    impl From<First> for Second {
        fn from(First { p, id, v }: First) -> Self {
            Self { p, id, v: v.to_string() }
        }
    }

    #[derive(Entity)]
    #[entity(table = "Plain", kind = "total")]
    #[key(partition = "{p}", row = "total")]
    #[summary(of = Second)]
    struct Total {
        p: String,
        #[summary(count)]
        plains: u64,
    }

    let (_scratch, store, _) = filled();
    let (table, next) = (store.table::<Second>().unwrap(), AtomicU32::new(MANY));
    let new = |id| Second { p: "p".into(), id, v: id.to_string() };
    // The next one to take it up goes on to the same ends.
    for _ in 0..3 {
        let mut job = store.migration::<Second>().unwrap().steps().unwrap().steps_of(STEP.into());
        for _ in 0..2 {
            job.step().unwrap();
            append(&table, &next, new);
        }
    }
    // What has been appended by then is looked at, once and twice for each of the indexes.
    let steps = 6 * next.load(Ordering::Relaxed) / STEP + 40;
    let done =
        ends(store.migration::<Second>().unwrap().steps().unwrap(), steps, || append(&table, &next, new));
    let all = next.load(Ordering::Relaxed);
    assert_eq!(table.all().count().unwrap(), u64::from(all));
    assert_eq!(store.table::<Total>().unwrap().get(Total::key("p")).unwrap().unwrap().plains, u64::from(all));
    let report = table.check().unwrap();
    assert!(report.is_sound(), "{report}");
    // The last part is the summary's: it has looked at the entities, and not at the one row that it has changed.
    assert!(done.done > u64::from(MANY) && done.done == done.total, "{done}");
    assert_sound(&store);
}

/// A deletion goes over what is there when it begins; who comes behind that may stay.
#[test]
fn a_deletion_ends_and_leaves_nothing_that_was_there() {
    let (_scratch, store, table) = filled();
    table.rebuild().unwrap().run().unwrap();
    for round in 0..3 {
        let next = AtomicU32::new((round + 1) * 100_000);
        let first = if round == 0 { 0 } else { round * 100_000 };
        let last: Vec<_> = table.all().into_iter().map(|plain| plain.unwrap().id).collect();
        let between = || append(&table, &next, plain);
        // Each time over it finds a fifth more.
        let steps = 6 * last.len() as u32 / STEP + 60;
        let done = match round {
            0 => ends(table.delete_where(table.rows().p("p").entities()).unwrap(), steps, between),
            1 => ends(table.delete_where(table.by_v().p("p").entities()).unwrap(), steps, between),
            _ => ends(table.delete_partition(Plain::partition("p")).unwrap(), steps, between),
        };
        assert!(done.changed >= last.len() as u64, "{done}");
        let left: Vec<_> = table.all().into_iter().map(|plain| plain.unwrap().id).collect();
        assert!(left.iter().all(|id| *id >= first + 100_000), "round {round}: {left:?}");
        assert!(!left.is_empty());
    }
    assert!(table.check().unwrap().is_sound());
    assert!(store.jobs().unwrap().is_empty());
    assert_sound(&store);
}

/// A step that has lost is made again with what comes before the row that somebody has written, and that one comes next.
#[test]
fn a_step_that_loses_keeps_what_it_had() {
    let (_scratch, store, table) = filled();
    let mut job = table.rebuild().unwrap().steps_of(100);
    // Rows of former times are swept.
    while table.by_v().p("p").count().unwrap_err().to_string().contains("removed") {
        job.step().unwrap();
    }
    let (other, lost) = (table.clone(), Rc::new(AtomicU32::new(0)));
    let write = {
        let lost = lost.clone();
        move || {
            lost.fetch_add(1, Ordering::Relaxed);
            other.update(Plain::key("p", 80), |plain| plain.v += 1_000).unwrap();
        }
    };
    let (of_last, losses) = (write.clone(), lost.clone());
    INSIDE.set(Some(Box::new(move |id| {
        // When the last of the step is planned, once.
        if id == 99 && losses.load(Ordering::Relaxed) == 0 {
            of_last();
        }
    })));
    assert!(job.step().unwrap());
    assert_eq!((job.progress().changed, lost.load(Ordering::Relaxed)), (80, 1));
    INSIDE.set(None);
    while job.step().unwrap() {}
    // Who has written the one has put it into the index.
    assert_eq!(job.progress().changed, u64::from(MANY) - 1);
    assert_filed(&store, &table);

    // A deletion loses one again and again: it deletes what comes before, and then that alone, and does not give up.
    lost.store(0, Ordering::Relaxed);
    let losses = lost.clone();
    INSIDE.set(Some(Box::new(move |id| {
        if id == 80 && losses.load(Ordering::Relaxed) < 24 {
            write();
        }
    })));
    let mut job = table.delete_where(table.rows().p("p").entities()).unwrap().steps_of(100);
    assert!(job.step().unwrap());
    assert_eq!(job.progress().changed, 80);
    assert!(job.step().unwrap());
    assert_eq!((job.progress().changed, lost.load(Ordering::Relaxed)), (81, 24));
    INSIDE.set(None);
    while job.step().unwrap() {}
    assert_eq!(table.all().count().unwrap(), 0);
    assert_sound(&store);
}

/// Has four threads write until the work is done, or each has written much more than the work can take.
fn beside(store: &Store, write: impl Fn(&Table<Plain>, u32) + Sync, work: impl FnOnce(&AtomicBool)) {
    const MOST: u32 = 20_000;
    let (is_over, next) = (AtomicBool::new(false), AtomicU32::new(MANY));
    let (is_over, next, write) = (&is_over, &next, &write);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(move || {
                let table = store.table::<Plain>().unwrap();
                for _ in 0..MOST {
                    if is_over.load(Ordering::Relaxed) {
                        return;
                    }
                    write(&table, next.fetch_add(1, Ordering::Relaxed));
                }
            });
        }
        work(is_over);
        is_over.store(true, Ordering::Relaxed);
    });
}

/// What a writer does, with a number of its own.
type Write<'w> = &'w (dyn Fn(&Table<Plain>, u32) + Sync);

/// Writers append in the midst of the table, or change one row, as fast as they can: jobs come past them.
#[test]
fn jobs_come_past_those_who_write_where_they_are() {
    let changes =
        |table: &Table<Plain>, _: u32| drop(table.update(Plain::key("p", 7), |p| p.v += 1).unwrap());
    let appends = |table: &Table<Plain>, id: u32| {
        table.insert(&plain(id)).unwrap();
    };
    let both = [&changes as Write<'_>, &appends];
    for write in both {
        let (_scratch, store, table) = filled();
        table.insert(&Plain { p: "q".into(), id: 0, v: 0 }).unwrap();
        beside(&store, write, |_| {
            table.rebuild().unwrap().steps_of(STEP.into()).run().unwrap();
            assert!(table.check().unwrap().is_sound());
            table.repair().unwrap().steps_of(STEP.into()).run().unwrap();
        });
        assert!(table.check().unwrap().is_sound());
        assert_sound(&store);
    }
}

#[test]
fn propagation_ends_with_what_was_to_follow_when_it_began() {
    #[derive(Entity)]
    #[entity(table = "Plain", kind = "plain")]
    #[key(partition = "{p}", row = "{id:06}")]
    #[index(by_v, table = "ByV", partition = "all", row = "v_{v:06}_{p}_{id:06}", eventual)]
    struct Followed {
        p: String,
        id: u32,
        v: u32,
    }

    let scratch = Scratch::new();
    let store = scratch.store_with(&relaxed().propagate(Propagate::Manual));
    let new = |id| Followed { p: "p".into(), id, v: id };
    let table = store.table::<Followed>().unwrap();
    assert!(table.bulk_insert((0..MANY).map(new)).unwrap().failures.is_empty());
    let (is_over, next) = (AtomicBool::new(false), AtomicU32::new(MANY));
    std::thread::scope(|scope| {
        for number in 0..4 {
            let (table, is_over, next) = (&table, &is_over, &next);
            scope.spawn(move || {
                for _ in 0..20_000 {
                    if is_over.load(Ordering::Relaxed) {
                        return;
                    }
                    let id = next.fetch_add(1, Ordering::Relaxed);
                    table.insert(&new(id)).unwrap();
                    // One of those that are propagated changes all the time.
                    table.update(Followed::key("p", number), |followed| followed.v += 1).unwrap();
                }
            });
        }
        assert_eq!(store.propagate().unwrap(), Propagation::Complete);
        // Those that nobody has changed since.
        let keys = (10..MANY).map(|id| Followed::by_v(id, "p", id));
        let copies = table.get_many(keys).unwrap();
        assert!(copies.iter().all(Option::is_some), "a copy has not come");
        is_over.store(true, Ordering::Relaxed);
    });
    assert_eq!(store.propagate().unwrap(), Propagation::Complete);
    assert_eq!(store.pending_propagation().unwrap().entities, 0);
    assert!(table.check().unwrap().is_sound());
    assert_sound(&store);
}

/// What the documentation of `rebuild` says of a unique index that is being made.
#[test]
fn a_second_claim_is_refused_where_the_first_is_filed_and_else_stops_the_job() {
    #[derive(Entity, Clone, Debug, PartialEq)]
    #[entity(table = "Plain", kind = "plain")]
    #[key(partition = "{p}", row = "{id:06}")]
    #[index(by_v, table = "ByV", partition = "all", row = "v_{v:06}", unique, atomic)]
    struct Unique {
        p: String,
        id: u32,
        v: u32,
    }

    let (_scratch, store, _) = filled();
    let table = store.table::<Unique>().unwrap();
    let claim = |id, v| table.insert(&Unique { p: "p".into(), id, v });
    let half = |table: &Table<Unique>| {
        let mut job = table.rebuild().unwrap().steps_of(STEP.into());
        let was = job.progress().changed;
        while job.progress().changed < was + 200 || job.progress().changed >= u64::from(MANY) + was {
            assert!(job.step().unwrap());
        }
    };
    half(&table);
    // That of the entity 7 is filed, and that of the entity 399 is not.
    assert_eq!(claim(1_000, 7).unwrap_err().kind(), ErrorKind::UniqueConflict);
    claim(1_001, 399).unwrap();
    let stopped = |table: &Table<Unique>| {
        for _ in 0..2 {
            let error = table.rebuild().unwrap().run().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::UniqueConflict, "{error}");
            let said = error.to_string();
            for part in [
                "`by_v`",
                "`000399`",
                "`001001`",
                "`v_000399`",
                "change or delete one of them",
                "`Table::rebuild`",
            ] {
                assert!(said.contains(part), "{part}: {said}");
            }
        }
    };
    stopped(&table);
    table.update(Unique::key("p", 1_001), |unique| unique.v = 1_001).unwrap();
    table.rebuild().unwrap().run().unwrap();
    assert_eq!(claim(1_002, 399).unwrap_err().kind(), ErrorKind::UniqueConflict);
    assert!(table.check().unwrap().is_sound());

    // The same once the index's table was dropped: no claim is filed any more.
    store.drop_table("ByV").unwrap();
    let table = store.table::<Unique>().unwrap();
    let second: Key<Unique> = Unique::key("p", 1_001);
    table.update(second, |unique| unique.v = 399).unwrap();
    stopped(&table);
    table.delete(Unique::key("p", 1_001)).unwrap();
    table.rebuild().unwrap().run().unwrap();
    let report = table.check().unwrap();
    assert!(report.is_sound() && report.copies == u64::from(MANY), "{report}");
    let rows = store.dynamic_table("ByV").unwrap().query(&Query::new()).unwrap().count();
    assert_eq!(rows, MANY as usize);
    assert_sound(&store);
}
