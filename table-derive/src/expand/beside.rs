//! The generated types that lie beside the struct, where a user can name them and `cargo doc` shows them.

use proc_macro2::TokenStream;
use quote::quote;

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
    pub(crate) fn place(&mut self, word: &str, definition: TokenStream) -> TokenStream {
        if !self.takes(word) {
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
                reason = "as in the block below"
            )]
            #item
        });
    }

    /// Whether the user asked for the type by this word.
    pub(crate) fn takes(&self, word: &str) -> bool {
        self.types.asked(word).is_some()
    }

    /// What it took.
    pub(crate) fn into_items(self) -> TokenStream {
        self.items
    }
}
