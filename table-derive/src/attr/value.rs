//! The values of words.

use proc_macro2::{Group, Ident};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Error, LitInt, LitStr, Path, Result, Token, token};

use super::{KeyScope, TokenScope};
use crate::case::{CASES, Case};
use crate::model::Spanned;
use crate::suggest;
use crate::symbol::{PARTITION, TABLE};

/// A word that stands alone: `unique`.
pub(super) fn flag(word: &Ident, input: ParseStream<'_>) -> Result<()> {
    if input.is_empty() || input.peek(Token![,]) {
        return Ok(());
    }
    Err(Error::new(word.span(), format!("`{word}` takes no value")))
}

/// `table = ".."`.
pub(super) fn text(word: &Ident, input: ParseStream<'_>) -> Result<LitStr> {
    equals(word, input, "\"..\"")?;
    // The span is taken first: a failed read may have moved on.
    let at = input.span();
    input.parse().map_err(|_| Error::new(at, format!("`{word}` is a text: `{word} = \"..\"`")))
}

/// `version = 2`.
pub(super) fn number(word: &Ident, input: ParseStream<'_>) -> Result<Spanned<u32>> {
    equals(word, input, "1")?;
    let wrong = |span| Error::new(span, format!("`{word}` is a number: `{word} = 1`"));
    let at = input.span();
    let literal: LitInt = input.parse().map_err(|_| wrong(at))?;
    let value = literal.base10_parse().map_err(|_| wrong(literal.span()))?;
    Ok(Spanned { value, span: literal.span() })
}

/// `crate = path`, `when = path`.
pub(super) fn path(word: &Ident, input: ParseStream<'_>) -> Result<Path> {
    equals(word, input, "path")?;
    let at = input.span();
    input
        .call(Path::parse_mod_style)
        .map_err(|_| Error::new(at, format!("`{word}` is a path: `{word} = path`")))
}

/// `name = find`.
pub(super) fn name(word: &Ident, input: ParseStream<'_>) -> Result<Ident> {
    equals(word, input, "name")?;
    let at = input.span();
    input.parse().map_err(|_| Error::new(at, format!("`{word}` is a name: `{word} = name`")))
}

/// `scope = partition`.
pub(super) fn key_scope(word: &Ident, input: ParseStream<'_>) -> Result<KeyScope> {
    let scopes = [("store", KeyScope::Store), (TABLE, KeyScope::Table), (PARTITION, KeyScope::Partition)];
    one_of(word, input, &scopes)
}

/// `tokens = table`.
pub(super) fn token_scope(word: &Ident, input: ParseStream<'_>) -> Result<TokenScope> {
    one_of(word, input, &[(PARTITION, TokenScope::Partition), (TABLE, TokenScope::Table)])
}

/// `word = choice`, where there are a few.
fn one_of<T: Copy>(word: &Ident, input: ParseStream<'_>, known: &[(&str, T)]) -> Result<T> {
    equals(word, input, known.first().map_or("", |(name, _)| name))?;
    let at = input.span();
    let names: Vec<_> = known.iter().map(|(name, _)| *name).collect();
    let unknown =
        |span| Error::new(span, format!("`{word}` is one of a few: there {}", super::list_of(&names)));
    let given = input.call(Ident::parse_any).map_err(|_| unknown(at))?;
    known
        .iter()
        .find(|(name, _)| given == name)
        .map(|(_, choice)| *choice)
        .ok_or_else(|| unknown(given.span()))
}

/// `as = actor`, or `as(actor, genre)`.
pub(super) fn name_or_names(word: &Ident, input: ParseStream<'_>) -> Result<Vec<Ident>> {
    if input.peek(token::Paren) { names(word, input) } else { Ok(vec![name(word, input)?]) }
}

/// `copy(first_name, email)`.
pub(super) fn names(word: &Ident, input: ParseStream<'_>) -> Result<Vec<Ident>> {
    if !input.peek(token::Paren) {
        return Err(Error::new(word.span(), format!("`{word}` takes names: `{word}(..)`")));
    }
    // Parsed apart from the input: what an error leaves unread in the parentheses would be an error of its own.
    let group: Group = input.parse()?;
    let names = |input: ParseStream<'_>| {
        Punctuated::<Ident, Token![,]>::parse_terminated_with(input, Ident::parse_any)
    };
    Ok(names.parse2(group.stream())?.into_iter().collect())
}

/// `rename_all = "camelCase"`.
pub(super) fn case(word: &Ident, input: ParseStream<'_>) -> Result<Case> {
    let literal = text(word, input)?;
    let name = literal.value();
    Case::parse(&name).ok_or_else(|| {
        let known = CASES.map(|(known, _)| known);
        let hint = match suggest::nearest(&name, known) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("there {}", super::list_of(&known)),
        };
        Error::new(literal.span(), format!("unknown case `{name}`; {hint}"))
    })
}

/// A case for properties, whose names are identifiers.
pub(super) fn property_case(word: &Ident, input: ParseStream<'_>) -> Result<Case> {
    let at = input.fork();
    let case = case(word, input)?;
    if case.is_kebab() {
        // The literal, behind the sign.
        let span = at.parse::<Token![=]>().map_or_else(|_| word.span(), |_| at.span());
        return Err(Error::new(
            span,
            "a property's name can't hold the `-` that this case puts between words",
        ));
    }
    Ok(case)
}

/// `gone("Phone", "Fax")`.
pub(super) fn texts(word: &Ident, input: ParseStream<'_>) -> Result<Vec<LitStr>> {
    if !input.peek(token::Paren) {
        return Err(Error::new(word.span(), format!("`{word}` takes texts: `{word}(\"..\")`")));
    }
    let group: Group = input.parse()?;
    let texts = |input: ParseStream<'_>| Punctuated::<LitStr, Token![,]>::parse_terminated(input);
    Ok(texts.parse2(group.stream())?.into_iter().collect())
}

/// The `=` before a value.
fn equals(word: &Ident, input: ParseStream<'_>, example: &str) -> Result<()> {
    if input.peek(Token![=]) {
        return input.parse::<Token![=]>().map(drop);
    }
    Err(Error::new(word.span(), format!("`{word}` needs a value: `{word} = {example}`")))
}
