//! Who asks, once that is known.

use table_core::access::Access;
use table_core::access::sas::Verified;

/// The sender of a request.
#[derive(Clone, Debug)]
pub enum Caller {
    /// Who has a key of the account, and may do everything.
    Owner,
    /// Who has a token of the account.
    Account(Verified),
    /// Who has a token of a table.
    Table(Verified),
}

impl Caller {
    /// Returns whether it is one who has a key of the account.
    #[must_use]
    pub fn is_owner(&self) -> bool {
        matches!(self, Self::Owner)
    }

    /// Returns what it may do with entities; `None` if it may do everything.
    #[must_use]
    pub fn access(&self) -> Option<&Access> {
        match self {
            Self::Owner => None,
            Self::Account(verified) | Self::Table(verified) => Some(verified.access()),
        }
    }

    /// Returns whether it may do anything with resources of this type.
    #[must_use]
    pub fn is_for_resources(&self, resource: char) -> bool {
        // A token that permits something permits one of these.
        "rwdlacup".chars().any(|letter| self.permits_of_account(letter.encode_utf8(&mut [0; 4]), resource))
    }

    /// Returns whether it may do all that these letters of an account's token stand for, with resources of this type: `s` for the
    /// service, `c` for tables as a whole, `o` for entities. A token of a table permits none of it.
    #[must_use]
    pub fn permits_of_account(&self, letters: &str, resource: char) -> bool {
        match self {
            Self::Owner => true,
            Self::Account(verified) => {
                letters.chars().all(|letter| verified.permits_of_account(letter, resource))
            }
            Self::Table(_) => false,
        }
    }
}
