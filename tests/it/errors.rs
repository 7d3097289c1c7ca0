//! What errors say, and what they never say.

use std::error::Error as _;

use integration_tests::Scratch;
use table_core::{
    Continuation, DynamicEntity, Error, ErrorKind, Filter, IfMatch, Query, Result, Ticks, Uuid, Value, prop,
};

fn text<T: std::fmt::Debug>(result: Result<T>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn an_error_names_the_operation_the_place_and_the_reason() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let table = store.create_table("Company").unwrap();
    let entity = DynamicEntity::new("Sales", "empid_000001").with("Age", 1);
    let missing = DynamicEntity::new("Sales", "empid_000002");
    let etag = table.insert(&entity).unwrap();
    table.merge(&entity, etag).unwrap();
    let at = |words: &str, row: u32| {
        format!("cannot {words} table `Company`, partition `Sales`, row `empid_{row:06}`")
    };
    let another = "the entity's ETag is another; read it again";
    let nobody = "there is no such entity";
    for (result, words, row, reason) in [
        (table.insert(&entity), "insert into", 1, "the entity exists already"),
        (table.replace(&entity, etag), "replace in", 1, another),
        (table.merge(&entity, etag), "merge into", 1, another),
        (table.delete_if("Sales", "empid_000001", etag).map(|()| etag), "delete from", 1, another),
        (table.replace(&missing, IfMatch::Any), "replace in", 2, nobody),
        (table.merge(&missing, IfMatch::Any), "merge into", 2, nobody),
        (table.delete("Sales", "empid_000002").map(|()| etag), "delete from", 2, nobody),
    ] {
        let error = result.unwrap_err();
        assert_eq!(error.to_string(), format!("{}: {reason}", at(words, row)));
        let row = format!("empid_{row:06}");
        assert_eq!(
            (error.table_name(), error.partition_key(), error.row_key(), error.index()),
            (Some("Company"), Some("Sales"), Some(&*row), None)
        );
        assert!(format!("{error:?}").starts_with(&format!("Error({:?}: cannot ", error.kind())));
        assert!(error.source().is_none());
    }
    let batch =
        |last: DynamicEntity| table.batch("Sales").insert_or_merge(missing.clone()).put(last).commit();
    assert_eq!(
        text(table.batch("Sales").insert(missing.clone()).insert(entity.clone()).commit()),
        format!("{}, operation 1: the entity exists already", at("insert into", 1))
    );
    assert_eq!(
        text(batch(missing.clone())),
        format!(
            "{}, operation 1: another operation of the batch has the same row key",
            at("insert or replace in", 2)
        )
    );
    assert_eq!(
        text(batch(DynamicEntity::new("R&D", "x"))),
        "cannot insert or replace in table `Company`, partition `R&D`, row `x`, operation 1: \
         the entity is of partition `R&D`, the batch of `Sales`"
    );
    assert_eq!(
        text(table.batch("Sales").commit()),
        "cannot commit a batch to table `Company`, partition `Sales`: the batch has 0 operations; it may have 1 to 100"
    );
}

#[test]
fn a_refused_entity_hears_what_would_be_right() {
    let scratch = Scratch::new();
    let table = scratch.tables().create_table("Company").unwrap();
    let entity = || DynamicEntity::new("p", "r");
    let refused = |entity: DynamicEntity| {
        let text = text(table.insert(&entity));
        text.split_once(": ").unwrap().1.to_owned()
    };
    for (entity, reason) in [
        (
            DynamicEntity::new("p", "a/b"),
            "the row key holds '/' at byte 1; a key may hold neither `/`, `\\`, `#`, `?` nor control characters",
        ),
        (
            DynamicEntity::new("p\u{85}", "r"),
            "the partition key holds '\\u{85}' at byte 1; a key may hold neither `/`, `\\`, `#`, `?` nor control characters",
        ),
        (DynamicEntity::new("p", "x".repeat(513)), "the row key has 513 UTF-16 units; a key may have 512"),
        (
            DynamicEntity::new("名".repeat(512), "名".repeat(512)),
            "the partition key and the row key have 3072 bytes together; the store takes 1977",
        ),
        (
            entity().with("a b", 1),
            "`a b` is no property name: a letter or `_`, then letters, decimal digits, combining marks and `_`",
        ),
        (
            entity().with("a\nb", 1),
            "`a\\nb` is no property name: a letter or `_`, then letters, decimal digits, combining marks and `_`",
        ),
        (entity().with("RowKey", 1), "`RowKey` is a name of the store's own; give the property another"),
        (entity().with(&"n".repeat(300), 1), "a property's name has 300 UTF-16 units; it may have 255"),
        (
            entity().with("Text", "x".repeat(40_000)),
            "property `Text` has 40000 UTF-16 units; a string may have 32768",
        ),
        (
            entity().with("Data", vec![0; 70_000]),
            "property `Data` has 70000 bytes; a binary value may have 65536",
        ),
        (entity().with("Born", Ticks::MIN), "property `Born` is a date and time before 1601-01-01T00:00:00Z"),
        (
            (0..300).fold(entity(), |entity, number| entity.with(&format!("P{number}"), 1)),
            "the entity has 300 properties; it may have 252",
        ),
    ] {
        assert_eq!(refused(entity), reason);
    }
    let large =
        (0..40).fold(entity(), |entity, number| entity.with(&format!("P{number:02}"), "x".repeat(20_000)));
    assert_eq!(refused(large.clone()), format!("the entity has {} bytes; it may have 1048576", large.size()));
}

