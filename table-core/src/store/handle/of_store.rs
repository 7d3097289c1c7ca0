//! A store as LMDB's, for what nothing else can.

use std::any::Any;
use std::sync::Arc;

use super::shared::Shared;
use crate::error::{Error, ErrorKind, Result};
use crate::executor::Backend;
use crate::handle::store::Store;

impl Store {
    /// Returns the store as LMDB's. An error if it is another executor's.
    pub(crate) fn lmdb(&self) -> Result<&Shared> {
        let backend: &dyn Any = &**self.backend();
        backend.downcast_ref().ok_or_else(stranger)
    }

    /// Returns the store as LMDB's, shared, to be kept.
    pub(crate) fn shared(&self) -> Result<Arc<Shared>> {
        shared(self.backend().clone())
    }

    /// Turns the handle into the store as LMDB's.
    pub(crate) fn into_shared(self) -> Result<Arc<Shared>> {
        shared(self.into_backend())
    }
}

fn shared(backend: Arc<dyn Backend>) -> Result<Arc<Shared>> {
    let backend: Arc<dyn Any + Send + Sync> = backend;
    backend.downcast().map_err(|_| stranger())
}

#[cold]
fn stranger() -> Error {
    Error::new(ErrorKind::Unsupported).because("only a store on LMDB can do that")
}
