//! Several kinds of entities in one table.

mod any;
mod at;
mod query;

use std::fmt;
use std::marker::PhantomData;

pub use at::SetAt;
pub use query::{SetQuery, SetRows};

use crate::error::{Error, ErrorKind, Result};
use crate::handle::snapshot::Snapshot;
use crate::handle::table::DynamicTable;
use crate::model::{DynamicEntity, EntityKeys};
use crate::query::Query;
use crate::row::view::RowView;
use crate::schema::{self, Schema};
use crate::typed::change::egt::{Egt, MemberOf};
use crate::typed::entity::path::{Path, check_own, read_stored};
use crate::typed::entity::stored::Stored;
use crate::typed::entity::{Entity, wide};
use crate::typed::query::OwnRows;
use crate::typed::read;
use crate::typed::read::key::{Key, Partition};
use crate::typed::read::missed::look_again;

/// An enum of the kinds of entities in one table. Derived, not written by hand.
///
/// ```
/// use table_core::{Entity, EntitySet, Store};
///
/// #[derive(Entity)]
/// #[entity(table = "Company", kind = "department")]
/// #[key(partition = "{name}", row = "department")]
/// struct Department {
///     name: String,
///     head_count: u32,
/// }
///
/// #[derive(Entity)]
/// #[entity(table = "Company", kind = "employee")]
/// #[key(partition = "{department}", row = "empid_{id:06}")]
/// struct Employee {
///     department: String,
///     id: u32,
/// }
///
/// #[derive(EntitySet)]
/// enum Company {
///     Department(Department),
///     Employee(Employee),
/// }
///
/// # let dir = tempfile::tempdir()?;
/// # let store = Store::open(dir.path().join("company.tables"))?;
/// # store.table::<Department>()?.insert(&Department { name: "Sales".into(), head_count: 0 })?;
/// // Both or neither: the employee, and the count of them.
/// store
///     .egt::<Company>(Employee::partition("Sales"))
///     .insert(&Employee { department: "Sales".into(), id: 1 })
///     .update(Department::key("Sales"), |department| department.head_count += 1)
///     .commit()?;
///
/// for entity in store.set::<Company>()?.partition(Employee::partition("Sales")) {
///     match &*entity? {
///         Company::Department(department) => assert_eq!(department.head_count, 1),
///         Company::Employee(employee) => assert_eq!(employee.id, 1),
///     }
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a set of entities",
    label = "not a set of entities",
    note = "add `#[derive(EntitySet)]` to an enum of the kinds in the table"
)]
pub trait EntitySet: Sized + 'static {
    /// The declarations of its kinds.
    const KINDS: &'static [&'static Schema];

    /// Returns what the visitor makes of the member of this kind; `None` if the set has no such kind.
    #[doc(hidden)]
    fn visit<V: Visitor<Self>>(kind: &str, visitor: V) -> Option<V::Output>;

    /// Returns what stands for a row of any other kind, if there is a variant for it.
    #[doc(hidden)]
    fn unknown(entity: DynamicEntity) -> Option<Self> {
        drop(entity);
        None
    }
}

/// What a set holds: an entity. Of this trait the compiler speaks, without the entities that there are.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an entity",
    label = "add `#[derive(Entity)]` to it"
)]
pub trait SetMember: Entity {}

#[diagnostic::do_not_recommend]
impl<E: Entity> SetMember for E {}

/// Returns its declaration.
#[must_use]
pub const fn declared<E: SetMember>() -> &'static Schema {
    E::SCHEMA
}

/// What a set holds rows of other kinds as.
#[diagnostic::on_unimplemented(
    message = "`#[entity_set(unknown)]` holds rows of kinds that the set does not name",
    label = "write `DynamicEntity`",
    note = "`Other(DynamicEntity)`: its properties are whatever the row has"
)]
pub trait OfAnyKind {
    /// Makes a value of the row.
    fn of_any_kind(row: DynamicEntity) -> Self;
}

#[diagnostic::do_not_recommend]
impl OfAnyKind for DynamicEntity {
    fn of_any_kind(row: DynamicEntity) -> Self {
        row
    }
}

/// What is to be done with a member of a set, whichever it is.
#[doc(hidden)]
pub trait Visitor<Set> {
    type Output;

    fn visit<E: SetMember>(self, variant: fn(E) -> Set) -> Self::Output;
}

/// A row, and where the parts are read of one that is the head of a wide entity.
struct Read<'v>(Option<Parts<'v>>, &'v RowView<'v>);

/// A snapshot, and the table of the head.
type Parts<'v> = (&'v Snapshot, &'v DynamicTable);

impl<Set> Visitor<Set> for Read<'_> {
    type Output = Result<Stored<Set>>;

    fn visit<E: SetMember>(self, variant: fn(E) -> Set) -> Self::Output {
        let Self(parts, view) = self;
        check_own(view, E::SCHEMA)?;
        let stored = match parts {
            Some((snapshot, table)) if const { E::SCHEMA.is_wide() } => {
                read_stored::<E>(&wide::whole::<E>(snapshot, table, view.clone())?)
            }
            _ => read_stored::<E>(view),
        };
        stored.map(|stored| stored.map(variant))
    }
}

/// Returns the kind by which a set visits a row of this one: a row of another version is of the kind all the same.
fn visited<Set: EntitySet>(kind: &str) -> &str {
    let known = Set::KINDS.iter().find(|schema| schema.kind == schema::kind_of(kind));
    known.map_or(kind, |schema| schema.entity_type)
}

