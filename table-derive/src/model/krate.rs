//! How generated code names `table-core`.

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::Path;

/// The name that a block gives to the module.
const NAME: &str = "__table";

/// The module that generated code calls.
///
/// Each block imports it under one name, and the code in the block uses the name. A path from the crate's root at each
/// place would be half of the tokens, and the compiler looks up each.
pub(crate) struct Krate(Option<Path>);

impl Krate {
    /// Returns the path of the crate: `::table_core`, or what `crate = path` says.
    pub(crate) fn new(path: Option<Path>) -> Self {
        Self(path)
    }

    /// Returns the item that gives the name.
    pub(crate) fn import(&self) -> TokenStream {
        let path = self.path();
        quote!(use #path as #self;)
    }

    /// Returns the items as they can lie outside of the block: the module by its path, in the place of its name.
    pub(crate) fn outside(&self, items: TokenStream) -> TokenStream {
        let spelled = |token: TokenTree| match token {
            TokenTree::Ident(ident) if ident == NAME => self.path(),
            TokenTree::Group(group) => {
                let mut spelled = Group::new(group.delimiter(), self.outside(group.stream()));
                spelled.set_span(group.span());
                spelled.to_token_stream()
            }
            token => token.into_token_stream(),
        };
        items.into_iter().flat_map(spelled).collect()
    }

    fn path(&self) -> TokenStream {
        let crate_path = self.0.as_ref().map_or_else(|| quote!(::table_core), ToTokens::to_token_stream);
        quote!(#crate_path::__private)
    }

    /// Returns the name, seeming to stand at this place: an assertion whose every token has the user's span is reported there;
    /// one token of the derive's own would move the message to the derive.
    #[expect(clippy::unused_self, reason = "the name is of a block that has the import")]
    pub(crate) fn at(&self, span: Span) -> Ident {
        Ident::new(NAME, span)
    }
}

impl ToTokens for Krate {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        format_ident!("{NAME}").to_tokens(tokens);
    }
}
