//! Whether a struct's fields are read as they were written.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

use crate::model::{Field, Krate, Storage};

/// The constant that says so, where its default would be wrong. The default is told from the declared fields, which
/// know nothing of those that are skipped, here or in a flattened struct.
pub(crate) fn exact(krate: &Krate, fields: &[Field<'_>]) -> TokenStream {
    if fields.iter().any(|field| field.storage == Storage::Skipped) {
        return quote!(
            const EXACT: ::core::primitive::bool = false;
        );
    }
    if fields.iter().all(|field| field.storage != Storage::Flattened) {
        return TokenStream::new();
    }
    let spread = fields.iter().filter(|field| field.is_spread());
    let each: Vec<_> = spread
        .map(|field| {
            let ty = field.ty;
            if field.storage == Storage::Series {
                return quote_spanned!(ty.span()=> <#ty as #krate::SeriesOf>::EXACT);
            }
            quote_spanned!(ty.span()=> <#ty as #krate::Properties>::EXACT)
        })
        .collect();
    let own = fields.iter().filter(|field| field.storage == Storage::Value).map(|field| {
        let ty = field.ty;
        quote_spanned!(ty.span()=> <#ty as #krate::Property>::EXACT)
    });
    let plain = fields.iter().all(|field| field.storage != Storage::Json);
    quote!(const EXACT: ::core::primitive::bool = #plain #(&& #each)* #(&& #own)*;)
}
