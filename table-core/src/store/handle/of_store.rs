//! A store as LMDB's, for what nothing else can.

use std::any::Any;
use std::sync::Arc;

use super::shared::Shared;
use crate::error::{Error, ErrorKind, Result};
use crate::handle::store::Store;

impl Store {
    /// The store as LMDB's.
    pub(crate) fn lmdb(&self) -> Result<&Shared> {
        let backend: &dyn Any = &**self.backend();
        backend.downcast_ref().ok_or_else(stranger)
    }

    /// Gives the store away as LMDB's.
    #[inline]
    pub(crate) fn into_shared(self) -> Result<Arc<Shared>> {
        let backend: Arc<dyn Any + Send + Sync> = self.into_backend();
        backend.downcast().map_err(|_| stranger())
    }
}

#[cold]
fn stranger() -> Error {
    Error::new(ErrorKind::Unsupported).because("only a store on LMDB can do that")
}
