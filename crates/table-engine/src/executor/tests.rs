//! Rows of cursors that are not LMDB's: batches of any size, pages that are lent, errors between them, scan ranges merged.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, LazyLock, Mutex};

use proptest::prelude::*;

use self::Step::{Fail, Keep};
use super::*;
use crate::error::{Error, ErrorKind};
use crate::model::{EntityKeys, Ticks, ValueRef};
use crate::query::Query;
use crate::row::row_write::{NameRef, RowWriter};
use crate::row::{self, key};

/// A snapshot of which nothing is asked: the cursors have their rows themselves.
struct Nothing;

/// Two rows a page: the key and the row of one, the key of the other, whose row has the page after it.
static PAGES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let pages = (0..4).map(|page| [stored(&format!("{page}_a")), stored(&format!("{page}_b"))]);
    let page = |[one, other]: [Vec<u8>; 2]| {
        [[&one[..], &packed(&one), &other].concat(), [&[0; HEAD][..], &packed(&other)].concat()]
    };
    pages.flat_map(page).collect()
});
const HEAD: usize = 5;

/// Lends every second page from this one on, so many rows at a time, and says that there is one more.
struct Pages(u64);

impl RowCursor for Pages {
    fn fill(&mut self, snapshot: &dyn ReadSnapshot, batch: &mut Batch) -> Result<()> {
        let (page, key) = (self.0, stored("0_a").len());
        self.0 += 2;
        batch.read_by(&Arc::default(), &Arc::default(), true);
        let length = usize::try_from(page).ok().and_then(|page| PAGES.get(page)).map_or(99, Vec::len);
        batch.lend_page(page, length);
        let end = length - key;
        batch.lend_row(0..key, Lent::Here(key..end));
        let apart = snapshot.lent(page, length).map_or(HEAD, |_| HEAD + end - key);
        batch.lend_row(end..length, Lent::Apart(page + 1, HEAD..apart));
        Ok(())
    }
}

fn refused<T>() -> Result<T> {
    Err(Error::new(ErrorKind::InvalidQuery))
}

impl ReadSnapshot for Nothing {
    fn has(&self, _: &dyn TableExec) -> bool {
        false
    }

    fn state(&self) -> usize {
        0
    }

    fn age(&self) -> Duration {
        Duration::ZERO
    }

    fn get<'s>(&'s self, _: &dyn TableExec, _: EntityKeys<'_>, _: bool) -> Result<Option<RowView<'s>>> {
        refused()
    }

    fn cursors(&self, _: &dyn TableExec, _: &ScanRanges) -> Result<Vec<Box<dyn RowCursor>>> {
        refused()
    }

    fn lent(&self, page: u64, length: usize) -> Option<&[u8]> {
        PAGES.get(usize::try_from(page).unwrap())?.get(..length)
    }

    fn views<'s>(&'s self, _: &dyn TableExec, _: ScanRanges) -> Result<Box<dyn InPlace<'s> + 's>> {
        refused()
    }

    fn page(
        &self,
        _: &dyn TableExec,
        _: ScanRanges,
        _: PageBudget,
        _: Option<&Continuation>,
        _: VisitEach<'_>,
    ) -> Result<Option<Continuation>> {
        refused()
    }
}

