//! Versions of a kind: what its rows call themselves, and what a row of another version is to readers of the kind.
//!
//! The rows of version 1 bear the kind's own name; those of a later one have its number behind an `@`. A kind is a word, so
//! neither can be taken for another kind's.

use super::layout::same_keys;
use super::{Layout, Schema};

/// What stands between a kind and the version of a row.
const AT: char = '@';

/// What a row is to who reads a kind in one version.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub enum Kinship {
    /// It is of that kind and version.
    Mine,
    /// It is of a previous version, of which the declaration knows how it becomes what it is now.
    PreviousVersion(&'static Schema),
    /// It is of this version, which the declaration knows nothing of.
    Other(u32),
    /// It is of another kind.
    Foreign,
}

/// Returns the kind and the version of a row's own text, and the rest of it: the name of an index, for a copy.
fn parts(text: &str) -> (&str, u32, &str) {
    let end = text.find('.').unwrap_or(text.len());
    let (own, rest) = text.split_at_checked(end).unwrap_or((text, ""));
    let version = |number: &str| {
        let is_number = number.bytes().all(|digit| digit.is_ascii_digit()) && !number.starts_with('0');
        number.parse().ok().filter(|version| is_number && *version > 1)
    };
    match own.split_once(AT).and_then(|(kind, number)| Some((kind, version(number)?))) {
        Some((kind, version)) => (kind, version, rest),
        None => (own, 1, rest),
    }
}

/// What rows of one kind call themselves in their `EntityType`, whatever their version: a superset, which a service can be asked
/// for.
#[doc(hidden)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowKinds {
    /// The text of the first version.
    pub first: String,
    /// What the texts of later versions begin with, and those of other copies of theirs.
    pub later: String,
}

impl RowKinds {
    /// Returns those of the kind whose rows of one version bear this text.
    pub(crate) fn of_every_version(text: &str) -> Self {
        let (kind, _, rest) = parts(text);
        Self { first: format!("{kind}{rest}"), later: format!("{kind}{AT}") }
    }

    /// Returns what the rows of the first version call themselves.
    pub fn first(&self) -> &str {
        &self.first
    }

    /// Returns with what the texts of the rows of later versions begin.
    pub fn later(&self) -> &str {
        &self.later
    }

    /// Returns whether a row that calls itself so is among them.
    pub fn hold(&self, text: &str) -> bool {
        text == self.first || text.starts_with(&self.later)
    }
}

/// Returns the kind of a row, whatever its version: the text of its `EntityType` without that.
pub(crate) fn kind_of(text: &str) -> &str {
    let (kind, version, rest) = parts(text);
    if version == 1 || !rest.is_empty() { text } else { kind }
}

/// Returns the version of a row, if it and this one are of one kind, or copies in one index, and differ in their versions alone.
#[doc(hidden)]
pub fn other_version(mine: &str, found: &str) -> Option<u32> {
    let ((kind, version, rest), (other, found, of)) = (parts(mine), parts(found));
    (kind == other && rest == of && version != found).then_some(found)
}

/// Returns the text on the rows of a kind in a version.
pub(crate) fn entity_type(kind: &str, version: u32) -> String {
    if version < 2 { kind.to_owned() } else { format!("{kind}{AT}{version}") }
}

impl Schema {
    /// Returns the previous versions that the declaration knows, from the last one on.
    pub(crate) fn previous_versions(&self) -> impl Iterator<Item = &'static Self> + use<> {
        std::iter::successors(self.previous, |previous| previous.previous)
    }

    /// Returns the declaration of this previous version, if this one knows it.
    pub(crate) fn previous_of(&self, version: u32) -> Option<&'static Self> {
        self.previous_versions().find(|known| known.version == version)
    }

    /// Returns what a row with this text is.
    pub(crate) fn kinship(&self, text: &str) -> Kinship {
        if text == self.entity_type {
            return Kinship::Mine;
        }
        let Some(version) = other_version(self.entity_type, text) else { return Kinship::Foreign };
        match self.previous_versions().find(|previous| previous.version == version) {
            Some(previous) => Kinship::PreviousVersion(previous),
            None => Kinship::Other(version),
        }
    }

    /// Returns whether the text is that of a copy of a previous version of the entity.
    pub(crate) fn is_previous_copy(&self, text: &str) -> bool {
        let (kind, version, rest) = parts(text);
        kind == self.kind && version < self.version && !rest.is_empty()
    }

    /// Returns whether an entity has the key that it had in every version from this one on, as far as the templates tell.
    pub(crate) fn keeps_keys_since(&self, version: u32) -> bool {
        let layout = Layout::of(self);
        self.previous_versions()
            .take_while(|previous| previous.version >= version)
            .all(|previous| same_keys(&Layout::of(previous), &layout))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_say_kind_and_version() {
        for (kind, version) in [("employee", 1), ("employee", 2), ("employee", 17), ("a-b_c", u32::MAX)] {
            let text = entity_type(kind, version);
            assert_eq!(parts(&text), (kind, version, ""));
            assert_eq!(kind_of(&text), kind);
            let copy = format!("{text}.by_email");
            assert_eq!(parts(&copy), (kind, version, ".by_email"));
            assert_eq!(kind_of(&copy), copy);
        }
        // What is none of ours is a kind as it is.
        for text in ["employee@1", "employee@0", "employee@02", "employee@x", "employee@", "@", "", "é@2x"] {
            assert_eq!(parts(text), (text, 1, ""));
            assert_eq!(kind_of(text), text);
        }
    }

    #[test]
    fn rows_of_every_version_are_asked_for() {
        let texts = ["employee", "employee@2", "employee@17"];
        for own in texts {
            let kinds = RowKinds::of_every_version(own);
            assert!(texts.iter().all(|text| kinds.hold(text)), "{kinds:?}");
            assert!(!["employees", "employee.by_email", "guest", ""].iter().any(|text| kinds.hold(text)));
            let copies = RowKinds::of_every_version(&format!("{own}.by_email"));
            assert!(texts.iter().all(|text| copies.hold(&format!("{text}.by_email"))), "{copies:?}");
            assert!(!["employee", "employee.by_name", "guest"].iter().any(|text| copies.hold(text)));
        }
    }

    #[test]
    fn versions_of_one_kind_are_told_from_other_kinds() {
        assert_eq!(other_version("employee@2", "employee"), Some(1));
        assert_eq!(other_version("employee", "employee@3"), Some(3));
        assert_eq!(other_version("employee.by_email", "employee@3.by_email"), Some(3));
        for (mine, found) in [
            ("employee", "employee"),
            ("employee@2", "employee@2"),
            ("employee", "employees@2"),
            ("employee", "employee@2.by_email"),
            ("employee.by_email", "employee@2"),
            ("employee.by_email", "employee@2.by_name"),
        ] {
            assert_eq!(other_version(mine, found), None, "{mine} {found}");
        }
    }
}
