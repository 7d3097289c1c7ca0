//! Cursors one after another, each begun when the one before it has ended.

use super::{Batch, ReadSnapshot, RowCursor};
use crate::error::Result;

/// Begins the next cursor; `None` behind the last.
pub(crate) type NextCursor = Box<dyn FnMut(&dyn ReadSnapshot) -> Result<Option<Box<dyn RowCursor>>> + Send>;

/// The rows of several cursors whose keys follow one another.
pub(crate) struct ConcatIter {
    next: NextCursor,
    current: Option<Box<dyn RowCursor>>,
    /// Whether the current one has ended: what it has lent is still taken.
    is_over: bool,
}

impl ConcatIter {
    pub(crate) fn new(next: NextCursor) -> Self {
        Self { next, current: None, is_over: true }
    }
}

impl RowCursor for ConcatIter {
    fn fill(&mut self, snapshot: &dyn ReadSnapshot, batch: &mut Batch) -> Result<()> {
        loop {
            if self.is_over {
                self.current = (self.next)(snapshot)?;
                self.is_over = false;
            }
            let Some(cursor) = &mut self.current else {
                batch.end();
                return Ok(());
            };
            batch.clear();
            let filled = cursor.fill(snapshot, batch);
            if batch.has_ended() {
                batch.goes_on();
                self.is_over = true;
            }
            if filled.is_err() || !batch.is_empty() {
                return filled;
            }
        }
    }
}
