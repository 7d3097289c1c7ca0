//! AES-256-GCM, by the library that was chosen when this crate was built. Both give the same bytes.

#[cfg(feature = "aws-lc-rs")]
mod aws_lc;
mod rust_crypto;

#[cfg(feature = "aws-lc-rs")]
pub(crate) use self::aws_lc::{open, seal};
#[cfg(not(feature = "aws-lc-rs"))]
pub(crate) use self::rust_crypto::{open, seal};

/// Bytes of a key.
pub(crate) const KEY: usize = 32;
/// Bytes of a nonce.
pub(crate) const NONCE: usize = 12;
/// Bytes of an authentication tag.
pub(crate) const TAG: usize = 16;

/// The cipher refused: to open, since the tag is wrong; to seal, since the text is too long.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused;

#[cfg(test)]
mod tests;
