//! Changes of one row: their conditions, and what becomes of its properties.

use std::sync::Arc;

use table_engine::__executor::Backend;
use table_engine::{
    DynamicEntity, DynamicTable, ETag, ErrorKind, IfMatch, Result, Ticks, Uuid, Value, limits,
};

use super::tables;

fn company(backend: &Arc<dyn Backend>) -> DynamicTable {
    tables(backend).create_table("Company").unwrap()
}

fn entity(row: &str, name: &str) -> DynamicEntity {
    DynamicEntity::new("Sales", row).with("Name", name)
}

fn name(table: &DynamicTable, row: &str) -> Option<String> {
    let entity = table.get("Sales", row).unwrap()?;
    entity.get("Name").and_then(Value::as_str).map(str::to_owned)
}

/// Each way to write, on a row that is not there and on one that is, under each condition.
pub(crate) fn each_condition_holds_or_is_refused(backend: &Arc<dyn Backend>) {
    type Way = fn(&DynamicTable, &DynamicEntity, IfMatch) -> Result<()>;
    const UNCONDITIONAL: [(Way, [Option<ErrorKind>; 2]); 3] = [
        (|table, entity, _| table.insert(entity).map(drop), [None, Some(ErrorKind::EntityAlreadyExists)]),
        (|table, entity, _| table.put(entity).map(drop), [None, None]),
        (|table, entity, _| table.insert_or_merge(entity).map(drop), [None, None]),
    ];
    const CONDITIONAL: [Way; 3] = [
        |table, entity, condition| table.replace(entity, condition).map(drop),
        |table, entity, condition| table.merge(entity, condition).map(drop),
        |table, entity, condition| table.delete_if(entity.partition_key(), entity.row_key(), condition),
    ];
    let table = company(backend);
    for (at, (write, expected)) in UNCONDITIONAL.into_iter().enumerate() {
        let row = format!("unconditional {at}");
        for expected in expected {
            let before = name(&table, &row);
            let done = write(&table, &entity(&row, "new"), IfMatch::Any);
            assert_eq!(done.as_ref().err().map(table_engine::Error::kind), expected, "{row}");
            assert_eq!(name(&table, &row), if done.is_ok() { Some("new".to_owned()) } else { before });
        }
    }
    // What another kind of store gave is a version that no row has.
    let foreign: IfMatch = "W/\"0x8D101F7E4B662C4\"".parse().unwrap();
    for (at, write) in CONDITIONAL.into_iter().enumerate() {
        let row = format!("conditional {at}");
        let stale = table.insert(&entity("stale", "any")).unwrap();
        for condition in [IfMatch::Any, IfMatch::ETag(stale), foreign] {
            let error = write(&table, &entity(&row, "new"), condition).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::EntityNotFound, "{row}");
            assert_eq!(name(&table, &row), None);
        }
        let first = table.insert(&entity(&row, "old")).unwrap();
        let second = table.put(&entity(&row, "old")).unwrap();
        for condition in [IfMatch::ETag(first), foreign] {
            let error = write(&table, &entity(&row, "new"), condition).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::ConditionNotMet, "{row}");
        }
        assert_eq!(name(&table, &row).as_deref(), Some("old"));
        write(&table, &entity(&row, "new"), IfMatch::ETag(second)).unwrap();
        assert_ne!(name(&table, &row).as_deref(), Some("old"));
        table.put(&entity(&row, "old")).unwrap();
        write(&table, &entity(&row, "new"), IfMatch::Any).unwrap();
        assert_ne!(name(&table, &row).as_deref(), Some("old"));
        table.delete("Sales", "stale").unwrap();
    }
    assert_eq!(table.delete("Sales", "nobody").unwrap_err().kind(), ErrorKind::EntityNotFound);
}

pub(crate) fn merges_keep_what_they_do_not_name(backend: &Arc<dyn Backend>) {
    let table = company(backend);
    table.insert(&entity("1", "Jones").with("Age", 40)).unwrap();
    table
        .merge(&DynamicEntity::new("Sales", "1").with("Age", 41).with("City", "Oslo"), IfMatch::Any)
        .unwrap();
    let jones = table.get("Sales", "1").unwrap().unwrap();
    let property = |name: &str| jones.get(name).cloned();
    assert_eq!(
        ["Name", "Age", "City"].map(property),
        [Some(Value::from("Jones")), Some(Value::from(41)), Some(Value::from("Oslo"))]
    );
    // A merge may change a property's type, and a replacement leaves nothing of what was.
    table.merge(&DynamicEntity::new("Sales", "1").with("Age", "old"), IfMatch::Any).unwrap();
    let age = table.get("Sales", "1").unwrap().unwrap().get("Age").cloned();
    assert_eq!(age, Some(Value::from("old")));
    table.replace(&DynamicEntity::new("Sales", "1").with("Level", 3), IfMatch::Any).unwrap();
    let jones = table.get("Sales", "1").unwrap().unwrap();
    assert_eq!(jones.properties().map(|(name, _)| name.to_owned()).collect::<Vec<_>>(), ["Level"]);
}

