//! Advice on what comes with a feature, for programs without it.

use super::Never;
use crate::error::Result;
use crate::handle::tables::Tables;

#[cfg(not(feature = "queue"))]
impl Tables {
    #[doc(hidden)]
    pub fn queue<T: Sent>(&self, _: &str) -> Result<T::Queue> {
        match T::NEVER {}
    }
}

/// What no message is without the feature, so that the compiler speaks of it.
#[cfg(not(feature = "queue"))]
#[diagnostic::on_unimplemented(
    message = "queues need the feature `queue` of `table-core`",
    label = "the program is built without it",
    note = "write `features = [\"queue\"]` where `Cargo.toml` names `table-core`"
)]
pub trait Sent: Never {
    /// A queue.
    type Queue;
}

#[cfg(not(feature = "blob"))]
impl Tables {
    #[doc(hidden)]
    pub fn container<N: NamesAContainer + ?Sized>(&self, _: &N) -> Result<N::Container> {
        match N::NEVER {}
    }
}

/// What no name is without the feature, so that the compiler speaks of it.
#[cfg(not(feature = "blob"))]
#[diagnostic::on_unimplemented(
    message = "blobs need the feature `blob` of `table-core`",
    label = "the program is built without it",
    note = "write `features = [\"blob\"]` where `Cargo.toml` names `table-core`"
)]
pub trait NamesAContainer: Never {
    /// A container.
    type Container;
}
