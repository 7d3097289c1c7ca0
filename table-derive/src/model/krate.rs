//! The path of `table-core` in generated code.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::Path;

/// `::table_core`, or what `crate = path` says.
pub(crate) struct Krate(Option<Path>);

impl Krate {
    pub(crate) fn new(path: Option<Path>) -> Self {
        Self(path)
    }

    /// The path, seeming to stand at this place.
    ///
    /// An assertion whose every token has the user's span is reported there; one token of the derive's own would move
    /// the message to the derive. Of a path that the user gave only the location changes: it is looked up where it was
    /// written.
    pub(crate) fn at(&self, span: Span) -> TokenStream {
        if self.0.is_none() {
            return quote_spanned!(span=> ::table_core);
        }
        let tokens = self.to_token_stream().into_iter();
        tokens
            .map(|mut token| {
                token.set_span(token.span().located_at(span));
                token
            })
            .collect()
    }
}

impl ToTokens for Krate {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        match &self.0 {
            Some(path) => path.to_tokens(tokens),
            None => tokens.extend(quote!(::table_core)),
        }
    }
}
