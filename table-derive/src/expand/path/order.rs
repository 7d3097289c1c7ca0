//! What the compiler says of a part that is given before its turn: which parts come before it.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::Visibility;

use super::super::names::Names;
use crate::model::Krate;

/// Types that stand for parts in messages of the compiler, `department_of_Employee`. They have names of their own in the
/// crate, so that the compiler shows them without a path.
#[derive(Default)]
pub(super) struct Order {
    parts: Vec<Ident>,
}

impl Order {
    /// What a step must be for the part after these ones to come next. Before the first part nothing is to be named.
    pub(super) fn after(
        &mut self,
        (krate, names): (&Krate, &Names<'_>),
        before: &[&Ident],
        step: &TokenStream,
    ) -> TokenStream {
        let parts: Vec<_> = before.iter().map(|part| self.part(names, part)).collect();
        match parts.as_slice() {
            [] => quote!(#krate::Comes<#step>),
            [one] => quote!(#krate::ComesAfter<#step, #one>),
            several => quote!(#krate::ComesAfter<#step, (#(#several),*)>),
        }
    }

    /// The type that stands for the part.
    fn part(&mut self, names: &Names<'_>, part: &Ident) -> Ident {
        let part = part.to_string();
        let ident = names.part(part.trim_start_matches("r#"));
        if !self.parts.contains(&ident) {
            self.parts.push(ident.clone());
        }
        ident
    }

    /// The types.
    pub(super) fn into_items(self, vis: &Visibility) -> TokenStream {
        self.parts.iter().map(|part| quote!(#vis enum #part {})).collect()
    }
}
