//! An index of an entity.

use proc_macro2::Ident;
use syn::Path;
use syn::ext::IdentExt;

use super::{Field, List, Spanned, Template};
use crate::attr::{CopyWord, IndexWords};
use crate::ctxt::Ctxt;
use crate::suggest;

/// A copy of the entity under another key: in its partition, or elsewhere.
pub(crate) struct Index {
    /// Its name as the user wrote it, which the method on the table has.
    pub(crate) ident: Ident,
    /// Its name without `r#`: with the kind before it, the type tag on its rows.
    pub(crate) name: String,
    /// `name = ..`: what the function on the struct is called, if not like the index.
    pub(crate) function: Option<Ident>,
    /// `table`: its table, if it says one.
    pub(crate) table: Option<Spanned<String>>,
    /// `partition`: its partition key, if it says one.
    pub(crate) partition: Option<Template>,
    /// The word that says that its rows may lie elsewhere.
    pub(crate) place: Option<Ident>,
    /// Its row key.
    pub(crate) row: Template,
    /// `unique`, the word itself.
    pub(crate) unique: Option<Ident>,
    /// What its rows hold besides the key.
    pub(crate) copies: Copies,
    /// `when`: the function of the entity that says whether it has a row here.
    pub(crate) when: Option<Path>,
    /// `when_version`: that of the function.
    pub(crate) when_version: Option<Spanned<u32>>,
    /// `as`: what queries call the `[]` parts, in order. Either as many as there are `[]` parts, or none.
    pub(crate) aliases: Vec<Ident>,
    /// `atomic` and `eventual`, the words themselves: when a copy that lies elsewhere comes.
    pub(crate) atomic: Option<Ident>,
    pub(crate) eventual: Option<Ident>,
    /// What it lists, if it is a list.
    pub(crate) list: Option<List>,
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
    pub(crate) fn new(
        cx: &Ctxt,
        mut words: IndexWords,
        entity: &Ident,
        fields: &[Field<'_>],
    ) -> Option<Self> {
        let list = List::read(cx, &words, entity, fields);
        let attribute = if list.is_some() { "index_list" } else { "index" };
        let ident = words.index.take()?;
        // C30: an index has a row key.
        if words.row.is_missing() {
            cx.error(
                ident.span(),
                format!("the index `{ident}` has no row key: `#[{attribute}({ident}, row = \"..\")]`"),
            );
        }
        let place = words.table.word().or_else(|| words.partition.word()).cloned();
        let table = words.table.into_value().map(|text| Spanned { value: text.value(), span: text.span() });
        let names = Field::names(fields);
        let partition = (!words.partition.is_missing())
            .then(|| Template::read(cx, words.partition.into_value(), entity, &names));
        let copies = match words.copy.into_value() {
            _ if list.is_some() => Copies::Keys,
            None | Some(CopyWord::All) => Copies::All,
            Some(CopyWord::Keys) => Copies::Keys,
            Some(CopyWord::Some(names)) => Copies::Some(resolve(cx, &names, entity, fields)),
        };
        Some(Self {
            name: ident.unraw().to_string(),
            function: words.name.into_value(),
            row: Template::read(cx, words.row.into_value(), entity, &names),
            // What a list refuses is reported there.
            unique: words.unique.word().filter(|_| list.is_none()).cloned(),
            copies,
            when: words.when.into_value().filter(|_| list.is_none()),
            when_version: words.when_version.into_value(),
            aliases: words.as_.into_value().unwrap_or_default(),
            atomic: words.atomic.word().cloned(),
            eventual: words.eventual.word().cloned(),
            table,
            partition,
            place,
            list,
            ident,
        })
    }

    /// Returns the name of the function on the struct that makes a key of this index.
    pub(crate) fn function(&self) -> &Ident {
        self.function.as_ref().unwrap_or(&self.ident)
    }
}

/// The places of the fields in `copy(..)`.
// C17, first part: they are fields of the struct.
pub(super) fn resolve(
    cx: &Ctxt,
    names: &[Ident],
    entity: &Ident,
    fields: &[Field<'_>],
) -> Vec<Spanned<usize>> {
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
