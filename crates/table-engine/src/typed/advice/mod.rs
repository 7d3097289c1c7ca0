//! Methods that users try and that do not exist: hidden ones that can't be called, since no type meets their bound. The text
//! of the bound says what to write.
//!
//! Each returns a type that its caller need not say, so that the compiler reports one error.

#[cfg(not(all(feature = "blob", feature = "queue")))]
mod features;
mod key;
mod list;
mod periods;
mod query;
mod series;
mod set;
mod table;
mod transaction;

use std::convert::Infallible;

pub use self::list::QueriedAsAList;
pub use self::query::AnyQuery;
#[cfg(feature = "async")]
pub use self::query::Blocks;

/// A trait that no type has. The bodies of methods that can't be called are made of it.
pub trait Never {
    /// A value that there is not.
    const NEVER: Infallible;
}
