//! From a query to bounds on the keys and a predicate for the rest.

use std::sync::Arc;

use super::bounds::KeyRange;
use super::builder::Query;
use super::compare::of_other_type;
use super::eval::{Fields, Predicate};
use super::explain::{Explain, QueryClass};
use super::filter::Filter;
use super::guard::FilterGuard;
use super::keys::Kind;
use super::narrowing::{PairEnd, Visible};
use super::node::{Comparison, Join, Node};
use super::pairs::PairRange;
use super::within::{PrintedRows, Within};
use crate::error::{Error, ErrorKind};
use crate::model::{Value, names};
use crate::row::view::RowView;

/// Most names in a select.
const SELECTED: usize = 255;

/// A query as an executor runs it.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct QueryPlan {
    /// The range of row keys bounds what is read if the partition is a point; otherwise `row_residual` says whether it is to
    /// be tested.
    pub within: Within,
    /// The ends of a range over pairs of keys that lie inside a partition of several.
    pub(crate) pairs: Option<PairRange>,
    pub(crate) row_residual: bool,
    /// The part of the filter that the bounds do not say.
    pub(crate) residual: Option<Filter>,
    pub predicate: Option<Predicate>,
    /// Distinct names of properties, keys and timestamp aside; `None` is all.
    pub select: Option<Vec<Box<str>>>,
    pub top: Option<usize>,
    pub reverse: bool,
    /// How many rows a store without a descending order may hold.
    pub buffered: Option<usize>,
    pub(crate) class: QueryClass,
    /// If set, rows of any other kind are left out.
    pub kind: Option<Kind>,
    /// What may refuse that the filter looks at a row.
    guard: Option<Arc<dyn FilterGuard>>,
    /// What the reader may see.
    visible: Visible,
}

/// Plans a query. The plan is pure, and the same for every backend.
#[doc(hidden)]
pub fn plan(query: &Query) -> Result<QueryPlan, Error> {
    planned(query).map_err(|error| error.attempted("plan the query"))
}

fn planned(query: &Query) -> Result<QueryPlan, Error> {
    let (within, residual) = match (&query.filter, &query.within) {
        (None, within) => (within.clone(), None),
        (Some(filter), within) => {
            filter.check()?;
            let (partition, row) = within.ranges();
            let mut narrowed =
                Narrowed { partition: partition.into_owned(), row: row.into_owned(), residual: None };
            narrowed.by(filter.node(), false);
            (Within::Ranges(narrowed.partition, narrowed.row), narrowed.residual)
        }
    };
    let (within, pairs) = match PairRange::all_of(&query.pairs)? {
        None => (within, None),
        Some(pairs) => {
            let (partition, row) = within.ranges();
            let (partition, row, pairs) = pairs.narrow(partition.into_owned(), row.into_owned());
            (Within::Ranges(partition, row), pairs)
        }
    };
    let (class, row_residual) = match &within {
        Within::Ranges(partition, row) => {
            let is_residual = partition.as_point().is_none() && !row.is_all();
            (class(partition, row), is_residual)
        }
        Within::Printed(printed) => {
            let class = match printed.rows() {
                PrintedRows::One => QueryClass::Point,
                PrintedRows::Starting if printed.keys().1.is_empty() => QueryClass::PartitionScan,
                PrintedRows::Starting | PrintedRows::Between(..) => QueryClass::Range,
            };
            (class, false)
        }
    };
    Ok(QueryPlan {
        row_residual,
        predicate: residual.as_ref().map(Predicate::new).transpose()?,
        select: query.select.as_deref().map(selected).transpose()?,
        top: query.top,
        reverse: query.reverse,
        buffered: query.buffered,
        within,
        pairs,
        residual,
        class: if query.top == Some(0) { QueryClass::Nothing } else { class },
        kind: query.kind,
        guard: query.guard.clone(),
        visible: query.visible.clone(),
    })
}

fn class(partition: &KeyRange, row: &KeyRange) -> QueryClass {
    if partition.is_empty() || row.is_empty() {
        QueryClass::Nothing
    } else if partition.as_point().is_none() {
        QueryClass::TableScan
    } else if row.as_point().is_some() {
        QueryClass::Point
    } else if row.is_all() {
        QueryClass::PartitionScan
    } else {
        QueryClass::Range
    }
}

fn selected(names: &[Box<str>]) -> Result<Vec<Box<str>>, Error> {
    if names.len() > SELECTED {
        return Err(Error::new(ErrorKind::InvalidQuery)
            .because(format!("the select has {} names; it may have {SELECTED}", names.len())));
    }
    let mut selected: Vec<Box<str>> = Vec::with_capacity(names.len());
    for name in names {
        if names::SYSTEM.contains(&&**name) || selected.contains(name) {
            continue;
        }
        names::check_property(name)?;
        selected.push(name.clone());
    }
    Ok(selected)
}

/// Bounds, and the rest of a filter beside them.
struct Narrowed {
    partition: KeyRange,
    row: KeyRange,
    residual: Option<Filter>,
}

