//! A table whose entities are known only when the program runs.

use std::fmt;
use std::sync::Arc;

use super::page::Page;
use super::rows::{BufferedScan, Rows};
use super::snapshot::Snapshot;
use crate::error::{Error, Result};
use crate::executor::{TableExec, telemetry};
use crate::model::{DynamicEntity, EntityKeys};
use crate::query::{Continuation, Explain, PageBudget, Query};
use crate::row::view::RowView;
use crate::schema::{IndexMask, Schema};

/// A handle on a table, to read and write entities of any shape.
///
/// It is cheap to clone and may be shared between threads. When the table is dropped, by whatever process, the
/// handle's operations fail with [`TableNotFound`](crate::ErrorKind::TableNotFound), also if a table of the name is
/// created anew.
///
/// ```
/// use table_core::{DynamicEntity, ErrorKind, IfMatch, Store};
///
/// # let dir = tempfile::tempdir()?;
/// # let store = Store::open(dir.path().join("company.tables"))?;
/// let company = store.create_table("Company")?;
/// let jun = DynamicEntity::new("Marketing", "empid_000002").with("FirstName", "Jun").with("Age", 47);
/// let first = company.insert(&jun)?;
///
/// // A merge changes what it names and leaves the rest alone.
/// let birthday = DynamicEntity::new("Marketing", "empid_000002").with("Age", 48);
/// company.merge(&birthday, first)?;
/// let jun = company.get("Marketing", "empid_000002")?.unwrap();
/// assert_eq!(jun.properties().len(), 2);
///
/// // The version that was first read is no more.
/// let error = company.replace(&jun, first).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::ConditionNotMet);
/// company.replace(&jun, IfMatch::Any)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Entities that a struct declares
///
/// A struct that is used with a table declares the kind of its entities, and the store notes the layout of that. A row whose
/// `EntityType` is the kind is an entity also in a program without the struct: it is planned by the layout, so that its copies,
/// its lists and its sums follow, what is unique stays so, and what is sealed is sealed by the store's keys.
///
/// ```
/// use table_core::{DynamicEntity, Entity, ErrorKind, IfMatch, Store};
///
/// #[derive(Entity)]
/// #[entity(table = "Company", kind = "employee")]
/// #[key(partition = "{department}", row = "empid_{id:06}")]
/// #[index(by_email, row = "email_{email}", unique)]
/// struct Employee {
///     department: String,
///     id: u32,
///     email: String,
///     age: u8,
/// }
///
/// # let dir = tempfile::tempdir()?;
/// # let store = Store::open(dir.path().join("company.tables"))?;
/// let staff = store.table::<Employee>()?;
/// staff.insert(&Employee { department: "Sales".into(), id: 7, email: "jun@contoso.com".into(), age: 47 })?;
///
/// // As a program would that has no struct.
/// let company = store.dynamic_table("Company")?;
/// let cao = DynamicEntity::new("Sales", "empid_000008")
///     .with("EntityType", "employee")
///     .with("Email", "cao@contoso.com")
///     .with("Age", 31);
/// company.insert(&cao)?;
/// company.merge(&DynamicEntity::new("Sales", "empid_000007").with("Email", "j@contoso.com"), IfMatch::Any)?;
/// assert!(staff.get(Employee::by_email("Sales", "cao@contoso.com"))?.is_some());
/// assert!(staff.get(Employee::by_email("Sales", "jun@contoso.com"))?.is_none());
///
/// // What the struct could not read is refused, and nothing is written.
/// let error = company.merge(&DynamicEntity::new("Sales", "empid_000008").with("Age", 256), IfMatch::Any).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::SchemaMismatch);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// The properties are those of the struct: one that it does not have is an error, and one that it requires has to be there. A
/// merge can't change a part of the entity's key. A replace keeps properties that the layout does not know, as the struct's
/// does. Of JSON it is known that it is JSON, and not what the field's type takes.
///
/// What a layout does not say is refused as [`DeclaredKind`](crate::ErrorKind::DeclaredKind), which names the line that is in
/// the way: an index, or a count, with `when`; the elements of a list in a key; a value of a type with its own
/// [`Property`](crate::schema::Property), or of an optional reference; an absent property whose default a key prints or a sum
/// adds; what is held of other entities; a signature; tables of periods; rows that are still to be converted; sealed properties
/// where the store is open without keys. A layout that an earlier release has noted does not say what its properties read: the
/// first write by the struct adds that. Copies, and the rows of lists and summaries, are never written so.
#[derive(Clone)]
pub struct DynamicTable {
    exec: Exec,
    is_raw: bool,
    /// Itself and the other tables where rows of its kinds lie, if there are such.
    family: Option<Arc<[DynamicTable]>>,
}

