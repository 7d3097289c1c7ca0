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

    /// Returns the signature of a text, as Base64.
    pub(super) fn sign(&self, text: &str) -> String {
        let Some(mac) = self.mac(text) else { return String::new() };
        let signature = mac.finalize().into_bytes();
        STANDARD.encode(&signature).map(|piece| piece.as_str().to_owned()).collect()
    }

    /// Returns whether this is the signature of a text, in a time that does not depend on where it differs.
    pub(super) fn verifies(&self, text: &str, signature: &[u8]) -> bool {
        self.mac(text).is_some_and(|mac| mac.verify_slice(signature).is_ok())
    }
}

impl fmt::Debug for AccountKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AccountKey").field("account", &self.account).finish_non_exhaustive()
    }
}
