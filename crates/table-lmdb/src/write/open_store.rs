//! An opened store: what it knows, and what writes to it.

use std::ops::Deref;

use super::commit::Writer;
use crate::state::StoreState;

/// A store's state with its writer. All handles share one, and so does the thread that carries out submitted plans, which
/// has no handle: the last handle waits for it, and could not if it had one.
pub(crate) struct OpenStore {
    state: StoreState,
    pub(crate) writer: Writer,
}

impl OpenStore {
    pub(crate) fn new(state: StoreState, writer: Writer) -> Self {
        Self { state, writer }
    }
}

impl Deref for OpenStore {
    type Target = StoreState;

    #[inline]
    fn deref(&self) -> &StoreState {
        &self.state
    }
}
