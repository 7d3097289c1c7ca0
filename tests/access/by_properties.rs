//! Rows of a declared kind that are written by their properties through a restricted handle: planned by the noted layout, they
//! take the permissions that any row takes, and what follows from them lies outside.

use std::sync::mpsc;

use table_core::access::Access;
use table_core::crypt::MemoryKeys;
use table_core::introspect::IndexCondition;
use table_core::{
    DynamicEntity, DynamicTable, Entity, Error, ErrorKind, IfMatch, Query, Result, Store, Tables,
};

use crate::world::permitting;

/// An employee for a while, with a copy in the partition and one elsewhere.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "contractor")]
#[key(partition = "{department}", row = "c_{id:03}")]
#[index(by_name, row = "name_{name}_{id:03}")]
#[index(by_badge, table = "Badges", partition = "{badge}", row = "badge", unique, atomic)]
struct Contractor {
    department: String,
    id: u32,
    name: String,
    badge: u32,
}

/// Those of the range, both ends included: the third is not there yet.
const INSIDE: [u32; 3] = [2, 3, 4];
const ABSENT: u32 = 3;
/// Those beside the range, and in another partition.
const OUTSIDE: [(&str, u32); 3] = [("Sales", 1), ("Sales", 5), ("Legal", 3)];

fn contractor(department: &str, id: u32) -> Contractor {
    let badge = if department == "Sales" { id } else { 100 + id };
    Contractor { department: department.into(), id, name: format!("n{id}"), badge }
}

fn row(id: u32) -> String {
    format!("c_{id:03}")
}

fn properties(of: &Contractor) -> DynamicEntity {
    DynamicEntity::new(&*of.department, row(of.id))
        .with("EntityType", "contractor")
        .with("Name", &*of.name)
        .with("Badge", i64::from(of.badge))
}

/// A store with one of each place but the absent one.
fn filled() -> Store {
    let store = Store::temporary().unwrap();
    let table = store.table::<Contractor>().unwrap();
    for id in [1, 2, 4, 5] {
        table.insert(&contractor("Sales", id)).unwrap();
    }
    table.insert(&contractor("Legal", 3)).unwrap();
    store
}

fn access(letters: &str) -> Access {
    let range = Access::to_table("Company").from_row("Sales", &row(2)).through_row("Sales", &row(4));
    permitting(range, letters)
}

fn rows(store: &Tables) -> Vec<(String, DynamicEntity)> {
    let mut rows = Vec::new();
    for name in store.tables().unwrap() {
        for found in store.dynamic_table(&name).unwrap().query(&Query::new()).unwrap() {
            rows.push((name.clone(), found.unwrap()));
        }
    }
    rows
}

type Call = fn(&Tables, &DynamicTable, &Contractor) -> Result<()>;

/// Each way to write, the permissions that it takes, and whether the entity must not be there.
const CALLS: &[(&str, &str, bool, Call)] = &[
    ("insert", "a", true, |_, table, of| table.insert(&properties(of)).map(drop)),
    ("put of none", "au", true, |_, table, of| table.put(&properties(of)).map(drop)),
    ("put", "au", false, |_, table, of| table.put(&properties(of)).map(drop)),
    ("replace", "u", false, |_, table, of| table.replace(&properties(of), IfMatch::Any).map(drop)),
    ("merge", "u", false, |_, table, of| {
        let change = DynamicEntity::new(&*of.department, row(of.id)).with("Name", "new");
        table.merge(&change, IfMatch::Any).map(drop)
    }),
    ("insert_or_merge of none", "au", true, |_, table, of| table.insert_or_merge(&properties(of)).map(drop)),
    ("insert_or_merge", "au", false, |_, table, of| table.insert_or_merge(&properties(of)).map(drop)),
    ("delete", "d", false, |_, table, of| table.delete(&of.department, &row(of.id))),
    ("a batch", "a", true, |_, table, of| {
        table.batch(&*of.department).insert(properties(of)).commit().map(drop)
    }),
    ("a batch that deletes", "d", false, |_, table, of| {
        table.batch(&*of.department).delete(row(of.id)).commit().map(drop)
    }),
    ("bulk", "u", false, |tables, table, of| {
        let batch = table.batch(&*of.department).replace(properties(of), IfMatch::Any);
        tables.bulk([batch])?.into_result().map(drop)
    }),
    ("insert_row", "a", true, |tables, table, of| {
        tables.transaction().insert_row(table, &properties(of)).commit().map(drop)
    }),
    ("put_row", "au", false, |tables, table, of| {
        tables.transaction().put_row(table, &properties(of)).commit().map(drop)
    }),
    ("replace_row", "u", false, |tables, table, of| {
        tables.transaction().replace_row(table, &properties(of), IfMatch::Any).commit().map(drop)
    }),
    ("merge_row", "u", false, |tables, table, of| {
        tables.transaction().merge_row(table, &properties(of), IfMatch::Any).commit().map(drop)
    }),
    ("insert_or_merge_row", "au", true, |tables, table, of| {
        tables.transaction().insert_or_merge_row(table, &properties(of)).commit().map(drop)
    }),
    ("delete_row", "d", false, |tables, table, of| {
        tables.transaction().delete_row(table, &of.department, &row(of.id)).commit().map(drop)
    }),
];

