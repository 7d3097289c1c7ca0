//! Access patterns: what a design answers without a filter, and what each answer reads.

use std::fmt;

use super::{Design, DesignKey, DesignRow, FieldPiece, RowRole};
use crate::Format;

/// One way to the entities of a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AccessPattern {
    /// What is given, in words: `department and email, by_email`.
    pub by: String,
    /// The call, with `..` for what is given. What a store has noted of a kind has no calls.
    pub call: Option<String>,
    /// The index that is read; `None` where that is the entity's own key.
    pub index: Option<String>,
    /// The parts of the keys that are given, from left to right.
    pub given: Vec<String>,
    /// The part that comes next, of which a range may be given.
    pub narrowed_by: Option<String>,
    /// How much is read.
    pub class: AccessClass,
    /// The rows that are read, in words: `1 row`.
    pub reads: String,
    /// The parts in whose order the rows come; empty of one row.
    pub order: String,
}

/// How much an access pattern reads, from the least to the most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum AccessClass {
    /// One row: both keys are given.
    Point,
    /// Rows of one partition that lie side by side.
    Range,
    /// Every row of one partition.
    PartitionScan,
    /// Rows of several partitions.
    TableScan,
}

impl AccessClass {
    /// Returns the name of the class: `point`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Point => "point",
            Self::Range => "range",
            Self::PartitionScan => "partition scan",
            Self::TableScan => "table scan",
        }
    }

    const fn reads(self) -> &'static str {
        match self {
            Self::Point => "1 row",
            Self::Range => "the rows that fit",
            Self::PartitionScan => "every row of the partition",
            Self::TableScan => "every row of the table",
        }
    }
}

/// In the words of `explain`: `point read`.
impl fmt::Display for AccessClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if *self == Self::Point { "point read" } else { self.name() })
    }
}

pub(super) fn patterns(design: &Design) -> Vec<AccessPattern> {
    let mut patterns = Vec::new();
    for row in &design.rows {
        match row.role {
            RowRole::Entity | RowRole::Copy => of_rows(design, row, &mut patterns),
            RowRole::List | RowRole::Summary => patterns.push(of_one(design, row)),
            RowRole::Part(_) => {}
        }
    }
    if let Some(own) = design.rows.first() {
        patterns.push(AccessPattern {
            by: "all".into(),
            call: design.entity.as_ref().map(|_| format!("{}.all()", handle(design))),
            index: None,
            given: Vec::new(),
            narrowed_by: None,
            class: AccessClass::TableScan,
            reads: AccessClass::TableScan.reads().into(),
            order: order(&distinct(&[&own.partition, &own.row])),
        });
    }
    patterns
}

/// Adds what the rows of a key answer: one row, and, part for part, those that have the first parts in common.
fn of_rows(design: &Design, row: &DesignRow, patterns: &mut Vec<AccessPattern>) {
    patterns.push(of_one(design, row));
    let in_partition = distinct(&[&row.partition]);
    let all = distinct(&[&row.partition, &row.row]);
    for given in (in_partition.len()..all.len()).rev() {
        let (known, open) = all.split_at_checked(given).unwrap_or_default();
        // Text before the first open part keeps rows of other kinds out.
        let class = if given > in_partition.len() || row.row.begins_with_text() {
            AccessClass::Range
        } else {
            AccessClass::PartitionScan
        };
        let next = open.first().filter(|next| can_be_narrowed(next));
        let call = design.entity.as_ref().map(|_| {
            let begin = if row.role == RowRole::Entity { "rows" } else { &*row.name };
            let steps = known.iter().map(|field| format!(".{}(..)", field.called()));
            format!("{}.{begin}(){}", handle(design), steps.collect::<String>())
        });
        patterns.push(AccessPattern {
            by: by(row, known),
            call,
            index: index(row),
            given: known.iter().map(|field| field.name.clone()).collect(),
            narrowed_by: next.map(|next| next.name.clone()),
            class,
            reads: class.reads().into(),
            order: order(open),
        });
    }
}

/// Returns what a whole key answers.
fn of_one(design: &Design, row: &DesignRow) -> AccessPattern {
    let given = distinct(&[&row.partition, &row.row]);
    let rows = if row.role == RowRole::Entity { design.own_rows() } else { 1 };
    let reads = match (row.role, rows) {
        (RowRole::List, _) => "1 row, and 1 for each entity on it".to_owned(),
        (_, 0 | 1) => AccessClass::Point.reads().to_owned(),
        (_, rows) => format!("{rows} rows"),
    };
    // Where its struct alone says the key, that is what is given.
    let is_known = !row.partition.pieces.is_empty() || !row.row.pieces.is_empty();
    let arguments = if is_known { vec![".."; given.len()].join(", ") } else { "..".to_owned() };
    let call = design.entity.as_ref().map(|entity| {
        let function = row.function.as_deref().unwrap_or(&row.name);
        match row.role {
            RowRole::Summary => format!("store.table::<{function}>()?.get({function}::key({arguments}))"),
            RowRole::List => format!("{}.list({entity}::{function}({arguments}))", handle(design)),
            _ => format!("{}.get({entity}::{function}({arguments}))", handle(design)),
        }
    });
    AccessPattern {
        by: if is_known { by(row, &given) } else { format!("its key, {}", row.name) },
        call,
        index: index(row),
        given: given.iter().map(|field| field.name.clone()).collect(),
        narrowed_by: None,
        class: AccessClass::Point,
        reads,
        order: String::new(),
    }
}

/// Returns what queries begin with.
fn handle(design: &Design) -> &'static str {
    if design.in_periods { "periods.during(..)?" } else { "table" }
}

fn index(row: &DesignRow) -> Option<String> {
    (row.role != RowRole::Entity).then(|| row.name.clone())
}

/// Returns what is given, and the index by which.
fn by(row: &DesignRow, given: &[&FieldPiece]) -> String {
    let names = match given {
        [] => "all".to_owned(),
        [one] => one.name.clone(),
        [first @ .., last] => {
            let first: Vec<_> = first.iter().map(|field| &*field.name).collect();
            format!("{} and {}", first.join(", "), last.name)
        }
    };
    match row.role {
        RowRole::Entity => names,
        // A row of which there is one.
        RowRole::Summary | RowRole::List if given.is_empty() => row.name.clone(),
        _ => format!("{names}, {}", row.name),
    }
}

/// Returns each field of these keys once, as a query is given them.
fn distinct<'k>(keys: &[&'k DesignKey]) -> Vec<&'k FieldPiece> {
    let mut fields: Vec<&FieldPiece> = Vec::new();
    for field in keys.iter().flat_map(|key| key.fields()) {
        if fields.iter().all(|known| known.name != field.name) {
            fields.push(field);
        }
    }
    fields
}

/// Returns whether a part may be given a range of values, or a prefix of them.
fn can_be_narrowed(field: &FieldPiece) -> bool {
    !matches!(field.meaning(), Format::Shard(_) | Format::Blind)
}

/// Returns what rows are sorted by, as far as the values of these parts show.
fn order(open: &[&FieldPiece]) -> String {
    let shown = open.iter().map(|field| {
        let name = &field.name;
        match field.meaning() {
            Format::Shard(_) => format!("shard of {name}"),
            Format::Blind => format!("token of {name}"),
            _ if field.counts_backwards() => format!("{name} from the last"),
            _ => name.clone(),
        }
    });
    shown.collect::<Vec<_>>().join(", ")
}
