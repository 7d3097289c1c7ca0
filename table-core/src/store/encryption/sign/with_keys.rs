//! With the keys of the store.

use crate::crypt::mac::MacKey;
use crate::crypt::plain::{self, Plain};
use crate::error::{Error, ErrorKind, Result};
use crate::model::ValueRef;
use crate::store::missing_provider;
use crate::store::row::dict::Dict;
use crate::store::row::view::RowView;
use crate::store::row::{DIGEST, SMALL};

/// What a row's digest is of.
const ROW: &str = "row";
/// What the digest of a large value is of.
const VALUE: &str = "value";

/// What rows of a table are bound to, besides their keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Binding {
    pub(crate) store: [u8; 16],
    pub(crate) table: [u8; 16],
}

/// The digest of a row of these keys with these properties. The dictionary is its table's.
pub(crate) fn digest<'p>(
    dict: &Dict,
    keys: (&str, &str),
    properties: impl Iterator<Item = (&'p str, ValueRef<'p>)>,
) -> Result<[u8; DIGEST]> {
    let authority = dict.keys().ok_or_else(missing_provider)?.authority()?;
    Ok(of_row(authority, dict.binding(), keys, properties))
}

fn of_row<'p>(
    authority: &MacKey,
    binding: &Binding,
    (partition, row): (&str, &str),
    properties: impl Iterator<Item = (&'p str, ValueRef<'p>)>,
) -> [u8; DIGEST] {
    let mut properties: Vec<_> = properties
        .map(|(name, value)| {
            let (plain, tag) = (Plain::of(value), plain::tag(value.edm_type()));
            // So that a large value need not be read again where its digest is known.
            let large = (plain.as_slice().len() > SMALL)
                .then(|| authority.digest::<32>(VALUE, &[name.as_bytes(), plain.as_slice()]));
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
    authority.digest(ROW, &parts)
}

/// Compares the digest of a row that carries one.
#[cold]
pub(crate) fn verify(view: &RowView<'_>) -> Result<()> {
    let (partition, row) = view.keys();
    let check = || {
        let properties = view.properties().collect::<Result<Vec<_>>>()?;
        let expected = digest(view.dict(), (&partition, &row), properties.into_iter())?;
        let is_genuine = view.row().digest().is_some_and(|digest| same(&digest, &expected));
        if is_genuine { Ok(()) } else { Err(not_genuine()) }
    };
    check().map_err(|error: Error| error.partition(&partition).row(&row))
}

/// How much of it is right does not show in the time it takes.
fn same(a: &[u8; DIGEST], b: &[u8; DIGEST]) -> bool {
    use subtle::ConstantTimeEq as _;
    a.ct_eq(b).into()
}

fn not_genuine() -> Error {
    Error::new(ErrorKind::NotGenuine).because(
        "the row's keyed digest does not fit: somebody without the store's keys changed the row, its name, or its place",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crypt::SecretKey;

    /// Made by another program, from `docs/format.md`.
    #[test]
    fn a_rows_digest_is_frozen() {
        let key: Vec<u8> = (0..32).collect();
        let authority = MacKey::new(&SecretKey::from_slice(&key).unwrap());
        let table: Vec<u8> = (16..32).collect();
        let binding = Binding { store: *b"0123456789abcdef", table: table.try_into().unwrap() };
        let text = "x".repeat(300);
        let properties = [
            ("EntityType", ValueRef::String("account")),
            ("Note", ValueRef::String(&text)),
            ("Open", ValueRef::Boolean(true)),
            ("Balance", ValueRef::Int64(-7)),
        ];
        let digest = of_row(&authority, &binding, ("Bonn", "account_000001"), properties.into_iter());
        let hex = digest.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"));
        assert_eq!(hex, "bc6bfe25157bf621303ce585b47d257a");
        // In whatever order the row has them.
        let turned = properties.into_iter().rev();
        assert_eq!(of_row(&authority, &binding, ("Bonn", "account_000001"), turned), digest);
    }
}
