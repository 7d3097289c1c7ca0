//! The keys at work for the rows of one table.

use std::fmt;
use std::sync::Arc;

use table_engine::crypt::row_digest::{self, Binding};
use table_engine::crypt::{Cell, KeyHandle, Secret, Token, TokenScope};
use table_engine::error::Result;
use table_engine::model::{EntityKeys, Value, ValueRef};
use table_engine::plaintext::Plaintext;
use table_engine::row::DIGEST;
use table_engine::row::vault::{Authenticator, Vault};
use table_engine::sealing::Sealing;

use super::Encryption;

/// The keys, with the bytes that the table's rows are bound to.
pub(crate) struct TableVault {
    pub(crate) keys: Encryption,
    pub(crate) binding: Binding,
}

impl Vault for TableVault {
    fn open(&self, table: u32, keys: EntityKeys<'_>, property: &str, sealed: &[u8]) -> Result<Plaintext> {
        let cell = Cell::new(table, keys.partition, keys.row, property)?;
        self.keys.open(&cell, sealed).map(Secret::new)
    }

    fn generation(&self) -> Result<u64> {
        self.keys.generation()
    }

    fn sign(&self, keys: EntityKeys<'_>, properties: Vec<(&str, ValueRef<'_>)>) -> Result<[u8; DIGEST]> {
        let authenticator = self.keys.authenticator()?;
        Ok(row_digest::of_row(authenticator, &self.binding, keys, properties.into_iter()))
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
        Ok(self.keys.authenticator()?)
    }
}

impl fmt::Debug for TableVault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TableVault").finish_non_exhaustive()
    }
}

impl Sealing for Encryption {
    fn share(&self) -> Arc<dyn Sealing> {
        Arc::new(self.clone())
    }

    fn generation(&self) -> Result<u64> {
        Self::generation(self)
    }

    fn seal(&self, cell: &Cell<'_>, value: ValueRef<'_>) -> Result<Vec<u8>> {
        Self::seal(self, cell, value)
    }

    fn open(&self, cell: &Cell<'_>, sealed: &[u8]) -> Result<Value> {
        Self::open(self, cell, sealed)
    }

    fn current(&self, cell: &Cell<'_>) -> Result<KeyHandle> {
        Self::current(self, cell)
    }

    fn token(&self, cell: &Cell<'_>, scope: TokenScope, value: ValueRef<'_>) -> Result<Token> {
        Self::token(self, cell, scope, value)
    }

    fn tokens(&self, cell: &Cell<'_>, scope: TokenScope, value: ValueRef<'_>) -> Result<Vec<Token>> {
        Self::tokens(self, cell, scope, value)
    }

    fn makes_token(&self, cell: &Cell<'_>, scope: TokenScope, token: Option<&[u8]>) -> Result<bool> {
        Self::makes_token(self, cell, scope, token)
    }
}
