//! A sealed value, as a property of type Binary holds it.
//!
//! ```text
//! format: 1 | suite: 1 | type: 1 | key: 8 | salt: 24 | commitment: 16 | ciphertext | tag: 16
//! ```
//!
//! Where the value refers to a blob, the reference stands in the clear behind the key's number, so that the store can
//! count it; the value is bound to it.

use super::cell::{Cell, framed};
use super::data_key::{DataKey, KeyHandle};
use super::envelope::{self, Purpose};
use super::plain::{self, PlainBytes};
use crate::contents::reference;
use crate::error::{Error, ErrorKind, Result};
use crate::limits;
use crate::model::{EdmType, Value, ValueRef};

/// The version of the format.
const FORMAT: u8 = 1;
/// AES-256-GCM under a key of its own for each value, by HKDF-SHA256, with a commitment of 16 bytes.
const SUITE: u8 = 1;
/// [`SUITE`], with a reference to a blob in the clear before the envelope.
const SUITE_OF_BLOB: u8 = 2;

/// Bytes before the envelope.
const HEADER: usize = 11;

/// Bytes that sealing adds to a value's.
pub(crate) const OVERHEAD: usize = HEADER + envelope::OVERHEAD;

/// Returns how many bytes a value takes when it is sealed.
pub(crate) fn sealed_len(value: ValueRef<'_>) -> usize {
    OVERHEAD + in_clear(value).len() + PlainBytes::of(value).as_slice().len()
}

/// Returns the reference to a blob that stays in the clear; nothing of most values.
fn in_clear(value: ValueRef<'_>) -> &[u8] {
    match value {
        ValueRef::Binary(bytes) => reference::in_clear(bytes).map_or(&[], |reference| reference),
        _ => &[],
    }
}

/// A sealed value taken apart; nothing of it is known to be true yet.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Sealed<'a> {
    edm: EdmType,
    pub key: KeyHandle,
    header: &'a [u8; HEADER],
    /// A reference to a blob, or nothing.
    in_clear: &'a [u8],
    envelope: &'a [u8],
}

impl<'a> Sealed<'a> {
    pub(crate) fn parse(bytes: &'a [u8]) -> Option<Self> {
        let (header, rest) = bytes.split_first_chunk::<HEADER>()?;
        let [FORMAT, suite, tag, key @ ..] = *header else { return None };
        let (in_clear, envelope) = match suite {
            SUITE => rest.split_at(0),
            SUITE_OF_BLOB => rest.split_at_checked(reference::BYTES)?,
            _ => return None,
        };
        (envelope.len() >= envelope::OVERHEAD).then_some(())?;
        let (edm, key) = (plain::edm_of(tag)?, KeyHandle(u64::from_le_bytes(key)));
        Some(Self { edm, key, header, in_clear, envelope })
    }

    /// Takes a sealed value apart, or returns the error that says what the property lacks.
    pub fn read(cell: &Cell<'_>, bytes: &'a [u8]) -> Result<Self> {
        Self::parse(bytes).ok_or_else(|| {
            cell.error(ErrorKind::DecryptionFailed, "holds no sealed value, or one of a newer format")
        })
    }

    /// Returns the value, if it was sealed for this cell with this key.
    pub fn open(&self, cell: &Cell<'_>, store: &[u8; 16], key: &DataKey) -> Result<Value> {
        let aad = binding(cell, store, self.header, self.in_clear);
        envelope::open(key.derivation(), Purpose::Value, &aad, self.envelope)
            .ok()
            .and_then(|bytes| plain::value_of(self.edm, bytes))
            .ok_or_else(|| refused(cell))
    }
}

fn refused(cell: &Cell<'_>) -> Error {
    cell.error(
        ErrorKind::DecryptionFailed,
        "does not hold what was sealed for it: the bytes were changed, or are another cell's",
    )
}

/// Seals a value for a cell.
#[doc(hidden)]
pub fn seal(cell: &Cell<'_>, store: &[u8; 16], key: &DataKey, value: ValueRef<'_>) -> Result<Vec<u8>> {
    let parts = Parts::new(cell, store, key, value)?;
    let mut out = parts.begin();
    let write = |out: &mut Vec<u8>| out.extend_from_slice(parts.plain.as_slice());
    envelope::seal_into(key.derivation(), Purpose::Value, &parts.aad, &mut out, write)?;
    Ok(out)
}

/// Seals a value for a cell with a given salt: for test vectors.
#[cfg(test)]
pub(crate) fn seal_with(
    salt: &[u8; envelope::SALT],
    cell: &Cell<'_>,
    store: &[u8; 16],
    key: &DataKey,
    value: ValueRef<'_>,
) -> Result<Vec<u8>> {
    let parts = Parts::new(cell, store, key, value)?;
    let mut out = parts.begin();
    let write = |out: &mut Vec<u8>| out.extend_from_slice(parts.plain.as_slice());
    let keys = envelope::Keys::derive(key.derivation(), Purpose::Value, salt);
    envelope::seal_with(&keys, &parts.aad, &mut out, write)?;
    Ok(out)
}

/// The parts of a sealed value.
struct Parts<'a> {
    header: [u8; HEADER],
    in_clear: &'a [u8],
    aad: Vec<u8>,
    plain: PlainBytes<'a>,
}

impl<'a> Parts<'a> {
    fn new(cell: &Cell<'_>, store: &[u8; 16], key: &DataKey, value: ValueRef<'a>) -> Result<Self> {
        value.check(cell.property).map_err(|error| error.partition(cell.partition).row(cell.row))?;
        let (plain, in_clear) = (PlainBytes::of(value), in_clear(value));
        let length = OVERHEAD + plain.as_slice().len();
        if length > limits::BINARY_BYTES {
            let most = limits::BINARY_BYTES - OVERHEAD;
            let because =
                format!("takes {length} bytes when it is sealed; what is sealed may have {most} before");
            return Err(cell.error(ErrorKind::PropertyValueTooLarge, &because));
        }
        let suite = if in_clear.is_empty() { SUITE } else { SUITE_OF_BLOB };
        let mut header = [FORMAT, suite, plain::tag(value.edm_type()), 0, 0, 0, 0, 0, 0, 0, 0];
        if let Some(handle) = header.last_chunk_mut() {
            *handle = key.handle().0.to_le_bytes();
        }
        Ok(Self { header, in_clear, aad: binding(cell, store, &header, in_clear), plain })
    }

    /// Begins the bytes, with room for all of them: a vector that grows leaves its old bytes behind in memory.
    fn begin(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(OVERHEAD + self.in_clear.len() + self.plain.as_slice().len());
        out.extend_from_slice(&self.header);
        out.extend_from_slice(self.in_clear);
        out
    }
}

/// Returns what the value is bound to: its own header, the store, the table, the entity's primary keys and the property; and, of
/// one that refers to a blob, the reference that stands in the clear.
fn binding(cell: &Cell<'_>, store: &[u8; 16], header: &[u8; HEADER], in_clear: &[u8]) -> Vec<u8> {
    let texts = [cell.partition, cell.row, cell.property];
    let length = HEADER + 16 + 4 + texts.iter().map(|text| 4 + text.len()).sum::<usize>() + in_clear.len();
    let mut aad = Vec::with_capacity(length);
    aad.extend_from_slice(header);
    aad.extend_from_slice(store);
    aad.extend_from_slice(&cell.table.to_le_bytes());
    for text in texts {
        framed(&mut aad, text);
    }
    aad.extend_from_slice(in_clear);
    aad
}

#[cfg(test)]
mod tests;
