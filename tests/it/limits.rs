//! Each limit: what is at it is taken; what is one past it is refused, by kind, code and status, and leaves no trace.

use integration_tests::Scratch;
use table_core::ErrorKind::{
    BatchLength, BatchTooLarge, DifferentPartitions, DuplicateRow, EntityTooLarge, InvalidFilter, InvalidKey,
    InvalidQuery, InvalidTableName, KeyTooLong, PropertyNameInvalid, PropertyNameTooLong,
    PropertyValueTooLarge, TableNameLength, TooManyProperties, ValueOutOfRange,
};
use table_core::{
    DynamicEntity, DynamicTable, Error, ErrorKind, Filter, IfMatch, Query, Result, Store, Ticks, Value,
    limits, prop,
};

const MIB: usize = 1 << 20;

/// The kind, and with it the service's code and status.
fn assert_refused<T: std::fmt::Debug>(
    result: Result<T>,
    expected: (ErrorKind, &str, u16),
    what: &str,
) -> Error {
    let error = result.expect_err(what);
    assert_eq!((error.kind(), error.kind().code(), error.kind().status()), expected, "{what}: {error}");
    error
}

/// Everything that can be seen of a store.
fn seen(store: &Store) -> (Vec<DynamicEntity>, table_core::StoreStats) {
    let rows = |name: String| {
        let table = store.dynamic_table(&name).unwrap();
        table.query(&Query::new()).unwrap().map(Result::unwrap).collect::<Vec<_>>()
    };
    let entities = store.tables().unwrap().into_iter().flat_map(rows).collect();
    (entities, store.stats().unwrap())
}

/// An entity of so many bytes, in values as large as they may be.
fn sized(partition: &str, row: &str, bytes: usize) -> DynamicEntity {
    let mut entity = DynamicEntity::new(partition, row);
    for number in 0.. {
        let room = bytes - entity.size();
        let name = format!("P{number:02}");
        let overhead = 8 + 2 * name.len() + 4;
        if room <= overhead + limits::BINARY_BYTES {
            entity.set(&name, vec![0; room - overhead]);
            break;
        }
        // What is left must hold one more property.
        entity.set(&name, vec![0; limits::BINARY_BYTES.min(room - 2 * overhead)]);
    }
    assert_eq!(entity.size(), bytes);
    entity
}

fn many(partition: &str, row: &str, names: std::ops::Range<usize>) -> DynamicEntity {
    names.fold(DynamicEntity::new(partition, row), |entity, number| entity.with(&format!("P{number}"), 1))
}

/// What may be stored, what may not, and why not.
struct Case(&'static str, DynamicEntity, DynamicEntity, (ErrorKind, &'static str, u16));

