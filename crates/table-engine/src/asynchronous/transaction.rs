//! Store transactions, awaited.

use std::fmt;

use super::{WriteToken, egt, outcome};
use crate::error::Result;
use crate::handle::tables::Tables;
use crate::model::{IfMatch, IntoIfMatch};
use crate::plan::{Committed, Reach};
#[cfg(feature = "queue")]
use crate::queue::{Message, Queue, Received};
use crate::schema::Schema;
use crate::typed::change::awaited::{self, SendAttempt};
use crate::typed::change::driver::{Scope, Together};
use crate::typed::change::entity_attempt::boxed_to_share;
use crate::typed::change::entity_images::TypedImages;
use crate::typed::change::queue_ops::{self, QueueOpsAttempt};
use crate::typed::change::several::{changes, messages};
use crate::typed::change::transaction::{OpenTables, check_length};
use crate::typed::change::{Change, Payload, SendClosure};
use crate::typed::entity::{Entity, InOneTable, PatchOf};
use crate::typed::propagate;
use crate::typed::read::key::Key;
use crate::typed::series::AddsTo;

/// Changes of entities in whatever partitions and tables that happen together or not at all, as
/// [`StoreTransaction`](crate::typed::StoreTransaction) has them; to commit them is awaited.
///
/// ```
/// use table_core::asynchronous::block_on;
/// # use table_core::{Entity, Store};
/// # #[derive(Entity)]
/// # #[entity(table = "Bank", kind = "account")]
/// # #[key(partition = "{branch}", row = "acc_{id:06}")]
/// # struct Account { branch: String, id: u32, balance: i64 }
/// # block_on(async {
/// # let store = Store::temporary()?.to_async();
/// # let accounts = store.table::<Account>().await?;
/// # for branch in ["Main", "Park"] {
/// #     accounts.insert(&Account { branch: branch.into(), id: 1, balance: 100 }).await?;
/// # }
/// store
///     .transaction()
///     .update(Account::key("Main", 1), |account: &mut Account| account.balance -= 30)
///     .update(Account::key("Park", 1), |account: &mut Account| account.balance += 30)
///     .commit()
///     .await?;
/// assert_eq!(accounts.get(Account::key("Park", 1)).await?.unwrap().balance, 130);
/// # Ok::<(), table_core::Error>(())
/// # }).unwrap();
/// ```
#[must_use = "a transaction does nothing until it is committed"]
pub struct AsyncTransaction<'c> {
    store: Tables,
    kinds: Vec<&'static Schema>,
    operations: Vec<Box<SendAttempt<'c>>>,
    queue_ops: QueueOpsAttempt,
    token: Option<WriteToken>,
}

impl<'c> AsyncTransaction<'c> {
    pub(super) fn new(store: Tables) -> Self {
        let (kinds, operations, queue_ops) = (Vec::new(), Vec::new(), QueueOpsAttempt::default());
        Self { store, kinds, operations, queue_ops, token: None }
    }

    /// Notes in the token what becomes of the transaction.
    pub fn tracked(self, token: &WriteToken) -> Self {
        Self { token: Some(token.clone()), ..self }
    }

    fn with<E: Entity<Patch: Send> + Send + Sync>(
        mut self,
        key: Key<E>,
        change: Change<'c>,
        payload: Payload<'c, E, SendClosure<'c, E>>,
    ) -> Self {
        propagate::register::<E>(&self.store);
        let images = TypedImages::<E, SendClosure<'c, E>>::of(payload);
        self.kinds.push(E::SCHEMA);
        self.operations.push(boxed_to_share(key.into_keys(), change, Box::new(images)));
        self
    }

    changes!([InOneTable<Patch: Send> + Send + Sync] [+ Send]);

    messages!();

    /// Makes every change, or none. Returns the version of each entity that was written.
    ///
    /// One of messages alone has no rows that could be planned: it is carried out on a thread of a pool, to its end once it has
    /// begun.
    pub async fn commit(self) -> Result<Committed> {
        let Self { store, kinds, mut operations, queue_ops, token } = self;
        let mut queue_ops = queue_ops.checked()?;
        if operations.is_empty()
            && let Some(queue_ops) = queue_ops
        {
            return outcome::carry_out(token.as_ref(), move || queue_ops::commit(&store, queue_ops)).await;
        }
        check_length(operations.len())?;
        let mut open = OpenTables::new(store.clone());
        let mut of = Vec::with_capacity(kinds.len());
        for (index, schema) in kinds.into_iter().enumerate() {
            let mut number = open.known(schema);
            if number.is_none() {
                let opened = egt::opened(store.clone(), vec![schema]).await;
                number = Some(open.add(schema, &opened.map_err(|error| error.at_index(index))?));
            }
            of.extend(number);
        }
        let mut attempts: Vec<&mut SendAttempt<'_>> = Vec::with_capacity(operations.len());
        for operation in &mut operations {
            attempts.push(&mut **operation);
        }
        // Behind the changes, so that an error's number is that of a change.
        if let Some(queue_ops) = &mut queue_ops {
            attempts.push(queue_ops);
        }
        let together = Together { tables: &open.tables, scope: Scope { reach: Reach::Store, of: &of } };
        awaited::commit(together, &mut attempts, token.as_ref()).await
    }
}

impl fmt::Debug for AsyncTransaction<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncTransaction").field("changes", &self.operations.len()).finish_non_exhaustive()
    }
}
