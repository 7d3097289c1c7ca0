//! `impl Debug`, of types whose values say nothing that is worth a reader's time.

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use crate::model::Krate;

/// Shows the type's name alone.
pub(crate) fn named(krate: &Krate, name: &Ident) -> TokenStream {
    of(krate, name, &TokenStream::new(), &TokenStream::new())
}

/// Shows the name alone of a type with these parameters, as an impl declares them and as the type is given them.
pub(crate) fn of(krate: &Krate, name: &Ident, declared: &TokenStream, given: &TokenStream) -> TokenStream {
    let shown = name.to_string();
    quote! {
        impl #declared ::core::fmt::Debug for #name #given {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                #krate::named(f, #shown)
            }
        }
    }
}
