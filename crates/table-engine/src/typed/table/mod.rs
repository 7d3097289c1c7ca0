//! A table of entities of one type.

mod cost;
mod kept;
mod note;
mod store;

use std::borrow::Borrow;
use std::fmt;
use std::ops::Deref;

#[doc(hidden)]
pub use self::kept::kept_layouts;
use crate::error::{ErrorKind, Result};
use crate::handle::bulk::{BulkReport, each, load};
use crate::handle::table::DynamicTable;
use crate::model::{ETag, IfMatch, IntoIfMatch};
use crate::plan::{Plan, Refused};
use crate::schema::IndexMask;
use crate::typed::change::driver::{self, Together};
use crate::typed::change::egt::Egt;
use crate::typed::change::{self, Change, Changed, Payload, Refusal, plan_only};
use crate::typed::entity::stored::Stored;
use crate::typed::entity::{Entity, PatchOf};
use crate::typed::read::key::{Key, KeyOf, Lookup, Partition};
use crate::typed::read::point::Got;

/// A table as a place for entities of type `E`.
///
/// Cheap to clone, and may be shared between threads. Every write keeps the entity's copies right in the same
/// transaction. The entity's queries are methods of it too: `staff.rows()`, and one for each index. They have pages in
/// `cargo doc` if the entity says `#[entity(types)]`.
pub struct Table<E: Entity> {
    table: DynamicTable,
    indexes: E::Indexes<DynamicTable>,
}

#[allow(clippy::needless_pass_by_value, reason = "a key is made where it is used")]
#[allow(
    clippy::inline_always,
    reason = "in the codegen unit of the caller: `typed::entity::codegen_units` says why"
)]
impl<E: Entity> Table<E> {
    #[cfg_attr(debug_assertions, inline(always))]
    pub(crate) fn new(table: DynamicTable) -> Self {
        Self { indexes: E::indexes(table.clone()), table }
    }

    /// Returns the table for entities of any shape. It reads every row; it refuses to write those of declared kinds, this
    /// entity's among them, unless it is made [`raw`](DynamicTable::raw).
    #[cfg_attr(debug_assertions, inline(always))]
    pub fn dynamic(&self) -> &DynamicTable {
        &self.table
    }

    /// Returns the entity of this key, or what an index's copy holds.
    #[cfg_attr(debug_assertions, inline(always))]
    pub fn get<L: Lookup<E>>(&self, key: L) -> Result<Option<L::Output>> {
        self.find(&key)
    }

    #[cfg_attr(debug_assertions, inline(always))]
    pub(crate) fn find<L: Lookup<E>>(&self, key: &L) -> Result<Option<L::Output>> {
        E::got(&self.table, key)
    }

    /// Returns whether there is an entity of this key, or a copy of one in the key's index. It is read as [`get`](Self::get)
    /// reads it, so what `get` refuses is refused here too.
    #[cfg_attr(debug_assertions, inline(always))]
    pub fn exists<L: Lookup<E>>(&self, key: L) -> Result<bool> {
        self.get(key).map(|found| found.is_some())
    }

    /// Adds an entity and its copies; fails if there is one of its key, or of a key in a unique index.
    #[cfg_attr(debug_assertions, inline(always))]
    pub fn insert(&self, entity: &E) -> Result<ETag> {
        self.written(Key::unused(), Change::Insert, Payload::Entity(entity))
    }

    /// Adds an entity, or puts it in the place of the one there.
    #[cfg_attr(debug_assertions, inline(always))]
    pub fn put(&self, entity: &E) -> Result<ETag> {
        self.written(Key::of(entity), Change::Put, Payload::Entity(entity))
    }

    /// Puts an entity in the place of the one there, if that is of the version demanded; fails if there is none.
    #[cfg_attr(debug_assertions, inline(always))]
    pub fn replace(&self, entity: &E, condition: impl IntoIfMatch) -> Result<ETag> {
        self.written(Key::of(entity), Change::Replace(condition.into()), Payload::Entity(entity))
    }

