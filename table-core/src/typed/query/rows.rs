//! What a typed query finds, one after another.

use std::fmt;
use std::marker::PhantomData;

use super::beyond::Beyond;
use crate::error::{Error, Result};
use crate::executor::Lanes;
use crate::handle::rows::Refilling;
use crate::handle::snapshot::Snapshot;
use crate::handle::table::DynamicTable;
use crate::row::view::RowView;
use crate::typed::entity::path::Path;
use crate::typed::entity::wide;
use crate::typed::read::origin::Origin;
use crate::typed::read::reading::{ReadAs, Whole, is_wide};

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
    /// What is asked of each row beyond the query.
    Option<Box<Beyond>>,
);

/// What is read of a head, if what is asked beyond the query lets it pass; of any row, if nothing is.
pub(super) fn read_beyond<P: Path, R: ReadAs<P>>(
    beyond: Option<&Beyond>,
    snapshot: &Snapshot,
    table: &DynamicTable,
    view: &RowView<'_>,
) -> Result<Option<R::Item>> {
    let Some(beyond) = beyond else { return R::read(snapshot, table, view).map(Some) };
    let whole = wide::whole::<P::Entity>(snapshot, table, view.clone())?;
    if beyond.accepts(&whole)? { R::read(snapshot, table, &whole).map(Some) } else { Ok(None) }
}

impl<P: Path, O: Origin, R: ReadAs<P>> TypedRows<P, O, R> {
    pub(super) fn new(rows: Result<Refilling<O::Hold>>) -> Self {
        Self(rows.map_err(Some), PhantomData, usize::MAX, None)
    }
}

impl<P: Path, O: Origin, R: ReadAs<P>> TypedRows<P, O, R> {
    /// Gives so many at the most.
    pub(super) fn at_most(self, left: usize) -> Self {
        Self(self.0, self.1, left, self.3)
    }

    /// Gives those alone that pass this.
    pub(super) fn beyond(self, beyond: Beyond) -> Self {
        Self(self.0, self.1, self.2, Some(Box::new(beyond)))
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
            Ok(rows) if const { is_wide::<P>() } && self.3.is_some() => {
                self.2.checked_sub(1)?;
                loop {
                    let beyond = self.3.as_deref();
                    let next = rows.next_by(|reading, view| {
                        read_beyond::<P, R>(beyond, reading.snapshot, reading.table, view)
                    });
                    match next?.transpose() {
                        None => {}
                        Some(found) => {
                            self.2 -= 1;
                            return Some(found);
                        }
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
