//! Every value comes back as it was written: type, bits and all.

use integration_tests::executors::{Executor, snapshot};
use integration_tests::{Scratch, assert_sound};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use table_core::{
    DynamicEntity, DynamicTable, EdmType, IfMatch, Query, Result, Store, Tables, Ticks, Uuid, Value, limits,
    prop,
};

/// Writes an entity by every way there is, and reads it by every way there is.
fn assert_survives(store: &Tables, table: &DynamicTable, entity: &DynamicEntity) {
    let (partition, row) = (entity.partition_key(), entity.row_key());
    let read = || {
        let found = table.get(partition, row).unwrap().unwrap();
        assert_eq!(&found, entity);
        let mut names: Vec<_> = entity.properties().map(|(name, _)| name.to_owned()).collect();
        names.sort();
        for (name, value) in entity.properties() {
            assert_eq!(found.get(name).unwrap().edm_type(), value.edm_type());
        }
        if let Some(snapshot) = snapshot(store) {
            let view = snapshot.view(table, partition, row).unwrap().unwrap();
            assert_eq!(view.len(), entity.properties().len());
            for (name, value) in entity.properties() {
                assert_eq!(view.get(name).unwrap().unwrap().to_value(), *value);
            }
            let mut viewed: Vec<_> =
                view.properties().map(|property| property.unwrap().0.to_owned()).collect();
            viewed.sort();
            assert_eq!(viewed, names);
        }
        let query = Query::new().partition(partition).select(names.iter().step_by(2));
        let selected = table.query(&query).unwrap().map(Result::unwrap).find(|found| found.row_key() == row);
        let mut half = entity.clone();
        names.iter().skip(1).step_by(2).for_each(|name| drop(half.remove(name)));
        assert_eq!(selected, Some(half));
    };
    table.put(entity).unwrap();
    read();
    // Written again, it keeps the numbers that its names were given the first time.
    table.delete(partition, row).unwrap();
    table.insert(entity).unwrap();
    read();
    // Merged from two parts, and onto itself.
    let part = |of: usize| {
        let half = entity.properties().skip(of).step_by(2);
        half.fold(DynamicEntity::new(partition, row), |part, (name, value)| part.with(name, value.clone()))
    };
    table.replace(&part(0), IfMatch::Any).unwrap();
    table.merge(&part(1), IfMatch::Any).unwrap();
    read();
    table.batch(partition).insert_or_merge(entity.clone()).commit().unwrap();
    read();
}

/// Doubles whose bits a store keeps.
fn doubles() -> impl Iterator<Item = f64> {
    let all = [
        0.0,
        -0.0,
        1.0,
        -1.5,
        f64::MIN,
        f64::MAX,
        f64::MIN_POSITIVE,
        f64::from_bits(1),
        f64::EPSILON,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        f64::from_bits(0xfff8_0000_0000_0001),
        // A signalling NaN with a payload.
        f64::from_bits(0x7ff4_dead_beef_0001),
    ];
    let keeps_nans = Executor::of_test().abilities().nans;
    let is_kept =
        move |double: &f64| keeps_nans || !double.is_nan() || double.to_bits() == f64::NAN.to_bits();
    all.into_iter().filter(is_kept)
}

