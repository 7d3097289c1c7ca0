//! The generated types that lie beside the struct, where a user can name them and `cargo doc` shows them.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};

use super::respanned;
use crate::model::{Krate, Types};

/// Takes the definitions that the user wants beside the struct. What is implemented for them stays in the block.
pub(crate) struct Beside<'m> {
    types: &'m Types,
    krate: &'m Krate,
    items: TokenStream,
}

impl<'m> Beside<'m> {
    pub(crate) fn new(types: &'m Types, krate: &'m Krate) -> Self {
        Self { types, krate, items: TokenStream::new() }
    }

    /// Takes the definition if the user asked for its type by this word; gives it back, for the block, if not.
    pub(crate) fn place(&mut self, word: &str, name: &impl ToTokens, definition: TokenStream) -> TokenStream {
        if !self.takes(word) {
            self.leave_out(name);
            return definition;
        }
        self.add(&definition);
        TokenStream::new()
    }

    /// Adds an item.
    pub(crate) fn add(&mut self, item: &TokenStream) {
        let item = self.krate.outside(item.clone());
        self.items.extend(quote! {
            #[allow(
                dead_code,
                missing_debug_implementations,
                unused_qualifications,
                clippy::arbitrary_source_item_ordering,
                rustdoc::broken_intra_doc_links,
                reason = "as in the block below; a field's documentation may link to what is known where it stands"
            )]
            #item
        });
    }

    /// Leaves a mark of a type that the user did not ask for: where it is named, the compiler says that there would be one,
    /// and points at the attribute.
    pub(crate) fn leave_out(&mut self, name: &impl ToTokens) {
        let Some(span) = self.types.place() else { return };
        let name = respanned(name, span);
        self.items.extend(quote_spanned!(span=> #[cfg(any())] struct #name;));
    }

    /// Returns whether the user asked for the type by this word.
    pub(crate) fn takes(&self, word: &str) -> bool {
        self.types.asked(word).is_some()
    }

    /// Returns what it took.
    pub(crate) fn into_items(self) -> TokenStream {
        self.items
    }
}
