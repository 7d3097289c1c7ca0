//! The place for a word's value.

use proc_macro2::Ident;
use syn::parse::ParseStream;

use crate::ctxt::Ctxt;

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
