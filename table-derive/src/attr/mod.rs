//! Attributes to spanned values.
//!
//! No function here returns an error. A mistake goes to the [`Ctxt`], and reading goes on. A word that was tried and
//! failed, or was misspelt, is not missed afterwards: one mistake gives one message.

mod copy_of;
mod entity;
mod field;
mod index;
mod list;
mod others;
mod summary;
mod types;
mod value;

use proc_macro2::{Ident, TokenTree};
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Attribute, Meta, Token};

pub(crate) use copy_of::CopyOfWords;
pub(crate) use entity::EntityAttrs;
pub(crate) use field::{DefaultWord, FieldAttrs, KeyScope, PropertyWords, SeriesWords, TokenScope};
pub(crate) use index::{CopyWord, IndexWords};
pub(crate) use others::{
    EntitySetWords, KeyPartWords, KeyVariantWords, MemberWords, ProjectionWords, PropertiesWords,
};
pub(crate) use summary::{NumberWords, SummaryWords};
pub(crate) use types::TypeWord;

use crate::ctxt::Ctxt;
use crate::suggest;

/// The words of an attribute.
pub(crate) trait Words {
    /// What they are called.
    const KNOWN: &'static [&'static str];

    /// An example of the attribute, for messages.
    const EXAMPLE: &'static str;

    /// Returns where the value of a word goes. There is a place for each of [`Self::KNOWN`].
    fn slot(&mut self, word: &str) -> Option<&mut dyn Fill>;
}

/// Reads the value of a word.
type Read<T> = fn(&Ident, ParseStream<'_>) -> syn::Result<T>;

/// The value of a word that may be given once.
pub(crate) struct Slot<T> {
    read: Read<T>,
    state: State<T>,
}

enum State<T> {
    /// Not given.
    Missing,
    /// Given, but wrongly. The error has been reported; another, that the word is missing, would be false.
    Tried,
    /// Given by this word.
    Given(Ident, T),
}

/// A [`Slot`] of any type.
pub(crate) trait Fill {
    /// Reads the value of a word from what follows it.
    fn fill(&mut self, cx: &Ctxt, word: &Ident, input: ParseStream<'_>);

    /// Remembers that the word was meant.
    fn tried(&mut self);
}

impl<T> Slot<T> {
    /// Makes a place for what this function reads.
    pub(crate) fn new(read: Read<T>) -> Self {
        Self { read, state: State::Missing }
    }

    /// Returns the value.
    pub(crate) fn get(&self) -> Option<&T> {
        match &self.state {
            State::Given(_, value) => Some(value),
            _ => None,
        }
    }

    /// Returns the value, taken out.
    pub(crate) fn into_value(self) -> Option<T> {
        match self.state {
            State::Given(_, value) => Some(value),
            _ => None,
        }
    }

    /// Returns the word that gave it.
    pub(crate) fn word(&self) -> Option<&Ident> {
        match &self.state {
            State::Given(word, _) => Some(word),
            _ => None,
        }
    }

    /// Returns whether the user never tried to give it.
    pub(crate) fn is_missing(&self) -> bool {
        matches!(self.state, State::Missing)
    }
}

impl<T> Fill for Slot<T> {
    fn fill(&mut self, cx: &Ctxt, word: &Ident, input: ParseStream<'_>) {
        match (self.read)(word, input) {
            Err(error) => {
                cx.push(error);
                self.tried();
            }
            Ok(value) => match self.state {
                State::Missing => self.state = State::Given(word.clone(), value),
                State::Given(..) => cx.error(word.span(), format!("`{word}` is given twice")),
                State::Tried => {}
            },
        }
    }

    fn tried(&mut self) {
        if self.is_missing() {
            self.state = State::Tried;
        }
    }
}

/// Returns the attribute's name, if it is one word.
pub(crate) fn name(attr: &Attribute) -> Option<(&Ident, String)> {
    let name = attr.path().get_ident()?;
    Some((name, name.to_string()))
}

/// Reads an attribute that is a list of words.
pub(crate) fn read<W: Words>(cx: &Ctxt, attr: &Attribute, words: &mut W) {
    read_with(cx, attr, words, |_, _| Ok(()));
}

/// Reads every attribute of this name.
pub(crate) fn read_named<W: Words>(cx: &Ctxt, attrs: &[Attribute], name: &str, words: &mut W) {
    for attr in attrs.iter().filter(|attr| attr.path().is_ident(name)) {
        read(cx, attr, words);
    }
}

/// Reads an attribute that is a list of words behind something else.
fn read_with<W: Words>(
    cx: &Ctxt,
    attr: &Attribute,
    words: &mut W,
    head: impl FnOnce(&mut W, ParseStream<'_>) -> syn::Result<()>,
) {
    let read = match &attr.meta {
        Meta::List(list) => list.parse_args_with(|input: ParseStream<'_>| {
            head(words, input).unwrap_or_else(|error| cx.push(error));
            while !input.is_empty() {
                one(cx, input, words);
            }
            Ok(())
        }),
        meta => Err(syn::Error::new_spanned(meta, format!("write `{}`", W::EXAMPLE))),
    };
    if let Err(error) = read {
        cx.push(error);
        all_tried(words);
    }
}

/// Reads one word with its value and the comma behind.
// C24: the words of an attribute are those there are, each once.
fn one<W: Words>(cx: &Ctxt, input: ParseStream<'_>, words: &mut W) {
    let before = cx.count();
    if let Ok(word) = input.call(Ident::parse_any) {
        match words.slot(&word.to_string()) {
            Some(slot) => slot.fill(cx, &word, input),
            None => unknown(cx, &word, words),
        }
    } else {
        cx.error(input.span(), format!("expected a word, as in `{}`", W::EXAMPLE));
        all_tried(words);
    }
    if cx.count() == before && !input.is_empty() && !input.peek(Token![,]) {
        cx.error(input.span(), "expected `,`");
        if input.peek(Ident::peek_any) {
            // Only the comma is missing: the next word is here.
            return;
        }
    }
    skip_word(input);
}

/// The error about an unknown word, which the user tried in place of another.
fn unknown<W: Words>(cx: &Ctxt, word: &Ident, words: &mut W) {
    let name = word.to_string();
    if let Some(meant) = suggest::nearest(&name, W::KNOWN.iter().copied()) {
        cx.error(word.span(), format!("unknown word `{name}`; did you mean `{meant}`?"));
        if let Some(slot) = words.slot(meant) {
            slot.tried();
        }
    } else {
        cx.error(word.span(), format!("unknown word `{name}`; there {}", list_of(W::KNOWN)));
        all_tried(words);
    }
}

/// Marks every word as tried, after something that could not be read: none of them is missed.
fn all_tried<W: Words>(words: &mut W) {
    for word in W::KNOWN {
        if let Some(slot) = words.slot(word) {
            slot.tried();
        }
    }
}

/// Skips what is left of a word, and the comma behind it.
fn skip_word(input: ParseStream<'_>) {
    // Any rest that isn't empty has a token tree. Every turn takes one, so the loop ends.
    while let Ok(token) = input.parse::<TokenTree>() {
        if matches!(&token, TokenTree::Punct(punct) if punct.as_char() == ',') {
            return;
        }
    }
}

/// `are a, b and c`.
pub(crate) fn list_of(words: &[&str]) -> String {
    match words {
        [] => "are none".to_owned(),
        [word] => format!("is `{word}`"),
        [first @ .., last] => {
            let first: Vec<String> = first.iter().map(|word| format!("`{word}`")).collect();
            format!("are {} and `{last}`", first.join(", "))
        }
    }
}
