//! What a typed query finds, one after another.

use std::fmt;
use std::marker::PhantomData;

use crate::error::{Error, Result};
use crate::executor::Lanes;
use crate::handle::rows::Refilling;
use crate::handle::table::DynamicTable;
use crate::typed::entity::path::Path;
use crate::typed::read::origin::Origin;
use crate::typed::read::reading::{ReadAs, Whole};

/// The rows of a query, to be decoded by the caller.
pub(super) fn refilling<O: Origin>(
    table: &DynamicTable,
    held: Result<(O::Hold, Lanes)>,
) -> Result<Refilling<O::Hold>> {
    let (snapshot, lanes) = held.map_err(|e| e.attempted("query").table(table.name()))?;
    Refilling::new(snapshot, table, lanes)
}

/// What a typed query finds, in order: an iterator that owns its snapshot, or reads the caller's.
///
/// An error, of the query itself too, comes as an item, and ends it.
#[must_use = "an iterator does nothing until it is used"]
pub struct TypedRows<P: Path, O: Origin = DynamicTable, R: ReadAs<P> = Whole>(
    Result<Refilling<O::Hold>, Option<Error>>,
    PhantomData<fn() -> (P, R)>,
    /// How many are left to be given, where the query itself can't say: it does not know which rows are left out.
    usize,
);

impl<P: Path, O: Origin, R: ReadAs<P>> TypedRows<P, O, R> {
    pub(super) fn new(rows: Result<Refilling<O::Hold>>) -> Self {
        Self(rows.map_err(Some), PhantomData, usize::MAX)
    }
}

impl<P: Path, O: Origin, R: ReadAs<P>> TypedRows<P, O, R> {
    /// Gives so many at the most.
    pub(super) fn at_most(self, left: usize) -> Self {
        Self(self.0, self.1, left)
    }
}

impl<P: Path, O: Origin, R: ReadAs<P>> Iterator for TypedRows<P, O, R> {
    type Item = Result<R::Item>;

    fn next(&mut self) -> Option<Result<R::Item>> {
        match &mut self.0 {
            Ok(rows) if const { R::LEAVES_OUT } => {
                self.2 = self.2.checked_sub(1)?;
                loop {
                    let next =
                        rows.next_by(|reading, view| R::read_if(reading.snapshot, reading.table, view));
                    match next? {
                        Ok(None) => {}
                        Ok(Some(found)) => return Some(Ok(found)),
                        Err(error) => return Some(Err(error)),
                    }
                }
            }
            Ok(rows) => rows.next_by(|reading, view| R::read(reading.snapshot, reading.table, view)),
            Err(error) => error.take().map(Err),
        }
    }
}

impl<P: Path, O: Origin, R: ReadAs<P>> std::iter::FusedIterator for TypedRows<P, O, R> {}

impl<P: Path, O: Origin, R: ReadAs<P>> fmt::Debug for TypedRows<P, O, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TypedRows").finish_non_exhaustive()
    }
}
