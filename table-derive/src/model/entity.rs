//! An entity.

use proc_macro2::{Ident, Span};
use syn::{DeriveInput, Path, Visibility};

use super::{
    Field, Index, Krate, Periods, Spanned, Stands, Summary, Template, Types, named_fields, no_generics,
};
use crate::attr::EntityAttrs;
use crate::case::{self, Case};
use crate::ctxt::Ctxt;
use crate::symbol::HOT_PARTITION;
use crate::template::{self, Format};

/// An entity as declared.
pub(crate) struct Entity<'a> {
    /// The struct.
    pub(crate) ident: &'a Ident,
    /// The struct's visibility, which what is generated has too.
    pub(crate) vis: &'a Visibility,
    /// Where generated code finds `table-core`.
    pub(crate) krate: Krate,
    /// The table.
    pub(crate) table: Spanned<String>,
    /// The periods that it has a table for each of, if it has.
    pub(crate) periods: Option<Periods>,
    /// The type tag on its rows.
    pub(crate) kind: Spanned<String>,
    /// The version of its layout: 1 if the user says nothing.
    pub(crate) version: u32,
    /// Where the user says the version.
    pub(crate) version_span: Option<Span>,
    /// `former`, the word itself: it is read, and nothing else.
    pub(crate) former: Option<Ident>,
    /// `from`: the version before, of which it is made.
    pub(crate) from: Option<Path>,
    /// How the names of its fields become those of properties.
    pub(crate) case: Case,
    /// `gone`: properties that rows may still have, and that are to go.
    pub(crate) gone: Vec<Spanned<String>>,
    /// The words that a previous version has no use for.
    pub(crate) idle: Vec<Ident>,
    /// `patch_name`: what the function `patch` on the struct is called.
    pub(crate) patch_name: Option<Ident>,
    /// The design warnings that are switched off.
    pub(crate) allow: Vec<Ident>,
    /// `wide`, the word itself: its fields lie in several rows.
    pub(crate) wide: Option<Ident>,
    /// `signed`, the word itself: every row carries a keyed digest.
    pub(crate) signed: Option<Ident>,
    /// `picture`: whether rustdoc shows its rows and the ways to them.
    pub(crate) picture: bool,
    /// `types`: the generated types that lie beside the struct.
    pub(crate) types: Types,
    /// Every field in order, skipped and flattened ones too. Parts and copies name fields by their places here.
    pub(crate) fields: Vec<Field<'a>>,
    /// The primary key.
    pub(crate) key: Key,
    /// The indexes in order.
    pub(crate) indexes: Vec<Index>,
    /// What it is a summary of; whether it was to be one, and of what if it says so.
    pub(crate) is_summary: bool,
    pub(crate) summary: Option<Summary>,
    /// The summaries in which it counts.
    pub(crate) summarized_in: Vec<Path>,
    /// The structs that hold copies of it.
    pub(crate) copied_into: Vec<Path>,
}

/// A primary key.
pub(crate) struct Key {
    pub(crate) partition: Template,
    pub(crate) row: Template,
    /// `name`: what the function `key` on the struct is called.
    pub(crate) name: Option<Ident>,
    /// `partition_name`: what the function `partition` on the struct is called.
    pub(crate) partition_name: Option<Ident>,
}

impl<'a> Entity<'a> {
    /// Reads the input. `None` if there is nothing to go on with.
    pub(crate) fn read(cx: &Ctxt, input: &'a DeriveInput) -> Option<Self> {
        no_generics(cx, &input.generics, "an entity");
        let fields = named_fields(cx, input, "an entity")?;
        let attrs = EntityAttrs::read(cx, &input.attrs);
        must_have(cx, &attrs, &input.ident);
        let EntityAttrs { entity, entity_attr, key, indexes, summary, summarized_in, copied_into, .. } =
            attrs;
        let case = entity.rename_all.get().copied();
        let mut fields = Field::read_all(cx, fields, case, true);
        let words = [
            entity.table.word(),
            entity.keep.word(),
            entity.patch_name.word(),
            entity.types.word(),
            entity.gone.word(),
            key.name.word(),
            key.partition_name.word(),
        ];
        let idle = words.into_iter().flatten().cloned().collect();
        let version = entity.version.into_value();
        let names = Field::names(&fields);
        let key = Key {
            partition: Template::read(cx, key.partition.into_value(), &input.ident, &names),
            row: Template::read(cx, key.row.into_value(), &input.ident, &names),
            name: key.name.into_value(),
            partition_name: key.partition_name.into_value(),
        };
        let indexes: Vec<_> =
            indexes.into_iter().filter_map(|words| Index::new(cx, words, &input.ident, &fields)).collect();
        let of_indexes = indexes.iter().flat_map(|index| index.partition.iter().chain([&index.row]));
        for part in [&key.partition, &key.row].into_iter().chain(of_indexes).flat_map(Template::fields) {
            if let Some(field) =
                fields.get_mut(part.field).filter(|_| !part.each && part.format() != Format::Blind)
            {
                field.stands = Stands::InAKey;
            }
        }
        let text = |literal: Option<syn::LitStr>| match literal {
            Some(literal) => Spanned { value: literal.value(), span: literal.span() },
            // A text that no rule objects to: the error about its absence has been reported.
            None => Spanned { value: "missing".to_owned(), span: input.ident.span() },
        };
        let keep = entity.keep.into_value();
        let table = text(entity.table.into_value());
        let periods = Periods::read(cx, &table, keep, &input.ident, &fields);
        Some(Self {
            ident: &input.ident,
            vis: &input.vis,
            wide: entity.wide.word().cloned(),
            signed: entity.signed.word().cloned(),
            picture: entity.picture.into_value().unwrap_or(true),
            table,
            periods,
            kind: text(entity.kind.into_value()),
            version: version.as_ref().map_or(1, |version| version.value),
            version_span: version.map(|version| version.span),
            former: entity.former.word().cloned(),
            from: entity.from.into_value(),
            idle,
            case: case.unwrap_or(Case::Pascal),
            gone: entity
                .gone
                .into_value()
                .into_iter()
                .flatten()
                .map(|text| Spanned { value: text.value(), span: text.span() })
                .collect(),
            patch_name: entity.patch_name.into_value(),
            allow: entity.allow.into_value().unwrap_or_default(),
            krate: Krate::new(entity.krate.into_value()),
            types: Types::read(cx, entity.types, entity_attr.as_ref(), &input.ident, &indexes),
            fields,
            key,
            indexes,
            is_summary: summary.is_some(),
            summary: summary.and_then(|(word, words)| Summary::new(cx, word, words)),
            summarized_in,
            copied_into,
        })
    }

