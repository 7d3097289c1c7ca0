//! Entities in rows of previous versions: read as what they were, and made into what they are.

use std::fmt::Display;

use super::Entity;
use super::path::of_kin;
use super::source::Source;
use crate::error::{Error, ErrorKind, Result};
use crate::executor::PreviousRows;
use crate::model::EntityKeys;
use crate::plan::Values;
use crate::row::view::RowView;
use crate::schema::{self, Kinship, Schema};
use crate::sealing::sign::check_signed;
use crate::typed::change::values_of;

/// A previous version of an entity: `#[entity(kind = "..", version = 1, former)]`. It is read, and nothing else.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a previous version of an entity",
    label = "this struct has no `former`",
    note = "the struct of a previous version says so: `#[entity(kind = \"..\", version = 1, former)]`"
)]
pub trait PreviousVersion: Sized + 'static {
    /// The declaration, as a constant.
    const SCHEMA: &'static Schema;

    /// Takes the fields in the schema's order.
    #[doc(hidden)]
    fn from_source(source: &mut Source<'_>) -> Result<Self>;

    /// Reads one from a row of this kind, which is that of a version before its own, if it knows that.
    #[doc(hidden)]
    fn previous(view: &RowView<'_>, kind: &str) -> Result<Option<Self>> {
        let _ = (view, kind);
        Ok(None)
    }
}

/// What is made from a previous version of itself. This is the one place that asks whether that is one, so that the compiler
/// tells once if it isn't.
///
/// `F` is that version again: an `impl` is as private as what it names, so a public struct may be made from a private one.
#[doc(hidden)]
pub trait FromPreviousVersion<F>: Sized {
    type From: PreviousVersion;

    /// Its declaration.
    const FROM: &'static Schema = <Self::From as PreviousVersion>::SCHEMA;
}

/// What the next version of an entity is made of; for every type with the `From` or the `TryFrom`.
#[diagnostic::on_unimplemented(
    message = "nothing says how `{F}` becomes `{Self}`",
    label = "this struct is not made from `{F}`",
    note = "write `impl From<{F}> for {Self}`, or `impl TryFrom<{F}> for {Self}` if not each can be converted"
)]
pub trait MadeFrom<F>: Sized {
    #[doc(hidden)]
    fn made_from(previous: F) -> Result<Self, String>;
}

#[diagnostic::do_not_recommend]
impl<F, T: TryFrom<F>> MadeFrom<F> for T
where
    T::Error: Display,
{
    fn made_from(previous: F) -> Result<Self, String> {
        Self::try_from(previous).map_err(|error| error.to_string())
    }
}

/// Returns what a row of this kind becomes, if it is of the previous version or of one that that is made from.
pub fn converted<T, F>(view: &RowView<'_>, kind: &str) -> Result<Option<T>>
where
    T: FromPreviousVersion<F> + MadeFrom<T::From>,
{
    let schema = T::FROM;
    let previous = if kind == schema.entity_type {
        check_signed(view, const { T::FROM.tag(None) })?;
        T::From::from_source(&mut Source::new(schema, schema.place(), view)?)?
    } else {
        match T::From::previous(view, kind)? {
            Some(previous) => previous,
            None => return Ok(None),
        }
    };
    T::made_from(previous).map(Some).map_err(|why| not_converted(view, &why))
}

#[cold]
fn not_converted(view: &RowView<'_>, why: &str) -> Error {
    let error = Error::new(ErrorKind::NotConverted).because(format!("it can't be converted: {why}"));
    error.partition(&view.partition_key()).row(&view.row_key())
}

/// Returns the entity that a row of a previous version becomes, as it will be read when it is written anew; `None` if the row
/// is of the entity's own version.
#[cold]
pub(crate) fn read<E: Entity>(view: &RowView<'_>) -> Result<Option<E>> {
    let kind = view.kind()?.unwrap_or_default();
    if kind == E::SCHEMA.entity_type {
        return Ok(None);
    }
    let Some(entity) = E::previous(view, kind)? else { return Err(of_kin(view, E::SCHEMA)) };
    let values = values_of(&entity).map_err(|error| not_converted(view, &error.to_string()))?;
    check_key(view, E::SCHEMA, &values)?;
    if E::EXACT {
        drop(values);
        return Ok(Some(entity));
    }
    E::from_source(&mut Source::given(E::SCHEMA, &values)).map(Some)
}

/// Refuses an entity that has become one of another key than its row's, where the templates say that it keeps its own: it
/// would be looked for where it is not.
fn check_key(view: &RowView<'_>, schema: &'static Schema, values: &Values<'_>) -> Result<()> {
    let keys = schema::own_keys(schema, values).map_err(|error| not_converted(view, &error.to_string()))?;
    let (partition, row) = view.keys();
    let Kinship::PreviousVersion(previous) =
        view.kind()?.map_or(Kinship::Foreign, |kind| schema.kinship(kind))
    else {
        return Ok(());
    };
    if keys.as_keys() == EntityKeys::new(&partition, &row) || !schema.keeps_keys_since(previous.version) {
        return Ok(());
    }
    let EntityKeys { partition, row } = keys.as_keys();
    let why = format!(
        "it would be partition `{}`, row `{}`, and an entity whose key has the same template as before keeps its key",
        partition.escape_debug(),
        row.escape_debug()
    );
    Err(not_converted(view, &why))
}

/// What tells a filter of an entity's rows what those of previous versions become.
pub(crate) struct PreviousVersions<E>(std::marker::PhantomData<fn() -> E>);

impl<E: Entity> PreviousVersions<E> {
    pub(crate) const ROWS: Option<&'static PreviousRows> = if E::SCHEMA.previous.is_some() {
        Some(&PreviousRows { schema: E::SCHEMA, convert: convert::<E> })
    } else {
        None
    };
}

/// Gives `take` the fields of what a row of a previous version becomes.
fn convert<E: Entity>(view: &RowView<'_>, take: &mut dyn FnMut(&Values<'_>) -> Result<()>) -> Result<()> {
    match read::<E>(view)? {
        Some(entity) => take(&values_of(&entity)?),
        None => Err(of_kin(view, E::SCHEMA)),
    }
}
