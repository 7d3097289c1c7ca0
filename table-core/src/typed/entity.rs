//! What the derive implements.

use crate::error::Result;
use crate::plan::Values;
use crate::schema::Schema;
use crate::store::DynamicTable;

use super::Source;

/// A struct whose values are kept in a table under the keys that it declares. Derived, not written by hand.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an entity",
    label = "this type cannot be stored",
    note = "add `#[derive(Entity)]` to `{Self}`"
)]
pub trait Entity: Sized + 'static {
    /// The declaration, as a constant.
    const SCHEMA: &'static Schema;

    /// What a table of the entity offers besides its own methods: one for each way to query it.
    type Indexes;

    #[doc(hidden)]
    fn indexes(table: DynamicTable) -> Self::Indexes;

    /// Gives the fields in the schema's order.
    #[doc(hidden)]
    fn values<'a>(&'a self, out: &mut Values<'a>);

    /// Takes the fields in the schema's order.
    #[doc(hidden)]
    fn from_source(source: &mut Source<'_>) -> Result<Self>;

    /// Whether the entity has a row of this sparse index.
    #[doc(hidden)]
    fn has_row(&self, index: usize) -> bool {
        let _ = index;
        true
    }
}
