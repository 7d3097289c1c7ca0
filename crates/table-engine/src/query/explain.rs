//! What a query reads, in words.

use std::fmt;

use super::compare::Operator;
use super::filter::Filter;
use super::node::{Join, Node};
use super::plan::{QueryPlan, is_key};
use crate::model::names::ENTITY_TYPE;

/// How much a query reads, from the least to the most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum QueryClass {
    /// No row: the bounds contradict each other, or no entity is asked for.
    Nothing,
    /// One row: both keys are given.
    Point,
    /// Rows of one partition that lie side by side.
    Range,
    /// Every row of one partition.
    PartitionScan,
    /// Rows of several partitions: those in a range of partition keys, or all. The service calls either a table
    /// scan, since a range of partitions may lie on any number of servers.
    TableScan,
}

/// `partition scan`.
impl fmt::Display for QueryClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nothing => "nothing",
            Self::Point => "point read",
            Self::Range => "range",
            Self::PartitionScan => "partition scan",
            Self::TableScan => "table scan",
        })
    }
}

/// What running a query will read: its class, its bounds, what is left to filter, and why. Its `Display` says it
/// all in a line.
///
/// ```
/// use table_core::query::QueryClass;
/// use table_core::{Filter, Query};
///
/// let filter = Filter::parse("PartitionKey eq 'Sales' and (RowKey eq 'a' or RowKey eq 'b')")?;
/// let explain = Query::new().filter(filter).explain()?;
/// assert_eq!(explain.class(), QueryClass::PartitionScan);
/// assert_eq!(explain.partition(), "\"Sales\"");
/// assert_eq!(
///     explain.to_string(),
///     "partition scan of \"Sales\"; filter: RowKey eq 'a' or RowKey eq 'b'; \
///      why: `or` between keys is no range"
/// );
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explain {
    class: QueryClass,
    partition: String,
    row: String,
    /// The ends of a range over pairs of keys that lie inside a partition of several.
    pairs: Option<String>,
    /// `row` or `rows`, if they are to be filtered.
    row_filter: Option<&'static str>,
    filter: Option<String>,
    reasons: Vec<&'static str>,
    select: Option<Vec<Box<str>>>,
    top: Option<usize>,
    reverse: bool,
    /// How many ranges like this one are merged.
    merged: usize,
    looks_up: bool,
    /// How many parts of each wide entity are read, and whether before the filter is asked.
    parts: usize,
    asks_parts: bool,
    /// Of a kind with a table for each period: how many tables are read, and whether one after another.
    tables: Option<(usize, bool)>,
}

impl Explain {
    #[inline]
    pub(super) fn new(plan: &QueryPlan) -> Self {
        let (partition, row) = plan.within.ranges();
        let rows = if row.as_point().is_some() { "row" } else { "rows" };
        Self {
            class: plan.class,
            partition: partition.to_string(),
            row: row.to_string(),
            pairs: plan.pairs.as_ref().map(ToString::to_string),
            row_filter: plan.row_residual.then_some(rows),
            filter: filter(plan),
            reasons: reasons(plan),
            select: plan.select.clone(),
            top: plan.top,
            reverse: plan.reverse,
            merged: 1,
            looks_up: false,
            parts: 0,
            asks_parts: false,
            tables: None,
        }
    }

    /// Notes that so many ranges like this one are read, and merged by what follows the shard, or the token, in their keys.
    pub(crate) fn merged(mut self, ranges: usize, top: Option<usize>) -> Self {
        self.merged = ranges;
        self.top = top;
        self
    }

    /// Notes that the entity that a row is a copy of is read after the row.
    pub(crate) fn looking_up(mut self) -> Self {
        self.looks_up = true;
        self
    }

    /// Notes that so many parts of each wide entity are read; `asked`, if that is before the filter is asked.
    pub(crate) fn with_parts(mut self, parts: usize, asked: bool) -> Self {
        (self.parts, self.asks_parts) = (parts, asked);
        self
    }

    /// Notes that so many tables are read, each for a period: one after another, or merged.
    pub(crate) fn in_tables(mut self, tables: usize, follow: bool) -> Self {
        self.tables = Some((tables, follow));
        self
    }

    /// Adds why no less is read.
    pub(crate) fn because(mut self, reason: &'static str) -> Self {
        self.reasons.push(reason);
        self
    }

    /// Returns how much is read.
    pub fn class(&self) -> QueryClass {
        self.class
    }

    /// Returns the partitions, for people: `"Sales"`, `from "A" before "B"`, `starting with "S"`, `all`, `none`.
    pub fn partition(&self) -> &str {
        &self.partition
    }