/// Makes a call through an access with these permissions.
fn call(store: &Store, letters: &str, run: Call, of: &Contractor) -> Result<()> {
    let tables = store.restricted(&access(letters));
    let table = tables.dynamic_table("Company")?;
    run(&tables, &table, of)
}

#[test]
fn it_takes_what_any_row_takes_inside_and_brings_its_copies_along() {
    for (name, needs, is_new, run) in CALLS {
        for id in INSIDE.into_iter().filter(|id| (*id == ABSENT) == *is_new) {
            let store = filled();
            let of = Contractor { name: "new".into(), badge: 50, ..contractor("Sales", id) };
            let done = call(&store, needs, *run, &of);
            assert!(done.is_ok(), "{name} of {id}: {done:?}");
            let staff = store.table::<Contractor>().unwrap();
            let found = staff.get(Contractor::key("Sales", id)).unwrap().map(table_core::Stored::into_inner);
            let copy = staff.get(Contractor::by_name("Sales", "new", id)).unwrap();
            let badge = staff.get(Contractor::by_badge(50)).unwrap();
            if needs.contains('d') {
                assert!(found.is_none() && copy.is_none() && badge.is_none(), "{name} of {id}");
            } else {
                let of = if *name == "merge" { Contractor { badge: id, ..of } } else { of };
                assert_eq!(found.as_ref(), Some(&of), "{name} of {id}");
                assert_eq!(copy.as_deref(), Some(&of), "{name} of {id}");
                assert_eq!(badge.is_some(), of.badge == 50, "{name} of {id}");
            }
            assert!(store.check().unwrap().problems.is_empty(), "{name} of {id}");
        }
    }
}

#[test]
fn without_a_permission_and_outside_it_is_refused_and_writes_nothing() {
    let store = filled();
    let before = rows(&store);
    for (name, needs, is_new, run) in CALLS {
        let inside = contractor("Sales", if *is_new { ABSENT } else { 2 });
        let lacking = needs.chars().map(|left| "raud".replace(left, ""));
        for letters in lacking.chain(["".into(), "r".into()]) {
            let error = call(&store, &letters, *run, &inside).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::NotPermitted, "{name} with `{letters}`: {error}");
        }
        for (department, id) in OUTSIDE {
            for id in [id, id + 10] {
                let error = call(&store, "raud", *run, &contractor(department, id)).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::OutsideRange, "{name} of {department} {id}: {error}");
            }
        }
        assert_eq!(rows(&store), before, "{name}");
    }
}

#[test]
fn that_a_unique_key_is_taken_elsewhere_is_told_and_not_by_whom() {
    let store = filled();
    let before = rows(&store);
    for (name, needs, is_new, run) in CALLS.iter().filter(|(_, needs, ..)| *needs != "d") {
        if *name == "merge" {
            continue; // It leaves the badge as it is.
        }
        let id = if *is_new { ABSENT } else { 2 };
        let taken = Contractor { badge: 103, ..contractor("Sales", id) };
        let error = call(&store, needs, *run, &taken).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::UniqueConflict, "{name}: {error}");
        assert!(!format!("{error} {error:?}").contains("Legal"), "{name}: {error}");
        assert_eq!(rows(&store), before, "{name}");
    }
}

