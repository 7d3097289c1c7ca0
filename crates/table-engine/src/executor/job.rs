//! Work that goes over a table in bounded steps, beside readers and writers.
//!
//! How far a job has come lies in the store, and each step writes it in the transaction of its rows: a job that is dropped or
//! killed goes on from there, in any process, and no row is done twice.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::TableExec;
use crate::error::Result;
use crate::model::{Ticks, key};
use crate::plan::Epoch;
use crate::row::view::RowView;
use crate::schema::{IndexEvent, IndexState, IndexStates, KindEvent, Schema};

/// The keys of a row, behind which a job goes on. Positions compare as their rows lie in a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    /// The partition key.
    pub partition: String,
    /// The row key.
    pub row: String,
}

impl PartialOrd for Position {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Position {
    fn cmp(&self, other: &Self) -> Ordering {
        self.compare(&other.partition, &other.row)
    }
}

impl Position {
    fn compare(&self, partition: &str, row: &str) -> Ordering {
        key::compare(&self.partition, partition).then_with(|| key::compare(&self.row, row))
    }

    /// Returns whether this is the row of these keys, or lies before it.
    pub(crate) fn is_at_or_before(&self, partition: &str, row: &str) -> bool {
        self.compare(partition, row).is_le()
    }
}

/// How far a job has come, as the store keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobRecord {
    /// When it began.
    pub begun: Ticks,
    /// How many rows it has looked at.
    pub done: u64,
    /// How many there were when it began.
    pub total: u64,
    /// How many rows or entities it has changed.
    pub changed: u64,
    /// What else must be as it was for the job to go on from here: a generation, say.
    pub stamp: u64,
    /// Which of its parts it is in.
    pub phase: u8,
    /// The last row that is done; `None` at the start.
    pub position: Option<Position>,
    /// The last row that there was when the part began that it is in: the part ends there, however many rows come behind it
    /// meanwhile. `None` before the first step of a part, and of a part without such an end.
    pub end: Option<Position>,
    /// What it was asked for.
    pub asked: String,
    /// What else it has counted; at most 255 numbers.
    pub counts: Vec<u64>,
}

impl JobRecord {
    /// Makes a job that begins now, on so many rows.
    pub fn new(total: u64, asked: String) -> Self {
        let (begun, position, end) = (Ticks::now(), None, None);
        Self {
            begun,
            done: 0,
            total,
            changed: 0,
            stamp: 0,
            phase: 0,
            position,
            end,
            asked,
            counts: Vec::new(),
        }
    }

    /// Returns the record with the end of its part, which is where the table ends by now if none was noted yet.
    pub(crate) fn within(&self, table: &dyn Jobs) -> Result<Self> {
        let mut record = self.clone();
        if record.end.is_none() {
            record.end = table.last_row()?;
        }
        Ok(record)
    }

    /// Returns whether every row of the part is done that there was when it began.
    pub(crate) fn is_at_end(&self) -> bool {
        self.position.as_ref().zip(self.end.as_ref()).is_some_and(|(position, end)| position >= end)
    }

    /// Returns how often the job has looked at all rows that there were, beyond twice: a part may add a row for each that there
    /// is, and looks at that too. One that is behind goes over rows that come as fast as it goes.
    pub(crate) fn times_behind(&self) -> u32 {
        let times = self.done / self.total.max(LEAST_ROWS);
        u32::try_from(times.saturating_sub(2)).unwrap_or(u32::MAX)
    }

    /// Returns the record at the beginning of another part.
    pub(crate) fn in_part(&self, phase: u8) -> Self {
        Self { phase, position: None, end: None, ..self.clone() }
    }

    /// Returns the tables over which a job goes that was asked for these, one after another; it is in that of the number of
    /// its phase.
    pub fn tables(&self) -> impl Iterator<Item = &str> {
        self.asked.lines()
    }
}

/// Over a table of fewer rows a job is not taken to be behind for what it has looked at.
const LEAST_ROWS: u64 = 1_000;

