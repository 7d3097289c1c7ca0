//! Copies elsewhere that are damaged at random are found, each, and mended.

use std::collections::BTreeSet;

use integration_tests::elsewhere::{DEPARTMENTS, Employee, check};
use integration_tests::random::Random;
use integration_tests::{Scratch, assert_sound, relaxed};
use table_core::{DynamicEntity, IfMatch};

use super::{employee, seen};

#[test]
fn a_thousand_damages_to_copies_elsewhere_are_found_and_mended() {
    let scratch = Scratch::new();
    let store = scratch.store_with(&relaxed());
    let staff = store.table::<Employee>().unwrap();
    let many = (0..120).map(|id| employee(DEPARTMENTS[id as usize % 3], id, &format!("{id}")));
    assert!(staff.bulk_insert(many).unwrap().failures.is_empty());
    assert!(staff.check().unwrap().is_sound());
    let mut random = Random::new(20_261_123);
    let mut damages = 0;
    while damages < 1_000 {
        let rows = seen(&store);
        let copies: Vec<_> = rows.iter().filter(|(_, row)| !row.row_key().starts_with("empid_")).collect();
        let (mut missing, mut stale, mut orphans) = (0, 0, 0);
        let mut damaged = BTreeSet::new();
        for _ in 0..100 {
            let at = random.below(copies.len() as u64) as usize;
            let (table, copy) = copies[at];
            if !damaged.insert(at) {
                continue;
            }
            let keys = (copy.partition_key(), copy.row_key());
            let raw = |table: &str| store.dynamic_table(table).unwrap().raw();
            let moved = |partition: &str, row: String| {
                let mut other = DynamicEntity::new(partition, row);
                for (name, value) in copy.properties() {
                    other.set(name, value.clone());
                }
                other
            };
            match random.below(5) {
                0 => {
                    raw(table).delete(keys.0, keys.1).unwrap();
                    missing += 1;
                }
                1 => {
                    let other = DynamicEntity::new(keys.0, keys.1).with("More", "too much");
                    raw(table).merge(&other, IfMatch::Any).unwrap();
                    stale += 1;
                }
                2 => {
                    raw(table).insert(&moved(keys.0, format!("{}x", keys.1))).unwrap();
                    orphans += 1;
                }
                // Another partition of the table, and another table.
                3 => {
                    raw(table).insert(&moved(&format!("{}x", keys.0), keys.1.to_owned())).unwrap();
                    orphans += 1;
                }
                _ => {
                    let other = if table == "Names" { "Skills" } else { "Names" };
                    raw(table).delete(keys.0, keys.1).unwrap();
                    raw(other).insert(&moved(keys.0, keys.1.to_owned())).unwrap();
                    (missing, orphans) = (missing + 1, orphans + 1);
                }
            }
            damages += 1;
        }
        let report = staff.check().unwrap();
        assert_eq!((report.missing, report.stale, report.orphans), (missing, stale, orphans), "{report}");
        assert_eq!(report.problems.len() as u64, report.wrong());
        assert_eq!(report.entities, 120);
        let mended = staff.repair().unwrap().run().unwrap();
        assert_eq!(mended.wrong(), missing + stale + orphans);
        let again = staff.check().unwrap();
        assert!(again.is_sound(), "{again}: {:?}", again.problems);
        assert_eq!(check(&store).unwrap().len(), 120);
    }
    assert_sound(&store);
}

/// What is wrong in another table says in which.
#[test]
fn a_problem_names_the_table_of_the_copy() {
    let (_scratch, store) = super::company_on_lmdb();
    let staff = store.table::<Employee>().unwrap();
    store.dynamic_table("Names").unwrap().raw().delete("badges", "00002").unwrap();
    let report = staff.check().unwrap();
    let [problem] = &report.problems[..] else { panic!("{report}") };
    assert_eq!(
        (&*problem.table, &*problem.partition, &*problem.row, problem.index),
        ("Names", "badges", "00002", "by_badge")
    );
    assert_eq!(staff.repair().unwrap().run().unwrap().mended, 1);
    check(&store).unwrap();
}

/// The check of the whole store knows the copies by what is noted of their kind, without the struct.
#[test]
fn the_check_of_the_store_finds_what_the_layout_tells() {
    let (_scratch, store) = super::company_on_lmdb();
    let sound = store.check().unwrap();
    assert!(sound.wrong_copies.is_empty(), "{:?}", sound.wrong_copies);
    // 3 employees with 6 copies each; of two indexes only the struct knows where copies are to be.
    assert_eq!(
        (sound.copies, &*sound.untold),
        (18, &["employee.by_badge", "employee.by_skill"].map(str::to_owned)[..])
    );
    let raw = |table: &str| store.dynamic_table(table).unwrap().raw();
    let found = |what: &str, table: &str, row: &str| {
        let report = store.check().unwrap();
        let [problem] = &report.wrong_copies[..] else { panic!("{what}: {:?}", report.wrong_copies) };
        assert!(problem.what.contains(what), "{problem}");
        assert_eq!(
            (problem.table.as_deref(), &*problem.row.as_ref().unwrap().1),
            (Some(table), row),
            "{problem}"
        );
    };
    let put = |table: &str, partition: &str, row: &str, of: &DynamicEntity| {
        let mut made = DynamicEntity::new(partition, row);
        for (name, value) in of.properties() {
            made.set(name, value.clone());
        }
        raw(table).put(&made).unwrap();
    };
    let cases = [
        ("Names", "name_n1", "Sales_000001"),
        ("Company", "all", "email_1@contoso.com"),
        ("Company", "Sales", "age_030_000001"),
    ];
    for (table, partition, row) in cases {
        let copy = raw(table).get(partition, row).unwrap().unwrap();
        raw(table).delete(partition, row).unwrap();
        found("is missing: in table `", "Company", "empid_000001");
        put(table, partition, row, &copy);
        raw(table).merge(&DynamicEntity::new(partition, row).with("More", 1), IfMatch::Any).unwrap();
        found("not what its entity says", table, row);
        put(table, partition, row, &copy);
        assert!(store.check().unwrap().wrong_copies.is_empty());
        // Another's place, and of nobody.
        let other = row.replace("000001", "000009").replace("1@", "9@");
        put(table, partition, &other, &copy);
        found("of no entity that has one there", table, &other);
        raw(table).delete(partition, &other).unwrap();
    }
    // What the copy is to say, and says otherwise.
    let change = DynamicEntity::new("name_n1", "Sales_000001").with("Email", "other@contoso.com");
    raw("Names").merge(&change, IfMatch::Any).unwrap();
    found("not what its entity says", "Names", "Sales_000001");
    store.table::<Employee>().unwrap().repair().unwrap().run().unwrap();
    // Of an index with `when` an orphan is found, too, and a missing copy by its struct alone.
    raw("Company").delete("Legal", "empid_000002").unwrap();
    assert_eq!(store.check().unwrap().wrong_copies.len(), 6);
    store.table::<Employee>().unwrap().repair().unwrap().run().unwrap();
    assert!(store.check().unwrap().wrong_copies.is_empty());
    raw("Names").delete("badges", "00001").unwrap();
    assert!(store.check().unwrap().wrong_copies.is_empty());
    assert_eq!(store.table::<Employee>().unwrap().check().unwrap().missing, 1);
}
