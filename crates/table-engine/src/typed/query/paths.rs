//! The paths whose rows have every field: they differ in numbers alone, and so need no types of their own. And what rows
//! of a path hold, so that a projection which takes more is refused where it is asked for.

use std::marker::PhantomData;

use crate::error::Result;
use crate::row::view::RowView;
use crate::typed::entity::Entity;
use crate::typed::entity::path::{Path, read_copied, read_stored};
use crate::typed::entity::stored::{Copied, Eventual, Stored};
use crate::typed::read::projection::Projected;

/// The number of a field, which a derive makes of its name.
///
/// A number is what a derive can tell another one: neither sees the other's struct, and names can't be said in types.
#[derive(Debug)]
pub enum FieldNumber<const FIELD: u64> {}

/// A field of a projection: a type that its derive makes, which is called as the field and the projection are.
pub trait FieldNamed {
    /// The number of its name.
    type Number;
}

/// A path whose rows hold the field with this number.
pub trait Holds<Number> {}

#[diagnostic::do_not_recommend]
impl<E, Number> Holds<Number> for OwnRows<E> {}
#[diagnostic::do_not_recommend]
impl<E, const INDEX: usize, Number> Holds<Number> for WholeCopies<E, INDEX> {}
#[diagnostic::do_not_recommend]
impl<E, const INDEX: usize, Number> Holds<Number> for EventualCopies<E, INDEX> {}

/// The rows of a path, of which a projection asks what they hold. A type beside the path, so that the compiler speaks of the
/// field that they lack wherever it is asked for.
#[derive(Debug)]
pub struct RowsOf<P>(PhantomData<fn() -> P>);

/// Rows that hold the field.
#[diagnostic::on_unimplemented(
    message = "rows of this index lack a field of the projection: `{Named}`",
    label = "name the field in `copy(..)` of the index, or read the entities themselves",
    note = "`.entities()` of a query reads the entity behind each row, and the entity's own key finds it"
)]
pub trait HasField<Named> {}

#[diagnostic::do_not_recommend]
impl<P: Holds<Named::Number>, Named: FieldNamed> HasField<Named> for RowsOf<P> {}

/// A projection whose fields rows of the path hold, each of them.
#[diagnostic::on_unimplemented(
    message = "rows of this path may lack a field of a projection that is any",
    label = "give the type parameter the bound `table_core::typed::Fits<{P}>`, in the place of `Projection`",
    note = "`Fits<OwnRows<..>>` is for an entity's own rows; the path of an index has its name by `#[entity(types)]`"
)]
pub trait HeldBy<P> {}

/// A path whose rows hold each field of the projection `S`: [`HeldBy`] the other way round.
pub trait HoldsAll<S> {}

impl<P, S: HeldBy<P>> HoldsAll<S> for P {}

/// A projection of the path's entity whose fields rows of the path hold. One bound, so that the compiler says on the struct's
/// own name what is wrong with it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a projection",
    label = "add `#[derive(Projection)]` and `#[projection(of = ..)]` to it"
)]
pub trait Fits<P: Path>: Projected<Of = P::Entity, Taken: HeldBy<P>> {}

impl<P: Path, S: Projected<Of = P::Entity, Taken: HeldBy<P>>> Fits<P> for S {}

/// The entity's own rows.
#[derive(Debug)]
pub struct OwnRows<E>(PhantomData<fn() -> E>);

#[allow(
    clippy::inline_always,
    reason = "in the codegen unit of the caller: `typed::entity::codegen_units` says why"
)]
impl<E: Entity> Path for OwnRows<E> {
    type Entity = E;
    type Item = Stored<E>;
    type Columns = E::Columns;

    const INDEX: Option<usize> = None;
    const COLUMNS: &'static E::Columns = E::COLUMNS;

    #[cfg_attr(debug_assertions, inline(always))]
    fn read(view: &RowView<'_>) -> Result<Stored<E>> {
        read_stored(view)
    }
}

/// The whole copies of the index at this place among the schema's.
#[derive(Debug)]
pub struct WholeCopies<E, const INDEX: usize>(PhantomData<fn() -> E>);

#[allow(
    clippy::inline_always,
    reason = "in the codegen unit of the caller: `typed::entity::codegen_units` says why"
)]
impl<E: Entity, const INDEX: usize> Path for WholeCopies<E, INDEX> {
    type Entity = E;
    type Item = Copied<E>;
    type Columns = E::Columns;

    const INDEX: Option<usize> = Some(INDEX);
    const COLUMNS: &'static E::Columns = E::COLUMNS;

    #[cfg_attr(debug_assertions, inline(always))]
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