#[test]
fn every_type_keeps_its_extreme_values() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let table = store.create_table("Values").unwrap();
    let mut values: Vec<Value> = Vec::new();
    values.extend([false, true].map(Value::from));
    values.extend(
        [0, 1, -1, 127, 128, -128, -129, 32_767, 32_768, -32_769, i32::MIN, i32::MAX].map(Value::from),
    );
    values.extend([0, 1, -1, 1 << 31, -(1 << 31) - 1, i64::MIN, i64::MAX].map(Value::Int64));
    values.extend(doubles().map(Value::from));
    values.extend([Ticks::MIN_PROPERTY, Ticks::UNIX_EPOCH, Ticks::MAX].map(Value::from));
    values.extend(
        [Uuid::nil(), Uuid::max(), Uuid::from_u128(0x0102_0304_0506_0708_090a_0b0c_0d0e_0f10)]
            .map(Value::from),
    );
    for length in [0, 1, 255, 256, 257, 4_095, 4_096, 65_535, 65_536] {
        values.push(Value::Binary((0..length).map(|at: usize| ((at * 31) >> 2) as u8).collect()));
    }
    for text in ["", "\0", "x", "\u{feff}", "\u{ffff}", "\u{10ffff}", "e\u{301}", "línea\r\n\t'\"", "<&>"] {
        values.push(text.into());
    }
    for length in [255, 256, 257, 32_768] {
        values.push("x".repeat(length).into());
    }
    values.push("名".repeat(32_768).into());
    values.push("\u{1f600}".repeat(16_384).into());
    for (number, value) in values.iter().enumerate() {
        let entity = DynamicEntity::new("p", format!("{number}")).with("Value", value.clone());
        assert_survives(&store, &table, &entity);
    }
    // Together, as far as they fit, so that some lie where short slots can't point.
    let large = |value: &Value| matches!(value.edm_type(), EdmType::String | EdmType::Binary);
    let small =
        values.iter().filter(|value| !large(value)).chain(values.iter().filter(|value| large(value)).take(9));
    let all = small.enumerate().fold(DynamicEntity::new("p", "all"), |entity, (number, value)| {
        entity.with(&format!("P{number}"), value.clone())
    });
    assert!(all.size() <= limits::ENTITY_BYTES);
    assert_survives(&store, &table, &all);
    assert_sound(&store);
}

#[test]
fn values_of_each_size_around_a_checksum_of_their_own_lie_side_by_side() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let table = store.create_table("Values").unwrap();
    let sizes = [255, 256, 257, 0, 257, 256, 4_000, 65_536, 1, 257];
    for first in 0..sizes.len() {
        let entity = sizes
            .iter()
            .cycle()
            .skip(first)
            .take(6)
            .enumerate()
            .fold(DynamicEntity::new("p", format!("{first}")), |entity, (number, size)| {
                entity.with(&format!("P{number}"), vec![number as u8; *size])
            });
        assert_survives(&store, &table, &entity);
    }
    // What follows starts where a short slot can still point, and where it no longer can.
    for size in 4_080..4_100 {
        let entity = DynamicEntity::new("p", "r").with("P0", vec![1; size]).with("P1", "next").with("P2", 3);
        assert_survives(&store, &table, &entity);
    }
    assert_sound(&store);
}

#[test]
fn an_entity_may_have_no_property_at_all() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let table = store.create_table("Values").unwrap();
    let entity = DynamicEntity::new("", "");
    assert_survives(&store, &table, &entity);
    if let Some(snapshot) = snapshot(&store) {
        assert!(snapshot.view(&table, "", "").unwrap().unwrap().is_empty());
    }
}

#[test]
fn one_name_may_have_another_type_on_another_entity_and_after_another_write() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let table = store.create_table("Values").unwrap();
    let values: [Value; 8] = [
        "x".into(),
        vec![1].into(),
        true.into(),
        1.into(),
        1_i64.into(),
        1.0.into(),
        Ticks::UNIX_EPOCH.into(),
        Uuid::nil().into(),
    ];
    for (number, value) in values.iter().enumerate() {
        table.insert(&DynamicEntity::new("p", format!("{number}")).with("P", value.clone())).unwrap();
        table.insert_or_merge(&DynamicEntity::new("p", "one").with("P", value.clone())).unwrap();
        assert_eq!(table.get("p", "one").unwrap().unwrap().get("P"), Some(value));
    }
    let found = table.query(&Query::new().rows(..="9")).unwrap();
    let found: Vec<_> = found.map(|entity| entity.unwrap().get("P").unwrap().clone()).collect();
    assert_eq!(found, values);
}

#[test]
fn properties_come_in_the_order_in_which_the_table_first_saw_their_names() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let table = store.create_table("Order").unwrap();
    let names =
        |entity: &DynamicEntity| entity.properties().map(|(name, _)| name.to_owned()).collect::<Vec<_>>();
    table.insert(&DynamicEntity::new("p", "1").with("Zebra", 1).with("Apple", 2)).unwrap();
    table.insert(&DynamicEntity::new("p", "2").with("Apple", 1).with("Mango", 2).with("Zebra", 3)).unwrap();
    table.merge(&DynamicEntity::new("p", "1").with("Kiwi", 1).with("Mango", 2), IfMatch::Any).unwrap();
    let read = |row| names(&table.get("p", row).unwrap().unwrap());
    assert_eq!(read("1"), ["Zebra", "Apple", "Mango", "Kiwi"]);
    assert_eq!(read("2"), ["Zebra", "Apple", "Mango"]);
    // Of two names, the case tells them apart.
    table.insert(&DynamicEntity::new("p", "3").with("zebra", 1).with("Zebra", 2)).unwrap();
    assert_eq!(read("3"), ["Zebra", "zebra"]);
    drop((table, store));
    let table = scratch.tables().dynamic_table("Order").unwrap();
    assert_eq!(names(&table.get("p", "1").unwrap().unwrap()), ["Zebra", "Apple", "Mango", "Kiwi"]);
}

