//! Keyed digests, which authenticate bytes that lie in the clear.

use std::fmt;

use subtle::ConstantTimeEq;

use super::key::{Derivation, SecretKey};

/// A key for digests. Without it no digest can be made, nor matched to what it is of.
///
/// The digest of some parts is the first bytes of HKDF-Expand (RFC 5869, SHA-256) of the key and
///
/// ```text
/// `table-derive digest1` | length of the label: 8 | label | number of parts: 8 | each: length: 8, bytes
/// ```
///
/// so no two labels, and no two ways to cut bytes into parts, share a digest.
#[doc(hidden)]
pub struct MacKey(Derivation);

/// Bytes before the label.
const START: &[u8; 20] = b"table-derive digest1";

impl MacKey {
    pub fn new(key: &SecretKey) -> Self {
        Self(key.derivation())
    }

    /// Returns the digest of these parts for the purpose that the label names: of 16 bytes, or 32.
    pub fn digest<const N: usize>(&self, label: &str, parts: &[&[u8]]) -> [u8; N] {
        const { assert!(N >= 16 && N <= 32, "shorter ones can be guessed") };
        let framed = |length: usize| u64::try_from(length).unwrap_or(u64::MAX).to_le_bytes();
        let head = [framed(label.len()), framed(parts.len())];
        let lengths: Vec<_> = parts.iter().map(|part| framed(part.len())).collect();
        let mut info: Vec<&[u8]> = Vec::with_capacity(4 + 2 * parts.len());
        let [of_label, of_parts] = &head;
        info.extend([&START[..], of_label, label.as_bytes(), of_parts]);
        for (length, part) in lengths.iter().zip(parts) {
            info.extend([&length[..], part]);
        }
        self.0.expand(&info)
    }

    /// Returns whether this is the digest of these parts. The time it takes does not show how much of it is right.
    pub fn fits<const N: usize>(&self, label: &str, parts: &[&[u8]], digest: &[u8; N]) -> bool {
        self.digest::<N>(label, parts).ct_eq(digest).into()
    }
}

impl fmt::Debug for MacKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MacKey(..)")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn key(first: u8) -> MacKey {
        let bytes: Vec<u8> = (first..first + 32).collect();
        MacKey::new(&SecretKey::from_slice(&bytes).unwrap())
    }

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
    }

    /// Made by another program, from `docs/internals/format.md`.
    #[test]
    fn digests_are_frozen() {
        let digest = key(0).digest::<32>("row", &[b"Sales", b"", b"1"]);
        assert_eq!(hex(&digest), "e47b2f60c1d4f01323f6b5726dbe16f50eaaa2a18e5582d35730bca0f8bdea7f");
        assert_eq!(key(0).digest::<16>("row", &[b"Sales", b"", b"1"]), digest[..16]);
        assert_eq!(hex(&key(0).digest::<16>("", &[])), "7f02456a3d0d99572fb7c18a22a8eaa0");
    }

    #[test]
    fn every_label_and_every_cut_has_a_digest_of_its_own() {
        let cuts: [(&str, &[&[u8]]); 9] = [
            ("row", &[b"ab"]),
            ("row", &[b"a", b"b"]),
            ("row", &[b"ab", b""]),
            ("row", &[b"", b"ab"]),
            ("row", &[]),
            ("row", &[b""]),
            ("ro", &[b"wab"]),
            ("rowa", &[b"b"]),
            ("", &[b"row", b"ab"]),
        ];
        let digests: BTreeSet<[u8; 16]> =
            cuts.iter().map(|(label, parts)| key(0).digest(label, parts)).collect();
        assert_eq!(digests.len(), cuts.len());
        assert_ne!(key(0).digest::<16>("row", &[b"ab"]), key(1).digest("row", &[b"ab"]));
    }

    #[test]
    fn a_digest_fits_its_parts_alone() {
        let digest: [u8; 16] = key(0).digest("row", &[b"a", b"b"]);
        assert!(key(0).fits("row", &[b"a", b"b"], &digest));
        assert!(!key(0).fits("row", &[b"a", b"c"], &digest) && !key(1).fits("row", &[b"a", b"b"], &digest));
        for bit in 0..128 {
            let mut flipped = digest;
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(!key(0).fits("row", &[b"a", b"b"], &flipped), "bit {bit}");
        }
        assert_eq!(format!("{:?}", key(0)), "MacKey(..)");
    }
}
