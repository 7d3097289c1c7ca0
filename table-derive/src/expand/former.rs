//! `impl PreviousVersion`, and what an entity is made of that is read from a row of a previous version.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

use super::{fields, schema};
use crate::model::Entity;

/// A previous version is read, and nothing else.
pub(crate) fn implementation(model: &Entity<'_>) -> TokenStream {
    let (krate, ident) = (&model.krate, model.ident);
    let (schema, taken) = (schema::schema(model), fields::taken(krate, &model.fields));
    let (former, link) = (from_previous(model), link(model));
    quote! {
        #link

        #[automatically_derived]
        impl #krate::PreviousVersion for #ident {
            const SCHEMA: &'static #krate::schema::Schema = #schema;

            fn from_source(source: &mut #krate::Source<'_>) -> #krate::Result<Self> {
                ::core::result::Result::Ok(Self { #taken })
            }

            #former
        }
    }
}

/// Returns an `impl` that does not claim that the fields' types are properties.
pub(crate) fn stub(model: &Entity<'_>) -> TokenStream {
    let (krate, ident) = (&model.krate, model.ident);
    quote! {
        #[automatically_derived]
        impl #krate::PreviousVersion for #ident {
            const SCHEMA: &'static #krate::schema::Schema = #krate::NOTHING;

            fn from_source(source: &mut #krate::Source<'_>) -> #krate::Result<Self> {
                source.nothing()
            }
        }
    }
}

/// Returns what a row of the version that it is made from becomes.
pub(crate) fn from_previous(model: &Entity<'_>) -> Option<TokenStream> {
    let (krate, from) = (&model.krate, model.from.as_ref()?);
    let converted = quote_spanned!(from.span()=> #krate::converted::<Self, _>);
    Some(quote! {
        fn previous(
            view: &#krate::RowView<'_>,
            kind: &::core::primitive::str,
        ) -> #krate::Result<::core::option::Option<Self>> {
            #converted(view, kind)
        }
    })
}

/// Returns the version that it is made from. Everything else asks the entity for it, so that a struct that is no previous
/// version is reported here and nowhere else.
pub(crate) fn link(model: &Entity<'_>) -> Option<TokenStream> {
    let (krate, ident, from) = (&model.krate, model.ident, model.from.as_ref()?);
    Some(quote! {
        #[automatically_derived]
        impl #krate::FromPreviousVersion<#from> for #ident {
            type From = #from;
        }
    })
}