fn cases() -> Vec<Case> {
    let keys = |partition: &str, row: &str| DynamicEntity::new(partition, row);
    let value = |value: Value| DynamicEntity::new("p", "r").with("P", value);
    let named = |name: &str| DynamicEntity::new("p", "r").with(name, 1);
    let early = Ticks::new(Ticks::MIN_PROPERTY.get() - 1).unwrap();
    let astral = "\u{1f600}".repeat(256);
    let wide = "名".repeat(512);
    let long = (KeyTooLong, "KeyValueTooLarge", 400);
    let large = (PropertyValueTooLarge, "PropertyValueTooLarge", 400);
    vec![
        Case("row key", keys("p", &"x".repeat(512)), keys("p", &"x".repeat(513)), long),
        Case("partition key", keys(&"x".repeat(512), "r"), keys(&"x".repeat(513), "r"), long),
        Case("astral row key", keys("p", &astral), keys("p", &(astral.clone() + "x")), long),
        Case("astral partition key", keys(&astral, "r"), keys(&("x".to_owned() + &astral), "r"), long),
        Case(
            "both keys",
            keys(&"x".repeat(512), &"y".repeat(512)),
            keys(&"x".repeat(513), &"y".repeat(513)),
            long,
        ),
        Case("bytes of the pair", keys(&wide, &"x".repeat(441)), keys(&wide, &"x".repeat(442)), long),
        Case(
            "length of a property's name",
            named(&"n".repeat(255)),
            named(&"n".repeat(256)),
            (PropertyNameTooLong, "PropertyNameTooLong", 400),
        ),
        Case(
            "length of an astral property's name",
            named(&("n".to_owned() + &"\u{10400}".repeat(127))),
            named(&"\u{10400}".repeat(128)),
            (PropertyNameTooLong, "PropertyNameTooLong", 400),
        ),
        Case(
            "number of properties",
            many("p", "r", 0..252),
            many("p", "r", 0..253),
            (TooManyProperties, "TooManyProperties", 400),
        ),
        Case("string", value("x".repeat(32_768).into()), value("x".repeat(32_769).into()), large),
        Case(
            "astral string",
            value("\u{1f600}".repeat(16_384).into()),
            value(("\u{1f600}".repeat(16_384) + "x").into()),
            large,
        ),
        Case("wide string", value("名".repeat(32_768).into()), value("名".repeat(32_769).into()), large),
        Case("binary", value(vec![0; 65_536].into()), value(vec![0; 65_537].into()), large),
        Case(
            "earliest time",
            value(Ticks::MIN_PROPERTY.into()),
            value(early.into()),
            (ValueOutOfRange, "OutOfRangeInput", 400),
        ),
        Case(
            "entity",
            sized("p", "r", MIB),
            sized("p", "r", MIB + 1),
            (EntityTooLarge, "EntityTooLarge", 400),
        ),
    ]
}

#[test]
fn an_entity_at_a_limit_is_taken_and_one_past_it_refused_by_every_operation() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let table = store.create_table("Limits").unwrap();
    table.insert(&DynamicEntity::new("p", "other").with("Value", 1)).unwrap();
    for Case(what, within, beyond, expected) in cases() {
        table.insert(&within).expect(what);
        let (partition, row) = (within.partition_key(), within.row_key());
        assert_eq!(table.get(partition, row).unwrap().as_ref(), Some(&within), "{what}");
        table.replace(&within, IfMatch::Any).expect(what);
        table.merge(&within, IfMatch::Any).expect(what);
        table.insert_or_merge(&within).expect(what);
        table.insert_or_replace(&within).expect(what);
        table.delete(partition, row, IfMatch::Any).expect(what);
        table.batch(partition).insert(within.clone()).commit().expect(what);

        let before = seen(&store);
        for result in [
            table.insert(&beyond),
            table.replace(&beyond, IfMatch::Any),
            table.merge(&beyond, IfMatch::Any),
            table.insert_or_replace(&beyond),
            table.insert_or_merge(&beyond),
        ] {
            assert_eq!(assert_refused(result, expected, what).index(), None);
        }
        let batch = table
            .batch(beyond.partition_key())
            .insert(DynamicEntity::new(beyond.partition_key(), "another"))
            .insert_or_merge(beyond.clone());
        let refused_key = ["partition key", "astral partition key", "both keys"].contains(&what);
        let index = usize::from(!refused_key);
        assert_eq!(assert_refused(batch.commit(), expected, what).index(), Some(index), "{what}");
        let report = store.bulk([batch]).unwrap();
        let [failure] = <[_; 1]>::try_from(report.failures).unwrap();
        assert_eq!((failure.batch, failure.error.index()), (0, Some(index)));
        assert_refused::<()>(Err(failure.error), expected, what);
        assert_eq!(seen(&store), before, "{what}");
        table.delete(partition, row, IfMatch::Any).expect(what);
    }
    assert!(store.check().unwrap().problems.is_empty());
}

