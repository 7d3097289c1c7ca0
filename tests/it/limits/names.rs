//! Keys, and the names of properties and tables.

use integration_tests::Scratch;
use table_core::ErrorKind::{InvalidKey, InvalidTableName, KeyTooLong, PropertyNameInvalid, TableNameLength};
use table_core::{DynamicEntity, Query};

use super::{assert_refused, seen};

#[test]
fn a_key_past_its_limit_is_not_deleted_and_not_found() {
    let scratch = Scratch::new();
    let table = scratch.store().create_table("Limits").unwrap();
    let long = "x".repeat(513);
    let expected = (KeyTooLong, "PropertyValueTooLarge", 400);
    // One past the limit, at the limit of which the service's pages speak elsewhere, past that, and far beyond.
    for units in [513, 1_024, 1_025, 2_048, 32_768, 100_000] {
        let long = "x".repeat(units);
        let what = format!("{units} units");
        for error in [
            assert_refused(table.delete("p", &long), expected, &what),
            assert_refused(table.delete(&long, "r"), expected, &what),
            assert_refused(table.batch("p").delete(&*long).commit(), expected, &what),
            assert_refused(table.insert(&DynamicEntity::new("p", &*long)), expected, &what),
            assert_refused(table.insert_or_merge(&DynamicEntity::new(&*long, "r")), expected, &what),
        ] {
            assert!(
                error.to_string().contains(&format!("has {units} UTF-16 units; a key may have 512")),
                "{error}"
            );
        }
    }
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
                assert_refused(table.delete(&partition, &row), expected, &what);
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
    for name in [
        "a",
        "_",
        "_9",
        "Größe",
        "名前",
        "\u{10400}a",
        "partitionkey",
        "ETag",
        "EntityType",
        "a\u{301}",
        "a\u{203f}b",
        "\u{2160}",
    ] {
        table.insert(&DynamicEntity::new("p", name.to_owned() + "x").with(name, 1)).expect(name);
    }
    let before = seen(&store);
    for name in [
        "",
        "9",
        "a-b",
        "a b",
        "a.b",
        "a\nb",
        "a'",
        "PartitionKey",
        "RowKey",
        "Timestamp",
        "odata:a",
        "😀",
        "a\u{2153}",
        "a\u{2081}",
        "\u{903}",
    ] {
        let entity = DynamicEntity::new("p", "r").with("Fine", 1).with(name, 1);
        let expected = (PropertyNameInvalid, "PropertyNameInvalid", 400);
        assert_refused(table.insert(&entity), expected, name);
        assert_refused(table.insert_or_merge(&entity), expected, name);
        assert_refused(table.query(&Query::new().select([name, "a b"])), expected, name);
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
