//! What the values of a table are sealed for, and by whose keys.

use crate::crypt::{Cell, Scope};
use crate::error::Result;
use crate::handle::table::DynamicTable;

impl DynamicTable {
    /// Returns a property of an entity of this table, as what a sealed value is bound to. The keys are the entity's
    /// primary ones, also where a copy of it is meant.
    pub fn cell<'a>(&self, partition_key: &'a str, row_key: &'a str, property: &'a str) -> Result<Cell<'a>> {
        Cell::new(self.exec().id(), partition_key, row_key, property)
    }

    /// Returns the scope that has the data keys of properties that are encrypted by table.
    pub fn key_scope(&self) -> Scope {
        Scope::table(self.exec().id()).of_store(self.exec().store().identity())
    }

    /// Returns the scope that has the data keys of a partition's properties that are encrypted by partition.
    pub fn partition_key_scope(&self, partition_key: &str) -> Result<Scope> {
        Ok(Scope::partition(self.exec().id(), partition_key)?.of_store(self.exec().store().identity()))
    }
}
