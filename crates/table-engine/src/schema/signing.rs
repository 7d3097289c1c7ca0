//! The rows that carry a keyed digest.

use super::held::holds;
use super::{Index, Schema};

/// Whether rows of a path are signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signing {
    No,
    /// Rows are signed when they are written; some that are there may be older than that.
    Written,
    /// All are signed: a row that is not was written without the keys.
    Always,
}

impl Signing {
    /// Returns whether a row that is written is to be signed.
    pub(crate) const fn signs(self) -> bool {
        !matches!(self, Self::No)
    }
}

/// The marks that every row of a path bears.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowTag {
    /// The text of `EntityType`.
    pub kind: &'static str,
    /// Whether a row without a keyed digest is refused.
    pub is_signed: bool,
}

impl Schema {
    /// Returns whether its own rows, or those of an index, are signed: as it says, or since a copy holds a sealed value. The
    /// value is bound to the entity's key and not to the copy's, so the digest binds the copy.
    pub(crate) const fn signing(&self, index: Option<usize>) -> Signing {
        if self.signed {
            return Signing::Always;
        }
        if index.is_none() {
            return Signing::No;
        }
        let (mut signing, mut at) = (Signing::No, 0);
        let mut fields = self.fields;
        while let [field, rest @ ..] = fields {
            if field.encrypted && holds(self, index, at) {
                if !field.dual {
                    return Signing::Always;
                }
                // A copy that holds the value plain was written before the value was sealed.
                signing = Signing::Written;
            }
            at += 1;
            fields = rest;
        }
        signing
    }

    /// Returns the marks that the rows of a path bear.
    #[doc(hidden)]
    pub const fn tag(&self, index: Option<usize>) -> RowTag {
        let is_signed = matches!(self.signing(index), Signing::Always);
        let kind = match index {
            Some(at) => nth(self.indexes, at, self.entity_type),
            None => self.entity_type,
        };
        RowTag { kind, is_signed }
    }

    /// Returns whether any of its rows are signed.
    #[doc(hidden)]
    pub fn signs_some(&self) -> bool {
        let indexes = (0..self.indexes.len()).map(Some);
        std::iter::once(None).chain(indexes).any(|index| self.signing(index).signs())
    }
}

const fn nth(mut indexes: &[Index], mut at: usize, otherwise: &'static str) -> &'static str {
    while let [index, rest @ ..] = indexes {
        if at == 0 {
            return index.kind;
        }
        at -= 1;
        indexes = rest;
    }
    otherwise
}
