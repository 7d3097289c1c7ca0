//! Encrypted fields of a change: the planner sees them as they are stored, sealed.

use crate::error::Result;
use crate::model::{Value, ValueRef};
use crate::plan::{self, Values};
use crate::schema::{PropertyValue, Schema};
use crate::store::Sealer;

/// The sealed fields of an entity as its row has them, by their places in the schema.
pub(super) type SealedFields = Vec<(usize, Box<[u8]>)>;

/// Puts sealed bytes in the place of the values of encrypted fields: of what is stored those that are stored, and of
/// what is to be the same where nothing has changed. So a copy is rewritten only if it must be, and what a change did
/// not touch goes on under the salt and the key that it had.
pub(super) fn seal<'v>(
    schema: &'static Schema,
    old: Option<(&mut Values<'v>, &'v SealedFields)>,
    new: Option<&mut Values<'v>>,
    sealer: &Sealer<'_>,
) -> Result<()> {
    let fields = || schema.fields.iter().enumerate().filter(|(_, field)| field.encrypted);
    if let Some(new) = new {
        let key = plan::keys(schema, new)?;
        // In another row the same value must be sealed anew.
        let same_row = match &old {
            Some((old, bytes)) if plan::keys(schema, old)? == key => Some((&**old, *bytes)),
            _ => None,
        };
        for (at, field) in fields() {
            let Some(value) = value_of(new, at) else { continue };
            let unchanged = same_row.filter(|(old, _)| value_of(old, at) == Some(value));
            let stored = if let Some(kept) = unchanged.and_then(|(_, bytes)| bytes_of(bytes, at)) {
                PropertyValue::Borrowed(kept)
            } else {
                let made = sealer.seal(&key.0, &key.1, field.property, value)?;
                PropertyValue::Owned(Value::Binary(made))
            };
            new.set_stored(at, stored);
        }
    }
    if let Some((old, bytes)) = old {
        for (at, _) in fields() {
            old.set_stored(at, bytes_of(bytes, at).map_or(PropertyValue::Absent, PropertyValue::Borrowed));
        }
    }
    Ok(())
}

fn bytes_of(sealed: &SealedFields, field: usize) -> Option<ValueRef<'_>> {
    sealed.iter().find(|(at, _)| *at == field).map(|(_, bytes)| ValueRef::Binary(bytes))
}

fn value_of<'a>(values: &'a Values<'_>, field: usize) -> Option<ValueRef<'a>> {
    values.get(field)?.stored().as_value_ref()
}
