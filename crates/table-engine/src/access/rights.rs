//! What an access lets be done, as a set.

use std::fmt;

/// What may be done: some of reading, adding, updating and deleting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rights(u8);

impl Rights {
    pub(crate) const NONE: Self = Self(0);
    pub(crate) const READ: Self = Self(1);
    pub(crate) const ADD: Self = Self(2);
    pub(crate) const UPDATE: Self = Self(4);
    pub(crate) const DELETE: Self = Self(8);
    pub(crate) const ALL: Self = Self(15);

    /// Each with its name and its letter in a token, in the order of those.
    pub(crate) const NAMED: [(Self, &'static str, char); 4] = [
        (Self::READ, "read", 'r'),
        (Self::ADD, "add", 'a'),
        (Self::UPDATE, "update", 'u'),
        (Self::DELETE, "delete", 'd'),
    ];

    #[must_use]
    pub(crate) const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns those of these that the other set lacks.
    #[must_use]
    pub(crate) const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub(crate) const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    pub(crate) const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl fmt::Display for Rights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for (right, name, _) in Self::NAMED {
            if self.has(right) {
                write!(f, "{separator}{name}")?;
                separator = ", ";
            }
        }
        if self.is_empty() { f.write_str("nothing") } else { Ok(()) }
    }
}
