//! Whether a struct's fields are read as they were written.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

use crate::model::{Field, Krate, Storage};

/// The constant that says so; left at its default where a field says no by the way it is kept.
pub(crate) fn exact(krate: &Krate, fields: &[Field<'_>]) -> TokenStream {
    let each: Option<Vec<_>> = fields
        .iter()
        .map(|field| {
            let ty = field.ty;
            match field.storage {
                Storage::Value => {
                    Some(quote_spanned!(ty.span()=> <#ty as #krate::__private::Property>::EXACT))
                }
                Storage::Flattened => {
                    Some(quote_spanned!(ty.span()=> <#ty as #krate::__private::Properties>::EXACT))
                }
                // What else there is was made from text, or is not kept.
                _ => None,
            }
        })
        .collect();
    match each.as_deref() {
        None => TokenStream::new(),
        Some([]) => quote!(
            const EXACT: ::core::primitive::bool = true;
        ),
        Some(each) => quote!(const EXACT: ::core::primitive::bool = #(#each)&&*;),
    }
}
