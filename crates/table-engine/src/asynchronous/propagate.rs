//! Deferred copies, awaited.

use super::AsyncTables;
use crate::error::Result;
use crate::handle::tables::Tables;
use crate::typed::propagate::{PendingPropagation, Propagation};

impl AsyncTables {
    /// Brings the deferred copies of all `eventual` indexes up to date, on a thread of the pool; see [`Tables::propagate`].
    /// Dropped, it goes on to its end.
    ///
    /// ```
    /// use table_core::asynchronous::block_on;
    /// use table_core::typed::Propagation;
    /// use table_core::{Entity, Store};
    ///
    /// #[derive(Entity)]
    /// #[entity(table = "Company", kind = "employee")]
    /// #[key(partition = "{department}", row = "empid_{id:06}")]
    /// #[index(by_name, table = "Names", partition = "{last_name}", row = "{department}_{id:06}", eventual)]
    /// struct Employee {
    ///     department: String,
    ///     id: u32,
    ///     last_name: String,
    /// }
    ///
    /// # block_on(async {
    /// let store = Store::temporary()?.to_async();
    /// let staff = store.table::<Employee>().await?;
    /// staff.insert(&Employee { department: "Sales".into(), id: 7, last_name: "Jones".into() }).await?;
    /// assert_eq!(store.propagate().await?, Propagation::Complete);
    /// assert!(staff.get(Employee::by_name("Jones", "Sales", 7)).await?.is_some());
    /// assert_eq!(store.pending_propagation().await?.entities, 0);
    /// # Ok::<(), table_core::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn propagate(&self) -> Result<Propagation> {
        self.run(Tables::propagate).await
    }

    /// Returns what is to follow and has not yet; see [`Tables::pending_propagation`].
    pub async fn pending_propagation(&self) -> Result<PendingPropagation> {
        self.run(Tables::pending_propagation).await
    }

    /// Has what was set aside, or waits to be tried again, tried at once; see [`Tables::retry_failed`].
    pub async fn retry_failed(&self) -> Result<u64> {
        self.run(Tables::retry_failed).await
    }
}
