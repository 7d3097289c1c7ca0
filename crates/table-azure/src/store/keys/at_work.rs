//! The keys at work: values sealed for plans and opened out of rows, and rows signed.

use std::fmt;
use std::sync::Arc;

use table_engine::crypt::row_digest::{self, Binding};
use table_engine::crypt::value::{self, Sealed};
use table_engine::crypt::{Cell, KeyHandle, Secret, Token, TokenScope};
use table_engine::model::EntityKeys;
use table_engine::plaintext::Plaintext;
use table_engine::row::DIGEST;
use table_engine::row::vault::{Authenticator, Vault};
use table_engine::schema::TOKEN_BYTES;
use table_engine::sealing::Sealing;
use table_engine::{Error, Result, Value, ValueRef};

use super::key_store::KeyStore;

/// The keys of a store, as its plans and its rows have them. Clones share what they remember.
#[derive(Clone)]
pub(crate) struct AzureVault(pub(super) Arc<KeyStore>);

impl Sealing for AzureVault {
    fn share(&self) -> Arc<dyn Sealing> {
        Arc::new(self.clone())
    }

    /// Returns the generation that this process goes by.
    fn generation(&self) -> Result<u64> {
        Ok(self.0.leased()?.generation())
    }

    fn seal(&self, cell: &Cell<'_>, value: ValueRef<'_>) -> Result<Vec<u8>> {
        let keys = self.0.made_scope_keys(&cell.scope.bytes(cell.table, cell.partition));
        let keys = keys.map_err(placed(cell))?;
        value::seal(cell, &self.0.authority()?.identity, &keys.current, value)
    }

    fn open(&self, cell: &Cell<'_>, sealed: &[u8]) -> Result<Value> {
        let sealed = Sealed::read(cell, sealed)?;
        let key = self.0.key(sealed.key).map_err(placed(cell))?;
        sealed.open(cell, &self.0.authority()?.identity, &key)
    }

    fn current(&self, cell: &Cell<'_>) -> Result<KeyHandle> {
        let keys = self.0.made_scope_keys(&cell.scope.bytes(cell.table, cell.partition));
        Ok(keys.map_err(placed(cell))?.current.handle())
    }

    fn token(&self, cell: &Cell<'_>, scope: TokenScope, value: ValueRef<'_>) -> Result<Token> {
        let keys = self.0.made_scope_keys(&of_tokens(cell, scope)).map_err(placed(cell))?;
        Ok(Token::new(&keys.current, scope, cell, value))
    }

    fn tokens(&self, cell: &Cell<'_>, scope: TokenScope, value: ValueRef<'_>) -> Result<Vec<Token>> {
        let keys = self.0.scope_keys(&of_tokens(cell, scope)).map_err(placed(cell))?;
        let alive = keys.iter().flat_map(|keys| &keys.alive);
        Ok(alive.map(|key| Token::new(key, scope, cell, value)).collect())
    }

    fn makes_token(&self, cell: &Cell<'_>, scope: TokenScope, token: Option<&[u8]>) -> Result<bool> {
        let keys = self.0.made_scope_keys(&of_tokens(cell, scope)).map_err(placed(cell))?;
        let version = Token::version_byte(keys.current.version());
        Ok(token.is_some_and(|token| token.len() == TOKEN_BYTES && token.first() == Some(&version)))
    }
}

/// Returns the bytes of the scope whose keys make tokens for a cell.
fn of_tokens(cell: &Cell<'_>, scope: TokenScope) -> Vec<u8> {
    scope.key_scope(cell.scope).bytes(cell.table, cell.partition).into_owned()
}

/// Says in which cell a key was missing.
fn placed<'a>(cell: &Cell<'a>) -> impl FnOnce(Error) -> Error + use<'a> {
    let (partition, row) = (cell.partition, cell.row);
    move |error| error.partition(partition).row(row)
}

impl fmt::Debug for AzureVault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AzureVault").finish_non_exhaustive()
    }
}

/// The keys, with what a table's rows are bound to.
#[derive(Debug)]
pub(super) struct TableVault {
    vault: AzureVault,
    /// The table's name in small letters.
    name: String,
    id: u32,
}

impl TableVault {
    pub(super) fn new(vault: AzureVault, name: &str, id: u32) -> Self {
        Self { vault, name: name.to_ascii_lowercase(), id }
    }
}

impl Vault for TableVault {
    fn open(&self, table: u32, keys: EntityKeys<'_>, property: &str, sealed: &[u8]) -> Result<Plaintext> {
        let cell = Cell::new(table, keys.partition, keys.row, property)?;
        Sealing::open(&self.vault, &cell, sealed).map(Secret::new)
    }

    fn generation(&self) -> Result<u64> {
        Sealing::generation(&self.vault)
    }

    fn sign(&self, keys: EntityKeys<'_>, properties: Vec<(&str, ValueRef<'_>)>) -> Result<[u8; DIGEST]> {
        let authority = self.vault.0.authority()?;
        // By its name, too: who can write what is noted of tables can give one the number of another.
        let table = authority.mac.digest("table", &[&self.id.to_le_bytes(), self.name.as_bytes()]);
        let binding = Binding { store: authority.identity, table };
        let properties = properties.into_iter().map(|(name, value)| (name, as_it_comes_back(value)));
        Ok(row_digest::of_row(&authority.mac, &binding, keys, properties))
    }

    fn is_genuine(
        &self,
        keys: EntityKeys<'_>,
        properties: Vec<(&str, ValueRef<'_>)>,
        digest: &[u8; DIGEST],
    ) -> Result<bool> {
        Ok(row_digest::same(digest, &self.sign(keys, properties)?))
    }

    fn authenticator(&self) -> Result<&dyn Authenticator> {
        Ok(&self.vault.0.authority()?.mac)
    }
}

/// Returns a value without what a service may not keep of it: which NaN a number is, and the sign of a zero.
fn as_it_comes_back(value: ValueRef<'_>) -> ValueRef<'_> {
    match value {
        ValueRef::Double(number) if number.is_nan() => ValueRef::Double(f64::NAN),
        ValueRef::Double(0.0) => ValueRef::Double(0.0),
        other => other,
    }
}
