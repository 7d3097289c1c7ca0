//! References in rows: what a property holds whose value is a blob.

use super::BlobId;

/// What a reference begins with. No text has its first byte, and no other value all of it, as far as chance goes.
pub(crate) const MARK: [u8; 16] =
    [0xc1, 0x9d, 0x4b, 0x1f, 0xe6, 0x52, 0xa8, 0x37, 0x0e, 0xd4, 0x73, 0xbc, 0x95, 0x28, 0xf1, 0x6a];

/// Bytes of a reference: the mark, the blob's identity, and how long it is.
pub(crate) const BYTES: usize = 40;

/// Bytes of a reference to a blob whose own bytes are sealed: the reference, and the key that opens them.
#[cfg(feature = "encrypt")]
pub(crate) const WITH_KEY: usize = BYTES + 32;

/// Returns what of a value stays in the clear where the value is sealed: the reference to a blob that it is, or begins with. The
/// store counts who refers to a blob, and can't see into what is sealed.
#[cfg(feature = "encrypt")]
pub(crate) fn in_clear(value: &[u8]) -> Option<&[u8; BYTES]> {
    let reference = value.first_chunk()?;
    (value.starts_with(&MARK) && matches!(value.len(), BYTES | WITH_KEY)).then_some(reference)
}

/// Returns a reference to a blob that is so long.
pub fn encode(id: BlobId, length: u64) -> Vec<u8> {
    [&MARK[..], &id.0, &length.to_le_bytes()].concat()
}

/// Returns the blob of a reference, and how long it is.
pub fn decode(bytes: &[u8]) -> Option<(BlobId, u64)> {
    let (id, length) = bytes.strip_prefix(&MARK)?.split_first_chunk()?;
    Some((BlobId(*id), u64::from_le_bytes(length.try_into().ok()?)))
}

/// What stands before the reference of a value that is sealed: the format, the suite of references, and Edm.Binary; then the
/// number of a data key.
const SEALED: [u8; 3] = [1, 2, 1];
const SEALED_BYTES: usize = SEALED.len() + 8;

/// Returns whether the reference at this place of a row stands before a value that is sealed. Of one that does not, it says so
/// once in some million times.
pub fn is_sealed(row: &[u8], at: usize) -> bool {
    at.checked_sub(SEALED_BYTES).and_then(|from| row.get(from..)).is_some_and(|row| row.starts_with(&SEALED))
}

/// Calls `each` with every reference in a row, and where it stands: a property that is copied as bytes is copied with its
/// reference.
pub fn each_in(row: &[u8], mut each: impl FnMut(usize, BlobId, u64)) {
    let mut from = 0;
    while let Some(at) = find_mark(row, from) {
        let found = at.checked_add(BYTES).and_then(|end| row.get(at..end)).and_then(decode);
        from = match found {
            Some((id, length)) => {
                each(at, id, length);
                at + BYTES
            }
            None => at + 1,
        };
    }
}

/// Returns whether there is a reference in these bytes.
pub fn is_in(bytes: &[u8]) -> bool {
    let mut is_in = false;
    if bytes.len() >= BYTES {
        each_in(bytes, |_, _, _| is_in = true);
    }
    is_in
}

/// For each byte its place in the mark, whose bytes all differ, or a place beyond it.
#[expect(
    clippy::as_conversions,
    clippy::indexing_slicing,
    reason = "a constant can do neither otherwise, and does not compile where one goes wrong"
)]
const PLACE_IN_MARK: [u8; 256] = {
    let mut places = [u8::MAX; 256];
    let mut at = 0_u8;
    while (at as usize) < MARK.len() {
        let byte = MARK[at as usize] as usize;
        assert!(places[byte] == u8::MAX, "the search needs a mark whose bytes all differ");
        places[byte] = at;
        at += 1;
    }
    places
};

/// Finds the first mark that begins at `from` or behind it. It looks at every sixteenth byte alone, of which each mark has
/// one: that byte tells where the mark would begin.
fn find_mark(bytes: &[u8], from: usize) -> Option<usize> {
    let mut probe = from + MARK.len() - 1;
    while let Some(byte) = bytes.get(probe) {
        let place = PLACE_IN_MARK.get(usize::from(*byte)).map_or(MARK.len(), |place| usize::from(*place));
        if place < MARK.len() {
            let at = probe - place;
            if bytes.get(at..).is_some_and(|rest| rest.starts_with(&MARK)) {
                return Some(at);
            }
        }
        probe += MARK.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_found_wherever_they_stand_and_nothing_else_is() {
        let (one, other) = (BlobId::new(&[7; 16]), BlobId::new(&[7; 16]));
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
        assert!(is_in(&row) && !is_in(&encode(one, 5)[1..]) && !is_in(&[]));
    }

    #[test]
    fn a_reference_is_found_at_every_place_and_behind_every_part_of_a_mark() {
        let reference = encode(BlobId::new(&[7; 16]), 5);
        for before in 0..70 {
            for part in 0..MARK.len() {
                let row = [&vec![9; before][..], &MARK[..part], &reference, &MARK[part..]].concat();
                let mut found = Vec::new();
                each_in(&row, |at, _, _| found.push(at));
                assert_eq!(found, [before + part], "{before} bytes and {part} of a mark");
            }
        }
    }
}
