//! `#[index(..)]`.

use proc_macro2::{Ident, Span};
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Attribute, Error, LitStr, Path, Result, Token, token};

use super::{Fill, Slot, Words, value};
use crate::ctxt::Ctxt;
use crate::model::Spanned;
use crate::symbol::{
    ALL, AS, ATOMIC, COPY, EVENTUAL, KEYS, NAME, PARTITION, ROW, TABLE, UNIQUE, WHEN, WHEN_VERSION,
};

/// The words of an index.
pub(crate) struct IndexWords {
    /// The name of the index, which comes first.
    pub(crate) index: Option<Ident>,
    /// The name of the attribute, if it is that of a list.
    pub(crate) list: Option<Ident>,
    pub(crate) row: Slot<LitStr>,
    pub(crate) partition: Slot<LitStr>,
    pub(crate) table: Slot<LitStr>,
    pub(crate) unique: Slot<()>,
    pub(crate) copy: Slot<CopyWord>,
    pub(crate) when: Slot<Path>,
    pub(crate) when_version: Slot<Spanned<u32>>,
    pub(crate) atomic: Slot<()>,
    pub(crate) eventual: Slot<()>,
    pub(crate) as_: Slot<Vec<Ident>>,
    pub(crate) name: Slot<Ident>,
    /// Of a list: what it lists.
    pub(crate) of: Slot<Vec<Ident>>,
}

/// What a copy holds: `copy = all`, `copy = keys`, `copy(..)`.
pub(crate) enum CopyWord {
    All,
    Keys,
    Some(Vec<Ident>),
}

impl IndexWords {
    /// Reads an index; `None` after an error in its name.
    pub(crate) fn read(cx: &Ctxt, attr: &Attribute) -> Option<Self> {
        let (name, _) = super::name(attr)?;
        let mut words = Self::new();
        super::read_with(cx, attr, &mut words, |words, input| {
            words.index = index_name::<Self>("an index", name.span(), input)?;
            Ok(())
        });
        words.index.is_some().then_some(words)
    }

    pub(super) fn new() -> Self {
        Self {
            index: None,
            list: None,
            row: Slot::new(value::text),
            partition: Slot::new(value::text),
            table: Slot::new(value::text),
            unique: Slot::new(unique),
            copy: Slot::new(copy),
            when: Slot::new(value::path),
            when_version: Slot::new(value::number),
            atomic: Slot::new(value::flag),
            eventual: Slot::new(value::flag),
            as_: Slot::new(value::name_or_names),
            name: Slot::new(value::name),
            of: Slot::new(value::name_or_names),
        }
    }
}

/// Returns the name that an index starts with, and the comma behind it.
pub(super) fn index_name<W: Words>(what: &str, attr: Span, input: ParseStream<'_>) -> Result<Option<Ident>> {
    let missing = |span| Error::new(span, format!("{what} starts with its name: `{}`", W::EXAMPLE));
    if input.is_empty() {
        return Err(missing(attr));
    }
    let ahead = input.fork();
    if let Ok(name) = ahead.call(Ident::parse_any) {
        if W::KNOWN.iter().any(|word| name == word) {
            // The name was forgotten, and the words are read all the same.
            return Err(missing(name.span()));
        }
        if ahead.is_empty() || ahead.peek(Token![,]) {
            super::skip_word(input);
            return Ok(Some(name));
        }
    }
    let at = input.span();
    super::skip_word(input);
    Err(missing(at))
}

/// `unique`, which holds among the rows of one partition, wherever those lie.
fn unique(word: &Ident, input: ParseStream<'_>) -> Result<()> {
    if input.peek(token::Paren) {
        return Err(Error::new(
            word.span(),
            "`unique` takes no value: a key is unique in the partition that the copies lie in; `unique, atomic, partition = \"..\"` \
             has the copies of all entities in one",
        ));
    }
    value::flag(word, input)
}

/// Returns what follows `copy`.
fn copy(word: &Ident, input: ParseStream<'_>) -> Result<CopyWord> {
    let wrong =
        |span| Error::new(span, "write `copy = all`, `copy = keys` or `copy(..)` with the names of fields");
    if input.peek(token::Paren) {
        return value::names(word, input).map(CopyWord::Some);
    }
    if input.parse::<Token![=]>().is_err() {
        return Err(wrong(word.span()));
    }
    let at = input.span();
    let what: Ident = input.parse().map_err(|_| wrong(at))?;
    if what == ALL {
        Ok(CopyWord::All)
    } else if what == KEYS {
        Ok(CopyWord::Keys)
    } else {
        Err(wrong(what.span()))
    }
}

impl Words for IndexWords {
    const KNOWN: &'static [&'static str] =
        &[ROW, PARTITION, TABLE, UNIQUE, COPY, WHEN, WHEN_VERSION, ATOMIC, EVENTUAL, AS, NAME];
    const EXAMPLE: &'static str = "#[index(by_name, row = \"..\")]";

    fn slot(&mut self, word: &str) -> Option<&mut dyn Fill> {
        Some(match word {
            ROW => &mut self.row,
            PARTITION => &mut self.partition,
            TABLE => &mut self.table,
            UNIQUE => &mut self.unique,
            COPY => &mut self.copy,
            WHEN => &mut self.when,
            WHEN_VERSION => &mut self.when_version,
            ATOMIC => &mut self.atomic,
            EVENTUAL => &mut self.eventual,
            AS => &mut self.as_,
            NAME => &mut self.name,
            _ => return None,
        })
    }
}
