//! What queries find, in which order, and where their pages end.

use std::ops::Bound;

use integration_tests::Scratch;
use table_core::{
    Continuation, DynamicEntity, DynamicTable, ErrorKind, Filter, IfMatch, Query, QueryClass, Result, Store,
    Value, ValueRef, prop,
};

fn put(table: &DynamicTable, rows: &[(&str, &str)]) {
    for (partition, row) in rows {
        table.insert(&DynamicEntity::new(*partition, *row)).unwrap();
    }
}

fn keys(found: impl IntoIterator<Item = DynamicEntity>) -> Vec<(String, String)> {
    let key = |entity: DynamicEntity| (entity.partition_key().to_owned(), entity.row_key().to_owned());
    found.into_iter().map(key).collect()
}

/// The rows that are found, by every way of asking, which must agree.
fn rows(table: &DynamicTable, store: &Store, query: &Query) -> Vec<String> {
    let found: Vec<_> = table.query(query).unwrap().map(Result::unwrap).collect();
    let snapshot = store.snapshot().unwrap();
    let by_snapshot: Vec<_> = snapshot.query(table, query).unwrap().map(Result::unwrap).collect();
    let by_view = snapshot.views(table, query).unwrap().map(|view| view.unwrap().row_key().into_owned());
    assert_eq!(found, by_snapshot);
    let rows: Vec<_> = found.iter().map(|entity| entity.row_key().to_owned()).collect();
    assert_eq!(by_view.collect::<Vec<_>>(), rows);
    for size in [1, 2, 3, 1_000] {
        assert_eq!(pages(table, query, size).concat(), found);
    }
    rows
}

/// Every page of a query; each must be full but the last.
fn pages(table: &DynamicTable, query: &Query, size: usize) -> Vec<Vec<DynamicEntity>> {
    let (mut pages, mut token) = (Vec::new(), None::<Continuation>);
    loop {
        let page = table.page(query, size, token.as_ref()).unwrap();
        assert!(page.entities.len() == size || page.next.is_none());
        pages.push(page.entities);
        assert!(pages.len() < 10_000, "pages without an end");
        match page.next {
            None => return pages,
            // A token is as good as its text.
            Some(next) => token = Some(next.to_string().parse().unwrap()),
        }
    }
}

/// A partition of numbered rows.
fn numbered(store: &Store, name: &str, count: usize) -> DynamicTable {
    let table = store.create_table(name).unwrap();
    let batch = |start: usize| {
        let end = count.min(start + 100);
        (start..end).fold(table.batch("p"), |batch, number| {
            batch.insert(DynamicEntity::new("p", format!("{number:06}")).with("Number", number as i64))
        })
    };
    let report = store.bulk((0..count).step_by(100).map(batch)).unwrap();
    assert!(report.failures.is_empty());
    table
}

#[test]
fn entities_come_in_the_order_of_utf16_units() {
    let scratch = Scratch::new();
    let store = scratch.store();
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
    assert_eq!(keys(table.query(&Query::new().rev()).unwrap().map(Result::unwrap)), descending);
    assert_eq!(keys(pages(&table, &Query::new().rev(), 7).concat()), descending);
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
    let store = scratch.store();
    let table = store.create_table("Ranges").unwrap();
    put(&table, &["", "a", "a ", "a!", "ab", "a\u{1f600}", "a\u{ffff}", "b", "ba"].map(|row| ("p", row)));
    // Neighbours on both sides, of which one partition's name goes on from the other's.
    put(&table, &[("o", "a"), ("p ", "a"), ("pa", "a"), ("", "a")]);
    let p = || Query::new().partition("p");
    let found = |query: Query| rows(&table, &store, &query);
    assert_eq!(found(p()), ["", "a", "a ", "a!", "ab", "a\u{1f600}", "a\u{ffff}", "b", "ba"]);
    assert_eq!(found(p().row_prefix("a")), ["a", "a ", "a!", "ab", "a\u{1f600}", "a\u{ffff}"]);
    assert_eq!(found(p().row_prefix("a").rev()), ["a\u{ffff}", "a\u{1f600}", "ab", "a!", "a ", "a"]);
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
    assert_eq!(partitions(Query::new().partitions(..="o").rev()), ["o", ""].map(key));
    assert_eq!(
        partitions(Query::new().partitions((Bound::Excluded("p"), Bound::Unbounded))),
        ["p ", "pa"].map(key)
    );
}

