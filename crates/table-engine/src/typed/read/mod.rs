//! Reads of a typed table beside its queries: by key, and in a snapshot.

pub(crate) mod blind;
pub(crate) mod join;
pub(crate) mod key;
pub(crate) mod list;
pub(crate) mod missed;
pub(crate) mod origin;
pub(crate) mod point;
pub(crate) mod projection;
pub(crate) mod reading;
pub(crate) mod shown;
pub(crate) mod view;

use std::fmt;
use std::ops::Deref;

use self::key::{KeyOf, Lookup};
use self::origin::TableIn;
use self::projection::{Projected, Projection};
use self::view::View;
use crate::error::{Error, Result};
use crate::handle::snapshot::Snapshot;
use crate::handle::table::DynamicTable;
use crate::model::EntityKeys;
use crate::row::view::RowView;
use crate::schema::Schema;
use crate::typed::entity::path::{Path, PathKeys, check_kind, check_own, of_kin};
use crate::typed::entity::{Entity, wide};
use crate::typed::query::{HoldsAll, OwnRows, PathQuery};
use crate::typed::table::Table;

#[allow(clippy::needless_pass_by_value, reason = "a key is made where it is used")]
impl<E: Entity> Table<E> {
    /// Returns the entities of these keys, in their order, all from one snapshot; `None` where there is none.
    ///
    /// ```
    /// # use table_core::{Entity, Store};
    /// # #[derive(Entity)]
    /// # #[entity(table = "Company", kind = "employee")]
    /// # #[key(partition = "{department}", row = "empid_{id:06}")]
    /// # struct Employee { department: String, id: u32, age: i32 }
    /// # let dir = tempfile::tempdir()?;
    /// # let store = Store::open(dir.path().join("company.tables"))?;
    /// # let staff = store.table::<Employee>()?;
    /// # staff.insert(&Employee { department: "Sales".into(), id: 1, age: 40 })?;
    /// let found = staff.get_many([1, 2].map(|id| Employee::key("Sales", id)))?;
    /// assert_eq!(found[0].as_ref().map(|e| e.age), Some(40));
    /// assert!(found[1].is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn get_many<L: Lookup<E>>(
        &self,
        keys: impl IntoIterator<Item = L>,
    ) -> Result<Vec<Option<L::Output>>> {
        self.find_many(&keys.into_iter().collect::<Vec<_>>())
    }

    pub(crate) fn find_many<L: Lookup<E>>(&self, keys: &[L]) -> Result<Vec<Option<L::Output>>> {
        let table = self.dynamic();
        if keys.iter().all(|key| key.blind().is_none()) {
            return get_many(&table.snapshot()?, table, keys);
        }
        let mut found = Vec::new();
        let mut get = || {
            found = get_many(&table.snapshot()?, table, keys)?;
            Ok(())
        };
        blind::steadily(table, &mut get)?;
        Ok(found)
    }

    /// Returns some of the fields of the entity of this key, or of what an index's copy holds: those of a struct with
    /// `#[derive(Projection)]`, and no others are decoded.
    pub fn get_as<S: Projected<Of = E>>(
        &self,
        key: impl Lookup<E, Path: HoldsAll<<S as Projected>::Taken>>,
    ) -> Result<Option<S>> {
        self.find_as(&key)
    }

    pub(crate) fn find_as<S: Projection<Entity = E>>(&self, key: &impl Lookup<E>) -> Result<Option<S>> {
        get_as(self.dynamic(), None, key)
    }

    /// Returns what `read` makes of the entity of this key, seen in place: fields are decoded as they are asked for.
    ///
    /// ```
    /// # use table_core::{Entity, Store};
    /// # #[derive(Entity)]
    /// # #[entity(table = "Company", kind = "employee")]
    /// # #[key(partition = "{department}", row = "empid_{id:06}")]
    /// # struct Employee { department: String, id: u32, email: String }
    /// # let dir = tempfile::tempdir()?;
    /// # let store = Store::open(dir.path().join("company.tables"))?;
    /// # let staff = store.table::<Employee>()?;
    /// # staff.insert(&Employee { department: "Sales".into(), id: 1, email: "ann@contoso.com".into() })?;
    /// let is_ours = staff.view(Employee::key("Sales", 1), |e| Ok(e.email()?.ends_with("@contoso.com")))?;
    /// assert_eq!(is_ours, Some(true));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn view<T>(
        &self,
        key: impl KeyOf<E>,
        read: impl FnOnce(View<'_, E>) -> Result<T>,
    ) -> Result<Option<T>> {
        let key = key.into();
        let (partition, row) = key.as_strs()?;
        let (table, mut read) = (self.dynamic(), Some(read));
        let mut show = |view: RowView<'_>| {
            check_seen::<E>(&view)?;
            read.take().map(|read| read(View::new(view))).transpose()
        };
        let is_summary = const { E::SUMMARIZES.is_some() };
        let is_wide = const { E::SCHEMA.is_wide() };
        if !is_summary && !is_wide {
            if let Some(shown) = table.view_by(partition, row, &mut show)? {
                return Ok(shown);
            }
            if !table.index_mask(E::SCHEMA, false)?.looks_at_rows() {
                return Ok(None);
            }
        }
        let snapshot = table.snapshot()?;
        check_index::<OwnRows<E>>(&snapshot, table)?;
        snapshot.check_rows(table, E::SCHEMA)?;
        let found = snapshot.view(table, partition, row)?;
        let found = found.map(|view| wide::whole::<E>(&snapshot, table, view));
        let found = found.transpose().map_err(located(table, partition, row))?;
        Ok(found.map(show).transpose().map_err(located(table, partition, row))?.flatten())
    }

    /// Returns a query of every entity of the table, over all its partitions: what `rows().across_partitions()` gives, for code
    /// that is generic over entities.
    ///
    /// ```
    /// use table_core::{Entity, Result, Store, Table};
    ///
    /// /// How many entities there are, and when the last of them was written.
    /// fn summary<E: Entity>(table: &Table<E>) -> Result<(u64, Option<table_core::Ticks>)> {
    ///     let mut last = None;
    ///     for entity in table.all() {
    ///         last = last.max(Some(table_core::Stored::timestamp(&entity?)));
    ///     }
    ///     Ok((table.all().count()?, last))
    /// }
    /// # #[derive(Entity)]
    /// # #[entity(table = "Company", kind = "employee")]
    /// # #[key(partition = "{department}", row = "empid_{id:06}")]
    /// # struct Employee { department: String, id: u32 }
    /// # let store = Store::temporary()?;
    /// # let staff = store.table::<Employee>()?;
    /// # staff.insert(&Employee { department: "Sales".into(), id: 1 })?;
    /// # assert_eq!(summary(&staff)?.0, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn all(&self) -> PathQuery<OwnRows<E>> {
        PathQuery::<OwnRows<E>, DynamicTable>::new(self.dynamic())
    }

    /// Returns the table as it is in a snapshot, to be read together with others.
    ///
    /// ```
    /// # use table_core::{Entity, Store};
    /// # #[derive(Entity)]
    /// # #[entity(table = "Company", kind = "employee")]
    /// # #[key(partition = "{department}", row = "empid_{id:06}")]
    /// # struct Employee { department: String, id: u32, age: i32 }
    /// # let dir = tempfile::tempdir()?;
    /// # let store = Store::open(dir.path().join("company.tables"))?;
    /// # let staff = store.table::<Employee>()?;
    /// # staff.insert(&Employee { department: "Sales".into(), id: 1, age: 40 })?;
    /// let snapshot = store.snapshot()?;
    /// staff.update(Employee::key("Sales", 1), |e| e.age = 41)?;
    ///
    /// let then = staff.at(&snapshot);
    /// assert_eq!(then.get(Employee::key("Sales", 1))?.unwrap().age, 40);
    /// for employee in then.rows().department("Sales").views() {
    ///     assert_eq!(employee?.age()?, 40); // nothing else is decoded
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn at<'s>(&self, snapshot: &'s Snapshot) -> TableAt<'s, E> {
        let table = TableIn::new(self.dynamic().clone(), snapshot);
        TableAt { indexes: E::indexes(table.clone()), table }
    }
}

