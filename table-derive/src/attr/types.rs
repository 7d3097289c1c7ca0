//! `types` and `types(..)`: the generated types that lie beside the struct.

use proc_macro2::{Group, Ident};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Error, Result, Token, token};

use super::value;

/// One type in `types(..)`, or one index with all that it has.
pub(crate) struct TypeWord {
    /// `patch`, or the name of an index.
    pub(crate) word: Ident,
    /// `patch = Change`: the name that it gets.
    pub(crate) name: Option<Ident>,
}

/// Returns the words in the parentheses; none if `types` stands alone, which means every type.
pub(super) fn types(word: &Ident, input: ParseStream<'_>) -> Result<Vec<TypeWord>> {
    if !input.peek(token::Paren) {
        value::flag(word, input)
            .map_err(|error| Error::new(error.span(), "write `types`, or `types(..)` with some of them"))?;
        return Ok(Vec::new());
    }
    // Parsed apart from the input: what an error leaves unread in the parentheses would be an error of its own.
    let group: Group = input.parse()?;
    let words = |input: ParseStream<'_>| Punctuated::<_, Token![,]>::parse_terminated_with(input, one);
    let words: Vec<_> = words.parse2(group.stream())?.into_iter().collect();
    if words.is_empty() {
        return Err(Error::new(group.span(), "no type is named here: `types` alone means all of them"));
    }
    Ok(words)
}

/// `patch`, or `patch = Change`.
fn one(input: ParseStream<'_>) -> Result<TypeWord> {
    let word: Ident = input.call(Ident::parse_any)?;
    let name = if input.peek(Token![=]) { Some(value::name(&word, input)?) } else { None };
    Ok(TypeWord { word, name })
}
