//! Rows that were read and are not written, and ranges of rows, must be what they were.

use table_engine::error::ErrorKind;
use table_engine::model::IfMatch;

use super::*;
use crate::tests_scratch::in_memory;

/// What another writer does between the read and the write.
type Meanwhile = fn(&DynamicTable);

const NOTHING: Meanwhile = |_| {};
const CHANGED: Meanwhile =
    |table| _ = table.merge(&entity("p", "b 1").with("More", 1), IfMatch::Any).unwrap();
const REWRITTEN: Meanwhile = |table| _ = table.replace(&entity("p", "b 1"), IfMatch::Any).unwrap();
const REMOVED: Meanwhile = |table| table.delete("p", "b 1").unwrap();
const RECREATED: Meanwhile = |table| {
    table.delete("p", "b 1").unwrap();
    table.insert(&entity("p", "b 1")).unwrap();
};
const ADDED: Meanwhile = |table| _ = table.insert(&entity("p", "b 11")).unwrap();
const EMPTIED: Meanwhile = |table| {
    for row in ["b 1", "b 2", "b 3"] {
        table.delete("p", row).unwrap();
    }
};
const BESIDE: Meanwhile = |table| {
    for row in ["a", "b", "c"] {
        table.insert_or_merge(&entity("p", row).with("More", 1)).unwrap();
    }
    table.insert(&entity("p", "az")).unwrap();
    table.insert(&entity("p", "b!")).unwrap();
    table.insert(&entity("o", "b 4")).unwrap();
    table.insert(&entity("q", "b 4")).unwrap();
};

/// A table with rows in the range `b ` of the partition `p`, and beside it.
fn filled(store: &Store) -> DynamicTable {
    let table = store.create_table("Ann").unwrap();
    for key in ["a", "b", "b 1", "b 2", "b 3", "c"] {
        table.insert(&entity("p", key)).unwrap();
    }
    table.insert(&entity("o", "b 9")).unwrap();
    table
}

#[test]
fn a_row_that_is_expected_must_be_the_one_that_was_read() {
    let gone = Some(ErrorKind::EntityNotFound);
    let other = Some(ErrorKind::ConditionNotMet);
    let cases = [
        (NOTHING, None),
        (BESIDE, None),
        (CHANGED, other),
        (REWRITTEN, other),
        (REMOVED, gone),
        (RECREATED, other),
        (EMPTIED, gone),
    ];
    for (number, (meanwhile, kind)) in cases.into_iter().enumerate() {
        for proved in [true, false] {
            let (_dir, store) = store();
            let table = filled(&store);
            let read = version(&table, "p", "b 1");
            let read = if proved { read } else { unproved(read) };
            meanwhile(&table);
            let before = rows(&store);
            // Together with a row that is put without a look, and in another partition than it.
            let groups = vec![group(0, "q", vec![insert("new")]), group(0, "p", vec![expect("b 1", read)])];
            let done = carry_out(groups, &[&table]);
            assert_eq!(done.as_ref().err().map(|refused| refused.error.kind()), kind, "case {number}");
            if let Err(refused) = done {
                assert_eq!((refused.group, refused.row), (1, Some(0)));
                assert_eq!(refused.error.row_key(), Some("b 1"));
                assert!(
                    refused
                        .error
                        .to_string()
                        .starts_with("cannot rely on table `Ann`, partition `p`, row `b 1`")
                );
                assert_eq!(rows(&store), before);
            } else {
                assert!(table.get("q", "new").unwrap().is_some());
                // It is what it was.
                assert_eq!(version(&table, "p", "b 1").etag, read.etag);
                assert_eq!(rows(&store).len(), before.len() + 1);
            }
        }
    }
}

