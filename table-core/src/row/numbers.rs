//! The numbers that a dictionary gives to the properties of a struct, looked up once for all reads and writes.

use std::sync::OnceLock;

use super::dict::Dict;
use crate::plan::{Cause, PropertyOf, RowKind};
use crate::schema::{Field, Schema};

/// Where a property is to be found in rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PropertyNumber {
    /// Its number; `None` where the dictionary has none.
    pub(crate) id: Option<u16>,
    /// The same; `None`, too, where what rows have under it is sealed.
    pub(crate) unsealed: Option<u16>,
    /// Its place among the slots of a row that has all properties and gives none of them back by its keys.
    pub(crate) place: usize,
}

/// How the rows of one kind are written: by number, in the order in which a row has them.
#[derive(Debug)]
pub(crate) struct RowNumbers {
    /// The number of the row's `EntityType`, if that is a symbol.
    pub(crate) symbol: Option<u16>,
    pub(crate) columns: Vec<NumberedColumn>,
    /// Whether tokens are among them.
    pub(crate) has_tokens: bool,
}

/// A property that the rows of one kind have, if the entity has a value for it.
#[derive(Debug)]
pub(crate) struct NumberedColumn {
    pub(crate) id: u16,
    pub(crate) property: PropertyOf,
    pub(crate) name: &'static str,
}

impl RowNumbers {
    /// `None` if something has no number: it may be about to get one, or stand in the row itself.
    fn of(dict: &Dict, kind: RowKind) -> Option<Self> {
        let symbol = dict.symbol_id(kind.name());
        if symbol.is_none() && dict.takes_symbol(kind.name()) {
            return None;
        }
        let column = |(name, property)| Some(NumberedColumn { id: dict.id(name)?, property, name });
        let mut columns: Vec<_> = kind.properties().map(column).collect::<Option<_>>()?;
        columns.sort_unstable_by_key(|column| column.id);
        let has_tokens = columns.iter().any(|column| matches!(column.property, PropertyOf::Token(_)));
        Some(Self { symbol, columns, has_tokens })
    }

    /// Those of an entity's own rows and, in the order of its indexes, of its copies.
    pub(crate) fn of_all(dict: &Dict, schema: &'static Schema) -> Vec<Option<Self>> {
        let copies = (0..schema.indexes.len()).map(Cause::Index);
        let causes = std::iter::once(Cause::Entity).chain(copies);
        causes.map(|cause| Self::of(dict, RowKind { schema, cause })).collect()
    }
}

/// What one dictionary says of declarations: few, each found by its address.
#[derive(Debug)]
pub(crate) struct Known<K: ?Sized + 'static, V>(OnceLock<Box<Entry<K, V>>>);

#[derive(Debug)]
struct Entry<K: ?Sized + 'static, V> {
    declaration: &'static K,
    found: V,
    next: Known<K, V>,
}

impl<K: ?Sized, V> Default for Known<K, V> {
    fn default() -> Self {
        Self(OnceLock::new())
    }
}

/// A dictionary that is cloned is about to change.
impl<K: ?Sized, V> Clone for Known<K, V> {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl<K: ?Sized, V> Known<K, V> {
    /// What is known of the declaration; `find` looks it up the first time.
    pub(crate) fn of(&self, declaration: &'static K, find: impl Fn(&'static K) -> V) -> &V {
        let mut known = self;
        loop {
            let entry = known.0.get_or_init(|| {
                Box::new(Entry { declaration, found: find(declaration), next: Self::default() })
            });
            if std::ptr::eq(entry.declaration, declaration) {
                return &entry.found;
            }
            known = &entry.next;
        }
    }
}

/// The numbers of these fields' properties.
pub(crate) fn numbers(dict: &Dict, fields: &[Field]) -> Vec<PropertyNumber> {
    let ids: Vec<_> = fields.iter().map(|field| dict.id(field.property)).collect();
    let before = |id: u16| {
        let others = ids.iter().flatten().filter(|other| **other < id).count();
        others + usize::from(dict.entity_type().is_some_and(|kind| kind < id))
    };
    let number = |(id, field): (&Option<u16>, &Field)| PropertyNumber {
        id: *id,
        unsealed: id.filter(|_| !field.encrypted),
        place: id.map_or(0, before),
    };
    ids.iter().zip(fields).map(number).collect()
}