/// A table of entities of type `E` as it is in a snapshot. The entity's queries are methods of it too.
pub struct TableAt<'s, E: Entity> {
    table: TableIn<'s>,
    indexes: E::Indexes<TableIn<'s>>,
}

#[allow(clippy::needless_pass_by_value, reason = "a key is made where it is used")]
impl<'s, E: Entity> TableAt<'s, E> {
    /// Returns the entity of this key, or what an index's copy holds.
    pub fn get<L: Lookup<E>>(&self, key: L) -> Result<Option<L::Output>> {
        get(self.table.snapshot(), self.dynamic(), &key)
    }

    /// Returns the entities of these keys, in their order; `None` where there is none.
    pub fn get_many<L: Lookup<E>>(
        &self,
        keys: impl IntoIterator<Item = L>,
    ) -> Result<Vec<Option<L::Output>>> {
        get_many(self.table.snapshot(), self.dynamic(), &keys.into_iter().collect::<Vec<_>>())
    }

    /// Returns some of the fields of the entity of this key, or of what an index's copy holds.
    pub fn get_as<S: Projected<Of = E>>(
        &self,
        key: impl Lookup<E, Path: HoldsAll<<S as Projected>::Taken>>,
    ) -> Result<Option<S>> {
        get_as(self.dynamic(), Some(self.table.snapshot()), &key)
    }