#[test]
fn a_key_is_shown_short_and_without_control_characters() {
    let scratch = Scratch::new();
    let table = scratch.tables().create_table("Company").unwrap();
    let error = table.insert(&DynamicEntity::new("\n\u{1b}[31m", "x".repeat(100_000))).unwrap_err();
    let text = error.to_string();
    assert!(text.len() < 500 && !text.contains(char::is_control), "{text}");
    assert!(
        text.starts_with("cannot insert into table `Company`, partition `\\n\\u{1b}[31m`, row `xxx"),
        "{text}"
    );
    assert!(error.row_key().unwrap().len() < 300);
}

#[test]
fn an_error_of_a_filter_says_where() {
    for (text, position, message) in [
        ("Age > 40", 4, "found `>`, expected a comparison: `eq`, `ne`, `gt`, `ge`, `lt` or `le`"),
        ("Age eq", 6, "found the end, expected a constant"),
        ("(Age eq 1", 9, "found the end, expected `and`, `or` or `)`"),
        ("Age eq 1 Name", 9, "found `Name`, expected `and`, `or` or the end"),
        (
            "Name eq null",
            8,
            "found `null`, which no property holds: a missing property compares false with every constant",
        ),
        (
            "Größe eq 1 and 1 eq 2",
            22,
            "found a constant of type Edm.Int32, expected a property: one side must be a property",
        ),
        (
            "startswith(Name, 'x')",
            0,
            "found the function `startswith`; a filter has none, and text that starts with `S` is `Name ge 'S' and Name lt 'T'`",
        ),
        ("", 0, "the filter is empty; to have all entities, give no filter"),
    ] {
        let error = Filter::parse(text).unwrap_err();
        assert_eq!((error.kind(), error.position()), (ErrorKind::InvalidFilter, Some(position)), "{text}");
        assert_eq!(error.to_string(), format!("cannot parse the filter: {message} (at byte {position})"));
    }
    let scratch = Scratch::new();
    let table = scratch.tables().create_table("Company").unwrap();
    let error = table.query(&Query::new().filter(prop("a b").eq(1))).unwrap_err();
    assert_eq!((error.kind(), error.position()), (ErrorKind::InvalidFilter, None));
    assert_eq!(
        error.to_string(),
        "cannot query table `Company`: `a b` is no property name: a letter or `_`, then letters, decimal digits, combining marks and `_`"
    );
}

#[test]
fn a_store_that_is_closed_or_open_otherwise_says_so() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let path = scratch.path().join("store");
    let error = table_core::Store::options().group_limit(1).open(&path).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::OptionsConflict);
    assert_eq!(
        error.to_string(),
        "cannot open the store: the store is open in this process with `group_limit` 256, not 1; \
         use the same options, or close it first"
    );
    drop(store);
    let error = table_core::Store::options().create(false).open(scratch.path().join("none")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    assert!(error.to_string().contains("there is no store at"), "{error}");
}

const CANARY: &str = "k4n4ry";

/// An error in every form in which somebody might log it.
fn assert_silent(error: &Error) {
    let mut forms = vec![error.to_string(), format!("{error:?}"), format!("{error:#?}")];
    let mut source = error.source();
    while let Some(inner) = source {
        forms.push(format!("{inner} {inner:?}"));
        source = inner.source();
    }
    for form in forms {
        let lower = form.to_lowercase();
        // The text, its bytes in hexadecimal and as a list, the number, the day and the UUID.
        for secret in [CANARY, "6b346e347279", "107, 52, 110", "271828", "1066-10-14", "2a2a2a2a", "2718.28"]
        {
            assert!(!lower.contains(secret), "{form}");
        }
    }
}

/// An entity all of whose values are secret.
fn secret(partition: &str, row: &str) -> DynamicEntity {
    DynamicEntity::new(partition, row)
        .with("Text", CANARY)
        .with("EntityType", CANARY)
        .with("Data", CANARY.as_bytes())
        .with("Number", 271_828)
        .with("Large", 271_828_182_845_i64)
        .with("Double", 2718.28)
        .with("Day", "2066-10-14".parse::<Ticks>().unwrap())
        .with("Id", Uuid::from_bytes([0x2a; 16]))
}