/// What a transaction or a batch says, without the row of which it says so.
fn said<T>(done: Result<T>, row: &str) -> Option<(ErrorKind, Option<usize>, String)> {
    done.err().map(|error| (error.kind(), error.index(), error.to_string().replace(row, "..")))
}

/// The copies of entities outside, in the range of the access.
#[test]
fn a_hidden_row_reads_as_absent_in_transactions_and_batches() {
    let store = filled();
    let range =
        Access::to_table("Company").everything().from_row("Sales", &row(2)).through_partition("Sales");
    let tables = store.restricted(&range);
    let table = tables.dynamic_table("Company").unwrap();
    let (hidden, missing) = ("name_n1_001", "name_n8_008");
    assert!(store.dynamic_table("Company").unwrap().get("Sales", hidden).unwrap().is_some());
    assert!(table.get("Sales", hidden).unwrap().is_none());
    let before = rows(&store);
    let note = |row: &str| DynamicEntity::new("Sales", row).with("Text", "a");
    let (third, absent) = (properties(&contractor("Sales", ABSENT)), row(ABSENT));
    for row in [hidden, missing] {
        // An error that comes before it comes before it in either case.
        let refused = [
            said(tables.transaction().delete_row(&table, "Sales", row).commit(), row),
            said(tables.transaction().merge_row(&table, &note(row), IfMatch::Any).commit(), row),
            said(tables.transaction().replace_row(&table, &note(row), IfMatch::Any).commit(), row),
            said(
                tables
                    .transaction()
                    .delete_row(&table, "Sales", &absent)
                    .delete_row(&table, "Sales", row)
                    .commit(),
                row,
            ),
            said(
                tables.transaction().insert_row(&table, &third).delete_row(&table, "Sales", row).commit(),
                row,
            ),
            said(table.batch("Sales").insert(third.clone()).delete(row).commit(), row),
            said(table.batch("Sales").insert(third.clone()).merge(note(row), IfMatch::Any).commit(), row),
        ];
        let kinds: Vec<_> =
            refused.iter().map(|said| said.as_ref().map(|(kind, at, _)| (*kind, *at))).collect();
        let missed = |at| Some((ErrorKind::EntityNotFound, Some(at)));
        assert_eq!(
            kinds,
            [missed(0), missed(0), missed(0), missed(0), missed(1), missed(1), missed(1)],
            "{row}"
        );
        let words: Vec<_> = refused.iter().flatten().map(|(.., words)| words).collect();
        for word in ["kind", "copy", "by_name", "n1"] {
            assert!(!words.iter().any(|said| said.contains(word)), "{words:?}");
        }
        assert_eq!(rows(&store), before, "{row}");
    }
    // That its key is taken is told.
    let entity = note(hidden);
    for refused in [
        tables.transaction().insert_row(&table, &entity).commit(),
        tables.transaction().put_row(&table, &entity).commit(),
        tables.transaction().insert_or_merge_row(&table, &entity).commit(),
        table.batch("Sales").insert(third.clone()).put(entity.clone()).commit(),
    ] {
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::EntityAlreadyExists);
    }
    assert_eq!(rows(&store), before);
    // One that comes between the making of a transaction and its end.
    let later = tables.transaction().delete_row(&table, "Sales", "name_late_001");
    let staff = store.table::<Contractor>().unwrap();
    staff.update(Contractor::key("Sales", 1), |one| one.name = "late".into()).unwrap();
    assert_eq!(later.commit().unwrap_err().kind(), ErrorKind::EntityNotFound);
    // What is shown is said to be a copy.
    let shown = tables.transaction().delete_row(&table, "Sales", "name_n2_002").commit();
    assert_eq!(shown.unwrap_err().kind(), ErrorKind::DeclaredKind);
}