    /// Returns the rows, for people. Over several partitions they are no bound: every row is read, and these are kept.
    pub fn row(&self) -> &str {
        &self.row
    }

    /// Returns what each row that is read is tested for, as a filter's text: that part of the filter that bounds on the
    /// keys do not say.
    pub fn filter(&self) -> Option<&str> {
        self.filter.as_deref()
    }

    /// Returns how many ranges are read, one for each shard or token, and merged. The bounds are those of the first.
    pub fn ranges(&self) -> usize {
        self.merged
    }

    /// Returns how many tables are read: one, or that of each period that there is in the span of a query over periods.
    pub fn tables(&self) -> usize {
        self.tables.map_or(1, |(tables, _)| tables)
    }

    /// Returns how many parts of each wide entity are read besides its head, by key.
    pub fn parts(&self) -> usize {
        self.parts
    }

    /// Returns whether each row that is found costs a further read, by key: that of the entity it is a copy of.
    pub fn looks_up(&self) -> bool {
        self.looks_up
    }

    /// Returns why no less is read; empty for a point and a range that leave nothing to say.
    pub fn reasons(&self) -> &[&'static str] {
        &self.reasons
    }
}

/// Returns what is left to filter, the kind of the rows first.
#[inline]
fn filter(plan: &QueryPlan) -> Option<String> {
    let kind = plan.kind.map(|kind| format!("{ENTITY_TYPE} eq '{}'", kind.name.replace('\'', "''")));
    match (kind, &plan.residual) {
        (Some(kind), Some(filter)) if matches!(filter.node(), Node::Join(Join::Or, _)) => {
            Some(format!("{kind} and ({filter})"))
        }
        (Some(kind), Some(filter)) => Some(format!("{kind} and {filter}")),
        (kind, filter) => kind.or_else(|| filter.as_ref().map(ToString::to_string)),
    }
}

#[inline]
fn reasons(plan: &QueryPlan) -> Vec<&'static str> {
    let mut reasons = Vec::new();
    if plan.class == QueryClass::Nothing {
        reasons.push(if plan.top == Some(0) { "no entity is asked for" } else { "the bounds leave no key" });
        return reasons;
    }
    if plan.class == QueryClass::TableScan && plan.row_residual {
        reasons.push("row keys are a bound only within one partition");
    }
    if let Some(filter) = &plan.residual {
        left_over(filter, &mut reasons);
    }
    if reasons.is_empty() {
        match plan.class {
            QueryClass::TableScan if plan.is_of_whole_table() => {
                reasons.push("no partition key is given");
            }
            QueryClass::TableScan => reasons.push("the partition keys are a range"),
            QueryClass::PartitionScan => reasons.push("no row key is given"),
            _ => {}
        }
    }
    reasons
}

/// Adds why the terms that speak of keys are no bounds.
#[inline]
fn left_over(filter: &Filter, reasons: &mut Vec<&'static str>) {
    let mut term = |node: &Node| {
        let (mut keys, mut others) = (false, false);
        node.each_name(&mut |name| if is_key(name) { keys = true } else { others = true });
        if !keys {
            return;
        }
        let reason = match node {
            Node::Compare(comparison) if comparison.operator == Operator::Ne => {
                "`ne` on a key leaves two ranges"
            }
            Node::Join(Join::Or, _) if others => "`or` between keys and properties is no range",
            Node::Join(Join::Or, _) => "`or` between keys is no range",
            Node::Not(_) => "`not` over keys and properties together is no range",
            _ => return,
        };
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    };
    match filter.node() {
        Node::Join(Join::And, terms) => terms.iter().for_each(term),
        node => term(node),
    }
}

