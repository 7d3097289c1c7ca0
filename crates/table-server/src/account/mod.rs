//! The keys of the account, kept with the store, so that all processes over one store have the same.
//!
//! The first start over a store makes them, at random or as configuration gives them. From then on the store's are what counts: a
//! key that configuration still gives is not taken again after it was exchanged.
//!
//! A process learns of an exchange by another one in two ways. [`KeyKeeper::current`] looks at the record if it has not done so
//! for [a second](LOOK_EVERY): no longer is a key taken that was exchanged elsewhere. [`KeyKeeper::after_failure`] is asked when
//! no key has verified a request, which a key that has just been made elsewhere explains: it looks at once, but not more often
//! than [each 20 milliseconds](LOOK_AFTER_FAILURE), so that requests with wrong signatures make the store no work.

mod error;
mod keeper;
mod keys;
mod text;

pub use self::error::AccountError;
pub use self::keeper::{KeyKeeper, LOOK_AFTER_FAILURE, LOOK_EVERY};
pub use self::keys::{AccountKeys, Given, KeyName};
#[cfg(feature = "bin")]
pub(crate) use self::keys::{is_key, is_name};
