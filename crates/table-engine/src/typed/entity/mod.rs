//! What the derive implements.

pub(crate) mod codegen_units;
pub(crate) mod column;
pub(crate) mod comparisons;
pub(crate) mod dependent;
pub(crate) mod group;
pub(crate) mod path;
pub(crate) mod previous_version;
pub(crate) mod properties;
pub(crate) mod source;
pub(crate) mod stored;
pub(crate) mod wide;

use crate::error::Result;
use crate::model::Value;
use crate::plan::Values;
use crate::row::view::RowView;
use crate::schema::{Field, KeyElements, Property, PropertyValue, Schema};

use self::dependent::{CopyReader, Dependent};
use self::source::Source;
use crate::typed::read::origin::AnyOrigin;
use crate::typed::read::view::EntityView;
use crate::typed::series::Additions;

/// A struct whose values are kept in a table under the keys that it declares. Derived, not written by hand.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an entity",
    label = "add `#[derive(Entity)]` to it"
)]
pub trait Entity: Sized + 'static {
    /// The declaration, as a constant.
    const SCHEMA: &'static Schema;

    /// What a table of the entity offers besides its own methods: one for each way to query it. `#[entity(types)]` gives it,
    /// the queries and the patch names and pages of their own.
    type Indexes<O: AnyOrigin>;

    /// What filters of its rows and whole copies can speak of.
    type Columns: 'static;

    #[doc(hidden)]
    const COLUMNS: &'static Self::Columns;

    /// The entity in place: a method for each field.
    type View<'a>: EntityView<'a>;

    #[doc(hidden)]
    fn indexes<O: AnyOrigin>(origin: O) -> Self::Indexes<O>;

    /// Whether every field is read as it was written: none is floored, skipped or kept as other text.
    #[doc(hidden)]
    const EXACT: bool = Field::are_exact(Self::SCHEMA.fields);

    /// Gives the fields in the schema's order.
    #[doc(hidden)]
    fn values<'a>(&'a self, out: &mut Values<'a>);

    /// Takes the fields in the schema's order.
    #[doc(hidden)]
    fn from_source(source: &mut Source<'_>) -> Result<Self>;

    /// Reads the entity from a row of this kind, which is that of a previous version; `None` if it knows no such version.
    #[doc(hidden)]
    fn previous(view: &RowView<'_>, kind: &str) -> Result<Option<Self>> {
        let _ = (view, kind);
        Ok(None)
    }

    /// Returns the elements of a field that stand in keys one by one, of a row whose sealed fields need not open.
    #[doc(hidden)]
    fn elements(source: &Source<'_>, field: usize) -> Result<Elements> {
        let _ = (source, field);
        Ok(Vec::new())
    }

    /// Some of the fields, to be set: all but those of the primary key. It has a method for each, called as the field is;
    /// `#[entity(types)]` gives it a page of its own.
    type Patch;

    /// Exchanges the fields that the patch sets with those of the entity. Done twice, it changes nothing.
    #[doc(hidden)]
    fn exchange(&mut self, patch: &mut Self::Patch);

    /// How each of the [copies](Schema::copied) that it holds is made.
    #[doc(hidden)]
    const HELD: &'static [CopyReader] = &[];

    /// The entities that hold copies of it.
    #[doc(hidden)]
    const DEPENDENTS: &'static [Dependent] = &[];

    /// Refuses a patch that sets slots which a series has not.
    #[doc(hidden)]
    fn check_patch(patch: &Self::Patch) -> Result<()> {
        let _ = patch;
        Ok(())
    }

    /// The declaration of the entities that it is a summary of.
    #[doc(hidden)]
    const SUMMARIZES: Option<&'static Schema> = None;

    /// Returns a bit for each number of the summary at this place among the indexes that the entity counts in.
    #[doc(hidden)]
    fn counted(&self, index: usize) -> u64 {
        let _ = index;
        0
    }

    /// Returns whether the entity has a row of this sparse index.
    #[doc(hidden)]
    fn has_row(&self, index: usize) -> bool {
        let _ = index;
        true
    }

    /// Has the compiler say that an entity with a series has an `add`, and another has none.
    #[doc(hidden)]
    fn add() -> Additions<Self>
    where
        Self: HasSeries,
    {
        Additions::new()
    }
}