impl fmt::Display for Explain {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { class, partition, row, .. } = self;
        match class {
            QueryClass::Nothing => write!(f, "{class}")?,
            QueryClass::Point => write!(f, "{class} of {partition}, {row}")?,
            QueryClass::Range => write!(f, "{class} of {partition}, rows {row}")?,
            QueryClass::PartitionScan => write!(f, "{class} of {partition}")?,
            QueryClass::TableScan if partition == "all" => write!(f, "{class}")?,
            QueryClass::TableScan => write!(f, "{class} of partitions {partition}")?,
        }
        if let Some(pairs) = self.pairs.as_ref().filter(|_| *class == QueryClass::TableScan) {
            write!(f, ", pairs {pairs}")?;
        }
        if *class != QueryClass::Nothing {
            match (self.row_filter, &self.filter) {
                (Some(rows), Some(filter)) => write!(f, "; filter: {rows} {row}, and {filter}")?,
                (Some(rows), None) => write!(f, "; filter: {rows} {row}")?,
                (None, Some(filter)) => write!(f, "; filter: {filter}")?,
                (None, None) => {}
            }
            match self.tables {
                Some((0, _)) => f.write_str("; in no table: there is none for these times")?,
                Some((1, _)) => f.write_str("; in one table")?,
                Some((tables, true)) => write!(f, "; in {tables} tables, one after another")?,
                Some((tables, false)) => write!(f, "; in {tables} tables, merged")?,
                None => {}
            }
            match self.select.as_deref() {
                None => {}
                Some([]) => f.write_str("; keys alone")?,
                Some(names) => write!(f, "; select: {}", names.join(", "))?,
            }
            if self.merged > 1 {
                write!(f, "; with {} more ranges like it, merged", self.merged - 1)?;
            }
            if self.looks_up {
                f.write_str("; then a point read of each entity")?;
            }
            if self.parts > 0 {
                let parts = if self.parts == 1 { "part" } else { "parts" };
                let before = if self.asks_parts { ", before the filter" } else { "" };
                write!(f, "; with point reads of {} {parts} of each{before}", self.parts)?;
            }
            if self.reverse {
                f.write_str("; descending")?;
            }
            if let Some(top) = self.top {
                write!(f, "; top {top}")?;
            }
        }
        if !self.reasons.is_empty() {
            write!(f, "; why: {}", self.reasons.join(", "))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Query, prop};
    use super::*;

    fn explained(query: &Query) -> String {
        query.explain().unwrap().to_string()
    }

    fn filtered(text: &str) -> String {
        explained(&Query::new().filter(Filter::parse(text).unwrap()))
    }

    #[test]
    fn every_class_says_what_and_why() {
        for (text, expected) in [
            ("PartitionKey eq 'p' and RowKey eq 'r'", "point read of \"p\", \"r\""),
            (
                "RowKey ge 'a' and RowKey lt 'b' and PartitionKey eq 'p'",
                "range of \"p\", rows from \"a\" before \"b\"",
            ),
            (
                "PartitionKey eq 'Sales' and Age ge 40",
                "partition scan of \"Sales\"; filter: Age ge 40; why: no row key is given",
            ),
            ("Age ge 40", "table scan; filter: Age ge 40; why: no partition key is given"),
            (
                "PartitionKey ge 'a' and PartitionKey lt 'b'",
                "table scan of partitions from \"a\" before \"b\"; why: the partition keys are a range",
            ),
            (
                "RowKey eq 'r' and Age ge 40",
                "table scan; filter: row \"r\", and Age ge 40; why: row keys are a bound only within one partition",
            ),
            (
                "PartitionKey eq 'a' or PartitionKey eq 'b'",
                "table scan; filter: PartitionKey eq 'a' or PartitionKey eq 'b'; why: `or` between keys is no range",
            ),
            (
                "PartitionKey eq 'p' and (RowKey eq 'a' or A eq 1)",
                "partition scan of \"p\"; filter: RowKey eq 'a' or A eq 1; \
                 why: `or` between keys and properties is no range",
            ),
            (
                "PartitionKey eq 'p' and RowKey ne 'a' and RowKey gt ''",
                "range of \"p\", rows after \"\"; filter: RowKey ne 'a'; why: `ne` on a key leaves two ranges",
            ),
            (
                "PartitionKey eq 'p' and not (RowKey eq 'a' and A eq 1)",
                "partition scan of \"p\"; filter: not (RowKey eq 'a' and A eq 1); \
                 why: `not` over keys and properties together is no range",
            ),
            ("PartitionKey eq 'a' and PartitionKey eq 'b'", "nothing; why: the bounds leave no key"),
            ("PartitionKey eq 1", "nothing; why: the bounds leave no key"),
        ] {
            assert_eq!(filtered(text), expected, "{text}");
        }
    }

    #[test]
    fn the_rest_of_the_query_is_told() {
        let query = Query::new().partition("p").row_prefix("r").top(3).rev();
        assert_eq!(
            explained(&query.clone().select(["A", "B", "RowKey", "A"])),
            "range of \"p\", rows starting with \"r\"; select: A, B; descending; top 3"
        );
        assert_eq!(
            explained(&query.clone().rev().select([""; 0]).filter(prop("A").eq(1))),
            "range of \"p\", rows starting with \"r\"; filter: A eq 1; keys alone; top 3"
        );
        assert_eq!(explained(&query.top(0)), "nothing; why: no entity is asked for");
    }

    #[test]
    fn nothing_has_no_bounds_to_show() {
        let explain = Query::new().partition("a").partition("b").explain().unwrap();
        assert_eq!((explain.class(), explain.partition()), (QueryClass::Nothing, "none"));
    }
}
