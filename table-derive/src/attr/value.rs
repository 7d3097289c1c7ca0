//! The values of words.

use proc_macro2::{Group, Ident};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Error, LitBool, LitInt, LitStr, Path, Result, Token, token};

use super::{KeyScope, TokenScope};
use crate::case::{CASES, Case};
use crate::model::Spanned;
use crate::suggest;
use crate::symbol::{GONE, PARTITION, TABLE};

/// A word that stands alone: `unique`.
pub(super) fn flag(word: &Ident, input: ParseStream<'_>) -> Result<()> {
    if input.is_empty() || input.peek(Token![,]) {
        return Ok(());
    }
    Err(Error::new(word.span(), format!("`{word}` takes no value: write `{word}` alone, or leave it out")))
}

/// `table = ".."`.
pub(super) fn text(word: &Ident, input: ParseStream<'_>) -> Result<LitStr> {
    equals(word, input, "\"..\"")?;
    // The span is taken first: a failed read may have moved on.
    let at = input.span();
    let unseen = unseen(input);
    input.parse().map_err(|_| {
        Error::new(
            at,
            match unseen {
                Some(what) => {
                    format!("`{word}` is a literal, `{word} = \"..\"`: the derive can't see {what}")
                }
                None => format!("`{word}` is a text: `{word} = \"..\"`"),
            },
        )
    })
}

/// Returns what stands in the place of a literal, if it is a constant or a macro: a derive runs before either has a value.
fn unseen(input: ParseStream<'_>) -> Option<String> {
    let ahead = input.fork();
    let path = ahead.call(Path::parse_mod_style).ok()?;
    let name = path.segments.last()?.ident.to_string();
    Some(if ahead.peek(Token![!]) { format!("what `{name}!` makes") } else { format!("what `{name}` is") })
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

/// `picture = false`.
pub(super) fn truth(word: &Ident, input: ParseStream<'_>) -> Result<bool> {
    equals(word, input, "false")?;
    let at = input.span();
    let literal: Result<LitBool> = input.parse();
    literal
        .map(|literal| literal.value)
        .map_err(|_| Error::new(at, format!("`{word}` is `true` or `false`: `{word} = false`")))
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

/// Returns a case for properties, whose names are identifiers.
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
pub(super) fn properties(word: &Ident, input: ParseStream<'_>) -> Result<Vec<LitStr>> {
    if !input.peek(token::Paren) {
        return Err(Error::new(word.span(), format!("`{word}` takes texts: `{word}(\"..\")`")));
    }
    let group: Group = input.parse()?;
    let properties =
        |input: ParseStream<'_>| Punctuated::<_, Token![,]>::parse_terminated_with(input, property);
    Ok(properties.parse2(group.stream())?.into_iter().collect())
}

/// Returns the name of a property, which is a text and no field: rows may have it though the struct has no such field.
fn property(input: ParseStream<'_>) -> Result<LitStr> {
    let at = input.span();
    if let Ok(field) = input.fork().call(Ident::parse_any) {
        // The case of the struct's other names is read elsewhere, and this one is the rule.
        let name = Case::Pascal.of_field(&field.unraw().to_string());
        return Err(Error::new(
            at,
            format!("`{GONE}` names properties as rows have them, in texts: `{GONE}(\"{name}\")`"),
        ));
    }
    input.parse().map_err(|_| Error::new(at, format!("`{GONE}` takes texts: `{GONE}(\"..\")`")))
}

/// The `=` before a value.
fn equals(word: &Ident, input: ParseStream<'_>, example: &str) -> Result<()> {
    if input.peek(Token![=]) {
        return input.parse::<Token![=]>().map(drop);
    }
    Err(Error::new(word.span(), format!("`{word}` needs a value: `{word} = {example}`")))
}
