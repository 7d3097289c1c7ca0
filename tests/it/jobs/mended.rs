//! Repairs as jobs: each step is one transaction, the last to go on says what all have done, and they are given up, shared and
//! taken along by a copy as other jobs are.

use integration_tests::releases::{Copies, assert_rows, second, third};
use integration_tests::{Scratch, assert_sound, relaxed};
use table_core::typed::CopyReport;
use table_core::{DynamicEntity, Entity, ErrorKind, IfMatch, Store, Table};

use super::{filled, key};

/// Of whom everything is derived that a repair looks at, in two tables.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Crew", kind = "sailor")]
#[key(partition = "{ship}", row = "sailor_{id:06}")]
#[index(by_name, row = "name_{name}_{id:06}")]
#[index(by_badge, table = "Badges", partition = "badges", row = "{badge:06}", atomic, unique)]
#[index_list(by_rank, row = "rank_{rank}", of = id)]
#[summarized_in(Pay)]
struct Sailor {
    ship: String,
    id: u32,
    name: String,
    badge: u32,
    rank: u8,
    wage: i64,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Pays", kind = "pay")]
#[key(partition = "{ship}", row = "pay_{rank:03}")]
#[summary(of = Sailor, atomic)]
struct Pay {
    ship: String,
    rank: u8,
    #[summary(count)]
    sailors: u64,
    #[summary(sum = wage)]
    wages: i64,
}

fn sailor(id: u32) -> Sailor {
    let (name, rank) = (format!("n{id}"), (id % 40) as u8);
    Sailor { ship: "Ship".into(), id, name, badge: 900 + id, rank, wage: i64::from(id) }
}

const CREW: u32 = 200;

fn crew(store: &Store) -> Table<Sailor> {
    let crew = store.table::<Sailor>().unwrap();
    assert!(crew.bulk_insert((0..CREW).map(sailor)).unwrap().failures.is_empty());
    crew
}

/// Takes rows of each sort away, changes some and adds some: how many things are wrong then.
fn damage(store: &Store) -> u64 {
    let raw = |table: &str| store.dynamic_table(table).unwrap().raw();
    let change = |table: &str, row: DynamicEntity| raw(table).merge(&row, IfMatch::Any).map(|_| ()).unwrap();
    for id in 0..30 {
        raw("Crew").delete("Ship", &format!("name_n{id}_{id:06}")).unwrap();
        change("Badges", DynamicEntity::new("badges", format!("{:06}", 940 + id)).with("Wage", -1_i64));
        let of_nobody = DynamicEntity::new("Ship", format!("name_x_{id:06}"));
        let of_nobody = of_nobody.with("EntityType", "sailor.by_name").with("Id", i64::from(id));
        raw("Crew").insert(&of_nobody).unwrap();
    }
    for rank in 0..12 {
        change("Pays", DynamicEntity::new("Ship", format!("pay_{rank:03}")).with("Wages", 7_i64));
    }
    // Writing the copies of an entity puts it on its lists: these are of others. Of each list five are missing.
    for rank in 30..40 {
        raw("Crew").delete("Ship", &format!("rank_{rank:03}")).unwrap();
    }
    30 * 3 + 12 + 10 * 5
}

/// What a report counts, and how many it has mended.
fn numbers(report: &CopyReport) -> ([u64; 12], u64) {
    let r = report;
    let counts = [
        r.entities,
        r.copies,
        r.missing,
        r.stale,
        r.orphans,
        r.summaries,
        r.miscounted,
        r.lists,
        r.unlisted,
        r.mislisted,
        r.outdated,
        r.lost_parts,
    ];
    (counts, r.mended)
}

/// The report is equal whether one handle does it all, or each step is made by another one, as by processes that are killed.
#[test]
fn the_last_to_go_on_says_what_all_have_found_and_mended() {
    let (mut told, mut lasts) = (Vec::new(), Vec::new());
    for size in [500, 7, 1] {
        let scratch = Scratch::new();
        let store = scratch.store_with(&relaxed());
        let table = crew(&store);
        assert!(table.check().unwrap().is_sound());
        let wrong = damage(&store);
        let checked = table.check().unwrap();
        assert_eq!(checked.wrong(), wrong, "{checked}");
        // At once.
        let path = scratch.path().join("copy");
        store.copy_to(&path).unwrap();
        let copy = relaxed().open(&path).unwrap().table::<Sailor>().unwrap();
        let whole = copy.repair().unwrap().run().unwrap();
        assert_eq!(numbers(&whole), (numbers(&checked).0, wrong));
        let sorted = |report: &CopyReport| {
            let named = report.problems.iter().map(|it| (it.table.clone(), it.row.clone(), it.what));
            let mut named: Vec<_> = named.collect();
            named.sort();
            named
        };
        assert!(sorted(&whole) == sorted(&checked), "other things are named than by the check");

        let (mut steps, mut named, mut changed) = (0, Vec::new(), 0);
        let report = loop {
            let mut job = table.repair().unwrap().steps_of(size);
            let more = job.step().unwrap();
            let before = std::mem::replace(&mut changed, job.progress().changed);
            assert!(changed - before <= size, "a step of {size} has mended {before} to {changed}");
            assert_eq!(job.report().mended, changed);
            named.extend(job.report().problems.clone());
            steps += 1;
            if !more {
                break numbers(job.report());
            }
        };
        assert_eq!(report, numbers(&whole));
        // Each is named by the one who has found it.
        assert_eq!(named.len() as u64, wrong);
        assert!(steps > 40 || size > 7, "{steps}");
        let last = table.check().unwrap();
        assert!(last.is_sound() && store.jobs().unwrap().is_empty(), "{last}");
        assert!(copy.check().unwrap().is_sound());
        assert_sound(&store);
        told.push(report);
        lasts.push(numbers(&last));
    }
    assert!(told.windows(2).all(|two| two[0] == two[1]) && lasts.windows(2).all(|two| two[0] == two[1]));
}

/// Two at one time share it: what they mend together is mended once.
#[test]
fn two_at_one_time_share_a_repair() {
    let scratch = Scratch::new();
    let store = scratch.store_with(&relaxed());
    let table = crew(&store);
    let wrong = damage(&store);
    let mut jobs = [3, 11].map(|size| table.repair().unwrap().steps_of(size));
    while jobs.iter_mut().fold(false, |more, job| job.step().unwrap() | more) {
        let mended = store.jobs().unwrap().first().map_or(wrong, |job| job.changed);
        assert_eq!(table.check().unwrap().wrong(), wrong - mended);
    }
    let most = jobs.iter().map(|job| job.report().mended).max();
    assert_eq!(most, Some(wrong));
    assert!(table.check().unwrap().is_sound());
    assert_sound(&store);
}

#[test]
fn a_repair_says_how_far_it_is_and_gives_way_and_is_given_up() {
    let scratch = Scratch::new();
    let store = scratch.store_with(&relaxed());
    let table = crew(&store);
    let wrong = damage(&store);
    let mut job = table.repair().unwrap().gentle();
    let [begun] = &store.jobs().unwrap()[..] else { panic!() };
    assert_eq!((&*begun.table, &*begun.name, begun.done, begun.changed), ("Crew", "repair sailor", 0, 0));
    assert!(begun.total > 0);
    assert_eq!((job.progress().done, job.report().mended), (0, 0));
    let mut before = 0;
    while store.jobs().unwrap().first().is_some_and(|job| job.changed < 60) {
        assert!(job.step().unwrap());
        let progress = job.progress();
        assert!(progress.changed - before <= 50 && progress.rate > 0 && progress.left().is_some());
        before = progress.changed;
    }
    let mut other = table.repair().unwrap();
    job.cancel().unwrap();
    assert!(store.jobs().unwrap().is_empty());
    // Who runs it elsewhere finds it ended; what it has done stays done.
    assert!(!other.step().unwrap());
    let left = table.check().unwrap().wrong();
    assert_eq!(left, wrong - before);
    let report = table.repair().unwrap().run().unwrap();
    assert_eq!((report.wrong(), report.mended), (left, left));
    let mut job = table.repair().unwrap();
    while job.step().unwrap() {}
    let progress = job.progress();
    assert!(progress.done > 0 && progress.done <= progress.total && progress.changed == 0, "{progress}");
    assert_sound(&store);
}

/// What was begun when a store was copied goes on in the copy, and in the original, each for itself.
#[test]
fn a_copy_goes_on_with_a_repair_that_was_begun() {
    let scratch = Scratch::new();
    let store = scratch.store_with(&relaxed());
    let table = crew(&store);
    let wrong = damage(&store);
    let mut job = table.repair().unwrap().steps_of(10);
    while job.progress().changed < 40 {
        assert!(job.step().unwrap());
    }
    let begun = store.jobs().unwrap();
    let path = scratch.path().join("copy");
    store.copy_to(&path).unwrap();
    let of_original = numbers(&job.run().unwrap());
    let copy = relaxed().verify_first(true).open(&path).unwrap();
    assert_eq!(copy.jobs().unwrap(), begun);
    let restored = copy.table::<Sailor>().unwrap();
    assert_eq!(restored.check().unwrap().wrong(), wrong - begun[0].changed);
    let of_copy = restored.repair().unwrap().run().unwrap();
    assert_eq!(numbers(&of_copy), of_original);
    for store in [&store, &copy] {
        assert!(store.table::<Sailor>().unwrap().check().unwrap().is_sound());
        assert!(store.jobs().unwrap().is_empty());
        assert_sound(store);
    }
}

/// A program that declares the entity otherwise begins anew, and who was at it is told.
#[test]
fn a_repair_by_another_declaration_begins_anew() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let staff = filled(&store, 300);
    let old = store.table::<second::Employee>().unwrap();
    old.rebuild().unwrap().run().unwrap();
    let mut of_old = old.repair().unwrap().steps_of(10);
    assert!(of_old.step().unwrap());
    let new = store.table::<third::Employee>().unwrap();
    new.rebuild().unwrap().run().unwrap();
    new.dynamic().raw().delete("Sales", "age_023!000003").unwrap();
    let of_new = new.repair().unwrap();
    assert_eq!(store.jobs().unwrap()[0].done, 0);
    let error = of_old.step().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LayoutChanged, "{error}");
    let report = of_new.run().unwrap();
    assert_eq!((report.missing, report.mended), (1, 1), "{report}");
    assert!(!of_old.step().unwrap(), "it has ended");
    assert_rows(new.dynamic(), &staff, Copies::OF[2]);
    // The former program can't write any more, and repairs nothing.
    assert_eq!(old.repair().unwrap_err().kind(), ErrorKind::LayoutChanged);
    assert!(store.jobs().unwrap().is_empty());
    assert_sound(&store);
}

