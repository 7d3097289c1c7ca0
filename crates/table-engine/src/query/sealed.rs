//! Comparisons with properties that are stored sealed.

use std::fmt;
use std::sync::Arc;

use crate::error::{Error, ErrorKind};
use crate::model::names::Name;
use crate::model::{Value, ValueRef};
use crate::plaintext::Plaintext;
use crate::schema::TOKEN_BYTES;

/// The condition that a sealed property equals a value.
///
/// Neither its text nor the fingerprint in a continuation token says the value.
#[doc(hidden)]
#[derive(Clone, PartialEq, Eq)]
pub struct SealedEq {
    pub(super) property: Name,
    value: Arc<Plaintext>,
    tokens: Tokens,
    /// Whether rows may hold the property plain, and have no token then.
    may_be_plain: bool,
    /// Whether the value is the default that the entity reads where a row lacks the property.
    of_absent: bool,
    /// The generation of the keys when the tokens were made.
    generation: u64,
}

/// What is known of the value's tokens.
#[doc(hidden)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tokens {
    /// Nothing yet: only a typed query can find out.
    Unknown,
    /// They differ from row to row: each row is opened.
    Any,
    /// The value's tokens, newest first, in the property of this name.
    These(&'static str, Arc<[[u8; TOKEN_BYTES]]>),
}

impl SealedEq {
    pub(crate) fn new(property: &str, value: Value) -> Self {
        Self {
            property: property.into(),
            value: Arc::new(Plaintext::new(value)),
            tokens: Tokens::Unknown,
            may_be_plain: false,
            of_absent: false,
            generation: 0,
        }
    }

    /// Returns the condition with the tokens to look for.
    pub(crate) fn with_tokens(self, tokens: Tokens) -> Self {
        Self { tokens, ..self }
    }

    /// Returns the condition at this generation of the keys.
    pub(crate) fn at_generation(self, generation: u64) -> Self {
        Self { generation, ..self }
    }

    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Returns the condition on a property that rows may hold plain, or not.
    pub(crate) fn or_plain(self, may_be_plain: bool) -> Self {
        Self { may_be_plain, ..self }
    }

    pub fn may_be_plain(&self) -> bool {
        self.may_be_plain
    }

    /// Says what the entity reads where a row lacks the property.
    pub(super) fn fill(&mut self, default: ValueRef<'_>) {
        self.of_absent = self.is(default);
    }

    /// Returns whether a row that lacks the property satisfies it.
    pub fn holds_of_absent(&self) -> bool {
        self.of_absent
    }

    pub fn property(&self) -> &str {
        &self.property
    }

    pub(crate) fn value(&self) -> ValueRef<'_> {
        self.value.expose().as_value_ref()
    }

    pub fn tokens(&self) -> &Tokens {
        &self.tokens
    }

    /// Bytes that tell this comparison from others on the same property: the oldest token, which a rotation leaves in its
    /// place. Without tokens, anything would help to guess the value.
    pub(super) fn mark(&self) -> &[u8] {
        match &self.tokens {
            Tokens::These(_, tokens) => tokens.last().map_or(&[][..], |token| token),
            Tokens::Unknown | Tokens::Any => &[],
        }
    }

    /// Returns the error of a query that does not know its entity.
    #[cold]
    pub fn stranger(&self) -> Error {
        Error::new(ErrorKind::InvalidFilter).because(format!(
            "the encrypted property `{}` is compared by queries of its own entity alone",
            self.property
        ))
    }

    /// Returns whether an opened or a plain value is the one compared with.
    pub fn is(&self, value: ValueRef<'_>) -> bool {
        are_equal(value, self.value())
    }
}

/// Returns whether two values are one, as tokens see it: a field may have grown from Int32 to Int64.
pub(crate) fn are_equal(a: ValueRef<'_>, b: ValueRef<'_>) -> bool {
    match (a.as_i64(), b.as_i64()) {
        (Some(a), Some(b)) => a == b,
        _ => a == b,
    }
}

impl fmt::Debug for SealedEq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SealedEq({self})")
    }
}

/// No filter's text: it must not be taken for one.
impl fmt::Display for SealedEq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} eq <encrypted>", self.property)
    }
}
