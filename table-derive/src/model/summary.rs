//! A summary of entities, and its numbers.

use proc_macro2::{Ident, Span};
use syn::Path;
use syn::ext::IdentExt;

use super::Spanned;
use crate::attr::{NumberWords, SummaryWords};
use crate::ctxt::Ctxt;

/// `#[summary(of = Employee)]`: what the struct is a summary of.
pub(crate) struct Summary {
    /// The attribute's name.
    pub(crate) word: Ident,
    /// The entity.
    pub(crate) of: Path,
    /// Whether `atomic` was said.
    pub(crate) atomic: bool,
}

/// A number of a summary, and where it says so.
pub(crate) struct Number {
    pub(crate) word: Ident,
    pub(crate) is: Counts,
}

/// What a number of a summary is.
pub(crate) enum Counts {
    /// `count`: how many entities there are.
    All,
    /// `count, when = path`: of how many this function says so.
    When(Path),
    /// `sum = field`: what a field comes to.
    Sum(Spanned<String>),
}

impl Summary {
    /// What the words say; `None` if they don't say of what.
    // C30: a summary is one of an entity.
    pub(crate) fn new(cx: &Ctxt, word: Ident, words: SummaryWords) -> Option<Self> {
        if words.of.is_missing() {
            cx.error(word.span(), "a summary says of what: `#[summary(of = Entity)]`");
        }
        let atomic = words.atomic.get().is_some();
        Some(Self { word, of: words.of.into_value()?, atomic })
    }
}

impl Number {
    /// What the words say.
    // C24: words that contradict each other.
    pub(crate) fn new(cx: &Ctxt, word: Ident, words: NumberWords) -> Option<Self> {
        let NumberWords { count, when, sum } = words;
        match (count.word(), sum.word()) {
            (Some(_), Some(other)) => {
                cx.error(other.span(), "a number of a summary is a `count` or a `sum`, not both");
                return None;
            }
            (None, None) => {
                if count.is_missing() && sum.is_missing() {
                    cx.error(
                        word.span(),
                        "a number of a summary says what it is: `#[summary(count)]`, `#[summary(sum = field)]`",
                    );
                }
                return None;
            }
            (None, Some(_)) => {
                if let Some(when) = when.word() {
                    cx.error(when.span(), "`when` is of a `count`: a sum is of all entities");
                }
            }
            (Some(_), None) => {}
        }
        let is = match (sum.into_value(), when.into_value()) {
            (Some(field), _) => Counts::Sum(Spanned { value: field.unraw().to_string(), span: field.span() }),
            (None, Some(path)) => Counts::When(path),
            (None, None) => Counts::All,
        };
        Some(Self { word, is })
    }

    pub(crate) fn span(&self) -> Span {
        self.word.span()
    }
}
