//! Properties that have another name in a declaration than in rows, and the declaration doesn't say so, or says it wrongly.
//!
//! A program reads such a property as absent, and writes it under its own name beside the other: no `was` brings the two
//! together after that. So the program is refused before it writes.

use super::super::{Field, Schema};
use super::Layout;
use super::differences::is_dispensable;
use super::property::LayoutProperty;

/// A name in `was` or `gone` that no row has, where rows have one like it that the declaration doesn't know.
pub(super) struct Misspelt<'l> {
    /// The word that says it.
    word: &'static str,
    said: &'static str,
    /// What rows have.
    is: &'l str,
}

/// Returns the names that the declaration says otherwise than rows have them.
pub(super) fn misspelt<'l>(noted: &'l Layout, schema: &Schema) -> Vec<Misspelt<'l>> {
    let like = |said: &str| {
        let mut unknown = noted.properties.iter().filter(|old| is_unknown(schema, &old.name));
        unknown.find(|old| is_like(&old.name, said)).map(|old| &*old.name)
    };
    let is_noted = |name: &str| noted.property(name).is_some();
    let of_field = |field: &Field| {
        // Who has written under the new name has found out what rows have.
        let said = field.was.filter(|said| !is_noted(said) && !is_noted(field.property))?;
        Some(Misspelt { word: "was", said, is: like(said)? })
    };
    let of_gone = |said: &&'static str| {
        let is = like(said).filter(|_| !is_noted(said))?;
        Some(Misspelt { word: "gone", said, is })
    };
    schema.fields.iter().filter_map(of_field).chain(schema.removed.iter().filter_map(of_gone)).collect()
}

impl Misspelt<'_> {
    /// Returns whether the field says it.
    pub(super) fn is_said_of(&self, field: &Field) -> bool {
        self.word == "was" && field.was == Some(self.said)
    }

    /// Returns whether rows have this property.
    pub(super) fn is_of(&self, old: &LayoutProperty) -> bool {
        old.name == self.is
    }

    /// Returns what would be right.
    pub(super) fn advice(&self) -> String {
        let Self { word, said, is } = self;
        match *word {
            "was" => {
                format!("no row has `{said}`: the property is called `{is}`, `#[property(was = \"{is}\")]`")
            }
            _ => format!(
                "no row has `{said}`: the property is called `{is}`, `#[entity(gone(\"{is}\"))]`, and as it is written now its \
                 values would stay"
            ),
        }
    }
}

/// Returns whether two names are the same but for case and `_`.
fn is_like(one: &str, other: &str) -> bool {
    let letters = |name: &str| name.replace('_', "").to_ascii_lowercase();
    one != other && letters(one) == letters(other)
}

/// Returns whether the declaration says nothing of a property that rows have under this name.
fn is_unknown(schema: &Schema, name: &str) -> bool {
    schema.fields.iter().all(|field| field.property != name && field.was != Some(name))
        && !schema.removed.contains(&name)
}

/// An optional property that rows have and the declaration doesn't know, with one that the declaration has and rows don't: it
/// may be the same one with another name.
pub(super) struct Unclear<'l> {
    went: &'l LayoutProperty,
    came: &'static Field,
}

/// Returns what may have another name, each with the first that it may be.
pub(super) fn unclear<'l>(noted: &'l Layout, schema: &Schema) -> Vec<Unclear<'l>> {
    let mut came: Vec<&Field> = schema.fields.iter().filter(|field| comes(noted, field)).collect();
    let went = noted.single_properties().filter(|old| {
        is_dispensable(old)
            && is_unknown(schema, &old.name)
            && noted.removed().all(|removed| removed != old.name)
    });
    went.filter_map(|went| {
        let may_be = |came: &&Field| {
            came.edm == went.edm && came.part == went.part && same_copy(noted, schema, went, came)
        };
        let at = came.iter().position(may_be)?;
        Some(Unclear { went, came: came.remove(at) })
    })
    .collect()
}

