//! Changes of several entities of one period, awaited.

use std::sync::Arc;

use super::{AsyncEgt, AsyncPeriods, pool};
use crate::error::{ErrorKind, Result};
use crate::handle::table::DynamicTable;
use crate::model::Ticks;
use crate::typed::entity::InPeriods;
use crate::typed::periods::{PeriodsShared, Time};
use crate::typed::read::key::Partition;

impl<E: InPeriods<Patch: Send> + Send + Sync> AsyncPeriods<E> {
    /// Begins changes of several entities of one period and partition, which happen together or not at all: those of the
    /// period that this time lies in. Its table is made at the commit if there is none.
    ///
    /// ```
    /// # use table_core::asynchronous::block_on;
    /// # use table_core::{Entity, Store, Ticks};
    /// # #[derive(Entity)]
    /// # #[entity(table = "Logins{at:%Y%m%d}", kind = "login")]
    /// # #[key(partition = "{user}", row = "{at:ticks}")]
    /// # struct Login { user: String, at: Ticks }
    /// # block_on(async {
    /// # let logins = Store::temporary()?.to_async().periods::<Login>().await?;
    /// let at = |text: &str| text.parse::<Ticks>().unwrap();
    /// let (morning, noon) = (at("2014-07-31T08:00"), at("2014-07-31T12:00"));
    /// let both = [morning, noon].map(|at| Login { user: "ann".into(), at });
    /// let changes = logins.egt(morning, Login::partition("ann"));
    /// changes.insert(&both[0]).insert(&both[1]).commit().await?;
    /// assert!(logins.exists(Login::key("ann", noon)).await?);
    /// # Ok::<(), table_core::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn egt<'c>(&self, at: impl Time, partition: Partition<E>) -> AsyncEgt<'c, E> {
        let start = self.blocking().start_of_changes(at);
        let changes = AsyncEgt::of_period(self.blocking().known().clone(), start, partition);
        match self.token() {
            Some(token) => changes.tracked(token),
            None => changes,
        }
    }
}

/// Returns the table of the period that begins then. Where there is none it is made, on a thread of the pool.
pub(super) async fn open_or_make(known: &Arc<PeriodsShared>, start: Ticks) -> Result<DynamicTable> {
    match known.open(start) {
        Ok(Ok(table)) => Ok(table),
        Err(error) if error.kind() != ErrorKind::TableNotFound => Err(error),
        // There is none, or it is dropped just now.
        _ => {
            let known = known.clone();
            pool::run(move || known.make(start)).await
        }
    }
}
