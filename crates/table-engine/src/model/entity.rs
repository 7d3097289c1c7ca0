//! An entity whose properties are known only when the program runs.

use std::fmt;

use super::{ETag, Name, Ticks, Value};
use crate::error::{Error, ErrorKind};
use crate::limits;

/// An entity as a bag of named, typed properties: the service's own view of it.
///
/// Properties keep the order in which they were set; what the store gives back stands in the order in which the
/// table first saw the names. Two entities are equal if their keys and properties are, in whatever order; the
/// version is not compared, since the store alone sets it.
///
/// ```
/// use table_core::DynamicEntity;
///
/// let jun = DynamicEntity::new("Marketing", "empid_000002")
///     .with("FirstName", "Jun")
///     .with("LastName", "Cao")
///     .with("Age", 47);
/// assert_eq!(jun.get("Age").and_then(|age| age.as_i32()), Some(47));
/// assert_eq!(jun.etag(), None); // never stored
/// ```
#[derive(Clone)]
pub struct DynamicEntity {
    partition_key: String,
    row_key: String,
    etag: Option<ETag>,
    // A vector: an entity has a few dozen properties, and their order is worth keeping.
    properties: Vec<(Name, Value)>,
    /// The properties that were sealed: `Debug` leaves their values out.
    #[cfg(feature = "encrypt")]
    sealed: Vec<Name>,
}

impl DynamicEntity {
    /// Makes an entity of these keys, without properties.
    pub fn new(partition_key: impl Into<String>, row_key: impl Into<String>) -> Self {
        Self {
            partition_key: partition_key.into(),
            row_key: row_key.into(),
            etag: None,
            properties: Vec::new(),
            #[cfg(feature = "encrypt")]
            sealed: Vec::new(),
        }
    }

    /// Makes an entity as the store found it; the names are distinct.
    pub(crate) fn stored(
        partition_key: String,
        row_key: String,
        etag: ETag,
        properties: Vec<(Name, Value)>,
    ) -> Self {
        Self { etag: Some(etag), properties, ..Self::new(partition_key, row_key) }
    }

    /// Makes an entity of a version, if it has one; the names are distinct.
    #[cfg(feature = "odata")]
    pub(crate) fn of_parts(
        partition_key: String,
        row_key: String,
        etag: Option<ETag>,
        properties: Vec<(Name, Value)>,
    ) -> Self {
        Self { etag, properties, ..Self::new(partition_key, row_key) }
    }

    /// Returns the entity with one more property, or another value for it.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.set(name, value);
        self
    }

    /// Sets a property and returns the value it had. Names and values are checked when the entity is written.
    pub fn set(&mut self, name: &str, value: impl Into<Value>) -> Option<Value> {
        let value = value.into();
        if let Some((_, old)) = self.properties.iter_mut().find(|(known, _)| **known == *name) {
            return Some(std::mem::replace(old, value));
        }
        self.properties.push((name.into(), value));
        None
    }

    /// Takes a property out.
    pub fn remove(&mut self, name: &str) -> Option<Value> {
        let at = self.properties.iter().position(|(known, _)| **known == *name)?;
        Some(self.properties.remove(at).1)
    }

    /// Returns the value of a property.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.properties.iter().find(|(known, _)| **known == *name).map(|(_, value)| value)
    }

    /// Returns the properties in order.
    pub fn properties(&self) -> impl ExactSizeIterator<Item = (&str, &Value)> {
        self.properties.iter().map(|(name, value)| (&**name, value))
    }

    /// Returns the properties with their shared names.
    pub(crate) fn entries(&self) -> &[(Name, Value)] {
        &self.properties
    }

    /// Puts what was sealed in the place of the bytes at this place.
    #[cfg(feature = "encrypt")]
    pub(crate) fn set_plaintext(&mut self, at: usize, value: Value) {
        if let Some((name, place)) = self.properties.get_mut(at) {
            self.sealed.push(name.clone());
            *place = value;
        }
    }

    /// Returns whether `Debug` may show the property's value.
    #[cfg(feature = "encrypt")]
    fn shows(&self, name: &str) -> bool {
        self.sealed.iter().all(|sealed| **sealed != *name)
    }

    #[cfg(not(feature = "encrypt"))]
    #[expect(clippy::unused_self, reason = "as it is with the feature")]
    fn shows(&self, _: &str) -> bool {
        true
    }

    /// Returns the partition key.
    pub fn partition_key(&self) -> &str {
        &self.partition_key
    }

    /// Returns the row key.
    pub fn row_key(&self) -> &str {
        &self.row_key
    }

    /// Returns the version that was read, or `None` for an entity that did not come from a store.
    pub fn etag(&self) -> Option<ETag> {
        self.etag
    }

    /// Returns when the version that was read was written.
    pub fn timestamp(&self) -> Option<Ticks> {
        self.etag.map(ETag::timestamp)
    }

    /// Returns the size by which the service limits an entity to 1 MiB: four bytes, two for each UTF-16 unit of the
    /// keys, and for each property eight bytes, its name and its value.
    pub fn size(&self) -> usize {
        let properties = self.properties.iter().map(|(name, value)| property_size(name, value.size()));
        keys_size(&self.partition_key, &self.row_key) + properties.sum::<usize>()
    }
}

