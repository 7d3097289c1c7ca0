//! What people reach for and nothing offers: hidden methods that nobody can call, since no type meets their bound. The
//! bound's words say what to write.
//!
//! Each returns a type that its caller need not say, so that the compiler has one thing to tell.

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

/// What no type is. The bodies of methods that nobody can call are made of it.
pub trait Never {
    /// A value that there is not.
    const NEVER: Infallible;
}
