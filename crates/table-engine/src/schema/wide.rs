//! Wide entities: the fields that one row can't hold lie in further rows, the entity's parts.
//!
//! The head has the entity's key. The key of a part is that of its head with the part's number behind it, `_01`. The head
//! says how many parts there are, so an entity that lacks one is never taken for a shorter one.

use super::{Field, Place, Schema};

impl Schema {
    /// Returns whether its entities have parts.
    #[doc(hidden)]
    pub const fn is_wide(&self) -> bool {
        !self.parts.is_empty()
    }

    /// Returns where the rows of a part lie; parts are counted from 1, and 0 is the head.
    pub(crate) fn place_of_part(&self, part: usize) -> &'static Place {
        self.places.get(part).unwrap_or_else(|| self.place())
    }

    /// Returns the text of `EntityType` on the rows of a part.
    #[doc(hidden)]
    pub fn kind_of_part(&self, part: usize) -> &'static str {
        part.checked_sub(1).and_then(|at| self.parts.get(at)).copied().unwrap_or(self.entity_type)
    }

    /// Returns the part whose rows bear this text.
    #[doc(hidden)]
    #[inline]
    pub fn part_of_kind(&self, kind: &str) -> Option<usize> {
        self.parts.iter().position(|part| *part == kind).map(|at| at + 1)
    }

    /// Returns which of its rows has the property of a field.
    #[inline]
    pub(crate) fn part_of(&self, property: &str) -> usize {
        self.fields.iter().find(|field| field.property == property).map_or(0, |field| field.part)
    }
}

/// Returns what stands behind the row key of an entity in that of its part.
pub(crate) fn part_suffix(part: usize) -> [u8; 3] {
    let digit = |number: usize| u8::try_from(number % 10).map_or(b'0', |digit| b'0' + digit);
    [b'_', digit(part / 10), digit(part)]
}

/// Returns the key of a part of the entity with this row key.
#[doc(hidden)]
pub fn part_key(head: &str, part: usize) -> String {
    let mut key = String::with_capacity(head.len() + 3);
    key.push_str(head);
    key.extend(part_suffix(part).map(char::from));
    key
}

/// Returns the row key of the head of which a part of this number has this key.
#[doc(hidden)]
pub fn head_key(key: &str, part: usize) -> Option<&str> {
    key.strip_suffix(part_key("", part).as_str())
}

/// Returns the fields of a flattened struct, of a reference or of a series, held by this one of a wide entity's rows.
#[must_use]
#[expect(clippy::indexing_slicing, reason = "a field that isn't there stops the compiler")]
pub const fn fields_in_part<const FIELDS: usize>(fields: &[Field], part: usize) -> [Field; FIELDS] {
    let mut held = [Field::PLAIN; FIELDS];
    let mut at = 0;
    while at < FIELDS {
        held[at] = fields[at].in_part(part);
        at += 1;
    }
    held
}
