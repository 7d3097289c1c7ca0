//! Keys of entities and of their copies, made from the fields that stand in them.

#[cfg(feature = "serde")]
mod as_list;
mod identity;
mod reference;

pub use reference::{Ref, RefArg, RefColumn, RefTarget};

use std::marker::PhantomData;

use super::blind::BlindKey;
use super::point::Sought;
use crate::error::Result;
use crate::model::{EntityKeys, ValueRef};
use crate::plan::Values;
use crate::row::view::RowView;
use crate::schema::{
    self, CharSet, FieldPart, KeyPair, KeyPart, KeyType, KeyValues, Part, Place, Property, PropertyValue,
    Schema, Template, ValueError,
};
use crate::typed::change::values_of;
use crate::typed::entity::Entity;
use crate::typed::entity::column::sealed::Given;
use crate::typed::entity::path::{self, Path, PathKeys};
use crate::typed::entity::stored::Stored;
use crate::typed::query::OwnRows;

/// What can be given for a field in a key: the field's own type, a reference to it, and `&str` for text.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be given for a key part of type `{T}`",
    label = "expected `{T}`",
    note = "a key is given its parts in the order of its declaration: first those of the partition, then those of the row"
)]
pub trait KeyArg<T> {
    #[doc(hidden)]
    fn to_key(&self) -> Result<PropertyValue<'_>, ValueError>;
}

#[diagnostic::do_not_recommend]
impl<T: KeyPart> KeyArg<T> for T {
    fn to_key(&self) -> Result<PropertyValue<'_>, ValueError> {
        self.to_property()
    }
}

#[diagnostic::do_not_recommend]
impl<T: KeyPart> KeyArg<T> for &T {
    fn to_key(&self) -> Result<PropertyValue<'_>, ValueError> {
        (*self).to_property()
    }
}

#[diagnostic::do_not_recommend]
impl KeyArg<Box<str>> for &str {
    fn to_key(&self) -> Result<PropertyValue<'_>, ValueError> {
        Ok(PropertyValue::Borrowed(ValueRef::String(self)))
    }
}

#[diagnostic::do_not_recommend]
impl KeyArg<String> for &str {
    fn to_key(&self) -> Result<PropertyValue<'_>, ValueError> {
        Ok(PropertyValue::Borrowed(ValueRef::String(self)))
    }
}

/// What can be given for an encrypted field that a key holds the token of: the field's own type, a reference to it,
/// and `&str` for text.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be given for an encrypted field of type `{T}`",
    label = "expected `{T}`: a token is looked up by one value"
)]
pub trait BlindArg<T>: Given<T> {
    #[doc(hidden)]
    fn to_value(&self) -> Result<PropertyValue<'_>, ValueError>;
}

#[diagnostic::do_not_recommend]
impl<T: Property> BlindArg<T> for T {
    fn to_value(&self) -> Result<PropertyValue<'_>, ValueError> {
        self.to_property()
    }
}

#[diagnostic::do_not_recommend]
impl<T: Property> BlindArg<T> for &T {
    fn to_value(&self) -> Result<PropertyValue<'_>, ValueError> {
        (*self).to_property()
    }
}

macro_rules! text_for {
    ($($type:ty),+) => {$(
        #[diagnostic::do_not_recommend]
        impl BlindArg<$type> for &str {
            fn to_value(&self) -> Result<PropertyValue<'_>, ValueError> {
                Ok(PropertyValue::Borrowed(ValueRef::String(self)))
            }
        }
    )+};
}

text_for!(String, Box<str>);
#[cfg(feature = "encrypt")]
text_for!(crate::crypt::Secret<String>, crate::crypt::Secret<Box<str>>);

/// Returns what a token prints in a key, whatever it is of; `optional` if there may be none.
#[doc(hidden)]
#[must_use]
pub const fn token_key(optional: bool) -> KeyType {
    const TOKEN: KeyType = KeyType::Text(CharSet::ALL);
    if optional { KeyType::Optional(&TOKEN) } else { TOKEN }
}

/// A value given for a key part, converted.
pub type KeyResult<'a> = Result<PropertyValue<'a>, ValueError>;

/// The arguments of a key's constructor: the distinct fields of its templates in order of first occurrence.
pub(crate) struct Arguments<'a> {
    templates: [&'a Template; 2],
    given: &'a [KeyResult<'a>],
}

impl<'a> Arguments<'a> {
    pub(crate) fn new(place: &'a Place, given: &'a [KeyResult<'a>]) -> Self {
        Self { templates: [&place.partition, &place.row], given }
    }

    /// Returns what was given for a field.
    pub(crate) fn given(&self, field: usize) -> Option<ValueRef<'_>> {
        match self.given.get(self.place(field)?) {
            Some(Ok(value)) => value.as_value_ref(),
            _ => None,
        }
    }

