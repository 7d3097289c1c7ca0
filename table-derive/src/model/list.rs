//! What makes an index a list.

use proc_macro2::Ident;

use super::index::resolve;
use super::{Entity, Field, Index, Spanned};
use crate::attr::IndexWords;
use crate::ctxt::Ctxt;
use crate::template::FieldPart;

/// `#[index_list(..)]`: its rows list the entities of one value.
pub(crate) struct List {
    /// `of`: the fields that make up an id, by their places.
    pub(crate) of: Vec<Spanned<usize>>,
    /// Words of an index that a list does not have.
    pub(crate) strange: Vec<Ident>,
}

impl List {
    /// Returns what the words say; `None` of an index.
    pub(super) fn read(cx: &Ctxt, words: &IndexWords, entity: &Ident, fields: &[Field<'_>]) -> Option<Self> {
        words.list.as_ref()?;
        let ident = words.index.as_ref()?;
        // C30: a list says what it lists.
        if words.of.is_missing() {
            cx.error(
                ident.span(),
                format!(
                    "the index list `{ident}` doesn't say by what it lists its entities: `of = id`, a field of their key"
                ),
            );
        }
        let strange = [words.unique.word(), words.copy.word(), words.when.word()];
        let strange = strange.into_iter().flatten().cloned().collect();
        let of = words.of.get().map(|names| resolve(cx, names, entity, fields));
        Some(Self { of: of.unwrap_or_default(), strange })
    }

    /// Returns the fields' names, for errors and pictures.
    pub(crate) fn source(&self, model: &Entity<'_>) -> String {
        let name = |field: &Spanned<usize>| model.field(field.value).map_or("", |field| field.name.as_str());
        self.of.iter().map(name).collect::<Vec<_>>().join(", ")
    }
}

impl Entity<'_> {
    /// Returns the parts of the entity's key that print an id: for each field of it the first that gives it back.
    pub(crate) fn id_parts<'m>(&'m self, list: &'m List) -> impl Iterator<Item = &'m FieldPart> {
        list.of.iter().filter_map(|field| self.key_part(field.value))
    }

    /// Returns the part of the entity's key that gives a field back.
    pub(crate) fn key_part(&self, field: usize) -> Option<&FieldPart> {
        let parts = self.key.row.fields().chain(self.key.partition.fields());
        parts.into_iter().find(|part| part.field == field && part.gives_back())
    }

    /// Returns the indexes that are no lists, each with its number.
    pub(crate) fn copying(&self) -> impl Iterator<Item = (usize, &Index)> {
        self.indexes.iter().enumerate().filter(|(_, index)| index.list.is_none())
    }
}