/// What can't be mended stands in the way of nothing that can, though it is in the same step.
#[test]
fn what_two_claim_holds_up_none_of_the_others() {
    for size in [500, 3] {
        let scratch = Scratch::new();
        let store = scratch.store();
        filled(&store, 60);
        let table = store.table::<second::Employee>().unwrap();
        table.rebuild().unwrap().run().unwrap();
        let raw = table.dynamic().raw();
        for id in 10..20 {
            let claims = DynamicEntity::new("Sales", format!("empid_{id:06}")).with("Email", "1@contoso.com");
            raw.merge(&claims, IfMatch::Any).unwrap();
        }
        // Nobody has it, and all of them claim it.
        raw.delete("Sales", "email_1@contoso.com").unwrap();
        for id in 30..50 {
            raw.delete("Sales", &format!("age_{:03}_{id:06}", 20 + id)).unwrap();
        }
        let report = table.repair().unwrap().steps_of(size).run().unwrap();
        assert!(report.mended >= 20 + 10 && report.mended <= report.wrong() + 10, "{report}");
        // Of those who claim it neither copy is written.
        let left = table.check().unwrap();
        let by_age = left.problems.iter().filter(|problem| problem.row.starts_with("age_03")).count();
        let by_email = left.problems.iter().filter(|problem| problem.row == "email_1@contoso.com").count();
        assert_eq!((left.wrong(), by_age, by_email), (20, 10, 10), "{left}");
        assert!(store.jobs().unwrap().is_empty());
        for id in 10..20 {
            table.update(key(id), |e| e.email = format!("{id}@contoso.com")).unwrap();
        }
        table.repair().unwrap().run().unwrap();
        assert!(table.check().unwrap().is_sound());
        assert_sound(&store);
    }
}

