//! A value in the clear: one that was sealed, or is to be compared with one that is.

use crate::model::Value;

/// Wiped when it is dropped, and shown by nothing.
#[cfg(feature = "encrypt")]
pub type Plaintext = crate::crypt::Secret<Value>;

/// As `Secret<Value>` is. Without the feature `encrypt` nothing comes here.
#[cfg(not(feature = "encrypt"))]
#[derive(Clone, PartialEq, Eq)]
pub struct Plaintext(Value);

#[cfg(not(feature = "encrypt"))]
impl Plaintext {
    pub(crate) const fn new(value: Value) -> Self {
        Self(value)
    }

    pub const fn expose(&self) -> &Value {
        &self.0
    }
}

#[cfg(not(feature = "encrypt"))]
impl std::fmt::Debug for Plaintext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Opened(..)")
    }
}