#[test]
fn what_leaves_no_row_finds_none_in_a_table_that_has_some() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let table = store.create_table("None").unwrap();
    put(&table, &[("p", "a"), ("q", "b")]);
    // Of all partitions: the rows that a whole scan is checked against must not be missed here.
    for query in [
        Query::new().row("a").row("b"),
        Query::new().rows("b".."a"),
        Query::new().rows("b".."a").rev(),
        Query::new().filter(prop("RowKey").lt("a") & prop("RowKey").gt("b")),
        Query::new().filter(prop("RowKey").eq(1)),
        Query::new().top(0),
        Query::new().partition("p").partition("q"),
        Query::new().partition("p").row("b"),
        Query::new().filter(prop("Missing").ne(1)),
    ] {
        assert_eq!(rows(&table, &store, &query), [""; 0], "{query:?}");
        assert_eq!(table.page(&query, 10, None).unwrap().next, None, "{query:?}");
    }
}

#[test]
fn the_class_of_a_query_can_be_seen() {
    let scratch = Scratch::new();
    let table = scratch.store().create_table("Classes").unwrap();
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
fn pages_stop_exactly_where_the_answer_does() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let table = numbered(&store, "Pages", 12);
    put(&table, &[("o", "x"), ("q", "x")]);
    let lengths = |query: &Query, size| pages(&table, query, size).iter().map(Vec::len).collect::<Vec<_>>();
    let p = Query::new().partition("p");
    for query in
        [p.clone(), p.clone().rev(), p.clone().row_prefix("0000"), p.clone().rows("000000"..="000011")]
    {
        assert_eq!(lengths(&query, 5), [5, 5, 2]);
        // No empty page where the last is full.
        assert_eq!(lengths(&query, 6), [6, 6]);
        assert_eq!(lengths(&query, 12), [12]);
        assert_eq!(lengths(&query, 13), [12]);
        assert_eq!(lengths(&query, 1), [1; 12]);
    }
    assert_eq!(lengths(&Query::new(), 7), [7, 7]);
    assert_eq!(lengths(&Query::new().partition("nobody"), 7), [0]);
    // A page that is full does not read on to see whether another row satisfies the filter.
    let odd = p.clone().filter(prop("Number").le(5));
    assert_eq!(lengths(&odd, 4), [4, 2]);
    assert_eq!(lengths(&odd, 6), [6, 0]);
}

#[test]
fn top_counts_over_all_pages_together() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let table = numbered(&store, "Tops", 20);
    let query = |top| Query::new().partition("p").top(top);
    let lengths = |query: &Query, size| pages(&table, query, size).iter().map(Vec::len).collect::<Vec<_>>();
    assert_eq!(lengths(&query(5), 2), [2, 2, 1]);
    assert_eq!(lengths(&query(4), 2), [2, 2]);
    assert_eq!(lengths(&query(2), 2), [2]);
    assert_eq!(lengths(&query(1), 2), [1]);
    assert_eq!(lengths(&query(0), 2), [0]);
    assert_eq!(lengths(&query(100), 15), [15, 5]);
    assert_eq!(lengths(&query(5).filter(prop("Number").ge(10)).rev(), 3), [3, 2]);
    assert_eq!(rows(&table, &store, &query(3).rev()), ["000019", "000018", "000017"]);
    // What is left stands in the token, whatever the number said with it.
    let first = table.page(&query(5), 3, None).unwrap();
    let rest = table.page(&query(500), 100, first.next.as_ref()).unwrap();
    assert_eq!((rest.entities.len(), rest.next), (2, None));
    // A query without a limit is another query.
    let error = table.page(&Query::new().partition("p"), 3, first.next.as_ref()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidContinuation);
}

#[test]
fn a_page_starts_after_its_token_though_that_row_is_gone_and_others_came() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let table = numbered(&store, "Moving", 10);
    for (query, ahead, expected) in [
        (Query::new(), "000004x", vec!["000004x", "000005"]),
        (Query::new().rev(), "000004y", vec!["000004y", "000004x"]),
    ] {
        let first = table.page(&query, 5, None).unwrap();
        let last = first.entities[4].row_key().to_owned();
        table.delete("p", &last, IfMatch::Any).unwrap();
        table.insert_or_replace(&DynamicEntity::new("p", ahead)).unwrap();
        // Behind the token: not seen.
        table.insert_or_replace(&DynamicEntity::new("p", first.entities[0].row_key().to_owned())).unwrap();
        let second = table.page(&query, 2, first.next.as_ref()).unwrap();
        assert_eq!(second.entities.iter().map(DynamicEntity::row_key).collect::<Vec<_>>(), expected);
    }
}

