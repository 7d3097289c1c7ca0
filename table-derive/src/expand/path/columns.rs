//! What filters can speak of.

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::super::fields::{self, is_compared};
use super::super::key::argument_type;
use super::super::series;
use crate::model::{Entity, Field, Index, Storage};

/// Returns the fields that rows hold or their keys give back, as far as filters can speak of them.
fn compared<'m>(
    model: &'m Entity<'_>,
    holds: impl Fn(usize) -> bool,
) -> impl Iterator<Item = (usize, &'m Field<'m>)> {
    let fields = model.fields.iter().enumerate();
    fields.filter(move |(at, field)| is_compared(field) && holds(*at))
}

/// Returns the struct of the columns.
pub(super) fn columns(
    model: &Entity<'_>,
    index: Option<&Index>,
    name: &Ident,
    holds: impl Fn(usize) -> bool,
) -> TokenStream {
    let (krate, vis) = (&model.krate, model.vis);
    let declared = compared(model, holds).map(|(_, field)| {
        if field.storage == Storage::Series {
            let (vis, ident) = (field.vis, field.ident);
            let (doc, column) = (field.documented(&series::doc(field)), series::column(krate, field));
            return quote!(#[doc = #doc] #vis #ident: #column);
        }
        let (vis, ident, ty) = (field.vis, field.ident, argument_type(krate, field, false));
        if field.storage == Storage::Flattened {
            let doc = field.documented(&format!("The fields of `{}`.", field.name));
            return quote!(#[doc = #doc] #vis #ident: #krate::FlatColumns<#ty>);
        }
        if let Some((column, _)) = fields::reference_column(krate, field) {
            let doc = field.documented(&format!("The reference `{}`.", field.name));
            return quote!(#[doc = #doc] #vis #ident: #column);
        }
        let doc = field.documented(&format!("Property `{}`.", field.property.value));
        let column = fields::column(krate, field, &ty);
        quote!(#[doc = #doc] #vis #ident: #column)
    });
    let of =
        index.map_or_else(|| format!("`{}`", model.ident), |index| format!("the index `{}`", index.name));
    let doc = format!("What filters of {of} can speak of: what its rows hold, and what their keys say.");
    quote! {
        #[doc = #doc]
        #[non_exhaustive]
        #vis struct #name {
            #(#declared),*
        }
    }
}

/// Its value.
pub(super) fn made(model: &Entity<'_>, name: &Ident, holds: impl Fn(usize) -> bool) -> TokenStream {
    let krate = &model.krate;
    let made = compared(model, holds).map(|(at, field)| {
        let (ident, property) = (field.ident, &field.property.value);
        if field.storage == Storage::Flattened {
            return quote!(#ident: #krate::FlatColumns::NEW);
        }
        if field.storage == Storage::Series {
            let slots = series::slots(at);
            return quote!(#ident: #krate::SeriesColumn::new(#slots));
        }
        if let Some((_, column)) = fields::reference_column(krate, field) {
            return quote!(#ident: #column);
        }
        quote!(#ident: #krate::Column::new(#property))
    });
    quote!(#name { #(#made),* })
}
