//! What the rows of a query are read as.

use std::marker::PhantomData;

use crate::error::{Error, ErrorKind, Result};
use crate::handle::snapshot::Snapshot;
use crate::handle::table::DynamicTable;
use crate::model::EntityKeys;
use crate::plan::{EntityRow, EntityRows};
use crate::query::Query;
use crate::row::view::RowView;
use crate::schema::KeyPair;
use crate::typed::change::values_of;
use crate::typed::entity::path::{self, Path};
use crate::typed::entity::source::Source;
use crate::typed::entity::stored::Stored;
use crate::typed::entity::{Entity, wide};

/// What the rows of a path are read as.
pub trait ReadAs<P: Path>: sealed::Sealed {
    /// Each of them.
    type Item;

    /// Whether the entity that a row is a copy of is read too.
    #[doc(hidden)]
    const LOOKS_UP: bool = false;

    /// Whether a row may be left out: its copy follows an entity that does not belong there any more.
    #[doc(hidden)]
    const LEAVES_OUT: bool = false;

    /// Reads a row as [`read`](Self::read) does; `None` if the row is left out.
    #[doc(hidden)]
    fn read_if(snapshot: &Snapshot, table: &DynamicTable, view: &RowView<'_>) -> Result<Option<Self::Item>> {
        Self::read(snapshot, table, view).map(Some)
    }

    /// Returns the query with what of its rows is wanted.
    #[doc(hidden)]
    fn select(query: Query) -> Query {
        query
    }

    #[doc(hidden)]
    fn read(snapshot: &Snapshot, table: &DynamicTable, view: &RowView<'_>) -> Result<Self::Item>;

    /// Returns how many parts of a wide entity are read of each.
    #[doc(hidden)]
    fn parts() -> usize {
        P::Entity::SCHEMA.parts.len()
    }
}

mod sealed {
    /// Seals [`ReadAs`](super::ReadAs): only types of this crate implement it.
    pub trait Sealed {}

    impl Sealed for super::Whole {}
    impl Sealed for super::Entities {}
    impl<S> Sealed for super::Selected<S> {}
}

/// Each row as what the path declares: the entity, a whole copy of it, or the copied fields.
#[derive(Debug)]
pub enum Whole {}

#[allow(
    clippy::inline_always,
    reason = "in the codegen unit of the caller: `typed::entity::codegen_units` says why"
)]
impl<P: Path> ReadAs<P> for Whole {
    type Item = P::Item;

    #[cfg_attr(debug_assertions, inline(always))]
    fn read(snapshot: &Snapshot, table: &DynamicTable, view: &RowView<'_>) -> Result<P::Item> {
        if const { is_wide::<P>() } && view.parts().is_none() {
            return P::read(&wide::whole::<P::Entity>(snapshot, table, view.clone())?);
        }
        P::read(view)
    }
}

/// Each row as the entity that it is a copy of.
#[derive(Debug)]
pub enum Entities {}

impl<P: Path> ReadAs<P> for Entities {
    type Item = Stored<P::Entity>;

    const LOOKS_UP: bool = P::INDEX.is_some();

    const LEAVES_OUT: bool = is_eventual::<P>();

    fn read(snapshot: &Snapshot, table: &DynamicTable, view: &RowView<'_>) -> Result<Stored<P::Entity>> {
        let found = <Self as ReadAs<P>>::read_if(snapshot, table, view)?;
        found.ok_or_else(|| Error::new(ErrorKind::EntityNotFound))
    }

    fn read_if(
        snapshot: &Snapshot,
        table: &DynamicTable,
        view: &RowView<'_>,
    ) -> Result<Option<Stored<P::Entity>>> {
        if const { is_wide::<P>() } && view.parts().is_none() {
            let whole = wide::whole::<P::Entity>(snapshot, table, view.clone())?;
            return path::read_stored(&whole).map(Some);
        }
        if P::INDEX.is_none() {
            return path::read_stored(view).map(Some);
        }
        let source = Source::of::<P>(view)?;
        let keys = if P::KEYS.is_elsewhere() {
            source.own_keys()?
        } else {
            KeyPair::of(&view.partition_key(), &source.own_row_key()?)
        };
        let keys = keys.as_keys();
        let table = table.member(P::KEYS.schema().table());
        match snapshot.view(table, keys.partition, keys.row)? {
            Some(own) => {
                path::check_own(&own, P::Entity::SCHEMA)?;
                let own = wide::whole::<P::Entity>(snapshot, table, own)?;
                let entity = path::read_stored(&own)?;
                let belongs = !const { is_eventual::<P>() } || belongs::<P>(&entity, keys, view)?;
                Ok(belongs.then_some(entity))
            }
            None if const { is_eventual::<P>() } => Ok(None),
            None => Err(orphan(view, keys.partition, keys.row)),
        }
    }
}

/// Returns whether the path is that of the heads of wide entities. Asked in a `const` block, so that builds which are not
/// optimized leave out what no other entity needs.
pub(crate) const fn is_wide<P: Path>() -> bool {
    P::INDEX.is_none() && P::Entity::SCHEMA.is_wide()
}

/// Returns whether the rows of a path follow their entities.
const fn is_eventual<P: Path>() -> bool {
    match P::INDEX {
        Some(index) => P::Entity::SCHEMA.is_eventual(index),
        None => false,
    }
}

/// Returns whether an entity has a copy where this row lies.
fn belongs<P: Path>(entity: &P::Entity, own: EntityKeys<'_>, view: &RowView<'_>) -> Result<bool> {
    let values = values_of(entity)?;
    let is_it = |index| P::INDEX == Some(index) && entity.has_row(index);
    let rows = EntityRows::of(P::Entity::SCHEMA, &values, Some(own), None, &is_it)?;
    let (partition, row) = view.keys();
    let lies_there = |copy: &&EntityRow<'_>| rows.place_of(copy).1 == partition && rows.key(copy) == row;
    Ok(rows.rows.iter().filter(|copy| copy.is_elsewhere()).any(|copy| lies_there(&copy)))
}

/// Returns the error of a copy whose entity is not there, in one and the same snapshot.
#[cold]
fn orphan(view: &RowView<'_>, partition: &str, row: &str) -> Error {
    let (partition, row, of) = (partition.escape_debug(), row.escape_debug(), view.partition_key());
    let because = if *of == *partition.to_string() {
        format!("the row is a copy of the entity in row `{row}`, which is not there")
    } else {
        format!("the row is a copy of the entity in partition `{partition}`, row `{row}`, which is not there")
    };
    Error::new(ErrorKind::Corrupt).because(because).partition(&view.partition_key()).row(&view.row_key())
}

/// Each row as some of its fields.
#[derive(Debug)]
pub struct Selected<S>(PhantomData<fn() -> S>);