#[test]
fn names_of_a_write_that_was_refused_leave_no_gap() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let table = store.create_table("Refused").unwrap();
    table.insert(&DynamicEntity::new("p", "1").with("First", 1)).unwrap();
    for number in 0..10 {
        let new = |row: &str| {
            DynamicEntity::new("p", row).with(&format!("New{number}"), 1).with("EntityType", "new")
        };
        table.insert(&new("1")).unwrap_err();
        table.merge(&new("2"), IfMatch::Any).unwrap_err();
        table.batch("p").insert(new("3")).insert(new("1")).commit().unwrap_err();
        // In one transaction with such that are not refused.
        let report = store.bulk([
            table.batch("p").insert(new("1")),
            table.batch("p").put(DynamicEntity::new("p", "4").with(&format!("Good{number}"), number)),
            table.batch("p").insert(new("5")).delete("6"),
        ]);
        assert_eq!((report.as_ref().unwrap().committed, report.unwrap().failures.len()), (1, 2));
        assert_eq!(
            table.get("p", "4").unwrap().unwrap(),
            DynamicEntity::new("p", "4").with(&format!("Good{number}"), number)
        );
        // Every entry of the dictionary is one that some row was written with.
        assert_sound(&store);
    }
}

#[test]
fn names_of_a_write_that_was_refused_are_forgotten() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let table = store.create_table("Refused").unwrap();
    table.insert(&DynamicEntity::new("p", "there")).unwrap();
    let many = |number: usize, row: &str| {
        (0..250).fold(DynamicEntity::new("p", row), |entity, property| {
            entity.with(&format!("Name{number:03}_{property:03}{}", "x".repeat(60)), 1)
        })
    };
    let good = |number: usize| DynamicEntity::new("p", "good").with(&format!("Good{number}"), 1);
    let before = compact_bytes(&scratch, &store);
    for number in 0..10 {
        let refused = || table.batch("p").insert(many(number, "new")).insert(many(number + 100, "there"));
        refused().commit().unwrap_err();
        // Beside plans of the same transaction that bring names of their own, and that do not.
        let report = store.bulk([
            refused(),
            table.batch("p").put(DynamicEntity::new("p", "good")),
            refused(),
            table.batch("p").insert_or_merge(good(number)),
            refused(),
        ]);
        assert_eq!(report.unwrap().committed, 2);
    }
    assert!(compact_bytes(&scratch, &store) < before + 100_000);
    assert_sound(&store);
}

#[test]
fn what_an_entity_is_may_be_any_text_and_any_type() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let table = store.create_table("Kinds").unwrap();
    let mut kinds: Vec<Value> =
        vec!["".into(), "employee".into(), "employee.by_email".into(), 5.into(), true.into()];
    // The dictionary takes texts up to 64 bytes.
    kinds.extend([63, 64, 65, 257, 32_768].map(|length| Value::from("k".repeat(length))));
    kinds.extend([21, 22].map(|length| Value::from("名".repeat(length))));
    for (number, kind) in kinds.iter().enumerate() {
        let entity =
            DynamicEntity::new("p", format!("{number:02}")).with("EntityType", kind.clone()).with("N", 1);
        assert_survives(&store, &table, &entity);
        // The name of the property alone makes no difference to other properties.
        assert_survives(
            &store,
            &table,
            &DynamicEntity::new("q", format!("{number:02}")).with("Other", kind.clone()),
        );
    }
    for (number, kind) in kinds.iter().enumerate() {
        let query = Query::new().partition("p").filter(prop("EntityType").eq(kind.clone()));
        let rows: Vec<_> =
            table.query(&query).unwrap().map(|found| found.unwrap().row_key().to_owned()).collect();
        assert_eq!(rows, [format!("{number:02}")]);
    }
    assert_sound(&store);
}