/// A summary that is made anew between two steps of a repair gets nothing added that an earlier one lacked.
#[test]
fn what_becomes_of_an_index_meanwhile_is_not_mended_by_what_it_was() {
    // In the midst of the rows, of the lists, and of the summary.
    for many in [20, 95, 120, 143, 148] {
        let scratch = Scratch::new();
        let store = scratch.store_with(&relaxed());
        let table = crew(&store);
        assert_eq!(damage(&store), 152);
        let mut job = table.repair().unwrap().steps_of(5);
        while job.progress().changed < many {
            assert!(job.step().unwrap());
        }
        for index in ["pay", "by_rank", "by_badge"] {
            table.drop_index(index).unwrap().run().unwrap();
        }
        table.rebuild().unwrap().run().unwrap();
        // What it makes wrong it would find and mend in its next pass.
        assert!(job.step().unwrap());
        let report = table.check().unwrap();
        assert_eq!((report.miscounted, report.unlisted, report.mislisted), (0, 0, 0), "{many}: {report}");
        job.run().unwrap();
        let report = table.check().unwrap();
        assert!(report.is_sound(), "{many}: {report}: {:?}", report.problems);
        assert_sound(&store);
    }
}

#[test]
fn a_repair_goes_with_its_table_and_along_with_its_name() {
    let scratch = Scratch::new();
    let store = scratch.store_with(&relaxed());
    let table = crew(&store);
    let wrong = damage(&store);
    let mut job = table.repair().unwrap().steps_of(20);
    job.step().unwrap();
    store.rename_table("Crew", "Crowd").unwrap();
    assert_eq!(store.jobs().unwrap()[0].table, "Crowd");
    store.rename_table("Crowd", "Crew").unwrap();
    let table = store.table::<Sailor>().unwrap();
    assert_eq!(table.repair().unwrap().run().unwrap().mended, wrong);
    let mut job = table.repair().unwrap();
    store.drop_table("Crew").unwrap();
    assert_eq!(job.step().unwrap_err().kind(), ErrorKind::TableNotFound);
    assert!(store.jobs().unwrap().is_empty());
    let unkept = integration_tests::MapStore::new().tables();
    let error = unkept.table::<second::Employee>().unwrap().repair().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
}
