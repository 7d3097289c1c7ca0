//! Queries of entities that have a table for each period: which tables they read, and in which order.
//!
//! Where the time of the period comes next in the key, the rows of one table lie behind those of another, and each is begun
//! when the one before it has ended. Else the rows of all are merged by their keys, which no two of them share: a key that
//! tells entities apart says the period.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

use crate::hash::xxh3_64;

use super::{KeyArgs, lowering};
use crate::error::{Error, ErrorKind, Result};
use crate::executor::{
    ConcatIter, DefaultPage, MergeIter, PageMeter, PeriodsSeen, RowCursor, ScanRanges, fingerprint,
};
use crate::handle::rows::Across;
use crate::handle::snapshot::Snapshot;
use crate::handle::table::DynamicTable;
use crate::model::{EntityKeys, Ticks, Value};
use crate::query::{self, Continuation, Explain, PageBudget, Position, Query, declared};
use crate::row::view::RowView;
use crate::schema::{self, Edge, FieldPart, Format, Schema, Template, TimeItem};
use crate::sorting;
use crate::typed::entity::path::PathKeys;
use crate::typed::periods::{PeriodsShared, Span};

/// What is asked of the rows of a path.
pub(super) struct PathRead<'q> {
    pub(super) keys: &'static PathKeys,
    pub(super) given: &'q KeyArgs,
    pub(super) narrowing: Query,
}

/// The tables of the periods of a span of time.
#[derive(Clone)]
pub struct PeriodScan {
    known: Arc<PeriodsShared>,
    /// The times that are wanted: from the first on, up to the one beyond.
    span: Span,
}

impl fmt::Debug for PeriodScan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PeriodScan").field("span", &self.span).finish_non_exhaustive()
    }
}

/// A table, and what is asked of it.
struct PeriodQuery {
    table: DynamicTable,
    scan_ranges: ScanRanges,
}

/// What is read, in which order.
struct Plan {
    asked: Vec<PeriodQuery>,
    /// Whether each table's rows lie behind those of the one before it.
    follow: bool,
    /// What those tables are asked for that have times beyond the span, if there are any.
    at_an_end: Option<AtAnEnd>,
}

/// What a table is asked for that has times beyond the span.
struct AtAnEnd {
    scan_ranges: ScanRanges,
    /// Whether the span bounds the keys, so that no other rows are read.
    is_bound: bool,
}

impl PeriodScan {
    pub(crate) fn new(known: Arc<PeriodsShared>, span: Span) -> Self {
        Self { known, span }
    }

    fn attempted(&self, error: Error) -> Error {
        error.attempted("query").table(self.known.tables.source)
    }

    /// Returns what running a query reads: the ranges of a table at an end of the span, or else of the first, and how many
    /// tables there are.
    #[inline]
    pub(super) fn explain(&self, snapshot: &Snapshot, wanted: &PathRead<'_>) -> Result<Explain> {
        let explain = || {
            let Plan { asked, follow, at_an_end } = self.plan(snapshot, wanted)?;
            let explain = match (&at_an_end, asked.first()) {
                (Some(AtAnEnd { scan_ranges, is_bound: true }), _) => scan_ranges.explain()?,
                (Some(AtAnEnd { scan_ranges, is_bound: false }), _) => {
                    scan_ranges.explain()?.because("the time of the span does not come next in the key")
                }
                (None, Some(first)) => first.scan_ranges.explain()?,
                (None, None) => self.lower(wanted.keys, wanted.given, wanted.narrowing.clone())?.explain()?,
            };
            Ok(explain.in_tables(asked.len(), follow))
        };
        explain().map_err(|error| self.attempted(error))
    }

    /// Returns the rows of a query.
    #[inline]
    pub(super) fn rows(&self, snapshot: &Snapshot, wanted: &PathRead<'_>) -> Result<Across> {
        self.across(snapshot, wanted, None).map_err(|error| self.attempted(error))
    }

