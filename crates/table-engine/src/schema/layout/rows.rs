//! The rows that entities of a layout make: what each bears as its `EntityType`, and whether it is signed.

use table_words::Format;

use super::super::part_key;
use super::super::signing::Signing;
use super::Layout;
use super::index::{LayoutIndex, LayoutRows, Summed};
use super::key::{LayoutKey, Printed};
use super::property::LayoutProperty;

impl Layout {
    /// Returns the text of `EntityType` on the rows of an index: those of a summary are entities of its kind.
    #[doc(hidden)]
    pub fn index_kind(&self, index: &LayoutIndex) -> String {
        match index.rows {
            LayoutRows::Sums(_) => index.name.clone(),
            _ => format!("{}.{}", self.entity_type(), index.name),
        }
    }

    /// Returns the number of the parts of an entity, without its head: as many as its properties lie in.
    #[doc(hidden)]
    pub fn parts(&self) -> usize {
        self.properties.iter().map(|property| property.part).max().unwrap_or(0)
    }

    /// Returns the text of `EntityType` on the rows of a part; parts are counted from 1.
    #[doc(hidden)]
    pub fn part_kind(&self, part: usize) -> String {
        format!("{}.{}", self.entity_type(), part_key("", part).trim_start_matches('_'))
    }

    /// Returns the part whose rows bear this text.
    pub(crate) fn part_of_kind(&self, kind: &str) -> Option<usize> {
        (1..=self.parts()).find(|part| self.part_kind(*part) == kind)
    }

    /// Returns whether it has properties that are sealed.
    #[doc(hidden)]
    pub fn seals(&self) -> bool {
        self.properties.iter().any(|property| property.sealed.is_some())
    }

    /// Returns whether its own rows, or those of an index, are signed, as [`Schema::signing`](super::super::Schema::signing) does of a
    /// declaration.
    fn signing(&self, index: Option<&LayoutIndex>) -> Signing {
        if self.is_signed() {
            return Signing::Always;
        }
        let Some(index) = index else { return Signing::No };
        let held = self.properties.iter().filter(|property| self.holds(index, property));
        let duals: Vec<_> = held.filter_map(|property| Some(property.sealed?.dual)).collect();
        match &duals[..] {
            [] => Signing::No,
            // A copy that holds the value plain was written before the value was sealed.
            duals if duals.iter().all(|dual| *dual) => Signing::Written,
            _ => Signing::Always,
        }
    }

    /// Returns whether a row of the index without a keyed digest is refused.
    #[doc(hidden)]
    pub fn always_signs(&self, index: &LayoutIndex) -> bool {
        self.signing(Some(index)) == Signing::Always
    }

    /// Returns whether any of its rows are signed.
    #[doc(hidden)]
    pub fn signs_some(&self) -> bool {
        self.is_signed() || self.indexes().any(|index| self.signing(Some(index)).signs())
    }

    /// Returns whether every row of the index has the property, as [`holds`](super::super::holds) says of a declaration.
    pub(super) fn holds(&self, index: &LayoutIndex, property: &LayoutProperty) -> bool {
        let is_it = |name: &str| self.named(name).is_some_and(|named| named.name == property.name);
        let is_listed = match &index.rows {
            LayoutRows::All => true,
            LayoutRows::Some(properties) => properties.iter().any(|name| is_it(name)),
            LayoutRows::Keys | LayoutRows::Sums(_) | LayoutRows::Ids(_) => false,
        };
        let in_own = |key: &LayoutKey| key.printed().any(|printed| is_it(&printed.property));
        // A list's elements and folded text are whole for a query by them.
        let is_whole = |printed: &Printed| !printed.each && printed.format() != Some(Format::Lower);
        let in_copy =
            |key: &LayoutKey| key.printed().any(|printed| is_it(&printed.property) && is_whole(printed));
        is_listed
            || in_own(self.partition())
            || in_own(self.row())
            || index.elsewhere.as_ref().is_some_and(|elsewhere| in_copy(&elsewhere.partition))
            || in_copy(&index.row)
    }

    /// Returns whether a change of the property may write rows of the index, or have one come or go.
    #[doc(hidden)]
    pub fn depends_on(&self, index: &LayoutIndex, property: &LayoutProperty) -> bool {
        let prints = |key: &LayoutKey| key.printed().any(|printed| printed.property == property.name);
        let counts = match &index.rows {
            // What a function of the user's picks may depend on any property.
            LayoutRows::Sums(sums) => sums.iter().any(|sum| match &sum.of {
                Summed::Count => false,
                Summed::CountWhen => true,
                Summed::Property(of) => *of == property.name,
            }),
            _ => false,
        };
        index.sparse
            || counts
            || self.keys_of(Some(index)).into_iter().any(prints)
            || !index.is_shared() && self.holds(index, property)
    }
}
