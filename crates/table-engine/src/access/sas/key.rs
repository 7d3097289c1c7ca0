//! The key of an account, and what is signed with it.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use zeroize::Zeroizing;

use super::error::SasError;
use crate::base64::STANDARD;

/// The name of an account and one of its keys. It is wiped from memory when it is dropped, and `Debug` shows the name
/// alone.
///
/// ```
/// use table_core::access::sas::AccountKey;
///
/// let key = AccountKey::new("contoso", "c2VjcmV0")?;
/// assert_eq!(format!("{key:?}"), "AccountKey { account: \"contoso\", .. }");
/// assert!(AccountKey::new("contoso", "c2Vjcm").is_err());
/// # Ok::<(), table_core::access::sas::SasError>(())
/// ```
#[derive(Clone)]
pub struct AccountKey {
    account: Box<str>,
    key: Zeroizing<Vec<u8>>,
}

impl AccountKey {
    /// Makes the key of an account of its text, which is Base64.
    pub fn new(account: &str, key: &str) -> Result<Self, SasError> {
        let mut bytes = Zeroizing::new(Vec::new());
        let read = STANDARD.decode(key.as_bytes(), &mut bytes).filter(|()| !bytes.is_empty());
        read.ok_or(SasError::NotAKey)?;
        Ok(Self { account: account.into(), key: bytes })
    }

    /// Returns the name of the account.
    #[must_use]
    pub fn account(&self) -> &str {
        &self.account
    }

    fn mac(&self, text: &str) -> Option<Hmac<Sha256>> {
        // A key of any length will do, so there always is one.
        let mut mac = Hmac::new_from_slice(&self.key).ok()?;
        mac.update(text.as_bytes());
        Some(mac)
    }

    /// Returns the signature of a text, as Base64: HMAC-SHA256, as tokens and headers with a shared key have it.
    ///
    /// ```
    /// use table_core::access::sas::AccountKey;
    ///
    /// let key = AccountKey::new("contoso", "c2VjcmV0")?;
    /// let signature = key.sign("text");
    /// assert!(key.verifies("text", &signature));
    /// assert!(!key.verifies("another text", &signature));
    /// assert!(!key.verifies("text", ""));
    /// # Ok::<(), table_core::access::sas::SasError>(())
    /// ```
    #[must_use]
    pub fn sign(&self, text: &str) -> String {
        let Some(mac) = self.mac(text) else { return String::new() };
        let signature = mac.finalize().into_bytes();
        STANDARD.encode(&signature).map(|piece| piece.as_str().to_owned()).collect()
    }

    /// Returns whether a text, as Base64, is the signature of another, in a time that does not depend on where it differs.
    #[must_use]
    pub fn verifies(&self, text: &str, signature: &str) -> bool {
        read_signature(signature).is_some_and(|signature| self.has_signed(text, &signature))
    }

    /// Returns whether these bytes are the signature of a text.
    pub(super) fn has_signed(&self, text: &str, signature: &[u8]) -> bool {
        self.mac(text).is_some_and(|mac| mac.verify_slice(signature).is_ok())
    }
}

/// Returns the bytes of a signature's text; `None` if it is none.
pub(super) fn read_signature(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    STANDARD.decode(text.as_bytes(), &mut bytes).filter(|()| bytes.len() == 32)?;
    Some(bytes)
}

impl fmt::Debug for AccountKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AccountKey").field("account", &self.account).finish_non_exhaustive()
    }
}
