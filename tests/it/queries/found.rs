//! What is found, in which order, and what of it is given.

use std::ops::Bound;

use integration_tests::Scratch;
use integration_tests::executors::{reverses, snapshot};
use table_core::query::QueryClass;
use table_core::{DynamicEntity, ErrorKind, Filter, Query, Result, Value, ValueRef, prop};

use super::{pages, put, rows};

fn keys(found: impl IntoIterator<Item = DynamicEntity>) -> Vec<(String, String)> {
    let key = |entity: DynamicEntity| (entity.partition_key().to_owned(), entity.row_key().to_owned());
    found.into_iter().map(key).collect()
}

#[test]
fn entities_come_in_the_order_of_utf16_units() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let table = store.create_table("Order").unwrap();
    // UTF-8 would put the astral ones last.
    let ascending = [
        "",
        " ",
        "!",
        "A",
        "Z",
        "a",
        "a\u{20}",
        "aa",
        "a\u{10000}",
        "a\u{e000}",
        "b",
        "~",
        "\u{a0}",
        "ß",
        "名",
        "\u{d7ff}",
        "\u{10000}",
        "\u{1f600}",
        "\u{1f600}a",
        "\u{10ffff}",
        "\u{e000}",
        "\u{f8ff}",
        "\u{fffd}",
        "\u{ffff}",
    ];
    assert!(ascending.is_sorted_by(|a, b| a.encode_utf16().lt(b.encode_utf16())));
    let mut expected = Vec::new();
    for partition in ascending {
        for row in ascending {
            expected.push((partition.to_owned(), row.to_owned()));
        }
    }
    // In an order of their own, that of the hash of nothing in particular.
    let mut shuffled = expected.clone();
    shuffled.sort_by_key(|(a, b)| (a.len() * 7 + b.len() * 3) % 11);
    let entities = shuffled.iter().map(|(a, b)| table.batch(a).insert(DynamicEntity::new(a, b)));
    assert_eq!(store.bulk(entities).unwrap().committed as usize, expected.len());

    assert_eq!(keys(table.query(&Query::new()).unwrap().map(Result::unwrap)), expected);
    assert_eq!(keys(pages(&table, &Query::new(), 7).concat()), expected);
    let mut descending = expected.clone();
    descending.reverse();
    if reverses(|| table.query(&Query::new().rev())) {
        assert_eq!(keys(table.query(&Query::new().rev()).unwrap().map(Result::unwrap)), descending);
        assert_eq!(keys(pages(&table, &Query::new().rev(), 7).concat()), descending);
    }
    for (at, partition) in ascending.iter().enumerate() {
        let query = Query::new().partition(partition);
        assert_eq!(rows(&table, &store, &query), ascending, "{partition:?}");
        let found = table.query(&Query::new().partitions(partition..).row("ß")).unwrap().count();
        assert_eq!(found, ascending.len() - at, "{partition:?}");
    }
}

#[test]
fn ranges_and_prefixes_hold_their_ends_and_no_neighbours() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let table = store.create_table("Ranges").unwrap();
    put(&table, &["", "a", "a ", "a!", "ab", "a\u{1f600}", "a\u{ffff}", "b", "ba"].map(|row| ("p", row)));
    // Neighbours on both sides, of which one partition's name goes on from the other's.
    put(&table, &[("o", "a"), ("p ", "a"), ("pa", "a"), ("", "a")]);
    let p = || Query::new().partition("p");
    let found = |query: Query| rows(&table, &store, &query);
    assert_eq!(found(p()), ["", "a", "a ", "a!", "ab", "a\u{1f600}", "a\u{ffff}", "b", "ba"]);
    assert_eq!(found(p().row_prefix("a")), ["a", "a ", "a!", "ab", "a\u{1f600}", "a\u{ffff}"]);
    let has_reverse = reverses(|| table.query(&p().row_prefix("a").rev()));
    if has_reverse {
        assert_eq!(found(p().row_prefix("a").rev()), ["a\u{ffff}", "a\u{1f600}", "ab", "a!", "a ", "a"]);
    }
    assert_eq!(found(p().row_prefix("")), found(p()));
    assert_eq!(found(p().row_prefix("a\u{1f600}")), ["a\u{1f600}"]);
    assert_eq!(found(p().rows("a".."b")), ["a", "a ", "a!", "ab", "a\u{1f600}", "a\u{ffff}"]);
    assert_eq!(found(p().rows("a"..="b")), ["a", "a ", "a!", "ab", "a\u{1f600}", "a\u{ffff}", "b"]);
    assert_eq!(found(p().rows((Bound::Excluded("a"), Bound::Excluded("ab")))), ["a ", "a!"]);
    assert_eq!(found(p().rows(.."a")), [""]);
    assert_eq!(found(p().rows("a\u{ffff}"..)), ["a\u{ffff}", "b", "ba"]);
    assert_eq!(found(p().rows("b"..="a")), [""; 0]);
    assert_eq!(found(p().rows("a".."a")), [""; 0]);
    assert_eq!(found(p().row("a ")), ["a "]);
    assert_eq!(found(p().row("")), [""]);
    assert_eq!(found(p().rows("a"..).rows(..="ab").row_prefix("a").top(2)), ["a", "a "]);
    let partitions = |query: Query| keys(table.query(&query.row("a")).unwrap().map(Result::unwrap));
    let key = |partition: &str| (partition.to_owned(), "a".to_owned());
    assert_eq!(partitions(Query::new()), ["", "o", "p", "p ", "pa"].map(key));
    assert_eq!(partitions(Query::new().partition_prefix("p")), ["p", "p ", "pa"].map(key));
    assert_eq!(partitions(Query::new().partitions("o".."p ")), ["o", "p"].map(key));
    if has_reverse {
        assert_eq!(partitions(Query::new().partitions(..="o").rev()), ["o", ""].map(key));
    }
    assert_eq!(
        partitions(Query::new().partitions((Bound::Excluded("p"), Bound::Unbounded))),
        ["p ", "pa"].map(key)
    );
}

