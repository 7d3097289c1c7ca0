//! The property of a layout: what rows hold of a field.

use std::fmt;

use super::super::encrypted::TOKEN;
use super::super::{Field, KeyScope, TokenScope};
use crate::model::EdmType;

/// The words before the type of a sealed property.
pub(super) const ENCRYPTED: &str = "encrypted ";
pub(super) const DUAL: &str = "encrypted(dual) ";
pub(super) const BY_TABLE: &str = "by table ";
pub(super) const BY_PARTITION: &str = "by partition ";
pub(super) const BLIND: &str = "blind ";
/// The word before the name that a property had.
pub(super) const WAS: &str = " was ";
/// The word before the number of the part of a wide entity that holds a property.
pub(super) const PART: &str = " part ";

/// A property as rows have it.
#[doc(hidden)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayoutProperty {
    #[doc(hidden)]
    pub name: String,
    /// The type of its values, sealed or not.
    pub(crate) edm: EdmType,
    /// Whether rows may lack it.
    pub(crate) optional: bool,
    /// How it is sealed, if it is.
    pub(crate) sealed: Option<Sealed>,
    /// The part of a wide entity that holds it.
    pub(crate) part: usize,
    /// The name that rows may still have it under.
    #[doc(hidden)]
    pub was: Option<String>,
}

/// How a property is sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sealed {
    /// Whether rows may still hold it plain.
    pub(crate) dual: bool,
    pub(crate) scope: KeyScope,
    /// The values among which equal ones have equal tokens, if it has tokens.
    pub(crate) tokens: Option<TokenScope>,
}

impl Sealed {
    /// Returns how a field is sealed, if it is.
    pub(crate) fn of(field: &Field) -> Option<Self> {
        let tokens = field.blind.map(|blind| blind.tokens);
        field.encrypted.then_some(Self { dual: field.dual, scope: field.scope, tokens })
    }
}

impl LayoutProperty {
    /// Returns the scope whose key seals it.
    #[doc(hidden)]
    pub fn scope(&self) -> KeyScope {
        self.sealed.map_or(KeyScope::Store, |sealed| sealed.scope)
    }

    /// Returns the values among which equal ones have equal tokens, if it has tokens.
    #[doc(hidden)]
    pub fn tokens(&self) -> Option<TokenScope> {
        self.sealed?.tokens
    }

    /// Returns the type of what an entity's own row, the head of a wide one, holds of it: bytes if it is sealed. `None` if another
    /// row holds it, or either bytes or a value.
    #[doc(hidden)]
    pub fn type_in_own_row(&self) -> Option<EdmType> {
        match self.sealed {
            _ if self.part > 0 => None,
            Some(sealed) => (!sealed.dual).then_some(EdmType::Binary),
            None => Some(self.edm),
        }
    }

    /// Returns the name of the property that holds its tokens, if it has any.
    #[doc(hidden)]
    pub fn token(&self) -> Option<String> {
        self.tokens().map(|_| format!("{}{TOKEN}", self.name))
    }

    /// Returns whether a property of this name holds its tokens.
    #[doc(hidden)]
    pub fn is_token(&self, name: &str) -> bool {
        self.tokens().is_some() && name.strip_prefix(&*self.name) == Some(TOKEN)
    }
}

impl fmt::Display for LayoutProperty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.name)?;
        if let Some(sealed) = self.sealed {
            sealed.fmt(f)?;
        }
        held(f, self.edm, self.optional, self.part)?;
        self.was.iter().try_for_each(|was| write!(f, "{WAS}{was}"))
    }
}

/// Writes the type of a property, whether rows may lack it, and which part of a wide entity holds it, if one does.
pub(super) fn held(f: &mut fmt::Formatter<'_>, edm: EdmType, optional: bool, part: usize) -> fmt::Result {
    write!(f, "{edm:?}{}", if optional { "?" } else { "" })?;
    if part > 0 { write!(f, "{PART}{part}") } else { Ok(()) }
}

impl fmt::Display for Sealed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.dual { DUAL } else { ENCRYPTED })?;
        f.write_str(match self.scope {
            KeyScope::Store => "",
            KeyScope::Table => BY_TABLE,
            KeyScope::Partition => BY_PARTITION,
        })?;
        f.write_str(match self.tokens {
            None => "",
            Some(TokenScope::Partition) => BLIND,
            Some(TokenScope::Table) => return write!(f, "{BLIND}{BY_TABLE}"),
        })
    }
}
