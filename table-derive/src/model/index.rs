//! An index of an entity.

use proc_macro2::Ident;
use syn::Path;
use syn::ext::IdentExt;

use super::{Field, Spanned, Template};
use crate::attr::{self, CopyWord, IndexWords};
use crate::ctxt::Ctxt;
use crate::suggest;

/// A copy of the entity under another row key of its partition.
pub(crate) struct Index {
    /// Its name as the user wrote it, which the method on the table has.
    pub(crate) ident: Ident,
    /// The same without `r#`: with the kind before it, the type tag on its rows.
    pub(crate) name: String,
    /// `name = ..`: what the function on the struct is called, if not like the index.
    pub(crate) function: Option<Ident>,
    /// Its row key.
    pub(crate) row: Template,
    /// `unique`, the word itself.
    pub(crate) unique: Option<Ident>,
    /// What its rows hold besides the key.
    pub(crate) copies: Copies,
    /// `when`: the function of the entity that says whether it has a row here.
    pub(crate) when: Option<Path>,
    /// `as`: what queries call the `[]` parts, in order. Either as many as there are `[]` parts, or none.
    pub(crate) aliases: Vec<Ident>,
    /// `eventual`, the word itself. No index may say it yet.
    pub(crate) eventual: Option<Ident>,
}

/// What the rows of an index hold besides the key.
pub(crate) enum Copies {
    /// Every property.
    All,
    /// What leads back to the entity, and nothing else.
    Keys,
    /// That, and these fields, by their places, in the user's order.
    Some(Vec<Spanned<usize>>),
}

impl Index {
    /// Makes an index of its words; `None` if there were none to make it of.
    pub(crate) fn new(cx: &Ctxt, words: IndexWords, entity: &Ident, fields: &[Field<'_>]) -> Option<Self> {
        let ident = words.index?;
        // C30: an index has a row key.
        if words.row.is_missing() {
            cx.error(
                ident.span(),
                format!("the index `{ident}` has no row key: `#[index({ident}, row = \"..\")]`"),
            );
        }
        // C16: an index in another place is kept by and by; an index in the entity's partition never is.
        let elsewhere = !words.partition.is_missing() || !words.table.is_missing();
        if let Some(word) = words.table.word() {
            attr::unsupported(cx, word, "an index in another table");
        } else if let Some(word) = words.partition.word() {
            attr::unsupported(cx, word, "an index in another partition");
        }
        let eventual = if elsewhere { None } else { words.eventual.word().cloned() };
        let copies = match words.copy.into_value() {
            None | Some(CopyWord::All) => Copies::All,
            Some(CopyWord::Keys) => Copies::Keys,
            Some(CopyWord::Some(names)) => Copies::Some(resolve(cx, &names, entity, fields)),
        };
        Some(Self {
            name: ident.unraw().to_string(),
            function: words.name.into_value(),
            row: Template::read(cx, words.row.into_value(), entity, fields),
            unique: words.unique.word().cloned(),
            copies,
            when: words.when.into_value(),
            aliases: words.as_.into_value().unwrap_or_default(),
            eventual,
            ident,
        })
    }

    /// The name of the function on the struct that makes a key of this index.
    pub(crate) fn function(&self) -> &Ident {
        self.function.as_ref().unwrap_or(&self.ident)
    }
}

/// The places of the fields in `copy(..)`.
// C17, first part: they are fields of the struct.
fn resolve(cx: &Ctxt, names: &[Ident], entity: &Ident, fields: &[Field<'_>]) -> Vec<Spanned<usize>> {
    let mut places = Vec::new();
    for ident in names {
        let name = ident.unraw().to_string();
        if let Some(value) = fields.iter().position(|field| field.name == name) {
            places.push(Spanned { value, span: ident.span() });
        } else {
            let hint = suggest::hint(&name, fields.iter().map(|field| field.name.as_str()));
            cx.error(ident.span(), format!("`{entity}` has no field `{name}`{hint}"));
        }
    }
    places
}
