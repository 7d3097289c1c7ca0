//! Kinds that are noted in a table by their layouts, without their structs.

use super::kinds::known;
use crate::error::Result;
use crate::handle::table::DynamicTable;
use crate::introspect::KindInfo;

impl KindInfo {
    /// Notes the kind in a table of another store, as the first write by its struct would: entities that are written there by
    /// their properties get their copies. Returns whether it has; the table is to be without entities of the kind.
    ///
    /// A kind is not noted if only its struct can say [what its writes take](DynamicTable#entities-that-a-struct-declares), if it
    /// has copies in other tables, or if some of its rows are still to be converted.
    ///
    /// ```
    /// use table_core::{DynamicEntity, Entity, Store};
    ///
    /// #[derive(Entity)]
    /// #[entity(table = "Company", kind = "employee")]
    /// #[key(partition = "{department}", row = "empid_{id:06}")]
    /// #[index(by_email, row = "email_{email}", unique)]
    /// struct Employee { department: String, id: u32, email: String }
    ///
    /// let (from, to) = (Store::temporary()?, Store::temporary()?);
    /// let jun = Employee { department: "Sales".into(), id: 7, email: "jun@contoso.com".into() };
    /// from.table::<Employee>()?.insert(&jun)?;
    ///
    /// // No struct from here on.
    /// let company = to.create_table("Company")?;
    /// assert!(from.kinds()?[0].note_in(&company)?);
    /// let read = from.dynamic_table("Company")?.get("Sales", "empid_000007")?.unwrap();
    /// company.insert(&read)?;
    /// assert!(company.get("Sales", "email_jun@contoso.com")?.is_some());
    /// # Ok::<(), table_core::Error>(())
    /// ```
    pub fn note_in(&self, table: &DynamicTable) -> Result<bool> {
        let is_here = |name: &str| name.eq_ignore_ascii_case(self.table());
        let lies_alone = self.lies_here() && self.indexes().iter().all(|index| is_here(&index.table));
        if !lies_alone || self.converting_from().is_some() {
            return Ok(false);
        }
        match known(table.name(), self.kind(), &self.layout())? {
            Ok(found) => table.index_mask(found.schema(), true).map(|_| true),
            Err(_) => Ok(false),
        }
    }
}