#[test]
fn no_error_shows_a_value() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let table = store.create_table("Secrets").unwrap();
    let etag = table.insert(&secret("p", "there")).unwrap();
    table.merge(&secret("p", "there"), etag).unwrap();
    let gone = store.create_table("Gone").unwrap();
    store.drop_table("Gone").unwrap();

    let entity = || secret("p", "r");
    let many = (0..260).fold(entity(), |entity, number| entity.with(&format!("P{number}"), CANARY));
    let large =
        (0..40).fold(entity(), |entity, number| entity.with(&format!("P{number}"), CANARY.repeat(5_000)));
    let early = "1066-10-14".parse::<Ticks>().unwrap();
    let refused = [
        secret("p", "there"),
        secret("p/", "r"),
        secret("p", &"r".repeat(513)),
        secret(&"名".repeat(512), &"名".repeat(512)),
        entity().with("a b", CANARY),
        entity().with("Timestamp", CANARY),
        entity().with(&"n".repeat(256), CANARY),
        entity().with("Long", CANARY.repeat(6_000)),
        entity().with("Long", CANARY.as_bytes().repeat(11_000)),
        entity().with("EntityType", CANARY.repeat(6_000)),
        entity().with("Early", early),
        many.clone(),
        large.clone(),
    ];
    let mut errors = 0;
    let mut check = |error: Error| {
        errors += 1;
        assert_silent(&error);
    };
    for entity in refused {
        check(table.insert(&entity).unwrap_err());
        check(gone.insert(&entity).unwrap_err());
        let batch = table
            .batch(entity.partition_key())
            .insert_or_merge(secret(entity.partition_key(), "x"))
            .insert(entity);
        check(batch.commit().unwrap_err());
        store.bulk([batch]).unwrap().failures.into_iter().for_each(|failure| check(failure.error));
    }
    check(table.replace(&secret("p", "there"), etag).unwrap_err());
    check(table.merge(&secret("p", "there"), etag).unwrap_err());
    check(table.merge(&entity(), IfMatch::Any).unwrap_err());
    check(table.insert_or_merge(&many).unwrap_err());
    let names = |range: std::ops::Range<usize>| {
        range.fold(secret("p", "there"), |entity, number| entity.with(&format!("Q{number}"), CANARY))
    };
    table.merge(&names(0..200), IfMatch::Any).unwrap();
    check(table.merge(&names(200..260), IfMatch::Any).unwrap_err());
    let half =
        (0..20).fold(secret("p", "there"), |e, number| e.with(&format!("R{number}"), CANARY.repeat(5_400)));
    check(table.merge(&half, IfMatch::Any).unwrap_err());
    let batch = || table.batch("p").put(entity());
    check(batch().insert(entity()).commit().unwrap_err());
    check(batch().insert(secret("q", "r")).commit().unwrap_err());
    check(
        (0..101)
            .fold(batch(), |batch, row| batch.insert(secret("p", &row.to_string())))
            .commit()
            .unwrap_err(),
    );
    let most =
        (0..16).fold(entity(), |entity, number| entity.with(&format!("P{number}"), CANARY.repeat(5_000)));
    let heavy = (0..10).map(|row| {
        most.properties()
            .fold(DynamicEntity::new("p", row.to_string()), |e, (name, value)| e.with(name, value.clone()))
    });
    let error = heavy.fold(table.batch("p"), |batch, entity| batch.insert(entity)).commit().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BatchTooLarge);
    check(error);

    // A constant of a filter may be anybody's value as well.
    for text in [
        format!("Text eq '{CANARY}"),
        format!("Text eq '{CANARY}' '{CANARY}'"),
        format!("'{CANARY}' eq '{CANARY}'"),
        format!("Text eq guid'{CANARY}'"),
        format!("Text eq datetime'{CANARY}'"),
        format!("Text eq X'{CANARY}'"),
        format!("Text eq q'{CANARY}'"),
        "Number eq 271828182845904523536".to_owned(),
        "Number eq 271828182845".to_owned(),
        "Number eq 271828x".to_owned(),
        "Number eq 2718.28.28".to_owned(),
        "Number 271828".to_owned(),
        "Day eq datetime'1066-10-14T'".to_owned(),
        "Number add 271828 eq 1".to_owned(),
    ] {
        check(Filter::parse(&text).unwrap_err());
    }
    let deep = (0..70)
        .fold(prop("Text").eq(CANARY), |f, _| (f | prop("Text").eq(CANARY)) & prop("Number").eq(271_828));
    let filtered = Query::new().filter(deep);
    check(table.query(&filtered).unwrap_err());
    check(table.page(&filtered, 1, None).unwrap_err());
    check(filtered.explain().unwrap_err());
    let query = Query::new().filter(prop("Text").ne(CANARY));
    table.insert(&DynamicEntity::new("a", "1").with("Text", "x")).unwrap();
    table.insert(&DynamicEntity::new("a", "2").with("Text", Value::from("x"))).unwrap();
    let token = table.page(&query, 1, None).unwrap().next.unwrap();
    check(table.page(&Query::new().filter(prop("Text").eq(CANARY)), 1, Some(&token)).unwrap_err());
    check(format!("{token}{CANARY}").parse::<Continuation>().unwrap_err());
    assert!(errors > 70, "{errors}");
}

integration_tests::on_other_executors! {
    an_error_names_the_operation_the_place_and_the_reason
    a_key_is_shown_short_and_without_control_characters
    an_error_of_a_filter_says_where
}
