//! Queries, pages, iterators and snapshots.

use table_core::{DynamicEntity, Result};

use super::oracle::Rows;
use super::random::{Place, Random, partition, row};
use super::search::Search;
use super::writes::no_table;
use super::{KEPT, Paging, Reading, Run, Token};

fn assert_row(rows: &Rows, place: Place, read: Option<&DynamicEntity>) {
    match (rows.get(&place), read) {
        (None, None) => {}
        (Some(entity), Some(read)) if entity.is(place, read, None) => {}
        (expected, read) => panic!("expected {expected:?}, read {read:?}"),
    }
}

fn assert_found(rows: &Rows, search: &Search, found: impl Iterator<Item = Result<DynamicEntity>>) {
    let found: Vec<_> = found.map(Result::unwrap).collect();
    let expected = search.find(rows, None, search.top.unwrap_or(usize::MAX));
    assert_entities(rows, &expected, &found, search);
}

fn assert_entities(rows: &Rows, expected: &[Place], found: &[DynamicEntity], search: &Search) {
    let same =
        |(place, read): (&Place, &DynamicEntity)| rows[place].is(*place, read, search.select.as_deref());
    let equal = expected.len() == found.len() && expected.iter().zip(found).all(same);
    assert!(equal, "{search:?}\nmust find {expected:?}\nand found {found:?}");
}

/// Adds to what is kept open, in the place of the oldest if there is enough.
fn keep<T>(kept: &mut Vec<T>, new: T) {
    if kept.len() == KEPT {
        kept.remove(0);
    }
    kept.push(new);
}

fn choose<'a, T>(random: &mut Random, kept: &'a mut [T]) -> Option<&'a mut T> {
    if kept.is_empty() { None } else { Some(&mut kept[random.below(kept.len())]) }
}

impl Run {
    pub(super) fn get(&mut self) {
        self.count("gets");
        let (table, place) = (self.table(), self.random.place());
        let read = self.handles[&table].get(partition(place), row(place));
        match self.rows(table) {
            None => no_table(read),
            Some(rows) => assert_row(rows, place, read.unwrap().as_ref()),
        }
    }

    fn random_search(&mut self) -> Search {
        Search::random(&mut self.random, self.etags.make_contiguous())
    }

    pub(super) fn search(&mut self) {
        self.count("queries");
        let (table, search) = (self.table(), self.random_search());
        let found = self.handles[&table].query(&search.query());
        match self.rows(table) {
            None => no_table(found),
            Some(rows) => assert_found(rows, &search, found.unwrap()),
        }
    }

    pub(super) fn begin_reading(&mut self) {
        let (table, search) = (self.table(), self.random_search());
        let Some(rows) = self.rows(table) else { return };
        let found = search.find(rows, None, search.top.unwrap_or(usize::MAX));
        let left = found.into_iter().map(|place| (place, rows[&place].clone())).collect();
        let rows = self.handles[&table].query(&search.query()).unwrap();
        keep(&mut self.readings, Reading { rows, left, select: search.select });
    }

    pub(super) fn go_on_reading(&mut self) {
        let Some(reading) = choose(&mut self.random, &mut self.readings) else { return };
        for _ in 0..self.random.below(12) {
            let read = reading.rows.next().map(Result::unwrap);
            match (reading.left.pop_front(), read) {
                (None, None) => {}
                (Some((place, entity)), Some(read)) if entity.is(place, &read, reading.select.as_deref()) => {
                }
                (left, read) => panic!("expected {left:?}, read {read:?}"),
            }
        }
        self.count("iterators resumed");
    }

    pub(super) fn begin_paging(&mut self) {
        let (table, search) = (self.table(), self.random_search());
        let left = search.top;
        keep(&mut self.pagings, Paging { table, search, token: None, after: None, left });
    }

    pub(super) fn page(&mut self) {
        if self.pagings.is_empty() {
            self.begin_paging();
        }
        let at = self.random.below(self.pagings.len());
        let mut paging = self.pagings.swap_remove(at);
        let Some(handle) = self.handles.get(&paging.table) else { return };
        let token = paging.token.as_ref().map(|token| match token {
            Token::Held(token) => token.clone(),
            Token::Text(text) => text.parse().unwrap(),
        });
        let size = [1, 2, 3, 10, 1_000][self.random.below(5)];
        let page = handle.page(&paging.search.query(), size, token.as_ref());
        let Some(rows) = self.rows(paging.table) else { return no_table(page) };
        let page = page.unwrap();
        let left = paging.left.unwrap_or(usize::MAX);
        let found = paging.search.find(rows, paging.after, left);
        let (here, later) = found.split_at(found.len().min(size));
        assert_entities(rows, here, &page.entities, &paging.search);
        match &page.next {
            None => assert!(later.is_empty(), "the pages end before {later:?} in {:?}", paging.search),
            Some(_) => {
                assert!(
                    here.len() == size && left > size,
                    "a page more than there can be: {:?}",
                    paging.search
                );
                assert!(!paging.search.is_exact() || !later.is_empty(), "an empty page: {:?}", paging.search);
            }
        }
        self.count("pages");
        if let (Some(next), Some(last)) = (page.next, here.last()) {
            paging.token =
                Some(if self.random.once_in(2) { Token::Text(next.to_string()) } else { Token::Held(next) });
            paging.after = Some(*last);
            paging.left = paging.left.map(|left| left - here.len());
            self.pagings.push(paging);
        }
    }

    pub(super) fn take_snapshot(&mut self) {
        self.count("snapshots");
        let snapshot = self.store.snapshot().unwrap();
        keep(&mut self.snapshots, (snapshot, self.tables.clone()));
    }

    /// A snapshot has the tables of its moment, whatever became of them.
    pub(super) fn read_snapshot(&mut self) {
        let (table, place, search) = (self.table(), self.random.place(), self.random_search());
        let Some(handle) = self.handles.get(&table) else { return };
        let kind = self.random.below(4);
        let Some((snapshot, tables)) = choose(&mut self.random, &mut self.snapshots) else { return };
        let rows = tables.get(&table).map(|table| &*table.rows);
        match (kind, rows) {
            (0, None) => no_table(snapshot.query(handle, &search.query())),
            (1, None) => no_table(snapshot.page(handle, &search.query(), 7, None)),
            (_, None) => no_table(snapshot.get(handle, partition(place), row(place))),
            (0, Some(rows)) => {
                assert_row(rows, place, snapshot.get(handle, partition(place), row(place)).unwrap().as_ref());
                let view = snapshot.view(handle, partition(place), row(place)).unwrap();
                assert_row(rows, place, view.map(|view| view.to_entity().unwrap()).as_ref());
            }
            (1, Some(rows)) => {
                let page = snapshot.page(handle, &search.query(), 7, None).unwrap();
                let found = search.find(rows, None, search.top.unwrap_or(usize::MAX).min(7));
                assert_entities(rows, &found, &page.entities, &search);
            }
            (2, Some(rows)) => {
                // What is left out is not hidden from a view.
                let mut search = search;
                search.select = None;
                let views = snapshot.views(handle, &search.query()).unwrap();
                assert_found(rows, &search, views.map(|view| view.and_then(|view| view.to_entity())));
            }
            (_, Some(rows)) => assert_found(rows, &search, snapshot.query(handle, &search.query()).unwrap()),
        }
        self.count("snapshots read");
    }
}