    /// Returns the entity of this key, seen in place: fields are decoded as they are asked for.
    pub fn view(&self, key: impl KeyOf<E>) -> Result<Option<View<'s, E>>> {
        let key = key.into();
        let (partition, row) = key.as_strs()?;
        check_index::<OwnRows<E>>(self.table.snapshot(), self.dynamic())?;
        let Some(found) = self.table.snapshot().view(self.dynamic(), partition, row)? else {
            return self.table.snapshot().check_rows(self.dynamic(), E::SCHEMA).map(|()| None);
        };
        let place = || located(self.dynamic(), partition, row);
        check_seen::<E>(&found).map_err(place())?;
        wide::whole::<E>(self.table.snapshot(), self.dynamic(), found)
            .map_err(place())
            .map(View::new)
            .map(Some)
    }

    /// Returns a query of every entity of the table in the snapshot, over all its partitions.
    pub fn all(&self) -> PathQuery<OwnRows<E>, TableIn<'s>> {
        PathQuery::<OwnRows<E>, TableIn<'s>>::new(&self.table)
    }

    /// Returns the table for entities of any shape, as it is now.
    pub fn dynamic(&self) -> &DynamicTable {
        super::AnyOrigin::table(&self.table)
    }
}

/// Returns the row with the parts of the entity, if the path leads to a wide one itself.
fn whole<'v, P: Path>(
    snapshot: &'v Snapshot,
    table: &DynamicTable,
    view: RowView<'v>,
) -> Result<RowView<'v>> {
    if const { P::INDEX.is_some() || !P::Entity::SCHEMA.is_wide() } {
        return Ok(view);
    }
    wide::whole::<P::Entity>(snapshot, table, view)
}

/// Makes sure that a row can be seen in place: one of a previous version would have to be converted.
fn check_seen<E: Entity>(view: &RowView<'_>) -> Result<()> {
    let tag = const { E::SCHEMA.tag(None) };
    if const { E::SCHEMA.previous.is_some() } && view.kind()? != Some(tag.kind) {
        return Err(of_kin(view, E::SCHEMA));
    }
    check_kind(view, tag)
}

fn located(table: &DynamicTable, partition: &str, row: &str) -> impl FnOnce(Error) -> Error {
    move |error| error.attempted("read from").table(table.name()).partition(partition).row(row)
}