#[test]
fn a_range_must_have_the_rows_that_were_read() {
    let other = Some(ErrorKind::ConditionNotMet);
    let cases = [
        (NOTHING, None),
        (BESIDE, None),
        (CHANGED, other),
        (REWRITTEN, other),
        (REMOVED, other),
        (RECREATED, other),
        (ADDED, other),
        (EMPTIED, other),
    ];
    for (number, (meanwhile, kind)) in cases.into_iter().enumerate() {
        let (_dir, store) = store();
        let table = filled(&store);
        let range = unchanged(&table, "p", "b ");
        meanwhile(&table);
        let before = rows(&store);
        // Also beside rows that the same plan puts into the range, changes in it and takes out of it.
        for rows_of_it in [
            vec![],
            vec![
                insert("b 10"),
                row("b 2", Condition::Any, Act::Put(())),
                row("b 3", Condition::Any, Act::Remove),
            ],
        ] {
            let watched = Group { unchanged: vec![range], ..group(0, "p", rows_of_it.clone()) };
            let done = carry_out(
                vec![group(0, "z", vec![row("new", Condition::Any, Act::Put(()))]), watched],
                &[&table],
            );
            assert_eq!(done.as_ref().err().map(|refused| refused.error.kind()), kind, "case {number}");
            let Err(refused) = done else {
                assert!(table.get("z", "new").unwrap().is_some());
                continue;
            };
            assert_eq!((refused.group, refused.row), (1, None));
            assert_eq!(refused.error.row_key(), Some("b "));
            assert!(
                refused
                    .error
                    .to_string()
                    .starts_with("cannot rely on table `Ann`, partition `p`, row `b `: the rows")
            );
            assert_eq!(rows(&store), before);
        }
    }
}

#[test]
fn a_range_of_no_rows_stays_one_until_a_row_comes() {
    let (_dir, store) = store();
    let table = store.create_table("Ann").unwrap();
    // Nothing in the whole store, nothing before and behind, nothing between.
    for key in ["", "m", "a", "z"] {
        let range = unchanged(&table, "p", "b ");
        let key = format!("{key}0");
        let watched = Group { unchanged: vec![range], ..group(0, "p", vec![insert(&key)]) };
        carry_out(vec![watched], &[&table]).unwrap();
    }
    let range = unchanged(&table, "p", "b ");
    table.insert(&entity("p", "b ")).unwrap();
    let watched = Group { unchanged: vec![range], ..group(0, "p", vec![insert("new")]) };
    assert_eq!(carry_out(vec![watched], &[&table]).unwrap_err().error.kind(), ErrorKind::ConditionNotMet);
}

#[test]
fn a_range_over_many_pages_is_read_whole() {
    let (_dir, store) = store();
    let table = store.create_table("Ann").unwrap();
    for number in 0..300 {
        let text = "x".repeat(number * 7 % 1_500);
        table.insert(&entity("p", &format!("b {number:03}")).with("Long", text)).unwrap();
    }
    table.insert(&entity("p", "b large").with("Long", "x".repeat(9_000))).unwrap();
    for changed in ["b 000", "b 150", "b 299", "b large"] {
        let range = unchanged(&table, "p", "b ");
        let watched = || {
            vec![Group {
                unchanged: vec![range],
                ..group(0, "p", vec![row("n", Condition::Any, Act::Put(()))])
            }]
        };
        carry_out(watched(), &[&table]).unwrap();
        table.merge(&DynamicEntity::new("p", changed).with("More", 1), IfMatch::Any).unwrap();
        assert_eq!(carry_out(watched(), &[&table]).unwrap_err().error.kind(), ErrorKind::ConditionNotMet);
    }
}

