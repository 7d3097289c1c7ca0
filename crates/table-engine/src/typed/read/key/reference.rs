//! References: the key of another entity, kept in an entity.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::ops::Deref;

use super::{Key, Lookup};
use crate::error::Result;
use crate::model::{EdmType, Value, ValueRef};
use crate::plan::Values;
use crate::query::{Filter, declared};
use crate::row::view::RowView;
use crate::schema::{self, Field, Property, PropertyValue, ValueError};
use crate::typed::entity::Entity;
use crate::typed::entity::column::{Always, Column, MayLack, Maybe, Plain};
use crate::typed::entity::group::Group;
use crate::typed::entity::source::Source;
use crate::typed::entity::stored::Stored;
use crate::typed::query::OwnRows;
use crate::typed::read::point::Sought;

/// The key of another entity, kept as two properties of the one that refers to it: `manager: Ref<Employee>` as
/// `ManagerPartition` and `ManagerRow`.
///
/// A table of that entity takes it where it takes a [`Key`], to read by, and `Option<Ref<..>>` refers to one or to none. It
/// is not checked: an entity may be deleted that others refer to, and there is none of the key then.
///
/// ```
/// use table_core::typed::Ref;
/// use table_core::{Entity, Store};
///
/// #[derive(Entity)]
/// #[entity(table = "Company", kind = "employee")]
/// #[key(partition = "{department}", row = "empid_{id:06}")]
/// struct Employee {
///     department: String,
///     id: u32,
///     name: String,
///     manager: Option<Ref<Employee>>,
/// }
///
/// # let dir = tempfile::tempdir()?;
/// # let store = Store::open(dir.path().join("company.tables"))?;
/// let staff = store.table::<Employee>()?;
/// let ann = Employee { department: "Board".into(), id: 1, name: "Ann".into(), manager: None };
/// let bob = Employee { department: "Sales".into(), id: 2, name: "Bob".into(), manager: Some(Ref::to(&ann)) };
/// staff.insert(&ann)?;
/// staff.insert(&bob)?;
///
/// let bob = staff.get(Employee::key("Sales", 2))?.unwrap();
/// let manager = staff.get(bob.manager.as_ref().unwrap())?.unwrap();
/// assert_eq!(manager.name, "Ann");
/// let hers = staff.all().filter(|e| e.manager.eq(Employee::key("Board", 1)));
/// assert_eq!(hers.count()?, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Ref<E> {
    key: Key<E>,
}

impl<E: Entity> Ref<E> {
    /// Makes a reference to this entity, or to the one of this key.
    ///
    /// ```
    /// # use table_core::typed::Ref;
    /// # use table_core::Entity;
    /// # #[derive(Entity)]
    /// # #[entity(table = "Company", kind = "employee")]
    /// # #[key(partition = "{department}", row = "empid_{id:06}")]
    /// # struct Employee { department: String, id: u32 }
    /// let ann = Employee { department: "Board".into(), id: 1 };
    /// assert_eq!(Ref::to(&ann), Ref::to(Employee::key("Board", 1)));
    /// ```
    pub fn to<By>(referent: impl RefTarget<E, By>) -> Self {
        Self { key: referent.into_key() }
    }
}

/// What [`Ref::to`] takes: a reference to an entity, as it is or as it was read, or a key.
///
/// `By` is how it leads to the entity, which the compiler finds.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is nothing that a reference can be to",
    label = "give the entity, `&entity`, or its key",
    note = "what a row of an index holds is no entity: `row.key()` is the key of the one that it is of"
)]
pub trait RefTarget<E, By> {
    /// Returns its key.
    #[doc(hidden)]
    fn into_key(self) -> Key<E>;
}

/// The ways of [`RefTarget`]. With a second one for each reference the compiler, when none is one, says so in the trait's words and
/// takes nothing for an entity.
pub(crate) mod by {
    /// It is the entity.
    #[derive(Debug)]
    pub enum Itself {}
    /// It derefs to the entity.
    #[derive(Debug)]
    pub enum WhatHoldsIt {}
    /// It is the entity's key.
    #[derive(Debug)]
    pub enum ItsKey {}
}

#[diagnostic::do_not_recommend]
impl<E: Entity> RefTarget<E, by::Itself> for &E {
    fn into_key(self) -> Key<E> {
        Key::of(self)
    }
}

#[diagnostic::do_not_recommend]
impl<E: Entity> RefTarget<E, by::Itself> for &mut E {
    fn into_key(self) -> Key<E> {
        Key::of(self)
    }
}

#[diagnostic::do_not_recommend]
impl<E: Entity, H: Deref<Target = E>> RefTarget<E, by::WhatHoldsIt> for &H {
    fn into_key(self) -> Key<E> {
        Key::of(self)
    }
}

#[diagnostic::do_not_recommend]
impl<E> RefTarget<E, by::ItsKey> for Key<E> {
    fn into_key(self) -> Self {
        self
    }
}

impl<E> Ref<E> {
    /// Returns the key that it refers by, where one is to be given away.
    #[must_use]
    pub fn key(&self) -> Key<E> {
        self.key.clone()
    }

    /// Returns the partition key and the row key.
    pub fn as_strs(&self) -> Result<(&str, &str)> {
        self.key.as_strs()
    }
}

/// A key that no row can have makes a reference that no entity can be written with.
impl<E> From<Key<E>> for Ref<E> {
    fn from(key: Key<E>) -> Self {
        Self { key }
    }
}

impl<E> From<Ref<E>> for Key<E> {
    fn from(reference: Ref<E>) -> Self {
        reference.key
    }
}

