//! The trait of whatever keeps the key that all others hang on.

use std::fmt;
use std::sync::Arc;

use super::key::SecretKey;
use crate::error::{Error, ErrorKind};

/// Keeps keys that never lie beside the data, and wraps the store's root key with them.
///
/// A store asks its provider when it is opened, and when its root key is made anew. It never asks while it holds a lock
/// that other writers wait for, nor once per value. So a provider may be slow: a key management service over the network,
/// say.
///
/// [`KeyRing`](super::KeyRing) keeps keys in a file, [`MemoryKeys`](super::MemoryKeys) in memory. A provider for a cloud's
/// service holds a client and a key's name:
///
/// ```
/// use table_core::crypt::{KeyError, KeyId, KeyProvider, SecretKey};
/// # struct Client;
/// # #[derive(Debug)] struct Refused { missing: bool }
/// # impl std::fmt::Display for Refused {
/// #     fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result { Ok(()) }
/// # }
/// # impl std::error::Error for Refused {}
/// # impl Client {
/// #     fn newest_version(&self, _: &str) -> Result<String, Refused> { Err(Refused { missing: true }) }
/// #     fn encrypt(&self, _: &str, _: &[u8], _: &[u8]) -> Result<Vec<u8>, Refused> { Err(Refused { missing: true }) }
/// #     fn decrypt(&self, _: &str, _: &[u8], _: &[u8]) -> Result<Vec<u8>, Refused> { Err(Refused { missing: true }) }
/// # }
///
/// struct Kms {
///     client: Client,
///     key: String,
/// }
///
/// impl Kms {
///     fn error(refused: Refused) -> KeyError {
///         if refused.missing { KeyError::not_found() } else { KeyError::unavailable(refused) }
///     }
/// }
///
/// impl KeyProvider for Kms {
///     fn current(&self) -> Result<KeyId, KeyError> {
///         // "payroll/versions/7": whatever finds the same key again.
///         self.client.newest_version(&self.key).map_err(Self::error).and_then(KeyId::new)
///     }
///
///     fn wrap(&self, id: &KeyId, key: &SecretKey, context: &[u8]) -> Result<Vec<u8>, KeyError> {
///         // Most services call the context "associated data" or "encryption context".
///         self.client.encrypt(id.as_str(), key.expose(), context).map_err(Self::error)
///     }
///
///     fn unwrap(&self, id: &KeyId, wrapped: &[u8], context: &[u8]) -> Result<SecretKey, KeyError> {
///         let key = self.client.decrypt(id.as_str(), wrapped, context).map_err(Self::error)?;
///         SecretKey::from_slice(&key).ok_or_else(KeyError::refused)
///     }
/// }
/// ```
pub trait KeyProvider: Send + Sync {
    /// Returns the key that wraps from now on.
    fn current(&self) -> Result<KeyId, KeyError>;

    /// Wraps `key` so that only the key `id` opens it, and only together with the same `context`.
    ///
    /// The result must be authenticated; it may have any length up to 64 KiB.
    fn wrap(&self, id: &KeyId, key: &SecretKey, context: &[u8]) -> Result<Vec<u8>, KeyError>;

    /// Returns the key that [`wrap`](Self::wrap) was given.
    fn unwrap(&self, id: &KeyId, wrapped: &[u8], context: &[u8]) -> Result<SecretKey, KeyError>;
}

impl<P: KeyProvider + ?Sized> KeyProvider for Arc<P> {
    fn current(&self) -> Result<KeyId, KeyError> {
        (**self).current()
    }

    fn wrap(&self, id: &KeyId, key: &SecretKey, context: &[u8]) -> Result<Vec<u8>, KeyError> {
        (**self).wrap(id, key, context)
    }

    fn unwrap(&self, id: &KeyId, wrapped: &[u8], context: &[u8]) -> Result<SecretKey, KeyError> {
        (**self).unwrap(id, wrapped, context)
    }
}

/// A provider's name for one of its keys: 1 to 1,024 bytes of text that is no secret.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId(Box<str>);

impl KeyId {
    /// The longest name, in bytes.
    pub const MAX_BYTES: usize = 1_024;

