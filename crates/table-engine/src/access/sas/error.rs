//! What can be wrong with a token.

use std::fmt;

use crate::error::{Error, ErrorKind};

/// What is wrong with a token, or with what is to become one. It names parameters, and shows no value of theirs.
///
/// The service answers each of them with status 403 and no reason: what is said here is for who runs the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SasError {
    /// The text of an account's key is no Base64, or empty.
    NotAKey,
    /// The query string is not made of parameters, or a value is not percent-encoded as it should be.
    NotAQuery,
    /// A parameter is there twice.
    Twice(&'static str),
    /// A parameter is missing: neither the token nor its policy has it.
    Missing(&'static str),
    /// A parameter's value is none that it may have.
    Malformed(&'static str),
    /// A parameter is there that a token of this sort may not have, or not without another.
    Unexpected(&'static str),
    /// The version is older than tokens of this sort.
    VersionTooOld,
    /// The end of the time is not behind its start.
    EndsBeforeItStarts,
    /// The token is for other services of the account than tables.
    NotForTables,
    /// The token is for other services of the account than queues.
    NotForQueues,
    /// No key of the account has made the signature.
    WrongSignature,
    /// The table or queue has no policy of the token's `si`.
    NoSuchPolicy,
    /// The token and its policy both have a parameter.
    InPolicyToo(&'static str),
}

impl fmt::Display for SasError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAKey => f.write_str("the account's key is not Base64 text"),
            Self::NotAQuery => f.write_str("the token is not the query string of a URL"),
            Self::Twice(name) => write!(f, "the parameter `{name}` is there twice"),
            Self::Missing(name) => write!(f, "the parameter `{name}` is missing"),
            Self::Malformed(name) => write!(f, "the parameter `{name}` has a value that it can't have"),
            Self::Unexpected(name) => write!(f, "the parameter `{name}` does not belong to such a token"),
            Self::VersionTooOld => f.write_str("the token's version is older than such tokens are"),
            Self::EndsBeforeItStarts => f.write_str("the token's time ends before it starts"),
            Self::NotForTables => f.write_str("the token is not for tables"),
            Self::NotForQueues => f.write_str("the token is not for queues"),
            Self::WrongSignature => f.write_str("the token's signature is not one of the account's keys"),
            Self::NoSuchPolicy => f.write_str("there is no such policy"),
            Self::InPolicyToo(name) => write!(f, "the policy has the parameter `{name}` too"),
        }
    }
}

impl std::error::Error for SasError {}

impl From<SasError> for Error {
    fn from(error: SasError) -> Self {
        Self::new(ErrorKind::NotPermitted)
            .with_code("AuthenticationFailed")
            .because(error.to_string())
            .attempted("use the token")
            .caused_by(error)
    }
}
