//! Programs with an older declaration, which can't go on under a layout that another one has noted.

use super::super::Schema;
use super::Layout;
use super::differences::both;
use super::line::CopiedLine;
use super::same::is_one;

/// Why a program with an older declaration can't go on, though it has written by it.
#[doc(hidden)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outdated {
    /// It would write plain what is sealed by now.
    Bare,
    /// It would write, under its previous name, a property that has been renamed.
    Misnamed { is: String, was: String },
    /// It is of an earlier version than this one.
    PreviousVersion(u32),
    /// It would leave what this property holds of another entity as it was.
    Uncopied(String),
    /// It would leave what entities of this kind hold of it as it was.
    Untold(String),
    /// It would write this property, which is to go.
    Gone(String),
    /// It knows fewer parts than the entities have: so many.
    Narrow(usize),
}

/// Returns why a program with this declaration can't write under a layout that another one has noted, if it can't.
pub fn outdated(noted: &Layout, schema: &Schema) -> Option<Outdated> {
    if noted.version() > schema.version {
        return Some(Outdated::PreviousVersion(noted.version()));
    }
    if noted.parts() > schema.parts.len() {
        return Some(Outdated::Narrow(noted.parts()));
    }
    let declared = Layout::of(schema);
    if let Some(gone) = noted.removed().find(|gone| declared.property(gone).is_some()) {
        return Some(Outdated::Gone(gone.to_owned()));
    }
    if both(noted, &declared).any(|(old, new)| old.sealed.is_some() && new.sealed.is_none()) {
        return Some(Outdated::Bare);
    }
    if let Some(forgotten) = forgotten(noted, &declared) {
        return Some(forgotten);
    }
    let renamed =
        noted.properties.iter().filter_map(|property| Some((&property.name, property.was.as_ref()?)));
    let is_known =
        |is: &str, was: &String| declared.property(is).is_some_and(|is| is.was.as_ref() == Some(was));
    let (is, was) = renamed.filter(|(is, was)| !is_known(is, was)).min()?;
    Some(Outdated::Misnamed { is: is.clone(), was: was.clone() })
}

/// Returns what a declaration does not say of copies, and the one noted does.
pub(crate) fn forgotten(noted: &Layout, declared: &Layout) -> Option<Outdated> {
    let same_key = |was: &CopiedLine, is: &CopiedLine| {
        was.key.len() == is.key.len()
            && was.key.iter().zip(&is.key).all(|(was, is)| is_one(noted.named(was), declared.named(is)))
    };
    // A copy that follows is looked up with each change of its dependent, which a program that takes it for another would not do.
    let is_same = |was: &CopiedLine, is: &CopiedLine| {
        was.property == is.property && (is.is_eventual || !was.is_eventual) && same_key(was, is)
    };
    if let Some(copy) = noted.copied().find(|was| !declared.copied().any(|is| is_same(was, is))) {
        return Some(Outdated::Uncopied(copy.property.clone()));
    }
    let dependent = noted.dependents().find(|kind| declared.dependents().all(|known| known != *kind))?;
    Some(Outdated::Untold(dependent.to_owned()))
}