#[test]
fn what_an_earlier_plan_of_the_same_transaction_changed_is_seen() {
    let changes = [
        row("b 1", Condition::Any, Act::Put(())),
        row("b 1", Condition::Present, Act::Merge(())),
        row("b 1", Condition::Present, Act::Remove),
        insert("b 4"),
        row("c", Condition::Any, Act::Put(())),
    ];
    for (number, change) in changes.into_iter().enumerate() {
        let (_dir, store) = store();
        let table = filled(&store);
        let (read, range) = (version(&table, "p", "b 1"), unchanged(&table, "p", "b "));
        let plans = vec![
            prepared(vec![group(0, "p", vec![change])], &[&table]).unwrap(),
            prepared(
                vec![group(0, "q", vec![insert("expecting")]), group(0, "p", vec![expect("b 1", read)])],
                &[&table],
            )
            .unwrap(),
            prepared(
                vec![Group { unchanged: vec![range], ..group(0, "p", vec![insert("watching")]) }],
                &[&table],
            )
            .unwrap(),
        ];
        let before = store.stats().unwrap().commits;
        let lead = lmdb(&table).inner().writer.lead().unwrap();
        let done = lmdb(&table).inner().writer.run_all(lmdb(&table).inner(), &lead, members(plans));
        drop(lead);
        assert_eq!(store.stats().unwrap().commits, before + 1);
        let kinds: Vec<_> =
            done.iter().map(|done| done.as_ref().err().map(|refused| refused.error.kind())).collect();
        let (gone, other) = (Some(ErrorKind::EntityNotFound), Some(ErrorKind::ConditionNotMet));
        let expected = match number {
            0 | 1 => [None, other, other],
            2 => [None, gone, other],
            3 => [None, None, other],
            _ => [None, None, None],
        };
        assert_eq!(kinds, expected, "case {number}");
        assert_eq!(table.get("q", "expecting").unwrap().is_some(), expected[1].is_none());
        assert_eq!(table.get("p", "watching").unwrap().is_some(), expected[2].is_none());
        rows(&store);
    }
}

#[test]
fn on_a_damaged_page_neither_is_said_to_be_as_it_was() {
    let dir = in_memory();
    let path = dir.path().join("store");
    let store = Store::open(&path).unwrap();
    let table = filled(&store);
    table.replace(&DynamicEntity::new("p", "b 1").with("Text", "unmistakable"), IfMatch::Any).unwrap();
    let (read, range) = (unproved(version(&table, "p", "b 1")), unchanged(&table, "p", "b "));
    // In the row's text, in every page that has it.
    drop((table, store));
    let file = path.join("data.mdb");
    let mut bytes = std::fs::read(&file).unwrap();
    let text = b"unmistakable";
    let places: Vec<_> =
        bytes.windows(text.len()).enumerate().filter(|(_, found)| found == text).map(|(at, _)| at).collect();
    assert!(!places.is_empty());
    for at in places {
        bytes[at] ^= 1;
    }
    std::fs::write(&file, bytes).unwrap();

    let table = Store::open(&path).unwrap().dynamic_table("Ann").unwrap();
    let watched =
        Group { unchanged: vec![range], ..group(0, "p", vec![row("b 9", Condition::Absent, Act::Keep)]) };
    let plans = [
        vec![
            group(0, "p", vec![expect("b 1", read), row("z", Condition::Absent, Act::Keep)]),
            group(0, "q", vec![insert("new")]),
        ],
        vec![group(0, "q", vec![insert("new")]), watched],
    ];
    for groups in plans {
        let refused = carry_out(groups, &[&table]).unwrap_err();
        assert_eq!(refused.error.kind(), ErrorKind::Corrupt, "{}", refused.error);
        assert!(refused.error.to_string().contains("row `b 1`"), "{}", refused.error);
    }
    assert_eq!(digest(&table, "p", "b ").unwrap_err().kind(), ErrorKind::Corrupt);
    assert_eq!(table.get("q", "new").unwrap(), None);
}

/// LMDB's branch pages of a file, by where they begin, with their numbers of entries.
fn branches(bytes: &[u8]) -> Vec<(usize, u16)> {
    const PAGE: usize = 4096;
    const BRANCH: u16 = 1;
    let word = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
    let pages = (0..bytes.len() / PAGE).map(|number| number * PAGE);
    pages.filter(|at| word(at + 10) == BRANCH).map(|at| (at, (word(at + 12) - 16) / 2)).collect()
}

