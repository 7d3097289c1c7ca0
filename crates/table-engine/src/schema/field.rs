//! A field as it was declared.

use super::{Absent, Blind, ColumnType, KeyScope, Reads, Slot, TokenScope};
use crate::model::{EdmType, Value};

/// A field of an entity.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a word of the declaration, or of the field's type"
)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Field {
    /// Its name in the struct.
    pub name: &'static str,
    /// The property's name in the store.
    pub property: &'static str,
    /// The type of the property.
    pub edm: EdmType,
    /// Whether it may be absent.
    pub optional: bool,
    /// Whether the store holds it sealed: `#[encrypt]`. Its rows have Edm.Binary then, whatever `edm` says of what
    /// is sealed.
    pub encrypted: bool,
    /// Whether rows may still hold it plain, as they did before it was sealed: `#[encrypt(dual)]`. It is written sealed.
    pub dual: bool,
    /// The scope whose key seals it.
    pub scope: KeyScope,
    /// Whether it can be looked up by a token.
    pub blind: Option<Blind>,
    /// Whether every value of it is read as it was written: none is floored, or kept as other text.
    pub exact: bool,
    /// Whether its type hides it from `Debug`.
    pub secret: bool,
    /// Whether its type refers to blobs.
    #[doc(hidden)]
    pub blob: bool,
    /// How rows hold it, as long as it is plain.
    #[doc(hidden)]
    pub column: ColumnType,
    /// What values of the property its type reads.
    #[doc(hidden)]
    pub reads: Reads,
    /// Whether something stands for it where a row lacks it, and not merely nothing.
    #[doc(hidden)]
    pub defaults: bool,
    /// What stands for it where a row lacks it.
    #[doc(hidden)]
    pub absent: Option<Absent>,
    /// What its property was called: rows may still have it under this name. It is written under the other.
    pub was: Option<&'static str>,
    /// Whether it is none of the properties that rows have, under whatever name: `#[property(new)]`.
    pub new: bool,
    /// The slot of a series that it is, if it is one.
    pub series: Option<Slot>,
    /// Which of a wide entity's own rows holds it: 0 is the head.
    pub part: usize,
}

impl Field {
    /// A field that is stored as it is, for declarations to complete.
    pub const PLAIN: Self = Self {
        name: "",
        property: "",
        edm: EdmType::String,
        optional: false,
        encrypted: false,
        dual: false,
        scope: KeyScope::Store,
        blind: None,
        exact: false,
        secret: false,
        blob: false,
        column: ColumnType::Text,
        reads: Reads::Other,
        defaults: false,
        absent: None,
        was: None,
        new: false,
        series: None,
        part: 0,
    };

    /// Returns the field with a name in the struct and one in the store.
    #[must_use]
    pub const fn named(mut self, name: &'static str, property: &'static str) -> Self {
        self.name = name;
        self.property = property;
        self
    }

    /// Returns the field as one held by this one of a wide entity's own rows.
    #[must_use]
    pub const fn in_part(mut self, part: usize) -> Self {
        self.part = part;
        self
    }

    /// Returns the field as one that may be absent.
    #[must_use]
    pub const fn or_default(mut self) -> Self {
        self.optional = true;
        self.defaults = true;
        self
    }

    /// Returns the field as one that is kept as JSON.
    #[must_use]
    pub const fn json(mut self) -> Self {
        self.reads = Reads::Json;
        self
    }

    /// Returns the field as one that rows may still have under this name.
    #[must_use]
    pub const fn was(mut self, property: &'static str) -> Self {
        self.was = Some(property);
        self
    }

    /// Returns the field as one that no row has had under another name.
    #[must_use]
    pub const fn is_new(mut self) -> Self {
        self.new = true;
        self
    }

    /// Returns the field as one that may be absent; this value stands for it then.
    #[must_use]
    pub const fn or(mut self, value: fn() -> Option<Value>) -> Self {
        self.optional = true;
        self.defaults = true;
        self.absent = Some(Absent::new(value));
        self
    }

    /// Returns the field as one sealed under the store's key.
    #[must_use]
    pub const fn sealed(mut self) -> Self {
        self.encrypted = true;
        self
    }

    /// Returns the field as one sealed under the keys of this scope.
    #[must_use]
    pub const fn scoped(mut self, scope: KeyScope) -> Self {
        self.scope = scope;
        self
    }

    /// Returns the field as one that rows may still hold plain.
    #[must_use]
    pub const fn dual(mut self) -> Self {
        self.dual = true;
        self
    }

    /// Returns the field as one that can be looked up by a token in this property.
    #[must_use]
    pub const fn blind(mut self, property: &'static str, tokens: TokenScope) -> Self {
        self.blind = Some(Blind { property, tokens });
        self
    }

    /// Returns whether all of these fields are read as they were written.
    pub(crate) const fn are_exact(mut fields: &[Self]) -> bool {
        while let [field, rest @ ..] = fields {
            if !field.exact {
                return false;
            }
            fields = rest;
        }
        true
    }
}
