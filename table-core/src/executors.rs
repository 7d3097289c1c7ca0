//! What another executor than LMDB is made of. Not part of the API: it changes with the seam.
//!
//! `docs/decisions/executors.md` says why it is here.

use std::sync::Arc;

pub use crate::executor::{
    Abilities, Asked, Backend, Batch, Begin, InPlace, Kept, Lanes, LayoutTexts, Layouts, Loader, Moment,
    Read, TableExec, Take, TakeEach, Turns, Walk, declare, page, views, walks,
};
pub use crate::handle::store::Store;
pub use crate::plan::{
    Act, Condition, Content, Group, Intent, OneOrMore, Place, Plan, Range, Refused, RowContent, RowKind,
    RowProperty, RowWrite, Version,
};
pub use crate::row::named::{Named, Names, PackedRow};
pub use crate::row::selection::Selection;
pub use crate::row::view::RowView;
pub use crate::sealing::{SealedAt, Sealing, Seals};

/// The store that this executor carries out the reads and writes of.
pub fn store(backend: Arc<dyn Backend>) -> Store {
    Store::new(backend)
}
