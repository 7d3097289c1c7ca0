//! What a scan range asks for, planned: for executors that have no plan of their own.

use std::borrow::Cow;
use std::sync::Arc;

use super::{RowBounds, ScanRanges, opens_as};
use crate::error::{Error, ErrorKind, Result};
use crate::model::{EntityKeys, Ticks, Value, ValueRef};
use crate::query::{self, Fields, Kind, Predicate, Query, QueryPlan, SealedEq};
use crate::row::dict::Dict;
use crate::row::key::{self, StoredRange};
use crate::row::named;
use crate::row::selection::Selection;
use crate::row::view::RowView;
use crate::schema::RowKinds;
use crate::sealing::sign;

/// What a query asks of one table: between which keys its rows lie, and which of them it wants.
///
/// A backend with the rows in their order takes the bytes of the [range](Self::range). One that asks a service takes the
/// [bounds](Self::bounds) and the [kinds](Self::kinds) as texts. Nothing else narrows what is read: properties are compared
/// [here](Self::wants) alone, since a service compares some types, defaults and missing properties in another way.
#[derive(Clone, Debug)]
pub struct RangeQuery {
    plan: QueryPlan,
    table: u32,
    range: Option<StoredRange>,
    /// Whether its rows are tested elsewhere, by properties that it knows nothing of.
    is_unfiltered: bool,
}

impl RangeQuery {
    /// Makes the request for what the query asks of the table of this number.
    pub(super) fn of(query: &Query, table: u32) -> Result<Self> {
        let plan = query::plan(query)?;
        Ok(Self { range: key::range(table, &plan), plan, table, is_unfiltered: false })
    }

    /// Returns the stored keys among which the rows lie, the first and the first beyond, for an executor that has its rows in
    /// their order; `None` if nothing can be there.
    pub fn range(&self) -> Option<(&[u8], &[u8])> {
        self.range.as_ref().map(|(start, end)| (start.as_slice(), end.as_slice()))
    }

    /// Returns whether the rows are wanted from the last to the first.
    pub fn is_reverse(&self) -> bool {
        self.plan.reverse
    }

    /// Returns how many rows may be held to give them from the last to the first, on a store without that order; `None` if that
    /// was not said.
    pub fn buffers(&self) -> Option<usize> {
        self.plan.buffered
    }

    /// Returns the keys among which the rows lie: those of the [range](Self::range), as texts. `None` if nothing can be there.
    pub fn bounds(&self) -> Option<RowBounds> {
        RowBounds::of(self.table, self.range.as_ref()?)
    }

    /// Returns what the rows call themselves that the query looks at; `None` if it looks at all. Some of them are rows of another
    /// version, which are [tested](Self::wants) like the others.
    pub fn kinds(&self) -> Option<RowKinds> {
        self.plan.kind.map(|kind| RowKinds::of_every_version(kind.name))
    }

    /// Returns the names of the properties that the query selects, or tests: a row is to have them as they are stored, and needs
    /// no others beside its keys and its time. `None` if it needs all.
    pub fn properties(&self) -> Option<Vec<&str>> {
        let select = self.plan.select.as_ref()?;
        // A digest is over the whole row, what was converted is made of all properties, and a guard looks at any.
        let is_signed_or_converted = |kind: Kind| kind.is_signed || kind.has_previous();
        if self.is_unfiltered || self.plan.is_guarded() || self.plan.kind.is_some_and(is_signed_or_converted)
        {
            return None;
        }
        let tested = self.plan.predicate.as_ref().map_or(&[][..], Predicate::names);
        let mut names: Vec<&str> =
            select.iter().map(|name| &**name).chain(tested.iter().map(|name| &**name)).collect();
        if let Some(kind) = self.plan.kind {
            let were: Vec<_> = names.iter().filter_map(|name| kind.keys.was(name)).collect();
            names.extend(were);
            names.push("EntityType");
        }
        names.sort_unstable();
        names.dedup();
        Some(names)
    }

    /// Returns how many rows that it [wants](Self::wants) are taken at the most; `None` if all.
    pub fn top(&self) -> Option<usize> {
        self.plan.top
    }

    /// Returns whether rows of the range and the [kinds](Self::kinds) are left out by what they hold.
    pub fn is_filtered(&self) -> bool {
        self.plan.predicate.is_some() || self.plan.is_guarded()
    }

    /// Returns the query of all rows in the range, whatever this one wants of them.
    pub(super) fn unfiltered(&self) -> Self {
        let (plan, range) = (self.plan.unfiltered(), self.range.clone());
        Self { plan, table: self.table, range, is_unfiltered: true }
    }

    /// Returns whether a stored key lies in the range.
    pub(super) fn covers(&self, stored: &[u8]) -> bool {
        self.range.as_ref().is_some_and(|(start, end)| **start <= *stored && *stored < **end)
    }

    /// Returns whether the query wants the row, which lies in the [range](Self::range). A row that lacks the keyed digest of its
    /// kind's is an error.
    pub fn wants(&self, row: &RowView<'_>) -> Result<bool> {
        if let Some(kind) = self.plan.kind
            && row.kind()? != Some(kind.name)
        {
            return self.plan.accepts_other(kind, row);
        }
        if self.plan.kind.is_some_and(|kind| kind.is_signed) && !row.row().is_signed() {
            return Err(sign::unsigned(row));
        }
        if !self.plan.shows(row)? {
            return Ok(false);
        }
        self.plan.check_filter(row)?;
        let names = self.plan.predicate.as_ref().map_or(&[][..], Predicate::names);
        self.plan.accepts(&ByName { row, names, plan: &self.plan })
    }

