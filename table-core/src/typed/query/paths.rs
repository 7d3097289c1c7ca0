//! The paths whose rows have every field: they differ in numbers alone, and so need no types of their own.

use std::marker::PhantomData;

use crate::error::Result;
use crate::row::view::RowView;
use crate::typed::entity::Entity;
use crate::typed::entity::path::Path;
use crate::typed::entity::path::{read_copied, read_stored};
use crate::typed::entity::stored::{Copied, Eventual, Stored};

/// The entity's own rows.
#[derive(Debug)]
pub struct OwnRows<E>(PhantomData<fn() -> E>);

impl<E: Entity> Path for OwnRows<E> {
    type Entity = E;
    type Item = Stored<E>;
    type Columns = E::Columns;

    const INDEX: Option<usize> = None;
    const COLUMNS: &'static E::Columns = E::COLUMNS;

    fn read(view: &RowView<'_>) -> Result<Stored<E>> {
        read_stored(view)
    }
}

/// The whole copies of the index at this place among the schema's.
#[derive(Debug)]
pub struct WholeCopies<E, const INDEX: usize>(PhantomData<fn() -> E>);

impl<E: Entity, const INDEX: usize> Path for WholeCopies<E, INDEX> {
    type Entity = E;
    type Item = Copied<E>;
    type Columns = E::Columns;

    const INDEX: Option<usize> = Some(INDEX);
    const COLUMNS: &'static E::Columns = E::COLUMNS;

    fn read(view: &RowView<'_>) -> Result<Copied<E>> {
        read_copied::<Self>(view)
    }
}

/// The whole copies of the `eventual` index at this place among the schema's.
#[derive(Debug)]
pub struct EventualCopies<E, const INDEX: usize>(PhantomData<fn() -> E>);

impl<E: Entity, const INDEX: usize> Path for EventualCopies<E, INDEX> {
    type Entity = E;
    type Item = Eventual<E>;
    type Columns = E::Columns;

    const INDEX: Option<usize> = Some(INDEX);
    const COLUMNS: &'static E::Columns = E::COLUMNS;

    fn read(view: &RowView<'_>) -> Result<Eventual<E>> {
        read_copied::<Self>(view).map(|copied| Eventual::of(view, Copied::into_inner(copied)))
    }
}
