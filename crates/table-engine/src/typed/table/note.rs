//! A kind that is noted before it is written.

use super::Table;
use crate::error::{Error, ErrorKind, Result};
use crate::typed::change::driver::{self, Together};
use crate::typed::entity::Entity;

impl<E: Entity> Table<E> {
    /// Notes the kind in the store, as its first write would.
    ///
    /// From then on, entities that programs without the struct write by their properties get their copies, and are refused
    /// where the struct could not read them. A server that others write through calls it for each kind before it listens.
    ///
    /// ```
    /// use table_core::{DynamicEntity, Entity, ErrorKind, Store};
    ///
    /// #[derive(Entity)]
    /// #[entity(table = "Company", kind = "employee")]
    /// #[key(partition = "{department}", row = "empid_{id:06}")]
    /// #[index(by_email, row = "email_{email}", unique)]
    /// struct Employee { department: String, id: u32, email: String }
    ///
    /// let store = Store::temporary()?;
    /// store.table::<Employee>()?.note_kind()?;
    ///
    /// // No struct from here on.
    /// let company = store.dynamic_table("Company")?;
    /// let jun = DynamicEntity::new("Sales", "empid_000007").with("EntityType", "employee");
    /// assert_eq!(company.insert(&jun).unwrap_err().kind(), ErrorKind::SchemaMismatch);
    /// company.insert(&jun.with("Email", "jun@contoso.com"))?;
    /// assert!(company.get("Sales", "email_jun@contoso.com")?.is_some());
    /// # Ok::<(), table_core::Error>(())
    /// ```
    pub fn note_kind(&self) -> Result<()> {
        let table = self.dynamic();
        let refused = |kind| Err(Error::new(kind).attempted("note a kind in").table(table.name()));
        #[cfg(feature = "access")]
        if table.exec().restricted().is_some() {
            return refused(ErrorKind::NotPermitted);
        }
        if table.exec().store().is_read_only() {
            return refused(ErrorKind::ReadOnly);
        }
        driver::index_mask(Together::alone(table), E::SCHEMA, true).map(drop)
    }
}