    /// Returns what its rows call it: its kind, and from version 2 on the version.
    pub(crate) fn entity_type(&self) -> String {
        let (kind, version) = (&self.kind.value, self.version);
        if version < 2 { kind.clone() } else { format!("{kind}@{version}") }
    }

    /// Returns the field at this place.
    pub(crate) fn field(&self, place: usize) -> Option<&Field<'a>> {
        self.fields.get(place)
    }

    /// Returns the fields that make up the primary key, in the order of its constructor's arguments.
    pub(crate) fn key_arguments(&self) -> Vec<usize> {
        template::arguments(&[&self.key.partition, &self.key.row])
    }

    /// Returns the fields that make up a key of this index, in the order of its constructor's arguments.
    pub(crate) fn index_arguments(&self, index: &Index) -> Vec<usize> {
        template::arguments(&[self.partition_of(index), &index.row])
    }

    /// Returns what the function `key` on the struct is called.
    pub(crate) fn key_name(&self) -> Ident {
        named(self.key.name.as_ref(), "key")
    }

    /// Returns what the function `partition` on the struct is called.
    pub(crate) fn partition_name(&self) -> Ident {
        named(self.key.partition_name.as_ref(), "partition")
    }

    /// Returns what the function `patch` on the struct is called.
    pub(crate) fn patch_name(&self) -> Ident {
        named(self.patch_name.as_ref(), "patch")
    }

    /// Returns how many parts it has besides its head.
    pub(crate) fn parts(&self) -> usize {
        self.fields.last().map_or(0, |field| field.part)
    }

    /// Returns every template with what it is a key of.
    pub(crate) fn templates(&self) -> impl Iterator<Item = &Template> {
        let of_indexes = self.indexes.iter().flat_map(|index| index.partition.iter().chain([&index.row]));
        [&self.key.partition, &self.key.row].into_iter().chain(of_indexes)
    }

    /// Returns the partition key of an index.
    pub(crate) fn partition_of<'m>(&'m self, index: &'m Index) -> &'m Template {
        index.partition.as_ref().unwrap_or(&self.key.partition)
    }

    /// Returns whether the rows of an index lie in another partition than their entity, or in another table.
    pub(crate) fn lies_elsewhere(&self, index: &Index) -> bool {
        let other_table =
            index.table.as_ref().is_some_and(|table| !table.value.eq_ignore_ascii_case(&self.table.value));
        let other_partition = |partition: &Template| partition.source() != self.key.partition.source();
        other_table || index.partition.as_ref().is_some_and(other_partition)
    }

    /// Returns whether a key of this partition and row gives the field back, as far as formats tell.
    pub(crate) fn gives_back(&self, row: &Template, field: usize) -> bool {
        self.key.partition.gives_back(field) || row.gives_back(field)
    }

    /// Returns whether `allow(hot_partition)` was said.
    pub(crate) fn allows_hot_partition(&self) -> bool {
        self.allow.iter().any(|warning| warning == HOT_PARTITION)
    }
}

fn named(given: Option<&Ident>, otherwise: &str) -> Ident {
    given.cloned().unwrap_or_else(|| Ident::new(otherwise, Span::mixed_site()))
}

/// C30: an entity has a table, a kind, a partition key and a row key. A word that was tried is not missed.
fn must_have(cx: &Ctxt, attrs: &EntityAttrs, ident: &Ident) {
    let EntityAttrs { entity, entity_attr, key, key_attr, .. } = attrs;
    let kind = case::snake(&ident.to_string());
    let at = entity_attr.as_ref().map_or_else(|| ident.span(), Ident::span);
    // The rows of a previous version are those of the table of the one that it has become.
    match (entity.table.is_missing() && entity.former.is_missing(), entity.kind.is_missing()) {
        (true, true) => cx.error(
            ident.span(),
            format!("an entity says its table and its kind: `#[entity(table = \"..\", kind = \"{kind}\")]`"),
        ),
        (true, false) => cx.error(at, "the entity has no `table`: `#[entity(table = \"..\", kind = \"..\")]`"),
        (false, true) => cx.error(
            at,
            format!("the entity has no `kind`, the tag on its rows: `#[entity(table = \"..\", kind = \"{kind}\")]`"),
        ),
        (false, false) => {}
    }
    let Some(key_attr) = key_attr else {
        cx.error(ident.span(), "an entity has a key: `#[key(partition = \"..\", row = \"..\")]`");
        return;
    };
    for (missing, word) in [(key.partition.is_missing(), "partition"), (key.row.is_missing(), "row")] {
        if missing {
            cx.error(
                key_attr.span(),
                format!("the key has no `{word}`: `#[key(partition = \"..\", row = \"..\")]`"),
            );
        }
    }
}
