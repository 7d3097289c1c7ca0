//! What the compiler says of a part that is given before its turn: which part comes before it.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

use super::super::names::Names;
use crate::model::Krate;

/// Types that stand for parts in messages of the compiler. They are called as the parts are, in a module of their own, where they
/// hide nothing of the user's: the compiler shows them without a path as long as nothing else in the program has the name.
#[derive(Default)]
pub(super) struct Order {
    parts: Vec<Ident>,
}

impl Order {
    /// Returns what a step must be for the part after this one to come next. Before the first part nothing is to be named.
    pub(super) fn after(
        &mut self,
        krate: &Krate,
        names: &Names<'_>,
        before: Option<&Ident>,
        step: &TokenStream,
    ) -> TokenStream {
        let Some(part) = before else { return quote!(#krate::Comes<#step>) };
        let before = self.named(names, part);
        quote!(#krate::ComesAfter<#step, #before>)
    }

    /// Returns a type that is called as something of the user's.
    pub(super) fn named(&mut self, names: &Names<'_>, name: &Ident) -> TokenStream {
        let mut ident = name.clone();
        ident.set_span(Span::call_site());
        if !self.parts.contains(&ident) {
            self.parts.push(ident.clone());
        }
        let parts = names.parts();
        quote!(#parts::#ident)
    }

    /// Returns the types.
    pub(super) fn into_items(self, names: &Names<'_>) -> TokenStream {
        if self.parts.is_empty() {
            return TokenStream::new();
        }
        let (module, parts) = (names.parts(), self.parts);
        quote! {
            mod #module {
                #(pub enum #parts {})*
            }
        }
    }
}