#[test]
fn a_branch_that_was_shortened_hides_no_row_of_a_range() {
    let dir = in_memory();
    let path = dir.path().join("store");
    let store = Store::open(&path).unwrap();
    let table = store.create_table("Ann").unwrap();
    let long = |key: &str| entity("p", key).with("Long", "x".repeat(1_000));
    for number in 0..60 {
        table.insert(&long(&format!("b {number:03}"))).unwrap();
    }
    table.insert(&entity("a", "other")).unwrap();
    let range = unchanged(&table, "p", "b ");
    // Rows at the range's end, on leaves that hold nothing else.
    for number in 60..72 {
        table.insert(&long(&format!("b {number:03}"))).unwrap();
    }
    drop((table, store));
    let file = path.join("data.mdb");
    let sound = std::fs::read(&file).unwrap();
    let branches = branches(&sound);
    assert!(branches.iter().any(|(_, entries)| *entries > 20), "{branches:?}");

    let (mut changed, mut damaged) = (0, 0);
    for (page, entries) in branches {
        let left = entries.saturating_sub(8).max(2)..=entries;
        for (left, writes_before) in left.flat_map(|left| [(left, false), (left, true)]) {
            let mut bytes = sound.clone();
            bytes[page + 12..page + 14].copy_from_slice(&(16 + 2 * left).to_le_bytes());
            std::fs::write(&file, bytes).unwrap();
            let store = Store::open(&path).unwrap();
            let table = store.dynamic_table("Ann").unwrap();
            let watched = Group { unchanged: vec![range], ..group(0, "p", vec![]) };
            let mut plans =
                vec![prepared(vec![watched, group(0, "q", vec![insert("new")])], &[&table]).unwrap()];
            if writes_before {
                plans.insert(0, prepared(vec![group(0, "a", vec![insert("first")])], &[&table]).unwrap());
            }
            let inner = lmdb(&table).inner();
            let lead = inner.writer.lead().unwrap();
            let done = inner.writer.run_all(inner, &lead, members(plans));
            drop(lead);
            match done.last().unwrap().as_ref().map_err(|refused| refused.error.kind()) {
                Err(ErrorKind::ConditionNotMet) => changed += 1,
                Err(ErrorKind::Corrupt) => damaged += 1,
                other => panic!("page {page}, {left} of {entries} left: {other:?}"),
            }
        }
    }
    assert!(changed > 0 && damaged > 0, "{changed} changed, {damaged} damaged");
}

/// A row that was read in the state that the write begins with is not read again, but for the pages that it has of its own.
#[test]
fn a_large_value_that_was_read_before_is_not_removed_with_pages_of_others() {
    use std::os::unix::fs::FileExt;

    let dir = in_memory();
    let path = dir.path().join("store");
    let large = entity("p", "large").with("Long", "x".repeat(9_000));
    let table = filled(&Store::open(&path).unwrap());
    table.insert(&large).unwrap();
    drop(table);
    let table = Store::open(&path).unwrap().dynamic_table("Ann").unwrap();
    let read = version(&table, "p", "large");
    let (pages, at) = {
        let environment = &lmdb(&table).inner().environment;
        let (txn, pages) = (environment.read_txn().unwrap(), environment.dbs.pages);
        let rows = environment.dbs.data.iter(&txn).unwrap().map(|row| row.unwrap().1);
        let value = rows.into_iter().find(|value| value.len() > 9_000).unwrap();
        (pages, pages.number(value).unwrap())
    };
    let file = std::fs::OpenOptions::new().write(true).open(path.join("data.mdb")).unwrap();
    let count = at * u64::try_from(pages.size()).unwrap() + 12;
    file.write_all_at(&5_u32.to_le_bytes(), count).unwrap();
    for act in [Act::Remove, Act::Put(())] {
        let plan = vec![group(0, "p", vec![row("large", Condition::Is(read), act)])];
        let refused = carry_out(plan, &[&table]).unwrap_err();
        assert_eq!(refused.error.kind(), ErrorKind::Corrupt, "{}", refused.error);
    }
    file.write_all_at(&3_u32.to_le_bytes(), count).unwrap();
    carry_out(vec![group(0, "p", vec![row("large", Condition::Is(read), Act::Remove)])], &[&table]).unwrap();
    assert_eq!(table.get("p", "large").unwrap(), None);
}
