//! A chunk of what a query finds, for the next step of a job.

use std::borrow::Borrow;

use super::{PathQuery, rows};
use crate::error::{Error, Result};
use crate::executor::{Position, StepSize};
use crate::handle::snapshot::Snapshot;
use crate::handle::table::DynamicTable;
use crate::typed::entity::path::Path;
use crate::typed::read::blind::or_again;
use crate::typed::read::reading::{ReadAs, is_wide};

/// What a step has found, and how far it looked.
pub(crate) struct Chunk<T> {
    pub(crate) found: Vec<T>,
    /// The last row that was looked at; `None` if no more are left.
    pub(crate) last: Option<Position>,
    /// How many were looked at.
    pub(crate) looked: u64,
}

impl<P: Path, R: ReadAs<P>> PathQuery<P, DynamicTable, R> {
    /// Returns the next rows behind a position that the query finds, whatever [`top`](Self::top) said.
    pub(crate) fn chunk(&self, after: Option<&Position>, size: StepSize) -> Result<Chunk<R::Item>> {
        or_again(|| self.chunk_of(after, size))
    }

    /// Returns the last row of the range of keys that the query reads; `None` if nothing tells where it ends.
    pub(crate) fn last_row(&self) -> Result<Option<Position>> {
        let of_range = || {
            let mut rows = self.clone();
            rows.take_limit();
            let (hold, scan_ranges) = rows.asked.held(&Self::WANTED)?;
            let snapshot: &Snapshot = hold.borrow();
            snapshot.last_row(&self.table(), &scan_ranges)
        };
        or_again(of_range).map_err(|e: Error| e.attempted("query").table(self.table().name()))
    }

    fn chunk_of(&self, after: Option<&Position>, size: StepSize) -> Result<Chunk<R::Item>> {
        let mut rows = self.clone();
        rows.take_limit();
        let table = &*self.table();
        let query = |e: Error| e.attempted("query").table(table.name());
        // A filter that asks for what parts hold is asked of each entity that the rest of the query finds.
        let beyond = if const { is_wide::<P>() } { rows.take_beyond().map_err(query)? } else { None };
        let (hold, scan_ranges) = rows.asked.held(&Self::WANTED).map_err(query)?;
        let (snapshot, mut found): (&Snapshot, _) = (hold.borrow(), Vec::new());
        let (last, looked) = snapshot.chunk(table, scan_ranges, after, size, &mut |_, view| {
            found.extend(if const { R::LEAVES_OUT } {
                R::read_if(snapshot, table, view)?
            } else {
                rows::read_beyond::<P, R>(beyond.as_ref(), snapshot, table, view)?
            });
            Ok(())
        })?;
        Ok(Chunk { found, last, looked })
    }
}