/// A row in the other table of a planned write gets no rights by that.
#[test]
fn the_tables_of_copies_are_as_restricted_as_before() {
    #[derive(Entity, Debug)]
    #[entity(table = "Badges", kind = "lost")]
    #[key(partition = "{badge}", row = "lost")]
    struct Lost {
        badge: u32,
    }
    let store = filled();
    store.table::<Lost>().unwrap();
    let tables = store.restricted(&Access::to_tables(["Company", "Badges"]).everything().partition("Sales"));
    let company = tables.dynamic_table("Company").unwrap();
    let before = rows(&store);
    let (new, lost) = (properties(&contractor("Sales", ABSENT)), Lost { badge: 7 });
    let done = tables.transaction().insert_row(&company, &new).insert(&lost).commit();
    let found = done.map_err(|error| (error.kind(), error.index()));
    assert_eq!(found, Err((ErrorKind::OutsideRange, Some(1))));
    assert_eq!(rows(&store), before);
}

/// A contractor whose name is to be unique.
mod second {
    use super::Entity;

    #[expect(clippy::duplicated_attributes, reason = "each index says for itself what it is")]
    #[derive(Entity, Debug)]
    #[entity(table = "Company", kind = "contractor")]
    #[key(partition = "{department}", row = "c_{id:03}")]
    #[index(by_name, row = "name_{name}_{id:03}")]
    #[index(by_badge, table = "Badges", partition = "{badge}", row = "badge", unique, atomic)]
    #[index(by_only_name, row = "only_{name}", unique)]
    pub(super) struct Contractor {
        department: String,
        id: u32,
        name: String,
        badge: u32,
    }
}

#[test]
fn kinds_say_nothing_of_other_tables_and_of_entities() {
    let store = filled();
    let staff = store.table::<Contractor>().unwrap();
    let twin = Contractor { name: "n1".into(), ..contractor("Sales", 8) };
    staff.insert(&twin).unwrap();
    let rebuilt = store.table::<second::Contractor>().unwrap().rebuild().unwrap().run();
    assert_eq!(rebuilt.unwrap_err().kind(), ErrorKind::UniqueConflict);
    let conditions = |tables: &Tables| -> Vec<_> {
        let kinds = tables.kinds().unwrap();
        let own = kinds.iter().filter(|kind| kind.lies_here());
        own.flat_map(|kind| kind.indexes().into_iter().map(|index| (index.name, index.condition))).collect()
    };
    let state_of = |found: &[(String, Option<IndexCondition>)], name: &str| {
        found.iter().find(|(known, _)| known == name).and_then(|(_, condition)| condition.clone())
    };
    let own = conditions(&store);
    let Some(IndexCondition::Blocked(by)) = state_of(&own, "by_only_name") else { panic!("{own:?}") };
    assert!(by.contains("c_001"), "{by}");

    let tables = store.restricted(&access("r"));
    let noted: Vec<_> = tables.kinds().unwrap().iter().map(|kind| kind.table().to_owned()).collect();
    assert_eq!(noted, ["Company"]);
    let shown = conditions(&tables);
    assert_eq!(state_of(&shown, "by_only_name"), Some(IndexCondition::Building));
    assert_eq!(state_of(&shown, "by_badge"), Some(IndexCondition::Ready));
    // Neither does the error of a read.
    let read = tables.table::<second::Contractor>().unwrap();
    let error = read.get(second::Contractor::by_only_name("Sales", "n1")).unwrap_err();
    assert!(!format!("{error} {error:?}").contains("c_00"), "{error}");
    // And nothing at a time when the access does not hold.
    let ended = store.restricted(&access("r").until("2020-01-01".parse().unwrap()));
    assert_eq!(ended.kinds().unwrap_err().kind(), ErrorKind::NotPermitted);
}

