//! What can be wrong with the account and its keys.

use std::fmt;

use table_core::Error;

use super::keys::KeyName;

/// Why the account's keys could not be read, made or exchanged. No key is shown.
#[derive(Debug)]
#[non_exhaustive]
pub enum AccountError {
    /// The store refused to read or write the record.
    Store(Error),
    /// The account's name is none.
    Name(String),
    /// A key that was given is no key.
    Key(KeyName),
    /// Both keys that were given are the same.
    SameKeys,
    /// The store's keys are those of another account, whose name this is.
    OtherAccount(String),
    /// A later version of the server has written the record.
    Later,
    /// The record can't be read.
    Malformed,
    /// The record was removed while the server ran.
    Removed,
    /// Another process has exchanged the same key at the same time.
    Exchanged(KeyName),
    /// Other processes have changed the record each time that it was to be replaced.
    Busy,
    /// The operating system gave no random bytes.
    Random(getrandom::Error),
}

impl fmt::Display for AccountError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Store(error) => write!(f, "the account's keys: {error}"),
            Self::Name(name) => write!(
                f,
                "`{}` is not the name of an account: 3 to 24 lower-case ASCII letters and digits",
                name.escape_debug()
            ),
            Self::Key(which) => {
                write!(f, "the {which} that was given for the account is no key: Base64 of 32 to 256 bytes")
            }
            Self::SameKeys => f.write_str("both keys that were given for the account are the same"),
            Self::OtherAccount(name) => {
                write!(f, "the store has the keys of the account `{name}`: start the server with that name")
            }
            Self::Later => {
                f.write_str("the account's keys were written by a later version of the server: use that")
            }
            Self::Malformed => f.write_str("the record of the account's keys can't be read"),
            Self::Removed => f.write_str("the record of the account's keys was removed while the server ran"),
            Self::Exchanged(which) => write!(
                f,
                "another process has exchanged the account's {which} at the same time: read what it is now"
            ),
            Self::Busy => f.write_str(
                "the account's keys were not exchanged, since other processes changed them each time: try again",
            ),
            Self::Random(error) => write!(f, "no random bytes for a key: {error}"),
        }
    }
}

impl std::error::Error for AccountError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Store(error) => Some(error),
            Self::Random(error) => Some(error),
            _ => None,
        }
    }
}

impl From<Error> for AccountError {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}