    /// Returns what of the rows is selected.
    pub(super) fn selection(&self, dict: &Dict) -> Arc<Selection> {
        named::selection(self.plan.select.as_deref(), dict)
    }
}

/// A row as a filter sees it: the filter asks for properties by their names.
struct ByName<'r> {
    row: &'r RowView<'r>,
    names: &'r [crate::model::Name],
    plan: &'r QueryPlan,
}

impl Fields for ByName<'_> {
    fn partition_key(&self) -> Cow<'_, str> {
        self.row.partition_key()
    }

    fn row_key(&self) -> Cow<'_, str> {
        self.row.row_key()
    }

    fn timestamp(&self) -> Ticks {
        self.row.timestamp()
    }

    fn property(&self, slot: usize) -> Result<Option<ValueRef<'_>>> {
        let Some(name) = self.names.get(slot) else { return Ok(None) };
        let found = self.row.get(name)?;
        match self.plan.kind.and_then(|kind| kind.keys.was(name)) {
            Some(was) if found.is_none() => self.row.get(was),
            _ => Ok(found),
        }
    }

    fn property_holds(&self, slot: usize, test: impl FnOnce(Option<ValueRef<'_>>) -> bool) -> Result<bool> {
        if let (Some(kind), Some(name)) = (self.plan.kind, self.names.get(slot))
            && kind.keys.gives(name)
        {
            let value = kind.keys.value(name, &self.row.partition_key(), &self.row.row_key());
            return Ok(test(value.as_ref().map(Value::as_value_ref)));
        }
        self.property(slot).map(test)
    }

    fn opens_as(&self, sealed: &SealedEq) -> Result<bool> {
        opens_as(self.row, self.plan.kind.map(|kind| kind.keys), sealed)
    }
}

impl ScanRanges {
    /// Returns what each scan range asks of the table of this number.
    pub(super) fn range_queries(&self, table: u32) -> Result<Vec<RangeQuery>> {
        self.queries().iter().map(|query| RangeQuery::of(query, table)).collect()
    }
}

/// Returns what binds a token to these queries of a table, in the store of this tag.
pub fn fingerprint<'p, I: Iterator<Item = &'p QueryPlan>>(plans: I, table: u32, store: u64) -> u64 {
    let all = plans.fold(0_u64, |all, plan| all.rotate_left(5) ^ query::fingerprint(plan, table));
    all ^ store
}

/// The stored key after which a scan range goes on, or at which it does; `None` if the scan range has nothing to read.
type Start = Option<(Vec<u8>, bool)>;

/// Returns where each scan range goes on after the row of these keys, at which a page ended. `ranges` are those that the scan
/// ranges began with.
pub fn after_page<'r, R: Iterator<Item = Option<&'r StoredRange>> + Clone>(
    scan_ranges: &ScanRanges,
    table: u32,
    ranges: R,
    last: EntityKeys<'_>,
) -> Result<Vec<Start>> {
    let last = key::stored(table, last.partition, last.row);
    if scan_ranges.queries().len() == 1 {
        return Ok(vec![Some((last, true))]);
    }
    let rest = scan_ranges.rest(&last);
    // Every row of a scan range starts with what its range starts with, as far as the scan ranges differ.
    let head = |range: Option<&StoredRange>| range?.0.get(..last.len() - rest.len()).map(<[u8]>::to_vec);
    let heads = ranges.map(head);
    let came_from = heads.clone().position(|head| head.is_some_and(|head| last.starts_with(&head)));
    let Some(came_from) = came_from else {
        return Err(Error::new(ErrorKind::InvalidContinuation)
            .attempted("read the continuation token")
            .because("the token is of none of the query's shards"));
    };
    let reverse = scan_ranges.are_reverse();
    let go_on = |(scan_range, head): (usize, Option<Vec<u8>>)| {
        let mut row = head?;
        row.extend_from_slice(rest);
        let is_after = super::order(reverse, (rest, scan_range), (rest, came_from)).is_le()
            || scan_ranges.share_rows(scan_range, came_from);
        Some((row, is_after))
    };
    Ok(heads.enumerate().map(go_on).collect())
}

/// Narrows the scan ranges' requests to what comes after a page that ended at the row of these keys.
pub(super) fn go_on(
    scan_ranges: &ScanRanges,
    asked: &mut [RangeQuery],
    table: u32,
    last: EntityKeys<'_>,
) -> Result<()> {
    let starts = after_page(scan_ranges, table, asked.iter().map(|asked| asked.range.as_ref()), last)?;
    for (asked, start) in asked.iter_mut().zip(starts) {
        let Some((row, is_after)) = start else { continue };
        asked.range = key::range_from(asked.table, &asked.plan, row, is_after);
    }
    Ok(())
}

/// Plans each scan range's query.
pub(super) fn plans(asked: &[RangeQuery]) -> impl Iterator<Item = &QueryPlan> {
    asked.iter().map(|asked| &asked.plan)
}
