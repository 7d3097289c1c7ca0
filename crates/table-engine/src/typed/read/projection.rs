//! Some of an entity's fields.

use super::reading::{ReadAs, Selected, Whole, is_wide};
use crate::error::Result;
use crate::handle::snapshot::Snapshot;
use crate::handle::table::DynamicTable;
use crate::model::names::ENTITY_PARTS;
use crate::query::Query;
use crate::row::view::RowView;
use crate::schema;
use crate::typed::change::values_of;
use crate::typed::entity::path::Path;
use crate::typed::entity::source::Source;
use crate::typed::entity::{Entity, previous_version, wide};
use crate::typed::query::{Fits, HeldBy, OwnRows, PathQuery};

use super::origin::AnyOrigin;

/// A struct of some of an entity's fields, which queries read instead of the whole: `#[derive(Projection)]`.
///
/// Code that is generic over projections says of which rows they are: [`Fits<OwnRows<Employee>>`](Fits) of the entity's own, and
/// for an index `Fits` of its path, which `#[entity(types)]` gives a name.
///
/// ```
/// use table_core::typed::{Fits, OwnRows};
/// use table_core::{Entity, Projection, Result, Table};
///
/// #[derive(Entity)]
/// #[entity(table = "Company", kind = "employee")]
/// #[key(partition = "{department}", row = "empid_{id:06}")]
/// struct Employee { department: String, id: u32, age: i32 }
///
/// #[derive(Projection)]
/// #[projection(of = Employee)]
/// struct Age { age: i32 }
///
/// fn of_department<P: Fits<OwnRows<Employee>>>(staff: &Table<Employee>, department: &str) -> Result<Vec<P>> {
///     staff.rows().department(department).select::<P>().into_iter().collect()
/// }
/// # let store = table_core::Store::temporary()?;
/// # let staff = store.table::<Employee>()?;
/// # staff.insert(&Employee { department: "Sales".into(), id: 1, age: 40 })?;
/// assert_eq!(of_department::<Age>(&staff, "Sales")?[0].age, 40);
/// # Ok::<(), table_core::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a projection",
    label = "add `#[derive(Projection)]` and `#[projection(of = ..)]` to it"
)]
pub trait Projection: Sized {
    /// The entity.
    type Entity: Entity;

    /// What says which rows hold the fields: the struct itself. Of a type that is no projection nothing is asked.
    #[doc(hidden)]
    type Taken: HeldBy<OwnRows<Self::Entity>>;

    /// The fields, by their places in the entity's schema.
    #[doc(hidden)]
    const FIELDS: &'static [usize];

    #[doc(hidden)]
    fn from_source(source: &Source<'_>) -> Result<Self>;
}

/// A projection, as bounds ask for it: the compiler's error about this trait does not list the projections that there are.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a projection",
    label = "add `#[derive(Projection)]` and `#[projection(of = ..)]` to it"
)]
pub trait Projected: Projection<Entity = Self::Of> {
    /// The entity.
    type Of: Entity;
    /// What says which rows hold the fields.
    type Taken: HeldBy<OwnRows<Self::Of>>;
}

#[diagnostic::do_not_recommend]
impl<S: Projection> Projected for S {
    type Of = S::Entity;
    type Taken = <S as Projection>::Taken;
}

impl<P, S> ReadAs<P> for Selected<S>
where
    P: Path,
    S: Projection<Entity = P::Entity>,
{
    type Item = S;

    fn select(query: Query) -> Query {
        let fields = P::KEYS.schema().fields;
        let names = |field: &usize| fields.get(*field).map(|field| [Some(field.property), field.was]);
        // What the parts of a wide entity hold is read with them.
        let is_held = |at: &&usize| !is_wide::<P>() || fields.get(**at).is_some_and(|field| field.part == 0);
        let names = S::FIELDS.iter().filter(is_held).filter_map(names).flatten().flatten();
        query.select(names.chain(is_wide::<P>().then_some(ENTITY_PARTS)))
    }

    fn parts() -> usize {
        let schema = P::KEYS.schema();
        let of_part = |field: &usize| schema.fields.get(*field).map_or(0, |field| field.part);
        (1..=schema.parts.len()).filter(|part| S::FIELDS.iter().any(|field| of_part(field) == *part)).count()
    }

    fn read(snapshot: &Snapshot, table: &DynamicTable, view: &RowView<'_>) -> Result<S> {
        if const { is_wide::<P>() } && view.parts().is_none() {
            return read::<P, S>(&joined::<S>(snapshot, table, view.clone())?);
        }
        read::<P, S>(view)
    }
}

