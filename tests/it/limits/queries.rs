//! Pages, selections and filters.

use integration_tests::Scratch;
use table_core::ErrorKind::{InvalidFilter, InvalidQuery};
use table_core::{DynamicEntity, Filter, Query, prop};

use super::{assert_refused, many};

#[test]
fn a_page_has_one_to_a_thousand_entities() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let table = store.create_table("Limits").unwrap();
    let entities =
        (0..1_001).map(|row| table.batch("p").insert(DynamicEntity::new("p", format!("{row:04}"))));
    assert_eq!(store.bulk(entities).unwrap().committed, 1_001);
    let query = Query::new();
    for size in [0, 1_001, usize::MAX] {
        assert_refused(table.page(&query, size, None), (InvalidQuery, "InvalidInput", 400), "size");
        let snapshot = store.snapshot().unwrap();
        assert_refused(
            snapshot.page(&table, &query, size, None),
            (InvalidQuery, "InvalidInput", 400),
            "size",
        );
    }
    assert_eq!(table.page(&query, 1, None).unwrap().entities.len(), 1);
    let page = table.page(&query, 1_000, None).unwrap();
    assert_eq!(page.entities.len(), 1_000);
    let rest = table.page(&query, 1_000, page.next.as_ref()).unwrap();
    assert_eq!((rest.entities.len(), rest.next), (1, None));
    // An iterator has no such limit.
    assert_eq!(table.query(&query.top(usize::MAX)).unwrap().count(), 1_001);
}

#[test]
fn a_select_names_at_most_255_properties() {
    let scratch = Scratch::new();
    let table = scratch.store().create_table("Limits").unwrap();
    table.insert(&many("p", "r", 0..252)).unwrap();
    let names = |count: usize| (0..count).map(|number| format!("P{number}")).collect::<Vec<_>>();
    let found = table.query(&Query::new().select(names(255))).unwrap().next().unwrap().unwrap();
    assert_eq!(found.properties().len(), 252);
    let query = Query::new().select(names(256));
    assert_refused(table.query(&query), (InvalidQuery, "InvalidInput", 400), "256 names");
    assert_refused(table.page(&query, 1, None), (InvalidQuery, "InvalidInput", 400), "256 names");
}

#[test]
fn a_filter_is_at_most_64_brackets_deep() {
    let scratch = Scratch::new();
    let table = scratch.store().create_table("Limits").unwrap();
    table.insert(&DynamicEntity::new("p", "r").with("A", 1).with("B", 2)).unwrap();
    let expected = (InvalidFilter, "InvalidInput", 400);
    // The same filter as text and as built: a bracket for each level.
    let text =
        |levels: usize| (0..levels).fold("A eq 1".to_owned(), |f, _| format!("({f} or B eq 3) and B eq 2"));
    let built =
        |levels: usize| (0..levels).fold(prop("A").eq(1), |f, _| (f | prop("B").eq(3)) & prop("B").eq(2));
    let within = Filter::parse(&text(64)).unwrap();
    assert_eq!(within, built(64));
    assert_eq!(table.query(&Query::new().filter(within)).unwrap().count(), 1);
    let error = assert_refused(Filter::parse(&text(65)), expected, "text");
    assert!(error.position().is_some());
    assert_refused(table.query(&Query::new().filter(built(65))), expected, "built");
    assert_refused(table.explain(&Query::new().filter(built(65))), expected, "explained");
    // A chain is not deep, however long.
    let chain = (0..10_000).fold(prop("A").eq(0), |filter, number| filter | prop("A").eq(number));
    assert_eq!(table.query(&Query::new().filter(chain)).unwrap().count(), 1);
}