#[test]
fn a_key_past_its_limit_is_not_deleted_and_not_found() {
    let scratch = Scratch::new();
    let table = scratch.store().create_table("Limits").unwrap();
    let long = "x".repeat(513);
    let expected = (KeyTooLong, "KeyValueTooLarge", 400);
    assert_refused(table.delete("p", &long, IfMatch::Any), expected, "row key");
    assert_refused(table.delete(&long, "r", IfMatch::Any), expected, "partition key");
    assert_refused(table.batch("p").delete(&*long, IfMatch::Any).commit(), expected, "in a batch");
    // To look for what can't be is no error: there is nothing.
    let wide = "名".repeat(1_000);
    for (partition, row) in [(&*long, "r"), ("p", &*long), (&*wide, &*wide), ("a/b", "\0")] {
        assert_eq!(table.get(partition, row).unwrap(), None);
        for query in [
            Query::new().partition(partition).row(row),
            Query::new().partition(partition).row_prefix(row),
            Query::new().partition(partition).rows(row..),
            Query::new().partitions(..=partition).rev(),
        ] {
            assert_eq!(table.query(&query).unwrap().count(), 0);
        }
    }
}

#[test]
fn a_key_holds_every_character_but_those_the_service_forbids() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let table = store.create_table("Limits").unwrap();
    let forbidden = |c: char| matches!(c, '/' | '\\' | '#' | '?' | '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}');
    let all =
        ('\0'..='\u{17f}').chain(['\u{d7ff}', '\u{e000}', '\u{fffe}', '\u{ffff}', '\u{10000}', '\u{10ffff}']);
    let mut taken = 0;
    for c in all {
        for (partition, row) in [("p".to_owned(), format!("a{c}b")), (format!("{c}"), "r".to_owned())] {
            let entity = DynamicEntity::new(&*partition, &*row);
            let what = format!("{c:?}");
            if forbidden(c) {
                let before = store.stats().unwrap();
                let expected = (InvalidKey, "OutOfRangeInput", 400);
                assert_refused(table.insert(&entity), expected, &what);
                assert_refused(table.insert_or_merge(&entity), expected, &what);
                assert_refused(table.delete(&partition, &row, IfMatch::Any), expected, &what);
                let error = assert_refused(table.batch(&*partition).insert(entity).commit(), expected, &what);
                assert_eq!(error.index(), Some(0));
                assert_eq!(store.stats().unwrap(), before);
            } else {
                table.insert(&entity).expect(&what);
                assert_eq!(table.get(&partition, &row).unwrap(), Some(entity), "{what}");
                taken += 1;
            }
        }
    }
    assert_eq!(table.query(&Query::new()).unwrap().count(), taken);
}

#[test]
fn a_property_name_is_an_identifier_and_none_of_the_stores_own() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let table = store.create_table("Limits").unwrap();
    for name in ["a", "_", "_9", "Größe", "名前", "\u{10400}a", "partitionkey", "ETag", "EntityType"] {
        table.insert(&DynamicEntity::new("p", name.to_owned() + "x").with(name, 1)).expect(name);
    }
    let before = seen(&store);
    for name in
        ["", "9", "a-b", "a b", "a.b", "a\nb", "a'", "PartitionKey", "RowKey", "Timestamp", "odata:a", "😀"]
    {
        let entity = DynamicEntity::new("p", "r").with("Fine", 1).with(name, 1);
        let expected = (PropertyNameInvalid, "PropertyNameInvalid", 400);
        assert_refused(table.insert(&entity), expected, name);
        assert_refused(table.insert_or_merge(&entity), expected, name);
        assert_refused(table.query(&Query::new().select([name, "a b"])), expected, name);
    }
    assert_eq!(seen(&store), before);
}

