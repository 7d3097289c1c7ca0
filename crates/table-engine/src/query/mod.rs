//! Queries: what to read, how that becomes a range and a filter, and where the next page starts.
//!
//! A [`Query`] is planned without a store. The plan holds bounds on the keys, which an executor turns into its own, and a
//! predicate for the conditions that are no bounds.

mod bounds;
mod builder;
mod compare;
mod eval;
mod explain;
mod filter;
mod guard;
mod keys;
mod lexer;
mod narrowing;
mod node;
mod page_budget;
mod pairs;
mod parse;
#[doc(hidden)]
pub mod plan;
mod print;
mod property;
mod sealed;
mod token;
mod within;

pub use bounds::KeyBounds;
pub(crate) use bounds::{KeyRange, Lower, Upper, before_control};
pub use builder::Query;
pub use explain::{Explain, QueryClass};
pub use filter::Filter;
pub use page_budget::PageBudget;
pub use pairs::PairBounds;
pub(crate) use pairs::{KeyPair, PairRange};
pub use property::{PropertyRef, prop};
pub use token::Continuation;

#[doc(hidden)]
pub use eval::{Fields, Predicate};
#[cfg(feature = "encrypt")]
pub(crate) use guard::FilterGuard;
#[doc(hidden)]
pub use keys::KeyProperties;
pub(crate) use keys::{Kind, StoredRow};
#[cfg(feature = "odata")]
pub(crate) use lexer::time_of;
pub(crate) use narrowing::PairEnd;
#[cfg(feature = "access")]
pub(crate) use narrowing::{Narrowing, Visible};
#[doc(hidden)]
pub use plan::{QueryPlan, plan};
pub(crate) use property::declared;
pub(crate) use sealed::are_equal;
#[doc(hidden)]
pub use sealed::{SealedEq, Tokens};
#[doc(hidden)]
pub use token::{Position, fingerprint};
pub(crate) use within::{Printed, PrintedRows, Within};

#[cfg(test)]
pub(crate) mod tests;
