//! The root key, which wraps all data keys, and the key of digests; itself it is wrapped by the provider.

use table_engine::__executor as executor;
use table_engine::crypt::envelope::{self, Purpose};
use table_engine::crypt::key::{self, CheckValue, Derivation};
use table_engine::crypt::mac::MacKey;
use table_engine::crypt::{KeyError, KeyId, KeyProvider, SecretKey};
use table_engine::{Error, ErrorKind, Result};
use zeroize::Zeroizing;

use super::key_rows::VaultRow;

/// A root key in memory.
#[derive(Debug)]
pub(super) struct Root {
    pub(super) number: i64,
    pub(super) key: Derivation,
}

/// Returns the bytes that the provider binds a root key to.
fn context(identity: &[u8; 16], number: i64) -> Vec<u8> {
    [b"table-derive root 1", &identity[..], &number.to_le_bytes()].concat()
}

/// A new root key, with what the store's row says of it.
pub(super) struct NewRoot {
    pub(super) root: Root,
    pub(super) provider_key: String,
    pub(super) check: CheckValue,
    pub(super) wrapped: Vec<u8>,
}

impl NewRoot {
    /// Makes a root key and has it wrapped, and unwrapped again: a provider that can't give it back is found out before anything
    /// lies under it.
    pub(super) fn make(identity: &[u8; 16], provider: &dyn KeyProvider) -> Result<Self> {
        let (number, key) = (key::random_number()?.cast_signed(), SecretKey::generate()?);
        let (context, check) = (context(identity, number), key.check_value());
        let id = provider.current()?;
        let wrapped = provider.wrap(&id, &key, &context)?;
        if provider.unwrap(&id, &wrapped, &context)?.check_value() != check {
            return Err(another_key());
        }
        let root = Root { number, key: key.derivation() };
        Ok(Self { root, provider_key: id.as_str().to_owned(), check, wrapped })
    }
}

/// Has the provider unwrap the root key.
pub(super) fn load(row: &VaultRow, identity: &[u8; 16], provider: &dyn KeyProvider) -> Result<Root> {
    let id = KeyId::new(&*row.provider_key)?;
    let unwrapped = provider.unwrap(&id, &row.root_wrapped, &context(identity, row.root));
    let key = unwrapped.map_err(|error: KeyError| {
        let because = format!("{error} (its key `{}`)", id.as_str().escape_debug());
        executor::error(ErrorKind::KeyUnavailable, because).caused_by(error)
    })?;
    if key.check_value()[..] != row.root_check[..] {
        return Err(another_key());
    }
    Ok(Root { number: row.root, key: key.derivation() })
}

#[cold]
fn another_key() -> Error {
    executor::error(ErrorKind::KeyUnavailable, "the key provider gave another key than it was given")
}

/// The key of digests as the store's row holds it: it is made with the keys and stays as long as they do.
pub(super) struct WrappedMacKey {
    pub(super) check: Vec<u8>,
    pub(super) wrapped: Vec<u8>,
}

impl WrappedMacKey {
    /// Makes a new one under a root key.
    pub(super) fn make(identity: &[u8; 16], root: &Root) -> Result<Self> {
        Self::wrap(identity, root, &SecretKey::generate()?)
    }

    fn wrap(identity: &[u8; 16], root: &Root, key: &SecretKey) -> Result<Self> {
        let wrapped = envelope::seal(&root.key, Purpose::Authenticator, identity, key.expose())?;
        Ok(Self { check: key.check_value().to_vec(), wrapped })
    }

    fn unwrap(&self, identity: &[u8; 16], root: &Root) -> Result<SecretKey> {
        let opened = envelope::open(&root.key, Purpose::Authenticator, identity, &self.wrapped);
        let key = opened.ok().map(Zeroizing::new).and_then(|bytes| SecretKey::from_slice(&bytes));
        key.filter(|key| key.check_value()[..] == self.check[..]).ok_or_else(|| {
            let because = "the key of the store's digests does not open: its record was changed";
            executor::error(ErrorKind::DecryptionFailed, because)
        })
    }

    /// Returns the key itself.
    pub(super) fn open(&self, identity: &[u8; 16], root: &Root) -> Result<MacKey> {
        self.unwrap(identity, root).map(|key| MacKey::new(&key))
    }

    /// Returns it under another root key.
    pub(super) fn rewrap(&self, identity: &[u8; 16], old: &Root, new: &Root) -> Result<Self> {
        let key = self.unwrap(identity, old)?;
        let rewrapped = Self::wrap(identity, new, &key)?;
        // Before the old one goes, the new one must open.
        rewrapped.unwrap(identity, new)?;
        Ok(rewrapped)
    }
}