#[test]
fn what_leaves_no_row_finds_none_in_a_table_that_has_some() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let table = store.create_table("None").unwrap();
    put(&table, &[("p", "a"), ("q", "b")]);
    // Of all partitions: the rows that a whole scan is checked against must not be missed here.
    for query in [
        Query::new().row("a").row("b"),
        Query::new().rows("b".."a"),
        Query::new().filter(prop("RowKey").lt("a") & prop("RowKey").gt("b")),
        Query::new().filter(prop("RowKey").eq(1)),
        Query::new().top(0),
        Query::new().partition("p").partition("q"),
        Query::new().partition("p").row("b"),
        Query::new().filter(prop("Missing").ne(1)),
    ] {
        assert_eq!(rows(&table, &store, &query), [""; 0], "{query:?}");
        if reverses(|| table.query(&query.clone().rev())) {
            assert_eq!(rows(&table, &store, &query.clone().rev()), [""; 0], "{query:?}");
        }
        assert_eq!(table.page(&query, 10, None).unwrap().next, None, "{query:?}");
    }
}

#[test]
fn the_class_of_a_query_can_be_seen() {
    let scratch = Scratch::new();
    let table = scratch.tables().create_table("Classes").unwrap();
    let p = || Query::new().partition("Sales");
    let age = prop("Age").ge(40);
    for (query, class, text) in [
        (p().row("empid_000001"), QueryClass::Point, "point read of \"Sales\", \"empid_000001\""),
        (p().row_prefix("empid_"), QueryClass::Range, "range of \"Sales\", rows starting with \"empid_\""),
        (
            p().rows("a".."b").filter(age.clone()),
            QueryClass::Range,
            "range of \"Sales\", rows from \"a\" before \"b\"; filter: Age ge 40",
        ),
        (
            p().filter(age.clone()),
            QueryClass::PartitionScan,
            "partition scan of \"Sales\"; filter: Age ge 40; why: no row key is given",
        ),
        (
            Query::new().filter(age),
            QueryClass::TableScan,
            "table scan; filter: Age ge 40; why: no partition key is given",
        ),
        (
            Query::new().row("r"),
            QueryClass::TableScan,
            "table scan; filter: row \"r\"; why: row keys are a bound only within one partition",
        ),
        (p().top(0), QueryClass::Nothing, "nothing; why: no entity is asked for"),
    ] {
        let explain = table.explain(&query).unwrap();
        assert_eq!((explain.class(), explain.to_string().as_str()), (class, text));
    }
    let error = table.explain(&Query::new().select(["a b"])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PropertyNameInvalid);
}