/// Merges at the limit and one past it, each by three ways: alone, without need of the row, and in a batch.
fn merged(
    table: &DynamicTable,
    first: &DynamicEntity,
    within: &DynamicEntity,
    beyond: &DynamicEntity,
    kind: ErrorKind,
) {
    let expected = (kind, kind.code(), 400);
    for way in 0..3 {
        table.insert_or_replace(first).unwrap();
        let before = table.get("p", "r").unwrap().unwrap();
        let merge = |entity: &DynamicEntity| match way {
            0 => table.merge(entity, IfMatch::Any),
            1 => table.insert_or_merge(entity),
            _ => {
                let count = DynamicEntity::new("p", "count");
                table.batch("p").insert_or_replace(count).merge(entity.clone(), IfMatch::Any).commit()
            }
        };
        let error = assert_refused(merge(beyond), expected, "merge");
        assert_eq!(error.index(), (way == 2).then_some(1));
        let after = table.get("p", "r").unwrap().unwrap();
        assert_eq!((&after, after.etag()), (&before, before.etag()));
        assert_eq!(table.get("p", "count").unwrap(), None);
        merge(within).unwrap();
        assert_eq!(table.get("p", "r").unwrap().unwrap().properties().len(), {
            let mut all = first.clone();
            within.properties().for_each(|(name, value)| drop(all.set(name, value.clone())));
            all.properties().len()
        });
    }
    table.delete("p", "count", IfMatch::Any).unwrap();
    table.delete("p", "r", IfMatch::Any).unwrap();
}

#[test]
fn a_merge_is_held_to_the_number_of_properties_that_it_comes_to() {
    let scratch = Scratch::new();
    let table = scratch.store().create_table("Limits").unwrap();
    let first = many("p", "r", 0..250);
    // Some of each are there already.
    merged(&table, &first, &many("p", "r", 100..252), &many("p", "r", 100..253), TooManyProperties);
    merged(
        &table,
        &many("p", "r", 0..252),
        &many("p", "r", 0..252),
        &many("p", "r", 252..253),
        TooManyProperties,
    );
}

#[test]
fn a_merge_is_held_to_the_size_that_it_comes_to() {
    let scratch = Scratch::new();
    let table = scratch.store().create_table("Limits").unwrap();
    // Strings of one byte for each unit: stored in half of what they count for.
    let texts = |names: std::ops::Range<usize>, length: usize| {
        names.fold(DynamicEntity::new("p", "r"), |entity, n| {
            entity.with(&format!("P{n:02}"), "x".repeat(length))
        })
    };
    let first = texts(0..10, 32_768);
    let overhead = 8 + 2 * 3 + 4;
    let rest = |bytes: usize| {
        let head = texts(10..15, 32_768);
        let left = bytes - (first.size() + head.size() - (4 + 2 * 2)) - overhead;
        head.with("P15", vec![0; left])
    };
    let mut whole = first.clone();
    rest(MIB).properties().for_each(|(name, value)| drop(whole.set(name, value.clone())));
    assert_eq!(whole.size(), MIB);
    merged(&table, &first, &rest(MIB), &rest(MIB + 1), EntityTooLarge);
    // What is replaced counts no more.
    let full = sized("p", "r", MIB);
    let other = sized("p", "r", MIB);
    merged(&table, &full, &other, &DynamicEntity::new("p", "r").with("Q", true), EntityTooLarge);
}

#[test]
fn a_merge_into_nothing_is_held_to_the_size_of_an_entity() {
    let scratch = Scratch::new();
    let table = scratch.store().create_table("Limits").unwrap();
    table.insert_or_merge(&sized("p", "r", MIB)).unwrap();
    let expected = (EntityTooLarge, "EntityTooLarge", 400);
    assert_refused(table.insert_or_merge(&sized("p", "s", MIB + 1)), expected, "insert or merge");
}

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