/// What a cursor comes to.
#[derive(Clone, Copy)]
enum Step {
    Keep(&'static str),
    Fail,
}

/// Steps, so many in a batch.
struct Steps {
    left: VecDeque<Step>,
    size: usize,
}

fn stored(row: &str) -> Vec<u8> {
    let mut stored = Vec::new();
    key::encode(7, "p", row, &mut stored);
    stored
}

fn packed(stored: &[u8]) -> Vec<u8> {
    let (mut bytes, mut row, seed) = (Vec::new(), RowWriter::default(), row::key_seed(stored));
    row.push(NameRef::Id(0), ValueRef::Int32(7), None, seed);
    row.finish(&mut bytes, None).unwrap();
    row::stamp(&mut bytes, Ticks::now(), seed);
    bytes
}

impl RowCursor for Steps {
    fn fill(&mut self, _: &dyn ReadSnapshot, batch: &mut Batch) -> Result<()> {
        assert_eq!(batch.len(), 0, "a batch is empty when it is filled");
        batch.begin(2, 1024);
        batch.read_by(&Arc::default(), &Arc::default(), true);
        while batch.len() < self.size {
            match self.left.pop_front() {
                Some(Keep(row)) => batch.keep(&stored(row), &packed(&stored(row))),
                Some(Fail) => return refused(),
                None => {
                    batch.end();
                    break;
                }
            }
        }
        Ok(())
    }
}

/// Merges the cursors of these steps as one.
fn merged(scan_ranges: &[&[Step]], size: usize, query: Query) -> MergeIter {
    // Up to the digit of the shard: `p`, what separates, `0`.
    let queries = ScanRanges::merged(vec![query; scan_ranges.len()], 3);
    let cursor = |steps: &&[Step]| -> Box<dyn RowCursor> {
        Box::new(Steps { left: steps.iter().copied().collect(), size })
    };
    MergeIter::new(queries, scan_ranges.iter().map(cursor).collect())
}

/// Returns the key of the next row.
fn next_key(rows: &mut MergeIter) -> Option<Result<String>> {
    let mut key = None;
    let next = rows.next(&Nothing, &mut |_, view| {
        key = Some(view.row_key().into_owned());
        Ok(())
    });
    made(next, key)
}

/// Returns the row keys until the end; an error is `!`.
fn rows(mut merged: MergeIter) -> Vec<String> {
    let mut rows = Vec::new();
    while let Some(row) = next_key(&mut merged) {
        rows.push(row.unwrap_or_else(|_| "!".to_owned()));
    }
    assert!(merged.next(&Nothing, &mut |_, _| Ok(())).is_none(), "it has ended");
    rows
}

#[test]
fn rows_come_in_order_whatever_the_batches() {
    let steps = [Keep("1"), Keep("2"), Keep("3"), Keep("4"), Keep("5")];
    for size in 1..=6 {
        assert_eq!(rows(merged(&[&steps], size, Query::new())), ["1", "2", "3", "4", "5"], "{size}");
    }
    assert_eq!(rows(merged(&[&[]], 1, Query::new())), [""; 0]);
}

#[test]
fn rows_of_pages_that_are_lent_are_read_there() {
    let all = |cursors: Vec<Box<dyn RowCursor>>| {
        let scan_ranges = ScanRanges::merged(vec![Query::new(); cursors.len()], 3);
        rows(MergeIter::new(scan_ranges, cursors))
    };
    // What lies behind the last page is an error, and no row.
    assert_eq!(all(vec![Box::new(Pages(0))]), ["0_a", "0_b", "1_a", "1_b", "2_a", "2_b", "3_a", "3_b", "!"]);
    // One scan range after another, by what follows the digit.
    let cursors: Vec<Box<dyn RowCursor>> = vec![Box::new(Pages(2)), Box::new(Pages(4))];
    assert_eq!(all(cursors)[..3], ["1_a", "2_a", "1_b"]);
    let mut merged = MergeIter::new(ScanRanges::merged(vec![Query::new()], 3), vec![Box::new(Pages(4))]);
    for _ in 0..3 {
        merged.skip(&Nothing).unwrap().unwrap();
    }
    let mut last = None;
    let read = merged.next(&Nothing, &mut |_, view| {
        view.get("A")?;
        last = Some(view.row_key().into_owned());
        Ok(())
    });
    read.unwrap().unwrap();
    assert_eq!(last.as_deref(), Some("3_b"));
}

#[test]
fn what_was_read_before_an_error_comes_before_it_and_nothing_after() {
    let steps = [Keep("1"), Keep("2"), Keep("3"), Fail, Keep("4")];
    for size in 1..=6 {
        assert_eq!(rows(merged(&[&steps], size, Query::new())), ["1", "2", "3", "!"], "{size}");
    }
}

#[test]
fn a_reader_s_error_ends_the_rows() {
    let mut merged = merged(&[&[Keep("1"), Keep("2")]], 2, Query::new());
    assert!(merged.next(&Nothing, &mut |_, _| refused::<()>()).unwrap().is_err());
    assert!(merged.next(&Nothing, &mut |_, _| Ok(())).is_none());
}

#[test]
fn scan_ranges_are_merged_by_what_follows_the_shard() {
    let scan_ranges: [&[Step]; 3] =
        [&[Keep("0_a"), Keep("0_c"), Keep("0_d")], &[Keep("1_b"), Keep("1_c")], &[]];
    for size in 1..=3 {
        let found = rows(merged(&scan_ranges, size, Query::new()));
        assert_eq!(found, ["0_a", "1_b", "0_c", "1_c", "0_d"], "{size}");
    }
    let scan_ranges: [&[Step]; 2] = [&[Keep("0_c"), Keep("0_a")], &[Keep("1_c"), Keep("1_b")]];
    assert_eq!(rows(merged(&scan_ranges, 1, Query::new().rev())), ["1_c", "0_c", "1_b", "0_a"]);
}

#[test]
fn a_lane_that_fails_ends_all_where_its_next_row_is_needed() {
    let scan_ranges: [&[Step]; 2] = [&[Keep("0_a"), Keep("0_z")], &[Keep("1_b"), Fail]];
    assert_eq!(rows(merged(&scan_ranges, 1, Query::new())), ["0_a", "1_b", "!"]);
}

#[test]
fn no_more_come_than_are_wanted() {
    let scan_ranges: [&[Step]; 2] = [&[Keep("0_a"), Keep("0_c")], &[Keep("1_b"), Fail]];
    assert_eq!(rows(merged(&scan_ranges, 2, Query::new().top(1))), ["0_a"]);
    assert_eq!(rows(merged(&scan_ranges, 2, Query::new().top(0))), [""; 0]);
}

#[test]
fn rows_are_skipped_up_to_an_error() {
    let mut all = merged(&[&[Keep("1"), Fail]], 1, Query::new());
    all.skip(&Nothing).unwrap().unwrap();
    assert!(all.skip(&Nothing).unwrap().is_err());
    assert!(all.skip(&Nothing).is_none());
}

/// Rows that lie under the digit of a token, of which there are two for each shard; and which of them move to the newer one.
struct Live {
    rows: BTreeSet<String>,
    /// The rows to be moved, each before the next batch is read.
    moves: VecDeque<Option<String>>,
}

/// Reads the rows under a digit as they are when each batch is read.
struct LiveCursor {
    live: Arc<Mutex<Live>>,
    digit: usize,
    is_reverse: bool,
    last: Option<String>,
    size: usize,
}

impl RowCursor for LiveCursor {
    fn fill(&mut self, _: &dyn ReadSnapshot, batch: &mut Batch) -> Result<()> {
        let mut live = self.live.lock().unwrap();
        if let Some(Some(row)) = live.moves.pop_front() {
            let (digit, name) = row.split_once('_').unwrap();
            let newer = format!("{}_{name}", digit.parse::<usize>().unwrap() + 1);
            assert!(live.rows.remove(&row) && live.rows.insert(newer));
        }
        let is_next = |row: &&String| {
            let is_behind = match &self.last {
                None => true,
                Some(last) if self.is_reverse => *row < last,
                Some(last) => *row > last,
            };
            is_behind && row.starts_with(&format!("{}_", self.digit))
        };
        let mut next: Vec<_> = live.rows.iter().filter(is_next).cloned().collect();
        if self.is_reverse {
            next.reverse();
        }
        batch.read_by(&Arc::default(), &Arc::default(), true);
        for row in next.iter().take(self.size) {
            batch.keep(&stored(row), &packed(&stored(row)));
        }
        self.last = next.get(self.size - 1).cloned();
        if self.last.is_none() {
            batch.end();
        }
        Ok(())
    }
}

proptest! {
    #[test]
    fn a_row_that_moves_to_a_newer_token_meanwhile_is_given_once(
        shards in prop_oneof![Just(1_usize), Just(5)],
        rows_of_each in 0_usize..5,
        size in 1_usize..4,
        is_reverse: bool,
        top in prop_oneof![Just(usize::MAX), 0_usize..6],
        moves in Just((0..25).collect::<Vec<usize>>()).prop_shuffle(),
        pauses in proptest::collection::vec(any::<bool>(), 25),
    ) {
        let names = |shard: usize| (0..rows_of_each).map(move |row| format!("{}_{row}", 2 * shard));
        let all: Vec<String> = (0..shards).flat_map(names).collect();
        let moves = moves.iter().zip(pauses).filter_map(|(row, pauses)| match all.get(*row) {
            row if !pauses => row.map(|row| Some(row.clone())),
            _ => Some(None),
        });
        let live = Live { rows: all.iter().cloned().collect(), moves: moves.collect() };
        let live = Arc::new(Mutex::new(live));
        let cursor = |digit| -> Box<dyn RowCursor> {
            Box::new(LiveCursor { live: live.clone(), digit, is_reverse, last: None, size })
        };
        let mut query = Query::new();
        if is_reverse {
            query = query.rev();
        }
        if top < usize::MAX {
            query = query.top(top);
        }
        let ranges = ScanRanges::merged(vec![query; 2 * shards], 3);
        let ranges = ranges.moving((0..2 * shards).map(|digit| digit / 2).collect());
        let found = rows(MergeIter::new(ranges, (0..2 * shards).map(cursor).collect()));
        let mut expected: Vec<(String, usize)> = all
            .iter()
            .map(|row| row.split_once('_').unwrap())
            .map(|(digit, name)| (name.to_owned(), digit.parse::<usize>().unwrap() / 2))
            .collect();
        expected.sort();
        if is_reverse {
            expected.reverse();
        }
        expected.truncate(top);
        let found: Vec<_> = found
            .iter()
            .map(|row| row.split_once('_').unwrap())
            .map(|(digit, name)| (name.to_owned(), digit.parse::<usize>().unwrap() / 2))
            .collect();
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn a_walk_goes_on_behind_a_row_that_has_moved(came_from in 0_usize..4, is_reverse: bool) {
        let query = |digit: usize| {
            let query = Query::new().partition("p").row_prefix(format!("{digit}_"));
            if is_reverse { query.rev() } else { query }
        };
        let ranges = ScanRanges::merged((0..4).map(query).collect(), 3).moving(vec![0, 0, 1, 1]);
        let mut asked = ranges.range_queries(7).unwrap();
        range_query::go_on(&ranges, &mut asked, 7, EntityKeys::new("p", &format!("{came_from}_b"))).unwrap();
        let goes_on_at = asked.iter().enumerate().map(|(at, asked)| asked.covers(&stored(&format!("{at}_b"))));
        let comes_later = |shard: usize| if is_reverse { shard < came_from / 2 } else { shard > came_from / 2 };
        let expected: Vec<bool> = [0, 0, 1, 1].into_iter().map(comes_later).collect();
        prop_assert_eq!(goes_on_at.collect::<Vec<_>>(), expected);
    }
}