/// What carries out the reads and writes of a table.
type Exec = Arc<dyn TableExec>;

impl DynamicTable {
    pub(crate) fn new(exec: Arc<dyn TableExec>) -> Self {
        Self { exec, is_raw: false, family: None }
    }

    /// Returns the table as one that knows of others where copies of its entities lie.
    pub(crate) fn with_others(self, others: Vec<Self>) -> Self {
        if others.is_empty() {
            return self;
        }
        let family = std::iter::once(self.clone()).chain(others).collect();
        Self { family: Some(family), ..self }
    }

    /// Returns this table and the others where rows of its kinds lie.
    pub(crate) fn family(&self) -> &[Self] {
        self.family.as_deref().unwrap_or_else(|| std::slice::from_ref(self))
    }

    /// Returns the table of this name among them; this one, if there is none.
    pub(crate) fn member(&self, name: &str) -> &Self {
        let found = self
            .family
            .as_deref()
            .and_then(|family| family.iter().find(|table| table.name().eq_ignore_ascii_case(name)));
        found.unwrap_or(self)
    }

    /// Returns the number of the table of this name among them.
    pub(crate) fn number_of(&self, name: &str) -> Option<usize> {
        self.family().iter().position(|table| table.name().eq_ignore_ascii_case(name))
    }

    /// Returns another table of the store, as it is now; `None` if there is none of this name.
    pub(crate) fn sibling(&self, name: &str) -> Result<Option<Self>> {
        let found = self.exec.sibling(name)?;
        Ok(found.map(|exec| Self { exec, is_raw: self.is_raw, family: None }))
    }

    /// Returns a handle of this table that knows no others.
    pub(crate) fn alone(&self) -> Self {
        Self { family: None, ..self.clone() }
    }

    /// Returns a handle of the table of this name among those that this one knows, and knows the same tables.
    pub(crate) fn member_of_family(&self, name: &str) -> Self {
        Self { family: self.family.clone(), ..self.member(name).clone() }
    }

    /// Returns the table, and all that it knows, as `map` gives what carries out their reads.
    #[cfg(feature = "async")]
    pub(crate) fn mapped(&self, map: &dyn Fn(&Exec) -> Exec) -> Self {
        let alone = |table: &Self| Self { exec: map(&table.exec), is_raw: table.is_raw, family: None };
        let family = self.family.as_deref().map(|family| family.iter().map(alone).collect());
        Self { family, ..alone(self) }
    }

    /// Returns what carries out its reads and writes.
    #[doc(hidden)]
    pub fn exec(&self) -> &dyn TableExec {
        &*self.exec
    }

    /// Returns the table's name, as it was given at creation.
    pub fn name(&self) -> &str {
        self.exec.table_name()
    }

