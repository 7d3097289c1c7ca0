//! What a plan that was carried out has written.

use super::row_write::Plan;
use crate::model::ETag;

/// The versions of what was written together: an [`ETag`] for each operation.
///
/// On LMDB all of one commit have one version, since they share their time. Other stores may give each entity a time of its
/// own, so a program that goes on with one of them asks for that one's.
///
/// ```
/// use table_core::{DynamicEntity, Store};
///
/// # let store = Store::temporary()?;
/// let company = store.create_table("Company")?;
/// let committed = company
///     .batch("Sales")
///     .insert(DynamicEntity::new("Sales", "department").with("HeadCount", 1))
///     .insert(DynamicEntity::new("Sales", "empid_000001").with("LastName", "Jones"))
///     .commit()?;
/// let jones = company.get("Sales", "empid_000001")?.unwrap();
/// assert_eq!(jones.etag(), Some(committed.etag(1)));
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Committed {
    /// The version of all that `each` does not name.
    etag: ETag,
    /// From an executor one for each row, after that one for each operation; empty if all have the same.
    each: Vec<ETag>,
}

impl Committed {
    /// Makes the answer of an executor that gives all rows of a commit one version.
    #[doc(hidden)]
    #[inline]
    pub fn at(etag: ETag) -> Self {
        Self { etag, each: Vec::new() }
    }

    /// Makes the answer of an executor that gives each row its own version: one for each row of the plan's groups, in their
    /// order, and `etag` for what is in none. Of a row that is not written the version counts for nothing.
    #[doc(hidden)]
    pub fn of_rows(etag: ETag, rows: Vec<ETag>) -> Self {
        Self { etag, each: rows }
    }

    /// Returns the version of the entity that the operation of this number has written, counted from 0. One that has
    /// written none, such as a delete, has no version of its own: the answer is that of another.
    #[inline]
    pub fn etag(&self, operation: usize) -> ETag {
        self.each.get(operation).copied().unwrap_or(self.etag)
    }

    /// Returns whether rows have versions of their own.
    #[cfg(feature = "async")]
    #[inline]
    pub(crate) fn is_of_rows(&self) -> bool {
        !self.each.is_empty()
    }

    /// Returns the versions by operations in place of rows: that of the entity's own row, or of the one row that is no
    /// copy.
    #[inline]
    pub(crate) fn by_operations(self, plan: &Plan<'_>) -> Self {
        if self.each.is_empty() { self } else { self.numbered(plan) }
    }

    fn numbered(self, plan: &Plan<'_>) -> Self {
        let rows = plan.groups.iter().flat_map(|group| &group.rows);
        let mut each = Vec::new();
        for (row, etag) in rows.zip(self.each) {
            if row.act.content().is_none() || !(row.kind.is_none() || row.is_own()) {
                continue;
            }
            if each.len() <= row.of {
                each.resize(row.of + 1, self.etag);
            }
            if let Some(own) = each.get_mut(row.of) {
                *own = etag;
            }
        }
        Self { etag: self.etag, each }
    }
}
