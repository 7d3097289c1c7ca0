//! The keys at work: values sealed for plans, and opened out of rows.

use std::sync::Arc;

use table_engine::crypt::row_digest::{self, Binding};
use table_engine::crypt::token::Token;
use table_engine::crypt::value::{self, Sealed};
use table_engine::crypt::{Cell, KeyHandle, Secret, TokenScope};
use table_engine::model::EntityKeys;
use table_engine::plaintext::Plaintext;
use table_engine::row::DIGEST;
use table_engine::row::vault::{Authenticator, Vault};
use table_engine::schema::TOKEN_BYTES;
use table_engine::sealing::Sealing;
use table_engine::{Error, Result, Value, ValueRef};

use super::key_store::KeyStore;

/// The keys of a store, as its plans and its rows have them.
#[derive(Clone, Debug)]
pub(crate) struct SharedKeys(pub(super) Arc<KeyStore>);

impl Sealing for SharedKeys {
    fn share(&self) -> Arc<dyn Sealing> {
        Arc::new(self.clone())
    }

    fn generation(&self) -> Result<u64> {
        // Each plan demands that the server has it still, and each read of rows brings the server's.
        Ok(self.0.known_generation())
    }

    fn seal(&self, cell: &Cell<'_>, value: ValueRef<'_>) -> Result<Vec<u8>> {
        let key = self.0.current(&cell.scope.bytes(cell.table, cell.partition)).map_err(placed(cell))?;
        value::seal(cell, &self.0.identity, &key, value)
    }

    fn open(&self, cell: &Cell<'_>, sealed: &[u8]) -> Result<Value> {
        let sealed = Sealed::read(cell, sealed)?;
        let key = self.0.key(sealed.key).map_err(placed(cell))?;
        sealed.open(cell, &self.0.identity, &key)
    }

    fn current(&self, cell: &Cell<'_>) -> Result<KeyHandle> {
        let scope = cell.scope.bytes(cell.table, cell.partition);
        self.0.current(&scope).map(|key| key.handle()).map_err(placed(cell))
    }

    fn token(&self, cell: &Cell<'_>, scope: TokenScope, value: ValueRef<'_>) -> Result<Token> {
        let keys = scope.key_scope(cell.scope).bytes(cell.table, cell.partition);
        let key = self.0.current(&keys).map_err(placed(cell))?;
        Ok(Token::new(&key, scope, cell, value))
    }

    fn tokens(&self, cell: &Cell<'_>, scope: TokenScope, value: ValueRef<'_>) -> Result<Vec<Token>> {
        let keys = scope.key_scope(cell.scope).bytes(cell.table, cell.partition);
        let keys = self.0.alive(&keys).map_err(placed(cell))?;
        Ok(keys.iter().map(|key| Token::new(key, scope, cell, value)).collect())
    }

    fn makes_token(&self, cell: &Cell<'_>, scope: TokenScope, token: Option<&[u8]>) -> Result<bool> {
        let keys = scope.key_scope(cell.scope).bytes(cell.table, cell.partition);
        let version = Token::version_byte(self.0.current(&keys).map_err(placed(cell))?.version());
        Ok(token.is_some_and(|token| token.len() == TOKEN_BYTES && token.first() == Some(&version)))
    }
}

/// The keys, with the bytes that a table's rows are bound to.
#[derive(Debug)]
pub(super) struct TableVault {
    keys: SharedKeys,
    binding: Binding,
}

impl TableVault {
    pub(super) fn new(keys: SharedKeys, table: u32) -> Self {
        let mut number = [0; 16];
        for (part, bytes) in number.chunks_exact_mut(4).zip([table.to_le_bytes(); 4]) {
            part.copy_from_slice(&bytes);
        }
        let binding = Binding { store: keys.0.identity, table: number };
        Self { keys, binding }
    }
}

impl Vault for TableVault {
    fn open(&self, table: u32, keys: EntityKeys<'_>, property: &str, sealed: &[u8]) -> Result<Plaintext> {
        let cell = Cell::new(table, keys.partition, keys.row, property)?;
        Sealing::open(&self.keys, &cell, sealed).map(Secret::new)
    }

    fn generation(&self) -> Result<u64> {
        Sealing::generation(&self.keys)
    }

    fn sign(&self, keys: EntityKeys<'_>, properties: Vec<(&str, ValueRef<'_>)>) -> Result<[u8; DIGEST]> {
        Ok(row_digest::of_row(&self.keys.0.authenticator, &self.binding, keys, properties.into_iter()))
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
        Ok(&self.keys.0.authenticator)
    }
}

/// Says in which cell a key was missing.
fn placed<'a>(cell: &Cell<'a>) -> impl FnOnce(Error) -> Error + use<'a> {
    let (partition, row) = (cell.partition, cell.row);
    move |error| error.partition(partition).row(row)
}
