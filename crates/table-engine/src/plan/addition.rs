//! What a plan adds to the numbers of summaries and of an entity's own row, and to index lists.
//!
//! Nothing is read for it: the executor adds inside its transaction, so two writers that add to one row at one time never
//! conflict.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::content::{Cause, PropertyOf, RowContent, RowKind, RowProperty};
use super::listing::{self, ListBecomes, Listing, TextOf};
use crate::error::{Error, ErrorKind, Result};
use crate::model::names::ENTITY_TYPE;
use crate::model::{Value, ValueRef, body};
use crate::schema::{Absent, LIST_SEPARATOR, List, Schema, Sum, SumOf, Summary, ValueError};
use crate::sorting;

/// What is added to a number of an entity's own row.
#[derive(Clone, Copy)]
pub(crate) struct OwnAdd {
    /// The property.
    pub(crate) property: &'static str,
    /// What stands for it where the row lacks it.
    pub(crate) absent: Option<Absent>,
    /// How much.
    pub(crate) by: i64,
    /// What comes of it, by the type of the field.
    pub(crate) added: fn(Option<ValueRef<'_>>, i64) -> Result<Value, ValueError>,
}

impl fmt::Debug for OwnAdd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnAdd")
            .field("property", &self.property)
            .field("by", &self.by)
            .finish_non_exhaustive()
    }
}

/// What is added to one row: to the numbers of a summary, or of an entity's own; ids to a list.
#[derive(Clone, Debug)]
pub struct Amounts {
    kind: RowKind,
    /// In the order of the summary's numbers. Wider than those: what several entities give and take may meet.
    adds: Vec<i128>,
    /// Whether the summary is being made: then less may be there than is taken. Of a list, whether one that is damaged is
    /// put right.
    is_building: bool,
    /// What is added to an entity's own row; of a summary's nothing.
    own: Arc<[OwnAdd]>,
    /// What is put on a list and taken off it, in the order of the ids; of a summary nothing.
    listings: Vec<Listing>,
}

/// What a plan adds to a row of a summary, wherever that stands.
#[derive(Clone, Debug)]
pub struct Addition<'p> {
    /// The row key.
    pub key: &'p str,
    /// How much.
    pub amounts: Amounts,
    /// Which of the changes it serves, for errors.
    pub of: usize,
}

/// What gives the number that a row has in a property, if it has one.
pub type NumberOf<'n> = &'n mut dyn FnMut(&str) -> Result<Option<i64>>;