/// Returns what the key leads to in the snapshot.
pub(crate) fn get<E: Entity, L: Lookup<E>>(
    snapshot: &Snapshot,
    table: &DynamicTable,
    key: &L,
) -> Result<Option<L::Output>> {
    check_index::<L::Path>(snapshot, table)?;
    let table = <L::Path as Path>::KEYS.table(table);
    if let Some(blind) = key.blind() {
        let mut found = None;
        let mut read = |view: &RowView<'_>| {
            found = Some(L::read(view)?);
            Ok(())
        };
        let is_found = blind.find_in(snapshot, table, &mut read)?;
        return Ok(found.filter(|_| is_found));
    }
    let keys = key.keys()?;
    let EntityKeys { partition, row } = keys;
    let found = snapshot.view(table, partition, row)?;
    let found = found.map(|view| L::read(&whole::<L::Path>(snapshot, table, view)?));
    let found = found.transpose().map_err(located(table, partition, row))?;
    if found.is_some() || const { L::Path::INDEX.is_some() } {
        return Ok(found);
    }
    let mut found = None;
    let mut read = |view: &RowView<'_>| {
        found = Some(L::read(view)?);
        Ok(())
    };
    let looked = missed::look_again(L::Path::KEYS, table, Some(snapshot), keys, &mut read);
    looked.map_err(located(table, partition, row))?;
    Ok(found)
}

fn get_many<E: Entity, L: Lookup<E>>(
    snapshot: &Snapshot,
    table: &DynamicTable,
    keys: &[L],
) -> Result<Vec<Option<L::Output>>> {
    keys.iter().map(|key| get(snapshot, table, key)).collect()
}

/// Makes sure that the path's rows can be read in the snapshot: those of an index that is being made can't. The states of an
/// index are kept in the table of its entities, wherever its rows lie.
pub(crate) fn check_index<P: Path>(snapshot: &Snapshot, table: &DynamicTable) -> Result<()> {
    check_index_of(P::KEYS, snapshot, table)
}

/// Checks that the rows of a path of any type can be read in the snapshot.
pub(crate) fn check_index_of(
    path: &'static PathKeys,
    snapshot: &Snapshot,
    table: &DynamicTable,
) -> Result<()> {
    look_after(path, table);
    match path.states() {
        None => Ok(()),
        Some((schema, index)) => snapshot.check_index(table.member(schema.table()), schema, index),
    }
}

/// Has deferred copies propagated that another process left, if the path has such: reads of them would otherwise wait for the
/// next write.
fn look_after(path: &'static PathKeys, table: &DynamicTable) {
    if path.follows() {
        have_propagated(table);
    }
}

/// Has deferred copies propagated that another process left.
fn have_propagated(table: &DynamicTable) {
    let store = table.exec().store();
    #[cfg(feature = "access")]
    let store = store.unrestricted().map_or(store, |store| &**store);
    if let Ok(outbox) = store.outbox() {
        outbox.propagators().look(outbox);
    }
}

/// Has `read` read the path's rows as they are now, maybe several times, and keep what it makes of them: what it kept last
/// counts. An index must be ready before the read and after, and in one epoch of its kind: then it was so all the time.
fn while_ready(
    path: &'static PathKeys,
    table: &DynamicTable,
    read: &mut dyn FnMut() -> Result<()>,
) -> Result<()> {
    look_after(path, table);
    match path.states() {
        None => read(),
        Some((schema, index)) => {
            while_index_is_ready(table.member(schema.table()), path, schema, index, read)
        }
    }
}

/// Has `read` read the rows of an index, as [`while_ready`] does. The table is that of the index's entities.
fn while_index_is_ready(
    table: &DynamicTable,
    path: &'static PathKeys,
    schema: &'static Schema,
    index: usize,
    read: &mut dyn FnMut() -> Result<()>,
) -> Result<()> {
    // A read of another table learns nothing of what has become of the kind's indexes.
    let is_apart = !path.place().table.source().eq_ignore_ascii_case(schema.table());
    let ready = || {
        let index_mask = table.index_mask(schema, false)?;
        if index_mask.is_ready(index) {
            return Ok(index_mask.epoch);
        }
        // What is known may be of an earlier state: `unread`, which says why the index is not ready, looks again.
        let error = table.exec().unread(schema, index, usize::MAX);
        let index_mask = table.index_mask(schema, false)?;
        if index_mask.is_ready(index) {
            return Ok(index_mask.epoch);
        }
        Err(error.attempted("read from").table(table.name()))
    };
    loop {
        let before = ready()?;
        let done = read();
        if is_apart {
            table.snapshot()?.check_index(table, schema, index)?;
        }
        // Each round another epoch has begun.
        if ready()? == before {
            return done;
        }
    }
}

