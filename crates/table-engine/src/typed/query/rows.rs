//! What a typed query finds, one after another.

use std::fmt;
use std::marker::PhantomData;

use super::part_filter::PartFilter;
use super::query_spec::Begun;
#[cfg(feature = "async")]
use crate::asynchronous::Resumable;
use crate::error::Result;
use crate::handle::rows::{BufferedScan, Reading};
use crate::handle::snapshot::Snapshot;
use crate::handle::table::DynamicTable;
#[cfg(feature = "async")]
use crate::query::Continuation;
use crate::row::view::RowView;
use crate::typed::entity::path::Path;
use crate::typed::entity::{Entity, wide};
use crate::typed::read::origin::AnyOrigin;
use crate::typed::read::reading::{ReadAs, Whole, is_wide};

/// What a typed query finds, in order: an iterator that owns its snapshot, or reads the caller's.
///
/// An error, of the query itself too, comes as an item, and ends it.
#[must_use = "an iterator does nothing until it is used"]
pub struct TypedRows<P: Path, O: AnyOrigin = DynamicTable, R: ReadAs<P> = Whole>(
    Begun<O>,
    PhantomData<fn() -> (P, R)>,
    /// How many are left to be given, where the query itself can't say: it does not know which rows are left out.
    usize,
    /// What is asked of each row beyond the query.
    Option<Box<PartFilter>>,
);

/// Returns what is read of a head, if what is asked beyond the query lets it pass; of any row, if nothing is.
pub(super) fn read_beyond<P: Path, R: ReadAs<P>>(
    beyond: Option<&PartFilter>,
    snapshot: &Snapshot,
    table: &DynamicTable,
    view: &RowView<'_>,
) -> Result<Option<R::Item>> {
    let Some(beyond) = beyond else { return R::read(snapshot, table, view).map(Some) };
    let whole = wide::whole::<P::Entity>(snapshot, table, view.clone())?;
    if beyond.accepts(&whole)? { R::read(snapshot, table, &whole).map(Some) } else { Ok(None) }
}

#[allow(
    clippy::inline_always,
    reason = "in the codegen unit of the caller: `typed::entity::codegen_units` says why"
)]
impl<P: Path, O: AnyOrigin, R: ReadAs<P>> TypedRows<P, O, R> {
    #[cfg_attr(debug_assertions, inline(always))]
    pub(super) fn new(rows: Begun<O>) -> Self {
        Self(rows, PhantomData, usize::MAX, None)
    }

    /// Gives so many at the most.
    pub(super) fn at_most(self, left: usize) -> Self {
        Self(self.0, self.1, left, self.3)
    }

    /// Gives those alone that pass this.
    pub(super) fn beyond(self, beyond: PartFilter) -> Self {
        Self(self.0, self.1, self.2, Some(Box::new(beyond)))
    }
}

#[allow(
    clippy::inline_always,
    reason = "in the codegen unit of the caller: `typed::entity::codegen_units` says why"
)]
impl<P: Path, O: AnyOrigin, R: ReadAs<P>> Iterator for TypedRows<P, O, R> {
    type Item = Result<R::Item>;

    #[allow(clippy::manual_map, reason = "the compiler makes each `map` anew for each entity")]
    #[cfg_attr(debug_assertions, inline(always))]
    #[cfg_attr(not(debug_assertions), inline)]
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
            Ok(rows) => P::Entity::next::<P, O, R>(rows),
            Err(error) => match error.take() {
                Some(error) => Some(Err(error)),
                None => None,
            },
        }
    }
}

#[cfg(feature = "async")]
impl<P: Path, R: ReadAs<P>> Resumable for TypedRows<P, DynamicTable, R> {
    type Row = R::Item;

    fn next_and_place(&mut self) -> (Option<Result<R::Item>>, Option<Continuation>) {
        // Where what is given is fewer than the rows, the rows do not tell how many may still come.
        let counts_itself = const { R::LEAVES_OUT } || self.3.is_some();
        match &mut self.0 {
            Ok(rows) if !counts_itself => {
                rows.next_and_place(|reading, view| R::read(reading.snapshot, reading.table, view))
            }
            _ => (self.next(), None),
        }
    }
}

/// Entities, and what indexes hold of them, as rows give them.
trait Next: Entity {
    // Where it is optimized, nothing is called for a row that could be done in place.
    #[allow(clippy::manual_map, reason = "the compiler makes each `map` anew for each entity")]
    #[cfg_attr(not(debug_assertions), inline)]
    fn next<P: Path, O: AnyOrigin, R: ReadAs<P>>(
        rows: &mut BufferedScan<O::SnapshotHandle>,
    ) -> Option<Result<R::Item>> {
        if let Some((reading, view)) = rows.next_plain() {
            return match R::read(reading.snapshot, reading.table, &view) {
                Err(error) => Some(Err(rows.failed(error))),
                read => Some(read),
            };
        }
        Self::next_by::<P, O, R>(rows)
    }

    /// Reads the next row, which [`next`](Self::next) could not read in place.
    #[allow(clippy::manual_map, reason = "the compiler makes each `map` anew for each entity")]
    #[cfg_attr(not(debug_assertions), inline(never))]
    fn next_by<P: Path, O: AnyOrigin, R: ReadAs<P>>(
        rows: &mut BufferedScan<O::SnapshotHandle>,
    ) -> Option<Result<R::Item>> {
        let mut found = None;
        let mut read =
            |reading: &Reading<'_>, view: &RowView<'_>| Self::keep::<P, R>(reading, view, &mut found);
        match rows.next(&mut read) {
            Some(Ok(())) => match found {
                Some(found) => Some(Ok(found)),
                None => None,
            },
            Some(Err(error)) => Some(Err(error)),
            None => None,
        }
    }

    /// Keeps what a row is read as.
    fn keep<P: Path, R: ReadAs<P>>(
        reading: &Reading<'_>,
        view: &RowView<'_>,
        found: &mut Option<R::Item>,
    ) -> Result<()> {
        match R::read(reading.snapshot, reading.table, view) {
            Ok(read) => *found = Some(read),
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

impl<E: Entity> Next for E {}

impl<P: Path, O: AnyOrigin, R: ReadAs<P>> std::iter::FusedIterator for TypedRows<P, O, R> {}

impl<P: Path, O: AnyOrigin, R: ReadAs<P>> fmt::Debug for TypedRows<P, O, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TypedRows").finish_non_exhaustive()
    }
}
