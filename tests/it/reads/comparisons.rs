//! Filters that stand for several comparisons, against what the same condition says of the structs.

use integration_tests::Scratch;
use table_core::{Entity, Filter, Table, Ticks, Uuid};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Samples", kind = "sample")]
#[key(partition = "all", row = "s_{id:06}")]
struct Sample {
    id: u32,
    name: String,
    text: Option<String>,
    bytes: Option<Vec<u8>>,
    flag: Option<bool>,
    small: Option<i32>,
    large: Option<i64>,
    real: Option<f64>,
    at: Option<Ticks>,
    guid: Option<Uuid>,
}

const NAMES: [&str; 10] =
    ["", "a", "ab", "abc", "b", "\u{d7ff}x", "\u{e000}x", "\u{ffff}", "\u{10ffff}y", "z\u{ffff}\u{ffff}"];

/// One sample with all values, one with none, some in between, and a NaN.
fn samples() -> Vec<Sample> {
    let some = |id: u32, bit: u32| id & (1 << bit) != 0;
    let sample = |id: u32| Sample {
        id,
        name: NAMES[usize::try_from(id).unwrap() % NAMES.len()].into(),
        text: some(id, 0).then(|| "x".into()),
        bytes: some(id, 1).then(Vec::new),
        flag: some(id, 2).then_some(false),
        small: some(id, 3).then_some(i32::MIN),
        large: some(id, 4).then_some(-1),
        real: some(id, 5).then_some(if id.is_multiple_of(3) { f64::NAN } else { -1.5 }),
        at: some(id, 6).then_some(Ticks::MAX),
        guid: some(id, 7).then(Uuid::max),
    };
    (0..256).map(sample).collect()
}

fn table(scratch: &Scratch) -> Table<Sample> {
    let table = scratch.store().table::<Sample>().unwrap();
    for sample in samples() {
        table.insert(&sample).unwrap();
    }
    table
}

/// The rows that a filter finds are those of which the condition holds, and its text says the same.
fn same(
    table: &Table<Sample>,
    filter: impl Fn(&<Sample as Entity>::Columns) -> Filter,
    holds: impl Fn(&Sample) -> bool,
) {
    let found = table.rows().filter(&filter).into_iter().map(|row| row.unwrap().id);
    let found: Vec<u32> = found.collect();
    let right: Vec<u32> = samples().iter().filter(|sample| holds(sample)).map(|sample| sample.id).collect();
    let text = filter(<Sample as Entity>::COLUMNS).to_string();
    assert_eq!(found, right, "{text}");
    assert_eq!(Filter::parse(&text).unwrap().to_string(), text);
}

#[test]
fn what_is_there_and_what_is_not_can_be_asked_of_every_type() {
    let scratch = Scratch::new();
    let table = table(&scratch);
    same(&table, |e| e.text.is_some(), |s| s.text.is_some());
    same(&table, |e| e.bytes.is_some(), |s| s.bytes.is_some());
    same(&table, |e| e.flag.is_some(), |s| s.flag.is_some());
    same(&table, |e| e.small.is_some(), |s| s.small.is_some());
    same(&table, |e| e.large.is_some(), |s| s.large.is_some());
    same(&table, |e| e.real.is_some(), |s| s.real.is_some());
    same(&table, |e| e.at.is_some(), |s| s.at.is_some());
    same(&table, |e| e.guid.is_none(), |s| s.guid.is_none());
    same(&table, |e| e.name.is_some(), |_| true);
    same(&table, |e| e.text.is_none() & !e.flag.is_none(), |s| s.text.is_none() && s.flag.is_some());
}

#[test]
fn a_value_is_one_of_several() {
    let scratch = Scratch::new();
    let table = table(&scratch);
    same(&table, |e| e.name.is_in(["a", "b", "none"]), |s| ["a", "b"].contains(&s.name.as_str()));
    same(&table, |e| e.id.is_in([3, 250, 999]), |s| s.id == 3 || s.id == 250);
    same(&table, |e| e.name.is_in(Vec::<String>::new()), |_| false);
    same(&table, |e| !e.name.is_in(Vec::<String>::new()), |_| true);
    same(&table, |e| e.text.is_in(["x"]), |s| s.text.is_some());
}

#[test]
fn a_value_is_between_two() {
    let scratch = Scratch::new();
    let table = table(&scratch);
    same(&table, |e| e.id.between(40..=49), |s| (40..=49).contains(&s.id));
    same(&table, |e| e.name.between("a"..="ab"), |s| ["a", "ab"].contains(&s.name.as_str()));
    same(&table, |e| e.small.between(i32::MIN..=0), |s| s.small.is_some());
    let (high, low) = (9, 3);
    same(&table, |e| e.id.between(high..=low), |_| false);
}

#[test]
fn text_starts_with_a_prefix() {
    let scratch = Scratch::new();
    let table = table(&scratch);
    for prefix in ["", "a", "ab", "abcd", "\u{d7ff}", "\u{e000}", "\u{ffff}", "\u{10ffff}", "z\u{ffff}", "q"]
    {
        same(&table, |e| e.name.starts_with(prefix), |s| s.name.starts_with(prefix));
        same(&table, |e| !e.name.starts_with(prefix), |s| !s.name.starts_with(prefix));
    }
    same(&table, |e| e.text.starts_with(""), |s| s.text.is_some());
}