/// Returns the head of a wide entity with those of its parts that hold fields of the projection.
pub(super) fn joined<'v, S: Projection>(
    snapshot: &'v Snapshot,
    table: &DynamicTable,
    head: RowView<'v>,
) -> Result<RowView<'v>> {
    let schema = <S::Entity as Entity>::SCHEMA;
    let of_part = |field: &usize| schema.fields.get(*field).map_or(0, |field| field.part);
    let is_wanted = |part: usize| S::FIELDS.iter().any(|field| of_part(field) == part);
    let head = wide::joined(snapshot, table, schema, head, &is_wanted)?;
    wide::check_some(&head, schema, &is_wanted)?;
    Ok(head)
}

/// Reads the projection from a row of the path.
pub(crate) fn read<P: Path, S: Projection<Entity = P::Entity>>(view: &RowView<'_>) -> Result<S> {
    const { assert_holds::<P, S>() };
    if const { P::INDEX.is_none() && P::Entity::SCHEMA.previous.is_some() }
        && !view.is_shaped_as(P::Entity::SCHEMA.entity_type)
        && let Some(entity) = previous_version::read::<P::Entity>(view)?
    {
        return S::from_source(&Source::given(P::Entity::SCHEMA, &values_of(&entity)?));
    }
    // Taking the keys apart costs more than most fields.
    let needs_keys = |field: &usize| P::KEYS.gives_field(*field) || P::KEYS.opens_by_keys(*field);
    let source = if S::FIELDS.iter().any(needs_keys) {
        Source::of::<P>(view)?
    } else {
        Source::without_keys(P::KEYS.schema(), view)
    };
    S::from_source(&source)
}

/// Stops the compiler if rows of the path lack a field of the projection.
const fn assert_holds<P: Path, S: Projection<Entity = P::Entity>>() {
    let mut fields = S::FIELDS;
    while let [field, rest @ ..] = fields {
        schema::checks::held(<P::Entity as Entity>::SCHEMA, P::INDEX, *field);
        fields = rest;
    }
}

impl<P: Path, O: AnyOrigin, Step> PathQuery<P, O, Whole, Step> {
    /// Reads some of the fields alone.
    ///
    /// A field that rows of the index don't hold does not compile:
    ///
    /// ```compile_fail,E0277
    /// use table_core::{Entity, Projection, Table};
    ///
    /// #[derive(Entity)]
    /// #[entity(table = "Company", kind = "employee")]
    /// #[key(partition = "{department}", row = "empid_{id:06}")]
    /// #[index(by_email, row = "email_{email}_{id:06}", copy(first_name))]
    /// struct Employee { department: String, id: u32, first_name: String, email: String, age: i32 }
    ///
    /// #[derive(Projection)]
    /// #[projection(of = Employee)]
    /// struct Age { age: i32 }
    ///
    /// fn ages(staff: &Table<Employee>) {
    ///     for age in staff.by_email().department("Sales").select::<Age>() {}
    /// }
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = table_core::Store::open(dir.path().join("company.tables")).unwrap();
    /// # ages(&store.table().unwrap());
    /// ```
    #[doc(hidden)]
    pub fn select<S>(self) -> PathQuery<P, O, Selected<S>>
    where
        S: Fits<P>,
    {
        self.retyped()
    }
}