impl Narrowed {
    /// Takes in a term of the top-level `and` chain. A negated `or` is a chain of negations: every condition is
    /// either true or false, so De Morgan's law holds where inverting a comparison would not.
    fn by(&mut self, node: &Node, negated: bool) {
        match node {
            Node::Not(inner) => self.by(inner, !negated),
            Node::Join(join, terms) if (*join == Join::And) != negated => {
                for term in terms {
                    self.by(term, negated);
                }
            }
            Node::Compare(comparison) if is_key(&comparison.property) => self.by_key(comparison, negated),
            // A key is text, never a truth.
            Node::IsTrue(comparison) if is_key(&comparison.property) => self.by_constant(negated),
            node => self.leave(Filter::from_node(node.clone()), negated),
        }
    }

    /// A key is always there and always text: its comparison with text can be inverted, and one with anything
    /// else is the same for all.
    fn by_key(&mut self, comparison: &Comparison, negated: bool) {
        let Value::String(text) = &comparison.constant else {
            return self.by_constant(of_other_type(comparison.operator, comparison.rule) != negated);
        };
        let operator = if negated { comparison.operator.negated() } else { comparison.operator };
        let Some(range) = KeyRange::comparing(operator, text) else {
            let filter = Filter::compare(
                comparison.property.clone(),
                operator,
                comparison.constant.clone(),
                comparison.rule,
            );
            return self.leave(filter, false);
        };
        let bounds =
            if &*comparison.property == "PartitionKey" { &mut self.partition } else { &mut self.row };
        let known = std::mem::replace(bounds, KeyRange::all());
        *bounds = known.intersect(range);
    }

    fn by_constant(&mut self, truth: bool) {
        if !truth {
            self.partition = KeyRange::none();
        }
    }

    fn leave(&mut self, filter: Filter, negated: bool) {
        let filter = if negated { !filter } else { filter };
        self.residual = Some(match self.residual.take() {
            Some(residual) => residual & filter,
            None => filter,
        });
    }
}

pub(super) fn is_key(name: &str) -> bool {
    matches!(name, "PartitionKey" | "RowKey")
}

impl QueryPlan {
    /// Returns the keys that are asked for, or `None` if there is nothing to read. The range of row keys counts only where the
    /// partition is a point.
    pub(crate) fn bounds(&self) -> Option<&Within> {
        (self.class != QueryClass::Nothing).then_some(&self.within)
    }

    /// Returns whether every row of the table lies in the bounds.
    pub fn is_of_whole_table(&self) -> bool {
        self.within.has_all_partitions() && self.pairs.is_none()
    }

    /// Returns the plan that wants all rows in the bounds.
    pub(crate) fn unfiltered(&self) -> Self {
        let (residual, predicate, kind, guard) = (None, None, None, None);
        // The limit is of rows that are tested elsewhere.
        Self { row_residual: false, residual, predicate, kind, guard, top: None, ..self.clone() }
    }

    /// Returns whether a row may be refused by what it has.
    pub(crate) fn is_guarded(&self) -> bool {
        self.guard.is_some()
    }

    /// Returns whether there are rows in the range that its reader may not see.
    #[inline]
    pub fn is_narrowed(&self) -> bool {
        self.visible.is_narrowed()
    }

    /// Returns whether there is more to a row's belonging to the answer than its lying in the range.
    pub fn is_filtered(&self) -> bool {
        self.has_conditions() || self.visible.is_narrowed()
    }

    /// Returns whether the query itself says more than the range.
    pub(crate) fn has_conditions(&self) -> bool {
        self.row_residual || self.predicate.is_some()
    }

    /// Returns whether it reads every row that the table has.
    pub fn reads_all(&self) -> bool {
        self.is_of_whole_table() && !self.visible.is_narrowed()
    }

    /// Returns the ends of the range to which it is narrowed.
    pub(crate) fn ends(&self) -> [Option<PairEnd<'_>>; 2] {
        self.visible.ends()
    }

    /// Returns whether there is such a row for the reader.
    #[inline]
    pub fn shows(&self, row: &RowView<'_>) -> Result<bool, Error> {
        self.visible.shows(row)
    }

    /// Returns whether a row from the range belongs to the answer.
    pub fn accepts<F: Fields>(&self, fields: &F) -> Result<bool, Error> {
        if self.row_residual && !self.within.ranges().1.contains(&fields.row_key()) {
            return Ok(false);
        }
        match &self.predicate {
            Some(predicate) => predicate.matches(fields),
            None => Ok(true),
        }
    }

    /// Refuses a row whose properties the filter may not look at.
    pub fn check_filter(&self, row: &RowView<'_>) -> Result<(), Error> {
        match (&self.guard, &self.predicate) {
            (Some(guard), Some(predicate)) => guard.check(row, predicate.names()),
            _ => Ok(()),
        }
    }

    #[inline]
    pub fn explain(&self) -> Explain {
        Explain::new(self)
    }
}
