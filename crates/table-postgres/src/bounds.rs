//! A range of keys as a condition of SQL.

use std::ops::Bound;

use table_engine::__executor::{RowBound, RowBounds};

use crate::keys::escape;
use crate::param::{Param, Params};

/// An end of the rows that a query reads, by their stored keys.
#[derive(Clone, Debug, PartialEq, Eq)]
enum End {
    Open,
    Partition(Bound<String>),
    Row { partition: String, row: Bound<String> },
}

/// The rows between two ends.
#[derive(Clone, Debug)]
pub(crate) struct Bounds {
    lower: End,
    upper: End,
}

impl Bounds {
    pub(crate) fn of(bounds: &RowBounds) -> Self {
        Self { lower: end(&bounds.lower), upper: end(&bounds.upper) }
    }

    /// Begins behind the row of these stored keys.
    pub(crate) fn begin_behind(&mut self, partition: String, row: String) {
        self.lower = End::Row { partition, row: Bound::Excluded(row) };
    }

    /// Ends before the row of these stored keys.
    pub(crate) fn end_before(&mut self, partition: String, row: String) {
        self.upper = End::Row { partition, row: Bound::Excluded(row) };
    }

    /// Returns the stored key of the partition, if both ends lie in one.
    pub(crate) fn partition(&self) -> Option<&str> {
        fn lies_in(end: &End) -> Option<&str> {
            match end {
                End::Row { partition, .. } | End::Partition(Bound::Included(partition)) => Some(partition),
                End::Open | End::Partition(_) => None,
            }
        }
        let (first, last) = (lies_in(&self.lower)?, lies_in(&self.upper)?);
        (first == last).then_some(first)
    }

    /// Returns the condition on the columns `pk` and `rk`, whose values are added to the parameters, and the columns by which
    /// the rows lie in their order.
    pub(crate) fn condition(&self, params: &mut Params) -> (String, &'static [&'static str]) {
        if let Some(partition) = self.partition() {
            let mut condition = format!("pk = {}", params.add(Param::Text(partition.to_owned())));
            for (end, side) in [(&self.lower, Side::Lower), (&self.upper, Side::Upper)] {
                if let End::Row { row, .. } = end
                    && let Some((row, sign)) = side.of(row)
                {
                    condition += &format!(" AND rk {sign} {}", params.add(Param::Text(row.to_owned())));
                }
            }
            return (condition, &["rk"]);
        }
        let mut conditions = Vec::new();
        for (end, side) in [(&self.lower, Side::Lower), (&self.upper, Side::Upper)] {
            match end {
                End::Open => {}
                End::Partition(partition) => {
                    if let Some((partition, sign)) = side.of(partition) {
                        conditions
                            .push(format!("pk {sign} {}", params.add(Param::Text(partition.to_owned()))));
                    }
                }
                End::Row { partition, row } => {
                    let Some((row, sign)) = side.of(row) else { continue };
                    let partition = params.add(Param::Text(partition.clone()));
                    let row = params.add(Param::Text(row.to_owned()));
                    // A comparison of pairs is one range of the primary key.
                    conditions.push(format!("(pk, rk) {sign} ({partition}, {row})"));
                }
            }
        }
        let condition = if conditions.is_empty() { "true".to_owned() } else { conditions.join(" AND ") };
        (condition, &["pk", "rk"])
    }
}

fn end(bound: &RowBound) -> End {
    let stored = |bound: &Bound<String>| bound.as_ref().map(|text| escape(text).into_owned());
    match (&bound.partition, &bound.row) {
        (Bound::Unbounded, _) => End::Open,
        (Bound::Included(_), Bound::Unbounded) | (Bound::Excluded(_), _) => {
            End::Partition(stored(&bound.partition))
        }
        (Bound::Included(partition), row) => {
            End::Row { partition: escape(partition).into_owned(), row: stored(row) }
        }
    }
}

#[derive(Clone, Copy)]
enum Side {
    Lower,
    Upper,
}

impl Side {
    /// Returns what a key is compared with at this end, and how; `None` of an end that is open.
    fn of(self, bound: &Bound<String>) -> Option<(&str, &'static str)> {
        match (self, bound) {
            (_, Bound::Unbounded) => None,
            (Self::Lower, Bound::Included(text)) => Some((text, ">=")),
            (Self::Lower, Bound::Excluded(text)) => Some((text, ">")),
            (Self::Upper, Bound::Included(text)) => Some((text, "<=")),
            (Self::Upper, Bound::Excluded(text)) => Some((text, "<")),
        }
    }
}
