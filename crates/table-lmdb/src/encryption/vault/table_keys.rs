//! The keys at work for the rows of one table.

use std::fmt;
use std::sync::Arc;

use table_engine::crypt::mac::MacKey;
use table_engine::crypt::plain::{self, PlainBytes};
use table_engine::crypt::{Cell, KeyHandle, Secret, Token, TokenScope};
use table_engine::error::Result;
use table_engine::model::{Value, ValueRef};
use table_engine::plaintext::Plaintext;
use table_engine::row::vault::{Authenticator, Vault};
use table_engine::row::{DIGEST, SMALL};
use table_engine::sealing::Sealing;

use super::Encryption;

/// The label of a row's digest.
const ROW: &str = "row";
/// The label of a large value's digest.
const VALUE: &str = "value";

/// The bytes that rows of a table are bound to, besides their keys.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Binding {
    pub(crate) store: [u8; 16],
    pub(crate) table: [u8; 16],
}

/// The keys, with the bytes that the table's rows are bound to.
pub(crate) struct TableVault {
    pub(crate) keys: Encryption,
    pub(crate) binding: Binding,
}

impl Vault for TableVault {
    fn open(&self, table: u32, keys: (&str, &str), property: &str, sealed: &[u8]) -> Result<Plaintext> {
        let cell = Cell::new(table, keys.0, keys.1, property)?;
        self.keys.open(&cell, sealed).map(Secret::new)
    }

    fn generation(&self) -> Result<u64> {
        self.keys.generation()
    }

    fn sign(&self, keys: (&str, &str), properties: Vec<(&str, ValueRef<'_>)>) -> Result<[u8; DIGEST]> {
        let (partition, row) = keys;
        Ok(of_row(self.keys.authenticator()?, &self.binding, partition, row, properties.into_iter()))
    }

    fn is_genuine(
        &self,
        keys: (&str, &str),
        properties: Vec<(&str, ValueRef<'_>)>,
        digest: &[u8; DIGEST],
    ) -> Result<bool> {
        Ok(same(digest, &self.sign(keys, properties)?))
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

fn of_row<'p>(
    authenticator: &MacKey,
    binding: &Binding,
    partition: &str,
    row: &str,
    properties: impl Iterator<Item = (&'p str, ValueRef<'p>)>,
) -> [u8; DIGEST] {
    let mut properties: Vec<_> = properties
        .map(|(name, value)| {
            let (plain, tag) = (PlainBytes::of(value), plain::tag(value.edm_type()));
            // A large value need not be read again if its digest is known.
            let large = (plain.as_slice().len() > SMALL)
                .then(|| authenticator.digest::<32>(VALUE, &[name.as_bytes(), plain.as_slice()]));
            (name, [tag, u8::from(large.is_some())], plain, large)
        })
        .collect();
    properties.sort_unstable_by_key(|(name, ..)| *name);
    let mut parts: Vec<&[u8]> = Vec::with_capacity(4 + 3 * properties.len());
    parts.extend([&binding.store[..], &binding.table, partition.as_bytes(), row.as_bytes()]);
    for (name, tag, plain, large) in &properties {
        let value = large.as_ref().map_or_else(|| plain.as_slice(), |digest| &digest[..]);
        parts.extend([name.as_bytes(), &tag[..], value]);
    }
    authenticator.digest(ROW, &parts)
}

/// Compares two digests in a time that does not depend on how much of them is equal.
fn same(a: &[u8; DIGEST], b: &[u8; DIGEST]) -> bool {
    use subtle::ConstantTimeEq as _;
    a.ct_eq(b).into()
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

#[cfg(test)]
mod tests {
    use super::*;
    use table_engine::crypt::SecretKey;

    /// Made by another program, from `docs/internals/format.md`.
    #[test]
    fn a_rows_digest_is_frozen() {
        let key: Vec<u8> = (0..32).collect();
        let authenticator = MacKey::new(&SecretKey::from_slice(&key).unwrap());
        let table: Vec<u8> = (16..32).collect();
        let binding = Binding { store: *b"0123456789abcdef", table: table.try_into().unwrap() };
        let text = "x".repeat(300);
        let properties = [
            ("EntityType", ValueRef::String("account")),
            ("Note", ValueRef::String(&text)),
            ("Open", ValueRef::Boolean(true)),
            ("Balance", ValueRef::Int64(-7)),
        ];
        let digest = of_row(&authenticator, &binding, "Bonn", "account_000001", properties.into_iter());
        let hex = digest.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"));
        assert_eq!(hex, "bc6bfe25157bf621303ce585b47d257a");
        // The order of the row's properties does not matter.
        let turned = properties.into_iter().rev();
        assert_eq!(of_row(&authenticator, &binding, "Bonn", "account_000001", turned), digest);
    }
}
