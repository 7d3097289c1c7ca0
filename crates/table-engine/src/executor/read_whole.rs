//! Cursors of ranges out of which rows move.

use std::collections::VecDeque;

use super::{Batch, ReadSnapshot, RowCursor};
use crate::error::Result;

/// A cursor that is read to its end before it gives a row: by then what it does not have lies where the next cursor reads.
pub(super) struct ReadWhole {
    /// `None` once all of its rows are held.
    cursor: Option<Box<dyn RowCursor>>,
    held: VecDeque<Batch>,
}

impl ReadWhole {
    pub(super) fn of(cursor: Box<dyn RowCursor>) -> Self {
        Self { cursor: Some(cursor), held: VecDeque::new() }
    }
}

impl RowCursor for ReadWhole {
    fn fill(&mut self, snapshot: &dyn ReadSnapshot, batch: &mut Batch) -> Result<()> {
        if let Some(mut cursor) = self.cursor.take() {
            while !self.held.back().is_some_and(Batch::has_ended) {
                let mut next = Batch::default();
                cursor.fill(snapshot, &mut next)?;
                self.held.push_back(next);
            }
        }
        match self.held.pop_front() {
            Some(next) => *batch = next,
            None => batch.end(),
        }
        Ok(())
    }
}
