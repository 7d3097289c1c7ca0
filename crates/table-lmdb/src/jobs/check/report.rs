//! What a check of a store has found.

use std::fmt;

use table_engine::error::Error;

/// What [`Store::check`](crate::Store::check) found.
#[derive(Clone, Debug, Default)]
#[must_use = "what is wrong is in `problems` and `wrong_copies`, and nowhere else"]
#[non_exhaustive]
pub struct CheckReport {
    /// How many tables there are.
    pub tables: u64,
    /// How many rows were read, those of dropped tables aside.
    pub rows: u64,
    /// How many shapes of rows the tables have numbered: one for each kind of entity and each index, and one more for each
    /// time that what its rows hold was declared anew.
    pub shapes: u64,
    /// How many of the [`shapes`](Self::shapes) no row has any more. They stay: rows are read by their numbers.
    pub unused_shapes: u64,
    /// How many queues there are.
    pub queues: u64,
    /// How many messages there are in the queues.
    pub messages: u64,
    /// How many containers there are.
    pub containers: u64,
    /// How many blobs there are that something leads to.
    pub blobs: u64,
    /// How many copies were compared with the entities that they are of, in indexes that are ready.
    pub copies: u64,
    /// Indexes and summaries, by the kinds of their rows, of which the store can't tell which copies are missing: only the
    /// struct says which entities have one, or where; or they are being made. [`Table::check`](table_engine::Table::check) looks
    /// at those, too.
    pub untold: Vec<String>,
    /// The copies that are not as their entities say, or missing, or of none, as far as the store knows their declaration, and
    /// parts of wide entities that are missing or of none: not damage, but what raw writes leave.
    /// [`Table::repair`](table_engine::Table::repair) mends them, but what a missing part held is lost.
    pub wrong_copies: Vec<Problem>,
    /// How many entities there are whose copies are to follow: see
    /// [`Store::pending_propagation`](table_engine::Tables::pending_propagation).
    pub pending_propagation: u64,
    /// What is wrong; nothing, if the store is sound.
    pub problems: Vec<Problem>,
}

/// Something that is wrong with a store.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Problem {
    /// The table it is in, if that can be told.
    pub table: Option<String>,
    /// The row, if it is one's: partition key and row key.
    pub row: Option<(String, String)>,
    /// What is wrong.
    pub what: String,
}

impl Problem {
    #[inline]
    pub(super) fn of(table: Option<&str>, error: &Error) -> Self {
        let row = error.partition_key().zip(error.row_key());
        Self {
            table: table.or_else(|| error.table_name()).map(Into::into),
            row: row.map(|(partition, row)| (partition.into(), row.into())),
            what: error.to_string(),
        }
    }
}

impl fmt::Display for Problem {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(table) = &self.table {
            write!(f, "table `{}`", table.escape_debug())?;
        }
        if let Some((partition, row)) = &self.row {
            let separator = if self.table.is_some() { ", " } else { "" };
            write!(f, "{separator}partition `{}`, row `{}`", partition.escape_debug(), row.escape_debug())?;
        }
        if self.table.is_some() || self.row.is_some() {
            f.write_str(": ")?;
        }
        f.write_str(&self.what)
    }
}
