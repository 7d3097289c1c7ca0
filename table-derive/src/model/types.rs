//! The generated types that lie beside the struct.

use proc_macro2::{Ident, Span};
use syn::ext::IdentExt;

use super::Index;
use crate::attr::{Slot, TypeWord, list_of};
use crate::ctxt::Ctxt;
use crate::suggest;
use crate::symbol::{COLUMNS, INDEXES, PATCH, QUERY, VIEW};

/// What `types(..)` can name of every entity.
const OWN: [&str; 5] = [PATCH, QUERY, VIEW, COLUMNS, INDEXES];

/// The generated types that lie beside the struct, where a user can name them. The others lie in a block.
#[derive(Default)]
pub(crate) struct Types {
    /// `types` alone: every type, reported there.
    all: Option<Span>,
    named: Vec<TypeWord>,
    /// Where the others would be asked for: at `types`, or at the attribute that lacks it.
    at: Option<Span>,
}

impl Types {
    /// The words, each a type that there is, and each once.
    // C24: the words of an attribute are those there are, each once.
    pub(super) fn read(
        cx: &Ctxt,
        slot: Slot<Vec<TypeWord>>,
        attr: Option<&Ident>,
        entity: &Ident,
        indexes: &[Index],
    ) -> Self {
        let all = slot.word().map(Ident::span);
        let at = all.or_else(|| attr.map(Ident::span));
        let Some(words) = slot.into_value() else { return Self { at, ..Self::default() } };
        if words.is_empty() {
            return Self { all, at, named: Vec::new() };
        }
        let known: Vec<&str> = OWN
            .into_iter()
            .chain(indexes.iter().filter(|index| index.list.is_none()).map(|index| &*index.name))
            .collect();
        let mut named: Vec<TypeWord> = Vec::new();
        let mut taken = vec![entity.unraw().to_string()];
        for word in words {
            let text = word.word.unraw().to_string();
            if !known.contains(&&*text) {
                let (list, hint) = (list_of(&known), suggest::hint(&text, known.iter().copied()));
                let message = format!("`{entity}` has no index or type `{text}`; there {list}{hint}");
                cx.error(word.word.span(), message);
                continue;
            }
            if named.iter().any(|earlier| earlier.word.unraw() == text) {
                cx.error(word.word.span(), format!("`{text}` is named twice"));
                continue;
            }
            if let Some(name) = &word.name {
                let text = name.unraw().to_string();
                if taken.contains(&text) {
                    cx.error(name.span(), format!("there is already a type `{text}`"));
                    continue;
                }
                taken.push(text);
            }
            named.push(word);
        }
        Self { all: None, named, at }
    }

    /// Returns where the user asked for this type to lie beside the struct, if at all.
    pub(crate) fn asked(&self, word: &str) -> Option<Span> {
        self.all.or_else(|| self.find(word).map(|found| found.word.span()))
    }

    /// Returns where the user would have asked for the types that were not asked for.
    pub(crate) fn place(&self) -> Option<Span> {
        self.at
    }

    /// Returns the name that the user gave to the type.
    pub(crate) fn given(&self, word: &str) -> Option<&Ident> {
        self.find(word)?.name.as_ref()
    }

    /// Returns every name that the user gave.
    pub(crate) fn all_given(&self) -> impl Iterator<Item = &Ident> {
        self.named.iter().filter_map(|word| word.name.as_ref())
    }

    fn find(&self, word: &str) -> Option<&TypeWord> {
        self.named.iter().find(|named| named.word.unraw() == word)
    }
}
