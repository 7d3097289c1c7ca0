//! Rows page by page, each in a snapshot of its own that has gone before they are printed: so a reader that waits, or a long
//! list, keeps nothing from being used again in a store that others write to.

use std::fmt;
use std::ops::{Bound, ControlFlow};
use std::str::FromStr;
use std::time::Duration;

use table_core::query::PageBudget;
use table_core::{Continuation, DynamicEntity, DynamicTable, Error, ErrorKind, Query, Result};

use crate::data::blobs::{hex, unhex};

/// The most rows that are held at one time.
const ROWS: usize = 1_000;
/// About how many bytes of rows are held at one time.
const BYTES: usize = 4 << 20;
/// How long a snapshot is kept.
const SNAPSHOT: Duration = Duration::from_millis(500);

/// So many characters of a key an error shows at least.
const SHOWN: usize = 200;

/// What a place behind a row begins with.
const BEHIND: &str = "behind";

/// Where a page begins.
#[derive(Clone, Debug)]
pub(crate) enum Place {
    /// Where another page of the query ended.
    Token(Continuation),
    /// Behind a row: pages have no tokens of the query any more once a row of it could not be read.
    Behind(String, String),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Token(token) => write!(f, "{token}"),
            Self::Behind(partition, row) => {
                write!(f, "{BEHIND}.{}.{}", hex(partition.as_bytes()), hex(row.as_bytes()))
            }
        }
    }
}

impl FromStr for Place {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let key = |text: &str| unhex(text).and_then(|bytes| String::from_utf8(bytes).ok());
        let mut words = text.split('.');
        if let (Some(BEHIND), Some(partition), Some(row), None) =
            (words.next(), words.next(), words.next(), words.next())
            && let (Some(partition), Some(row)) = (key(partition), key(row))
        {
            return Ok(Self::Behind(partition, row));
        }
        text.parse().map(Self::Token)
    }
}

/// Returns the keys of the row that an error is about, if it has them whole.
pub(crate) fn whole_keys(error: &Error) -> Option<(&str, &str)> {
    let keys = error.partition_key().zip(error.row_key());
    keys.filter(|(partition, row)| [partition, row].iter().all(|key| key.chars().count() < SHOWN))
}

/// A row, or what is known of one that can't be read.
pub(crate) enum Found {
    Row(DynamicEntity),
    Unreadable(Unreadable),
}

/// A row that is damaged, or that takes keys which the store is open without.
pub(crate) struct Unreadable {
    pub(crate) partition: String,
    pub(crate) row: String,
    pub(crate) error: Error,
}

/// The rows that a query finds.
pub(crate) struct Pages<'q> {
    table: &'q DynamicTable,
    query: Query,
    is_reverse: bool,
    after: Option<Continuation>,
    /// The last row that was met, once the query has been bounded behind one.
    behind: Option<(String, String)>,
    is_over: bool,
    /// Why the rows end, once those before have been given.
    failed: Option<Error>,
    /// The row that could not be read last.
    skipped: Option<(String, String)>,
}

impl<'q> Pages<'q> {
    /// Begins at the first row.
    pub(crate) fn new(table: &'q DynamicTable, query: &Query) -> Self {
        Self {
            table,
            query: query.clone(),
            is_reverse: false,
            after: None,
            behind: None,
            is_over: false,
            failed: None,
            skipped: None,
        }
    }

    /// Reads from the last row to the first.
    pub(crate) fn reverse(self) -> Self {
        Self { query: self.query.rev(), is_reverse: !self.is_reverse, ..self }
    }

    /// Begins behind a place, in the direction that was given before.
    pub(crate) fn after(mut self, place: Option<Place>) -> Self {
        match place {
            None => {}
            Some(Place::Token(token)) => self.after = Some(token),
            Some(Place::Behind(partition, row)) => self.go_behind(partition, row),
        }
        self
    }

    /// Returns the rows of the next page, at most so many; `None` when there are no more. A page may be empty.
    pub(crate) fn next(&mut self, most: usize) -> Result<Option<Vec<Found>>> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        if self.is_over {
            return Ok(None);
        }
        let budget = PageBudget::new(most.clamp(1, ROWS)).time(SNAPSHOT);
        let (mut rows, mut bytes) = (Vec::new(), 0_usize);
        let next = self.table.page_with(&self.query, budget, self.after.as_ref(), |row| {
            let row = row.to_entity()?;
            bytes = bytes.saturating_add(row.size());
            rows.push(Found::Row(row));
            Ok::<_, Error>(if bytes >= BYTES { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        });
        match next {
            Ok(next) => {
                self.is_over = next.is_none();
                self.after = next;
                if let (Some(behind), Some(Found::Row(last))) = (&mut self.behind, rows.last()) {
                    *behind = (last.partition_key().to_owned(), last.row_key().to_owned());
                }
            }
            Err(error) => match self.skip(error) {
                Ok(unreadable) => rows.push(Found::Unreadable(unreadable)),
                Err(error) if rows.is_empty() => return Err(error),
                // What was read before is given first.
                Err(error) => self.failed = Some(error),
            },
        }
        Ok(Some(rows))
    }

    /// Returns where the next page would begin, if there is more.
    pub(crate) fn rest(&self) -> Option<Place> {
        if self.is_over {
            return None;
        }
        match &self.behind {
            Some((partition, row)) => Some(Place::Behind(partition.clone(), row.clone())),
            None => self.after.clone().map(Place::Token),
        }
    }

    /// Goes on behind a row that can't be read, if that is what the error says.
    fn skip(&mut self, error: Error) -> std::result::Result<Unreadable, Error> {
        self.is_over = true;
        let may_be_of_a_row = error.kind().is_damage()
            || error.kind().is_destroyed()
            || matches!(error.kind(), ErrorKind::KeyUnavailable | ErrorKind::DecryptionFailed);
        // Behind the beginning of a long key rows would come again.
        let Some((partition, row)) = whole_keys(&error).filter(|_| may_be_of_a_row) else {
            return Err(error);
        };
        let place = (partition.to_owned(), row.to_owned());
        // It is met again: nothing behind it can be reached.
        if self.skipped.as_ref() == Some(&place) {
            return Err(error);
        }
        self.go_behind(place.0.clone(), place.1.clone());
        self.is_over = false;
        self.skipped = Some(place.clone());
        let (partition, row) = place;
        Ok(Unreadable { partition, row, error })
    }

    /// Bounds the query behind a row.
    fn go_behind(&mut self, partition: String, row: String) {
        let behind = Bound::Excluded((&*partition, &*row));
        let unbounded = Bound::<(&str, &str)>::Unbounded;
        let rest = if self.is_reverse { (unbounded, behind) } else { (behind, unbounded) };
        self.query = self.query.clone().between(rest);
        self.after = None;
        self.behind = Some((partition, row));
    }
}
