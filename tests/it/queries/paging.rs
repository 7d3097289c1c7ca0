//! Where pages end, and what their tokens are good for.

use integration_tests::Scratch;
use integration_tests::executors::reverses;
use table_core::{Continuation, DynamicEntity, DynamicTable, ErrorKind, Filter, Query, prop};

use super::{numbered, pages, put, rows};

#[test]
fn pages_stop_exactly_where_the_answer_does() {
    let scratch = Scratch::new();
    let store = scratch.tables();
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
    let store = scratch.tables();
    let table = numbered(&store, "Tops", 20);
    let query = |top| Query::new().partition("p").top(top);
    let lengths = |query: &Query, size| pages(&table, query, size).iter().map(Vec::len).collect::<Vec<_>>();
    assert_eq!(lengths(&query(5), 2), [2, 2, 1]);
    assert_eq!(lengths(&query(4), 2), [2, 2]);
    assert_eq!(lengths(&query(2), 2), [2]);
    assert_eq!(lengths(&query(1), 2), [1]);
    assert_eq!(lengths(&query(0), 2), [0]);
    assert_eq!(lengths(&query(100), 15), [15, 5]);
    if reverses(|| table.page(&query(5).rev(), 3, None)) {
        assert_eq!(lengths(&query(5).filter(prop("Number").ge(10)).rev(), 3), [3, 2]);
        assert_eq!(rows(&table, &store, &query(3).rev()), ["000019", "000018", "000017"]);
    }
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
    let store = scratch.tables();
    let table = numbered(&store, "Moving", 10);
    for (query, ahead, expected) in [
        (Query::new(), "000004x", vec!["000004x", "000005"]),
        (Query::new().rev(), "000004y", vec!["000004y", "000004x"]),
    ] {
        let is_reversed = ahead == "000004y";
        if is_reversed && !reverses(|| table.page(&query, 5, None)) {
            continue;
        }
        let first = table.page(&query, 5, None).unwrap();
        let last = first.entities[4].row_key().to_owned();
        table.delete("p", &last).unwrap();
        table.put(&DynamicEntity::new("p", ahead)).unwrap();
        // Behind the token: not seen.
        table.put(&DynamicEntity::new("p", first.entities[0].row_key().to_owned())).unwrap();
        let second = table.page(&query, 2, first.next.as_ref()).unwrap();
        assert_eq!(second.entities.iter().map(DynamicEntity::row_key).collect::<Vec<_>>(), expected);
    }
}

#[test]
fn a_token_of_another_query_or_table_is_refused() {
    let scratch = Scratch::new();
    let store = scratch.tables();
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
                "cannot query table `{}`: the token belongs to another query, another table or another store",
                table.name()
            )
        );
    };
    refused(&other, &query);
    let turned = query.clone().rev();
    if reverses(|| table.page(&turned, 3, Some(&token))) {
        refused(&table, &turned);
    }
    for query in [
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
    let reopened = scratch.tables().dynamic_table("Tokens").unwrap();
    assert_eq!(reopened.page(&query, 100, Some(&token)).unwrap().entities.len(), 7);
}

#[test]
fn a_token_does_not_outlive_its_table() {
    let scratch = Scratch::new();
    let store = scratch.tables();
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
    let table = numbered(&scratch.tables(), "Tokens", 10);
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

integration_tests::on_other_executors! {
    top_counts_over_all_pages_together
    a_page_starts_after_its_token_though_that_row_is_gone_and_others_came
    a_token_of_another_query_or_table_is_refused
    a_token_does_not_outlive_its_table
    a_damaged_token_is_refused_when_it_is_read
}