    /// Makes a key of this name.
    pub fn new(name: impl Into<Box<str>>) -> Result<Self, KeyError> {
        let name = name.into();
        if name.is_empty() || name.len() > Self::MAX_BYTES {
            return Err(KeyError::unavailable(format!(
                "a key's name has {} bytes; it may have 1 to {}",
                name.len(),
                Self::MAX_BYTES
            )));
        }
        Ok(Self(name))
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Why a provider did not do what it was asked.
#[derive(Debug)]
pub struct KeyError(Why);

#[derive(Debug)]
enum Why {
    NotFound,
    Refused,
    Unavailable(Box<dyn std::error::Error + Send + Sync>),
}

impl KeyError {
    /// Makes the error that the provider has no such key, or no longer has it.
    pub fn not_found() -> Self {
        Self(Why::NotFound)
    }

    /// Makes the error that the wrapped key is damaged, or was wrapped by another key or with another context.
    pub fn refused() -> Self {
        Self(Why::Refused)
    }

    /// Makes the error that the provider could not be asked, or failed. The source's text is shown in errors: it must hold no
    /// secrets.
    pub fn unavailable(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self(Why::Unavailable(source.into()))
    }

    /// Returns whether the provider has no such key.
    pub fn is_not_found(&self) -> bool {
        matches!(self.0, Why::NotFound)
    }

    /// Returns whether the wrapped key did not fit.
    pub fn is_refused(&self) -> bool {
        matches!(self.0, Why::Refused)
    }
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Why::NotFound => f.write_str("the key provider has no such key"),
            Why::Refused => f.write_str("the key provider did not wrap this key, or it is damaged"),
            Why::Unavailable(source) => write!(f, "the key provider can't be used: {source}"),
        }
    }
}

impl std::error::Error for KeyError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.0 {
            Why::Unavailable(source) => Some(&**source),
            _ => None,
        }
    }
}

impl From<KeyError> for Error {
    fn from(error: KeyError) -> Self {
        Self::new(ErrorKind::KeyUnavailable).because(error.to_string()).caused_by(error)
    }
}

/// Made of what a provider of this crate meets on its way.
impl From<Error> for KeyError {
    fn from(error: Error) -> Self {
        Self::unavailable(error)
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use super::*;
    use crate::crypt::MemoryKeys;

    #[test]
    fn a_shared_provider_does_what_the_provider_does() {
        let keys = Arc::new(MemoryKeys::new().unwrap());
        let key = SecretKey::generate().unwrap();
        let id = KeyProvider::current(&keys).unwrap();
        assert_eq!(id.to_string(), id.as_str());
        let wrapped = KeyProvider::wrap(&keys, &id, &key, b"context").unwrap();
        let unwrapped = KeyProvider::unwrap(&keys, &id, &wrapped, b"context").unwrap();
        assert_eq!(unwrapped.expose(), key.expose());
        assert!(KeyProvider::unwrap(&keys, &id, &wrapped, b"another").unwrap_err().is_refused());
        // Each key has a name of its own, and the last one wraps.
        let (second, third) = (keys.rotate().unwrap(), keys.rotate().unwrap());
        assert!(id != second && second != third && id != third);
        assert_eq!(KeyProvider::current(&keys).unwrap(), third);
        assert!(keys.unwrap(&id, &wrapped, b"context").is_ok());
        assert!(keys.forget(&id) && !keys.forget(&id));
        assert!(keys.unwrap(&id, &wrapped, b"context").unwrap_err().is_not_found());
        assert!(!format!("{keys:?}").is_empty());
    }

    #[test]
    fn an_error_says_which_of_three_it_is_and_what_was_behind_it() {
        let (missing, refused) = (KeyError::not_found(), KeyError::refused());
        let unavailable = KeyError::from(Error::new(ErrorKind::Io));
        let told = |error: &KeyError| (error.is_not_found(), error.is_refused(), error.source().is_some());
        assert_eq!(told(&missing), (true, false, false));
        assert_eq!(told(&refused), (false, true, false));
        assert_eq!(told(&unavailable), (false, false, true));
        for error in [missing, refused, unavailable] {
            let text = error.to_string();
            let error = Error::from(error);
            assert_eq!(error.kind(), ErrorKind::KeyUnavailable);
            assert!(error.to_string().contains(&text), "{error}");
        }
    }

    #[test]
    fn a_keys_name_is_not_empty_and_not_long() {
        assert!(KeyId::new("x".repeat(KeyId::MAX_BYTES)).is_ok());
        for name in [String::new(), "x".repeat(KeyId::MAX_BYTES + 1)] {
            assert!(KeyId::new(name).unwrap_err().to_string().contains("1 to 1024"));
        }
    }
}
