//! What a writer takes: an entity, whether it is owned or lies in the store.

use std::borrow::Cow;

use crate::error::{Error, ErrorKind, Result};
use crate::handle::row::Row;
use crate::model::{DynamicEntity, ETag, ValueRef};
use crate::row::key::StoredKey;
use crate::row::view::RowView;

/// What a [`Writer`](super::Writer) takes: an owned entity, or a view of one that is stored.
pub trait Source {
    /// Returns the partition key and the row key.
    fn keys(&self) -> Result<(Cow<'_, str>, Cow<'_, str>)>;

    /// Returns the version, or `None` for a row that was never stored.
    fn etag(&self) -> Option<ETag>;

    /// Returns the value of a property, or `None` where the row has none of this name.
    fn property(&self, name: &str) -> Result<Option<ValueRef<'_>>>;

    /// Calls a function with each property, in order, until it fails.
    fn for_each_property(&self, visit: impl FnMut(&str, ValueRef<'_>) -> Result<()>) -> Result<()>;
}

impl Source for DynamicEntity {
    #[inline]
    fn keys(&self) -> Result<(Cow<'_, str>, Cow<'_, str>)> {
        Ok((self.partition_key().into(), self.row_key().into()))
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

impl Source for RowView<'_> {
    #[inline]
    fn keys(&self) -> Result<(Cow<'_, str>, Cow<'_, str>)> {
        let texts = StoredKey::parse(self.stored_key_bytes()).and_then(|key| key.texts());
        texts.ok_or_else(|| {
            Error::new(ErrorKind::Corrupt)
                .attempted("write OData JSON")
                .because("the row's key can't be read")
        })
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

/// As a visitor sees it. A value that can't be read ends the properties, and the read that lends the row says so.
impl Source for Row<'_> {
    #[inline]
    fn keys(&self) -> Result<(Cow<'_, str>, Cow<'_, str>)> {
        Ok((self.partition_key().into(), self.row_key().into()))
    }

    #[inline]
    fn etag(&self) -> Option<ETag> {
        Some(self.etag())
    }

    #[inline]
    fn property(&self, name: &str) -> Result<Option<ValueRef<'_>>> {
        Ok(self.get(name))
    }

    #[inline]
    fn for_each_property(&self, mut visit: impl FnMut(&str, ValueRef<'_>) -> Result<()>) -> Result<()> {
        self.properties().try_for_each(|(name, value)| visit(name, value))
    }
}

impl<S: Source + ?Sized> Source for &S {
    #[inline]
    fn keys(&self) -> Result<(Cow<'_, str>, Cow<'_, str>)> {
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
