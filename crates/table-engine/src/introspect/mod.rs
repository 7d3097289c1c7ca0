//! What a store says of itself: the kinds of entities in its tables, as it has noted them.
//!
//! A store notes the layout of each kind that is written to it. So a tool that has no struct of the user's can draw the design,
//! tell entities from their copies, make a key of its fields and take it apart again. Everything here is owned, and is as it
//! was when it was asked for.
//!
//! ```
//! use table_core::introspect::RowOf;
//! use table_core::schema::Form;
//! use table_core::{Entity, Store};
//!
//! #[derive(Entity)]
//! #[entity(table = "Company", kind = "employee")]
//! #[key(partition = "{department}", row = "empid_{id:06}")]
//! #[index(by_email, row = "email_{email}", unique)]
//! struct Employee {
//!     department: String,
//!     id: u32,
//!     email: String,
//! }
//!
//! let store = Store::temporary()?;
//! let mia = Employee { department: "Sales".into(), id: 42, email: "mia@contoso.com".into() };
//! store.table::<Employee>()?.insert(&mia)?;
//!
//! // No struct from here on.
//! let kinds = store.kinds()?;
//! let employee = &kinds[0];
//! assert_eq!((employee.table(), employee.kind(), employee.version()), ("Company", "employee", 1));
//! println!("{}", employee.design().drawn(Form::Markdown));
//!
//! let by_email = employee.keys(Some("by_email"))?;
//! let keys = by_email.print_text(&[("department", "Sales"), ("email", "mia@contoso.com")])?;
//! let copy = store.dynamic_table("Company")?.get(&keys.0, &keys.1)?.unwrap();
//! assert_eq!(copy.row_key(), "email_mia@contoso.com");
//!
//! let found = employee.read_keys("Sales", "empid_000042").unwrap();
//! assert_eq!(found.row, RowOf::Entity);
//! assert_eq!(found.values, [("Department".into(), "Sales".into()), ("Id".into(), 42_i64.into())]);
//! # Ok::<(), table_core::Error>(())
//! ```

mod info;
mod keys;
mod rows;
#[cfg(test)]
mod tests;

pub use info::{IndexCondition, IndexInfo, KindInfo, PropertyInfo};
pub use keys::{KeyFieldInfo, KindKeys};
pub use rows::{RowIdentity, RowOf};

use std::sync::Arc;

use crate::error::{ErrorKind, Result};
use crate::executor::{TableExec, layouts};
use crate::handle::tables::Tables;

/// How often the tables are listed anew while others come and go.
const ATTEMPTS: usize = 16;

impl Tables {
    /// Returns the kinds of entities that are noted in the store's tables, by table and kind.
    ///
    /// A kind is noted by the first write of one of its entities, in its own table and in each other one that holds copies of
    /// them. Of a kind with a table for each period it is noted in each of these. What it says is of one moment. See
    /// [`introspect`](crate::introspect). A store that notes no layouts is [`Unsupported`](ErrorKind::Unsupported).
    #[inline]
    pub fn kinds(&self) -> Result<Vec<KindInfo>> {
        let mut attempts = 1;
        loop {
            match self.kinds_once() {
                // A table was dropped or renamed in between.
                Err(e)
                    if matches!(e.kind(), ErrorKind::TableNotFound | ErrorKind::TableRenamed)
                        && attempts < ATTEMPTS =>
                {
                    attempts += 1;
                }
                found => return found.map_err(|e| e.attempted("read the kinds of")),
            }
        }
    }

    #[inline]
    fn kinds_once(&self) -> Result<Vec<KindInfo>> {
        let tables: Vec<_> = self
            .tables()?
            .iter()
            .map(|name| self.backend().clone().open(name).map_err(|e| e.table(name)))
            .collect::<Result<_>>()?;
        let snapshot = self.backend().clone().read_snapshot()?;
        let mut kinds = Vec::new();
        for table in &tables {
            let name = table.table_name();
            let mut texts = snapshot.layouts(&**table).map_err(|e| e.table(name))?;
            texts.sort();
            for (kind, text) in texts {
                let layout = layouts::read(&text, &kind).map_err(|e| e.table(name))?;
                // The states of indexes stand in the entities' table, even of those that lie elsewhere.
                let of = layout.table();
                let is_own = |other: &&Arc<dyn TableExec>| other.table_name().eq_ignore_ascii_case(of);
                let holder = tables.iter().find(is_own).unwrap_or(table);
                let states = snapshot.index_states(&**holder, &kind).map_err(|e| e.table(name))?;
                kinds.push(KindInfo::new(name, layout, states));
            }
        }
        Ok(kinds)
    }
}
