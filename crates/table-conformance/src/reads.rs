//! Reads: queries beside a model, pages, snapshots.

use std::collections::BTreeMap;
use std::sync::Arc;

use table_engine::__executor::Backend;
use table_engine::{Continuation, DynamicEntity, DynamicTable, ErrorKind, Query, Value, prop};

use super::random::Random;
use super::{check_lacks, snapshot, tables};

/// The key and the number of each row.
pub(crate) type Model = BTreeMap<(Vec<u16>, Vec<u16>), (String, String, i32)>;

/// Texts whose order is not that of their bytes, or of their characters.
pub(crate) const TEXTS: [&str; 12] =
    ["", " ", "A", "Z", "a", "aa", "ab", "b", "é", "\u{e000}", "\u{ffee}", "\u{10000}"];

/// A table of random rows, and what it has.
pub(crate) fn filled(backend: &Arc<dyn Backend>, random: &mut Random) -> (DynamicTable, Model) {
    let table = tables(backend).create_table("Rows").unwrap();
    let mut model = Model::new();
    for _ in 0..120 {
        let text = |random: &mut Random| {
            let [first, second] = [(); 2].map(|()| TEXTS[usize::try_from(random.below(12)).unwrap()]);
            format!("{first}{second}")
        };
        let (partition, row) = (text(random), text(random));
        let number = i32::try_from(random.below(10)).unwrap();
        table.put(&DynamicEntity::new(&*partition, &*row).with("Number", number)).unwrap();
        let key = (partition.encode_utf16().collect(), row.encode_utf16().collect());
        model.insert(key, (partition, row, number));
    }
    (table, model)
}

fn key(entity: &DynamicEntity) -> (String, String) {
    (entity.partition_key().to_owned(), entity.row_key().to_owned())
}

fn keys(table: &DynamicTable, query: &Query) -> Vec<(String, String)> {
    table.query(query).unwrap().map(|entity| key(&entity.unwrap())).collect()
}

/// Partition by partition, and row by row within it, by the UTF-16 units of their keys.
pub(crate) fn rows_come_in_the_order_of_their_keys(backend: &Arc<dyn Backend>) {
    let (table, model) = filled(backend, &mut Random::new(1));
    let all: Vec<_> = model.values().map(|(partition, row, _)| (partition.clone(), row.clone())).collect();
    assert_eq!(keys(&table, &Query::new()), all);
}

/// A store that has no reverse order says so before it reads.
pub(crate) fn rows_come_backwards_or_are_refused(backend: &Arc<dyn Backend>) {
    let (table, model) = filled(backend, &mut Random::new(1));
    let query = Query::new().rev();
    if backend.abilities().reverse {
        let all = model.values().rev().map(|(partition, row, _)| (partition.clone(), row.clone()));
        assert_eq!(keys(&table, &query), all.collect::<Vec<_>>());
        return;
    }
    check_lacks(&table.query(&query).unwrap_err(), "`reverse`");
    check_lacks(&table.page(&query, 10, None).unwrap_err(), "`reverse`");
    let lend = |_: &table_engine::Row<'_>| -> () { panic!("a row is read") };
    check_lacks(&table.query_with(&query, lend).unwrap_err(), "`reverse`");
    check_lacks(&table.page_with(&query, 10, None, lend).unwrap_err(), "`reverse`");
    // Turned twice, it is as it was.
    assert_eq!(keys(&table, &query.rev()).len(), model.len());
}

/// A random query, and what a row must be that it finds.
fn query(random: &mut Random) -> (Query, impl Fn(&str, &str, i32) -> bool + use<>) {
    let (mut query, text) =
        (Query::new(), |random: &mut Random| TEXTS[usize::try_from(random.below(12)).unwrap()]);
    let units = |text: &str| text.encode_utf16().collect::<Vec<_>>();
    let (partition, from, prefix) = (text(random), text(random), text(random));
    let number = i32::try_from(random.below(10)).unwrap();
    let uses: Vec<bool> = (0..5).map(|_| random.below(3) == 0).collect();
    if uses[0] {
        query = query.partition(partition);
    }
    if uses[1] {
        query = query.partitions(from..);
    }
    if uses[2] {
        query = query.row_prefix(prefix);
    }
    if uses[3] {
        query = query.rows(..=prefix);
    }
    if uses[4] {
        query = query.filter(prop("Number").ge(number));
    }
    let wanted = move |of: &str, row: &str, found: i32| {
        (!uses[0] || of == partition)
            && (!uses[1] || units(of) >= units(from))
            && (!uses[2] || row.starts_with(prefix))
            && (!uses[3] || units(row) <= units(prefix))
            && (!uses[4] || found >= number)
    };
    (query, wanted)
}

