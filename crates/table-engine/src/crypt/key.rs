//! Keys in memory: 32 bytes that are wiped when they are dropped, and the keys derived from them.

use std::fmt;

use hkdf::Hkdf;
use sha2::Sha256;
use zeroize::{Zeroize, Zeroizing};

use crate::error::{Error, ErrorKind, Result};

/// A key of 32 bytes. It is wiped from memory when it is dropped, can't be cloned, and shows nothing of itself.
///
/// ```
/// use table_core::crypt::SecretKey;
///
/// let key = SecretKey::generate()?;
/// assert_eq!(format!("{key:?}"), "SecretKey(..)");
/// # Ok::<(), table_core::Error>(())
/// ```
pub struct SecretKey(Zeroizing<[u8; Self::BYTES]>);

impl SecretKey {
    /// Bytes of a key.
    pub const BYTES: usize = 32;

    /// Makes a new key from the operating system's randomness.
    pub fn generate() -> Result<Self> {
        let mut key = Self(Zeroizing::new([0; Self::BYTES]));
        random(&mut *key.0)?;
        Ok(key)
    }

    /// Returns a key from these bytes; `None` if there are not exactly 32. The caller's copy is the caller's to wipe.
    pub fn from_slice(bytes: &[u8]) -> Option<Self> {
        let mut key = Self(Zeroizing::new([0; Self::BYTES]));
        (bytes.len() == Self::BYTES).then(|| key.0.copy_from_slice(bytes))?;
        Some(key)
    }

    /// Returns the bytes, for a provider that wraps the key.
    pub fn expose(&self) -> &[u8; Self::BYTES] {
        &self.0
    }

    /// Says that two keys are the same without showing either.
    #[doc(hidden)]
    pub fn check_value(&self) -> CheckValue {
        self.derivation().expand(&[b"table-derive check 1"])
    }

    #[doc(hidden)]
    pub fn derivation(&self) -> Derivation {
        // A key shorter than a hash is refused; this one is as long as a hash.
        Derivation(Hkdf::from_prk(&*self.0).unwrap_or_else(|_| Hkdf::new(None, &*self.0)))
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretKey(..)")
    }
}

/// A key's identity: a hash that gives nothing away.
#[doc(hidden)]
pub type CheckValue = [u8; 32];

/// A key as the state of HKDF-Expand (RFC 5869, SHA-256): the form in which keys stay in memory. The hash wipes its
/// state when it is dropped.
#[doc(hidden)]
pub struct Derivation(Hkdf<Sha256>);

impl Derivation {
    /// Bytes that depend on the key and on all of `info`, whose pieces stand side by side. The first says what the
    /// bytes are for. A piece of varying length must be framed.
    pub fn expand<const N: usize>(&self, info: &[&[u8]]) -> [u8; N] {
        let mut out = [0; N];
        self.expand_into(info, &mut out);
        out
    }

    pub(crate) fn expand_into<const N: usize>(&self, info: &[&[u8]], out: &mut [u8; N]) {
        const { assert!(N <= 255 * 32, "more than HKDF gives") };
        // The length alone can be wrong.
        self.0.expand_multi_info(info, out).unwrap_or_else(|_| out.zeroize());
    }
}

impl fmt::Debug for Derivation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Derivation(..)")
    }
}

/// Fills in random bytes.
pub(crate) fn random(bytes: &mut [u8]) -> Result<()> {
    getrandom::fill(bytes).map_err(|error| {
        Error::new(ErrorKind::Io).because(format!("the operating system gave no random bytes: {error}"))
    })
}

/// Returns a random number, which has not been given before, as far as chance goes.
#[doc(hidden)]
pub fn random_number() -> Result<u64> {
    let mut bytes = [0; 8];
    random(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}
