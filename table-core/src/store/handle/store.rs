//! A store as the user holds it.

use std::fmt;
use std::sync::Arc;

use super::shared::Shared;

/// Tables of entities in a directory on disk.
///
/// A store is cheap to clone and may be shared between threads; several processes may have it open. Every change is
/// one transaction: it happens whole, or not at all, and when the call returns it is on disk.
///
/// ```
/// use table_core::{DynamicEntity, IfMatch, Store};
///
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("company.tables");
/// let store = Store::open(&path)?;
/// let company = store.create_table("Company")?;
///
/// company.insert(&DynamicEntity::new("Sales", "empid_000001").with("LastName", "Jones"))?;
/// let jones = company.get("Sales", "empid_000001")?.unwrap();
/// assert_eq!(jones.get("LastName").and_then(|name| name.as_str()), Some("Jones"));
///
/// // Only the version that was read is deleted.
/// company.delete("Sales", "empid_000001", jones.etag().unwrap())?;
/// assert_eq!(company.get("Sales", "empid_000001")?, None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Store {
    pub(in crate::store) inner: Arc<Shared>,
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("path", &self.inner.environment.path).finish_non_exhaustive()
    }
}
