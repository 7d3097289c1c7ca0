//! Values sealed and opened, and rows signed, with the keys of the store.

use std::cell::Cell as Once;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use super::{HasVault, Sealing};
use crate::crypt::{Cell, KeyHandle, Secret, Token, value};
use crate::error::{Error, ErrorKind, Result};
use crate::model::ValueRef;
use crate::plaintext::Plaintext;
use crate::plan::{FoundTokens, Resealed, Seals};
use crate::schema::{Blind, Field, TOKEN_BYTES};

/// The generation of the keys that sealed a plan's values; none if it has no sealed values.
#[derive(Clone, Debug, Default)]
pub struct SealedAt(Option<(Arc<dyn Sealing>, u64)>);

impl SealedAt {
    /// The generation of a plan without sealed values: none.
    pub const NOTHING: Self = Self(None);

    /// Returns the generation of the keys, if any value was sealed: a store may demand it in the statement that writes the
    /// values, in place of [`check`](Self::check).
    pub fn generation(&self) -> Option<u64> {
        self.0.as_ref().map(|(_, generation)| *generation)
    }

    /// Returns the earliest of these: that of a plan whose values several sealers sealed with the keys of one store.
    pub(crate) fn earliest(all: impl Iterator<Item = Self>) -> Self {
        let sealed = all.filter_map(|Self(sealed)| sealed);
        Self(sealed.min_by_key(|(_, generation)| *generation))
    }

    /// Refuses values that were sealed with keys that may be about to go.
    ///
    /// Asked inside the transaction: a job that counts what is left under a key begins after a transaction that came
    /// after the key had its successor, so it sees whatever passed here before.
    pub fn check(&self) -> Result<()> {
        match &self.0 {
            Some((keys, generation)) if keys.generation()? != *generation => {
                Err(Error::new(ErrorKind::ConditionNotMet)
                    .because("a key was rotated or destroyed while values were being sealed"))
            }
            _ => Ok(()),
        }
    }

    /// Returns whether [`check`](Self::check) refuses, so that sealing anew may succeed.
    pub(crate) fn is_stale(&self) -> bool {
        matches!(self.check(), Err(error) if error.kind() == ErrorKind::ConditionNotMet)
    }
}

/// Seals the values of a plan.
pub(crate) struct Sealer<'t> {
    table: u32,
    keys: &'t dyn HasVault,
    generation: Once<Option<u64>>,
    /// The sealer of a plan that is only shown. It needs no key and makes none; bytes stand in for tokens.
    dry_run: Option<RandomState>,
}

impl<'t> Sealer<'t> {
    /// Makes the sealer of a plan that is to be carried out.
    pub(crate) fn new(table: u32, keys: &'t dyn HasVault) -> Self {
        Self { table, keys, generation: Once::new(None), dry_run: None }
    }

    /// Makes the sealer of a plan that is only shown: it gives bytes of the right length.
    pub(crate) fn dry_run(table: u32, keys: &'t dyn HasVault) -> Self {
        Self { dry_run: Some(RandomState::new()), ..Self::new(table, keys) }
    }

    /// Returns a value sealed for a cell whose scope is known.
    pub(crate) fn seal_cell(&self, cell: &Cell<'_>, value: ValueRef<'_>) -> Result<Vec<u8>> {
        if self.dry_run.is_some() {
            return Ok(vec![0; value::sealed_len(value)]);
        }
        self.keys()?.seal(cell, value)
    }

    /// Returns whether a value of this key, with this token if the field has any, needs no sealing anew.
    pub(crate) fn is_current(
        &self,
        partition: &str,
        row: &str,
        field: &Field,
        handle: KeyHandle,
        token: Option<&[u8]>,
    ) -> Result<bool> {
        let cell = self.cell(partition, row, field)?;
        let keys = self.keys()?;
        let has_token = match field.blind {
            None => true,
            Some(blind) => keys.makes_token(&cell, blind.tokens, token)?,
        };
        Ok(has_token && keys.current(&cell)? == handle)
    }

    /// Returns the tokens that a field's value can have been filed under in a partition, newest first: one for each key that
    /// is alive.
    pub(crate) fn live_tokens(
        &self,
        partition: &str,
        field: &Field,
        blind: Blind,
        value: ValueRef<'_>,
    ) -> Result<Vec<[u8; TOKEN_BYTES]>> {
        let cell = self.cell(partition, "", field)?;
        let tokens = self.keys.vault()?.tokens(&cell, blind.tokens, value)?;
        Ok(tokens.into_iter().map(Token::to_bytes).collect())
    }

