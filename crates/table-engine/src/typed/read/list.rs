//! Index lists: the keys on one, and the entities.

use std::borrow::Borrow;
use std::fmt;
use std::iter::FusedIterator;
use std::marker::PhantomData;

use super::TableAt;
use super::key::{Key, KeyResult, print};
use super::origin::AnyOrigin;
use crate::error::{Error, ErrorKind, Result};
use crate::handle::snapshot::Snapshot;
use crate::handle::table::DynamicTable;
use crate::model::{EntityKeys, ValueRef};
use crate::plan::{damaged_list, ids_of, with_blob};
use crate::query::{Explain, Query};
use crate::row::view::RowView;
use crate::schema::{self, FieldPart, Index, KeyPair, KeyValues, List, PropertyValue, Schema, ValueError};
use crate::typed::change::values_of;
use crate::typed::entity::Entity;
use crate::typed::entity::stored::Stored;
use crate::typed::table::Table;

/// The key of an index list: the value that the entities on it share.
///
/// Made by the function on the entity that is named as the list.
pub struct ListKey<E> {
    keys: Result<KeyPair>,
    index: usize,
    entity: PhantomData<fn() -> E>,
}

impl<E: Entity> ListKey<E> {
    #[doc(hidden)]
    pub fn of_parts(index: usize, parts: &[KeyResult<'_>]) -> Self {
        let keys = match E::SCHEMA.indexes.get(index) {
            Some(list) => print(E::SCHEMA, &list.place, parts),
            None => Ok(KeyPair::default()),
        };
        Self { keys, index, entity: PhantomData }
    }
}

impl<E> ListKey<E> {
    /// Returns the partition key and the row key of the list.
    pub fn as_strs(&self) -> Result<(&str, &str)> {
        schema::as_keys(&self.keys).map(EntityKeys::into_pair)
    }
}

impl<E> fmt::Debug for ListKey<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ListKey").field("keys", &self.keys).finish_non_exhaustive()
    }
}

#[allow(clippy::needless_pass_by_value, reason = "a key is made where it is used")]
impl<E: Entity> Table<E> {
    /// Returns an index list, as it is now: the keys of the entities that have its value, and the entities themselves, in the
    /// order of their ids. If no entity has the value, the list is empty.
    ///
    /// ```
    /// use table_core::{Entity, Store};
    ///
    /// #[derive(Entity)]
    /// #[entity(table = "Company", kind = "employee")]
    /// #[key(partition = "{department}", row = "empid_{id:06}")]
    /// #[index_list(by_last_name, row = "last_{last_name}", of = id)]
    /// struct Employee {
    ///     department: String,
    ///     id: u32,
    ///     last_name: String,
    /// }
    ///
    /// let store = Store::temporary()?;
    /// let staff = store.table::<Employee>()?;
    /// for (id, last_name) in [(7, "Jones"), (3, "Jones"), (5, "Cao")] {
    ///     staff.insert(&Employee { department: "Sales".into(), id, last_name: last_name.into() })?;
    /// }
    ///
    /// let jones = staff.list(Employee::by_last_name("Sales", "Jones"))?;
    /// assert_eq!(jones.len(), 2);
    /// let ids: Vec<u32> = jones.entities().map(|e| Ok(e?.id)).collect::<table_core::Result<_>>()?;
    /// assert_eq!(ids, [3, 7]);
    /// for jones in &jones {
    ///     assert_eq!(jones?.last_name, "Jones"); // read when the loop comes to it
    /// }
    /// assert!(staff.list(Employee::by_last_name("Sales", "Smith"))?.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn list(&self, key: ListKey<E>) -> Result<ListEntities<E>> {
        self.find_list(&key)
    }

    pub(crate) fn find_list(&self, key: &ListKey<E>) -> Result<ListEntities<E>> {
        let read = || ListEntities::read(self.dynamic(), self.dynamic().snapshot()?, key);
        match read() {
            // The first look of a process at a blob is later than its snapshot; the next one is not.
            Err(gone) if gone.kind() == ErrorKind::BlobGone => read(),
            read => read,
        }
    }
}

#[allow(clippy::needless_pass_by_value, reason = "a key is made where it is used")]
impl<'s, E: Entity> TableAt<'s, E> {
    /// Returns an index list as it is in the snapshot.
    pub fn list(&self, key: ListKey<E>) -> Result<ListEntities<E, &'s Snapshot>> {
        ListEntities::read(self.dynamic(), self.table.snapshot_handle()?, &key)
    }
}