    /// Sets what the patch sets on the entity there, if that is of the version demanded; fails if there is none.
    ///
    /// ```
    /// # use table_core::{Entity, IfMatch, Store};
    /// # #[derive(Entity)]
    /// # #[entity(table = "Company", kind = "employee")]
    /// # #[key(partition = "{department}", row = "empid_{id:06}")]
    /// # struct Employee { department: String, id: u32, last_name: String, age: i32 }
    /// # let dir = tempfile::tempdir()?;
    /// # let store = Store::open(dir.path().join("company.tables"))?;
    /// # let staff = store.table::<Employee>()?;
    /// # staff.insert(&Employee { department: "Sales".into(), id: 1, last_name: "Jones".into(), age: 40 })?;
    /// staff.merge(Employee::key("Sales", 1), Employee::patch().age(41), IfMatch::Any)?;
    /// # let jones = staff.get(Employee::key("Sales", 1))?.unwrap();
    /// # assert_eq!((jones.age, &*jones.last_name), (41, "Jones"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg_attr(debug_assertions, inline(always))]
    pub fn merge(
        &self,
        key: impl KeyOf<E>,
        patch: impl PatchOf<E>,
        condition: impl IntoIfMatch,
    ) -> Result<Stored<E>> {
        self.changed(key.into(), Change::Merge(condition.into()), Payload::Patch(patch.into()))
    }

    /// Reads the entity, changes it and writes it back; from the start again if it was written meanwhile.
    ///
    /// The closure runs outside any transaction, and maybe several times. It can't change the fields of the primary
    /// key. What comes back is the entity as stored.
    #[cfg_attr(debug_assertions, inline(always))]
    pub fn update(&self, key: impl KeyOf<E>, change: impl FnMut(&mut E)) -> Result<Stored<E>> {
        self.changed(key.into(), Change::Update, Payload::Closure(Box::new(change)))
    }

