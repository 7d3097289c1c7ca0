//! Encrypted fields of a change: the planner sees them as they are stored, sealed.

use crate::error::{Error, ErrorKind, Result};
use crate::model::{EntityKeys, Value, ValueRef};
use crate::plan::{FieldToken, Seals, Values};
use crate::schema::{self, Blind, Field, PropertyValue, Schema, TOKEN_BYTES};
use crate::sealing::looks_sealed;

/// What an entity's row has of its sealed fields, by their places in the schema.
#[derive(Default)]
pub(crate) struct SealedFields {
    values: Vec<(usize, Box<[u8]>)>,
    tokens: Vec<(usize, [u8; TOKEN_BYTES])>,
}

impl SealedFields {
    pub(crate) fn push(&mut self, field: usize, sealed: &[u8]) {
        self.values.push((field, sealed.into()));
    }

    /// Takes the token of a field; returns whether it is one.
    pub(crate) fn push_token(&mut self, field: usize, value: ValueRef<'_>) -> bool {
        let token = value.as_bytes().and_then(|bytes| bytes.try_into().ok());
        self.tokens.extend(token.map(|token| (field, token)));
        token.is_some()
    }

    fn value(&self, field: usize) -> Option<ValueRef<'_>> {
        self.values.iter().find(|(at, _)| *at == field).map(|(_, bytes)| ValueRef::Binary(bytes))
    }

    fn token(&self, field: usize) -> Option<[u8; TOKEN_BYTES]> {
        self.tokens.iter().find(|(at, _)| *at == field).map(|(_, token)| *token)
    }
}

/// Puts sealed bytes in the place of the values of encrypted fields, and their tokens beside them: of what is stored
/// those that are stored, and of what is to be the same where nothing has changed. So a copy is rewritten only if it
/// must be, and what a change did not touch goes on under the salt, the token and the key that it had. `keeps_own`: the
/// entity's own row stays as it is.
pub(crate) fn seal<'v>(
    schema: &'static Schema,
    old: Option<(&mut Values<'v>, &'v SealedFields)>,
    new: Option<&mut Values<'v>>,
    sealer: &dyn Seals,
    keeps_own: bool,
) -> Result<()> {
    let fields = || schema.fields.iter().enumerate().filter(|(_, field)| field.encrypted);
    if let Some(new) = new {
        let key = schema::own_keys(schema, new)?;
        let EntityKeys { partition, row } = key.as_keys();
        // In another row the same value must be sealed anew.
        let same_row = match &old {
            Some((old, stored)) if schema::own_keys(schema, &**old)? == key => Some((&**old, *stored)),
            _ => None,
        };
        for (at, field) in fields() {
            let Some(value) = value_of(new, at) else { continue };
            let unchanged = same_row.filter(|(old, _)| value_of(old, at) == Some(value));
            let unchanged = unchanged.map(|(_, stored)| stored);
            if keeps_own && unchanged.is_some_and(|stored| stored.value(at).is_none()) {
                // The entity's own row holds it plain and stays: its copies say what that says.
                continue;
            }
            let token = field.blind.map(|blind| {
                let kept = unchanged.and_then(|stored| stored.token(at));
                BlindField { at, field, blind }.token(sealer, partition, kept, value)
            });
            let stored = if let Some(kept) = unchanged.and_then(|stored| stored.value(at)) {
                PropertyValue::Borrowed(kept)
            } else {
                PropertyValue::Owned(Value::Binary(sealer.seal(partition, row, field, value)?))
            };
            if let Some(token) = token {
                new.push_token(token?);
            }
            new.set_stored(at, stored);
        }
    }
    if let Some((old, stored)) = old {
        for (at, field) in fields() {
            if let (Some(blind), Some(value)) = (field.blind, value_of(old, at)) {
                // The copies lie where the stored token says, whatever key is current.
                let key = schema::own_keys(schema, old)?;
                let field = BlindField { at, field, blind };
                let token = field.token(sealer, key.as_keys().partition, stored.token(at), value)?;
                old.push_token(token);
            }
            old.set_stored(at, stored.value(at).map_or(PropertyValue::Absent, PropertyValue::Borrowed));
        }
    }
    Ok(())
}

/// A sealed field whose value is found by tokens.
struct BlindField {
    /// The place of the field.
    at: usize,
    field: &'static Field,
    blind: Blind,
}

impl BlindField {
    /// Returns the token that is kept, or a new one.
    fn token(
        &self,
        sealer: &dyn Seals,
        partition: &str,
        kept: Option<[u8; TOKEN_BYTES]>,
        value: ValueRef<'_>,
    ) -> Result<FieldToken> {
        let Self { at, field, blind } = *self;
        if let Some(kept) = kept {
            return Ok(FieldToken::new(at, kept, &[]));
        }
        let found = sealer.tokens(partition, field, blind, value)?;
        Ok(FieldToken::new(at, found.current, &found.others))
    }
}

/// Seals anew what is not sealed with the keys that are current now, of values that are those of the row, and makes the
/// tokens anew of those that have any.
pub(crate) fn reseal(schema: &'static Schema, values: &mut Values<'_>, sealer: &dyn Seals) -> Result<()> {
    let key = schema::own_keys(schema, values)?;
    let EntityKeys { partition, row } = key.as_keys();
    for (at, field) in schema.fields.iter().enumerate().filter(|(_, field)| field.encrypted) {
        let Some(stored) = value_of(values, at) else { continue };
        // Where nothing may be plain, what is has been put there: it is not to be passed off as what was sealed.
        if !field.dual && !looks_sealed(stored) {
            let because = format!("property `{}` is not sealed", field.property);
            return Err(Error::new(ErrorKind::DecryptionFailed).because(because));
        }
        let made = sealer.reseal(partition, row, field, stored)?;
        if let Some(value) = made.value {
            values.set_stored(at, PropertyValue::Owned(Value::Binary(value)));
        }
        if let Some(token) = made.token {
            // No other entity has the value under a token of another key: filing it would have found this one.
            values.set_token(FieldToken::new(at, token, &[]));
        }
    }
    Ok(())
}

fn value_of<'a>(values: &'a Values<'_>, field: usize) -> Option<ValueRef<'a>> {
    values.get(field)
}