/// An index list as it is in a snapshot, which it holds: the keys of the entities on it, and the entities.
pub struct ListEntities<E, SnapshotHandle = Snapshot> {
    table: DynamicTable,
    snapshot: SnapshotHandle,
    index: usize,
    /// Where the list lies.
    list: (String, String),
    keys: Vec<KeyPair>,
    entity: PhantomData<fn() -> E>,
}

impl<E: Entity, SnapshotHandle: Borrow<Snapshot>> ListEntities<E, SnapshotHandle> {
    fn read(table: &DynamicTable, snapshot: SnapshotHandle, key: &ListKey<E>) -> Result<Self> {
        let (partition, row) = key.as_strs()?;
        let list = (partition.to_owned(), row.to_owned());
        let mut keys = Vec::new();
        if let Some((index, list)) = E::SCHEMA.list(key.index) {
            let snapshot: &Snapshot = snapshot.borrow();
            if index.is_eventual() {
                super::have_propagated(table);
            }
            snapshot.check_index(table, E::SCHEMA, key.index)?;
            let there = table.member(index.place.table.source());
            if let Some(view) = snapshot.view(there, partition, row)? {
                let read = keys_on(E::SCHEMA, index, list, snapshot, &view);
                keys = read.map_err(|error| located(error, there, partition, row))?;
            }
        }
        Ok(Self { table: table.clone(), snapshot, index: key.index, list, keys, entity: PhantomData })
    }

    /// Returns how many entities are on the list.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Returns whether none is.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Returns the keys of the entities, in the order of their ids. Nothing more is read for them.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = Key<E>> + use<'_, E, SnapshotHandle> {
        self.keys.iter().map(|keys| {
            let EntityKeys { partition, row } = keys.as_keys();
            Key::verbatim(partition, row)
        })
    }

    /// Returns the entities, in the order of their ids, of the same snapshot: a point read for each. One that is not there,
    /// or does not belong on the list, is an error, since the list is damaged then; those after it come all the same. Of a
    /// list that is `eventual` it is left out: the list follows. `for` takes the list itself, too.
    pub fn entities(&self) -> ListedEntities<E, SnapshotHandle, &Self> {
        self.into_iter()
    }

    fn entity(&self, key: &Key<E>) -> Result<Option<Stored<E>>> {
        let refused = |what| located(damaged_list(what), &self.table, &self.list.0, &self.list.1);
        let follows = E::SCHEMA.is_eventual(self.index);
        let Some(entity) = super::get::<E, Key<E>>(self.snapshot.borrow(), &self.table, key)? else {
            if follows {
                return Ok(None);
            }
            let (partition, row) = key.as_strs()?;
            return Err(refused("it lists an entity that is not there").and(&format!(
                " (partition `{}`, row `{}`)",
                partition.escape_debug(),
                row.escape_debug()
            )));
        };
        let Some(index) = E::SCHEMA.indexes.get(self.index) else { return Ok(Some(entity)) };
        let values = values_of(&*entity)?;
        let is_there = values.keys(&index.place.row).contains(&self.list.1)
            && values.keys(&index.place.partition).contains(&self.list.0);
        match (is_there, follows) {
            (true, _) => Ok(Some(entity)),
            (false, true) => Ok(None),
            (false, false) => Err(refused("it lists an entity that has another value")),
        }
    }

    /// Returns what reading it costs: one row for the list, and one more for each entity that is asked for.
    pub fn explain(&self) -> Result<Explain> {
        let (partition, row) = &self.list;
        Ok(Query::new().partition(partition.as_str()).row(row.as_str()).explain()?.looking_up())
    }
}

/// The entities on a list, in the order of their ids: what `for` over a [`ListEntities`], or a reference to one, goes through.
#[must_use = "an iterator does nothing until it is used"]
pub struct ListedEntities<E, SnapshotHandle = Snapshot, List = ListEntities<E, SnapshotHandle>> {
    list: List,
    next: usize,
    of: PhantomData<fn() -> ListEntities<E, SnapshotHandle>>,
}

impl<E: Entity, SnapshotHandle: Borrow<Snapshot>, List: Borrow<ListEntities<E, SnapshotHandle>>> Iterator
    for ListedEntities<E, SnapshotHandle, List>
{
    type Item = Result<Stored<E>>;

    fn next(&mut self) -> Option<Self::Item> {
        let list = self.list.borrow();
        loop {
            let EntityKeys { partition, row } = list.keys.get(self.next)?.as_keys();
            self.next += 1;
            let found = list.entity(&Key::verbatim(partition, row)).transpose();
            if found.is_some() {
                return found;
            }
        }
    }
}

impl<E: Entity, SnapshotHandle: Borrow<Snapshot>, List: Borrow<ListEntities<E, SnapshotHandle>>> FusedIterator
    for ListedEntities<E, SnapshotHandle, List>
{
}

