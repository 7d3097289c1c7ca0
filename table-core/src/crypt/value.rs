//! A sealed value, as a property of type Binary holds it.
//!
//! ```text
//! format: 1 | suite: 1 | type: 1 | key: 8 | salt: 24 | commitment: 16 | ciphertext | tag: 16
//! ```

use super::cell::{Cell, framed};
use super::data_key::{DataKey, KeyHandle};
use super::envelope::{self, Purpose};
use super::plain::{self, Plain};
use crate::error::{Error, ErrorKind, Result};
use crate::limits;
use crate::model::{EdmType, Value, ValueRef};

/// The version of the format.
const FORMAT: u8 = 1;
/// AES-256-GCM under a key of its own for each value, by HKDF-SHA256, with a commitment of 16 bytes.
const SUITE: u8 = 1;

/// Bytes before the envelope.
const HEADER: usize = 11;

/// Bytes that sealing adds to a value's.
pub(crate) const OVERHEAD: usize = HEADER + envelope::OVERHEAD;

/// How many bytes a value takes when it is sealed.
pub(crate) fn sealed_len(value: ValueRef<'_>) -> usize {
    OVERHEAD + Plain::of(value).as_slice().len()
}

/// A sealed value taken apart; nothing of it is known to be true yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sealed<'a> {
    edm: EdmType,
    pub(crate) key: KeyHandle,
    header: &'a [u8; HEADER],
    envelope: &'a [u8],
}

impl<'a> Sealed<'a> {
    pub(crate) fn parse(bytes: &'a [u8]) -> Option<Self> {
        let (header, envelope) = bytes.split_first_chunk::<HEADER>()?;
        let [FORMAT, SUITE, tag, key @ ..] = *header else { return None };
        (envelope.len() >= envelope::OVERHEAD).then_some(())?;
        Some(Self { edm: plain::edm_of(tag)?, key: KeyHandle(u64::from_le_bytes(key)), header, envelope })
    }

    /// The same, or the error that says what the property lacks.
    pub(crate) fn read(cell: &Cell<'_>, bytes: &'a [u8]) -> Result<Self> {
        Self::parse(bytes).ok_or_else(|| {
            cell.error(ErrorKind::DecryptionFailed, "holds no sealed value, or one of a newer format")
        })
    }

    /// The value, if it was sealed for this cell with this key.
    pub(crate) fn open(&self, cell: &Cell<'_>, store: &[u8; 16], key: &DataKey) -> Result<Value> {
        let aad = binding(cell, store, self.header);
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
pub(crate) fn seal(cell: &Cell<'_>, store: &[u8; 16], key: &DataKey, value: ValueRef<'_>) -> Result<Vec<u8>> {
    let parts = Parts::new(cell, store, key, value)?;
    let mut out = parts.begin();
    let write = |out: &mut Vec<u8>| out.extend_from_slice(parts.plain.as_slice());
    envelope::seal_into(key.derivation(), Purpose::Value, &parts.aad, &mut out, write)?;
    Ok(out)
}

/// The same with a given salt: for test vectors.
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
    envelope::seal_with(salt, key.derivation(), Purpose::Value, &parts.aad, &mut out, write)?;
    Ok(out)
}

/// The parts of a sealed value.
struct Parts<'a> {
    header: [u8; HEADER],
    aad: Vec<u8>,
    plain: Plain<'a>,
}

impl<'a> Parts<'a> {
    fn new(cell: &Cell<'_>, store: &[u8; 16], key: &DataKey, value: ValueRef<'a>) -> Result<Self> {
        value.check(cell.property).map_err(|error| error.partition(cell.partition).row(cell.row))?;
        let plain = Plain::of(value);
        let length = OVERHEAD + plain.as_slice().len();
        if length > limits::BINARY_BYTES {
            let most = limits::BINARY_BYTES - OVERHEAD;
            let because =
                format!("takes {length} bytes when it is sealed; what is sealed may have {most} before");
            return Err(cell.error(ErrorKind::PropertyValueTooLarge, &because));
        }
        let mut header = [FORMAT, SUITE, plain::tag(value.edm_type()), 0, 0, 0, 0, 0, 0, 0, 0];
        if let Some(handle) = header.last_chunk_mut() {
            *handle = key.handle().0.to_le_bytes();
        }
        Ok(Self { header, aad: binding(cell, store, &header), plain })
    }

    /// Room for all of it: a vector that grows leaves its former bytes behind.
    fn begin(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(OVERHEAD + self.plain.as_slice().len());
        out.extend_from_slice(&self.header);
        out
    }
}

/// What the value is bound to: its own header, the store, the table, the entity's primary keys and the property.
fn binding(cell: &Cell<'_>, store: &[u8; 16], header: &[u8; HEADER]) -> Vec<u8> {
    let texts = [cell.partition, cell.row, cell.property];
    let length = HEADER + 16 + 4 + texts.iter().map(|text| 4 + text.len()).sum::<usize>();
    let mut aad = Vec::with_capacity(length);
    aad.extend_from_slice(header);
    aad.extend_from_slice(store);
    aad.extend_from_slice(&cell.table.to_le_bytes());
    for text in texts {
        framed(&mut aad, text);
    }
    aad
}

#[cfg(test)]
mod tests;
