//! The root key, which wraps all data keys, and the key of digests; itself it is wrapped by the provider.

use table_engine::crypt::envelope::{self, Purpose};
use table_engine::crypt::key::{self, Derivation};
use table_engine::crypt::mac::MacKey;
use table_engine::crypt::{KeyError, KeyId, KeyProvider, SecretKey};
use table_engine::{Error, ErrorKind, Result};
use zeroize::Zeroizing;

use super::rows::{AuthorityRow, RootRow};

/// A root key in memory.
pub(super) struct Root {
    pub(super) number: u64,
    pub(super) key: Derivation,
}

/// Returns the bytes that the provider binds a root key to.
fn context(identity: &[u8; 16], number: u64) -> Vec<u8> {
    [b"table-azure root 1", &identity[..], &number.to_le_bytes()].concat()
}

/// Makes a root key and has it wrapped, and unwrapped again: a provider that can't give it back is found out before anything lies
/// under it.
pub(super) fn make(identity: &[u8; 16], provider: &dyn KeyProvider) -> Result<(Root, RootRow)> {
    let (number, key) = (key::random_number()?, SecretKey::generate()?);
    let (context, check) = (context(identity, number), key.check_value());
    let id = provider.current()?;
    let wrapped = provider.wrap(&id, &key, &context)?;
    if provider.unwrap(&id, &wrapped, &context)?.check_value() != check {
        return Err(another_key());
    }
    let row = RootRow { number, provider: id.as_str().to_owned(), check: check.to_vec(), wrapped };
    Ok((Root { number, key: key.derivation() }, row))
}

/// Has the provider unwrap a root key.
pub(super) fn load(row: &RootRow, identity: &[u8; 16], provider: &dyn KeyProvider) -> Result<Root> {
    let id = KeyId::new(&*row.provider)?;
    let unwrapped = provider.unwrap(&id, &row.wrapped, &context(identity, row.number));
    let key = unwrapped.map_err(|error: KeyError| {
        let because = format!("{error} (its key `{}`)", id.as_str().escape_debug());
        Error::new(ErrorKind::KeyUnavailable).because(because).caused_by(error)
    })?;
    if key.check_value()[..] != row.check[..] {
        return Err(another_key());
    }
    Ok(Root { number: row.number, key: key.derivation() })
}

#[cold]
fn another_key() -> Error {
    Error::new(ErrorKind::KeyUnavailable).because("the key provider gave another key than it was given")
}

/// Wraps a key of digests under a root key.
pub(super) fn wrap_authority(identity: &[u8; 16], root: &Root, key: &SecretKey) -> Result<AuthorityRow> {
    let wrapped = envelope::seal(&root.key, Purpose::Authenticator, identity, key.expose())?;
    Ok(AuthorityRow { root: root.number, check: key.check_value().to_vec(), wrapped, etag: None })
}

/// Unwraps the key of digests.
pub(super) fn unwrap_authority(identity: &[u8; 16], root: &Root, row: &AuthorityRow) -> Result<SecretKey> {
    let opened = envelope::open(&root.key, Purpose::Authenticator, identity, &row.wrapped);
    let key = opened.ok().map(Zeroizing::new).and_then(|bytes| SecretKey::from_slice(&bytes));
    key.filter(|key| key.check_value()[..] == row.check[..]).ok_or_else(|| {
        let because = "the key of the store's digests does not open: its record was changed";
        Error::new(ErrorKind::DecryptionFailed).because(because)
    })
}

/// What all digests of a store are made with.
pub(super) struct Authority {
    /// Tells the store from every other.
    pub(super) identity: [u8; 16],
    pub(super) mac: MacKey,
}
