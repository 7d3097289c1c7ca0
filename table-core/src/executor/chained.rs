//! Walks one after another, each begun when the one before it has ended.

use super::{Batch, Moment, Walk};
use crate::error::Result;

/// Begins the next walk; `None` behind the last.
pub(crate) type NextWalk = Box<dyn FnMut(&dyn Moment) -> Result<Option<Box<dyn Walk>>> + Send>;

/// The rows of several walks whose keys follow one another.
pub(crate) struct Chained {
    next: NextWalk,
    current: Option<Box<dyn Walk>>,
    /// Whether the current one has ended: what it has lent is still taken.
    is_over: bool,
}

impl Chained {
    pub(crate) fn new(next: NextWalk) -> Self {
        Self { next, current: None, is_over: true }
    }
}

impl Walk for Chained {
    fn fill(&mut self, moment: &dyn Moment, batch: &mut Batch) -> Result<()> {
        loop {
            if self.is_over {
                self.current = (self.next)(moment)?;
                self.is_over = false;
            }
            let Some(walk) = &mut self.current else {
                batch.end();
                return Ok(());
            };
            batch.clear();
            let filled = walk.fill(moment, batch);
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