#[test]
fn a_token_of_another_query_or_table_is_refused() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let (table, other) = (numbered(&store, "Tokens", 10), numbered(&store, "Others", 10));
    let query = Query::new().partition("p").filter(prop("Number").ge(0));
    let token = table.page(&query, 3, None).unwrap().next.unwrap();
    assert_eq!(table.page(&query, 3, Some(&token)).unwrap().entities[0].row_key(), "000003");
    let refused = |table: &DynamicTable, query: &Query| {
        let error = table.page(query, 3, Some(&token)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidContinuation);
        assert_eq!((error.kind().code(), error.kind().status()), ("InvalidInput", 400));
        assert_eq!(
            error.to_string(),
            format!(
                "cannot query table `{}`: the token belongs to another query or another table",
                table.name()
            )
        );
    };
    refused(&other, &query);
    for query in [
        query.clone().rev(),
        query.clone().top(5),
        query.clone().select(["Number"]),
        query.clone().row_prefix("0"),
        Query::new().partition("p"),
        Query::new().partition("q").filter(prop("Number").ge(0)),
        Query::new().partition("p").filter(prop("Number").ge(1)),
        Query::new().partition("p").filter(prop("Number").ge(0_i64)),
        Query::new().filter(prop("Number").ge(0)),
    ] {
        refused(&table, &query);
    }
    // The same said in another way is the same query.
    let again = Query::new().filter(Filter::parse("0 le Number and 'p' eq PartitionKey").unwrap());
    assert_eq!(table.page(&again, 3, Some(&token)).unwrap().entities[0].row_key(), "000003");
    // So is the same table by another handle, and after another open.
    assert_eq!(
        store.dynamic_table("TOKENS").unwrap().page(&query, 3, Some(&token)).unwrap().entities.len(),
        3
    );
    drop((table, other, store));
    let reopened = scratch.store().dynamic_table("Tokens").unwrap();
    assert_eq!(reopened.page(&query, 100, Some(&token)).unwrap().entities.len(), 7);
}

#[test]
fn a_token_does_not_outlive_its_table() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let table = numbered(&store, "Tokens", 10);
    let token = table.page(&Query::new(), 3, None).unwrap().next.unwrap();
    store.drop_table("Tokens").unwrap();
    assert_eq!(table.page(&Query::new(), 3, Some(&token)).unwrap_err().kind(), ErrorKind::TableNotFound);
    let anew = numbered(&store, "Tokens", 10);
    let error = anew.page(&Query::new(), 3, Some(&token)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidContinuation);
}

#[test]
fn a_damaged_token_is_refused_when_it_is_read() {
    let scratch = Scratch::new();
    let table = numbered(&scratch.store(), "Tokens", 10);
    let token = table.page(&Query::new(), 3, None).unwrap().next.unwrap().to_string();
    assert!(token.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')), "{token}");
    let mut damaged =
        vec![String::new(), "x".into(), token.clone() + "A", format!(" {token}"), token.repeat(2)];
    damaged.extend((0..token.len()).map(|length| token[..length].to_owned()));
    damaged.extend((0..token.len()).map(|at| {
        let other = if token.as_bytes()[at] == b'A' { "B" } else { "A" };
        format!("{}{other}{}", &token[..at], &token[at + 1..])
    }));
    for text in damaged {
        let error = text.parse::<Continuation>().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidContinuation, "{text}");
        assert_eq!(error.to_string(), "cannot read the continuation token: the token is damaged");
    }
}

#[test]
fn select_gives_the_keys_the_version_and_what_is_named() {
    let scratch = Scratch::new();
    let store = scratch.store();
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
    let snapshot = store.snapshot().unwrap();
    let view = snapshot.views(&table, &query).unwrap().next().unwrap().unwrap();
    assert_eq!(view.get("A").unwrap().map(ValueRef::to_value), Some(Value::Int32(1)));
}

