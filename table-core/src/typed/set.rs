//! Several kinds of entities in one table.

use std::fmt;
use std::marker::PhantomData;

use super::path::read_stored;
use super::{Egt, Entity, Key, MemberOf, Partition, Stored};
use crate::error::{Error, ErrorKind, Result};
use crate::model::{DynamicEntity, Value, ValueRef};
use crate::query::{Explain, Filter, KeyBounds, Query, prop};
use crate::schema::Schema;
use crate::store::{DynamicTable, Refilling, RowView};

/// The property that says what a row is.
const ENTITY_TYPE: &str = "EntityType";

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

    /// The entity in a row of this kind; `None` if the set has no such kind.
    #[doc(hidden)]
    fn read(kind: &str, view: &RowView<'_>) -> Option<Result<Stored<Self>>>;

    /// What stands for a row of any other kind, if there is a variant for it.
    #[doc(hidden)]
    fn unknown(entity: DynamicEntity) -> Option<Self> {
        drop(entity);
        None
    }
}

/// Reads a member of a set from its own row.
#[doc(hidden)]
pub fn read_member<E: Entity, Set>(view: &RowView<'_>, variant: fn(E) -> Set) -> Result<Stored<Set>> {
    read_stored::<E>(view).map(|stored| stored.map(variant))
}

/// Reads whatever a row holds.
fn read_any<Set: EntitySet>(view: &RowView<'_>) -> Result<Stored<Set>> {
    let kind = view.get(ENTITY_TYPE)?.and_then(ValueRef::as_str).unwrap_or_default();
    if let Some(read) = Set::read(kind, view) {
        return read;
    }
    if let Some(entity) = Set::unknown(view.to_entity()?) {
        return Ok(Stored::new(entity, view.etag()));
    }
    let known: Vec<_> = Set::KINDS.iter().map(|schema| schema.kind).collect();
    let because = format!(
        "the row's kind is `{}`, which is none of the set's: {}; a variant with `#[entity_set(unknown)]` would take it",
        kind.escape_debug(),
        known.join(", ")
    );
    Err(Error::new(ErrorKind::SchemaMismatch)
        .because(because)
        .partition(&view.partition_key())
        .row(&view.row_key()))
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

    /// The same table for entities of any shape.
    pub fn dynamic(&self) -> &DynamicTable {
        &self.table
    }

    /// The entity of this key.
    #[allow(clippy::needless_pass_by_value, reason = "a key is made where it is used")]
    pub fn get<E: Entity + MemberOf<Set>>(&self, key: Key<E>) -> Result<Option<Stored<E>>> {
        let (partition, row) = key.as_strs()?;
        self.table.get_by(partition, row, read_stored)
    }

    /// The entity of these keys, whatever its kind.
    ///
    /// The row of a copy is of no kind of the set.
    pub fn get_any(&self, partition_key: &str, row_key: &str) -> Result<Option<Stored<Set>>> {
        self.table.get_by(partition_key, row_key, read_any)
    }

    /// The entities of one partition, of all kinds, in the order of their row keys.
    pub fn partition<E: MemberOf<Set>>(&self, partition: Partition<E>) -> SetQuery<Set> {
        let query = partition.into_key().map(|key| Query::new().partition(key));
        SetQuery { table: self.table.clone(), query, set: PhantomData }
    }

    /// The entities of all partitions, of all kinds: a scan of the table, unless a filter narrows the keys.
    pub fn across_partitions(&self) -> SetQuery<Set> {
        SetQuery { table: self.table.clone(), query: Ok(Query::new()), set: PhantomData }
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

/// A query over all kinds of a table.
#[must_use = "a query does nothing until it is iterated"]
pub struct SetQuery<Set> {
    table: DynamicTable,
    query: Result<Query>,
    set: PhantomData<fn() -> Set>,
}

impl<Set: EntitySet> SetQuery<Set> {
    fn with(mut self, change: impl FnOnce(Query) -> Query) -> Self {
        self.query = self.query.map(change);
        self
    }

    /// Only rows whose key starts with this text.
    pub fn row_prefix(self, prefix: impl AsRef<str>) -> Self {
        self.with(|query| query.row_prefix(prefix))
    }

    /// Only rows in this range.
    pub fn rows(self, range: impl KeyBounds) -> Self {
        self.with(|query| query.rows(range))
    }

    /// Leaves out what does not pass the filter: `prop("Age").ge(40)`. An entity without the property doesn't.
    pub fn filter(self, filter: Filter) -> Self {
        self.with(|query| query.filter(filter))
    }

    /// Gives the entities from the last to the first.
    pub fn rev(self) -> Self {
        self.with(Query::rev)
    }

    /// Gives so many at the most.
    pub fn top(self, entities: usize) -> Self {
        self.with(|query| query.top(entities))
    }

    /// How the query will be answered, and why.
    pub fn explain(&self) -> Result<Explain> {
        match &self.query {
            Ok(query) => self.table.explain(query),
            Err(error) => Err(error.again()),
        }
    }

    /// How many entities there are, those of kinds beside the set's too.
    pub fn count(self) -> Result<u64> {
        let query = without_copies::<Set>(self.query?);
        let mut rows = self.table.refilling(&query)?;
        let mut count = 0;
        while rows.next_by(|_, _| Ok(())).transpose()?.is_some() {
            count += 1;
        }
        Ok(count)
    }
}

/// The query without the copies of the set's kinds. A filter, so that [`Query::top`] doesn't count them.
fn without_copies<Set: EntitySet>(query: Query) -> Query {
    let copies = Set::KINDS.iter().flat_map(|schema| schema.indexes).map(|index| index.kind);
    copies.fold(query, |query, kind| query.filter(!prop(ENTITY_TYPE).eq(Value::from(kind))))
}

impl<Set: EntitySet> IntoIterator for SetQuery<Set> {
    type Item = Result<Stored<Set>>;
    type IntoIter = SetRows<Set>;

    fn into_iter(self) -> SetRows<Set> {
        let rows = self.query.and_then(|query| self.table.refilling(&without_copies::<Set>(query)));
        SetRows(rows.map_err(Some))
    }
}

impl<Set> fmt::Debug for SetQuery<Set> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SetQuery").field("query", &self.query).finish_non_exhaustive()
    }
}

/// What a query over all kinds finds, in order: an iterator that owns its snapshot.
///
/// An error, of the query itself too, comes as an item, and ends it.
pub struct SetRows<Set>(Result<Refilling<Stored<Set>>, Option<Error>>);

impl<Set: EntitySet> Iterator for SetRows<Set> {
    type Item = Result<Stored<Set>>;

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            Ok(rows) => rows.next_by(|_, view| read_any(view)),
            Err(error) => error.take().map(Err),
        }
    }
}

impl<Set> fmt::Debug for SetRows<Set> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SetRows").finish_non_exhaustive()
    }
}
