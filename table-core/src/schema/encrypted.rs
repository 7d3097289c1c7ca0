//! How encrypted fields are declared: whose key seals them, and whether they can be looked up.

/// Whose values share a data key, as a field declares it: `#[encrypt(scope = partition)]`.
///
/// A scope is what can be destroyed as one: with [`Partition`](Self::Partition), each partition's values can be made
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

/// Within what equal values have equal tokens: `#[encrypt(blind, tokens = table)]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TokenScope {
    /// Within a partition: who sees the tokens can't tell that two partitions hold one value.
    #[default]
    Partition,
    /// Within a table: who sees the tokens can tell that two partitions hold one value.
    Table,
}

/// That a sealed field can be looked up for equality: `#[encrypt(blind)]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Blind {
    /// The property that holds the token, beside the sealed value.
    pub property: &'static str,
    /// Within what equal values have equal tokens.
    pub tokens: TokenScope,
}

/// What is appended to the name of a property for the name of the property with its tokens.
pub(crate) const TOKEN: &str = "Token";

/// The bytes of a token: one that tells the versions of the key apart, and 16 of the hash.
pub(crate) const TOKEN_BYTES: usize = 17;

/// A token as a key prints it: [`BLIND_DIGITS`](super::key_type::BLIND_DIGITS) hex digits.
pub(crate) fn token_text(token: &[u8; TOKEN_BYTES]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |nibble: u8| DIGITS.get(usize::from(nibble)).copied().map_or('0', char::from);
    token.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 0xf)]).collect()
}
