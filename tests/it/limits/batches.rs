//! Batches: how many operations, how large, on which rows.

use integration_tests::Scratch;
use table_core::ErrorKind::{BatchLength, BatchTooLarge, DifferentPartitions, DuplicateRow};
use table_core::{DynamicEntity, IfMatch, Query};

use super::{MIB, assert_refused, seen, sized};

#[test]
fn a_batch_has_one_to_a_hundred_operations() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let table = store.create_table("Limits").unwrap();
    let batch = |length: usize| {
        (0..length)
            .fold(table.batch("p"), |batch, row| batch.insert(DynamicEntity::new("p", format!("{row:03}"))))
    };
    let before = seen(&store);
    for length in [0, 101, 1_000] {
        let error = assert_refused(batch(length).commit(), (BatchLength, "InvalidInput", 400), "length");
        assert_eq!(error.index(), None);
    }
    assert_eq!(seen(&store), before);
    batch(100).commit().unwrap();
    assert_eq!(table.query(&Query::new()).unwrap().count(), 100);
}

#[test]
fn a_batch_stays_below_four_mebibytes() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let table = store.create_table("Limits").unwrap();
    let batch = |last: usize| {
        let sizes = [MIB, MIB, MIB, last];
        let rows = ["a", "b", "c", "d"];
        std::iter::zip(rows, sizes)
            .fold(table.batch("p"), |batch, (row, size)| batch.insert(sized("p", row, size)))
    };
    let before = seen(&store);
    let expected = (BatchTooLarge, "RequestBodyTooLarge", 413);
    assert_eq!(assert_refused(batch(MIB).commit(), expected, "4 MiB").index(), None);
    // A delete counts for its keys: 4 + 2 * 2 bytes.
    let with_delete = batch(MIB - 8).delete("e", IfMatch::Any);
    assert_refused(with_delete.commit(), expected, "with a delete");
    let report = store.bulk([batch(MIB)]).unwrap();
    assert_eq!(report.failures[0].error.kind(), BatchTooLarge);
    assert_eq!(seen(&store), before);
    batch(MIB - 1).commit().unwrap();
    assert_eq!(store.stats().unwrap().tables[0].entities, 4);
}

#[test]
fn a_batch_names_each_row_once() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let table = store.create_table("Limits").unwrap();
    let entity = |row: &str| DynamicEntity::new("p", row);
    table.insert(&entity("there")).unwrap();
    let before = seen(&store);
    let batches = [
        table.batch("p").insert(entity("a")).insert(entity("b")).insert(entity("a")),
        table
            .batch("p")
            .insert_or_merge(entity("a"))
            .insert_or_replace(entity("b"))
            .delete("b", IfMatch::Any),
        table.batch("p").delete("there", IfMatch::Any).insert(entity("x")).insert(entity("there")),
        // Of two pairs, the one whose second comes first.
        table.batch("p").insert(entity("b")).insert(entity("a")).insert(entity("a")).insert(entity("b")),
    ];
    for batch in batches {
        let error = assert_refused(batch.commit(), (DuplicateRow, "InvalidDuplicateRow", 400), "twice");
        assert_eq!(error.index(), Some(2));
    }
    assert_eq!(seen(&store), before);
}

#[test]
fn a_batch_is_of_one_partition() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let table = store.create_table("Limits").unwrap();
    let before = seen(&store);
    for other in ["P", "", "pp", "q"] {
        let batch =
            table.batch("p").insert(DynamicEntity::new("p", "r")).insert(DynamicEntity::new(other, "s"));
        let expected = (DifferentPartitions, "CommandsInBatchActOnDifferentPartitions", 400);
        assert_eq!(assert_refused(batch.commit(), expected, other).index(), Some(1));
    }
    assert_eq!(seen(&store), before);
}
