//! How generated code names `table-core`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::Path;

/// The module that generated code calls, by the name that a block of it gives to it.
///
/// In the code it is that name: a path from the crate's root at each place would be half of the tokens, and the compiler
/// looks up each.
pub(crate) struct Krate(Option<Path>);

impl Krate {
    /// Of the crate at `::table_core`, or where `crate = path` says.
    pub(crate) fn new(path: Option<Path>) -> Self {
        Self(path)
    }

    /// The item that gives the name.
    pub(crate) fn import(&self) -> TokenStream {
        let crate_path = self.0.as_ref().map_or_else(|| quote!(::table_core), ToTokens::to_token_stream);
        quote!(use #crate_path::__private as #self;)
    }

    /// The name, seeming to stand at this place: an assertion whose every token has the user's span is reported there;
    /// one token of the derive's own would move the message to the derive.
    #[expect(clippy::unused_self, reason = "the name is of a block that has the import")]
    pub(crate) fn at(&self, span: Span) -> Ident {
        Ident::new("__table", span)
    }
}

impl ToTokens for Krate {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        format_ident!("__table").to_tokens(tokens);
    }
}
