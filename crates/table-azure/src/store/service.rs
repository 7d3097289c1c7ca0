//! An account's service as the store asks it: what futures hold, apart from the runtime that they run on.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use table_engine::__executor::{ChangeId, Names, PackedRow, RetryFairness, RowHead};
use table_engine::model::EntityKeys;
use table_engine::sealing::sign;
use table_engine::{DynamicEntity, Propagate, Result, Ticks, ValueRef};

use super::keys::SealingKeys;
use super::rings::{self, Keys, Rings};
use super::table::TableEntry;
use super::{explain, marks};
use crate::client::{Client, PageOf, PageRequest};

/// For how long what was noted of a table is gone by, if it is not said.
pub(crate) const LEASE: Duration = Duration::from_secs(60);

/// How the store uses the account.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option by itself")]
pub(crate) struct Settings {
    /// What the names of its tables begin with in the account.
    pub(crate) prefix: String,
    /// Whether layouts are noted.
    pub(crate) has_layouts: bool,
    /// Whether rows tell the changes that were the last of them.
    pub(crate) has_tokens: bool,
    /// Whether calls that are awaited wait for requests by themselves.
    pub(crate) awaits: bool,
    /// Whether reads may be answered by a copy of the account.
    pub(crate) reads_secondary: bool,
    /// How copies that are `eventual` are propagated.
    pub(crate) propagate: Propagate,
    /// How long the rows that mark where copies were are kept.
    pub(crate) keeps_tombstones: Duration,
    /// For how long a table that is new goes by what was noted of it.
    pub(crate) lease: Duration,
}

/// The service, and what is known of its rows.
pub(crate) struct Service {
    pub(super) client: Arc<Client>,
    pub(super) settings: Settings,
    pub(super) turns: RetryFairness,
    pub(super) rings: Rings,
    pub(super) keys: SealingKeys,
}

impl Service {
    pub(super) fn new(client: Arc<Client>, settings: Settings, keys: SealingKeys) -> Self {
        Self { client, settings, turns: RetryFairness::default(), rings: Rings::default(), keys }
    }

    /// Makes what is known of a table.
    pub(super) fn entry(&self, name: &str, remote: String, id: u32) -> TableEntry {
        TableEntry::new(name, remote, id).with_vault(self.keys.of_table(name, id))
    }

    /// Returns the name of a table in the account.
    pub(super) fn remote(&self, table: &str) -> String {
        format!("{}{table}", self.settings.prefix)
    }

    /// Returns a row of an entity for a reader: as it is now, or as a copy of the account has it, if that is allowed.
    pub(super) async fn read_row(
        &self,
        table: &TableEntry,
        partition: &str,
        row: &str,
    ) -> Result<Option<DynamicEntity>> {
        table.check_exists()?;
        let found =
            self.client.entity_of_any(table.remote(), partition, row).await.map_err(explain::unread)?;
        if let Some(found) = &found {
            self.note_ring(table, found);
        }
        Ok(found.filter(|row| marks::row_of(row).is_none()))
    }

    /// Returns a row of an entity as it is now.
    pub(super) async fn row(
        &self,
        table: &TableEntry,
        partition: &str,
        row: &str,
    ) -> Result<Option<DynamicEntity>> {
        let found = self.raw_row(table, partition, row).await?;
        Ok(found.filter(|row| marks::row_of(row).is_none()))
    }

    /// Returns a row as it is now, also one that is the store's own.
    pub(super) async fn raw_row(
        &self,
        table: &TableEntry,
        partition: &str,
        row: &str,
    ) -> Result<Option<DynamicEntity>> {
        table.check_exists()?;
        let found = self.client.entity(table.remote(), partition, row).await.map_err(explain::unread)?;
        if let Some(found) = &found {
            self.note_ring(table, found);
        }
        Ok(found)
    }

    /// Returns a page of rows.
    pub(super) async fn page(&self, table: &TableEntry, page: &PageRequest) -> Result<PageOf> {
        table.check_exists()?;
        let page = self.client.page(table.remote(), page).await.map_err(explain::unread)?;
        for row in &page.entities {
            self.note_ring(table, row);
        }
        Ok(page)
    }

    fn note_ring(&self, table: &TableEntry, row: &DynamicEntity) {
        if let (true, Some(ring), Some(etag)) = (self.settings.has_tokens, rings::of(row), row.etag()) {
            self.rings.note(
                table.remote(),
                Keys { partition: row.partition_key(), row: row.row_key() },
                etag,
                ring,
            );
        }
    }

    /// Waits until the plan of a change may be carried out, while those of others are held.
    pub(super) async fn pass(&self, change: Option<ChangeId>) {
        loop {
            let passed = poll_fn(|context| Poll::Ready(self.turns.poll_pass(change, context.waker()))).await;
            let Err(until) = passed else { return };
            // It is polled again when the turn is given back.
            let mut is_first = true;
            let woken = pin!(poll_fn(|_| {
                if std::mem::replace(&mut is_first, false) { Poll::Pending } else { Poll::Ready(()) }
            }));
            drop(tokio::time::timeout_at(until.into(), woken).await);
        }
    }
}

/// Returns a row in the form that readers know, without what is no property of it. One whose keyed digest is not that of what it
/// holds is refused.
pub(super) fn pack(table: u32, names: &Names, row: &DynamicEntity) -> Result<PackedRow> {
    let properties = row.properties().filter(|(name, _)| !marks::is_own(name));
    let properties: Vec<(&str, ValueRef<'_>)> =
        properties.map(|(name, value)| (name, value.as_value_ref())).collect();
    // A copy has the time of the change that it is as of.
    let as_of = marks::number(row, marks::AS_OF).and_then(|as_of| Ticks::new(u64::try_from(as_of).ok()?));
    let timestamp = as_of.or_else(|| row.timestamp()).unwrap_or(Ticks::MIN);
    let digest = marks::digest(row)?;
    let packed = names.pack_signed(
        table,
        EntityKeys::new(row.partition_key(), row.row_key()),
        &RowHead { timestamp, digest },
        &properties,
    )?;
    if digest.is_some() {
        sign::verify(&packed.view()?)?;
    }
    Ok(packed)
}