    /// Returns the table as one by which rows of declared kinds are written as any others.
    ///
    /// Another handle [plans](Self#entities-that-a-struct-declares) the write of an entity with all that is derived of it, and
    /// refuses that of a copy. Writes of this one change the one row, whatever it is, and leave copies as they are: for repairs,
    /// and for data that comes with its copies.
    ///
    /// Rows that are signed are their struct's alone: nothing else can make their digest. They can
    /// be deleted.
    ///
    /// ```
    /// use table_core::{DynamicEntity, Entity, ErrorKind, IfMatch, Store};
    ///
    /// #[derive(Entity)]
    /// #[entity(table = "Company", kind = "employee")]
    /// #[key(partition = "{department}", row = "empid_{id:06}")]
    /// #[index(by_email, row = "email_{email}", unique)]
    /// struct Employee {
    ///     department: String,
    ///     id: u32,
    ///     email: String,
    /// }
    ///
    /// # let dir = tempfile::tempdir()?;
    /// # let store = Store::open(dir.path().join("company.tables"))?;
    /// let staff = store.table::<Employee>()?;
    /// staff.insert(&Employee { department: "Sales".into(), id: 7, email: "jun@contoso.com".into() })?;
    ///
    /// // A copy is its entity's.
    /// let company = staff.dynamic();
    /// let copy = DynamicEntity::new("Sales", "email_jun@contoso.com").with("Department", "Legal");
    /// assert_eq!(company.merge(&copy, IfMatch::Any).unwrap_err().kind(), ErrorKind::DeclaredKind);
    ///
    /// // The copy under the e-mail says what is no more.
    /// let change = DynamicEntity::new("Sales", "empid_000007").with("Email", "cao@contoso.com");
    /// company.raw().merge(&change, IfMatch::Any)?;
    /// assert!(staff.get(Employee::by_email("Sales", "jun@contoso.com"))?.is_some());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn raw(&self) -> Self {
        Self { is_raw: true, ..self.clone() }
    }

    /// Returns whether writes of this handle may change rows of declared kinds.
    pub(crate) fn is_raw(&self) -> bool {
        self.is_raw
    }

    /// Makes sure that the rows of this kind can be read by what the schema declares.
    pub(crate) fn declare(&self, schema: &'static Schema) -> Result<()> {
        self.exec.declare(schema)
    }

    /// Returns which indexes writers of this kind keep, and which of them can be read.
    #[inline]
    pub(crate) fn index_mask(&self, schema: &'static Schema, writes: bool) -> Result<IndexMask> {
        let words = if writes { "write to" } else { "read from" };
        self.exec.index_mask(schema, writes).map_err(|error| error.attempted(words).table(self.name()))
    }

    /// Returns the entity of these keys, or `None`.
    pub fn get(&self, partition_key: &str, row_key: &str) -> Result<Option<DynamicEntity>> {
        #[expect(
            clippy::redundant_closure_for_method_calls,
            reason = "the method is of one lifetime, the closure of any"
        )]
        self.get_by(partition_key, row_key, |view| view.to_entity())
    }

    /// Returns what `read` makes of the row of these keys.
    pub(crate) fn get_by<T>(
        &self,
        partition_key: &str,
        row_key: &str,
        mut read: impl FnMut(&RowView<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        let mut made = None;
        self.read_row(partition_key, row_key, &mut |view, _| {
            made = Some(read(view)?);
            Ok(())
        })?;
        Ok(made)
    }

    /// Returns what `read` makes of the row of these keys, and of the number of the state that it is read in.
    #[doc(hidden)]
    pub fn get_in_state<T>(
        &self,
        partition_key: &str,
        row_key: &str,
        mut read: impl FnMut(&RowView<'_>, usize) -> Result<T>,
    ) -> Result<Option<T>> {
        let mut made = None;
        self.read_row(partition_key, row_key, &mut |view, state| {
            made = Some(read(view, state)?);
            Ok(())
        })?;
        Ok(made)
    }

    /// Gives `read` the row of these keys, if there is one, and the state of the store that it is read in. What is made
    /// of it `read` keeps, so that this is not made anew for each type.
    pub(crate) fn read_row(
        &self,
        partition_key: &str,
        row_key: &str,
        read: &mut dyn FnMut(&RowView<'_>, usize) -> Result<()>,
    ) -> Result<()> {
        let operation = telemetry::point_read(&*self.exec);
        let _entered = operation.enter();
        match self.exec.get(EntityKeys::new(partition_key, row_key), read) {
            Ok(found) => {
                operation.returned(u64::from(found));
                Ok(())
            }
            Err(error) => Err(self.located(error, partition_key, row_key)),
        }
    }

    /// Returns what `read` makes of the row of these keys, which it may keep as long as it runs.
    pub(crate) fn view_by<T>(
        &self,
        partition_key: &str,
        row_key: &str,
        read: impl FnOnce(RowView<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        let (mut read, mut made) = (Some(read), None);
        let operation = telemetry::point_read(&*self.exec);
        let _entered = operation.enter();
        let found = self.exec.view(EntityKeys::new(partition_key, row_key), &mut |view| {
            made = read.take().map(|read| read(view)).transpose()?;
            Ok(())
        });
        operation.returned(u64::from(made.is_some()));
        found.map(|_| made).map_err(|e| self.located(e, partition_key, row_key))
    }

    /// Returns an error of a read of one row.
    #[cold]
    fn located(&self, error: Error, partition_key: &str, row_key: &str) -> Error {
        telemetry::failed(&*self.exec, error.kind());
        error.attempted("read from").table(self.name()).partition(partition_key).row(row_key)
    }

    /// Returns an iterator over what a query finds, to be decoded by the caller.
    pub(crate) fn buffered_scan(&self, query: &Query) -> Result<BufferedScan> {
        let snapshot = self.snapshot().map_err(|e| e.attempted("query"))?;
        BufferedScan::new(snapshot, self, query.clone().into())
    }

    /// Returns all tables of the store as they are now.
    pub(crate) fn snapshot(&self) -> Result<Snapshot> {
        let snapshot = self.exec.read_snapshot().map_err(|e| e.attempted("read from").table(self.name()))?;
        Ok(Snapshot::new(snapshot))
    }

    /// Returns the entities that the query finds, in order, from a snapshot that is taken now.
    pub fn query(&self, query: &Query) -> Result<Rows> {
        Rows::new(self, query)
    }

    /// Returns a page of what the query finds: at most so many entities, 1,000 at most, from the start or from where another
    /// page ended. A [`PageBudget`] may end it earlier, after so many rows or so much time.
    ///
    /// Each page is a snapshot of its own. So what is written between two pages is seen if it lies ahead; an entity
    /// that stays is neither skipped nor given twice.
    ///
    /// ```
    /// # use table_core::{Continuation, DynamicEntity, Query, Store};
    /// # let dir = tempfile::tempdir()?;
    /// # let store = Store::open(dir.path().join("company.tables"))?;
    /// # let company = store.create_table("Company")?;
    /// # for id in 0..5 {
    /// #     company.insert(&DynamicEntity::new("Sales", format!("empid_{id:06}")))?;
    /// # }
    /// let query = Query::new().partition("Sales");
    /// let first = company.page(&query, 3, None)?;
    /// assert_eq!(first.entities.len(), 3);
    ///
    /// // A token is text: it can be kept anywhere, and used after a restart.
    /// let text = first.next.unwrap().to_string();
    /// let token: Continuation = text.parse()?;
    /// let second = company.page(&query, 3, Some(&token))?;
    /// assert_eq!(second.entities.len(), 2);
    /// assert!(second.next.is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn page(
        &self,
        query: &Query,
        budget: impl Into<PageBudget>,
        after: Option<&Continuation>,
    ) -> Result<Page> {
        let snapshot = self.exec.read_snapshot().map_err(|e| e.attempted("query").table(self.name()))?;
        Snapshot::new(snapshot).page(self, query, budget, after)
    }

    /// Returns how the query will be answered: by a point, a range, a scan of a partition or of the table, and why.
    pub fn explain(&self, query: &Query) -> Result<Explain> {
        query.explain().map_err(|e| e.table(self.name()))
    }
}

impl fmt::Debug for DynamicTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DynamicTable").field("name", &self.name()).finish_non_exhaustive()
    }
}
