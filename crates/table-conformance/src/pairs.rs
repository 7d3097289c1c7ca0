//! Ranges over pairs of keys.

use std::ops::Bound;
use std::sync::Arc;

use table_engine::__executor::Backend;
use table_engine::query::{PageBudget, QueryClass};
use table_engine::{Continuation, DynamicEntity, DynamicTable, ErrorKind, Query, prop};

use super::random::Random;
use super::reads::{Model, TEXTS, filled};
use super::{each_way, tables};

type Pair = (String, String);

fn units(pair: &Pair) -> (Vec<u16>, Vec<u16>) {
    let (partition, row) = pair;
    (partition.encode_utf16().collect(), row.encode_utf16().collect())
}

/// A pair that may be a row's, or lie beside one: what stands around the end of a partition, and of a key.
fn pair(random: &mut Random, model: &Model) -> Pair {
    let mut pick = |below: usize| usize::try_from(random.below(u64::try_from(below).unwrap())).unwrap();
    let (partition, row, _) = model.values().nth(pick(model.len())).unwrap().clone();
    match pick(6) {
        0 => (partition, row),
        1 => (partition, String::new()),
        2 => (partition, format!("{row}{}", TEXTS[pick(TEXTS.len())])),
        3 => (format!("{partition}{}", TEXTS[pick(TEXTS.len())]), row),
        4 => (partition, "\u{10ffff}".to_owned()),
        _ => (TEXTS[pick(TEXTS.len())].to_owned(), TEXTS[pick(TEXTS.len())].to_owned()),
    }
}

/// An end of a range, and which pairs lie on its side.
fn end(random: &mut Random, model: &Model) -> Bound<Pair> {
    match random.below(5) {
        0 => Bound::Unbounded,
        1 | 2 => Bound::Included(pair(random, model)),
        _ => Bound::Excluded(pair(random, model)),
    }
}

fn is_within(pair: &Pair, lower: &Bound<Pair>, upper: &Bound<Pair>) -> bool {
    let of = units(pair);
    let above = match lower {
        Bound::Unbounded => true,
        Bound::Included(lower) => of >= units(lower),
        Bound::Excluded(lower) => of > units(lower),
    };
    above
        && match upper {
            Bound::Unbounded => true,
            Bound::Included(upper) => of <= units(upper),
            Bound::Excluded(upper) => of < units(upper),
        }
}

fn key(entity: &DynamicEntity) -> Pair {
    (entity.partition_key().to_owned(), entity.row_key().to_owned())
}

fn keys(table: &DynamicTable, query: &Query) -> Vec<Pair> {
    table.query(query).unwrap().map(|entity| key(&entity.unwrap())).collect()
}

fn paged(table: &DynamicTable, query: &Query, budget: PageBudget) -> Vec<Pair> {
    let (mut rows, mut after) = (Vec::new(), None::<Continuation>);
    loop {
        let page = table.page(query, budget, after.as_ref()).unwrap();
        rows.extend(page.entities.iter().map(key));
        match page.next {
            None => return rows,
            next => after = next.map(|next| next.to_string().parse().unwrap()),
        }
    }
}

