//! What is noted of the kinds of entities in a table: their layouts, and the states of their indexes.
//!
//! Whatever is noted of any kind raises the generation of the store, in the transaction that notes it. So a process that knows
//! the generation of a statement knows whether what it has noted itself of the store's kinds is still so: reads bring the
//! generation along, and a plan's statement demands the one by which the plan was examined.

mod masks;
mod record;

use std::sync::Arc;

use table_engine::__executor::LayoutTexts;
use table_engine::Result;
use table_engine::executor::layouts;
use table_engine::schema::{IndexStates, Layout};

pub(crate) use self::masks::Masks;
pub(crate) use self::record::{all, found, put, read, remove};

/// What is noted of the kinds in a table, at one generation of the store.
#[derive(Clone, Debug)]
pub(crate) struct Kinds {
    pub(crate) generation: i64,
    /// Of each kind the layout, in the order in which they were noted.
    pub(crate) layouts: Arc<LayoutTexts>,
    /// The states of those kinds that have any.
    states: Vec<(String, IndexStates)>,
}

impl Kinds {
    /// Returns the layout of a kind, if one is noted.
    pub(crate) fn layout(&self, kind: &str) -> Result<Option<Layout>> {
        let noted = self.layouts.iter().find(|(known, _)| known == kind);
        noted.map(|(kind, layout)| layouts::read(layout, kind)).transpose()
    }

    /// Returns the states of a kind; as they are from the beginning, if nothing is noted.
    pub(crate) fn states(&self, kind: &str) -> IndexStates {
        self.known_states(kind).cloned().unwrap_or_default()
    }

    /// Returns the epoch of a kind.
    pub(crate) fn epoch(&self, kind: &str) -> u64 {
        self.known_states(kind).map_or(0, |states| states.epoch)
    }

    /// Returns whether as much is noted in both, at whatever generations.
    pub(crate) fn says_as(&self, other: &Self) -> bool {
        self.layouts == other.layouts && self.states == other.states
    }

    /// Returns what is noted when a kind has another layout and these states, from a generation on.
    pub(crate) fn with_kind(
        mut self,
        generation: i64,
        kind: &str,
        layout: String,
        states: IndexStates,
    ) -> Self {
        let mut layouts = (*self.layouts).clone();
        match layouts.iter_mut().find(|(known, _)| known == kind) {
            Some((_, noted)) => *noted = layout,
            None => layouts.push((kind.to_owned(), layout)),
        }
        self.states.retain(|(known, _)| known != kind);
        if states != IndexStates::default() {
            self.states.push((kind.to_owned(), states));
        }
        Self { generation, layouts: Arc::new(layouts), ..self }
    }

    fn known_states(&self, kind: &str) -> Option<&IndexStates> {
        self.states.iter().find(|(known, _)| known == kind).map(|(_, states)| states)
    }
}
