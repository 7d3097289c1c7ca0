//! Denormalised copies that structs declare no more.

use crate::error::Result;
use crate::typed::entity::Entity;
use crate::typed::table::Table;

impl<E: Entity> Table<E> {
    /// Has the store forget what it has noted of `#[copy_of]` and `#[copied_into]` that the struct does not say any more, and
    /// which keeps the program from writing until then. Returns how many of them those were.
    ///
    /// It is called once for each side, when no program declares the copies any more: one that does notes them anew with its
    /// next write. The dependents keep what they held, as properties that the struct does not know;
    /// `#[entity(gone("ManagerName"))]` and a migration remove it.
    ///
    /// ```
    /// # use table_core::{Entity, ErrorKind, Projection, Store};
    /// # mod before {
    /// #     use table_core::{Entity, Projection};
    /// #     #[derive(Entity)]
    /// #     #[entity(table = "Shop", kind = "customer")]
    /// #     #[key(partition = "{id:04}", row = "customer")]
    /// #     #[copied_into(Order)]
    /// #     pub struct Customer { pub id: u32, pub name: String }
    /// #     #[derive(Projection)]
    /// #     #[projection(of = Customer)]
    /// #     pub struct Buyer { pub name: String }
    /// #     #[derive(Entity)]
    /// #     #[entity(table = "Shop", kind = "order")]
    /// #     #[key(partition = "{customer:04}", row = "order_{number:06}")]
    /// #     pub struct Order {
    /// #         pub customer: u32,
    /// #         pub number: u32,
    /// #         #[copy_of(Customer, key(customer))]
    /// #         pub buyer: Option<Buyer>,
    /// #     }
    /// # }
    /// # let store = Store::temporary()?;
    /// # store.table::<before::Customer>()?.insert(&before::Customer { id: 1, name: "Ann".into() })?;
    /// # store.table::<before::Order>()?.insert(&before::Order { customer: 1, number: 1, buyer: None })?;
    /// // Before, it said `#[copied_into(Order)]`, and orders had a `#[copy_of(Customer, key(customer))]`.
    /// #[derive(Entity)]
    /// #[entity(table = "Shop", kind = "customer")]
    /// #[key(partition = "{id:04}", row = "customer")]
    /// struct Customer { id: u32, name: String }
    ///
    /// let customers = store.table::<Customer>()?;
    /// let rename = || customers.update(Customer::key(1), |customer| customer.name = "Cao".into());
    /// assert_eq!(rename().err().map(|e| e.kind()), Some(ErrorKind::LayoutChanged));
    /// assert_eq!(customers.forget_copies()?, 1);
    /// rename()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn forget_copies(&self) -> Result<u64> {
        let table = self.dynamic();
        let forgotten = table.exec().jobs().and_then(|jobs| jobs.forget_copies(E::SCHEMA));
        forgotten.map_err(|error| error.attempted("forget copies of").table(table.name()))
    }
}