pub(crate) fn ranges_of_pairs_find_what_a_model_finds(backend: &Arc<dyn Backend>) {
    let mut random = Random::new(11);
    let (table, model) = filled(backend, &mut random);
    let (mut found, mut nothing) = (0, 0);
    for round in 0..600 {
        let (lower, upper) = (end(&mut random, &model), end(&mut random, &model));
        let mut query = Query::new().between((lower.clone(), upper.clone()));
        let mut expected: Vec<_> = (model.values())
            .map(|(partition, row, number)| ((partition.clone(), row.clone()), *number))
            .filter(|(pair, _)| is_within(pair, &lower, &upper))
            .collect();
        if random.below(4) == 0 {
            let (lower, upper) = (end(&mut random, &model), end(&mut random, &model));
            expected.retain(|(pair, _)| is_within(pair, &lower, &upper));
            query = query.between((lower, upper));
        }
        if random.below(4) == 0 {
            let (partition, _) = pair(&mut random, &model);
            expected.retain(|((of, _), _)| *of == partition);
            query = query.partition(partition);
        }
        if random.below(4) == 0 {
            let (from, _) = pair(&mut random, &model);
            let first: Vec<u16> = from.encode_utf16().collect();
            expected.retain(|((of, _), _)| of.encode_utf16().collect::<Vec<_>>() >= first);
            query = query.partitions(from..);
        }
        if random.below(5) == 0 {
            expected.retain(|((_, row), _)| row.starts_with('a'));
            query = query.row_prefix("a");
        }
        if random.below(3) == 0 {
            let number = i32::try_from(random.below(10)).unwrap();
            expected.retain(|(_, of)| *of >= number);
            query = query.filter(prop("Number").ge(number));
        }
        let mut expected: Vec<_> = expected.into_iter().map(|(pair, _)| pair).collect();
        if backend.abilities().reverse && random.below(2) == 0 {
            query = query.rev();
            expected.reverse();
        }
        if random.below(4) == 0 {
            let top = usize::try_from(random.below(9)).unwrap();
            query = query.top(top);
            expected.truncate(top);
        }
        assert_eq!(keys(&table, &query), expected, "round {round}: {query:?}");
        let size = 1 + usize::try_from(random.below(7)).unwrap();
        assert_eq!(paged(&table, &query, size.into()), expected, "round {round}: pages of {size}, {query:?}");
        let budget = PageBudget::new(size).rows_read(random.below(5));
        assert_eq!(paged(&table, &query, budget), expected, "round {round}: {budget:?}, {query:?}");
        if query.explain().unwrap().class() == QueryClass::Nothing {
            assert_eq!(expected, []);
            nothing += 1;
        }
        found += expected.len();
    }
    assert!(found > 5_000 && nothing > 50, "the ranges find {found}, and {nothing} have nothing");
}

pub(crate) fn no_row_outside_a_range_of_pairs_is_read(backend: &Arc<dyn Backend>) {
    let table = tables(backend).create_table("Rows").unwrap();
    for partition in ["a", "b", "c"] {
        for row in 0..20 {
            table.put(&DynamicEntity::new(partition, format!("{row:02}"))).unwrap();
        }
    }
    for (query, expected) in [
        (Query::new().between(("a", "17")..=("c", "01")), 25),
        (Query::new().between(("a", "17")..("c", "00")), 23),
        (Query::new().between(("a", "19")..("b", "")), 1),
        (Query::new().between(("b", "05")..("b", "09")), 4),
        (Query::new().between(..("a", "03")), 3),
        (Query::new().between(("c", "18")..), 2),
        (Query::new().between(..), 60),
        (Query::new().between(("b", "05")..=("b", "05")), 1),
        (Query::new().between(("b", "05")..("b", "05")), 0),
        (Query::new().between(("c", "00")..("a", "00")), 0),
        (Query::new().between(("a", "99")..("b", "")), 0),
    ] {
        for query in each_way(backend, &[query]) {
            // As many may be read as there are: with one more the page would have a continuation.
            let budget = PageBudget::new(1_000).rows_read(expected);
            let page = table.page(&query, budget, None).unwrap();
            assert_eq!(page.entities.len(), usize::try_from(expected).unwrap(), "{query:?}");
            assert!(page.next.is_none(), "{query:?}");
        }
    }
    // A token of one range is none of another.
    let first = table.page(&Query::new().between(("a", "17")..), 2, None).unwrap().next.unwrap();
    for other in [Query::new().between(("a", "18")..), Query::new().partitions("a"..), Query::new()] {
        assert_eq!(table.page(&other, 2, Some(&first)).unwrap_err().kind(), ErrorKind::InvalidContinuation);
    }
}

pub(crate) fn an_end_that_is_no_key_is_refused(backend: &Arc<dyn Backend>) {
    let table = tables(backend).create_table("Rows").unwrap();
    let long = "x".repeat(513);
    for (pair, kind) in [
        (("a/b", "1"), ErrorKind::InvalidKey),
        (("a", "\u{1}"), ErrorKind::InvalidKey),
        ((&*long, "1"), ErrorKind::KeyTooLong),
        (("a", &*long), ErrorKind::KeyTooLong),
    ] {
        for query in
            [Query::new().between(pair..), Query::new().between((Bound::Unbounded, Bound::Excluded(pair)))]
        {
            let error = table.query(&query.clone().between(("a", "1")..)).unwrap_err();
            assert_eq!(error.kind(), kind, "{error}");
            assert!(error.to_string().contains("an end of `between` is no pair of keys"), "{error}");
            assert_eq!(table.page(&query, 1, None).unwrap_err().kind(), kind);
            assert_eq!(query.explain().unwrap_err().kind(), kind);
        }
    }
}
