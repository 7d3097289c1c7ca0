//! References in rows: what a property holds whose value is a blob.

use super::BlobId;

/// With what a reference begins. No text has its first byte, and no other value all of it, as far as chance goes.
pub(crate) const MARK: [u8; 16] =
    [0xc1, 0x9d, 0x4b, 0x1f, 0xe6, 0x52, 0xa8, 0x37, 0x0e, 0xd4, 0x73, 0xbc, 0x95, 0x28, 0xf1, 0x6a];

/// Bytes of a reference: the mark, the blob's identity, and how long it is.
pub(crate) const BYTES: usize = 40;

/// Bytes of a reference to a blob whose own bytes are sealed: the reference, and the key that opens them.
#[cfg(feature = "encrypt")]
pub(crate) const WITH_KEY: usize = BYTES + 32;

/// What of a value stays in the clear where the value is sealed: the reference to a blob that it is, or begins with. The
/// store counts who refers to a blob, and can't see into what is sealed.
#[cfg(feature = "encrypt")]
pub(crate) fn in_clear(value: &[u8]) -> Option<&[u8; BYTES]> {
    let reference = value.first_chunk()?;
    (value.starts_with(&MARK) && matches!(value.len(), BYTES | WITH_KEY)).then_some(reference)
}

/// A reference to a blob that is so long.
pub(crate) fn encode(id: BlobId, length: u64) -> Vec<u8> {
    [&MARK[..], &id.0, &length.to_le_bytes()].concat()
}

/// The blob of a reference, and how long it is.
pub(crate) fn decode(bytes: &[u8]) -> Option<(BlobId, u64)> {
    let (id, length) = bytes.strip_prefix(&MARK)?.split_first_chunk()?;
    Some((BlobId(*id), u64::from_le_bytes(length.try_into().ok()?)))
}

/// What stands before the reference of a value that is sealed: the format, the suite of references, and Edm.Binary; then the
/// number of a data key.
const SEALED: [u8; 3] = [1, 2, 1];
const SEALED_BYTES: usize = SEALED.len() + 8;

/// Whether the reference at this place of a row stands before a value that is sealed. Of one that does not, it says so once
/// in some million times.
pub(crate) fn is_sealed(row: &[u8], at: usize) -> bool {
    at.checked_sub(SEALED_BYTES).and_then(|from| row.get(from..)).is_some_and(|row| row.starts_with(&SEALED))
}

/// Every reference in a row, and where it stands: a property that is copied as bytes is copied with its reference.
pub(crate) fn each_in(row: &[u8], mut each: impl FnMut(usize, BlobId, u64)) {
    let [first, ..] = MARK;
    let mut rest = row;
    while let Some(at) = rest.iter().position(|byte| *byte == first) {
        rest = rest.get(at..).unwrap_or_default();
        match rest.get(..BYTES).and_then(decode) {
            Some((id, length)) => {
                each(row.len() - rest.len(), id, length);
                rest = rest.get(BYTES..).unwrap_or_default();
            }
            None => rest = rest.get(1..).unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_found_wherever_they_stand_and_nothing_else_is() {
        let (one, other) = (BlobId::new(), BlobId::new());
        let found = |row: &[u8]| {
            let mut found = Vec::new();
            each_in(row, |_, id, length| found.push((id, length)));
            found
        };
        let row =
            [&[7, MARK[0]][..], &encode(one, 5), &MARK, &encode(other, 6), &encode(one, 5), &[1]].concat();
        assert_eq!(found(&row)[..1], [(one, 5)]);
        let apart =
            [&[7, MARK[0]][..], &encode(one, 5), &[0], &encode(other, 6), &encode(one, 5), &[1]].concat();
        assert_eq!(found(&apart), [(one, 5), (other, 6), (one, 5)]);
        assert_eq!(found(&encode(one, 5)[..BYTES - 1]), []);
        assert_eq!(found(&[]), []);
        assert_eq!(decode(&encode(one, 5)), Some((one, 5)));
        assert_eq!(decode(&[&encode(one, 5)[..], &[0]].concat()), None);
        assert!(std::str::from_utf8(&MARK[..1]).is_err());
    }
}
