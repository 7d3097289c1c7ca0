//! How large an entity may be, and what a merge may make of it.

use integration_tests::Scratch;
use table_core::ErrorKind::{
    EntityTooLarge, KeyTooLong, PropertyNameTooLong, PropertyValueTooLarge, TooManyProperties,
    ValueOutOfRange,
};
use table_core::{DynamicEntity, DynamicTable, ErrorKind, IfMatch, Ticks, Value};

use super::{MIB, assert_refused, many, seen, sized};

/// What may be stored, what may not, and why not.
struct Case(&'static str, DynamicEntity, DynamicEntity, (ErrorKind, &'static str, u16));

fn cases() -> Vec<Case> {
    let keys = |partition: &str, row: &str| DynamicEntity::new(partition, row);
    let value = |value: Value| DynamicEntity::new("p", "r").with("P", value);
    let named = |name: &str| DynamicEntity::new("p", "r").with(name, 1);
    let early = Ticks::new(Ticks::MIN_PROPERTY.get() - 1).unwrap();
    let astral = "\u{1f600}".repeat(256);
    let wide = "名".repeat(512);
    let long = (KeyTooLong, "PropertyValueTooLarge", 400);
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
        table.put(&within).expect(what);
        table.delete(partition, row).expect(what);
        table.batch(partition).insert(within.clone()).commit().expect(what);

        let before = seen(&store);
        for result in [
            table.insert(&beyond),
            table.replace(&beyond, IfMatch::Any),
            table.merge(&beyond, IfMatch::Any),
            table.put(&beyond),
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
        assert_eq!((failure.index, failure.error.index()), (0, Some(index)));
        assert_refused::<()>(Err(failure.error), expected, what);
        assert_eq!(seen(&store), before, "{what}");
        table.delete(partition, row).expect(what);
    }
    assert!(store.check().unwrap().problems.is_empty());
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
        table.put(first).unwrap();
        let before = table.get("p", "r").unwrap().unwrap();
        let merge = |entity: &DynamicEntity| match way {
            0 => table.merge(entity, IfMatch::Any),
            1 => table.insert_or_merge(entity),
            _ => {
                let count = DynamicEntity::new("p", "count");
                table
                    .batch("p")
                    .put(count)
                    .merge(entity.clone(), IfMatch::Any)
                    .commit()
                    .map(|done| done.etag(1))
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
    table.delete("p", "count").unwrap();
    table.delete("p", "r").unwrap();
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
