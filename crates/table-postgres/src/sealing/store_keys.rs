//! The keys that a store was opened with, if any, as its reads and writes meet them.

use std::sync::Arc;

use table_engine::__executor::Sealing;
use table_engine::Result;
use table_engine::row::vault::Vault;
use table_engine::sealing::missing;
use tokio_postgres::Row;

use super::at_work::{SharedKeys, TableVault};
use super::key_store::KeyStore;
use crate::builder::Builder;
use crate::catalog::Catalog;
use crate::connection::Call;
use crate::options::PostgresOptions;
use crate::param::Param;
use crate::pool::Pool;

/// The keys of a store; none if it was opened without a provider.
#[derive(Clone, Debug)]
pub(crate) struct StoreKeys(Option<SharedKeys>);

impl StoreKeys {
    /// Opens the keys of a store of this identity, if its options give a provider.
    pub(crate) fn open(
        options: &PostgresOptions,
        pool: &Arc<Pool>,
        catalog: &Catalog,
        identity: [u8; 16],
    ) -> Result<Self> {
        let Some(provider) = options.provider() else { return Ok(Self(None)) };
        KeyStore::open(pool, catalog, identity, provider).map(|keys| Self(Some(SharedKeys(keys))))
    }

    /// Returns the keys. An error if there are none.
    pub(crate) fn get(&self) -> Result<&SharedKeys> {
        self.0.as_ref().ok_or_else(missing::keys)
    }

    /// Returns the keys as a store of any kind has them. An error if there are none.
    pub(crate) fn vault(&self) -> Result<&dyn Sealing> {
        self.get().map(|keys| -> &dyn Sealing { keys })
    }

    /// Returns what opens the values of a table's rows, and signs them.
    pub(crate) fn of_table(&self, table: u32) -> Option<Arc<dyn Vault>> {
        self.0.clone().map(|keys| -> Arc<dyn Vault> { Arc::new(TableVault::new(keys, table)) })
    }

    /// Adds to statements that read rows the one that reads the keys' generation: a key that another process has destroyed is
    /// forgotten before it opens anything of these rows.
    pub(crate) fn ask_with(&self, calls: &mut Vec<Call>) {
        calls.extend(self.0.as_ref().map(|keys| keys.0.tables().generation()));
    }

    /// Takes the last answer, which is to that statement.
    pub(crate) fn observe_last(&self, answers: &mut Vec<Vec<Row>>) -> Result<()> {
        match (&self.0, answers.pop()) {
            (Some(keys), Some(answer)) => keys.0.observe_row(&answer),
            (None, Some(answer)) => {
                answers.push(answer);
                Ok(())
            }
            (_, None) => Ok(()),
        }
    }

    /// Demands in a plan's statement that the keys are of this generation, at which its values were sealed.
    pub(crate) fn demand(&self, generation: u64, builder: &mut Builder) {
        if let Some(keys) = &self.0 {
            let generation = builder.params.add(Param::Number(generation.cast_signed()));
            builder.demands.push(format!(
                "EXISTS (SELECT FROM {} WHERE generation = {generation})",
                keys.0.tables().vault
            ));
        }
    }
}
