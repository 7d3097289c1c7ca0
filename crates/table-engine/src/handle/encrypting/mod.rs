//! A table whose properties are sealed by a rule that is given when the program runs.

mod batch;
mod cells;
pub(crate) mod lens;
mod rows;
mod write;

use std::fmt;
use std::sync::Arc;

use self::lens::{LastDeclared, Lens, Rule};
pub use self::rows::EncryptingRows;
use self::write::{Sealing, Submitted, submit};
use crate::crypt::KeyScope;
use crate::error::{Error, Result};
use crate::handle::batch::Batch;
use crate::handle::page::Page;
use crate::handle::snapshot::Snapshot;
use crate::handle::table::DynamicTable;
use crate::model::names::ENTITY_TYPE;
use crate::model::{DynamicEntity, ETag, IntoIfMatch, Value};
use crate::plan::{self, Act, Condition, Group};
use crate::query::{Continuation, Explain, PageBudget, Query};

/// A table of entities of any shape, some of whose properties are sealed: those that a function of partition key, row
/// key and property names. Made by [`DynamicTable::encrypting`].
///
/// ```
/// use std::sync::Arc;
/// use table_core::crypt::MemoryKeys;
/// use table_core::{DynamicEntity, ErrorKind, IfMatch, Query, Store, prop};
///
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("company.tables");
/// let store = Store::options().encryption(Arc::new(MemoryKeys::new()?)).open(&path)?;
/// let company = store.create_table("Company")?;
/// let sealed = company.encrypting(|_partition, row, property| {
///     property == "Ssn" || (row.starts_with("patient_") && property == "Weight")
/// });
///
/// sealed.insert(&DynamicEntity::new("Sales", "patient_1").with("Name", "Ann").with("Weight", 61.5))?;
/// let ann = sealed.get("Sales", "patient_1")?.unwrap();
/// assert_eq!(ann.get("Weight").and_then(|weight| weight.as_f64()), Some(61.5));
///
/// // The table itself has bytes.
/// let row = company.get("Sales", "patient_1")?.unwrap();
/// assert!(row.get("Weight").unwrap().as_bytes().is_some());
///
/// // A merge seals what it sets; the rest keeps its bytes.
/// sealed.merge(&DynamicEntity::new("Sales", "patient_1").with("Ssn", "078-05-1120"), IfMatch::Any)?;
///
/// // No filter looks into a sealed property.
/// let mut found = sealed.query(&Query::new().partition("Sales").filter(prop("Weight").gt(60.0)))?;
/// assert_eq!(found.next().unwrap().unwrap_err().kind(), ErrorKind::InvalidQuery);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// **Encryption is added, and never taken away.** A property that a struct declares with `#[encrypt]` is sealed on
/// the rows of its kind, whatever the function says. One that a struct declares without it can't be sealed here, since
/// the struct would not read it: that is an error, and the place for the attribute is the struct. Which kinds there are
/// is what the table has noted of the structs that were used with it.
///
/// **The name of a property says whether it is sealed.** The function must give the same answer whenever it is asked. A
/// property that it names is an error if it is not stored sealed, since a person who can write the file could otherwise
/// put a value there: what was written before goes through [`merge`](Self::merge) once. A property that it doesn't name is
/// given as it is stored, though it may have been sealed once.
///
/// **What it can't do:** keep the copies of a struct's entities. So it refuses to write their rows, as [`DynamicTable`]
/// does, and [`SetTable::merge_any`](crate::SetTable::merge_any) makes copies follow. Made of a [raw
/// handle](DynamicTable::raw) it writes an entity's own row, seals what the struct has sealed, and leaves the copies as they
/// were. The rows of copies are given as they are stored, and can't be written here even so, and neither can a field with
/// `#[encrypt(blind)]`, whose token only its struct's table keeps. Keys, `Timestamp`, `EntityType` and tokens are never
/// sealed.
///
/// `Debug` of an entity that was read here leaves out what was sealed; that of one that is yet to be written shows all.
///
/// Without keys, reading a row that has a sealed property is an error that names it;
/// [`Query::select`] of other properties works.
#[derive(Clone)]
pub struct EncryptingTable {
    table: DynamicTable,
    rule: Rule,
    declared: LastDeclared,
}

impl DynamicTable {
    /// Returns the table with the properties sealed for which `resolver` says so of a partition key, a row key and the
    /// property's name; see [`EncryptingTable`].
    pub fn encrypting(
        &self,
        resolver: impl Fn(&str, &str, &str) -> bool + Send + Sync + 'static,
    ) -> EncryptingTable {
        EncryptingTable { table: self.clone(), rule: Rule::new(resolver), declared: LastDeclared::default() }
    }
}