/// Returns whether no row has the field yet, and the declaration does not say what it is.
fn comes(noted: &Layout, field: &Field) -> bool {
    field.optional
        && !field.new
        && !field.encrypted
        && field.was.is_none()
        && field.series.is_none()
        && noted.property(field.property).is_none()
}

/// Returns the copy of another entity, of those with these names, that a property is of by its name.
fn copy_of<'n>(copies: impl Iterator<Item = &'n str>, property: &str) -> Option<&'n str> {
    copies.filter(|copy| property.starts_with(copy)).max_by_key(|copy| copy.len())
}

/// Returns the copies of other entities that a declaration says.
fn declared_copies(schema: &Schema) -> impl Iterator<Item = &'static str> {
    schema.copied.iter().map(|copy| copy.property)
}

/// Returns whether both are of one copy of another entity, or both are of none.
fn same_copy(noted: &Layout, schema: &Schema, went: &LayoutProperty, came: &Field) -> bool {
    let place = schema.fields.iter().position(|field| field.property == came.property);
    match place.and_then(|place| schema.copy_of(place)) {
        Some(copy) => copy_of(declared_copies(schema), &went.name) == Some(copy.property),
        None => copy_of(noted.copied().map(|copy| &*copy.property), &went.name).is_none(),
    }
}

impl Unclear<'_> {
    /// Returns the words that say what the property is.
    pub(super) fn advice(&self, schema: &Schema) -> String {
        let (went, came) = (&*self.went.name, self.came.property);
        let place = schema.fields.iter().position(|field| field.property == came);
        if let Some(copy) = place.and_then(|place| schema.copy_of(place))
            && let (Some(was), Some(field)) =
                (went.strip_prefix(copy.property), self.came.name.strip_prefix(copy.name))
        {
            return format!(
                "`{went}`, which rows hold of another entity, is not declared any more, and `{came}` is new: if it is the same, \
                 `#[property(was = \"{was}\")]` on the field `{}` of the projection that is copied reads rows under both names; \
                 if it is another, `#[property(new)]` says so",
                field.trim_start_matches('.')
            );
        }
        format!(
            "`{went}` is not declared any more, and `{came}`, which rows may lack as well, is new: if it is the same, \
             `#[property(was = \"{went}\")]` on the field `{}` reads rows under both names; if it is another, \
             `#[property(new)]` says so, and `{went}` is carried along",
            self.came.name
        )
    }
}

/// Returns the words by which a declaration that knows a property under its previous name alone knows both.
#[doc(hidden)]
pub fn both_names(schema: &Schema, is: &str, was: &str) -> String {
    let place = schema.fields.iter().position(|field| field.property == was);
    let copy = place.and_then(|place| schema.copy_of(place));
    match copy.and_then(|copy| Some((is.strip_prefix(copy.property)?, was.strip_prefix(copy.property)?))) {
        Some((is, was)) => {
            format!("`{is}` in the projection that is copied, and `#[property(was = \"{was}\")]` there")
        }
        None => format!("`#[property(rename = \"{is}\", was = \"{was}\")]`"),
    }
}

/// Returns whether a copy of another entity would be read as if there were none: no property of it has the name that rows hold it
/// under, though they hold one.
pub(super) fn empties_copies(noted: &Layout, schema: &Schema) -> bool {
    schema.copied.iter().any(|copy| {
        let is_held = noted.copied().any(|known| known.property == copy.property);
        let names = || schema.fields.iter().skip(copy.first).take(copy.count);
        let is_noted = |name: &str| noted.property(name).is_some();
        let is_known = |field: &Field| is_noted(field.property) || field.was.is_some_and(is_noted);
        let of_copy = |old: &LayoutProperty| {
            is_unknown(schema, &old.name)
                && copy_of(declared_copies(schema), &old.name) == Some(copy.property)
        };
        is_held && !names().any(|field| is_known(field) || field.new) && noted.properties.iter().any(of_copy)
    })
}
