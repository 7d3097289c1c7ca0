//! What a writer takes: an entity, whether it is owned or lies in the store.

use std::borrow::Cow;

use crate::error::Result;
use crate::model::{DynamicEntity, ETag, ValueRef};
use crate::row::view::RowView;

/// A row that a [`Writer`](super::Writer) takes: an owned entity, or a view of one that is stored.
pub trait Row {
    /// Returns the partition key and the row key.
    fn keys(&self) -> (Cow<'_, str>, Cow<'_, str>);

    /// Returns the version, or `None` for a row that was never stored.
    fn etag(&self) -> Option<ETag>;

    /// Returns the value of a property, or `None` where the row has none of this name.
    fn property(&self, name: &str) -> Result<Option<ValueRef<'_>>>;

    /// Calls a function with each property, in order, until it fails.
    fn for_each_property(&self, visit: impl FnMut(&str, ValueRef<'_>) -> Result<()>) -> Result<()>;
}

impl Row for DynamicEntity {
    #[inline]
    fn keys(&self) -> (Cow<'_, str>, Cow<'_, str>) {
        (self.partition_key().into(), self.row_key().into())
    }

    #[inline]
    fn etag(&self) -> Option<ETag> {
        self.etag()
    }

    #[inline]
    fn property(&self, name: &str) -> Result<Option<ValueRef<'_>>> {
        Ok(self.get(name).map(ValueRef::from))
    }

    #[inline]
    fn for_each_property(&self, mut visit: impl FnMut(&str, ValueRef<'_>) -> Result<()>) -> Result<()> {
        self.properties().try_for_each(|(name, value)| visit(name, value.as_value_ref()))
    }
}

impl Row for RowView<'_> {
    #[inline]
    fn keys(&self) -> (Cow<'_, str>, Cow<'_, str>) {
        Self::keys(self)
    }

    #[inline]
    fn etag(&self) -> Option<ETag> {
        Some(self.etag())
    }

    #[inline]
    fn property(&self, name: &str) -> Result<Option<ValueRef<'_>>> {
        self.get(name)
    }

    #[inline]
    fn for_each_property(&self, mut visit: impl FnMut(&str, ValueRef<'_>) -> Result<()>) -> Result<()> {
        self.properties().try_for_each(|property| {
            let (name, value) = property?;
            visit(name, value)
        })
    }
}

impl<R: Row + ?Sized> Row for &R {
    #[inline]
    fn keys(&self) -> (Cow<'_, str>, Cow<'_, str>) {
        (**self).keys()
    }

    #[inline]
    fn etag(&self) -> Option<ETag> {
        (**self).etag()
    }

    #[inline]
    fn property(&self, name: &str) -> Result<Option<ValueRef<'_>>> {
        (**self).property(name)
    }

    #[inline]
    fn for_each_property(&self, visit: impl FnMut(&str, ValueRef<'_>) -> Result<()>) -> Result<()> {
        (**self).for_each_property(visit)
    }
}
