//! Batches: how many operations, how large, on which rows.

use integration_tests::Scratch;
use table_core::ErrorKind::{BatchLength, BatchTooLarge, DifferentPartitions, DuplicateRow};
use table_core::{Batch, DynamicEntity, Entity, Properties, Query, Value};

use super::{MIB, assert_refused, seen};

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

/// The bytes of text as JSON has it.
fn escaped(text: &str) -> usize {
    let bytes = |byte| match byte {
        b'"' | b'\\' => 2,
        0..b' ' => r"\u0001".len(),
        _ => 1,
    };
    text.bytes().map(bytes).sum()
}

/// What a batch of inserts takes as the body of a request: what surrounds it, and the JSON of each entity.
fn body(entities: &[DynamicEntity]) -> usize {
    let property = |(name, value): (&str, &Value)| match value {
        Value::String(text) => format!(",\"{name}\":\"\"").len() + escaped(text),
        Value::Binary(bytes) => {
            let base64 = bytes.len().div_ceil(3) * 4;
            format!(",\"{name}@odata.type\":\"Edm.Binary\",\"{name}\":\"\"").len() + base64
        }
        other => unreachable!("{other:?}"),
    };
    let entity = |entity: &DynamicEntity| {
        let keys = entity.partition_key().len() + entity.row_key().len();
        600 + "Limits".len() + keys + entity.properties().map(property).sum::<usize>()
    };
    300 + entities.iter().map(entity).sum::<usize>()
}

const LIMIT: usize = 4 * MIB;

/// A hundred entities of one property.
fn hundred(value: impl Fn() -> Value) -> Vec<DynamicEntity> {
    (0..100).map(|row| DynamicEntity::new("p", format!("{row:03}")).with("Value", value())).collect()
}

#[test]
fn a_batch_is_measured_as_the_body_of_a_request() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let table = store.create_table("Limits").unwrap();
    let batch = |entities: &[DynamicEntity]| {
        entities.iter().fold(table.batch("p"), |batch, entity| batch.insert(entity.clone()))
    };
    let expected = (BatchTooLarge, "RequestBodyTooLarge", 413);
    let before = seen(&store);
    let binary = hundred(|| vec![7; 40_000].into());
    let han = hundred(|| "名".repeat(20_000).into());
    let quotes = hundred(|| "\"".repeat(21_100).into());
    let controls = hundred(|| "\u{1}".repeat(7_000).into());
    for entities in [&binary[..99], &han, &quotes, &controls] {
        assert!(body(entities) >= LIMIT);
        let error = assert_refused(batch(entities).commit(), expected, "body");
        assert_eq!(error.index(), None);
        assert_eq!(
            error.to_string(),
            format!(
                "cannot commit a batch to table `Limits`, partition `p`: the batch comes to {} bytes as the body of a \
                 request; it must stay below 4194304",
                body(entities)
            )
        );
        let report = store.bulk([batch(entities)]).unwrap();
        assert_eq!(report.failures[0].error.kind(), BatchTooLarge);
        assert_eq!(seen(&store), before);
    }
    // As UTF-16 these would be too large.
    let ascii = hundred(|| "x".repeat(21_100).into());
    assert!(body(&ascii) < LIMIT && ascii.iter().map(DynamicEntity::size).sum::<usize>() > LIMIT);
    batch(&ascii).commit().unwrap();
    assert_eq!(table.query(&Query::new()).unwrap().count(), 100);
}

