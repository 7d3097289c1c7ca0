//! Envelopes: how a provider's key seals a root key, a root key data keys, and a data key values.
//!
//! ```text
//! salt: 24 | commitment: 16 | ciphertext | tag: 16
//! ```
//!
//! The key, a label and the salt give each envelope a key of its own, and a commitment to that key. No key is used
//! twice, so the cipher's nonce can be zero, however many values there are. An envelope opens under one key alone, which
//! AES-GCM by itself does not promise.

use std::sync::atomic::{AtomicU64, Ordering};

use subtle::ConstantTimeEq;
use zeroize::{Zeroize, Zeroizing};

use super::aead::{self, KEY, NONCE, Refused, TAG};
use super::key::{self, Derivation};
use crate::error::{Error, ErrorKind, Result};

/// Bytes of a salt.
pub(crate) const SALT: usize = 24;
/// Bytes of a commitment.
const COMMITMENT: usize = 16;
/// Bytes that an envelope adds to its content.
pub(crate) const OVERHEAD: usize = SALT + COMMITMENT + TAG;

/// Each key serves one value.
const NONCE_OF_ONE: [u8; NONCE] = [0; NONCE];

/// What an envelope is for. An envelope for one purpose does not open as one for another.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A property's value under a data key.
    Value,
    /// A data key under a root key.
    DataKey,
    /// The store's authority under a root key.
    Authenticator,
    /// A root key under a key of one of this crate's own providers.
    RootKey,
    /// The keys of a key ring under its passphrase.
    KeyRing,
}

impl Purpose {
    /// Returns the label of the purpose. All have one length, so that what follows needs no frame.
    const fn label(self) -> &'static [u8; 20] {
        match self {
            Self::Value => b"table-derive value 1",
            Self::DataKey => b"table-derive datak 1",
            Self::Authenticator => b"table-derive authk 1",
            Self::RootKey => b"table-derive rootk 1",
            Self::KeyRing => b"table-derive kring 1",
        }
    }
}

/// Seals `plain`, bound to `aad`, and appends the envelope.
#[doc(hidden)]
pub fn seal(key: &Derivation, purpose: Purpose, aad: &[u8], plain: &[u8]) -> Result<Vec<u8>> {
    let mut out = Vec::with_capacity(OVERHEAD + plain.len());
    seal_into(key, purpose, aad, &mut out, |out| out.extend_from_slice(plain))?;
    Ok(out)
}

/// Appends an envelope around what `write` appends. There must be room in `out` for both already: a vector that
/// grows leaves its old bytes behind in memory.
pub(crate) fn seal_into(
    key: &Derivation,
    purpose: Purpose,
    aad: &[u8],
    out: &mut Vec<u8>,
    write: impl FnOnce(&mut Vec<u8>),
) -> Result<()> {
    seal_with(&Keys::derive(key, purpose, &new_salt()?), aad, out, write)
}

/// Appends an envelope as [`seal_into`] does, with keys of a given salt, which must never be given again: for test vectors.
pub(crate) fn seal_with(
    keys: &Keys,
    aad: &[u8],
    out: &mut Vec<u8>,
    write: impl FnOnce(&mut Vec<u8>),
) -> Result<()> {
    out.extend_from_slice(&keys.salt);
    out.extend_from_slice(&keys.commitment);
    let from = out.len();
    write(out);
    let text = out.get_mut(from..).unwrap_or_default();
    let Ok(tag) = aead::seal(&keys.key, &NONCE_OF_ONE, aad, text) else {
        text.zeroize();
        return Err(
            Error::new(ErrorKind::PropertyValueTooLarge).because("more than the cipher takes at once")
        );
    };
    out.extend_from_slice(&tag);
    Ok(())
}

/// Returns what an envelope holds, if it was sealed with this key for this purpose and bound to `aad`. An error does not say
/// whether the key, the binding or the bytes did not fit.
#[doc(hidden)]
pub fn open(key: &Derivation, purpose: Purpose, aad: &[u8], envelope: &[u8]) -> Result<Vec<u8>, Refused> {
    let (salt, rest) = envelope.split_first_chunk::<SALT>().ok_or(Refused)?;
    let (commitment, rest) = rest.split_first_chunk::<COMMITMENT>().ok_or(Refused)?;
    let (text, tag) = rest.split_last_chunk::<TAG>().ok_or(Refused)?;
    let keys = Keys::derive(key, purpose, salt);
    if !bool::from(keys.commitment.ct_eq(commitment)) {
        return Err(Refused);
    }
    let mut text = Zeroizing::new(text.to_vec());
    aead::open(&keys.key, &NONCE_OF_ONE, aad, &mut text, tag)?;
    Ok(std::mem::take(&mut *text))
}

/// The keys that are derived for one envelope.
pub(crate) struct Keys {
    salt: [u8; SALT],
    key: Zeroizing<[u8; KEY]>,
    commitment: [u8; COMMITMENT],
}

impl Keys {
    pub(crate) fn derive(key: &Derivation, purpose: Purpose, salt: &[u8; SALT]) -> Self {
        let mut both = Zeroizing::new([0; KEY + COMMITMENT]);
        key.expand_into(&[purpose.label(), salt], &mut both);
        let mut keys = Self { salt: *salt, key: Zeroizing::new([0; KEY]), commitment: [0; COMMITMENT] };
        if let Some((key, commitment)) = both.split_first_chunk() {
            *keys.key = *key;
            keys.commitment.copy_from_slice(commitment);
        }
        keys
    }
}

/// Returns 16 random bytes and a count. They are asked of the system each time: a process that forks, or a machine that wakes
/// twice from one image, must not repeat itself.
fn new_salt() -> Result<[u8; SALT]> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let mut salt = [0; SALT];
    if let Some((chance, count)) = salt.split_first_chunk_mut::<16>() {
        key::random(chance)?;
        count.copy_from_slice(&COUNT.fetch_add(1, Ordering::Relaxed).to_le_bytes());
    }
    Ok(salt)
}