#[test]
fn more_kinds_than_the_dictionary_takes_are_no_less_readable() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let table = store.create_table("Kinds").unwrap();
    let kind = |number: usize| format!("kind{number:04}");
    let entity =
        |number: usize| DynamicEntity::new("p", format!("{number:04}")).with("EntityType", kind(number));
    let batches = (0..1_200).map(|number| table.batch("p").insert(entity(number)));
    assert_eq!(store.bulk(batches).unwrap().committed, 1_200);
    let found: Vec<_> = table.query(&Query::new()).unwrap().map(Result::unwrap).collect();
    assert_eq!(found, (0..1_200).map(entity).collect::<Vec<_>>());
    let some = [0, 999, 1_000, 1_001, 1_199];
    for number in some {
        let query = Query::new().filter(prop("EntityType").eq(kind(number)));
        assert_eq!(table.query(&query).unwrap().count(), 1);
    }
    for number in some {
        // From a kind with a number to one without, and back.
        let other = DynamicEntity::new("p", format!("{number:04}")).with("EntityType", kind(1_199 - number));
        table.merge(&other, IfMatch::Any).unwrap();
        assert_eq!(table.get("p", other.row_key()).unwrap(), Some(other));
    }
    // Nor does the dictionary take long ones, of which there may be as many as there are rows.
    let table = store.create_table("Long").unwrap();
    let before = compact_bytes(&scratch, &store);
    for number in 0..300 {
        let long =
            DynamicEntity::new("p", "r").with("EntityType", format!("{number:03}{}", "x".repeat(1_000)));
        table.put(&long).unwrap();
    }
    assert!(compact_bytes(&scratch, &store) < before + 50_000);
    assert_sound(&store);
}

/// The bytes of a store that holds what this one does and nothing else.
fn compact_bytes(scratch: &Scratch, store: &Store) -> u64 {
    let target = scratch.path().join("compact");
    store.copy_to(&target).unwrap();
    let bytes = std::fs::metadata(target.join("data.mdb")).unwrap().len();
    std::fs::remove_dir_all(target).unwrap();
    bytes
}

#[test]
fn data_used_as_names_do_not_grow_the_dictionary_without_end() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let table = store.create_table("Names").unwrap();
    let name = |number: usize| format!("Name{number:06}{}", "x".repeat(60));
    let entity = |row: usize, values: i32| {
        (row * 250..(row + 1) * 250).fold(DynamicEntity::new("p", format!("{row:03}")), |entity, number| {
            entity.with(&name(number), values)
        })
    };
    let write = |rows: std::ops::Range<usize>| {
        let report = store.bulk(rows.map(|row| table.batch("p").insert(entity(row, 1)))).unwrap();
        assert!(report.failures.is_empty());
    };
    let forget = |rows: std::ops::Range<usize>| {
        rows.for_each(|row| table.delete("p", &format!("{row:03}")).unwrap());
    };
    // While there is room, names stay behind when their rows are gone.
    let before = compact_bytes(&scratch, &store);
    write(0..20);
    forget(0..20);
    assert!(compact_bytes(&scratch, &store) > before + 250 * 20 * 2 * 70);
    // 60,000 names fit; the border falls within a row.
    table.insert(&DynamicEntity::new("p", "one").with("One", 1)).unwrap();
    write(20..242);
    let full = compact_bytes(&scratch, &store);
    write(242..280);
    forget(242..280);
    assert!(compact_bytes(&scratch, &store) <= full);

    // Rows with such names are rows like any other.
    for row in [238, 239, 240, 241] {
        assert_eq!(table.get("p", &format!("{row:03}")).unwrap(), Some(entity(row, 1)));
    }
    assert_survives(&store, &table, &entity(239, 2));
    assert_survives(&store, &table, &entity(300, 3).with("One", 4).with("EntityType", "late"));
    let query = Query::new()
        .filter(prop(&name(300 * 250 + 7)).eq(3) & prop("One").eq(4))
        .select([&*name(300 * 250 + 8)]);
    let found: Vec<_> = table.query(&query).unwrap().map(Result::unwrap).collect();
    assert_eq!(found, [DynamicEntity::new("p", "300").with(&name(300 * 250 + 8), 3)]);
    // A merge finds the same name again, though it stands in the row.
    table.merge(&entity(300, 5), IfMatch::Any).unwrap();
    let merged = table.get("p", "300").unwrap().unwrap();
    assert_eq!(merged, entity(300, 5).with("One", 4).with("EntityType", "late"));
    let too_many = entity(301, 1);
    let mut moved = DynamicEntity::new("p", "300");
    too_many.properties().for_each(|(name, value)| drop(moved.set(name, value.clone())));
    let error = table.merge(&moved, IfMatch::Any).unwrap_err();
    assert_eq!(error.kind(), table_core::ErrorKind::TooManyProperties);
    // A large value, whose checksum covers its name.
    let large =
        DynamicEntity::new("p", "large").with("Unheard", vec![1; 65_536]).with("Unseen", "x".repeat(257));
    assert_survives(&store, &table, &large);
    // Another process would read the dictionary from the store.
    drop((table, store));
    let store = scratch.store();
    let table = store.dynamic_table("Names").unwrap();
    assert_eq!(table.get("p", "large").unwrap(), Some(large));
    assert_eq!(table.get("p", "300").unwrap(), Some(merged));
    assert_sound(&store);
}

