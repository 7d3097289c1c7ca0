//! What queries find, in which order, and where their pages end.

mod found;
mod iterators;
mod paging;
mod types;

use integration_tests::executors::snapshot;
use table_core::{Continuation, DynamicEntity, DynamicTable, Query, Result, Tables};

fn put(table: &DynamicTable, rows: &[(&str, &str)]) {
    for (partition, row) in rows {
        table.insert(&DynamicEntity::new(*partition, *row)).unwrap();
    }
}

/// The rows that are found, by every way of asking, which must agree.
fn rows(table: &DynamicTable, store: &Tables, query: &Query) -> Vec<String> {
    let found: Vec<_> = table.query(query).unwrap().map(Result::unwrap).collect();
    let rows: Vec<_> = found.iter().map(|entity| entity.row_key().to_owned()).collect();
    if let Some(snapshot) = snapshot(store) {
        let by_snapshot: Vec<_> = snapshot.query(table, query).unwrap().map(Result::unwrap).collect();
        let by_view = snapshot.views(table, query).unwrap().map(|view| view.unwrap().row_key().into_owned());
        assert_eq!(found, by_snapshot);
        assert_eq!(by_view.collect::<Vec<_>>(), rows);
    }
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
fn numbered(store: &Tables, name: &str, count: usize) -> DynamicTable {
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