impl<E, SnapshotHandle, List: fmt::Debug> fmt::Debug for ListedEntities<E, SnapshotHandle, List> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ListedEntities").field("list", &self.list).field("next", &self.next).finish()
    }
}

impl<E: Entity, SnapshotHandle: Borrow<Snapshot>> IntoIterator for ListEntities<E, SnapshotHandle> {
    type Item = Result<Stored<E>>;
    type IntoIter = ListedEntities<E, SnapshotHandle>;

    fn into_iter(self) -> ListedEntities<E, SnapshotHandle> {
        ListedEntities { list: self, next: 0, of: PhantomData }
    }
}

#[allow(clippy::into_iter_without_iter, reason = "it is called `entities`")]
impl<'l, E: Entity, SnapshotHandle: Borrow<Snapshot>> IntoIterator for &'l ListEntities<E, SnapshotHandle> {
    type Item = Result<Stored<E>>;
    type IntoIter = ListedEntities<E, SnapshotHandle, &'l ListEntities<E, SnapshotHandle>>;

    fn into_iter(self) -> Self::IntoIter {
        ListedEntities { list: self, next: 0, of: PhantomData }
    }
}

impl<E, SnapshotHandle> fmt::Debug for ListEntities<E, SnapshotHandle> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ListEntities")
            .field("list", &self.list)
            .field("keys", &self.keys)
            .finish_non_exhaustive()
    }
}

#[cold]
fn located(error: Error, table: &DynamicTable, partition: &str, row: &str) -> Error {
    error.attempted("read from").table(table.name()).partition(partition).row(row)
}

/// Returns the keys of the entities on a list.
fn keys_on(
    schema: &'static Schema,
    index: &'static Index,
    list: List,
    snapshot: &Snapshot,
    view: &RowView<'_>,
) -> Result<Vec<KeyPair>> {
    if view.kind()? != Some(index.kind) {
        return Err(damaged_list("it is of another kind"));
    }
    let long = snapshot.long_list(view)?;
    let ids = ids_of(&mut |name| with_blob(long.as_deref(), name, || view.get(name)))?;
    let (partition, row) = view.keys();
    let shared = index.place.values_in(&partition, &row).unwrap_or_default();
    let of = ListOfIds { index, list, partition: &partition, shared: &shared };
    ids.iter().map(|id| of.key_of(schema, id)).collect()
}

/// What the key of a list gives back, by the fields.
type Shared = [(usize, PropertyValue<'static>)];

/// A list whose ids are read.
pub(crate) struct ListOfIds<'l> {
    pub(crate) index: &'static Index,
    pub(crate) list: List,
    pub(crate) partition: &'l str,
    /// What its key gives back, by the fields.
    pub(crate) shared: &'l Shared,
}

impl ListOfIds<'_> {
    /// Returns the key of the entity of this id.
    pub(crate) fn key_of(&self, schema: &'static Schema, id: &str) -> Result<KeyPair> {
        let Self { index, list, partition, shared } = *self;
        let mut values = ListKeyValues { shared, own: Vec::new() };
        let is_id = list.take_apart(id, &mut |part, value| values.own.push((part.field, value.into_owned())));
        let place = schema.place();
        let mut printed = String::new();
        let print = |template, out: &mut String| schema::print(template, &values, out).unwrap_or_default();
        let own = if index.is_elsewhere() {
            if !is_id || !print(&place.partition, &mut printed) {
                return Err(damaged_list("an id on it is none"));
            }
            std::mem::take(&mut printed)
        } else {
            partition.to_owned()
        };
        if !is_id || !print(&place.row, &mut printed) {
            return Err(damaged_list("an id on it is none"));
        }
        Ok(KeyPair::of(&own, &printed))
    }
}

/// Returns the id of the entity of these keys on its lists; `None` if no entity of the declaration has such keys.
pub(crate) fn id_on(list: List, schema: &Schema, own: EntityKeys<'_>) -> Option<String> {
    let own = schema.place().values_in(own.partition, own.row)?;
    list.id(&ListKeyValues { shared: &[], own }).ok().flatten()
}

/// What is known of an entity: by its list and its id, or by its key.
struct ListKeyValues<'a> {
    shared: &'a Shared,
    own: Vec<(usize, PropertyValue<'static>)>,
}

impl KeyValues for ListKeyValues<'_> {
    fn value(&self, part: &FieldPart) -> Result<PropertyValue<'_>, ValueError> {
        let known = self.own.iter().chain(self.shared).find(|(field, _)| *field == part.field);
        let value: Option<ValueRef<'_>> = known.and_then(|(_, value)| value.as_value_ref());
        Ok(value.map_or(PropertyValue::Absent, PropertyValue::Borrowed))
    }
}