fn names() -> impl Strategy<Value = String> {
    prop_oneof![
        "[A-Z][a-z0-9_]{0,12}",
        "_[a-zÀ-ÖØ-öø-ÿ0-9]{0,6}",
        Just("EntityType".to_owned()),
        "[名前\u{10400}]{1,4}"
    ]
}

fn values() -> impl Strategy<Value = Value> {
    prop_oneof![
        ".{0,20}".prop_map(Value::String),
        any::<String>().prop_map(Value::String),
        (0_usize..600, any::<char>()).prop_map(|(length, c)| Value::String(c.to_string().repeat(length))),
        proptest::collection::vec(any::<u8>(), 0..300).prop_map(Value::Binary),
        (250_usize..262, any::<u8>()).prop_map(|(length, byte)| Value::Binary(vec![byte; length])),
        any::<bool>().prop_map(Value::Boolean),
        any::<i32>().prop_map(Value::Int32),
        (any::<i32>(), 0_u32..31).prop_map(|(v, shift)| Value::Int32(v >> shift)),
        any::<i64>().prop_map(Value::Int64),
        (any::<i64>(), 0_u32..63).prop_map(|(v, shift)| Value::Int64(v >> shift)),
        any::<u64>().prop_map(|bits| Value::Double(kept(f64::from_bits(bits)))),
        (Ticks::MIN_PROPERTY.get()..=Ticks::MAX.get())
            .prop_map(|ticks| Value::DateTime(Ticks::new(ticks).unwrap())),
        any::<u128>().prop_map(|bits| Value::Guid(Uuid::from_u128(bits))),
    ]
}

/// Returns the double, or the one NaN in the place of any that the store does not tell from it.
fn kept(double: f64) -> f64 {
    if double.is_nan() && !Executor::of_test().abilities().nans { f64::NAN } else { double }
}

fn keys() -> impl Strategy<Value = String> {
    let allowed = |key: &String| !key.contains(['/', '\\', '#', '?']) && !key.contains(char::is_control);
    prop_oneof!["[a-c]{0,3}", "[ -~\u{a0}-\u{10ffff}]{0,12}"].prop_filter("a forbidden character", allowed)
}

#[test]
fn any_entity_survives() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let table = store.create_table("Any").unwrap();
    let entities = (keys(), keys(), proptest::collection::vec((names(), values()), 0..12));
    let failures = FileFailurePersistence::Direct("proptest-regressions/values.txt");
    let config =
        ProptestConfig { failure_persistence: Some(Box::new(failures)), ..ProptestConfig::with_cases(256) };
    proptest!(config, |((partition, row, properties) in entities)| {
        let mut entity = DynamicEntity::new(partition, row);
        properties.into_iter().for_each(|(name, value)| drop(entity.set(&name, value)));
        assert_survives(&store, &table, &entity);
    });
    assert_sound(&store);
}

integration_tests::on_other_executors! {
    every_type_keeps_its_extreme_values
    values_of_each_size_around_a_checksum_of_their_own_lie_side_by_side
    an_entity_may_have_no_property_at_all
    one_name_may_have_another_type_on_another_entity_and_after_another_write
    what_an_entity_is_may_be_any_text_and_any_type
    any_entity_survives
}
