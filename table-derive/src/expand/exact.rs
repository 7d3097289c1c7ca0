//! Whether a struct's fields are read as they were written.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

use super::fields::property_of;
use crate::model::{Field, Krate, Storage};

/// Returns the constant that says so, where its default would be wrong. The default follows from the declared fields, which
/// know nothing of those that are skipped, here or in a flattened struct.
pub(crate) fn exact(krate: &Krate, fields: &[Field<'_>]) -> TokenStream {
    if fields.iter().any(|field| field.storage == Storage::Skipped) {
        return quote!(
            const EXACT: ::core::primitive::bool = false;
        );
    }
    let is_other_derives = |field: &Field<'_>| field.is_behind() && field.storage != Storage::Series;
    if !fields.iter().any(is_other_derives) {
        return TokenStream::new();
    }
    let behind = fields.iter().filter(|field| field.is_behind());
    let each: Vec<_> = behind
        .map(|field| {
            let ty = field.ty;
            if field.storage == Storage::Series {
                return quote_spanned!(ty.span()=> <#ty as #krate::SeriesOf>::EXACT);
            }
            if field.storage == Storage::Grouped {
                let fields = quote_spanned!(ty.span()=> <#ty as #krate::Group>::FIELDS);
                return quote!(#krate::group_is_exact(#fields));
            }
            quote_spanned!(ty.span()=> <#ty as #krate::Properties>::EXACT)
        })
        .collect();
    let own = fields.iter().filter(|field| field.storage == Storage::Value).map(|field| {
        let (ty, property) = (field.ty, property_of(field));
        quote_spanned!(ty.span()=> <#ty as #krate::#property>::EXACT)
    });
    let plain = fields.iter().all(|field| field.storage != Storage::Json);
    quote!(const EXACT: ::core::primitive::bool = #plain #(&& #each)* #(&& #own)*;)
}