pub(crate) fn every_value_comes_back(backend: &Arc<dyn Backend>) {
    let table = company(backend);
    let values: Vec<Value> = vec![
        "".into(),
        "\u{0}é\u{10ffff}".into(),
        Vec::<u8>::new().into(),
        vec![0_u8, 255, 0].into(),
        true.into(),
        false.into(),
        i32::MIN.into(),
        i32::MAX.into(),
        i64::MIN.into(),
        i64::MAX.into(),
        (-0.0_f64).into(),
        f64::MIN_POSITIVE.into(),
        f64::INFINITY.into(),
        f64::from_bits(0x7ff8_0000_0000_0001).into(),
        "1601-01-01T00:00:00Z".parse::<Ticks>().unwrap().into(),
        Ticks::MAX.into(),
        Uuid::nil().into(),
        Uuid::from_u128(u128::MAX).into(),
    ];
    let mut entity = DynamicEntity::new("values", "1");
    for (at, value) in values.iter().enumerate() {
        entity = entity.with(&format!("Value{at:02}"), value.clone());
    }
    table.insert(&entity).unwrap();
    let found = table.get("values", "1").unwrap().unwrap();
    for (at, value) in values.iter().enumerate() {
        let found = found.get(&format!("Value{at:02}")).unwrap();
        match (found, value) {
            (Value::Double(found), Value::Double(value)) if value.is_nan() && !backend.abilities().nans => {
                assert!(found.is_nan());
            }
            // Bit for bit: one NaN equals none.
            (Value::Double(found), Value::Double(value)) => assert_eq!(found.to_bits(), value.to_bits()),
            (found, value) => assert_eq!(found, value),
        }
    }
}

pub(crate) fn what_is_too_large_is_refused(backend: &Arc<dyn Backend>) {
    let table = company(backend);
    let text = "x".repeat(limits::STRING_UNITS);
    let texts = |names: std::ops::Range<u32>| {
        names.fold(DynamicEntity::new("p", "r"), |all, name| all.with(&format!("P{name}"), &*text))
    };
    assert_eq!(table.insert(&texts(0..17)).unwrap_err().kind(), ErrorKind::EntityTooLarge);
    assert_eq!(table.get("p", "r").unwrap(), None);
    table.insert(&texts(0..15)).unwrap();
    let before = table.get("p", "r").unwrap();
    let merged = table.merge(&texts(10..17), IfMatch::Any);
    assert_eq!(merged.unwrap_err().kind(), ErrorKind::EntityTooLarge);
    let many = (0..250).fold(DynamicEntity::new("p", "r"), |all, name| all.with(&format!("Q{name}"), 1));
    assert_eq!(table.insert_or_merge(&many).unwrap_err().kind(), ErrorKind::TooManyProperties);
    assert_eq!(table.get("p", "r").unwrap(), before);
    for (partition, row) in [("a/b", "r"), ("p", "a\\b"), ("p", "#"), ("p?", "r")] {
        let refused = table.insert(&DynamicEntity::new(partition, row)).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::InvalidKey, "{partition} {row}");
    }
}

/// Each write gives a version that no other had, later than those before it.
pub(crate) fn versions_rise(backend: &Arc<dyn Backend>) {
    let table = company(backend);
    let mut seen: Vec<ETag> = Vec::new();
    for round in 0..50 {
        let row = format!("{}", round % 3);
        let etag = table.put(&entity(&row, &format!("round {round}"))).unwrap();
        assert!(!seen.contains(&etag), "two writes have the version {etag}");
        seen.push(etag);
        let found = table.get("Sales", &row).unwrap().unwrap();
        assert_eq!(found.etag(), Some(etag));
    }
    let times: Vec<_> = (0..3).map(|row| table.get("Sales", &row.to_string()).unwrap().unwrap()).collect();
    assert!(times.windows(2).all(|pair| pair[0].timestamp() != pair[1].timestamp()));
}