#[test]
fn select_gives_the_keys_the_version_and_what_is_named() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let table = store.create_table("Select").unwrap();
    let whole =
        DynamicEntity::new("p", "r").with("A", 1).with("B", "two").with("C", 3.0).with("EntityType", "kind");
    let etag = table.insert(&whole).unwrap();
    table.insert(&DynamicEntity::new("p", "s").with("B", 2)).unwrap();
    let select = |names: &[&str]| -> Vec<DynamicEntity> {
        let query = Query::new().select(names);
        let found: Vec<_> = table.query(&query).unwrap().map(Result::unwrap).collect();
        assert_eq!(table.page(&query, 10, None).unwrap().entities, found);
        assert_eq!(found[0].etag(), Some(etag));
        found
    };
    let entity = |row: &str| DynamicEntity::new("p", row);
    assert_eq!(select(&["A", "C"]), [entity("r").with("A", 1).with("C", 3.0), entity("s")]);
    assert_eq!(select(&["B"]), [entity("r").with("B", "two"), entity("s").with("B", 2)]);
    assert_eq!(select(&["EntityType"]), [entity("r").with("EntityType", "kind"), entity("s")]);
    // Names of no property, of the store's own, and the same twice.
    assert_eq!(
        select(&["Missing", "PartitionKey", "RowKey", "Timestamp", "A", "A"])[0],
        entity("r").with("A", 1)
    );
    assert_eq!(select(&["a"]), [entity("r"), entity("s")]);
    assert_eq!(select(&[]), [entity("r"), entity("s")]);
    // In the order in which the table saw the names, not in that of the question.
    let names: Vec<_> = select(&["C", "A"])[0].properties().map(|(name, _)| name.to_owned()).collect();
    assert_eq!(names, ["A", "C"]);
    // A filter may ask for what is not selected, and the last select counts.
    let query = Query::new().select(["A"]).filter(prop("B").eq("two")).select(["C"]);
    let found: Vec<_> = table.query(&query).unwrap().map(Result::unwrap).collect();
    assert_eq!(found, [entity("r").with("C", 3.0)]);
    // A view hides nothing.
    let Some(snapshot) = snapshot(&store) else { return };
    let view = snapshot.views(&table, &query).unwrap().next().unwrap().unwrap();
    assert_eq!(view.get("A").unwrap().map(ValueRef::to_value), Some(Value::Int32(1)));
}

#[test]
fn filters_see_missing_properties_types_and_time() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let table = store.create_table("Filters").unwrap();
    table.insert(&DynamicEntity::new("p", "int").with("A", 5)).unwrap();
    table.insert(&DynamicEntity::new("p", "long").with("A", 5_i64)).unwrap();
    let middle = table.insert(&DynamicEntity::new("p", "nan").with("A", f64::NAN)).unwrap();
    table.insert(&DynamicEntity::new("p", "none")).unwrap();
    table.insert(&DynamicEntity::new("p", "text").with("A", "5").with("Ok", true)).unwrap();
    for (text, expected) in [
        ("A eq 5", &["int", "long"][..]),
        ("A eq 5L", &["long"]),
        ("A eq 5.0", &[]),
        ("A ne 5", &["nan", "text"]),
        ("A ne 6", &["int", "long", "nan", "text"]),
        ("A ne '6'", &["int", "long", "nan", "text"]),
        ("A ge 0", &["int", "long"]),
        ("A lt 0", &["text"]),
        ("not (A eq 5)", &["nan", "none", "text"]),
        ("not (A ne 5)", &["int", "long", "none"]),
        ("A lt 6 or A gt '4'", &["int", "long", "text"]),
        ("Ok", &["text"]),
        ("not Ok", &["int", "long", "nan", "none"]),
        ("Ok ne false", &["text"]),
        ("RowKey gt 'int' and not (RowKey ge 'none')", &["long", "nan"]),
        ("PartitionKey eq 'p' and (RowKey eq 'int' or A eq '5')", &["int", "text"]),
        ("Missing eq 1 or not (Missing eq 1)", &["int", "long", "nan", "none", "text"]),
    ] {
        let query = Query::new().filter(Filter::parse(text).unwrap());
        assert_eq!(rows(&table, &store, &query), expected, "{text}");
    }
    let since = Query::new().filter(prop("Timestamp").ge(middle.timestamp()));
    assert_eq!(rows(&table, &store, &since), ["nan", "none", "text"]);
}

integration_tests::on_other_executors! {
    entities_come_in_the_order_of_utf16_units
    ranges_and_prefixes_hold_their_ends_and_no_neighbours
    what_leaves_no_row_finds_none_in_a_table_that_has_some
    the_class_of_a_query_can_be_seen
    select_gives_the_keys_the_version_and_what_is_named
    filters_see_missing_properties_types_and_time
}
