//! Copies of other entities' fields.

use proc_macro2::Span;
use syn::ext::IdentExt;
use syn::spanned::Spanned as _;
use syn::{Ident, Path};

use super::{Field, Spanned};
use crate::attr::{CopyOfWords, Slot};
use crate::ctxt::Ctxt;
use crate::suggest;

/// `#[copy_of(Employee, key(department, id))]`, on a field.
pub(crate) struct CopyOf {
    /// The source.
    pub(crate) of: Path,
    /// The names in `key(..)`.
    pub(crate) key: Vec<Ident>,
    /// `atomic` or `eventual`.
    pub(crate) arrival: Option<Arrival>,
}

/// When a copy of a source that lies elsewhere comes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arrival {
    Atomic,
    Eventual,
}

/// A [`CopyOf`] whose fields were found.
pub(crate) struct HeldCopy<'m> {
    pub(crate) of: &'m Path,
    /// The place of the field.
    pub(crate) field: usize,
    /// The fields that the source's key is made of, by their places.
    pub(crate) key: Vec<Spanned<usize>>,
    pub(crate) arrival: Option<Arrival>,
}

impl CopyOf {
    /// What the words say; `None` if they don't say of what.
    // C30: a copy is one of an entity, by a key.
    pub(crate) fn new(cx: &Ctxt, words: CopyOfWords) -> Option<Self> {
        if words.of.is_some() && words.key.is_missing() {
            cx.error(
                words.word.span(),
                "a copy says by which fields its source is found, in the order of the source's key: `key(..)`",
            );
        }
        if let (Some(_), Some(eventual)) = (words.atomic.word(), words.eventual.word()) {
            cx.error(
                eventual.span(),
                "`atomic` and `eventual` exclude each other: the copy changes with its source, or follows it",
            );
        }
        let is_given = |slot: &Slot<()>, arrival| slot.get().map(|()| arrival);
        let arrival = is_given(&words.atomic, Arrival::Atomic);
        let arrival = arrival.or_else(|| is_given(&words.eventual, Arrival::Eventual));
        Some(Self { of: words.of?, key: words.key.into_value().unwrap_or_default(), arrival })
    }

    /// Returns where the source is named.
    pub(crate) fn span(&self) -> Span {
        self.of.span()
    }
}

/// Returns the copies among the fields. A rule refuses a name that is none.
pub(crate) fn held<'m>(fields: &'m [Field<'_>]) -> impl Iterator<Item = HeldCopy<'m>> {
    fields.iter().enumerate().filter_map(move |(field, of)| {
        let copy = of.copy.as_ref()?;
        let place = |name: &Ident| {
            let value = position(fields, name)?;
            Some(Spanned { value, span: name.span() })
        };
        let key = copy.key.iter().filter_map(place).collect();
        Some(HeldCopy { of: &copy.of, field, key, arrival: copy.arrival })
    })
}

/// Returns the place of the field of this name.
pub(crate) fn position(fields: &[Field<'_>], name: &Ident) -> Option<usize> {
    let name = name.unraw().to_string();
    fields.iter().position(|field| field.name == name)
}

/// Returns what is said of a name that no field has.
pub(crate) fn unknown(fields: &[Field<'_>], entity: &Ident, name: &Ident) -> String {
    let text = name.unraw().to_string();
    let hint = suggest::hint(&text, fields.iter().map(|field| field.name.as_str()));
    format!("`{entity}` has no field `{text}`{hint}")
}
