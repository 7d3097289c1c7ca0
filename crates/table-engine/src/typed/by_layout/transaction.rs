//! Rows by their properties in store transactions.

use std::sync::Arc;

use super::Write;
use super::kinds::Kinds;
use super::look::Look;
use super::row::RowAttempt;
use crate::error::{Error, ErrorKind, Result};
use crate::handle::table::DynamicTable;
use crate::model::{DynamicEntity, IfMatch, IntoIfMatch};
use crate::plan::{Act, Condition};
use crate::schema::KeyPair;
use crate::typed::change::attempt::CommittedByTheThreadThatMadeIt;
use crate::typed::change::entity_attempt::boxed;
use crate::typed::change::layout_images::LayoutImages;
use crate::typed::change::transaction::StoreTransaction;

/// Rows without a struct: each is of a [table](DynamicTable) of the store, and if it is an entity of a kind that a struct
/// declares, it is planned by the layout of that, as `DynamicTable` does.
impl<'c> StoreTransaction<'c> {
    /// Adds an entity by its properties; there must be none of its keys.
    ///
    /// ```
    /// # use table_core::{DynamicEntity, Entity, Store};
    /// # #[derive(Entity)]
    /// # #[entity(table = "Company", kind = "employee")]
    /// # #[key(partition = "{department}", row = "empid_{id:06}")]
    /// # #[index(by_email, row = "email_{email}", unique)]
    /// # struct Employee { department: String, id: u32, email: String }
    /// # let store = Store::temporary()?;
    /// # let staff = store.table::<Employee>()?;
    /// # staff.insert(&Employee { department: "Sales".into(), id: 7, email: "jun@contoso.com".into() })?;
    /// // Jun goes to another department, and a line is kept of it: all of that, or nothing.
    /// let (company, log) = (store.dynamic_table("Company")?, store.create_table("Log")?);
    /// let jun = DynamicEntity::new("Legal", "empid_000007")
    ///     .with("EntityType", "employee")
    ///     .with("Email", "jun@contoso.com");
    /// let line = DynamicEntity::new("2026", "0001").with("Text", "Jun moved");
    /// store
    ///     .transaction()
    ///     .delete_row(&company, "Sales", "empid_000007")
    ///     .insert_row(&company, &jun)
    ///     .insert_row(&log, &line)
    ///     .commit()?;
    /// assert!(staff.get(Employee::by_email("Legal", "jun@contoso.com"))?.is_some());
    /// # Ok::<(), table_core::Error>(())
    /// ```
    pub fn insert_row(self, table: &DynamicTable, entity: &'c DynamicEntity) -> Self {
        self.row(table, Write::of(Condition::Absent, Act::Put(()), entity))
    }

    /// Adds an entity by its properties, or puts it in the place of the one there.
    pub fn put_row(self, table: &DynamicTable, entity: &'c DynamicEntity) -> Self {
        self.row(table, Write::of(Condition::Any, Act::Put(()), entity))
    }

    /// Puts an entity by its properties in the place of the one there.
    pub fn replace_row(
        self,
        table: &DynamicTable,
        entity: &'c DynamicEntity,
        condition: impl IntoIfMatch,
    ) -> Self {
        self.row(table, Write::of(Condition::from(condition.into()), Act::Put(()), entity))
    }

    /// Sets the given properties of the entity there.
    pub fn merge_row(
        self,
        table: &DynamicTable,
        entity: &'c DynamicEntity,
        condition: impl IntoIfMatch,
    ) -> Self {
        self.row(table, Write::of(Condition::from(condition.into()), Act::Merge(()), entity))
    }

    /// Adds an entity by its properties, or sets them on the one there.
    pub fn insert_or_merge_row(self, table: &DynamicTable, entity: &'c DynamicEntity) -> Self {
        self.row(table, Write::of(Condition::Any, Act::Merge(()), entity))
    }

    /// Removes the entity of these keys.
    pub fn delete_row(self, table: &DynamicTable, partition_key: &'c str, row_key: &'c str) -> Self {
        self.delete_row_if(table, partition_key, row_key, IfMatch::Any)
    }

    /// Removes the entity of these keys, if it is of the version demanded.
    pub fn delete_row_if(
        self,
        table: &DynamicTable,
        partition_key: &'c str,
        row_key: &'c str,
        condition: impl IntoIfMatch,
    ) -> Self {
        self.row(table, Write::delete(partition_key, row_key, condition.into()))
    }

    fn row(mut self, table: &DynamicTable, write: Write<'c>) -> Self {
        match self.row_attempt(table, write) {
            Ok((family, attempt)) => self.push_in(&family, attempt),
            Err(error) => {
                let error = write.place(error, table);
                self.refuse(error);
            }
        }
        self
    }

    /// Returns the change of a row, and its table with those where copies of it lie.
    #[allow(clippy::type_complexity, reason = "a pair")]
    fn row_attempt(
        &self,
        table: &DynamicTable,
        write: Write<'c>,
    ) -> Result<(DynamicTable, Box<dyn CommittedByTheThreadThatMadeIt + 'c>)> {
        // By their addresses: a pointer to a trait may have several tables of methods.
        if !std::ptr::addr_eq(table.exec().store(), &raw const **self.store().backend()) {
            return Err(
                Error::new(ErrorKind::TableNotFound).because("the row is for a table of another store")
            );
        }
        let look = Look::at(table)?;
        let layouts = match look.layouts() {
            // Where nothing is noted, nothing is declared.
            Err(error) if error.kind() == ErrorKind::Unsupported => Vec::new(),
            layouts => layouts?,
        };
        let stored = look.kind_of(&write)?;
        drop(look);
        let kinds = Kinds::of(table, layouts);
        let Some(kind) = write.find_kind(&kinds, stored.as_ref())? else {
            let family = kinds.with_others(Vec::new());
            return Ok((family, Box::new(RowAttempt::new(write, Arc::new(kinds)))));
        };
        let images = Box::new(LayoutImages::new(kind, write.given())?);
        let family = kinds.with_others(kinds.others(kind)?);
        Ok((family, boxed(Ok(KeyPair::of(write.partition, write.row)), write.change(), images)))
    }
}
