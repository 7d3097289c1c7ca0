//! The bytes of a sealed blob, segment by segment.
//!
//! Each blob has a key of its own, at random, and is sealed once: STREAM over AES-256-GCM, where the nonce of a segment
//! is its number and whether it is the last one.
//!
//! ```text
//! segment    ciphertext | tag: 16
//! nonce      0: 7 bytes | number: u32 BE | 1 for the last one, else 0
//! bound to   `table-derive blob  1` | content type
//! ```
//!
//! So no segment opens in the place of another, nor as the end where it is none, nor under another content type.

use zeroize::{Zeroize, Zeroizing};

use super::aead::{self, KEY, NONCE, TAG};
use crate::contents::SEGMENT;
use crate::error::{Error, ErrorKind, Result};

/// Bytes that sealing adds to a segment's.
pub(crate) const OVERHEAD: usize = TAG;

/// The most bytes of a segment before it is sealed.
pub(crate) const PLAIN: usize = SEGMENT - OVERHEAD;

const LABEL: &[u8; 20] = b"table-derive blob  1";

/// What seals the segments of one blob, or opens them.
pub(crate) struct SegmentCipher {
    key: Zeroizing<[u8; KEY]>,
    aad: Vec<u8>,
}

impl SegmentCipher {
    pub(crate) fn new(key: &[u8; KEY], content_type: &str) -> Self {
        let aad = [LABEL, content_type.as_bytes()].concat();
        Self { key: Zeroizing::new(*key), aad }
    }

    /// Seals a segment in place. No segment of a blob may be sealed twice.
    pub(crate) fn seal(&self, number: u32, is_last: bool, segment: &mut Vec<u8>) -> Result<()> {
        let Ok(tag) = aead::seal(&self.key, &nonce(number, is_last), &self.aad, segment) else {
            segment.zeroize();
            return Err(Error::new(ErrorKind::BlobTooLarge).because("more than the cipher takes at once"));
        };
        segment.extend_from_slice(&tag);
        Ok(())
    }

    /// Opens a segment in place, and leaves nothing of one that was changed.
    pub(crate) fn open(&self, number: u32, is_last: bool, segment: &mut Vec<u8>) -> Result<()> {
        let opened = segment.split_last_chunk_mut().is_some_and(|(text, tag)| {
            aead::open(&self.key, &nonce(number, is_last), &self.aad, text, tag).is_ok()
        });
        if opened {
            segment.truncate(segment.len().saturating_sub(OVERHEAD));
            return Ok(());
        }
        segment.zeroize();
        let because = format!(
            "segment {number} of the blob is not what was sealed: its bytes, or the blob's content type, were changed"
        );
        Err(Error::new(ErrorKind::DecryptionFailed).because(because))
    }
}

fn nonce(number: u32, is_last: bool) -> [u8; NONCE] {
    let mut nonce = [0; NONCE];
    if let Some((rest, last)) =
        nonce.split_last_chunk_mut::<5>().and_then(|(_, end)| end.split_first_chunk_mut::<4>())
    {
        *rest = number.to_be_bytes();
        last.fill(u8::from(is_last));
    }
    nonce
}

/// Returns how many bytes a blob has in the store that has so many before it is sealed.
#[cfg(test)]
fn sealed_length(plain: u64) -> u64 {
    let (full, overhead) = (crate::contents::length_of(PLAIN), crate::contents::length_of(OVERHEAD));
    plain + plain.div_ceil(full).max(1) * overhead
}

/// Returns how many bytes were sealed that the store has so many of; `None` if nothing that was sealed is so long.
pub(crate) fn plain_length(stored: u64) -> Option<u64> {
    let (segment, overhead) = (crate::contents::length_of(SEGMENT), crate::contents::length_of(OVERHEAD));
    let rest = stored % segment;
    // The last segment has its tag. Only that of an empty blob has nothing else.
    let is_whole = rest == 0 || rest > overhead || stored == overhead;
    (stored > 0 && is_whole).then(|| stored - crate::contents::segments(stored) * overhead)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contents::length_of;

    fn cipher_of(content_type: &str) -> SegmentCipher {
        SegmentCipher::new(&std::array::from_fn(|at| u8::try_from(at).unwrap()), content_type)
    }

    fn sealed(cipher: &SegmentCipher, number: u32, is_last: bool, bytes: &[u8]) -> Vec<u8> {
        let mut segment = bytes.to_vec();
        cipher.seal(number, is_last, &mut segment).unwrap();
        segment
    }

    #[test]
    fn a_segment_opens_in_its_place_alone() {
        let cipher = cipher_of("image/jpeg");
        let segment = sealed(&cipher, 3, false, b"a photo");
        assert_eq!(segment.len(), 7 + OVERHEAD);
        let open = |cipher: &SegmentCipher, number, is_last, bytes: &[u8]| {
            let mut bytes = bytes.to_vec();
            cipher.open(number, is_last, &mut bytes).map(|()| bytes)
        };
        assert_eq!(open(&cipher, 3, false, &segment).unwrap(), b"a photo");
        for (number, is_last) in [(3, true), (2, false), (3 << 8, false), (0, false)] {
            let error = open(&cipher, number, is_last, &segment).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::DecryptionFailed, "{number} {is_last}");
        }
        let other = SegmentCipher::new(&[7; 32], "image/jpeg");
        assert!(open(&other, 3, false, &segment).is_err());
        let other = cipher_of("image/png");
        assert!(open(&other, 3, false, &segment).is_err());
        for bit in 0..segment.len() * 8 {
            let mut flipped = segment.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(cipher.open(3, false, &mut flipped).is_err() && flipped.is_empty(), "bit {bit}");
        }
        for length in 0..segment.len() {
            assert!(open(&cipher, 3, false, &segment[..length]).is_err(), "length {length}");
        }
    }

    #[test]
    fn nonces_are_of_the_number_and_the_end() {
        assert_eq!(nonce(0x0102_0304, false), [0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 0]);
        assert_eq!(nonce(u32::MAX, true), [0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255, 1]);
    }

    #[test]
    fn how_long_a_blob_was_is_known_of_how_long_it_is() {
        let full = length_of(PLAIN);
        for plain in [0, 1, 2, full - 1, full, full + 1, 2 * full, 2 * full + 1, 1 << 40] {
            assert_eq!(plain_length(sealed_length(plain)), Some(plain));
        }
        let (segment, tag) = (length_of(SEGMENT), length_of(OVERHEAD));
        for stored in [0, 1, tag - 1, segment + 1, segment + tag] {
            assert_eq!(plain_length(stored), None, "{stored}");
        }
        // One byte is the least that a second segment has.
        assert_eq!(plain_length(segment + tag + 1), Some(full + 1));
    }
}
