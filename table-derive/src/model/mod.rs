//! What was declared, borrowed from the input, with spans on the user's smallest tokens.
//!
//! The expansion reads these types and nothing else. They are built even after an error, with placeholders, so that
//! the rules in [`check`](crate::check) find the other mistakes too; the expansion sees only what had none.

pub(crate) mod copied;
mod entity;
mod entity_set;
mod field;
mod index;
mod key_part;
mod krate;
mod list;
mod periods;
mod projection;
mod properties;
mod summary;
mod types;

use std::fmt::Display;

use proc_macro2::Span;
use syn::punctuated::Punctuated;
use syn::{Data, DeriveInput, Fields, Generics, Token};

pub(crate) use copied::{CopyOf, HeldCopy};
pub(crate) use entity::Entity;
pub(crate) use entity_set::EntitySet;
pub(crate) use field::{Encrypted, Field, Stands, Storage, in_option};
pub(crate) use index::{Copies, Index};
pub(crate) use key_part::{KeyPart, KeyPartShape, KeyVariant};
pub(crate) use krate::Krate;
pub(crate) use list::List;
pub(crate) use periods::Periods;
pub(crate) use projection::{ProjectedSlots, Projection, ProjectionField};
pub(crate) use properties::Properties;
pub(crate) use summary::{Counts, Number, Summary};
pub(crate) use types::Types;

use crate::ctxt::Ctxt;
pub(crate) use crate::template::{Template, arguments};

/// A value and where the user wrote it.
#[derive(Clone, Debug)]
pub(crate) struct Spanned<T> {
    pub(crate) value: T,
    pub(crate) span: Span,
}

/// The named fields of a struct.
// C29: a struct with named fields.
fn named_fields<'a>(
    cx: &Ctxt,
    input: &'a DeriveInput,
    what: impl Display,
) -> Option<&'a Punctuated<syn::Field, Token![,]>> {
    let found = match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(fields) => return Some(&fields.named),
            Fields::Unnamed(_) => "a tuple struct",
            Fields::Unit => "a unit struct",
        },
        Data::Enum(_) => "an enum",
        Data::Union(_) => "a union",
    };
    cx.error(input.ident.span(), format!("{what} is a struct with named fields; this is {found}"));
    None
}

/// Refuses parameters.
// C23: no generics and no lifetimes. What a layout is must be known when the struct compiles: an assertion about a
// generic type runs only where the type is used.
fn no_generics(cx: &Ctxt, generics: &Generics, what: impl Display) {
    if generics.lifetimes().next().is_some() {
        cx.error_on(&generics.params, format!("{what} can't borrow: what is read from a store is owned"));
    } else if !generics.params.is_empty() {
        cx.error_on(&generics.params, format!("{what} can't be generic: it has one layout"));
    } else if let Some(clause) = &generics.where_clause {
        cx.error_on(clause, format!("{what} can't be generic: it has one layout"));
    }
}