    /// Gives `each` a page of the rows, with the table of each.
    #[inline]
    pub(super) fn page(
        &self,
        snapshot: &Snapshot,
        wanted: &PathRead<'_>,
        budget: PageBudget,
        after: Option<&Continuation>,
        each: &mut dyn FnMut(&DynamicTable, &RowView<'_>) -> Result<()>,
    ) -> Result<Option<Continuation>> {
        let mut page = || {
            let meter = PageMeter::begin(&budget)?;
            let PathRead { keys, given, narrowing } = wanted;
            let all = self.lower(keys, given, narrowing.clone())?;
            let seen = self.known.seen(snapshot)?;
            let fingerprint = self.fingerprint(&all, &seen)?;
            let mut remaining = (all.wanted() < u64::MAX).then_some(all.wanted());
            let last = after.map(|token| token.resume(fingerprint)).transpose()?;
            if let Some(Position { remaining: left, .. }) = last {
                remaining = left;
            }
            let last = last.map(|Position { partition, row, .. }| (partition.to_owned(), row.to_owned()));
            let Across { tables, rows } = self.across(snapshot, wanted, last)?;
            let mut each = |_: &crate::row::selection::Selection, view: &RowView<'_>| {
                let table =
                    Across::table(&tables, view).ok_or_else(|| Error::new(ErrorKind::TableNotFound))?;
                each(table, view).map(ControlFlow::Continue)
            };
            let page = DefaultPage { meter, fingerprint, remaining, tests: Vec::new() };
            page.read(snapshot.read_snapshot(), rows, &mut each)
        };
        page().map_err(|error| self.attempted(error))
    }

    /// Returns what binds a token to this query of these periods: no table is named, since they come and go between two pages.
    #[inline]
    fn fingerprint(&self, all: &ScanRanges, seen: &PeriodsSeen) -> Result<u64> {
        let plans = all.queries().iter().map(query::plan).collect::<Result<Vec<_>>>()?;
        let Span { first, beyond } = self.span;
        let source = format!("{} {} {:?}", self.known.tables.source, first.get(), beyond.map(Ticks::get));
        Ok(fingerprint(plans.iter(), 0, seen.store) ^ xxh3_64(source.as_bytes()))
    }

    #[inline]
    fn lower(&self, keys: &'static PathKeys, given: &KeyArgs, narrowing: Query) -> Result<ScanRanges> {
        lowering::lower(keys, given, narrowing, &self.known.template())
    }

    /// Returns the rows, from the start or behind the row of these keys.
    #[inline]
    fn across(
        &self,
        snapshot: &Snapshot,
        wanted: &PathRead<'_>,
        last: Option<(String, String)>,
    ) -> Result<Across> {
        let Plan { asked, follow, .. } = self.plan(snapshot, wanted)?;
        let mut tables: Vec<_> = asked.iter().map(|asked| asked.table.clone()).collect();
        sorting::sort_by_key(&mut tables, |table| table.exec().id());
        let Some(scan_ranges) = asked.first().map(|asked| asked.scan_ranges.clone()) else {
            return Ok(Across { tables, rows: MergeIter::new(Query::new().top(0).into(), Vec::new()) });
        };
        let cursors_of = move |snapshot: &dyn crate::executor::ReadSnapshot, asked: &PeriodQuery| match &last
        {
            None => snapshot.cursors(asked.table.exec(), &asked.scan_ranges),
            Some((partition, row)) => snapshot.cursors_after(
                asked.table.exec(),
                &asked.scan_ranges,
                EntityKeys::new(partition, row),
            ),
        };
        let cursors: Vec<Box<dyn RowCursor>> = if follow {
            let mut left = asked.into_iter();
            let next = move |snapshot: &dyn crate::executor::ReadSnapshot| match left.next() {
                Some(asked) => Ok(cursors_of(snapshot, &asked)?.pop()),
                None => Ok(None),
            };
            vec![Box::new(ConcatIter::new(Box::new(next)))]
        } else {
            let each = asked.iter().map(|asked| cursors_of(snapshot.read_snapshot(), asked));
            let mut each =
                each.collect::<Result<Vec<_>>>()?.into_iter().map(Vec::into_iter).collect::<Vec<_>>();
            // A scan range of every table, and then the next of every table: in the order of their keys the scan range counts first.
            let mut cursors = Vec::new();
            loop {
                let before = cursors.len();
                cursors.extend(each.iter_mut().filter_map(Iterator::next));
                if cursors.len() == before {
                    break cursors;
                }
            }
        };
        Ok(Across { tables, rows: MergeIter::new(scan_ranges, cursors) })
    }

