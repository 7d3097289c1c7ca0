//! Rows that are lent to closures, and pages that end early.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use table_engine::__executor::Backend;
use table_engine::query::PageBudget;
use table_engine::{
    Continuation, DynamicEntity, DynamicTable, Error, ErrorKind, Query, Row, Ticks, Uuid, Value, ValueRef,
    prop,
};

use super::random::Random;
use super::reads::filled;
use super::{each_way, tables};

/// Entities with values of every type, among them a large one, and keys whose stored form is not their text.
fn varied(table: &DynamicTable) -> Vec<DynamicEntity> {
    let entities = vec![
        DynamicEntity::new("p", "1"),
        DynamicEntity::new("p", "2")
            .with("EntityType", "employee")
            .with("Name", "Zoë")
            .with("Age", 34)
            .with("Length", -7_i64)
            .with("Share", 0.5)
            .with("Is", true)
            .with("At", Ticks::UNIX_EPOCH)
            .with("Id", Uuid::from_u128(7))
            .with("Bytes", vec![0, 255]),
        DynamicEntity::new("p", "3").with("Name", "x".repeat(5_000)).with("Age", "old"),
        DynamicEntity::new("\u{e000}", "\u{1f600}").with("Age", 1).with("Note", ""),
    ];
    for entity in &entities {
        table.insert(entity).unwrap();
    }
    entities
}

/// The row as an entity, made of what it lends.
fn made(row: &Row<'_>) -> DynamicEntity {
    let mut entity = DynamicEntity::new(row.partition_key(), row.row_key());
    for (name, value) in row.properties() {
        assert_eq!(row.get(name), Some(value));
        assert_eq!(entity.set(name, value.to_value()), None, "`{name}` came twice");
    }
    assert_eq!(row.etag().timestamp(), row.timestamp());
    assert_eq!(row.get("Nothing"), None);
    assert_eq!(row.to_entity().unwrap(), entity);
    entity
}

pub(crate) fn rows_are_lent_as_they_are_read(backend: &Arc<dyn Backend>) {
    let tables = tables(backend);
    let table = tables.create_table("Rows").unwrap();
    let entities = varied(&table);
    let snapshot = crate::snapshot(backend);
    for entity in &entities {
        let (partition, row) = (entity.partition_key(), entity.row_key());
        let etag = table.get(partition, row).unwrap().unwrap().etag();
        let read = |row: &Row<'_>| (made(row), Some(row.etag()));
        let expected = Some((entity.clone(), etag));
        assert_eq!(table.get_with(partition, row, read).unwrap(), expected);
        if let Some(snapshot) = &snapshot {
            assert_eq!(snapshot.get_with(&table, partition, row, read).unwrap(), expected);
        }
    }
    assert!(table.get_with("p", "none", |_| ()).unwrap().is_none());
    if let Some(snapshot) = &snapshot {
        assert!(snapshot.get_with(&table, "p", "none", |_| ()).unwrap().is_none());
    }

    let all = Query::new();
    let some = Query::new().select(["Age", "Bytes", "Unknown"]);
    for query in each_way(backend, &[all, some, Query::new().select([""; 0])]) {
        let expected: Vec<_> = table.query(&query).unwrap().map(Result::unwrap).collect();
        assert_eq!(expected.len(), 4);
        let mut lent = Vec::new();
        table.query_with(&query, |row| lent.push(made(row))).unwrap();
        assert_eq!(lent, expected);
        lent.clear();
        assert!(table.page_with(&query, 10, None, |row| lent.push(made(row))).unwrap().is_none());
        assert_eq!(lent, expected);
        let Some(snapshot) = &snapshot else { continue };
        lent.clear();
        snapshot.query_with(&table, &query, |row| lent.push(made(row))).unwrap();
        assert_eq!(lent, expected);
        lent.clear();
        assert!(snapshot.page_with(&table, &query, 10, None, |row| lent.push(made(row))).unwrap().is_none());
        assert_eq!(lent, expected);
    }
    // What is not selected is not shown.
    table
        .query_with(&Query::new().select(["Age"]), |row| {
            assert!(row.get("Name").is_none() && row.properties().all(|(name, _)| name == "Age"));
        })
        .unwrap();
}

