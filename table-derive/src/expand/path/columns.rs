//! What filters can speak of.

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::super::fields;
use super::super::key::argument_type;
use crate::model::{Entity, Storage};

/// The fields that rows hold or their keys give back, as columns of filters.
pub(super) fn columns(model: &Entity<'_>, name: &Ident, holds: impl Fn(usize) -> bool) -> TokenStream {
    let (krate, vis) = (&model.krate, model.vis);
    let compared: Vec<_> = model
        .fields
        .iter()
        .enumerate()
        .filter(|(at, field)| matches!(field.storage, Storage::Value | Storage::Flattened) && holds(*at))
        .map(|(_, field)| field)
        .collect();
    let declared = compared.iter().map(|field| {
        let (vis, ident, ty) = (field.vis, field.ident, argument_type(krate, field, false));
        if field.storage == Storage::Flattened {
            let doc = format!("The fields of `{}`.", field.name);
            return quote!(#[doc = #doc] #vis #ident: #krate::__private::FlatColumns<#ty>);
        }
        let doc = format!("Property `{}`.", field.property.value);
        let column = fields::column(krate, field, &ty);
        quote!(#[doc = #doc] #vis #ident: #column)
    });
    let made = compared.iter().map(|field| {
        let (ident, property) = (field.ident, &field.property.value);
        if field.storage == Storage::Flattened {
            return quote!(#ident: #krate::__private::FlatColumns::NEW);
        }
        quote!(#ident: #krate::__private::Column::new(#property))
    });
    let doc = format!(
        "What filters of `{}` can speak of: what its rows hold, and what their keys say.",
        model.ident
    );
    quote! {
        #[doc = #doc]
        #[non_exhaustive]
        #[derive(Debug)]
        #[allow(dead_code, reason = "which columns are compared is the user's choice")]
        #vis struct #name {
            #(#declared),*
        }

        impl #name {
            const ALL: Self = Self { #(#made),* };
        }
    }
}