/// Returns what the keys of an entity count for.
#[doc(hidden)]
pub fn keys_size(partition_key: &str, row_key: &str) -> usize {
    use super::key::utf16_units;
    4 + 2 * (utf16_units(partition_key) + utf16_units(row_key))
}

/// Returns what one property counts for.
#[doc(hidden)]
pub fn property_size(name: &str, value: usize) -> usize {
    8 + 2 * super::key::utf16_units(name) + value
}

/// Returns the error of an entity that counts for so much.
#[doc(hidden)]
#[cold]
pub fn too_large(size: usize) -> Error {
    Error::new(ErrorKind::EntityTooLarge)
        .because(format!("the entity has {size} bytes; it may have {}", limits::ENTITY_BYTES))
}

impl PartialEq for DynamicEntity {
    fn eq(&self, other: &Self) -> bool {
        self.partition_key == other.partition_key
            && self.row_key == other.row_key
            && self.properties.len() == other.properties.len()
            && self.properties().all(|(name, value)| other.get(name) == Some(value))
    }
}

impl Eq for DynamicEntity {}

#[cfg_attr(
    feature = "encrypt",
    expect(clippy::missing_fields_in_debug, reason = "which values are hidden, their places show")
)]
impl fmt::Debug for DynamicEntity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DynamicEntity")
            .field("partition_key", &self.partition_key)
            .field("row_key", &self.row_key)
            .field("etag", &self.etag.map(|etag| etag.to_string()))
            .field("properties", &Properties(self))
            .finish()
    }
}

struct Properties<'a>(&'a DynamicEntity);

impl fmt::Debug for Properties<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut map = f.debug_map();
        for (name, value) in self.0.properties() {
            if self.0.shows(name) {
                map.entry(&name, value);
            } else {
                map.entry(&name, &format_args!("(sealed)"));
            }
        }
        map.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equality_ignores_order_and_version() {
        let a = DynamicEntity::new("p", "r").with("A", 1).with("B", 2);
        let b = DynamicEntity::new("p", "r").with("B", 2).with("A", 1);
        assert_eq!(a, b);
        assert_ne!(a, b.clone().with("C", 3));
        assert_ne!(a, b.with("A", 1_i64));
    }

    #[test]
    fn setting_twice_keeps_one_property_in_its_place() {
        let mut e = DynamicEntity::new("p", "r").with("A", 1).with("B", 2);
        assert_eq!(e.set("A", "x"), Some(Value::Int32(1)));
        assert_eq!(e.properties().map(|(name, _)| name).collect::<Vec<_>>(), ["A", "B"]);
        assert_eq!(e.remove("A"), Some(Value::from("x")));
        assert_eq!(e.remove("A"), None);
        assert_eq!(e.properties().len(), 1);
    }

    #[test]
    fn the_size_follows_the_services_formula() {
        assert_eq!(DynamicEntity::new("ab", "c").size(), 4 + 2 * 3);
        let e = DynamicEntity::new("", "").with("Age", 1).with("Name", "xy").with("Ok", true);
        assert_eq!(e.size(), 4 + (8 + 6 + 4) + (8 + 8 + 4 + 4) + (8 + 4 + 1));
    }
}
