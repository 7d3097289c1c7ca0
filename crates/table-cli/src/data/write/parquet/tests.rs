//! Columns and their types, as entities come.

use table_core::introspect::KindInfo;
use table_core::{DynamicEntity, Entity, Ticks, Value};

use super::{Parquet, Shape};

#[derive(Entity)]
#[entity(table = "Events", kind = "event")]
#[key(partition = "{day}", row = "event_{number:06}")]
struct Event {
    day: String,
    number: u32,
}

fn shape(values: &[Value]) -> Result<Shape, String> {
    let mut shape = Shape::of(KindInfo::of(Event::SCHEMA), &[]);
    for value in values {
        shape.add_of(&event(value.clone())).map_err(|failure| failure.to_string())?;
    }
    Ok(shape)
}

fn event(value: Value) -> DynamicEntity {
    DynamicEntity::new("monday", "event_000001").with("What", value)
}

fn time(text: &str) -> Value {
    text.parse::<Ticks>().unwrap().into()
}

#[test]
fn numbers_of_two_widths_share_the_wider_column() {
    let mut parquet = Parquet::new(shape(&[1_i32.into(), (1_i64 << 40).into()]).unwrap()).unwrap();
    let mut out = Vec::new();
    for value in [Value::from(7_i32), (1_i64 << 40).into()] {
        parquet.entity(&event(value), &mut out).unwrap();
    }
    parquet.end(&mut out).unwrap();
    assert!(out.starts_with(b"PAR1") && out.ends_with(b"PAR1"));
}

#[test]
fn a_property_of_two_types_is_refused_by_name() {
    let refused = shape(&[1_i32.into(), "one".into()]).unwrap_err();
    assert!(refused.contains("`What` is Int32 in some entities and String in others"), "{refused}");
}

#[test]
fn times_are_never_cut_off() {
    let (early, fine) = (time("1601-01-01T00:00:00Z"), time("2014-07-31T18:00:00.0000001Z"));
    Parquet::new(shape(std::slice::from_ref(&early)).unwrap()).unwrap();
    Parquet::new(shape(std::slice::from_ref(&fine)).unwrap()).unwrap();
    let refused = Parquet::new(shape(&[early.clone(), fine.clone()]).unwrap()).unwrap_err();
    assert!(refused.to_string().contains("`What` has times before 1677"), "{refused}");
    // What has come since the columns were made.
    for (known, new) in [(&early, &fine), (&fine, &early)] {
        let mut parquet = Parquet::new(shape(std::slice::from_ref(known)).unwrap()).unwrap();
        let refused = parquet.entity(&event(new.clone()), &mut Vec::new()).unwrap_err();
        assert!(refused.to_string().contains("`What` has come into the table"), "{refused}");
    }
}

#[test]
fn a_property_that_comes_later_is_refused() {
    let mut parquet = Parquet::new(shape(&[]).unwrap()).unwrap();
    let refused = parquet.entity(&event(true.into()), &mut Vec::new()).unwrap_err();
    assert!(refused.to_string().contains("export again, with --consistent"), "{refused}");
}