impl Amounts {
    /// Returns what an entity gives, with this `content`, and takes back, as it was before; `None` if that is nothing. A bit of
    /// `counted` says whether it counts in a number where a function of the user's says so.
    pub(crate) fn between(
        kind: RowKind,
        gives: Option<(&RowContent<'_>, u64)>,
        takes: Option<(&RowContent<'_>, u64)>,
        is_building: bool,
    ) -> Option<Self> {
        let index = kind.index()?;
        if let Some(list) = index.list {
            return Self::listed(kind, list, gives, takes, is_building);
        }
        let summary = index.summary?;
        let of = |given: Option<(&RowContent<'_>, u64)>, at: usize, sum: &Sum| {
            given.map_or(0, |(content, counted)| of_entity(sum, at, content, counted))
        };
        let sums = summary.sums.iter().enumerate();
        let adds: Vec<_> = sums.map(|(at, sum)| of(gives, at, sum) - of(takes, at, sum)).collect();
        let amounts = Self { kind, adds, is_building, own: Arc::default(), listings: Vec::new() };
        (!amounts.are_nothing()).then_some(amounts)
    }

    /// Puts the entity on a list, or takes it off, or keeps it there by another id. While the list is made it may lack
    /// entities that were there before.
    fn listed(
        kind: RowKind,
        list: List,
        gives: Option<(&RowContent<'_>, u64)>,
        takes: Option<(&RowContent<'_>, u64)>,
        is_building: bool,
    ) -> Option<Self> {
        let id = |given: Option<(&RowContent<'_>, u64)>| given.and_then(|(content, _)| content.id(list));
        let (comes, goes) = (id(gives), id(takes));
        if comes == goes && !is_building {
            return None;
        }
        let comes = comes.map(|id| Listing { id, stays: true });
        let goes = goes.map(|id| Listing { id, stays: false });
        let listings: Vec<_> = comes.into_iter().chain(goes).collect();
        let amounts = Self::listing(kind, &listings, false);
        (!amounts.are_nothing()).then_some(amounts)
    }

    /// Puts these ids on a list, or takes them off; with `mends`, whatever the list says now.
    pub(crate) fn listing(kind: RowKind, listings: &[Listing], mends: bool) -> Self {
        let mut all = Vec::new();
        listing::unite(&mut all, listings);
        Self { kind, adds: Vec::new(), is_building: mends, own: Arc::default(), listings: all }
    }

    /// Says which ids are to be on a list, and which not.
    pub fn of_ids(kind: RowKind, ids: BTreeMap<String, bool>) -> Self {
        let listings = ids.into_iter().map(|(id, stays)| Listing { id, stays }).collect();
        Self { kind, adds: Vec::new(), is_building: false, own: Arc::default(), listings }
    }

    /// Adds so much to make a summary right.
    pub(crate) fn differing(kind: RowKind, adds: Vec<i128>) -> Self {
        Self { kind, adds, is_building: true, own: Arc::default(), listings: Vec::new() }
    }

    /// Adds so much to numbers of an entity's own row.
    pub(crate) fn own(schema: &'static Schema, own: Arc<[OwnAdd]>) -> Self {
        let kind = RowKind { schema, cause: Cause::Entity };
        Self { kind, adds: Vec::new(), is_building: false, own, listings: Vec::new() }
    }

    /// Returns whether it is added to an entity's own row, which must be there, and keeps what nothing is added to.
    pub fn are_own(&self) -> bool {
        !self.own.is_empty()
    }

    /// Returns whether ids are put on a list, or taken off it.
    pub fn are_ids(&self) -> bool {
        !self.listings.is_empty()
    }

    /// Returns what becomes of the list. `old` gives the values of the row that is there, if one is.
    pub fn becomes_of_list(&self, old: Option<TextOf<'_, '_>>) -> Result<ListBecomes> {
        listing::becomes(self.kind.name(), self.name(), &self.listings, self.is_building, old)
    }

    /// Returns the refusal of a [long](ListBecomes::Long) list, from an executor that has no blobs.
    #[cold]
    pub fn no_room(&self) -> Error {
        listing::no_room(self.name())
    }

    /// Returns whether a list is put right, whatever it says.
    pub fn mends(&self) -> bool {
        self.is_building
    }

    /// Returns the ids, and whether they are to be on the list.
    pub fn ids(&self) -> impl Iterator<Item = (&str, bool)> {
        self.listings.iter().map(|listing| (&*listing.id, listing.stays))
    }

    /// Returns the most bytes that a list gets by them.
    pub fn bytes_of_ids(&self) -> usize {
        self.ids().filter(|(_, stays)| *stays).map(|(id, _)| id.len() + LIST_SEPARATOR.len_utf8()).sum()
    }

    /// Returns what is put on a list, and taken off it.
    pub(crate) fn listings(&self) -> &[Listing] {
        &self.listings
    }

    /// Returns what the entity's own row holds of the numbers that are added to, with these amounts added; `old` gives what
    /// it holds of a property.
    pub fn becomes_of_own<'v>(
        &self,
        old: &mut dyn FnMut(&str) -> Result<Option<ValueRef<'v>>>,
    ) -> Result<Vec<(&'static str, Value)>> {
        let mut sums: Vec<(&'static str, Value)> = Vec::with_capacity(self.own.len());
        for add in &*self.own {
            let absent = add.absent.and_then(Absent::value);
            let before =
                sums.iter().find(|(property, _)| *property == add.property).map(|(_, sum)| sum.clone());
            let found = match &before {
                Some(sum) => Some(sum.as_value_ref()),
                None => old(add.property)?,
            };
            let found = found.or_else(|| absent.as_ref().map(Value::as_value_ref));
            let sum = (add.added)(found, add.by).map_err(|error| self.refused(add, &error))?;
            match sums.iter_mut().find(|(property, _)| *property == add.property) {
                Some((_, before)) => *before = sum,
                None => sums.push((add.property, sum)),
            }
        }
        Ok(sums)
    }

    #[cold]
    fn refused(&self, add: &OwnAdd, error: &ValueError) -> Error {
        let kind = if error.is_above() || error.is_below() {
            ErrorKind::ValueOutOfRange
        } else {
            ErrorKind::SchemaMismatch
        };
        let (property, kind_name, by) = (add.property, self.kind.name(), add.by);
        Error::new(kind).because(format!("property `{property}` of the `{kind_name}`, {by} added: {error}"))
    }

    /// Returns how much it is, in the order of the summary's numbers.
    pub(crate) fn adds(&self) -> &[i128] {
        &self.adds
    }

    fn are_nothing(&self) -> bool {
        self.adds.iter().all(|add| *add == 0) && self.listings.is_empty()
    }

    /// Returns which rows of the entities' declaration it is added to.
    pub fn kind(&self) -> RowKind {
        self.kind
    }

    fn summary(&self) -> Summary {
        const NOTHING: Summary = Summary::new(&Schema::NOTHING, &[]);
        self.kind.index().and_then(|index| index.summary).unwrap_or(NOTHING)
    }

    /// Returns the kind of the row as its own struct declares it; of a list no struct does.
    pub fn row_kind(&self) -> Option<RowKind> {
        if self.are_ids() {
            return None;
        }
        if self.are_own() {
            return Some(self.kind);
        }
        Some(RowKind { schema: self.summary().schema, cause: Cause::Entity })
    }

    /// Returns the name of the summary, or of the list.
    pub(crate) fn name(&self) -> &'static str {
        match self.kind.index() {
            Some(index) if self.are_ids() => index.name,
            _ => self.kind.name(),
        }
    }

    /// Returns the text of the row's `EntityType`.
    pub fn kind_name(&self) -> &'static str {
        self.kind.name()
    }

    /// Returns the properties of the row with these amounts added; `None` if nothing is left of it. `old` gives the numbers
    /// of the row that is there, if one is.
    pub fn becomes(&self, old: Option<NumberOf<'_>>) -> Result<Option<Vec<RowProperty<'static>>>> {
        let summary = self.summary();
        let mut old = old;
        let mut properties = vec![(ENTITY_TYPE, ValueRef::String(self.kind.name()))];
        let mut is_left = false;
        for (sum, add) in summary.sums.iter().zip(&self.adds) {
            let before = match &mut old {
                Some(number) => number(sum.property)?.unwrap_or_default(),
                None => 0,
            };
            let after = i128::from(before) + add;
            let is_count = !matches!(sum.of, SumOf::Field(_));
            if is_count && after < 0 && !self.is_building {
                return Err(self.lacks(sum));
            }
            let after = i64::try_from(after).map_err(|_| self.overflows(sum))?;
            is_left |= after != 0;
            properties.push((sum.property, ValueRef::Int64(after)));
        }
        Ok(is_left.then_some(properties))
    }

    #[cold]
    fn lacks(&self, sum: &Sum) -> Error {
        Error::new(ErrorKind::Corrupt).because(format!(
            "the summary `{}` has counted fewer entities in `{}` than are taken out of it; `Table::repair` of `{}` counts anew",
            self.kind.name(),
            sum.property,
            self.kind.schema.kind
        ))
    }

    #[cold]
    fn overflows(&self, sum: &Sum) -> Error {
        Error::new(ErrorKind::ValueOutOfRange).because(format!(
            "`{}` of the summary `{}` would be more than an Edm.Int64 holds",
            sum.property,
            self.kind.name()
        ))
    }

    /// Returns the error of a row in the place of a summary's that is none of its rows.
    #[cold]
    pub fn is_another(&self) -> Error {
        if self.are_own() {
            return Error::new(ErrorKind::SchemaMismatch)
                .because(format!("the row is of another kind than `{}`", self.kind.name()));
        }
        let what = if self.are_ids() { "the list" } else { "the summary" };
        Error::new(ErrorKind::Corrupt)
            .because(format!("the row in the place of one of {what} `{}` is of another kind", self.name()))
    }
}

/// Returns what an entity gives to a number.
fn of_entity(sum: &Sum, at: usize, content: &RowContent<'_>, counted: u64) -> i128 {
    let bit = || u32::try_from(at).ok().and_then(|at| 1_u64.checked_shl(at)).unwrap_or_default();
    match sum.of {
        SumOf::Count => 1,
        SumOf::CountWhen => i128::from(counted & bit() != 0),
        SumOf::Field(field) => {
            let value = content.get(PropertyOf::Field(field)).and_then(ValueRef::as_i64);
            // A row that lacks a field that has a default reads as if it had that.
            let absent = || content.kind.schema.fields.get(field)?.absent?.value()?.as_i64();
            value.or_else(absent).map_or(0, i128::from)
        }
    }
}

impl Addition<'_> {
    /// Returns the table that the row is declared to lie in.
    pub(super) fn table(&self) -> &'static str {
        self.amounts.kind.place().table.source()
    }

    /// Returns how many bytes it takes in the body of a request, as a merge of the row.
    pub fn body(&self, table: &str, partition: &str) -> usize {
        let own = self.amounts.own.iter().map(|add| add.property);
        let sums = self.amounts.summary().sums.iter().map(|sum| sum.property).chain(own);
        let sums = sums.map(|property| (property, ValueRef::Int64(i64::MIN)));
        let kind = (ENTITY_TYPE, ValueRef::String(self.amounts.kind.name()));
        let ids = self.amounts.listings.iter().map(|listing| ("Ids", ValueRef::String(&listing.id)));
        let sums = sums.chain(ids);
        body::operation(table, partition, self.key, body::Kind::Write(std::iter::once(kind).chain(sums)))
    }
}

/// Adds up what is for one row, in the order of their keys; what comes to nothing goes.
pub(super) fn add_up(additions: &mut Vec<Addition<'_>>) {
    sorting::sort_by(additions, |a, b| {
        a.key.cmp(b.key).then_with(|| a.amounts.kind.name().cmp(b.amounts.kind.name()))
    });
    additions.dedup_by(|next, first| {
        let is_one = next.key == first.key && next.amounts.kind.name() == first.amounts.kind.name();
        if is_one {
            for (sum, add) in first.amounts.adds.iter_mut().zip(&next.amounts.adds) {
                *sum += add;
            }
            listing::unite(&mut first.amounts.listings, &next.amounts.listings);
        }
        is_one
    });
    additions.retain(|addition| !addition.amounts.are_nothing());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{Index, Place};

    const SUMS: &[Sum] = &[Sum::new("Count", SumOf::Count), Sum::new("Sum", SumOf::Field(0))];
    const INDEXES: &[Index] =
        &[Index::new("total", "total", Place::NOWHERE).summary(Summary::new(&Schema::NOTHING, SUMS))];
    const SOURCE: &Schema = &Schema::new(["One", "one"], &[], &[Place::NOWHERE]).indexes(INDEXES);

    fn amounts(adds: [i128; 2], is_building: bool) -> Amounts {
        let kind = RowKind { schema: SOURCE, cause: Cause::Index(0) };
        Amounts { kind, adds: adds.to_vec(), is_building, own: Arc::default(), listings: Vec::new() }
    }

    /// Returns the numbers of a row with these after this was added to it.
    fn added(old: Option<[i64; 2]>, adds: [i128; 2], is_building: bool) -> Result<Option<[i64; 2]>> {
        let amounts = amounts(adds, is_building);
        let becomes = match old {
            None => amounts.becomes(None),
            Some([count, sum]) => {
                amounts.becomes(Some(&mut |name: &str| Ok(Some(if name == "Count" { count } else { sum }))))
            }
        };
        let number = |value: Option<&RowProperty<'_>>| value.and_then(|(_, value)| value.as_i64()).unwrap();
        Ok(becomes?.map(|row| [number(row.get(1)), number(row.get(2))]))
    }

    #[test]
    fn a_row_comes_with_the_first_and_goes_with_the_last() {
        assert_eq!(added(None, [1, 5], false).unwrap(), Some([1, 5]));
        assert_eq!(added(Some([1, 5]), [2, -7], false).unwrap(), Some([3, -2]));
        assert_eq!(added(Some([3, -2]), [-3, 2], false).unwrap(), None);
        assert_eq!(added(None, [0, 0], false).unwrap(), None);
    }

    #[test]
    fn a_number_stays_within_its_bounds_and_a_count_above_zero() {
        let max = i128::from(i64::MAX);
        assert_eq!(added(Some([1, 0]), [0, max], false).unwrap(), Some([1, i64::MAX]));
        for (old, adds) in [([1, 1], [0, max]), ([1, -2], [0, -max]), ([i64::MAX, 0], [1, 0])] {
            let error = added(Some(old), adds, true).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::ValueOutOfRange, "{old:?} {adds:?}");
        }
        assert_eq!(added(Some([1, 0]), [-2, 0], false).unwrap_err().kind(), ErrorKind::Corrupt);
        assert_eq!(added(None, [-1, 0], false).unwrap_err().kind(), ErrorKind::Corrupt);
        // While it is made, entities that are not counted yet are taken out.
        assert_eq!(added(None, [-1, -5], true).unwrap(), Some([-1, -5]));
    }

    #[test]
    fn what_is_for_one_row_adds_up_and_nothing_is_left_out() {
        let of = |key, adds, of| Addition { key, amounts: amounts(adds, false), of };
        let mut all = vec![
            of("b", [1, 2], 0),
            of("a", [1, 1], 1),
            of("b", [1, i128::from(i64::MAX)], 2),
            of("c", [1, 7], 3),
            of("c", [-1, -7], 4),
        ];
        add_up(&mut all);
        let found: Vec<_> = all.iter().map(|one| (one.key, one.amounts.adds().to_vec(), one.of)).collect();
        assert_eq!(found, [("a", vec![1, 1], 1), ("b", vec![2, 2 + i128::from(i64::MAX)], 0)]);
    }
}
