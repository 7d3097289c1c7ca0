//! Keyed digests of rows: what the digest of a row is made of, in whatever store it lies.

use super::mac::MacKey;
use super::plain::{self, PlainBytes};
use crate::model::{EntityKeys, ValueRef};
use crate::row::{DIGEST, SMALL};

/// The label of a row's digest.
const ROW: &str = "row";
/// The label of a large value's digest.
const VALUE: &str = "value";

/// The bytes that rows of a table are bound to, besides their keys.
#[derive(Clone, Copy, Debug)]
pub struct Binding {
    pub store: [u8; 16],
    pub table: [u8; 16],
}

/// Returns the digest of a row of these keys with these properties, in whatever order they come.
pub fn of_row<'p>(
    authenticator: &MacKey,
    binding: &Binding,
    keys: EntityKeys<'_>,
    properties: impl Iterator<Item = (&'p str, ValueRef<'p>)>,
) -> [u8; DIGEST] {
    let EntityKeys { partition, row } = keys;
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
pub fn same(a: &[u8; DIGEST], b: &[u8; DIGEST]) -> bool {
    use subtle::ConstantTimeEq as _;
    a.ct_eq(b).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crypt::SecretKey;

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
        let digest = of_row(
            &authenticator,
            &binding,
            EntityKeys::new("Bonn", "account_000001"),
            properties.into_iter(),
        );
        let hex = digest.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"));
        assert_eq!(hex, "bc6bfe25157bf621303ce585b47d257a");
        // The order of the row's properties does not matter.
        let turned = properties.into_iter().rev();
        assert_eq!(
            of_row(&authenticator, &binding, EntityKeys::new("Bonn", "account_000001"), turned),
            digest
        );
    }
}
