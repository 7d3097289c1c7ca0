//! What stands on a field.

use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use quote::quote_spanned;
use syn::parse::ParseStream;
use syn::{Attribute, Error, LitStr, Meta, Result, Token};

use super::copy_of::CopyOfWords;
use super::summary::NumberWords;
use super::{Fill, Slot, Words, value};
use crate::ctxt::Ctxt;
use crate::model::Spanned;
use crate::symbol::{
    BLIND, BLOB, COPIED_INTO, COPY_OF, DEFAULT, DUAL, ENCRYPT, ENTITY, FLATTEN, FROM, INDEX, INDEX_LIST,
    JSON, KEY, NEW, OF, PART, PLAIN, PROPERTY, RENAME, SCOPE, SERIES, SKIP, SLOT, SUMMARIZED_IN, SUMMARY,
    TOKENS, WAS, WIDTH,
};

/// The attributes on a field.
pub(crate) struct FieldAttrs {
    pub(crate) property: PropertyWords,
    /// `#[flatten]`.
    pub(crate) flatten: Option<Ident>,
    /// `#[encrypt]`.
    pub(crate) encrypt: Option<Ident>,
    pub(crate) sealing: EncryptWords,
    /// `#[series]`, with its name.
    pub(crate) series: Option<(Ident, SeriesWords)>,
    /// `#[summary]`, with its name.
    pub(crate) number: Option<(Ident, NumberWords)>,
    /// `#[copy_of]`.
    pub(crate) copy: Option<CopyOfWords>,
    /// `#[part]`.
    pub(crate) part: Option<Ident>,
}

/// `#[encrypt(..)]`.
pub(crate) struct EncryptWords {
    pub(crate) dual: Slot<()>,
    pub(crate) blind: Slot<()>,
    pub(crate) scope: Slot<KeyScope>,
    pub(crate) tokens: Slot<TokenScope>,
}

/// Whose key seals a field. The variants are those of `table_core::schema::KeyScope`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyScope {
    Store,
    Table,
    Partition,
}

/// The scope in which equal values of a field have equal tokens. The variants are those of
/// `table_core::schema::TokenScope`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenScope {
    Partition,
    Table,
}

/// `default`, or `default = expression`.
#[derive(Clone, Debug)]
pub(crate) enum DefaultWord {
    /// The type's own.
    OfType,
    /// This value.
    Is(TokenStream),
}

/// `#[series(..)]`.
pub(crate) struct SeriesWords {
    pub(crate) width: Slot<Spanned<u32>>,
    /// Of a projection: the entity's series, and which of its slots.
    pub(crate) of: Slot<Ident>,
    pub(crate) slot: Slot<Spanned<u32>>,
    pub(crate) from: Slot<Spanned<u32>>,
}

impl SeriesWords {
    fn new() -> Self {
        Self {
            width: Slot::new(value::number),
            of: Slot::new(value::name),
            slot: Slot::new(value::number),
            from: Slot::new(value::number),
        }
    }
}

impl Words for SeriesWords {
    const KNOWN: &'static [&'static str] = &[WIDTH, OF, SLOT, FROM];
    const EXAMPLE: &'static str = "#[series(width = 3)]";

    fn slot(&mut self, word: &str) -> Option<&mut dyn Fill> {
        Some(match word {
            WIDTH => &mut self.width,
            OF => &mut self.of,
            SLOT => &mut self.slot,
            FROM => &mut self.from,
            _ => return None,
        })
    }
}

/// `#[property(..)]`.
pub(crate) struct PropertyWords {
    pub(crate) rename: Slot<LitStr>,
    pub(crate) json: Slot<()>,
    pub(crate) skip: Slot<()>,
    pub(crate) default: Slot<DefaultWord>,
    pub(crate) was: Slot<LitStr>,
    pub(crate) new: Slot<()>,
    pub(crate) plain: Slot<()>,
}

