//! How a kind of entity and its indexes live in a store: the states that they go through while programs write, and who may
//! write and read in which.
//!
//! Nothing here does I/O. An executor keeps a [`IndexStates`] for each kind, beside the kind's layout, and carries out each
//! transition in a transaction of its own. Each raises the kind's epoch, which every plan of a change states: a plan that was
//! made in one epoch is not carried out in another. Without that, a writer who planned before an index began to be filled
//! would leave an entity without its copy.

mod index;
#[doc(hidden)]
pub mod index_mask;
#[cfg(test)]
mod tests;

pub use index::{Blocked, IndexEvent, IndexState};
pub use index_mask::IndexMask;
#[doc(hidden)]
pub use index_mask::{Refusal, Rows, Unread, index_mask, rows, unread};

use super::Layout;

/// Whether the rows of a kind are of the version that its layout says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum KindState {
    /// All of them.
    #[default]
    Stable,
    /// Some may be of this previous version.
    Converting {
        /// The version from which they are converted.
        from: u32,
    },
    /// Some may be of this previous version, and one of them can't be converted.
    Stopped {
        /// The version from which they are converted.
        from: u32,
        /// The partition key and the row key of the entity.
        entity: (String, String),
        /// Why.
        why: String,
    },
}

/// What happens to a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KindEvent {
    /// A declaration of a later version begins to convert the rows of this one. It also takes over from one that has begun
    /// and is earlier than itself.
    Convert {
        /// The version that the rows have.
        from: u32,
    },
    /// An entity can't be converted.
    Stop {
        /// The partition key and the row key of the entity.
        entity: (String, String),
        /// Why.
        why: String,
    },
    /// The job goes on.
    Resume,
    /// Every row is converted.
    Converted,
}

/// The states of a kind and its indexes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexStates {
    /// Rises with each transition.
    pub epoch: u64,
    /// The rows of the entities.
    pub kind: KindState,
    /// The indexes of which there is something to say: one that the kind's layout has is else ready, and has been so
    /// from the beginning.
    pub indexes: Vec<(String, IndexState)>,
}

impl IndexStates {
    /// Returns the state of an index, if the kind's layout has it.
    pub fn index(&self, noted: &Layout, name: &str) -> IndexState {
        if noted.index(name).is_none() {
            return IndexState::Absent;
        }
        self.of(name).cloned().unwrap_or(IndexState::Ready { since: 0 })
    }

    /// Returns the states without what they say of entities: what one is in the way of is still being made.
    #[cfg(feature = "access")]
    pub(crate) fn without_entities(mut self) -> Self {
        if let KindState::Stopped { from, .. } = self.kind {
            self.kind = KindState::Converting { from };
        }
        for (_, state) in &mut self.indexes {
            if matches!(state, IndexState::Blocked(_)) {
                *state = IndexState::Backfill;
            }
        }
        self
    }

    /// Returns what there is to say of an index.
    fn of(&self, name: &str) -> Option<&IndexState> {
        self.indexes.iter().find(|(known, _)| known == name).map(|(_, state)| state)
    }

    /// Carries out what happens to an index that is in this state; `false` if it can't happen there.
    pub fn transit(&mut self, name: &str, now: &IndexState, event: IndexEvent) -> bool {
        let Some(next) = now.next(event) else { return false };
        self.epoch += 1;
        self.indexes.retain(|(known, _)| known != name);
        if next != IndexState::Absent {
            self.indexes.push((name.to_owned(), next));
        }
        true
    }

    /// Carries out what happens to the kind; `false` if it can't happen now. Converting may change any field, so every index
    /// of the layout, which is that of the later version, is to be made anew.
    pub fn transit_kind(&mut self, noted: &Layout, event: KindEvent) -> bool {
        let begins = matches!(event, KindEvent::Convert { .. });
        let next = match (&self.kind, event) {
            (KindState::Stable, KindEvent::Convert { from }) => KindState::Converting { from },
            // Rows of the earliest version may still be there.
            (
                KindState::Converting { from } | KindState::Stopped { from, .. },
                KindEvent::Convert { from: _ },
            )
            | (KindState::Stopped { from, .. }, KindEvent::Resume) => KindState::Converting { from: *from },
            (KindState::Converting { from }, KindEvent::Stop { entity, why }) => {
                KindState::Stopped { from: *from, entity, why }
            }
            (KindState::Converting { .. }, KindEvent::Converted) => KindState::Stable,
            _ => return false,
        };
        if begins {
            // What earlier versions had and this one has not is removed with their rows.
            self.indexes.retain(|(known, _)| noted.index(known).is_some());
            for index in noted.indexes() {
                let now = self.index(noted, &index.name);
                self.transit(&index.name, &now, IndexEvent::Rebuild);
            }
        }
        self.kind = next;
        self.epoch += 1;
        true
    }
}