#[test]
fn a_batch_stays_below_four_mebibytes() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let table = store.create_table("Limits").unwrap();
    // Text of a byte for each unit: an entity of a mebibyte takes half of one.
    let entities = |bytes: usize| {
        let text = |length: usize| "x".repeat(length);
        let whole = |row: usize| {
            let entity = DynamicEntity::new("p", format!("{row:02}"));
            (0..15).fold(entity, |entity, number| entity.with(&format!("P{number:02}"), text(32_000)))
        };
        let mut entities: Vec<_> = (0..8).map(whole).collect();
        let mut last = DynamicEntity::new("p", "99");
        let before = body(&entities) - body(&[]);
        for number in 0.. {
            let with = |length: usize| last.clone().with(&format!("P{number:02}"), text(length));
            let rest = bytes - before - body(&[with(0)]);
            last = with(rest.min(32_000));
            if rest <= 32_000 {
                break;
            }
        }
        entities.push(last);
        assert_eq!(body(&entities), bytes);
        entities
    };
    let batch = |entities: Vec<DynamicEntity>| entities.into_iter().fold(table.batch("p"), Batch::insert);
    let before = seen(&store);
    let expected = (BatchTooLarge, "RequestBodyTooLarge", 413);
    assert_refused(batch(entities(LIMIT)).commit(), expected, "4 MiB");
    // A delete counts for what surrounds it, the table and its key in the address: 600 + 6 + 2.
    let with_delete = batch(entities(LIMIT - 608)).delete("e");
    assert_refused(with_delete.commit(), expected, "with a delete");
    // What is no insert has its keys in the address too: a row key of a letter that takes two bytes takes six there.
    let mut merged = entities(LIMIT - 7);
    let last = merged.pop().unwrap();
    let renamed =
        last.properties().fold(DynamicEntity::new("p", "é"), |e, (name, value)| e.with(name, value.clone()));
    let insert = batch(merged.clone()).insert(renamed.clone());
    assert_refused(batch(merged).insert_or_merge(renamed).commit(), expected, "with a merge");
    assert_eq!(seen(&store), before);
    insert.commit().unwrap();
    let (other, entities) = (store.create_table("Others").unwrap(), entities(LIMIT - 1));
    entities.into_iter().fold(other.batch("p"), Batch::insert).commit().unwrap();
    assert_eq!(other.query(&Query::new()).unwrap().count(), 9);
    assert!(store.check().unwrap().problems.is_empty());
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Limits", kind = "book")]
#[key(partition = "{shelf}", row = "book_{number:03}")]
#[index(by_year, row = "year_{year:04}_{number:03}")]
#[index(by_weight, row = "weight_{weight:04}_{number:03}")]
#[index(by_height, row = "height_{height:04}_{number:03}")]
struct Book {
    shelf: String,
    number: u16,
    year: u16,
    weight: u16,
    height: u16,
    #[flatten]
    pages: Pages,
}

#[derive(Properties, Clone, Debug, PartialEq)]
struct Pages {
    one: String,
    two: String,
    three: String,
    four: String,
    five: String,
    six: String,
    seven: String,
    eight: String,
    nine: String,
    ten: String,
    eleven: String,
    twelve: String,
    thirteen: String,
    fourteen: String,
    fifteen: String,
}

fn book(number: u16, page: &str) -> Book {
    let page = || page.to_owned();
    let pages = Pages {
        one: page(),
        two: page(),
        three: page(),
        four: page(),
        five: page(),
        six: page(),
        seven: page(),
        eight: page(),
        nine: page(),
        ten: page(),
        eleven: page(),
        twelve: page(),
        thirteen: page(),
        fourteen: page(),
        fifteen: page(),
    };
    Book { shelf: "a".into(), number, year: 1999, weight: 7, height: 30, pages }
}

#[test]
fn an_entity_with_its_copies_is_measured_so_too() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let table = store.table::<Book>().unwrap();
    let large = book(1, &"名".repeat(32_000));
    // The first write notes the layout, whatever becomes of it.
    table.insert(&large).unwrap_err();
    let before = seen(&store);
    let quoted = book(1, &"\"".repeat(32_000));
    // Twice four rows of 15 texts: 4 MB in ASCII, 8 MB in UTF-16.
    let (first, second) = (book(1, &"x".repeat(32_000)), book(2, &"x".repeat(32_000)));
    let errors = [
        table.insert(&large).map(drop).unwrap_err(),
        table.egt(Book::partition("a")).insert(&quoted).insert(&second).commit().map(drop).unwrap_err(),
        table.egt(Book::partition("a")).insert(&second).insert(&large).commit().map(drop).unwrap_err(),
    ];
    for error in errors {
        let error = assert_refused::<()>(Err(error), (BatchTooLarge, "RequestBodyTooLarge", 413), "typed");
        let text = error.to_string();
        assert!(
            text.starts_with("cannot write to table `Limits`, partition `a`: the change comes to "),
            "{text}"
        );
        assert!(text.ends_with("; a transaction must stay below 4194304"), "{text}");
        assert_eq!(seen(&store), before);
    }
    table.egt(Book::partition("a")).insert(&first).insert(&second).commit().unwrap();
    assert_eq!(table.by_year().shelf("a").count().unwrap(), 2);
    assert_eq!(table.get(Book::key("a", 2)).unwrap().unwrap(), second);
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
        table.batch("p").insert_or_merge(entity("a")).put(entity("b")).delete("b"),
        table.batch("p").delete("there").insert(entity("x")).insert(entity("there")),
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