    /// Returns the parts of the templates, one after another.
    fn parts(&self) -> impl Iterator<Item = &'static FieldPart> {
        self.templates.into_iter().flat_map(schema::fields)
    }

    /// Returns the place of a field among the arguments. Keys have so few that they are counted each time.
    fn place(&self, field: usize) -> Option<usize> {
        let (mut place, mut before) = (0, 0);
        for template in self.templates {
            for part in template.parts {
                let Part::Field(part) = part else { continue };
                if part.field == field {
                    return Some(place);
                }
                let is_new = before == 0 || self.is_new(part.field, before);
                (place, before) = (place + usize::from(is_new), before + 1);
            }
        }
        None
    }

    /// Returns whether none of so many first parts is of this field.
    fn is_new(&self, field: usize, parts: usize) -> bool {
        self.parts().take(parts).all(|before| before.field != field)
    }
}

impl KeyValues for Arguments<'_> {
    fn value(&self, part: &FieldPart) -> Result<PropertyValue<'_>, ValueError> {
        match self.place(part.field).and_then(|at| self.given.get(at)) {
            Some(Ok(value)) => {
                Ok(value.as_value_ref().map_or(PropertyValue::Absent, PropertyValue::Borrowed))
            }
            Some(Err(error)) => Err(*error),
            None => Ok(PropertyValue::Absent),
        }
    }
}

/// Prints a partition key and a row key from the arguments of a constructor.
pub(super) fn print(schema: &Schema, place: &Place, given: &[KeyResult<'_>]) -> Result<KeyPair> {
    print_values(schema, place, &Arguments::new(place, given))
}

/// Prints a partition key and a row key.
pub(crate) fn print_values(schema: &Schema, place: &Place, values: &dyn KeyValues) -> Result<KeyPair> {
    schema::keys(schema, place, values, "make a key for")
}

/// The key of an entity: its partition key and its row key.
///
/// Made by the entity's own `key` function from the fields that stand in it. A value that no key can hold makes a key
/// whose use is an error.
pub struct Key<E> {
    keys: Result<KeyPair>,
    entity: PhantomData<fn() -> E>,
}

#[allow(
    clippy::inline_always,
    reason = "in the codegen unit of the caller: `typed::entity::codegen_units` says why"
)]
impl<E: Entity> Key<E> {
    /// Makes the key of an entity that was met in the table.
    pub(crate) fn stored(partition: &str, row: &str) -> Self {
        Self { keys: Ok(KeyPair::of(partition, row)), entity: PhantomData }
    }

    #[doc(hidden)]
    #[cfg_attr(debug_assertions, inline(always))]
    pub fn of_parts(parts: &[KeyResult<'_>]) -> Self {
        Self { keys: print(E::SCHEMA, E::SCHEMA.place(), parts), entity: PhantomData }
    }

    /// Makes the key of this entity.
    pub fn of(entity: &E) -> Self {
        Self { keys: own_keys(E::SCHEMA, values_of(entity)), entity: PhantomData }
    }

    /// Makes the key of these texts.
    pub(crate) fn verbatim(partition: &str, row: &str) -> Self {
        Self { keys: Ok(KeyPair::of(partition, row)), entity: PhantomData }
    }

    /// Makes a key for a change that doesn't ask for one.
    #[cfg_attr(debug_assertions, inline(always))]
    pub(crate) fn unused() -> Self {
        Self { keys: Ok(KeyPair::default()), entity: PhantomData }
    }
}

#[allow(
    clippy::inline_always,
    reason = "in the codegen unit of the caller: `typed::entity::codegen_units` says why"
)]
impl<E> Key<E> {
    #[cfg_attr(debug_assertions, inline(always))]
    pub(crate) fn into_keys(self) -> Result<KeyPair> {
        self.keys
    }

    /// Returns the partition key and the row key.
    pub fn as_strs(&self) -> Result<(&str, &str)> {
        schema::as_keys(&self.keys).map(EntityKeys::into_pair)
    }
}

/// What says which entity a change is of: its [`Key`], or a [`Ref`] to it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the key of the entity `{E}` itself",
    label = "write `{E}::key(..)`, or give a `Ref<{E}>`",
    note = "by the key of an index a copy is read: `Key::of(&copy)` is the key of its entity, and `row.key()` where rows of the index hold some of the fields"
)]
pub trait KeyOf<E>: Into<Key<E>> {}

#[diagnostic::do_not_recommend]
impl<E, K: Into<Key<E>>> KeyOf<E> for K {}

/// A partition of an entity's table.
///
/// Made by the entity's own `partition` function from the fields that stand in its partition key.
pub struct Partition<E> {
    key: Result<String>,
    entity: PhantomData<fn() -> E>,
}

impl<E: Entity> Partition<E> {
    #[doc(hidden)]
    pub fn of_parts(parts: &[KeyResult<'_>]) -> Self {
        let place = Place { row: Template::NOTHING, ..*E::SCHEMA.place() };
        let key = print(E::SCHEMA, &place, parts).map(KeyPair::into_partition);
        Self { key, entity: PhantomData }
    }
}

impl<E> Partition<E> {
    /// Returns the partition key.
    pub fn as_str(&self) -> Result<&str> {
        match &self.key {
            Ok(key) => Ok(key),
            Err(error) => Err(error.again()),
        }
    }

