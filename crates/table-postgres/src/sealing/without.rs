//! Without the feature `encrypt`: no declaration compiles that seals, and a store has no keys.

use std::sync::Arc;

use table_engine::__executor::Sealing;
use table_engine::Result;
use table_engine::row::vault::Vault;
use table_engine::sealing::missing;
use tokio_postgres::Row;

use crate::builder::Builder;
use crate::catalog::Catalog;
use crate::connection::Call;
use crate::options::PostgresOptions;
use crate::pool::Pool;

/// The keys of a store, of which there are none without the feature.
#[derive(Clone, Debug)]
pub(crate) struct StoreKeys;

#[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "as it is with the feature")]
impl StoreKeys {
    pub(crate) fn open(_: &PostgresOptions, _: &Arc<Pool>, _: &Catalog, _: [u8; 16]) -> Result<Self> {
        Ok(Self)
    }

    pub(crate) fn vault(&self) -> Result<&dyn Sealing> {
        Err(missing::keys())
    }

    pub(crate) fn of_table(&self, _: u32) -> Option<Arc<dyn Vault>> {
        None
    }

    pub(crate) fn ask_with(&self, _: &mut Vec<Call>) {}

    pub(crate) fn observe_last(&self, _: &mut Vec<Vec<Row>>) -> Result<()> {
        Ok(())
    }

    pub(crate) fn demand(&self, _: u64, _: &mut Builder) {}
}