/// An error of a program's own.
#[derive(Debug, PartialEq)]
enum Mine {
    Full,
    Store(ErrorKind),
}

impl From<Error> for Mine {
    fn from(error: Error) -> Self {
        Self::Store(error.kind())
    }
}

pub(crate) fn a_visitor_may_stop_or_fail(backend: &Arc<dyn Backend>) {
    let table = tables(backend).create_table("Rows").unwrap();
    for number in 0..20 {
        table.put(&DynamicEntity::new("p", format!("{number:02}")).with("Number", number)).unwrap();
    }
    let number = |row: &Row<'_>| row.get("Number").and_then(ValueRef::as_i32).unwrap();
    for query in each_way(backend, &[Query::new(), Query::new().top(13)]) {
        let whole: Vec<_> =
            table.query(&query).unwrap().map(|row| row.unwrap().row_key().to_owned()).collect();
        // Every page ends where the visitor says, and the next begins behind it.
        let (mut rows, mut after, mut pages) = (Vec::new(), None::<Continuation>, 0);
        loop {
            let mut taken = 0;
            let next = table.page_with(&query, 7, after.as_ref(), |row| {
                rows.push(row.row_key().to_owned());
                taken += 1;
                if taken == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            pages += 1;
            assert!(taken <= 3);
            match next.unwrap() {
                None => break,
                next => after = next.map(|next| next.to_string().parse().unwrap()),
            }
        }
        assert_eq!((&rows, pages), (&whole, whole.len().div_ceil(3)));

        rows.clear();
        table
            .query_with(&query, |row| {
                rows.push(row.row_key().to_owned());
                if rows.len() == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })
            .unwrap();
        assert_eq!(rows, whole[..3]);
    }

    let mut seen = 0;
    let mut fails = |row: &Row<'_>| {
        seen += 1;
        if number(row) == 4 { Err(Mine::Full) } else { Ok(()) }
    };
    assert_eq!(table.page_with(&Query::new(), 10, None, &mut fails).unwrap_err(), Mine::Full);
    assert_eq!(table.query_with(&Query::new(), &mut fails).unwrap_err(), Mine::Full);
    assert_eq!(seen, 10);
    let refused =
        |done: Result<(), Mine>| assert_eq!(done.unwrap_err(), Mine::Store(ErrorKind::InvalidQuery));
    refused(table.page_with(&Query::new(), 0, None, |_| Ok::<_, Mine>(())).map(drop));
    refused(table.query_with(&Query::new().filter(prop("a b").eq(1)), |_| Ok(())).map_err(|error: Mine| {
        // A name that no property can have is another kind.
        assert_eq!(error, Mine::Store(ErrorKind::InvalidFilter));
        Mine::Store(ErrorKind::InvalidQuery)
    }));
    let read = table.get_with("p", "04", |row| if number(row) == 4 { Err(Mine::Full) } else { Ok(()) });
    assert_eq!(read.unwrap(), Some(Err(Mine::Full)));
}

fn key(entity: &DynamicEntity) -> (String, String) {
    (entity.partition_key().to_owned(), entity.row_key().to_owned())
}

/// The rows of all pages of this budget, and how many pages there are.
fn paged(table: &DynamicTable, query: &Query, budget: PageBudget) -> (Vec<(String, String)>, usize) {
    let (mut rows, mut after, mut pages) = (Vec::new(), None::<Continuation>, 0);
    loop {
        let page = table.page(query, budget, after.as_ref()).unwrap();
        rows.extend(page.entities.iter().map(key));
        pages += 1;
        assert!(pages < 1_000, "pages without an end");
        match page.next {
            None => return (rows, pages),
            next => after = next.map(|next| next.to_string().parse().unwrap()),
        }
    }
}

pub(crate) fn a_budget_ends_pages_early(backend: &Arc<dyn Backend>) {
    let table = tables(backend).create_table("Numbers").unwrap();
    for number in 0..100 {
        table.put(&DynamicEntity::new("p", format!("{number:03}")).with("Number", number)).unwrap();
    }
    let few = Query::new().partition("p").filter(prop("Number").ge(95));
    let rows = |budget| {
        let page = table.page(&few, budget, None).unwrap();
        (page.entities.len(), page.next.is_some())
    };
    assert_eq!(rows(PageBudget::new(10)), (5, false));
    // Empty, and not the last.
    assert_eq!(rows(PageBudget::new(10).rows_read(40)), (0, true));
    assert_eq!(rows(PageBudget::new(10).rows_read(96)), (1, true));
    assert_eq!(rows(PageBudget::new(3).rows_read(1_000)), (3, true));
    assert_eq!(rows(PageBudget::new(10).rows_read(1_000)), (5, false));
    assert_eq!(rows(PageBudget::new(10).time(Duration::ZERO)), (0, true));
    assert_eq!(rows(PageBudget::new(10).time(Duration::MAX)), (5, false));
    assert_eq!(rows(PageBudget::SERVICE), (5, false));
    assert_eq!(paged(&table, &few, PageBudget::new(10).rows_read(40)).1, 3);
    // A row each, whatever the budget, and no page for what lies behind the last.
    for budget in [PageBudget::new(10).rows_read(0), PageBudget::new(10).time(Duration::ZERO)] {
        assert_eq!(paged(&table, &few, budget), (paged(&table, &few, PageBudget::new(10)).0, 100));
    }
    for rows in [0, 1_001] {
        let refused = table.page(&few, PageBudget::new(rows).rows_read(7), None).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::InvalidQuery);
    }
    // A token goes on with any budget.
    let first = table.page(&few, PageBudget::new(10).rows_read(97), None).unwrap();
    let rest = table.page(&few, 10, first.next.as_ref()).unwrap();
    assert_eq!((first.entities.len(), rest.entities.len(), rest.next.is_none()), (2, 3, true));
}