    /// Changes the entity as [`update`](Self::update) does, unless the closure fails: then nothing is written, and what it
    /// returned comes back.
    ///
    /// ```
    /// # use table_core::{Entity, Store};
    /// # #[derive(Entity)]
    /// # #[entity(table = "Bank", kind = "account")]
    /// # #[key(partition = "{branch}", row = "acc_{id:06}")]
    /// # struct Account { branch: String, id: u32, balance: i64 }
    /// #[derive(Debug)]
    /// enum Refused {
    ///     Overdrawn { by: i64 },
    ///     Store(table_core::Error),
    /// }
    ///
    /// impl From<table_core::Error> for Refused {
    ///     fn from(error: table_core::Error) -> Self {
    ///         Self::Store(error)
    ///     }
    /// }
    ///
    /// # let dir = tempfile::tempdir()?;
    /// # let store = Store::open(dir.path().join("bank.tables"))?;
    /// let accounts = store.table::<Account>()?;
    /// accounts.insert(&Account { branch: "Main".into(), id: 1, balance: 100 })?;
    /// let withdraw = |amount: i64| {
    ///     accounts.try_update(Account::key("Main", 1), |account| {
    ///         account.balance -= amount;
    ///         if account.balance < 0 { Err(Refused::Overdrawn { by: -account.balance }) } else { Ok(()) }
    ///     })
    /// };
    /// assert_eq!(withdraw(70).unwrap().balance, 30);
    /// assert!(matches!(withdraw(50), Err(Refused::Overdrawn { by: 20 })));
    /// assert_eq!(accounts.get(Account::key("Main", 1))?.unwrap().balance, 30);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn try_update<X: Refusal>(
        &self,
        key: impl KeyOf<E>,
        change: impl FnMut(&mut E) -> Result<(), X>,
    ) -> Result<Stored<E>, X> {
        change::update_unless_refused(self.table.name(), key.into(), change, &mut |attempt| {
            driver::commit_alone(&self.table, attempt)
        })
    }

    /// Adds the entity if there is none of its key. Returns the one that is stored then, which another writer may have added.
    ///
    /// ```
    /// # use table_core::{Entity, Store};
    /// # #[derive(Entity)]
    /// # #[entity(table = "Company", kind = "counter")]
    /// # #[key(partition = "{department}", row = "counter")]
    /// # struct Counter { department: String, count: u64 }
    /// # let dir = tempfile::tempdir()?;
    /// # let store = Store::open(dir.path().join("company.tables"))?;
    /// # let counters = store.table::<Counter>()?;
    /// let first = counters.get_or_insert(&Counter { department: "Sales".into(), count: 0 })?;
    /// counters.update(Counter::key("Sales"), |counter| counter.count += 1)?;
    /// let again = counters.get_or_insert(&Counter { department: "Sales".into(), count: 0 })?;
    /// assert_eq!((first.count, again.count), (0, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn get_or_insert(&self, entity: &E) -> Result<Stored<E>> {
        change::get_or_insert(self.table.name(), || self.get(Key::of(entity)), || self.insert(entity))
    }

    /// Changes the entity as [`update`](Self::update) does, its row key too: the entity and its copies move within the
    /// partition, in one transaction. Fails if there is an entity of the new key. To another partition an entity does not
    /// move: that is [`KeyChanged`](crate::ErrorKind::KeyChanged), and [`Store::transaction`](crate::Tables::transaction)
    /// deletes it and inserts it there.
    #[cfg_attr(debug_assertions, inline(always))]
    pub fn move_to(&self, key: impl KeyOf<E>, change: impl FnMut(&mut E)) -> Result<Stored<E>> {
        self.changed(key.into(), Change::Move, Payload::Closure(Box::new(change)))
    }

    /// Removes the entity of this key with all its copies; fails with
    /// [`EntityNotFound`](crate::ErrorKind::EntityNotFound) if there is none.
    #[cfg_attr(debug_assertions, inline(always))]
    pub fn delete(&self, key: impl KeyOf<E>) -> Result<()> {
        self.delete_if(key, IfMatch::Any)
    }

    /// Removes the entity of this key with all its copies, if it is of the version demanded; fails if it is of another,
    /// or if there is none.
    ///
    /// ```
    /// # use table_core::{Entity, ErrorKind, Store, Stored};
    /// # #[derive(Entity)]
    /// # #[entity(table = "Company", kind = "employee")]
    /// # #[key(partition = "{department}", row = "empid_{id:06}")]
    /// # struct Employee { department: String, id: u32, age: i32 }
    /// # let dir = tempfile::tempdir()?;
    /// # let store = Store::open(dir.path().join("company.tables"))?;
    /// # let staff = store.table::<Employee>()?;
    /// # staff.insert(&Employee { department: "Sales".into(), id: 1, age: 40 })?;
    /// let read = staff.get(Employee::key("Sales", 1))?.unwrap();
    /// staff.update(Employee::key("Sales", 1), |e| e.age += 1)?; // another writer is quicker
    /// let refused = staff.delete_if(Employee::key("Sales", 1), Stored::etag(&read)).unwrap_err();
    /// assert_eq!(refused.kind(), ErrorKind::ConditionNotMet);
    /// staff.delete(Employee::key("Sales", 1))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg_attr(debug_assertions, inline(always))]
    pub fn delete_if(&self, key: impl KeyOf<E>, condition: impl IntoIfMatch) -> Result<()> {
        match self.written(key.into(), Change::Delete(condition.into()), Payload::Nothing) {
            Ok(_) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Adds many entities, each whole with its copies or not at all, packed into few transactions of up to 16 MiB.
    ///
    /// One that can't be added fails by itself: the report says which, by its place among those given, and why. The
    /// iterator runs outside any transaction. It ends early, with an error, only if the store as a whole can't go on.
    ///
    /// ```
    /// # use table_core::{Entity, ErrorKind, Store};
    /// # #[derive(Entity)]
    /// # #[entity(table = "Company", kind = "employee")]
    /// # #[key(partition = "{department}", row = "empid_{id:06}")]
    /// # #[index(by_email, row = "email_{email}", unique)]
    /// # struct Employee { department: String, id: u32, email: String }
    /// # let dir = tempfile::tempdir()?;
    /// # let store = Store::open(dir.path().join("company.tables"))?;
    /// # let staff = store.table::<Employee>()?;
    /// let report = staff.bulk_insert((0..1_000).map(|id| Employee {
    ///     department: "Sales".into(),
    ///     id,
    ///     email: format!("{}@contoso.com", id % 999),
    /// }))?;
    /// assert_eq!(report.committed, 999);
    /// assert_eq!((report.failures[0].index, report.failures[0].error.kind()), (999, ErrorKind::UniqueConflict));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn bulk_insert<B: Borrow<E>>(&self, entities: impl IntoIterator<Item = B>) -> Result<BulkReport> {
        // What others hold of it, or it of others, is read before it is planned.
        if const { !E::HELD.is_empty() || !E::DEPENDENTS.is_empty() } {
            return each(entities.into_iter().map(|entity| self.insert(entity.borrow()).map(drop)));
        }
        load(
            &mut *self.table.loader(),
            entities,
            |entity, loader| {
                let index_mask = driver::index_mask(Together::alone(&self.table), E::SCHEMA, true)?;
                let sealer = self.table.sealer();
                let add = |plan: &Plan<'_>| {
                    let added = loader.add(plan, &sealer.sealed_at());
                    added.map_err(|refused| plan.explain_refusal(refused).error)
                };
                plan_only::insertion(&self.table, entity.borrow(), index_mask, &sealer, add)?
            },
            |entity, refused| {
                // What adds a row demands no version: the keys that sealed it are no longer the current ones.
                if refused.error.kind() == ErrorKind::ConditionNotMet {
                    return self.insert(entity.borrow()).map(drop);
                }
                let shown = self.table.dry_run_sealer();
                let Refused { error, group, row } = &refused;
                let again = || Refused { error: error.again(), group: *group, row: *row };
                let failure =
                    plan_only::insertion(&self.table, entity.borrow(), IndexMask::NEW, &shown, |plan| {
                        plan.explain_refusal(again())
                    })?;
                Err(failure.error)
            },
        )
    }

    /// Changes of several entities of one partition, to be made together or not at all.
    pub fn egt<'c>(&self, partition: Partition<E>) -> Egt<'c, E> {
        Egt::new(Ok(self.table.clone()), partition)
    }

    #[cfg_attr(debug_assertions, inline(always))]
    fn changed(&self, key: Key<E>, change: Change<'_>, payload: Payload<'_, E>) -> Result<Stored<E>> {
        E::changed(&self.table, key, change, payload)
    }

    /// Carries out a change of which no more is asked than the version that it has written.
    #[cfg_attr(debug_assertions, inline(always))]
    pub(crate) fn written(&self, key: Key<E>, change: Change<'_>, payload: Payload<'_, E>) -> Result<ETag> {
        E::written(&self.table, key, change, payload)
    }
}

impl<E: Entity> Clone for Table<E> {
    fn clone(&self) -> Self {
        Self::new(self.table.clone())
    }
}

/// The entity's queries.
#[allow(
    clippy::inline_always,
    reason = "in the codegen unit of the caller: `typed::entity::codegen_units` says why"
)]
impl<E: Entity> Deref for Table<E> {
    type Target = E::Indexes<DynamicTable>;

    #[cfg_attr(debug_assertions, inline(always))]
    fn deref(&self) -> &E::Indexes<DynamicTable> {
        &self.indexes
    }
}

impl<E: Entity> fmt::Debug for Table<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table").field("name", &self.table.name()).finish_non_exhaustive()
    }
}