#[test]
fn a_table_name_is_three_to_sixty_three_letters_and_digits() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let longest = "x".repeat(63);
    for name in ["abc", "A00", "Tables1", &longest] {
        assert_eq!(store.create_table(name).unwrap().name(), name);
    }
    let tables = store.tables().unwrap();
    let (length, invalid) =
        ((TableNameLength, "OutOfRangeInput", 400), (InvalidTableName, "InvalidResourceName", 400));
    for (name, expected) in [
        ("", length),
        ("ab", length),
        (&*"x".repeat(64), length),
        ("1ab", invalid),
        ("a-b", invalid),
        ("a_b", invalid),
        ("äbc", invalid),
        ("abc\0", invalid),
        ("tables", invalid),
        ("Tables", invalid),
    ] {
        assert_refused(store.create_table(name), expected, name);
        assert_refused(store.create_table_if_missing(name), expected, name);
        assert_refused(store.dynamic_table(name), expected, name);
        assert_refused(store.drop_table(name), expected, name);
    }
    assert_eq!(store.tables().unwrap(), tables);
}

#[test]
fn a_page_has_one_to_a_thousand_entities() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let table = store.create_table("Limits").unwrap();
    let entities =
        (0..1_001).map(|row| table.batch("p").insert(DynamicEntity::new("p", format!("{row:04}"))));
    assert_eq!(store.bulk(entities).unwrap().committed, 1_001);
    let query = Query::new();
    for size in [0, 1_001, usize::MAX] {
        assert_refused(table.page(&query, size, None), (InvalidQuery, "InvalidInput", 400), "size");
        let snapshot = store.snapshot().unwrap();
        assert_refused(
            snapshot.page(&table, &query, size, None),
            (InvalidQuery, "InvalidInput", 400),
            "size",
        );
    }
    assert_eq!(table.page(&query, 1, None).unwrap().entities.len(), 1);
    let page = table.page(&query, 1_000, None).unwrap();
    assert_eq!(page.entities.len(), 1_000);
    let rest = table.page(&query, 1_000, page.next.as_ref()).unwrap();
    assert_eq!((rest.entities.len(), rest.next), (1, None));
    // An iterator has no such limit.
    assert_eq!(table.query(&query.top(usize::MAX)).unwrap().count(), 1_001);
}

#[test]
fn a_select_names_at_most_255_properties() {
    let scratch = Scratch::new();
    let table = scratch.store().create_table("Limits").unwrap();
    table.insert(&many("p", "r", 0..252)).unwrap();
    let names = |count: usize| (0..count).map(|number| format!("P{number}")).collect::<Vec<_>>();
    let found = table.query(&Query::new().select(names(255))).unwrap().next().unwrap().unwrap();
    assert_eq!(found.properties().len(), 252);
    let query = Query::new().select(names(256));
    assert_refused(table.query(&query), (InvalidQuery, "InvalidInput", 400), "256 names");
    assert_refused(table.page(&query, 1, None), (InvalidQuery, "InvalidInput", 400), "256 names");
}

#[test]
fn a_filter_is_at_most_64_brackets_deep() {
    let scratch = Scratch::new();
    let table = scratch.store().create_table("Limits").unwrap();
    table.insert(&DynamicEntity::new("p", "r").with("A", 1).with("B", 2)).unwrap();
    let expected = (InvalidFilter, "InvalidInput", 400);
    // The same filter as text and as built: a bracket for each level.
    let text =
        |levels: usize| (0..levels).fold("A eq 1".to_owned(), |f, _| format!("({f} or B eq 3) and B eq 2"));
    let built =
        |levels: usize| (0..levels).fold(prop("A").eq(1), |f, _| (f | prop("B").eq(3)) & prop("B").eq(2));
    let within = Filter::parse(&text(64)).unwrap();
    assert_eq!(within, built(64));
    assert_eq!(table.query(&Query::new().filter(within)).unwrap().count(), 1);
    let error = assert_refused(Filter::parse(&text(65)), expected, "text");
    assert!(error.position().is_some());
    assert_refused(table.query(&Query::new().filter(built(65))), expected, "built");
    assert_refused(table.explain(&Query::new().filter(built(65))), expected, "explained");
    // A chain is not deep, however long.
    let chain = (0..10_000).fold(prop("A").eq(0), |filter, number| filter | prop("A").eq(number));
    assert_eq!(table.query(&Query::new().filter(chain)).unwrap().count(), 1);
}