pub(crate) fn pages_of_any_budget_join_to_the_whole(backend: &Arc<dyn Backend>) {
    let mut random = Random::new(7);
    let (table, _) = filled(backend, &mut random);
    for round in 0..120 {
        let number = i32::try_from(random.below(10)).unwrap();
        let mut query = Query::new().filter(prop("Number").ge(number));
        if random.below(2) == 0 {
            query = query.rows("a"..);
        }
        if backend.abilities().reverse && random.below(2) == 0 {
            query = query.rev();
        }
        if random.below(3) == 0 {
            query = query.top(usize::try_from(random.below(20)).unwrap());
        }
        let whole: Vec<_> = table.query(&query).unwrap().map(|row| key(&row.unwrap())).collect();
        let rows = usize::try_from(1 + random.below(9)).unwrap();
        let reads = random.below(30);
        let budget = PageBudget::new(rows).rows_read(reads);
        let (found, pages) = paged(&table, &query, budget);
        assert_eq!(found, whole, "round {round}: {query:?}, {budget:?}");
        assert!(pages > whole.len() / (rows + 1), "round {round}: {pages} pages of {rows}");
    }
}

/// What a closure keeps of rows.
pub(crate) fn a_value_is_lent_as_long_as_the_closure_runs(backend: &Arc<dyn Backend>) {
    let table = tables(backend).create_table("Rows").unwrap();
    varied(&table);
    let texts = table.get_with("p", "2", |row| {
        let properties: Vec<_> = row.properties().collect();
        properties.iter().map(|(name, value)| format!("{name}={value:?}")).collect::<Vec<_>>()
    });
    let texts = texts.unwrap().unwrap();
    assert_eq!(texts.len(), 9);
    assert!(texts.contains(&"Age=34".to_owned()) && texts.contains(&"Name=\"Zoë\"".to_owned()), "{texts:?}");
    let value = table.get_with("p", "2", |row| row.get("Bytes").map(ValueRef::to_value)).unwrap().flatten();
    assert_eq!(value, Some(Value::from(vec![0, 255])));
}