impl<E> Clone for Ref<E> {
    fn clone(&self) -> Self {
        Self { key: self.key.clone() }
    }
}

impl<E> PartialEq for Ref<E> {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl<E> Eq for Ref<E> {}

impl<E> PartialEq<Key<E>> for Ref<E> {
    fn eq(&self, other: &Key<E>) -> bool {
        self.key == *other
    }
}

impl<E> Hash for Ref<E> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key.hash(state);
    }
}

impl<E> fmt::Debug for Ref<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.key.as_strs() {
            Ok((partition, row)) => f.debug_tuple("Ref").field(&partition).field(&row).finish(),
            Err(error) => f.debug_tuple("Ref").field(&error).finish(),
        }
    }
}

impl<E> super::sealed::Sealed for Ref<E> {}
impl<E> super::sealed::Sealed for &Ref<E> {}

#[diagnostic::do_not_recommend]
impl<E: Entity> Lookup<E> for Ref<E> {
    type Output = Stored<E>;
    type Path = OwnRows<E>;

    #[expect(private_interfaces, reason = "only this crate implements it")]
    fn sought(&self) -> Sought<'_> {
        Sought::Printed(schema::as_keys(&self.key.keys))
    }

    fn read(view: &RowView<'_>) -> Result<Self::Output> {
        <Key<E> as Lookup<E>>::read(view)
    }
}

#[diagnostic::do_not_recommend]
impl<E: Entity> Lookup<E> for &Ref<E> {
    type Output = Stored<E>;
    type Path = OwnRows<E>;

    #[expect(private_interfaces, reason = "only this crate implements it")]
    fn sought(&self) -> Sought<'_> {
        Sought::Printed(schema::as_keys(&self.key.keys))
    }

    fn read(view: &RowView<'_>) -> Result<Self::Output> {
        <Key<E> as Lookup<E>>::read(view)
    }
}

/// What a reference can be to.
#[diagnostic::on_unimplemented(
    message = "a `Ref` is to an entity, and `{Self}` is none",
    label = "refer to a struct with `#[derive(Entity)]`, or keep the value itself in the field"
)]
pub trait Referent: Entity {}

#[diagnostic::do_not_recommend]
impl<E: Entity> Referent for E {}

/// What is kept of a reference. Not what the entity says of itself: two may refer to one another.
impl<E: Referent> Group for Ref<E> {
    const FIELDS: &'static [Field] =
        &[String::FIELD.named("partition", "Partition"), String::FIELD.named("row", "Row")];

    fn values<'a>(&'a self, out: &mut Values<'a>) {
        let (partition, row) = texts(self.as_strs().ok());
        out.push(partition);
        out.push(row);
    }

    fn take(source: &Source<'_>, first: usize) -> Result<Self> {
        let partition = source.field(first, String::TAKE)?;
        let row = source.field(first + 1, String::TAKE)?;
        Ok(Self { key: Key::verbatim(&partition, &row) })
    }
}

type Given<'a> = Result<PropertyValue<'a>, ValueError>;

fn texts<'a>(keys: Option<(&'a str, &'a str)>) -> (Given<'a>, Given<'a>) {
    let text = |text: &'a str| Ok(PropertyValue::Borrowed(ValueRef::String(text)));
    if let Some((partition, row)) = keys {
        return (text(partition), text(row));
    }
    let why = "a reference by a key that no row can have, which `Ref::as_strs` tells more of";
    let refused = ValueError::invalid(EdmType::String, why);
    (Err(refused), Err(refused))
}

/// What a reference is compared with: the key of an entity, or another reference.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no key of `{E}`, to which the reference is",
    label = "write `{E}::key(..)`, or give a `Ref<{E}>`"
)]
pub trait RefArg<E>: Into<Key<E>> {}

#[diagnostic::do_not_recommend]
impl<E, K: Into<Key<E>>> RefArg<E> for K {}

/// A reference in a filter: `|e| e.manager.eq(Employee::key("Sales", 7))`.
pub struct RefColumn<E, A = Always> {
    /// The properties.
    partition: &'static str,
    row: &'static str,
    entity: PhantomData<fn() -> (E, A)>,
}

impl<E, A> RefColumn<E, A> {
    #[doc(hidden)]
    #[must_use]
    pub const fn new(partition: &'static str, row: &'static str) -> Self {
        Self { partition, row, entity: PhantomData }
    }

    /// Filters by whether it refers to the entity of this key. No entity refers by a key that no row can have.
    pub fn eq(&self, key: impl RefArg<E>) -> Filter {
        let key = key.into();
        let (partition, row) = match key.as_strs() {
            Ok((partition, row)) => (Value::from(partition), Value::from(row)),
            // Text is never a number.
            Err(_) => (Value::Boolean(true), Value::Boolean(true)),
        };
        declared(self.partition).eq(partition) & declared(self.row).eq(row)
    }

    /// Filters by whether it refers to any.
    #[must_use]
    pub fn is_some(&self) -> Filter {
        Column::<String>::new(self.partition).is_some()
    }

    /// Filters by whether it refers to none: of an `Option<Ref<..>>`.
    #[must_use]
    pub fn is_none(&self) -> Filter
    where
        A: MayLack<Ref<E>>,
    {
        Column::<String, Plain, Maybe>::new(self.partition).is_none()
    }
}

impl<E, A> fmt::Debug for RefColumn<E, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RefColumn").field("partition", &self.partition).field("row", &self.row).finish()
    }
}

impl<E> From<&Ref<E>> for Key<E> {
    fn from(reference: &Ref<E>) -> Self {
        reference.key()
    }
}
