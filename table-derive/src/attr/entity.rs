//! `#[entity(..)]`, `#[key(..)]` and what else stands on the struct of an entity.

use proc_macro2::Ident;
use syn::parse::ParseStream;
use syn::{Attribute, Error, LitStr, Path, Result};

use super::copy_of;
use super::list::ListWords;
use super::summary::{self, SummaryWords};
use super::types::{TypeWord, types};
use super::{Fill, IndexWords, Slot, Words, value};
use crate::case::Case;
use crate::ctxt::Ctxt;
use crate::model::Spanned;
use crate::suggest;
use crate::symbol::{
    ALLOW, BLOB, COPIED_INTO, COPY_OF, CRATE, ENCRYPT, ENTITY, FLATTEN, FORMER, FROM, GONE, HOT_PARTITION,
    INDEX, INDEX_LIST, KEEP, KEY, KIND, NAME, PART, PARTITION, PARTITION_NAME, PATCH_NAME, PICTURE, PROPERTY,
    RENAME_ALL, ROW, SERIES, SIGNED, SUMMARIZED_IN, SUMMARY, TABLE, TYPES, VERSION, WIDE,
};

/// The attributes on the struct of an entity.
pub(crate) struct EntityAttrs {
    pub(crate) entity: EntityWords,
    /// The name of `#[entity]`, if there is one: where a missing word of it is reported.
    pub(crate) entity_attr: Option<Ident>,
    pub(crate) key: KeyWords,
    /// The name of `#[key]`, if there is one: where a missing row key is reported.
    pub(crate) key_attr: Option<Ident>,
    pub(crate) indexes: Vec<IndexWords>,
    /// `#[summary]`, with its name.
    pub(crate) summary: Option<(Ident, SummaryWords)>,
    /// `#[summarized_in(..)]`.
    pub(crate) summarized_in: Vec<Path>,
    /// The structs that hold copies of it.
    pub(crate) copied_into: Vec<Path>,
}

/// `#[entity(..)]`.
pub(crate) struct EntityWords {
    pub(crate) table: Slot<LitStr>,
    pub(crate) kind: Slot<LitStr>,
    pub(crate) keep: Slot<LitStr>,
    pub(crate) version: Slot<Spanned<u32>>,
    pub(crate) former: Slot<()>,
    pub(crate) from: Slot<Path>,
    pub(crate) gone: Slot<Vec<LitStr>>,
    pub(crate) rename_all: Slot<Case>,
    pub(crate) krate: Slot<Path>,
    pub(crate) patch_name: Slot<Ident>,
    pub(crate) allow: Slot<Vec<Ident>>,
    pub(crate) wide: Slot<()>,
    pub(crate) signed: Slot<()>,
    pub(crate) picture: Slot<bool>,
    pub(crate) types: Slot<Vec<TypeWord>>,
}

/// `#[key(..)]`.
pub(crate) struct KeyWords {
    pub(crate) partition: Slot<LitStr>,
    pub(crate) row: Slot<LitStr>,
    pub(crate) name: Slot<Ident>,
    pub(crate) partition_name: Slot<Ident>,
}

