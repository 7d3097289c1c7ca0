//! Indexes: what lies under other keys than an entity's own.

use super::{List, Place, Summary};

/// A copy of an entity under another key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Index {
    /// The index's name: `by_email`.
    pub name: &'static str,
    /// The text of `EntityType` on its rows: `employee.by_email`.
    pub kind: &'static str,
    /// Where its rows lie.
    pub place: Place,
    /// Whether a second entity with the same key is refused.
    pub unique: bool,
    /// What a row of it holds.
    pub copies: Copies,
    /// Whether a function of the entity says if it has a row at all.
    pub sparse: bool,
    /// The version of that function.
    pub when_version: u32,
    /// When its rows come, if they lie in another partition than the entity or in another table. In the entity's
    /// partition they come with the entity.
    pub arrival: Option<Arrival>,
    /// What its rows hold if they are no copies, but those of a summary.
    pub summary: Option<Summary>,
    /// What they hold if they are lists of entities.
    pub list: Option<List>,
}

/// When the rows of an index come that lie elsewhere than their entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Arrival {
    /// With the entity's change, in one transaction.
    Atomic,
    /// Later: the entity's change leaves a note that its copies are to follow.
    Eventual,
}

impl Index {
    /// Makes an index of whole copies: its name, the kind of its rows, and where they lie.
    #[must_use]
    pub const fn new(name: &'static str, kind: &'static str, place: Place) -> Self {
        Self {
            name,
            kind,
            place,
            unique: false,
            copies: Copies::All,
            sparse: false,
            when_version: 1,
            arrival: None,
            summary: None,
            list: None,
        }
    }

    /// Returns the index as one that refuses a second entity with the same key.
    #[must_use]
    pub const fn unique(mut self) -> Self {
        self.unique = true;
        self
    }

    /// Returns the index as one whose rows hold this.
    #[must_use]
    pub const fn copies(mut self, copies: Copies) -> Self {
        self.copies = copies;
        self
    }

    /// Returns the index as one in which a function of the entity says if it has a row.
    #[must_use]
    pub const fn sparse(mut self) -> Self {
        self.sparse = true;
        self
    }

    /// Returns the index as one whose function is of this version.
    #[must_use]
    pub const fn when_version(mut self, version: u32) -> Self {
        self.when_version = version;
        self
    }

    /// Returns the index as one that lies elsewhere than its entities: its rows come in the transaction of their change.
    #[must_use]
    pub const fn atomic(mut self) -> Self {
        self.arrival = Some(Arrival::Atomic);
        self
    }

    /// Returns the index as the rows of a summary, to which the entities add.
    #[must_use]
    pub const fn summary(mut self, summary: Summary) -> Self {
        self.copies = Copies::Keys;
        self.summary = Some(summary);
        self
    }

    /// Rows that list the entities.
    #[must_use]
    pub const fn list(mut self, list: List) -> Self {
        self.copies = Copies::Keys;
        self.list = Some(list);
        self
    }

    /// Returns the index as one that lies elsewhere than its entities: its rows follow their change.
    #[must_use]
    pub const fn eventual(mut self) -> Self {
        self.arrival = Some(Arrival::Eventual);
        self
    }

    /// Returns whether its rows follow the change of their entities.
    #[doc(hidden)]
    pub const fn is_eventual(&self) -> bool {
        matches!(self.arrival, Some(Arrival::Eventual))
    }

    /// Returns whether its rows lie in another partition than their entities, or in another table.
    #[doc(hidden)]
    pub const fn is_elsewhere(&self) -> bool {
        self.arrival.is_some()
    }
}

/// What a row of an index holds besides its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Copies {
    /// Every property.
    All,
    /// What leads back to the entity.
    Keys,
    /// That, and these fields.
    Some(&'static [usize]),
}

impl Copies {
    /// Returns the places of the fields that a row holds, of an entity that has so many.
    #[doc(hidden)]
    pub fn fields(self, of: usize) -> impl Iterator<Item = usize> {
        let (every, some): (_, &[usize]) = match self {
            Self::All => (0..of, &[]),
            Self::Keys => (0..0, &[]),
            Self::Some(fields) => (0..0, fields),
        };
        every.chain(some.iter().copied())
    }
}
