//! From a typed change to the rows it touches: a function of the old entity, the new one and the schema.
//!
//! Nothing here does I/O or knows a store. A [`Plan`] is what an executor carries out, whole or not at all.

mod addition;
mod builder;
mod by_properties;
mod committed;
mod content;
mod explain;
mod explain_refusal;
mod follow;
mod listing;
mod one_or_more;
#[cfg(any(feature = "access", feature = "async"))]
mod outline;
mod part;
mod row_effect;
mod row_write;
mod rows;
mod seals;
mod size;
mod values;

pub(crate) use addition::OwnAdd;
pub use addition::{Addition, Amounts, NumberOf};
pub(crate) use builder::{PlanBuilder, Reach};
pub use by_properties::borrowed;
#[cfg(feature = "async")]
pub(crate) use by_properties::with_properties;
pub(crate) use by_properties::{removal, write, writes_of_entities};
pub use committed::Committed;
pub(crate) use content::{Cause, PropertyOf, stored_fields};
pub use content::{RowContent, RowKind, RowProperty};
pub use explain::WriteExplain;
pub(crate) use explain_refusal::Failure;
pub use follow::{CopyPlace, DeferredDependents, Follow, OutboxOp};
pub(crate) use listing::Listing;
pub use listing::{
    ListBecomes, MOST as MOST_OF_LIST, TextOf, blob_of, damaged as damaged_list, ids_of, row_of_blob,
    with_blob,
};
pub use one_or_more::OneOrMore;
#[cfg(any(feature = "access", feature = "async"))]
pub(crate) use outline::PlanOutline;
pub(crate) use row_effect::{OldRows, Printed};
pub use row_write::{Act, Condition, Content, Epoch, Group, Plan, Range, Refused, RowWrite, Version};
pub(crate) use rows::{CopyState, EntityRow, EntityRows, OwnRows, check_tokens};
pub(crate) use seals::{FoundTokens, Resealed, Seals};
pub(crate) use values::FieldToken;
pub use values::Values;