#[test]
fn the_store_counts_what_a_restricted_handle_does_and_that_does_not_show_it() {
    let store = filled();
    let tables = store.restricted(&access("raud"));
    assert_eq!(tables.metrics().unwrap_err().kind(), ErrorKind::Unsupported);
    let (table, staff) = (tables.dynamic_table("Company").unwrap(), tables.table::<Contractor>().unwrap());

    let before = store.metrics().unwrap();
    assert!(table.get("Sales", &row(2)).unwrap().is_some());
    assert!(table.get("Legal", &row(3)).unwrap().is_none());
    assert_eq!(table.query(&Query::new()).unwrap().count(), 2);
    let read = store.metrics().unwrap();
    assert_eq!(read.point_reads - before.point_reads, 2);
    assert_eq!((read.queries - before.queries, read.rows_returned - before.rows_returned), (1, 2));

    // An entity has three rows.
    staff.insert(&contractor("Sales", ABSENT)).unwrap();
    table.delete("Sales", &row(ABSENT)).unwrap();
    let written = store.metrics().unwrap();
    assert_eq!((written.rows_written - read.rows_written, written.rows_removed - read.rows_removed), (3, 3));

    let of = |metrics: &table_core::metrics::Metrics, kind: ErrorKind| {
        metrics.errors.iter().find(|(known, _)| *known == kind).map_or(0, |(_, count)| *count)
    };
    staff.delete(Contractor::key("Legal", 3)).unwrap_err();
    table.delete("Legal", &row(3)).unwrap_err();
    let refused = store.metrics().unwrap();
    assert_eq!(of(&refused, ErrorKind::OutsideRange) - of(&written, ErrorKind::OutsideRange), 2);
}

/// Submits a batch, and waits for its answer.
fn submitted(batch: &table_core::Batch) -> Result<()> {
    let (done, answer) = mpsc::channel();
    batch.submit(move |committed| done.send(committed).unwrap_or_default())?;
    answer.recv().expect("it is called").map(drop)
}

#[test]
fn batches_of_a_table_that_is_sealed_by_a_rule_are_submitted_inside_alone() {
    let keys = std::sync::Arc::new(MemoryKeys::new().unwrap());
    let store = Store::options().encryption(keys).temporary().unwrap();
    store.create_table("Notes").unwrap();
    let note =
        |department: &str, id| DynamicEntity::new(department, row(id)).with("Secret", "s").with("Text", "t");
    let range = Access::to_table("Notes").from_row("Sales", &row(2)).through_row("Sales", &row(4));
    let sealed = |letters: &str| {
        let table = store.restricted(&permitting(range.clone(), letters)).dynamic_table("Notes").unwrap();
        table.encrypting(|_, _, name| name == "Secret")
    };
    for id in INSIDE {
        submitted(&sealed("a").batch("Sales").insert(note("Sales", id))).unwrap();
    }
    let plain = store.dynamic_table("Notes").unwrap();
    let stored = plain.get("Sales", &row(2)).unwrap().unwrap();
    assert!(stored.get("Secret").is_some_and(|secret| secret.as_str().is_none()));
    let opened = sealed("r").get("Sales", &row(2)).unwrap().unwrap();
    assert_eq!(opened.get("Secret").and_then(|secret| secret.as_str()), Some("s"));
    submitted(&sealed("u").batch("Sales").replace(note("Sales", 2), IfMatch::Any)).unwrap();

    let before = rows(&store);
    let kind = |done: Result<()>| done.map_err(|error: Error| error.kind());
    for (department, id) in OUTSIDE {
        let batch = sealed("raud").batch(department).insert(note(department, id));
        assert_eq!(kind(submitted(&batch)), Err(ErrorKind::OutsideRange));
    }
    // What is sealed of a merge depends on the row, which is read.
    for (letters, batch) in [
        ("rud", sealed("rud").batch("Sales").insert(note("Sales", 3))),
        ("ad", sealed("ad").batch("Sales").replace(note("Sales", 2), IfMatch::Any)),
        ("u", sealed("u").batch("Sales").merge(note("Sales", 2), IfMatch::Any)),
        ("rau", sealed("rau").batch("Sales").delete(row(2))),
    ] {
        assert_eq!(kind(submitted(&batch)), Err(ErrorKind::NotPermitted), "{letters}");
    }
    assert_eq!(rows(&store), before);
    submitted(&sealed("ru").batch("Sales").merge(note("Sales", 2), IfMatch::Any)).unwrap();
    submitted(&sealed("d").batch("Sales").delete(row(2))).unwrap();
    assert!(plain.get("Sales", &row(2)).unwrap().is_none());
}
