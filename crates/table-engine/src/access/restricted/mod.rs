//! A store that is restricted to an access: a backend around another one.
//!
//! Every read goes through [`snapshot`] or [`table`], which show no row outside, and no row of an entity outside. Every plan goes
//! through [`backend`], which carries out no write outside. A typed change asks [`RestrictedTable`](crate::executor::RestrictedTable)
//! first, and then reads and writes by the store itself: what it reads to plan it does not show.

mod backend;
#[cfg(feature = "blob")]
mod blobs;
#[cfg_attr(
    not(feature = "access-testing"),
    expect(unreachable_pub, reason = "the matrix of tests is shown it")
)]
pub mod checks;
mod limits;
mod queues;
mod rows;
mod snapshot;
mod table;

use std::any::Any;
use std::sync::Arc;

use self::backend::RestrictedBackend;
use crate::access::Access;
use crate::handle::tables::Tables;

impl Tables {
    /// Returns a handle of the store that can do no more than the access permits, typed and dynamic. What is LMDB's alone is
    /// not on it. A handle that is restricted already can be restricted further.
    ///
    /// **Reads.** They take the permission to read. A query is narrowed: it finds what is inside, and nothing says that there
    /// is more. An entity outside is absent, and so is one that is found by an index unless its copy and itself are
    /// inside; a summary or a list, unless every entity that its key lets count there is.
    ///
    /// **Writes.** An entity outside is [`OutsideRange`](crate::ErrorKind::OutsideRange), whether or not there is one, and a
    /// permission that is missing [`NotPermitted`](crate::ErrorKind::NotPermitted). What writes whether or not there is an
    /// entity (`put`, `insert_or_replace`, `insert_or_merge`) takes the permissions to add and to update. What shows the
    /// stored entity takes the permission to read, too: the closures of `update` and `move_to`, and typed merges, which give
    /// it back. `move_to` takes all four. What follows from a change outside (copies in other partitions and
    /// tables, summaries, entities that hold its fields) is written by the right to change the entity itself. An
    /// entity that holds fields of another one can be written only where the other is inside.
    ///
    /// **What is told of the outside** is that a unique key is taken, by
    /// [`UniqueConflict`](crate::ErrorKind::UniqueConflict), and not by whom; and whether a change is refused because of what
    /// follows from it there: a sum out of range, more rows than a transaction takes.
    ///
    /// **Times** are compared with the system's clock, as it is, at each call, each batch of rows that an iterator reads, and
    /// before each commit.
    ///
    /// **Pages.** A token says nothing of the access: it goes on under a renewed one, and under another one it goes on with
    /// what that one shows.
    ///
    /// Tables are made, dropped and renamed by no access, and jobs, raw writes and propagation belong to none. Queues and
    /// containers are refused unless the access names them. A table for each period is one by its own name.
    ///
    /// ```
    /// use table_core::access::Access;
    /// use table_core::{Entity, ErrorKind, Store};
    ///
    /// #[derive(Entity)]
    /// #[entity(table = "Company", kind = "employee")]
    /// #[key(partition = "{department}", row = "empid_{id:06}")]
    /// #[index(by_email, table = "Emails", partition = "{email}", row = "email", unique, atomic)]
    /// struct Employee {
    ///     department: String,
    ///     id: u32,
    ///     email: String,
    /// }
    ///
    /// let ann = |id| Employee { department: "Sales".into(), id, email: "ann@contoso.com".into() };
    /// let store = Store::temporary()?;
    /// store.table::<Employee>()?.insert(&Employee { department: "Legal".into(), ..ann(1) })?;
    ///
    /// let access = Access::to_table("Company").read().add().partition("Sales");
    /// let staff = store.restricted(&access).table::<Employee>()?;
    /// assert!(staff.get(Employee::key("Legal", 1))?.is_none());
    /// assert_eq!(staff.insert(&ann(1)).unwrap_err().kind(), ErrorKind::UniqueConflict); // that much is told
    /// assert_eq!(staff.delete(Employee::key("Sales", 1)).unwrap_err().kind(), ErrorKind::NotPermitted);
    /// # Ok::<(), table_core::Error>(())
    /// ```
    #[must_use]
    pub fn restricted(&self, access: &Access) -> Self {
        let backend: &dyn Any = &**self.backend();
        let (inner, access) = match backend.downcast_ref::<RestrictedBackend>() {
            Some(restricted) => restricted.further(access),
            None => (self.backend().clone(), access.clone()),
        };
        Self::new(Arc::new(RestrictedBackend::new(inner, access)))
    }
}