/// A step that has been made ready: how far the job was, and how far it is with it.
#[derive(Clone, Debug)]
pub struct JobStep {
    /// The job.
    pub name: String,
    /// What the store must say of it.
    pub from: JobRecord,
    /// What it says then; `None` if the job has ended.
    pub to: Option<JobRecord>,
    /// The epoch of the kind in which the step was made.
    pub epoch: Option<Epoch>,
}

/// What becomes of an index and its kind's layout in one transaction.
#[derive(Debug)]
pub struct Transition<'t> {
    /// The kind.
    pub schema: &'static Schema,
    /// The index.
    pub index: &'t str,
    /// What happens to it.
    pub event: IndexEvent,
    /// The kind's epoch in which the caller has found that it is to happen.
    pub epoch: u64,
    /// The job that makes it happen, and what the store is to say of it.
    pub job: (&'t str, Option<&'t JobRecord>),
}

/// What becomes of the versions of a kind's rows in one transaction.
#[derive(Debug)]
pub struct Conversion<'t> {
    /// The declaration that the rows become.
    pub schema: &'static Schema,
    /// What happens.
    pub event: KindEvent,
    /// The kind's epoch in which the caller has found that it is to happen.
    pub epoch: u64,
    /// The job that makes it happen, and what the store is to say of it.
    pub job: (&'t str, Option<&'t JobRecord>),
}

/// So much may be in a step.
///
/// A step ends with so many rows that are asked for. One that finds few looks on, since to commit how far the job is takes
/// longer than to look at thousands of rows. It ends all the same after a while, in rows, bytes and time: what was seen is kept
/// soon, and a job that gives way comes to its rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepSize {
    /// Rows that are asked for, at most.
    pub rows: u64,
}

impl StepSize {
    /// Returns up to how many bytes of the rows that are asked for one more is taken.
    pub const fn bytes(self) -> u64 {
        2_048 * self.rows
    }

    /// Returns how many rows are looked at, at most.
    pub const fn looks(self) -> u64 {
        40 * self.rows
    }

    /// Returns up to how many bytes of them one more is looked at.
    pub const fn looked_bytes(self) -> u64 {
        16 * self.bytes()
    }

    /// Returns how long more rows are looked at than may be asked for.
    pub const fn time(self) -> Duration {
        Duration::from_micros(100 * self.rows)
    }
}

/// How much of a step has been looked at.
#[derive(Debug)]
pub struct Looked {
    size: StepSize,
    begun: Instant,
    asked: (u64, u64),
    all: (u64, u64),
}

impl Looked {
    /// Begins with nothing looked at.
    pub fn new(size: StepSize) -> Self {
        Self { size, begun: Instant::now(), asked: (0, 0), all: (0, 0) }
    }

    /// Takes in a row of so many bytes.
    pub fn add(&mut self, bytes: usize, is_asked_for: bool) {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        let add = |(rows, sum): &mut (u64, u64)| (*rows, *sum) = (*rows + 1, sum.saturating_add(bytes));
        add(&mut self.all);
        if is_asked_for {
            add(&mut self.asked);
        }
    }

    /// Returns whether the step ends here.
    pub fn is_enough(&self) -> bool {
        let size = self.size;
        self.asked.0 >= size.rows
            || self.asked.1 >= size.bytes()
            || self.all.0 >= size.looks()
            || self.all.1 >= size.looked_bytes()
            || self.all.0 >= size.rows && self.begun.elapsed() >= size.time()
    }

    /// Returns how many rows there were.
    pub fn rows(&self) -> u64 {
        self.all.0
    }
}