/// Reads whatever a row holds.
fn read_any<Set: EntitySet>(parts: Option<Parts<'_>>, view: &RowView<'_>) -> Result<Stored<Set>> {
    let kind = view.kind()?.unwrap_or_default();
    if let Some(read) = Set::visit(visited::<Set>(kind), Read(parts, view)) {
        return read;
    }
    if let Some(entity) = Set::unknown(view.to_entity()?) {
        return Ok(Stored::new(entity, view.etag()));
    }
    Err(unknown_kind::<Set>(kind, "; a variant with `#[entity_set(unknown)]` would take it")
        .partition(&view.partition_key())
        .row(&view.row_key()))
}

/// Returns the entity of these keys in a snapshot, whatever its kind.
fn get_any<Set: EntitySet>(
    snapshot: &Snapshot,
    table: &DynamicTable,
    partition_key: &str,
    row_key: &str,
) -> Result<Option<Stored<Set>>> {
    let Some(view) = snapshot.view(table, partition_key, row_key)? else {
        return Set::KINDS.iter().try_for_each(|schema| snapshot.check_rows(table, schema)).map(|()| None);
    };
    let located =
        |error: Error| error.attempted("read from").table(table.name()).partition(partition_key).row(row_key);
    read_any(Some((snapshot, table)), &view).map(Some).map_err(located)
}

#[cold]
fn unknown_kind<Set: EntitySet>(kind: &str, hint: &str) -> Error {
    let known: Vec<_> = Set::KINDS.iter().map(|schema| schema.entity_type).collect();
    let (kind, known) = (kind.escape_debug(), known.join(", "));
    Error::new(ErrorKind::SchemaMismatch)
        .because(format!("the row's kind is `{kind}`, which is none of the set's: {known}{hint}"))
}

/// A table as a place for all kinds of a set.
///
/// Cheap to clone, and may be shared between threads. Copies of entities are rows of the table too; nothing here shows
/// them.
pub struct SetTable<Set> {
    table: DynamicTable,
    set: PhantomData<fn() -> Set>,
}

impl<Set: EntitySet> SetTable<Set> {
    pub(crate) fn new(table: DynamicTable) -> Self {
        Self { table, set: PhantomData }
    }

    /// Returns the table for entities of any shape.
    pub fn dynamic(&self) -> &DynamicTable {
        &self.table
    }

    /// Returns the entity of this key.
    #[allow(clippy::needless_pass_by_value, reason = "a key is made where it is used")]
    pub fn get<E: Entity + MemberOf<Set>>(&self, key: Key<E>) -> Result<Option<Stored<E>>> {
        self.find(&key)
    }

    pub(crate) fn find<E: Entity + MemberOf<Set>>(&self, key: &Key<E>) -> Result<Option<Stored<E>>> {
        if const { E::SCHEMA.is_wide() } {
            // The head and its parts are read in one snapshot.
            return read::get(&self.table.snapshot()?, &self.table, key);
        }
        let (partition, row) = key.as_strs()?;
        let mut read = |view: &RowView<'_>| {
            check_own(view, E::SCHEMA)?;
            read_stored(view)
        };
        if let Some(found) = self.table.get_by(partition, row, &mut read)? {
            return Ok(Some(found));
        }
        let mut found = None;
        let mut keep = |view: &RowView<'_>| {
            found = Some(read(view)?);
            Ok(())
        };
        look_again(OwnRows::<E>::KEYS, &self.table, None, EntityKeys::new(partition, row), &mut keep)?;
        Ok(found)
    }

    /// Makes sure that the entities of all kinds lie where their keys say.
    fn check_rows(&self) -> Result<()> {
        let kinds = Set::KINDS.iter();
        let looks = kinds.map(|schema| Ok(self.table.index_mask(schema, false)?.looks_at_rows()));
        if !looks.collect::<Result<Vec<_>>>()?.contains(&true) {
            return Ok(());
        }
        let snapshot = self.table.snapshot()?;
        Set::KINDS.iter().try_for_each(|schema| snapshot.check_rows(&self.table, schema))
    }

    /// Returns the entity of these keys, whatever its kind.
    ///
    /// The row of a copy is of no kind of the set.
    pub fn get_any(&self, partition_key: &str, row_key: &str) -> Result<Option<Stored<Set>>> {
        if Set::KINDS.iter().any(|schema| schema.is_wide()) {
            // A head and its parts are read in one snapshot.
            return get_any(&self.table.snapshot()?, &self.table, partition_key, row_key);
        }
        let mut read = |view: &RowView<'_>| read_any(None, view);
        if let Some(found) = self.table.get_by(partition_key, row_key, &mut read)? {
            return Ok(Some(found));
        }
        self.check_rows()?;
        self.table.get_by(partition_key, row_key, read)
    }

    /// Returns the entities of one partition, of all kinds, in the order of their row keys.
    pub fn partition<E: MemberOf<Set>>(&self, partition: Partition<E>) -> SetQuery<Set> {
        let query = partition.into_key().map(|key| Query::new().partition(key));
        SetQuery::new(self.table.clone(), query)
    }

    /// Returns the entities of all partitions, of all kinds: a scan of the table, unless a filter narrows the keys.
    pub fn across_partitions(&self) -> SetQuery<Set> {
        SetQuery::new(self.table.clone(), Ok(Query::new()))
    }

    /// Changes of several entities of one partition, to be made together or not at all.
    pub fn egt<'c, E: MemberOf<Set>>(&self, partition: Partition<E>) -> Egt<'c, Set> {
        Egt::new(Ok(self.table.clone()), partition)
    }
}

impl<Set> Clone for SetTable<Set> {
    fn clone(&self) -> Self {
        Self { table: self.table.clone(), set: PhantomData }
    }
}

impl<Set> fmt::Debug for SetTable<Set> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SetTable").field("name", &self.table.name()).finish_non_exhaustive()
    }
}
