//! How encrypted fields are declared: whose key seals them, and whether they can be looked up.

/// The values that share a data key, as a field declares it: `#[encrypt(scope = partition)]`.
///
/// The values of a scope can be destroyed as one. With [`Partition`](Self::Partition) each partition's values can be made
/// unreadable by themselves, at the price of a key for each partition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum KeyScope {
    /// One key for the whole store.
    #[default]
    Store,
    /// A key for each table.
    Table,
    /// A key for each partition of a table.
    Partition,
}

/// The values among which equal ones have equal tokens: `#[encrypt(blind, tokens = table)]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TokenScope {
    /// Those of a partition: the tokens don't show that two partitions hold one value.
    #[default]
    Partition,
    /// Those of a table: the tokens show that two partitions hold one value.
    Table,
}

/// That a sealed field can be looked up for equality: `#[encrypt(blind)]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Blind {
    /// The property that holds the token, beside the sealed value.
    pub property: &'static str,
    /// The values among which equal ones have equal tokens.
    pub tokens: TokenScope,
}

/// Ends the name of the property that holds the tokens, behind the name of the field's own.
pub(crate) const TOKEN: &str = "Token";

/// The bytes of a token: one that tells the versions of the key apart, and 16 of the hash.
#[doc(hidden)]
pub const TOKEN_BYTES: usize = 17;

/// Returns a token as a key prints it: [`BLIND_DIGITS`](super::BLIND_DIGITS) hex digits.
pub(crate) fn token_text(token: &[u8; TOKEN_BYTES]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |nibble: u8| DIGITS.get(usize::from(nibble)).copied().map_or('0', char::from);
    token.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 0xf)]).collect()
}
