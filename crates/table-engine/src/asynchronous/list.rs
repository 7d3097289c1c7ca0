//! Index lists and entities in place, awaited.

use super::without_pages::WithoutPages;
use super::{AsyncTable, AsyncTables, RowStream};
use crate::error::Result;
use crate::handle::batch::Batch;
use crate::handle::bulk::BulkReport;
use crate::typed::entity::Entity;
use crate::typed::read::key::{Key, KeyOf};
use crate::typed::read::list::{ListKey, ListedEntities};
use crate::typed::read::view::View;
use crate::typed::table::Table;

impl<E: Entity<Patch: Send> + Send + Sync> AsyncTable<E> {
    /// Returns the entities on an index list, as it is when the first is asked for, in the order of their ids; see
    /// [`Table::list`](crate::Table::list).
    ///
    /// ```
    /// use table_core::asynchronous::block_on;
    /// use table_core::{Entity, Store};
    ///
    /// #[derive(Entity)]
    /// #[entity(table = "Company", kind = "employee")]
    /// #[key(partition = "{department}", row = "empid_{id:06}")]
    /// #[index_list(by_last_name, row = "last_{last_name}", of = id)]
    /// struct Employee {
    ///     department: String,
    ///     id: u32,
    ///     last_name: String,
    /// }
    ///
    /// # block_on(async {
    /// let store = Store::temporary()?.to_async();
    /// let staff = store.table::<Employee>().await?;
    /// for (id, last_name) in [(7, "Jones"), (3, "Jones"), (5, "Cao")] {
    ///     staff.insert(&Employee { department: "Sales".into(), id, last_name: last_name.into() }).await?;
    /// }
    /// let mut list = staff.list(Employee::by_last_name("Sales", "Jones"));
    /// let mut ids = Vec::new();
    /// while let Some(jones) = list.try_next().await? {
    ///     ids.push(jones.id);
    /// }
    /// assert_eq!(ids, [3, 7]);
    /// assert_eq!(staff.list_keys(Employee::by_last_name("Sales", "Cao")).await?.len(), 1);
    ///
    /// // One entity in place: what is not asked for is not decoded.
    /// let letters = staff.view(Employee::key("Sales", 5), |cao| Ok(cao.last_name()?.len())).await?;
    /// assert_eq!(letters, Some(3));
    /// # Ok::<(), table_core::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn list(&self, key: ListKey<E>) -> RowStream<WithoutPages<ListedEntities<E>>>
    where
        E: 'static,
    {
        let table = self.dynamic().blocking().clone();
        RowStream::new(self.dynamic().reading(), move || {
            Ok(WithoutPages::new(Table::<E>::new(table).list(key)?))
        })
    }

    /// Returns the keys of the entities on an index list, in the order of their ids: one row is read.
    pub async fn list_keys(&self, key: ListKey<E>) -> Result<Vec<Key<E>>> {
        self.dynamic()
            .read(move |table| Ok(Table::<E>::new(table.clone()).find_list(&key)?.keys().collect()))
            .await
    }

    /// Returns what `read` makes of the entity in place; `None` if there is none. The closure runs where the handle reads.
    pub async fn view<T: Send + 'static>(
        &self,
        key: impl KeyOf<E>,
        read: impl FnOnce(View<'_, E>) -> Result<T> + Send + 'static,
    ) -> Result<Option<T>> {
        let (key, mut read) = (key.into(), Some(read));
        let found = self.dynamic().read(move |table| {
            // The entity is there in one of the runs, and the closure is called in that.
            let read = |view: View<'_, E>| read.take().map(|read| read(view)).transpose();
            Ok(Table::<E>::new(table.clone()).view(key.clone(), read)?.flatten())
        });
        found.await
    }
}

impl AsyncTables {
    /// Carries out many batches, each whole or not at all, in few transactions, on a thread of a pool; see
    /// [`Tables::bulk`](crate::Tables::bulk).
    pub async fn bulk<I>(&self, batches: I) -> Result<BulkReport>
    where
        I: IntoIterator<Item = Batch> + Send + 'static,
    {
        self.run(move |tables| tables.bulk(batches)).await
    }
}