#[test]
fn filters_see_missing_properties_types_and_time() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let table = store.create_table("Filters").unwrap();
    table.insert(&DynamicEntity::new("p", "int").with("A", 5)).unwrap();
    table.insert(&DynamicEntity::new("p", "long").with("A", 5_i64)).unwrap();
    let middle = table.insert(&DynamicEntity::new("p", "nan").with("A", f64::NAN)).unwrap();
    table.insert(&DynamicEntity::new("p", "none")).unwrap();
    table.insert(&DynamicEntity::new("p", "text").with("A", "5").with("Ok", true)).unwrap();
    for (text, expected) in [
        ("A eq 5", &["int", "long"][..]),
        ("A eq 5.0", &["int", "long"]),
        ("A ne 5", &["nan"]),
        ("A ne 6", &["int", "long", "nan"]),
        ("A ne '6'", &["text"]),
        ("not (A eq 5)", &["nan", "none", "text"]),
        ("not (A ne 5)", &["int", "long", "none", "text"]),
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

#[test]
fn an_iterator_keeps_its_snapshot_whatever_becomes_of_the_table() {
    let scratch = Scratch::new();
    let store = scratch.store();
    // More than it reads at once at first, or at any time.
    let count = 1_000;
    let table = numbered(&store, "Kept", count);
    let mut ascending = table.query(&Query::new()).unwrap();
    let mut descending = table.query(&Query::new().partition("p").rev()).unwrap();
    let first = ascending.next().unwrap().unwrap();
    assert_eq!(descending.next().unwrap().unwrap().row_key(), "000999");
    let number = |entity: &DynamicEntity| entity.get("Number").and_then(Value::as_i64).unwrap();

    let changes = (0..count).map(|number| {
        let entity = DynamicEntity::new("p", format!("{number:06}")).with("Number", -1_i64).with("New", "x");
        let batch = table.batch("p");
        if number % 3 == 0 {
            batch.delete(entity.row_key(), IfMatch::Any)
        } else {
            batch.insert_or_replace(entity)
        }
    });
    assert_eq!(store.bulk(changes).unwrap().committed as usize, count);
    assert_eq!(number(&ascending.next().unwrap().unwrap()), number(&first) + 1);
    store.drop_table("Kept").unwrap();
    store.reclaim().unwrap();
    numbered(&store, "Kept", 3);

    let rest: Vec<_> = ascending.map(|entity| number(&entity.unwrap())).collect();
    assert_eq!(rest, (2..count as i64).collect::<Vec<_>>());
    let rest: Vec<_> = descending.map(|entity| number(&entity.unwrap())).collect();
    assert_eq!(rest, (0..count as i64 - 1).rev().collect::<Vec<_>>());
    assert!(store.snapshots().is_empty());
}

#[test]
fn an_iterator_may_move_to_another_thread_and_outlive_every_handle() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let table = numbered(&store, "Moved", 500);
    let mut found = table.query(&Query::new().partition("p")).unwrap();
    assert_eq!(found.next().unwrap().unwrap().row_key(), "000000");
    let snapshot = store.snapshot().unwrap();
    let other = table.clone();
    drop((store, table));
    let counting = std::thread::spawn(move || found.map(Result::unwrap).count());
    let reading = std::thread::spawn(move || snapshot.query(&other, &Query::new()).unwrap().count());
    assert_eq!((counting.join().unwrap(), reading.join().unwrap()), (499, 500));
}

#[test]
fn an_ended_iterator_stays_ended() {
    let scratch = Scratch::new();
    let table = numbered(&scratch.store(), "Ended", 5);
    let mut found = table.query(&Query::new().top(2)).unwrap();
    assert_eq!(found.by_ref().count(), 2);
    table.insert(&DynamicEntity::new("z", "z")).unwrap();
    assert!(found.next().is_none() && found.next().is_none());
}

#[test]
fn a_snapshot_reads_its_own_stores_tables_alone() {
    let (scratch, other) = (Scratch::new(), Scratch::new());
    let (store, other) = (scratch.store(), other.store());
    let (table, foreign) = (numbered(&store, "Mine", 3), numbered(&other, "Mine", 3));
    let snapshot = store.snapshot().unwrap();
    assert_eq!(snapshot.query(&table, &Query::new()).unwrap().count(), 3);
    let kind = |error: table_core::Error| error.kind();
    assert_eq!(kind(snapshot.query(&foreign, &Query::new()).unwrap_err()), ErrorKind::InvalidQuery);
    assert_eq!(kind(snapshot.get(&foreign, "p", "000000").unwrap_err()), ErrorKind::InvalidQuery);
    assert_eq!(kind(snapshot.page(&foreign, &Query::new(), 1, None).unwrap_err()), ErrorKind::InvalidQuery);
}
