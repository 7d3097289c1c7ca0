//! What generated code calls. Not part of the API: it changes with the derive.

pub use std::borrow::Cow;
pub use std::boxed::Box;
use std::fmt;
pub use std::vec::Vec;

#[cfg(feature = "async")]
pub use crate::__async_ends as async_ends;
#[cfg(not(feature = "async"))]
pub use crate::__no_async_ends as async_ends;
pub use crate::error::Result;
pub use crate::handle::page::Page;
pub use crate::handle::table::DynamicTable;
pub use crate::model::{DynamicEntity, EdmType, ValueRef};
pub use crate::plan::Values;
pub use crate::query::{Continuation, Explain, Filter, PageBudget};
pub use crate::row::view::RowView;
pub use crate::schema;
pub use crate::schema::{
    ByDependent, ByProjection, CopiedInto, Countable, KeyElements, KeyField, KeyPart, Property,
    PropertyValue, Series, SummarizedIn, Summarizing, SummaryOf, ValueError, checks, slot_fields, slot_names,
    slot_properties, source_field,
};
#[cfg(feature = "async")]
pub use crate::typed::Blocks;
pub use crate::typed::{
    Additions, AnyOrigin, AnyQuery, At, Blind, BlindArg, Column, Comes, ComesAfter, Condition, Copied,
    CopyOf, CopyReader, CountsBackwards, Dependent, Dual, Elements, Encrypted, Ended, Ends, Entities, Entity,
    EntitySet, EntityView, Eventual, EventualCopies, FieldNamed, FieldNumber, FieldViews, Fits, FlatColumns,
    FromPreviousVersion, GoesOn, Group, HasField, HeldBy, Holds, InOne, InOneTable, InPartition,
    InPeriodRange, InPeriodRangeAt, InPeriods, IndexKey, Key, KeyArg, KeyArgs, KeyResult, ListKey, Maybe,
    MemberOf, Never, Newest, OfAnyKind, Offers, OffersPrefix, OffersRange, OneTable, Open, Origin, OwnRows,
    PartArg, Partition, Path, PathQuery, Plain, PreviousVersion, Projection, Properties, QueriedAsAList,
    ReadAs, Ready, RefColumn, RowsOf, Selected, SeriesColumn, SeriesOf, SeriesPatch, SeriesView, SetMember,
    ShownRow, Slots, Source, TableForEachPeriod, TableIn, Turns, TypedRows, TypedViews, Visitor, Whole,
    WholeCopies, add_to_slot, as_bytes, as_bytes_option, as_text, as_text_option, converted, declared,
    elements, exchange, group_fields, group_is_exact, group_names, group_names_len, json, kept_layouts, kin,
    read_copied, read_stored, side_by_side, slot_places, token_key,
};

/// What a patch takes for a field of the key: nothing.
#[diagnostic::on_unimplemented(
    message = "a patch sets no field of the key",
    label = "the key says which entity it is",
    note = "`Table::move_to` gives an entity another key, and moves its copies"
)]
pub trait SetsAKey {}

/// A type with a default, for a field that says `default` or `skip`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no default",
    label = "`default` and `skip` take the `Default` of the field's type",
    note = "derive or implement `Default` for `{Self}`, or give the value: `#[property(default = ..)]`"
)]
pub trait HasDefault: Sized {
    /// Returns the default.
    fn of_type() -> Self;
}

#[diagnostic::do_not_recommend]
impl<T: Default> HasDefault for T {
    fn of_type() -> T {
        T::default()
    }
}

/// Returns the default of a field's type. All code of one field asks for it by this name, and the compiler says once that
/// there is none.
#[inline]
pub fn default_of<T: HasDefault>() -> T {
    T::of_type()
}

/// A function that says of an entity whether it is listed, or counted.
#[diagnostic::on_unimplemented(
    message = "`when` names a function that takes a reference to the entity, and gives a `bool`",
    label = "expected `fn(&{E}) -> bool`",
    note = "write `fn is_listed(&self) -> bool` in `impl {E}`, and `when = {E}::is_listed`"
)]
pub trait Decides<E, By> {
    /// Returns whether it is.
    fn decides(&self, entity: &E) -> bool;
}

/// How a function decides: by a reference to the entity.
#[derive(Debug)]
pub enum ByReference {}

/// No way at all. With a second way the compiler, when neither is one, says so in the trait's words and not in its own of the
/// function's signature.
#[derive(Debug)]
pub enum InNoWay {}

/// What no type is.
pub trait Nothing {}

#[diagnostic::do_not_recommend]
impl<E, F: Fn(&E) -> bool> Decides<E, ByReference> for F {
    fn decides(&self, entity: &E) -> bool {
        self(entity)
    }
}

#[diagnostic::do_not_recommend]
impl<E, F: Nothing> Decides<E, InNoWay> for F {
    fn decides(&self, _: &E) -> bool {
        false
    }
}

/// Returns what the function that `when` names says of an entity.
#[allow(clippy::needless_pass_by_value, reason = "a function, named where it is called")]
#[inline]
pub fn decides<E, By>(when: impl Decides<E, By>, entity: &E) -> bool {
    when.decides(entity)
}

/// Shows a value by its type's name.
pub fn named(f: &mut fmt::Formatter<'_>, name: &str) -> fmt::Result {
    f.debug_struct(name).finish_non_exhaustive()
}

/// The declaration of an entity whose real one has mistakes. The program doesn't compile, so nothing sees it.
pub const NOTHING: &schema::Schema = &schema::Schema::NOTHING;

/// What the derive gives to an entity's queries for calls that are awaited: nothing, without them.
#[cfg(not(feature = "async"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __no_async_ends {
    ($($of:tt)*) => {};
}
