//! Copies that are damaged at random are found, each, and mended.

use std::collections::BTreeMap;

use integration_tests::random::Random;
use integration_tests::releases::{Copies, assert_rows, second, third};
use integration_tests::{Scratch, assert_sound, relaxed};
use table_core::{DynamicEntity, ErrorKind, IfMatch, Query};

use super::filled;

#[test]
fn a_thousand_damages_to_copies_are_found_and_mended() {
    let scratch = Scratch::new();
    let store = scratch.tables_with(&relaxed());
    let staff = filled(&store, 400);
    let table = store.table::<third::Employee>().unwrap();
    table.rebuild().unwrap().run().unwrap();
    assert!(table.check().unwrap().is_sound());
    let raw = table.dynamic().raw();
    let mut random = Random::new(20_261_122);
    let mut damages = 0;
    while damages < 1_000 {
        // Each round some copies are removed, changed, moved or made up, none of them twice.
        let rows: Vec<_> = raw.query(&Query::new()).unwrap().map(Result::unwrap).collect();
        let copies: Vec<_> = rows.iter().filter(|row| !row.row_key().starts_with("empid_")).collect();
        let mut damaged = BTreeMap::new();
        let (mut missing, mut stale, mut orphans) = (0, 0, 0);
        for _ in 0..100 {
            let copy = copies[random.below(copies.len() as u64) as usize];
            if damaged.insert(copy.row_key().to_owned(), ()).is_some() {
                continue;
            }
            let elsewhere = || {
                let mut other = DynamicEntity::new("Sales", format!("{}x", copy.row_key()));
                for (name, value) in copy.properties() {
                    other.set(name, value.clone());
                }
                other
            };
            match random.below(4) {
                0 => {
                    raw.delete("Sales", copy.row_key()).unwrap();
                    missing += 1;
                }
                1 => {
                    let other = DynamicEntity::new("Sales", copy.row_key()).with("More", "too much");
                    raw.merge(&other, IfMatch::Any).unwrap();
                    stale += 1;
                }
                2 => {
                    raw.insert(&elsewhere()).unwrap();
                    orphans += 1;
                }
                _ => {
                    raw.delete("Sales", copy.row_key()).unwrap();
                    raw.insert(&elsewhere()).unwrap();
                    (missing, orphans) = (missing + 1, orphans + 1);
                }
            }
            damages += 1;
        }
        let report = table.check().unwrap();
        assert_eq!((report.missing, report.stale, report.orphans), (missing, stale, orphans), "{report}");
        assert_eq!(report.problems.len() as u64, report.wrong());
        assert_eq!(report.entities, 400);
        let mended = table.repair().unwrap().run().unwrap();
        assert_eq!(mended.wrong(), missing + stale + orphans);
        assert!(mended.mended > 0, "{mended}");
        assert!(table.check().unwrap().is_sound());
        assert_rows(table.dynamic(), &staff, Copies::OF[2]);
    }
    assert_sound(&store);
}

#[test]
fn what_two_claim_is_told_and_left() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    filled(&store, 10);
    let table = store.table::<second::Employee>().unwrap();
    table.rebuild().unwrap().run().unwrap();
    // The second claims what the first has, by a raw write.
    let change = DynamicEntity::new("Sales", "empid_000002").with("Email", "1@contoso.com");
    table.dynamic().raw().merge(&change, IfMatch::Any).unwrap();
    let report = table.check().unwrap();
    assert_eq!((report.missing, report.stale, report.orphans), (0, 2, 1), "{:?}", report.problems);
    let mended = table.repair().unwrap().run().unwrap();
    assert!(mended.mended >= 1, "{mended}");
    let left = table.check().unwrap();
    assert!(!left.is_sound() && left.orphans == 0, "{left}");
    assert_eq!(table.get(second::Employee::by_email("Sales", "1@contoso.com")).unwrap().unwrap().id, 1);
    table.update(second::Employee::key("Sales", 2), |e| e.email = "2@contoso.com".into()).unwrap();
    table.repair().unwrap().run().unwrap();
    assert!(table.check().unwrap().is_sound());
}

#[test]
fn many_are_deleted_in_steps() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let mut staff = filled(&store, 1_300);
    let table = store.table::<second::Employee>().unwrap();
    table.rebuild().unwrap().run().unwrap();
    let old = || table.rows().department("Sales").filter(|e| e.age.ge(60)).entities();
    let mut job = table.delete_where(old()).unwrap();
    job.step().unwrap();
    let [begun] = &store.jobs().unwrap()[..] else { panic!("it has not ended") };
    assert_eq!((begun.changed, begun.name.starts_with("delete employee ")), (260, true));
    drop(job);
    table.delete_where(old()).unwrap().run().unwrap();
    staff.retain(|_, (_, age)| *age < 60);
    assert_eq!(staff.len(), 1_040);
    assert_rows(table.dynamic(), &staff, Copies::OF[1]);

    let elsewhere =
        second::Employee { department: "Legal".into(), id: 1, email: "l@contoso.com".into(), age: 30 };
    table.insert(&elsewhere).unwrap();
    let done = table.delete_partition(second::Employee::partition("Sales")).unwrap().gentle().run().unwrap();
    assert_eq!(done.changed, 1_040);
    staff.clear();
    staff.insert(("Legal".into(), 1), ("l@contoso.com".into(), 30));
    assert_rows(table.dynamic(), &staff, Copies::OF[1]);
    assert!(store.jobs().unwrap().is_empty());
    // Who can't keep the copies deletes nothing.
    let first = store.table::<integration_tests::releases::first::Employee>().unwrap();
    let refused = first.delete_partition(integration_tests::releases::first::Employee::partition("Legal"));
    assert_eq!(refused.unwrap().run().unwrap_err().kind(), ErrorKind::LayoutChanged);
    assert_rows(table.dynamic(), &staff, Copies::OF[1]);
    assert_sound(&store);
}

integration_tests::on_executors_with_jobs! {
    a_thousand_damages_to_copies_are_found_and_mended
    what_two_claim_is_told_and_left
    many_are_deleted_in_steps
}
