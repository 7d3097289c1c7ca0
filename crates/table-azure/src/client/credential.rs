//! What opens an account.

use std::fmt;
use std::sync::Arc;

use table_engine::access::sas::AccountKey;
use table_engine::asynchronous::BoxFuture;
use zeroize::Zeroizing;

/// Why a credential gave no token.
pub type CredentialError = Box<dyn std::error::Error + Send + Sync>;

/// A token of a directory, such as Entra ID's: it stands behind `Bearer` in the header `Authorization`. `Debug` does not show it.
#[derive(Clone)]
pub struct AccessToken(Zeroizing<String>);

impl AccessToken {
    /// Makes a token of its text.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(Zeroizing::new(text.into()))
    }

    pub(super) fn text(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for AccessToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AccessToken(..)")
    }
}

/// What gets tokens of a directory, such as a program's managed identity.
pub trait TokenCredential: Send + Sync {
    /// Returns a token that is valid now, for the scope `https://storage.azure.com/.default`. It is called for each request, so
    /// an implementation keeps the token until it expires.
    fn token(&self) -> BoxFuture<'_, Result<AccessToken, CredentialError>>;
}

/// What opens an account. `Debug` shows no secret.
#[derive(Clone)]
#[non_exhaustive]
pub enum Credential {
    /// A key of the account, which signs each request: `table_core::access::sas::AccountKey`, with the feature `sas` of `table-core`.
    Key(AccountKey),
    /// A shared access signature, which is appended to each address.
    Sas(Zeroizing<String>),
    /// Tokens of a directory.
    Token(Arc<dyn TokenCredential>),
}

impl Credential {
    /// Makes a credential of a shared access signature: the query of an address, with its question mark or without.
    #[must_use]
    pub fn sas(token: &str) -> Self {
        Self::Sas(Zeroizing::new(token.trim().trim_start_matches('?').to_owned()))
    }
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(key) => f.debug_tuple("Key").field(key).finish(),
            Self::Sas(_) => f.write_str("Sas(..)"),
            Self::Token(_) => f.write_str("Token(..)"),
        }
    }
}