/// Reads the fields from the snapshot, or from the table as it is now.
fn get_as<E: Entity, L: Lookup<E>, S: Projection<Entity = E>>(
    table: &DynamicTable,
    snapshot: Option<&Snapshot>,
    key: &L,
) -> Result<Option<S>> {
    let lies_in = <L::Path as Path>::KEYS.table(table);
    let read = |view: &RowView<'_>| {
        match const { L::Path::INDEX } {
            None => check_own(view, E::SCHEMA)?,
            Some(_) => check_kind(view, <L::Path as Path>::KEYS.tag())?,
        }
        projection::read::<L::Path, S>(view)
    };
    if const { L::Path::INDEX.is_none() && E::SCHEMA.is_wide() } {
        let (now, EntityKeys { partition, row }) = (table.snapshot()?, key.keys()?);
        let snapshot = snapshot.unwrap_or(&now);
        check_index::<L::Path>(snapshot, table)?;
        snapshot.check_rows(table, E::SCHEMA)?;
        let Some(head) = snapshot.view(table, partition, row)? else { return Ok(None) };
        let some = check_own(&head, E::SCHEMA).and_then(|()| projection::joined::<S>(snapshot, table, head));
        return some.and_then(|view| read(&view)).map(Some).map_err(located(table, partition, row));
    }
    let Some(snapshot) = snapshot else {
        let mut found = None;
        let mut get = || {
            found = get_as_by::<E, L, S>(lies_in, None, key, &read)?;
            Ok(())
        };
        while_ready(L::Path::KEYS, table, &mut get)?;
        return Ok(found);
    };
    check_index::<L::Path>(snapshot, table)?;
    get_as_by::<E, L, S>(lies_in, Some(snapshot), key, &read)
}

/// Returns what `read` makes of the row of this key.
fn get_as_by<E: Entity, L: Lookup<E>, S>(
    table: &DynamicTable,
    snapshot: Option<&Snapshot>,
    key: &L,
    read: &dyn Fn(&RowView<'_>) -> Result<S>,
) -> Result<Option<S>> {
    let mut found = None;
    let mut keep = |view: &RowView<'_>| {
        found = Some(read(view)?);
        Ok(())
    };
    let is_found = match (key.blind(), snapshot) {
        (Some(blind), Some(snapshot)) => blind.find_in(snapshot, table, &mut keep)?,
        (Some(blind), None) => blind.find(table, &mut keep)?,
        (None, Some(snapshot)) => {
            let EntityKeys { partition, row } = key.keys()?;
            let view = snapshot.view(table, partition, row)?;
            view.map_or(Ok(()), |view| keep(&view))?;
            true
        }
        (None, None) => {
            point::read_row(table, key.keys()?, &mut keep)?;
            true
        }
    };
    if found.is_none() && const { L::Path::INDEX.is_none() } {
        let keys = key.keys()?;
        let mut keep = |view: &RowView<'_>| {
            found = Some(read(view)?);
            Ok(())
        };
        let looked = missed::look_again(L::Path::KEYS, table, snapshot, keys, &mut keep);
        looked.map_err(located(table, keys.partition, keys.row))?;
    }
    Ok(found.filter(|_| is_found))
}

/// The entity's queries.
impl<'s, E: Entity> Deref for TableAt<'s, E> {
    type Target = E::Indexes<TableIn<'s>>;

    fn deref(&self) -> &Self::Target {
        &self.indexes
    }
}

impl<E: Entity> fmt::Debug for TableAt<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TableAt").field("name", &self.dynamic().name()).finish_non_exhaustive()
    }
}