/// What no entity is: one with a series has a function `add` of its own.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no series, and `add` adds to the slots of one",
    label = "write `update`, which changes any field"
)]
pub trait HasSeries {}

/// An entity whose rows lie in one table, which [`Store::table`](crate::Tables::table) gives. Derived, not written by hand.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an entity of one table",
    label = "a struct becomes one by `#[derive(Entity)]`",
    note = "a previous version of an entity is read as the entity that is made from it"
)]
pub trait InOneTable: Entity {}

/// An entity that has a table for each period, which [`Store::periods`](crate::Tables::periods) gives. Derived, not written by
/// hand.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an entity with a table for each period",
    label = "a struct becomes one by `#[derive(Entity)]` and a time in its table's name: `#[entity(table = \"Logins{{at:%Y%m%d}}\", ..)]`"
)]
pub trait InPeriods: Entity {}

/// What the `impl` of [`InOneTable`] asks for that an entity with a table for each period has. No type meets it, so that
/// the compiler says how such an entity is read and changed. It is asked of a reference of any lifetime: that is looked at
/// where the
/// `impl` is used, and not where it stands.
#[diagnostic::on_unimplemented(
    message = "`{E}` has a table for each period, and no one table",
    label = "open its tables by `store.periods::<{E}>()?`; what changes together in one of them does so by their `egt(..)`"
)]
pub trait OneTable<E> {}

/// What the `impl` of [`InPeriods`] asks for that an entity of one table has.
#[diagnostic::on_unimplemented(
    message = "`{E}` has one table, and none for each period",
    label = "open it by `store.table::<{E}>()?`; for periods its table's name says a time: `#[entity(table = \"Logins{{at:%Y%m%d}}\", ..)]`"
)]
pub trait TableForEachPeriod<E> {}

/// What a merge takes: the entity's own patch, or what becomes one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no patch of `{E}`",
    label = "write `{E}::patch()` and what it is to set",
    note = "a patch sets some of the fields of the entity that is stored; `replace` and `put` take the whole entity"
)]
pub trait PatchOf<E: Entity>: Into<E::Patch> {}

#[diagnostic::do_not_recommend]
impl<E: Entity, P: Into<E::Patch>> PatchOf<E> for P {}

/// A patch of an entity: made by the entity's own `patch` function, with a setter for each field.
pub type Patch<E> = <E as Entity>::Patch;

/// What filters of an entity can speak of: what the closure of `filter(..)` is given.
///
/// ```
/// use table_core::typed::Columns;
/// use table_core::{Entity, Filter};
///
/// # #[derive(Entity)]
/// # #[entity(table = "Company", kind = "employee")]
/// # #[key(partition = "{department}", row = "empid_{id:06}")]
/// # struct Employee { department: String, id: u32, age: i32 }
/// fn adult(employee: &Columns<Employee>) -> Filter {
///     employee.age.ge(18)
/// }
/// # fn adults(staff: &table_core::Table<Employee>) -> table_core::Result<u64> {
/// staff.rows().department("Sales").filter(adult).count()
/// # }
/// ```
pub type Columns<E> = <E as Entity>::Columns;

/// What the elements of a field print in keys.
pub type Elements = Vec<Value>;

/// Returns the elements of a field that stand in keys.
pub fn elements<C: KeyElements>(collection: &C) -> Elements {
    let printed = collection.elements().map(|element| element.to_property().map(PropertyValue::into_value));
    printed.filter_map(|element| element.ok().flatten()).collect()
}

/// Exchanges a field with what the patch sets for it, if it sets it.
pub fn exchange<T>(field: &mut T, patched: &mut Option<T>) {
    if let Some(value) = patched {
        std::mem::swap(field, value);
    }
}