pub(crate) fn random_queries_find_what_a_model_finds(backend: &Arc<dyn Backend>) {
    let mut random = Random::new(2);
    let (table, model) = filled(backend, &mut random);
    let mut found = 0;
    for round in 0..300 {
        let (mut query, wanted) = query(&mut random);
        let mut expected: Vec<_> = (model.values())
            .filter(|(partition, row, number)| wanted(partition, row, *number))
            .map(|(partition, row, _)| (partition.clone(), row.clone()))
            .collect();
        if backend.abilities().reverse && random.below(2) == 0 {
            query = query.rev();
            expected.reverse();
        }
        if random.below(3) == 0 {
            let top = usize::try_from(random.below(6)).unwrap();
            query = query.top(top);
            expected.truncate(top);
        }
        if let Some(snapshot) = snapshot(backend) {
            let views = snapshot.views(&table, &query).unwrap().map(Result::unwrap);
            let views = views.map(|view| (view.partition_key().into_owned(), view.row_key().into_owned()));
            assert_eq!(views.collect::<Vec<_>>(), expected, "round {round}: {query:?}");
        }
        assert_eq!(keys(&table, &query), expected, "round {round}: {query:?}");
        let size = usize::try_from(random.below(5)).unwrap() + 1;
        assert_eq!(paged(&table, &query, size), expected, "round {round}: {query:?}, pages of {size}");
        found += expected.len();
    }
    assert!(found > 1_000, "the queries find little: {found}");
}

/// The rows of all pages; each must be full but the last.
fn paged(table: &DynamicTable, query: &Query, size: usize) -> Vec<(String, String)> {
    let (mut rows, mut token) = (Vec::new(), None::<Continuation>);
    loop {
        let page = table.page(query, size, token.as_ref()).unwrap();
        assert!(page.entities.len() == size || page.next.is_none(), "a page that is not full is the last");
        rows.extend(page.entities.iter().map(key));
        // A token is text, which may be kept.
        match page.next {
            None => return rows,
            next => token = next.map(|next| next.to_string().parse().unwrap()),
        }
        assert!(rows.len() < 10_000, "pages without an end");
    }
}

pub(crate) fn pages_join_to_the_whole(backend: &Arc<dyn Backend>) {
    let table = tables(backend).create_table("Rows").unwrap();
    for number in 0..40 {
        table.put(&DynamicEntity::new("p", format!("{number:03}")).with("Number", number % 4)).unwrap();
    }
    let query = Query::new().partition("p").filter(prop("Number").eq(3));
    let first = table.page(&query, 4, None).unwrap();
    let token = first.next.unwrap();
    // What lies ahead is seen, what lies behind is not, and what stays is given once.
    table.put(&DynamicEntity::new("p", "000a").with("Number", 3)).unwrap();
    table.put(&DynamicEntity::new("p", "020a").with("Number", 3)).unwrap();
    table.delete("p", "039").unwrap();
    let rest = table.page(&query, 1_000, Some(&token)).unwrap();
    assert!(rest.next.is_none());
    let rows = first.entities.iter().chain(&rest.entities).map(|row| row.row_key().to_owned());
    let expected = (0..39).filter(|number| number % 4 == 3).map(|number| format!("{number:03}"));
    let mut expected: Vec<_> = expected.chain(["020a".to_owned()]).collect();
    expected.sort();
    assert_eq!(rows.collect::<Vec<_>>(), expected);
    // A token is of its query, and of its store's table.
    let other = Query::new().partition("p").filter(prop("Number").eq(2));
    assert_eq!(table.page(&other, 4, Some(&token)).unwrap_err().kind(), ErrorKind::InvalidContinuation);
    let elsewhere = tables(backend).create_table("Elsewhere").unwrap();
    assert_eq!(elsewhere.page(&query, 4, Some(&token)).unwrap_err().kind(), ErrorKind::InvalidContinuation);
    for size in [0, 1_001] {
        assert_eq!(table.page(&query, size, None).unwrap_err().kind(), ErrorKind::InvalidQuery);
    }
}

pub(crate) fn a_snapshot_is_of_one_moment(backend: &Arc<dyn Backend>) {
    let tables = tables(backend);
    let [first, second] = ["First", "Second"].map(|name| tables.create_table(name).unwrap());
    let count = |table: &DynamicTable, number: i32| {
        table.put(&DynamicEntity::new("p", "r").with("Number", number)).unwrap();
    };
    count(&first, 1);
    count(&second, 1);
    let Some(snapshot) = snapshot(backend) else { return };
    let mut rows = first.query(&Query::new()).unwrap();
    count(&first, 2);
    second.delete("p", "r").unwrap();
    for table in [&first, &second] {
        let found = snapshot.get(table, "p", "r").unwrap().unwrap();
        assert_eq!(found.get("Number"), Some(&Value::from(1)));
    }
    assert_eq!(rows.next().unwrap().unwrap().get("Number"), Some(&Value::from(1)));
    assert!(rows.next().is_none());
    assert_eq!(first.get("p", "r").unwrap().unwrap().get("Number"), Some(&Value::from(2)));
    assert_eq!(second.get("p", "r").unwrap(), None);
}