/// What reads a row of a chunk, with the number of the state that it is read in, and says whether the row is asked for.
pub type EachRow<'c> = &'c mut dyn FnMut(&RowView<'_>, usize) -> Result<bool>;

/// A table over which jobs go.
pub trait Jobs {
    /// Returns how far a job has come; `None` if none of this name has begun and not ended.
    fn job(&self, name: &str) -> Result<Option<JobRecord>>;

    /// Returns the jobs of the table that were begun and have not ended.
    fn begun(&self) -> Result<Vec<(String, JobRecord)>>;

    /// Keeps how far a job has come that goes by no rows, or forgets it.
    fn keep(&self, name: &str, job: Option<&JobRecord>) -> Result<()>;

    /// Returns another table of the store; `None` if there is none of this name.
    fn sibling(&self, name: &str) -> Result<Option<Arc<dyn TableExec>>>;

    /// Returns the position of the last row of the table; `None` if it has no row.
    fn last_row(&self) -> Result<Option<Position>>;

    /// Returns how many rows the table has.
    fn row_count(&self) -> Result<u64>;

    /// Returns the bytes of the table's rows and their keys.
    fn byte_count(&self) -> Result<u64>;

    /// Returns the states of a kind, and the version that is noted of it, if any.
    fn version(&self, schema: &'static Schema) -> Result<(IndexStates, Option<u32>)>;

    /// Carries out what happens to a kind's versions; whether it did: not if the kind is in another epoch by now, or it can't
    /// happen. When the rows begin to be converted, what is declared is noted.
    fn convert(&self, conversion: &Conversion<'_>) -> Result<bool>;

    /// Takes out of what is noted of a kind whatever it says of denormalised copies and the declaration doesn't; how many of
    /// those there were.
    fn forget_copies(&self, schema: &'static Schema) -> Result<u64>;

    /// Lends each of the next rows behind a position, in their order and of one snapshot, until the step has as many as its
    /// [size](StepSize) lets; returns the position of the last, or `None` if there is none, and how many there were.
    fn rows_after(
        &self,
        after: Option<&Position>,
        size: StepSize,
        each: EachRow<'_>,
    ) -> Result<(Option<Position>, u64)>;

    /// Returns the states of a kind, the state of this index of it by what is noted, and whether it is declared as it is noted.
    fn index_states(&self, schema: &'static Schema, index: &str) -> Result<(IndexStates, IndexState, bool)>;

    /// Returns the names of the indexes that a kind has by what is noted of it.
    fn indexes(&self, schema: &'static Schema) -> Result<Vec<String>>;

    /// Returns the kind of the rows of an index, as it is noted.
    fn kind_of(&self, schema: &'static Schema, index: &str) -> Result<Option<String>>;

    /// Carries out what happens to an index; `None` if the kind is in another epoch by now, or it can't happen.
    fn transit(&self, transition: &Transition<'_>) -> Result<Option<IndexState>>;
}

impl fmt::Display for JobRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of about {} rows", self.done, self.total.max(self.done))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns how many rows of so many bytes a step takes, of which one in so many is asked for.
    fn taken(rows: u64, bytes: usize, one_in: u64) -> u64 {
        let mut looked = Looked::new(StepSize { rows });
        // However slow the machine is, the time is not over.
        looked.begun += Duration::from_secs(3_600);
        while !looked.is_enough() {
            looked.add(bytes, looked.rows().is_multiple_of(one_in));
        }
        looked.rows()
    }

    #[test]
    fn a_step_ends_with_what_is_asked_for_or_after_many_looks() {
        assert_eq!(taken(500, 100, 1), 500);
        assert_eq!(taken(500, 100, 10), 4_991);
        assert_eq!(taken(500, 100, u64::MAX), 20_000);
        // One is taken however large it is.
        assert_eq!(taken(500, 1 << 20, 1), 1);
        assert_eq!(taken(1, 1 << 20, 1), 1);
        assert_eq!(taken(500, 1 << 20, u64::MAX), 1);
        // The first is asked for, and no other.
        assert_eq!(taken(500, 100 << 10, u64::MAX), 160);
    }

    #[test]
    fn a_step_that_has_taken_its_time_looks_at_no_more_than_it_may_change() {
        let mut looked = Looked::new(StepSize { rows: 50 });
        looked.begun -= Duration::from_secs(1);
        for _ in 0..50 {
            assert!(!looked.is_enough());
            looked.add(100, false);
        }
        assert!(looked.is_enough());
    }
}
