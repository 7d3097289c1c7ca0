//! What typed reads give back.

use std::fmt;
use std::ops::Deref;

use crate::model::{ETag, Ticks};

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

    /// The version, to be demanded of a later write.
    pub fn etag(this: &Self) -> ETag {
        this.etag
    }

    /// When the version was written.
    pub fn timestamp(this: &Self) -> Ticks {
        this.etag.timestamp()
    }

    /// The entity alone.
    pub fn into_inner(this: Self) -> E {
        this.entity
    }

    /// The same version of something made of the entity.
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

/// An entity read from a whole copy of it.
///
/// A copy has no version of its own to write under: updates go to the entity's own key.
#[derive(Clone)]
pub struct Copied<E>(E);

impl<E> Copied<E> {
    pub(crate) fn new(entity: E) -> Self {
        Self(entity)
    }

    /// The entity alone.
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