    /// Returns the cell of a field.
    fn cell<'c>(&self, partition: &'c str, row: &'c str, field: &'c Field) -> Result<Cell<'c>> {
        Ok(Cell::new(self.table, partition, row, field.property)?.scoped(field.scope))
    }

    /// Returns the keys; their generation is noted before the first value is sealed, so that a rotation between the two is seen,
    /// if once too often.
    fn keys(&self) -> Result<&'t dyn Sealing> {
        let keys = self.keys.vault()?;
        if self.generation.get().is_none() {
            self.generation.set(Some(keys.generation()?));
        }
        Ok(keys)
    }

    /// Returns the generation of the keys before the first value was sealed.
    pub(crate) fn sealed_at(&self) -> SealedAt {
        SealedAt(
            self.generation.get().and_then(|generation| Some((self.keys.vault().ok()?.share(), generation))),
        )
    }
}

impl Seals for Sealer<'_> {
    fn seal(&self, partition: &str, row: &str, field: &Field, value: ValueRef<'_>) -> Result<Vec<u8>> {
        self.seal_cell(&self.cell(partition, row, field)?, value)
    }

    fn tokens(
        &self,
        partition: &str,
        field: &Field,
        blind: Blind,
        value: ValueRef<'_>,
    ) -> Result<FoundTokens> {
        if let Some(dry_run) = &self.dry_run {
            let live = self.live_tokens(partition, field, blind, value).unwrap_or_default();
            return Ok(match live.split_first() {
                Some((current, others)) => FoundTokens { current: *current, others: others.to_vec() },
                None => FoundTokens { current: dry_run_token(dry_run, value), others: Vec::new() },
            });
        }
        let keys = self.keys()?;
        let cell = self.cell(partition, "", field)?;
        let current = keys.token(&cell, blind.tokens, value)?.to_bytes();
        let live = keys.tokens(&cell, blind.tokens, value)?.into_iter().map(Token::to_bytes);
        Ok(FoundTokens { current, others: live.filter(|token| *token != current).collect() })
    }

    /// Seals, too, a value that is not sealed yet.
    fn reseal(&self, partition: &str, row: &str, field: &Field, stored: ValueRef<'_>) -> Result<Resealed> {
        let cell = self.cell(partition, row, field)?;
        let keys = self.keys()?;
        let current = |sealed| Ok::<_, Error>(KeyHandle::of(sealed) == Some(keys.current(&cell)?));
        let opened;
        let (value, is_current) = match stored {
            ValueRef::Binary(sealed) if looks_sealed(stored) => {
                let is_current = current(sealed)?;
                if is_current && field.blind.is_none() {
                    return Ok(Resealed { value: None, token: None });
                }
                opened = Plaintext::new(keys.open(&cell, sealed)?);
                (opened.expose().as_value_ref(), is_current)
            }
            plain => (plain, false),
        };
        let token = field.blind.map(|blind| keys.token(&cell, blind.tokens, value)).transpose()?;
        let value = if is_current { None } else { Some(keys.seal(&cell, value)?) };
        Ok(Resealed { value, token: token.map(Token::to_bytes) })
    }
}

/// Returns a stand-in of the right length. Equal values have equal ones, which tell nothing of the value.
fn dry_run_token(dry_run: &RandomState, value: ValueRef<'_>) -> [u8; TOKEN_BYTES] {
    let value = Plaintext::new(value.to_value());
    let text = Secret::new(format!("{:?}", value.expose()));
    let mut token = [0; TOKEN_BYTES];
    for (half, bytes) in token.chunks_mut(8).enumerate() {
        let hash = dry_run.hash_one((half, text.expose())).to_le_bytes();
        bytes.iter_mut().zip(hash).for_each(|(byte, hashed)| *byte = hashed);
    }
    token
}

/// Returns whether a value is of the form of sealed ones.
pub fn looks_sealed(value: ValueRef<'_>) -> bool {
    matches!(value, ValueRef::Binary(bytes) if KeyHandle::of(bytes).is_some())
}

/// Returns the generation of the keys, which a lookup by tokens must see unchanged before and after.
pub(crate) fn generation(keys: &dyn HasVault) -> Result<u64> {
    keys.vault()?.generation()
}
