//! What an entity costs: its rows and bytes, each copy's share of them, and what each kind of change writes.

mod changes;
mod table;
mod usage;

pub use self::changes::ChangeCost;
pub use self::usage::Usage;
use super::{Copies, Index, Schema};

/// What the entities of a kind cost, as [estimated](Schema::cost) before there are any or as
/// [counted](crate::Table::cost) in a table.
///
/// It prints as two tables, of the rows and of the changes, and a line for each piece of [advice](Self::advice).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Cost {
    /// The name of the struct.
    pub entity: &'static str,
    /// Where the figures come from.
    pub basis: Basis,
    /// How many entities there are.
    pub entities: u64,
    /// The entities' own rows, and behind them those of each index in the order of the declaration.
    pub rows: Vec<RowCost>,
    /// What each kind of change writes.
    pub changes: Vec<ChangeCost>,
    /// What the design guide advises of such figures: an index by a value that most rows share finds little, one by a value
    /// that changes more often than it is asked for costs more than it gives, and whole copies that take much room may hold
    /// less.
    pub advice: Vec<String>,
}

/// Where the figures of a [`Cost`] come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Basis {
    /// From the declaration and an expected [`Usage`].
    Estimated,
    /// From every row of the table.
    Counted,
}

/// What the rows of one kind cost: an entity's own, or those of an index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RowCost {
    /// The index, or the summary; of a part of a wide entity what its rows are called, `year.01`. `None` of the entities' own
    /// rows.
    pub index: Option<&'static str>,
    /// How many rows there are.
    pub rows: u64,
    /// What they count for by the service's formula: for each row 4 bytes, 2 for each UTF-16 unit of both keys, and for each
    /// property 8, 2 for each unit of its name, and its value.
    pub service_bytes: u64,
    /// The bytes of their keys and contents in the store, without what pages add.
    pub stored_bytes: u64,
    /// What is known of the values that an index finds rows by; `None` of the entities' own rows, of an index whose key tells
    /// every two entities apart, and where nothing was counted.
    pub values: Option<Values>,
}

/// The values that the rows of an index are found by: those of its key's fields that are not of the entity's own key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Values {
    /// How many there are. The same value in two partitions counts twice, since a query is of one.
    pub distinct: u64,
    /// How many rows the most frequent one has.
    pub most: u64,
}

/// Shares from which advice is given.
const MUCH: f64 = 0.25;
const FEW_ROWS: u64 = 100;

impl Cost {
    /// Returns what these rows cost, of entities that are used like this.
    #[inline]
    pub(crate) fn new(
        schema: &Schema,
        basis: Basis,
        usage: &Usage,
        entities: u64,
        rows: Vec<RowCost>,
    ) -> Self {
        let changes = changes::of(schema, &changes::per_entity(schema, entities, &rows));
        let mut cost = Self { entity: schema.entity, basis, entities, rows, changes, advice: Vec::new() };
        let indexes = schema.indexes.iter().zip(cost.rows.iter().skip(1));
        cost.advice = indexes.flat_map(|(index, rows)| cost.advice_on(schema, usage, index, rows)).collect();
        if !schema.dependents.is_empty() {
            cost.advice.push(format!(
                "a change of what others hold of it, and its deletion, rewrites each of those who refer to it, with their \
                 copies: {}",
                schema.dependents.iter().map(|kind| format!("`{kind}`")).collect::<Vec<_>>().join(", ")
            ));
        }
        for copy in schema.copied {
            if copy.is_eventual() {
                cost.advice.push(format!(
                    "`{}` is held of another entity and follows it: an insert and each change read that; and a change of \
                     that of what is held rewrites this one later",
                    copy.name
                ));
                continue;
            }
            cost.advice.push(format!(
                "`{}` is held of another entity: an insert, and a change of what it refers to, reads that; and so does each \
                 change of that of what is held, which rewrites this one",
                copy.name
            ));
        }
        cost
    }

    /// Returns the bytes of all rows by the service's formula.
    #[inline]
    pub fn service_bytes(&self) -> u64 {
        self.rows.iter().map(|rows| rows.service_bytes).sum()
    }

    /// Returns the bytes of all rows in the store.
    #[inline]
    pub fn stored_bytes(&self) -> u64 {
        self.rows.iter().map(|rows| rows.stored_bytes).sum()
    }

    #[inline]
    fn advice_on(&self, schema: &Schema, usage: &Usage, index: &Index, rows: &RowCost) -> Vec<String> {
        let mut advice = Vec::new();
        if index.is_shared() {
            return advice;
        }
        let name = index.name;
        if let Some(Values { distinct, most }) = rows.values
            && rows.rows >= FEW_ROWS
            && share(most, rows.rows) > MUCH
        {
            advice.push(format!(
                "`{name}` tells little apart: of its {distinct} values one has {} of the rows; a filter on the entities' own \
                 rows reads as much",
                percent(most, rows.rows)
            ));
        }
        let (reads, writes) = (usage.reads_of(name), usage.rewrites_of(schema, index));
        if writes > reads && writes > 0.0 {
            advice.push(format!(
                "`{name}` is written more often than read: {writes} changes rewrite its rows for {reads} reads by it"
            ));
        }
        if let Copies::All = index.copies
            && rows.rows > 0
            && share(rows.service_bytes, self.service_bytes()) > MUCH
        {
            advice.push(format!(
                "`{name}` holds whole copies, {} of all bytes: `copy(..)` or `copy = keys` would make them smaller",
                percent(rows.service_bytes, self.service_bytes())
            ));
        }
        advice
    }
}

#[expect(clippy::as_conversions, clippy::cast_precision_loss, reason = "a share is for people to read")]
fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

fn percent(part: u64, whole: u64) -> String {
    format!("{:.0} %", share(part, whole) * 100.0)
}