    pub(crate) fn into_key(self) -> Result<String> {
        self.key
    }
}

/// The key of an entity's copy in an index.
///
/// Made by the function on the entity that is named as the index.
///
/// Where the row key holds the token of an encrypted field it can be printed only by a table, which has the keys: what
/// was given for the field is kept till then, shown by nothing, and wiped when the key is dropped.
pub struct IndexKey<P> {
    keys: Keys,
    path: PhantomData<fn() -> P>,
}

enum Keys {
    Printed(Result<KeyPair>),
    Blind(BlindKey),
}

impl Keys {
    fn new(path: &'static PathKeys, parts: &[KeyResult<'_>]) -> Self {
        if path.is_blind() {
            Self::Blind(BlindKey::new(path, parts))
        } else {
            Self::Printed(print(path.schema(), path.place(), parts))
        }
    }

    fn sought(&self) -> Sought<'_> {
        match self {
            Self::Printed(keys) => Sought::Printed(schema::as_keys(keys)),
            Self::Blind(key) => Sought::Blind(key),
        }
    }
}

/// Returns the keys of the entity with these values.
fn own_keys(schema: &'static Schema, values: Result<Values<'_>>) -> Result<KeyPair> {
    schema::own_keys(schema, &values?)
}

#[allow(
    clippy::inline_always,
    reason = "in the codegen unit of the caller: `typed::entity::codegen_units` says why"
)]
impl<P: Path> IndexKey<P> {
    #[doc(hidden)]
    #[cfg_attr(debug_assertions, inline(always))]
    pub fn of_parts(parts: &[KeyResult<'_>]) -> Self {
        Self { keys: Keys::new(P::KEYS, parts), path: PhantomData }
    }
}

impl<P> IndexKey<P> {
    /// Returns the partition key and the row key of the copy. An error if a token stands in it.
    pub fn as_strs(&self) -> Result<(&str, &str)> {
        self.keys.sought().keys().map(EntityKeys::into_pair)
    }
}

/// A key that one row can be read by, and what it is read as.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no key by which `{E}` can be read",
    label = "write `{E}::key(..)`",
    note = "a copy is read by the key of its index, which is a function on `{E}` named as the index; a `Ref` is read in a table of the entity that it refers to; `Table::dynamic` reads by the texts of keys"
)]
pub trait Lookup<E: Entity>: sealed::Sealed {
    /// What the row is read as.
    type Output;
    /// The way to it.
    #[doc(hidden)]
    type Path: Path<Entity = E>;

    /// Returns the key as it is looked for.
    #[doc(hidden)]
    #[expect(private_interfaces, reason = "only this crate implements it")]
    fn sought(&self) -> Sought<'_>;

    #[doc(hidden)]
    fn keys(&self) -> Result<EntityKeys<'_>> {
        self.sought().keys()
    }

    /// Returns the key, if only a table can print it.
    #[doc(hidden)]
    #[expect(private_interfaces, reason = "only this crate implements it")]
    fn blind(&self) -> Option<&BlindKey> {
        match self.sought() {
            Sought::Blind(key) => Some(key),
            Sought::Printed(_) => None,
        }
    }

    #[doc(hidden)]
    fn read(view: &RowView<'_>) -> Result<Self::Output>;
}

mod sealed {
    /// Seals [`Lookup`](super::Lookup): only types of this crate implement it.
    pub trait Sealed {}

    impl<E> Sealed for super::Key<E> {}
    impl<P> Sealed for super::IndexKey<P> {}
    impl<E> Sealed for crate::typed::read::list::ListKey<E> {}
}

#[allow(
    clippy::inline_always,
    reason = "in the codegen unit of the caller: `typed::entity::codegen_units` says why"
)]
#[diagnostic::do_not_recommend]
impl<E: Entity> Lookup<E> for Key<E> {
    type Output = Stored<E>;
    type Path = OwnRows<E>;

    #[expect(private_interfaces, reason = "only this crate implements it")]
    #[cfg_attr(debug_assertions, inline(always))]
    fn sought(&self) -> Sought<'_> {
        Sought::Printed(schema::as_keys(&self.keys))
    }

    #[cfg_attr(debug_assertions, inline(always))]
    fn read(view: &RowView<'_>) -> Result<Self::Output> {
        path::check_own(view, E::SCHEMA)?;
        path::read_stored(view)
    }
}

#[allow(
    clippy::inline_always,
    reason = "in the codegen unit of the caller: `typed::entity::codegen_units` says why"
)]
#[diagnostic::do_not_recommend]
impl<P: Path> Lookup<P::Entity> for IndexKey<P> {
    type Output = P::Item;
    type Path = P;

    #[expect(private_interfaces, reason = "only this crate implements it")]
    #[cfg_attr(debug_assertions, inline(always))]
    fn sought(&self) -> Sought<'_> {
        self.keys.sought()
    }

    #[cfg_attr(debug_assertions, inline(always))]
    fn read(view: &RowView<'_>) -> Result<P::Item> {
        path::check_kind(view, P::KEYS.tag())?;
        P::read(view)
    }
}