impl EntityAttrs {
    /// Reads them.
    pub(crate) fn read(cx: &Ctxt, attrs: &[Attribute]) -> Self {
        let mut all = Self {
            entity: EntityWords::new(),
            entity_attr: None,
            key: KeyWords::new(),
            key_attr: None,
            indexes: Vec::new(),
            summary: None,
            summarized_in: Vec::new(),
            copied_into: Vec::new(),
        };
        for attr in attrs {
            let Some((name, text)) = super::name(attr) else { continue };
            match text.as_str() {
                ENTITY => {
                    super::read(cx, attr, &mut all.entity);
                    all.entity_attr.get_or_insert_with(|| name.clone());
                }
                KEY => {
                    super::read(cx, attr, &mut all.key);
                    all.key_attr.get_or_insert_with(|| name.clone());
                }
                INDEX => all.indexes.extend(IndexWords::read(cx, attr)),
                INDEX_LIST => all.indexes.extend(ListWords::read(cx, attr)),
                SUMMARY => {
                    let new = || (name.clone(), SummaryWords::new());
                    super::read(cx, attr, &mut all.summary.get_or_insert_with(new).1);
                }
                SUMMARIZED_IN => all.summarized_in.extend(summary::summarized_in(cx, attr)),
                COPIED_INTO => all.copied_into.extend(copy_of::copied_into(cx, attr)),
                PROPERTY | FLATTEN | ENCRYPT | SERIES | BLOB | COPY_OF | PART => {
                    cx.error(name.span(), format!("`#[{name}]` belongs on a field"));
                }
                _ => {}
            }
        }
        all
    }
}

impl EntityWords {
    fn new() -> Self {
        Self {
            table: Slot::new(value::text),
            kind: Slot::new(value::text),
            keep: Slot::new(value::text),
            version: Slot::new(value::number),
            former: Slot::new(value::flag),
            from: Slot::new(value::path),
            gone: Slot::new(value::properties),
            rename_all: Slot::new(value::property_case),
            krate: Slot::new(value::path),
            patch_name: Slot::new(value::name),
            allow: Slot::new(warnings),
            wide: Slot::new(value::flag),
            signed: Slot::new(value::flag),
            picture: Slot::new(value::truth),
            types: Slot::new(types),
        }
    }
}

impl Words for EntityWords {
    const KNOWN: &'static [&'static str] = &[
        TABLE, KIND, KEEP, VERSION, FORMER, FROM, GONE, RENAME_ALL, CRATE, PATCH_NAME, ALLOW, WIDE, SIGNED,
        PICTURE, TYPES,
    ];
    const EXAMPLE: &'static str = "#[entity(table = \"..\", kind = \"..\")]";

    fn slot(&mut self, word: &str) -> Option<&mut dyn Fill> {
        Some(match word {
            TABLE => &mut self.table,
            KIND => &mut self.kind,
            KEEP => &mut self.keep,
            VERSION => &mut self.version,
            FORMER => &mut self.former,
            FROM => &mut self.from,
            GONE => &mut self.gone,
            RENAME_ALL => &mut self.rename_all,
            CRATE => &mut self.krate,
            PATCH_NAME => &mut self.patch_name,
            ALLOW => &mut self.allow,
            WIDE => &mut self.wide,
            SIGNED => &mut self.signed,
            PICTURE => &mut self.picture,
            TYPES => &mut self.types,
            _ => return None,
        })
    }
}

impl KeyWords {
    fn new() -> Self {
        Self {
            partition: Slot::new(value::text),
            row: Slot::new(value::text),
            name: Slot::new(value::name),
            partition_name: Slot::new(value::name),
        }
    }
}

impl Words for KeyWords {
    const KNOWN: &'static [&'static str] = &[PARTITION, ROW, NAME, PARTITION_NAME];
    const EXAMPLE: &'static str = "#[key(partition = \"..\", row = \"..\")]";

    fn slot(&mut self, word: &str) -> Option<&mut dyn Fill> {
        Some(match word {
            PARTITION => &mut self.partition,
            ROW => &mut self.row,
            NAME => &mut self.name,
            PARTITION_NAME => &mut self.partition_name,
            _ => return None,
        })
    }
}

/// `allow(hot_partition)`.
fn warnings(word: &Ident, input: ParseStream<'_>) -> Result<Vec<Ident>> {
    let names = value::names(word, input)?;
    match names.iter().find(|name| *name != HOT_PARTITION) {
        None => Ok(names),
        Some(name) => {
            let hint = suggest::hint(&name.to_string(), [HOT_PARTITION]);
            Err(Error::new(name.span(), format!("unknown warning `{name}`{hint}")))
        }
    }
}
