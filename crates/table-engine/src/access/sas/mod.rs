//! Shared access signatures of the Table service, made and verified without a server: made byte for byte as the
//! service's library for Python makes them, and verified whatever the order of their parameters.
//!
//! [`Sas`] makes the token of a table, [`AccountSas`] that of an account, and [`verify`] gives the
//! [`Access`](crate::access::Access) of either. [`QueueSas`] makes the token of a queue, and [`verify_queue`] verifies that or an
//! account's. Keys and signatures are shown by no `Debug` and no error, and signatures are
//! compared in constant time.
//!
//! Tokens of every version of the protocol are taken. What isn't: tokens that a user's delegation key has signed.

mod error;
mod key;
mod parameters;
mod queue;
#[cfg(test)]
mod queue_tests;
#[cfg(test)]
mod tests;
mod text;
mod token;
mod verify;

pub use self::error::SasError;
pub use self::key::AccountKey;
pub use self::queue::{QueuePolicy, QueueSas, VerifiedQueue, verify_queue};
pub use self::token::{AccountSas, Sas, Token};
pub use self::verify::{Policy, Verified, verify};