impl FieldAttrs {
    /// Reads them. `of_entity`: whether the struct's attributes are ours too, so that one on a field is misplaced.
    pub(crate) fn read(cx: &Ctxt, attrs: &[Attribute], of_entity: bool) -> Self {
        let property = PropertyWords {
            rename: Slot::new(value::text),
            json: Slot::new(value::flag),
            skip: Slot::new(value::flag),
            default: Slot::new(default),
            was: Slot::new(value::text),
            new: Slot::new(value::flag),
            plain: Slot::new(value::flag),
        };
        let sealing = EncryptWords {
            dual: Slot::new(value::flag),
            blind: Slot::new(value::flag),
            scope: Slot::new(value::key_scope),
            tokens: Slot::new(value::token_scope),
        };
        let mut all = Self {
            property,
            flatten: None,
            encrypt: None,
            sealing,
            series: None,
            number: None,
            copy: None,
            part: None,
        };
        for attr in attrs {
            let Some((name, text)) = super::name(attr) else { continue };
            match text.as_str() {
                PROPERTY => super::read(cx, attr, &mut all.property),
                FLATTEN => {
                    if !matches!(attr.meta, Meta::Path(_)) {
                        cx.error(name.span(), "`#[flatten]` stands alone");
                    } else if all.flatten.is_some() {
                        cx.error(name.span(), "`flatten` is given twice");
                    }
                    all.flatten = Some(name.clone());
                }
                ENCRYPT => {
                    match &attr.meta {
                        Meta::Path(_) => {}
                        Meta::List(list) if !list.tokens.is_empty() => {
                            super::read(cx, attr, &mut all.sealing);
                        }
                        _ => cx.error(name.span(), "write `#[encrypt]`"),
                    }
                    if all.encrypt.is_some() {
                        cx.error(name.span(), "`encrypt` is given twice");
                    }
                    all.encrypt = Some(name.clone());
                }
                SUMMARY if of_entity => {
                    let new = || (name.clone(), NumberWords::new());
                    super::read(cx, attr, &mut all.number.get_or_insert_with(new).1);
                }
                SERIES => {
                    if all.series.is_some() {
                        cx.error(name.span(), "`series` is given twice");
                    }
                    let (_, words) = all.series.get_or_insert_with(|| (name.clone(), SeriesWords::new()));
                    if !matches!(attr.meta, Meta::Path(_)) {
                        super::read(cx, attr, words);
                    }
                }
                PART if of_entity => {
                    if !matches!(attr.meta, Meta::Path(_)) {
                        cx.error(name.span(), "`#[part]` stands alone");
                    } else if all.part.is_some() {
                        cx.error(name.span(), "`part` is given twice");
                    }
                    all.part = Some(name.clone());
                }
                PART => cx.error(
                    name.span(),
                    "a flattened struct lies in one row: `#[part]` stands on a field of the entity itself",
                ),
                BLOB => cx.error(
                    name.span(),
                    "`#[blob]` says nothing more: a field of the type `table_core::blob::Blob` is a blob, and one of the \
                     type `SealedBlob` under `#[encrypt]` is sealed",
                ),
                COPY_OF if of_entity => {
                    if all.copy.is_some() {
                        cx.error(name.span(), "`copy_of` is given twice");
                    }
                    all.copy = Some(CopyOfWords::read(cx, name, attr));
                }
                ENTITY | KEY | INDEX | INDEX_LIST | COPIED_INTO | SUMMARIZED_IN if of_entity => {
                    cx.error(name.span(), format!("`#[{name}]` belongs on the struct"));
                }
                _ => {}
            }
        }
        all
    }
}

/// Returns what follows `default`: nothing, or an expression up to the next comma.
fn default(word: &Ident, input: ParseStream<'_>) -> Result<DefaultWord> {
    if input.is_empty() || input.peek(Token![,]) {
        return Ok(DefaultWord::OfType);
    }
    let wrong = |span| {
        Error::new(span, "write `default` for the type's own, or `default = expression` for a value of yours")
    };
    if input.parse::<Token![=]>().is_err() {
        return Err(wrong(word.span()));
    }
    // A text is given as it is written elsewhere: for a `String` too.
    if input.peek(LitStr) {
        let ahead = input.fork();
        let text: LitStr = ahead.parse()?;
        if ahead.is_empty() || ahead.peek(Token![,]) {
            input.parse::<LitStr>()?;
            return Ok(DefaultWord::Is(quote_spanned!(text.span()=> ::core::convert::Into::into(#text))));
        }
    }
    let mut expression = TokenStream::new();
    while !input.is_empty() && !input.peek(Token![,]) {
        expression.extend([input.parse::<TokenTree>()?]);
    }
    if expression.is_empty() { Err(wrong(word.span())) } else { Ok(DefaultWord::Is(bare(expression))) }
}

/// Returns the expression without brackets around the whole of it, which need not stand where it is put.
fn bare(expression: TokenStream) -> TokenStream {
    let mut tokens = expression.clone().into_iter();
    let (Some(TokenTree::Group(group)), None) = (tokens.next(), tokens.next()) else { return expression };
    let is_tuple = |token: TokenTree| matches!(token, TokenTree::Punct(comma) if comma.as_char() == ',');
    let inside = group.stream();
    if group.delimiter() != Delimiter::Parenthesis
        || inside.is_empty()
        || inside.clone().into_iter().any(is_tuple)
    {
        return expression;
    }
    inside
}

impl Words for EncryptWords {
    const KNOWN: &'static [&'static str] = &[DUAL, BLIND, SCOPE, TOKENS];
    const EXAMPLE: &'static str = "#[encrypt(blind)]";

    fn slot(&mut self, word: &str) -> Option<&mut dyn Fill> {
        Some(match word {
            DUAL => &mut self.dual,
            BLIND => &mut self.blind,
            SCOPE => &mut self.scope,
            TOKENS => &mut self.tokens,
            _ => return None,
        })
    }
}

impl Words for PropertyWords {
    const KNOWN: &'static [&'static str] = &[RENAME, JSON, SKIP, DEFAULT, WAS, NEW, PLAIN];
    const EXAMPLE: &'static str = "#[property(rename = \"..\")]";

    fn slot(&mut self, word: &str) -> Option<&mut dyn Fill> {
        Some(match word {
            RENAME => &mut self.rename,
            JSON => &mut self.json,
            PLAIN => &mut self.plain,
            SKIP => &mut self.skip,
            DEFAULT => &mut self.default,
            WAS => &mut self.was,
            NEW => &mut self.new,
            _ => return None,
        })
    }
}