impl EncryptingTable {
    /// Returns the table with data keys of their own for what is written from now on: for the table, or for each
    /// partition. What is stored opens whatever the scope.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use table_core::crypt::{KeyScope, MemoryKeys};
    /// # use table_core::{DynamicEntity, ErrorKind, Store};
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("company.tables");
    /// # let store = Store::options().encryption(Arc::new(MemoryKeys::new()?)).open(&path)?;
    /// # let company = store.create_table("Company")?;
    /// let sealed = company.encrypting(|_, _, property| property == "Ssn").scoped(KeyScope::Partition);
    /// sealed.insert(&DynamicEntity::new("Sales", "1").with("Ssn", "078-05-1120"))?;
    /// sealed.insert(&DynamicEntity::new("Legal", "1").with("Ssn", "219-09-9999"))?;
    ///
    /// store.encryption()?.shred(&company.partition_key_scope("Sales")?)?;
    /// assert_eq!(sealed.get("Sales", "1").unwrap_err().kind(), ErrorKind::KeyShredded);
    /// assert!(sealed.get("Legal", "1")?.is_some());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn scoped(mut self, scope: KeyScope) -> Self {
        self.rule = self.rule.scoped(scope);
        self
    }

    /// Returns the table itself, which gives and takes what is stored.
    pub fn dynamic(&self) -> &DynamicTable {
        &self.table
    }

    /// Returns the table's name, as it was given at creation.
    pub fn name(&self) -> &str {
        self.table.name()
    }

    /// Returns the entity of these keys, opened, or `None`.
    pub fn get(&self, partition_key: &str, row_key: &str) -> Result<Option<DynamicEntity>> {
        let place =
            |e: Error| e.attempted("read from").table(self.name()).partition(partition_key).row(row_key);
        let snapshot = self.table.snapshot()?;
        let Some(view) = snapshot.view(&self.table, partition_key, row_key)? else { return Ok(None) };
        let read = || {
            let kind = view.kind()?.map(str::to_owned);
            Ok((kind, view.to_entity()?))
        };
        let (kind, entity) = read().map_err(place)?;
        self.opened(snapshot, kind.as_deref(), entity).map(Some).map_err(place)
    }

    /// Opens what is sealed in an entity of this table that was read in another way: in a
    /// [`Snapshot`], say. It must have its `EntityType`, if its row has one.
    pub fn open(&self, entity: DynamicEntity) -> Result<DynamicEntity> {
        let snapshot = self.table.snapshot()?;
        let kind = entity.get(ENTITY_TYPE).and_then(Value::as_str).map(str::to_owned);
        let opened = self.opened(snapshot, kind.as_deref(), entity);
        opened.map_err(|e| e.attempted("open an entity of").table(self.name()))
    }

    /// Returns a lens, which tells for the rows of a snapshot which properties are sealed.
    fn lens(&self, snapshot: &Snapshot) -> Result<Lens> {
        Lens::new(&self.rule, &self.declared, snapshot, &self.table)
    }

    /// Returns an entity of this `EntityType`, opened once the snapshot is gone: a key may have to be asked for.
    fn opened(&self, snapshot: Snapshot, kind: Option<&str>, entity: DynamicEntity) -> Result<DynamicEntity> {
        let lens = self.lens(&snapshot)?;
        drop(snapshot);
        lens.open(&self.table, kind, entity)
    }

    plan::writes_of_entities!(&Self, &DynamicEntity => write -> Result<ETag>);

    /// Removes the entity of these keys; fails if there is none.
    pub fn delete(&self, partition_key: &str, row_key: &str) -> Result<()> {
        self.table.delete(partition_key, row_key)
    }

    /// Removes the entity as [`delete`](Self::delete) does, if it is of the version demanded.
    pub fn delete_if(&self, partition_key: &str, row_key: &str, condition: impl IntoIfMatch) -> Result<()> {
        self.table.delete_if(partition_key, row_key, condition)
    }

    /// Returns a batch of operations on one partition, whose entities are sealed when it is committed.
    pub fn batch(&self, partition_key: impl Into<String>) -> Batch {
        let batch = Batch::new(self.table.clone(), partition_key.into());
        Batch { sealing: Some(Arc::new(self.clone())), ..batch }
    }

    /// Returns the entities that the query finds, opened, in order, from a snapshot of this moment.
    ///
    /// A filter that compares a sealed property is an error at the first row where it would.
    pub fn query(&self, query: &Query) -> Result<EncryptingRows> {
        EncryptingRows::new(self, query)
    }

    /// Returns a page of what the query finds, opened; see [`DynamicTable::page`].
    pub fn page(
        &self,
        query: &Query,
        budget: impl Into<PageBudget>,
        after: Option<&Continuation>,
    ) -> Result<Page> {
        rows::page(self, query, budget.into(), after)
    }

    /// Returns how the query will be answered; see [`DynamicTable::explain`].
    pub fn explain(&self, query: &Query) -> Result<Explain> {
        self.table.explain(query)
    }

    fn write(&self, condition: Condition, act: Act<()>, entity: &DynamicEntity) -> Result<ETag> {
        let (partition, row) = (entity.partition_key(), entity.row_key());
        let done = submit(|| {
            let sealing = Sealing::new(self)?;
            let sealed = sealing.seal(condition, act, entity)?;
            let given = sealed.given(entity);
            let (condition, act) = sealed.what;
            let group = Group::new(partition, vec![plan::write(condition, act, entity, &given, 0)]);
            let sealed_at = sealing.sealed_at();
            let done = self.table.write_sealed(group, &sealed_at).map_err(|refused| refused.error);
            Ok(Submitted { done, sealed_at, is_of_version: sealed.is_of_version })
        });
        let done = done.map(|committed| committed.etag(0));
        done.map_err(|e| e.placed(act.describe(condition), self.name(), partition, Some(row)))
    }
}

impl fmt::Debug for EncryptingTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EncryptingTable").field("name", &self.name()).finish_non_exhaustive()
    }
}
