//! What typed reads give back.

use std::fmt;
use std::ops::Deref;

use crate::model::{ETag, Ticks};
use crate::row::view::RowView;

/// An entity as it stands in the store, with its version.
///
/// It reads like the entity itself. Version and time are associated functions, so that they hide no field or method
/// of the entity's.
///
/// ```
/// # use table_core::Stored;
/// # fn show(jun: Stored<String>) {
/// println!("{} bytes, written at {}", jun.len(), Stored::timestamp(&jun));
/// let owned: String = Stored::into_inner(jun);
/// # }
/// ```
#[derive(Clone)]
pub struct Stored<E> {
    entity: E,
    etag: ETag,
}

impl<E> Stored<E> {
    pub(crate) fn new(entity: E, etag: ETag) -> Self {
        Self { entity, etag }
    }

    /// Returns the version, to be demanded of a later write.
    pub fn etag(this: &Self) -> ETag {
        this.etag
    }

    /// Returns when the version was written.
    pub fn timestamp(this: &Self) -> Ticks {
        this.etag.timestamp()
    }

    /// Returns the entity alone.
    pub fn into_inner(this: Self) -> E {
        this.entity
    }

    /// Returns what `make` makes of the entity, with its version.
    pub(crate) fn map<T>(self, make: impl FnOnce(E) -> T) -> Stored<T> {
        Stored { entity: make(self.entity), etag: self.etag }
    }
}

impl<E> Deref for Stored<E> {
    type Target = E;

    fn deref(&self) -> &E {
        &self.entity
    }
}

impl<E: fmt::Debug> fmt::Debug for Stored<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.entity.fmt(f)
    }
}

impl<E: PartialEq> PartialEq for Stored<E> {
    fn eq(&self, other: &Self) -> bool {
        self.entity == other.entity && self.etag == other.etag
    }
}

impl<E: PartialEq> PartialEq<E> for Stored<E> {
    fn eq(&self, other: &E) -> bool {
        self.entity == *other
    }
}

/// An entity as a copy of it has it: what an index gives whose rows hold every property.
///
/// It reads like the entity itself, as [`Stored`] does, and has no version: a copy is written with its entity alone, so no
/// write can be made to depend on it. To change what was found, change the entity by its own key, and take the version from
/// there.
///
/// ```
/// use table_core::{Copied, Entity, Key, Store, Stored};
///
/// #[derive(Entity)]
/// #[entity(table = "Company", kind = "employee")]
/// #[key(partition = "{department}", row = "empid_{id:06}")]
/// #[index(by_email, row = "email_{email}", unique)]
/// struct Employee {
///     department: String,
///     id: u32,
///     email: String,
/// }
///
/// # let dir = tempfile::tempdir()?;
/// # let store = Store::open(dir.path().join("company.tables"))?;
/// let staff = store.table::<Employee>()?;
/// staff.insert(&Employee { department: "Sales".into(), id: 7, email: "jun@contoso.com".into() })?;
///
/// let found: Copied<Employee> = staff.get(Employee::by_email("Sales", "jun@contoso.com"))?.unwrap();
/// let own: Stored<Employee> = staff.get(Key::of(&*found))?.unwrap();
/// staff.delete_if(Key::of(&*found), Stored::etag(&own))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Copied<E>(E);

impl<E> Copied<E> {
    pub(crate) fn new(entity: E) -> Self {
        Self(entity)
    }

    /// Returns the entity alone.
    pub fn into_inner(this: Self) -> E {
        this.0
    }
}

impl<E> Deref for Copied<E> {
    type Target = E;

    fn deref(&self) -> &E {
        &self.0
    }
}

impl<E: fmt::Debug> fmt::Debug for Copied<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<E: PartialEq> PartialEq<E> for Copied<E> {
    fn eq(&self, other: &E) -> bool {
        self.0 == *other
    }
}

/// A row of an `eventual` index: an entity as a copy of it has it, which follows the entity's changes.
///
/// It reads like the row itself, and says [of which version](Self::as_of) of the entity it is. By now the entity may be
/// another, may be filed elsewhere in the index, or may be gone: to know, read the entity by its key, or ask the query for
/// `.entities()`.
///
/// ```
/// use table_core::store::Propagate;
/// use table_core::typed::Eventual;
/// use table_core::{Entity, Key, Store, Stored};
///
/// #[derive(Entity)]
/// #[entity(table = "Company", kind = "employee")]
/// #[key(partition = "{department}", row = "empid_{id:06}")]
/// #[index(by_age, partition = "ages", row = "{age:03}_{department}_{id:06}", copy = keys, eventual)]
/// struct Employee {
///     department: String,
///     id: u32,
///     age: u32,
/// }
///
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("company.tables");
/// let store = Store::options().propagate(Propagate::Manual).open(&path)?;
/// let staff = store.table::<Employee>()?;
/// staff.insert(&Employee { department: "Sales".into(), id: 7, age: 40 })?;
/// store.propagate()?;
/// staff.update(Employee::key("Sales", 7), |e| e.age = 41)?;
///
/// // The copy is as of the version before.
/// let copy = staff.by_age().age(40).first()?.unwrap();
/// let now = staff.get(copy.key())?.unwrap();
/// assert_eq!((copy.age, now.age), (40, 41));
/// assert!(Eventual::as_of(&copy) != Stored::etag(&now));
/// // The entity does not belong there any more.
/// assert_eq!(staff.by_age().age(40).entities().into_iter().count(), 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Eventual<R> {
    row: R,
    as_of: ETag,
}

impl<R> Eventual<R> {
    /// Holds what was read of a row.
    #[doc(hidden)]
    pub fn of(view: &RowView<'_>, row: R) -> Self {
        Self { row, as_of: ETag::from_timestamp(view.timestamp()) }
    }

    /// Returns the version of the entity that the row is a copy of.
    pub fn as_of(this: &Self) -> ETag {
        this.as_of
    }

    /// Returns the row alone.
    pub fn into_inner(this: Self) -> R {
        this.row
    }
}

impl<R> Deref for Eventual<R> {
    type Target = R;

    fn deref(&self) -> &R {
        &self.row
    }
}

impl<R: fmt::Debug> fmt::Debug for Eventual<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.row.fmt(f)
    }
}

impl<R: PartialEq> PartialEq<R> for Eventual<R> {
    fn eq(&self, other: &R) -> bool {
        self.row == *other
    }
}