    #[inline]
    fn plan(&self, snapshot: &Snapshot, wanted: &PathRead<'_>) -> Result<Plan> {
        let PathRead { keys, given, narrowing } = wanted;
        let (tables, schema) = (self.known.tables, self.known.schema);
        let mut span = self.span;
        given.narrow_times(tables.field, &mut span);
        let Span { first, beyond } = span;
        let seen = self.known.seen(snapshot)?;
        let start = tables.period.start(first);
        let is_wanted = |begins: &Ticks| *begins >= start && beyond.is_none_or(|beyond| *begins < beyond);
        let time = next_part(keys, given).filter(|next| next.part.field == tables.field);
        let follows = time.as_ref().and_then(|next| direction(next.part, keys));
        let is_bound = time.is_some_and(|next| next.offers_range());
        let plain = self.lower(keys, given, narrowing.clone())?;
        let mut at_an_end = None;
        let mut asked = Vec::new();
        for (begins, exec) in seen.tables.iter().filter(|(begins, _)| is_wanted(begins)) {
            let table = DynamicTable::new(exec.clone());
            match keys.index() {
                Some(index) => snapshot.check_index(&table, schema, index)?,
                None => snapshot.check_rows(&table, schema)?,
            }
            let scan_ranges = if self.span.has(*begins, tables.period.end(*begins)) {
                plain.clone()
            } else if let Some(scan_ranges) = &at_an_end {
                ScanRanges::clone(scan_ranges)
            } else {
                at_an_end.insert(self.lower_end(wanted, span, is_bound)?).clone()
            };
            asked.push(PeriodQuery { table, scan_ranges });
        }
        let follow = follows.is_some() && plain.queries().len() == 1;
        if follow && plain.are_reverse() != follows.is_some_and(|ascending| !ascending) {
            asked.reverse();
        }
        Ok(Plan { asked, follow, at_an_end: at_an_end.map(|scan_ranges| AtAnEnd { scan_ranges, is_bound }) })
    }

    /// Returns what a table is asked for that has times beyond the span: bounds on its keys where the time comes next in them,
    /// and a filter elsewhere.
    #[inline]
    fn lower_end(&self, wanted: &PathRead<'_>, span: Span, is_bound: bool) -> Result<ScanRanges> {
        let PathRead { keys, given, narrowing } = wanted;
        if !is_bound {
            return self.lower(keys, given, self.cut(self.known.schema, narrowing.clone())?);
        }
        let mut given = KeyArgs::clone(given);
        given.bound_times(self.known.tables.field, span.first, span.beyond);
        self.lower(keys, &given, narrowing.clone())
    }

    /// Returns the query, of entities of the span alone.
    #[inline]
    fn cut(&self, schema: &Schema, mut narrowing: Query) -> Result<Query> {
        let property = schema.fields.get(self.known.tables.field).map_or("", |field| field.property);
        let check = |time: Ticks| {
            if time >= Ticks::MIN_PROPERTY {
                return Ok(Value::DateTime(time));
            }
            let because =
                "a part of a period before the year 1601 can't be filtered for: ask for whole periods";
            Err(Error::new(ErrorKind::InvalidQuery).because(because))
        };
        let Span { first, beyond } = self.span;
        if first > Ticks::MIN {
            narrowing = narrowing.filter(declared(property).ge(check(first)?));
        }
        if let Some(beyond) = beyond {
            narrowing = narrowing.filter(declared(property).lt(check(beyond)?));
        }
        Ok(narrowing)
    }
}

/// The part of the keys behind those that are given.
struct Next {
    template: &'static Template,
    /// How many parts of the template stand before it.
    before: usize,
    part: &'static FieldPart,
}

impl Next {
    /// Returns whether a range of its values is a range of keys.
    fn offers_range(&self) -> bool {
        let range = schema::Next::Range(Edge::Open, Edge::Open);
        !self.part.each && schema::unoffered(self.template, self.before, &range).is_none()
    }
}

/// Finds the part of the keys behind those that are given.
#[inline]
fn next_part(keys: &PathKeys, given: &KeyArgs) -> Option<Next> {
    let place = keys.place();
    let width = schema::fields(&place.partition).count();
    let mut ways = [(&place.partition, 0), (&place.row, width)].into_iter();
    ways.find_map(|(template, place)| {
        let before = given.count_fixed(template, place);
        Some(Next { template, before, part: schema::fields(template).nth(before)? })
    })
}

/// Returns whether the text of the part grows with time, so that those of one period lie behind those of another; `None` if
/// they may lie among each other.
#[inline]
fn direction(part: &FieldPart, keys: &PathKeys) -> Option<bool> {
    let tables = keys.schema().periods()?;
    match part.format {
        _ if part.each => None,
        Format::Inverted => Some(false),
        Format::Ticks | Format::Plain => Some(true),
        // As the name of the table has it, and maybe more.
        Format::Time(pattern) => {
            let wanted: &[TimeItem] = match tables.period {
                schema::Period::Year => &[TimeItem::Year],
                schema::Period::Month => &[TimeItem::Year, TimeItem::Month],
                schema::Period::Day => &[TimeItem::Year, TimeItem::Month, TimeItem::Day],
                schema::Period::DayOfYear => &[TimeItem::Year, TimeItem::DayOfYear],
                schema::Period::Hour => &[TimeItem::Year, TimeItem::Month, TimeItem::Day, TimeItem::Hour],
            };
            let printed = pattern.items().filter(|item| !matches!(item, TimeItem::Char(_)));
            wanted.iter().copied().eq(printed.take(wanted.len())).then_some(true)
        }
        _ => None,
    }
}
