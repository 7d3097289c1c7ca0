//! Text to entities.

use super::cursor::{Cursor, malformed};
use super::object::{Object, refused};
use super::page::Entities;
use super::value::{self, Scratch};
use crate::error::{Error, Result};
use crate::introspect::KindInfo;
use crate::model::{DynamicEntity, ETag, EdmType, Name, Value, ValueRef};
use crate::schema::Layout;

/// Reads OData JSON of any level of metadata.
///
/// The type of a property is the one that its annotation says, before the property or behind it. Without one it is the one that
/// the [kind](Self::kind) says, if the reader knows one. Else it is JSON's own:
///
/// | JSON | type |
/// | --- | --- |
/// | `"text"` | String: also what was an Int64, a time, a UUID or bytes when it was written |
/// | `true`, `false` | Boolean |
/// | a number with a point or an exponent | Double |
/// | a whole number from -2147483648 to 2147483647 | Int32 |
/// | another whole number | Double, as the service takes it; an error where a double would round it |
/// | `null` | no property |
/// | an array, an object | an error |
///
/// Where the type is known, numbers are taken as text, too (`"34"` for an Int32), and so are `"True"` and `"False"`, since clients
/// write them so. A time may have an offset in place of its `Z`. Annotations other than those of types and `odata.etag` are
/// skipped.
///
/// Every mistake is an [`InvalidOData`](crate::ErrorKind::InvalidOData), or the kind that a write of the entity would fail with,
/// and has a [position](Error::position). Names and values are checked as a write checks them, keys and the entity's size are left
/// to it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reader<'l> {
    layout: Option<&'l Layout>,
}

/// What an object says, as [`Reader::visit`] passes it on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Member<'a> {
    /// The partition key.
    PartitionKey(&'a str),
    /// The row key.
    RowKey(&'a str),
    /// The version: that of `odata.etag`, or that of `Timestamp` where there is none of the service's.
    ETag(ETag),
    /// A property.
    Property(&'a str, ValueRef<'a>),
}

impl<'l> Reader<'l> {
    /// Makes a reader that knows no kind.
    pub const fn new() -> Self {
        Self { layout: None }
    }

    /// Returns the reader as one of texts without metadata of a kind of entities: properties have the types that are
    /// noted of it, or [declared](KindInfo::of).
    ///
    /// A property that the kind seals has to say its type: without one, the sealed bytes can't be told from a value.
    ///
    /// ```
    /// use table_core::introspect::KindInfo;
    /// use table_core::odata::Reader;
    /// use table_core::{Entity, Store, Value};
    ///
    /// #[derive(Entity)]
    /// #[entity(table = "Company", kind = "employee")]
    /// #[key(partition = "{department}", row = "empid_{id:06}")]
    /// struct Employee {
    ///     department: String,
    ///     id: u32,
    ///     salary: i64,
    /// }
    ///
    /// let text = br#"{"PartitionKey":"Sales","RowKey":"empid_000001","Salary":"52000"}"#;
    /// let employee = KindInfo::of(Employee::SCHEMA);
    /// let read = Reader::new().kind(&employee).entity(text)?;
    /// assert_eq!(read.get("Salary"), Some(&Value::from(52_000_i64)));
    ///
    /// // Without the kind it is what JSON says it is.
    /// assert_eq!(Reader::new().entity(text)?.get("Salary"), Some(&Value::from("52000")));
    ///
    /// // A program without the struct has the kind of the store.
    /// let store = Store::temporary()?;
    /// store.table::<Employee>()?.insert(&Employee { department: "Sales".into(), id: 2, salary: 48_000 })?;
    /// let kinds = store.kinds()?;
    /// assert_eq!(Reader::new().kind(&kinds[0]).entity(text)?, read);
    /// # Ok::<(), table_core::Error>(())
    /// ```
    #[must_use]
    pub const fn kind(self, kind: &'l KindInfo) -> Self {
        Self { layout: Some(&kind.layout) }
    }

    /// Reads one entity, which has its keys.
    pub fn entity(&self, text: &[u8]) -> Result<DynamicEntity> {
        let (object, end) = whole(text)?;
        self.made(&object, None, end, &mut Vec::new())
    }

    /// Reads one entity whose keys are known, as they are from a request's address. Those of the text, if it has any, have to be
    /// the same.
    ///
    /// ```
    /// use table_core::odata::Reader;
    ///
    /// let read = Reader::new().entity_at(br#"{"Age":48}"#, "Marketing", "empid_000002")?;
    /// assert_eq!((read.row_key(), read.properties().len()), ("empid_000002", 1));
    /// # Ok::<(), table_core::Error>(())
    /// ```
    pub fn entity_at(&self, text: &[u8], partition_key: &str, row_key: &str) -> Result<DynamicEntity> {
        let (object, end) = whole(text)?;
        self.made(&object, Some([partition_key, row_key]), end, &mut Vec::new())
    }

    /// Reads one entity, and calls a function with each part of it, until it fails: first keys and version, if the text has
    /// them, then the properties in order. Nothing is passed on of a text that is not JSON.
    ///
    /// ```
    /// use table_core::ValueRef;
    /// use table_core::odata::{Member, Reader};
    ///
    /// let mut age = None;
    /// Reader::new().visit(br#"{"Name":"Jun","Age":48}"#, |member| {
    ///     if let Member::Property("Age", value) = member {
    ///         age = value.as_i32();
    ///     }
    ///     Ok(())
    /// })?;
    /// assert_eq!(age, Some(48));
    /// # Ok::<(), table_core::Error>(())
    /// ```
    pub fn visit(&self, text: &[u8], mut visit: impl FnMut(Member<'_>) -> Result<()>) -> Result<()> {
        let (object, _) = whole(text)?;
        object.check_keys()?;
        let mut buffer = String::new();
        if let Some(key) = object.partition_key {
            visit(Member::PartitionKey(key.unescaped(&mut buffer)))?;
        }
        if let Some(key) = object.row_key {
            visit(Member::RowKey(key.unescaped(&mut buffer)))?;
        }
        if let Some(version) = object.version() {
            visit(Member::ETag(version))?;
        }
        self.properties(&object, |_, name, value| visit(Member::Property(name, value)))
    }

    /// Reads a page of entities, one after another: an array, or the object of a service's answer with the array under `value`.
    ///
    /// ```
    /// use table_core::odata::Reader;
    ///
    /// let page = br#"{"value":[{"PartitionKey":"Sales","RowKey":"1"},{"PartitionKey":"Sales","RowKey":"2"}]}"#;
    /// for read in Reader::new().page(page) {
    ///     assert_eq!(read?.partition_key(), "Sales");
    /// }
    /// # Ok::<(), table_core::Error>(())
    /// ```
    pub fn page<'t>(&self, text: &'t [u8]) -> Entities<'t, 'l> {
        Entities::new(*self, text)
    }

    /// Makes the entity of an object; its names are those of the entity that was read before, as far as they are the same.
    pub(super) fn made(
        self,
        object: &Object<'_>,
        keys: Option<[&str; 2]>,
        end: usize,
        names: &mut Vec<Name>,
    ) -> Result<DynamicEntity> {
        let [partition_key, row_key] = if let Some(keys) = keys {
            keys_at(object, keys, end)?
        } else {
            object.check_keys()?;
            own_keys(object, end)?
        };
        let mut properties: Vec<(Name, Value)> = Vec::with_capacity(object.entries.len());
        self.properties(object, |at, name, value| {
            properties.push((shared(names, at, name), value.to_value()));
            Ok(())
        })?;
        Ok(DynamicEntity::of_parts(partition_key, row_key, object.version(), properties))
    }

    /// Calls a function with each property and its place among the names.
    #[inline]
    fn properties(
        self,
        object: &Object<'_>,
        mut visit: impl FnMut(usize, &str, ValueRef<'_>) -> Result<()>,
    ) -> Result<()> {
        let mut scratch = Scratch::default();
        for (place, entry) in object.entries.iter().enumerate() {
            let Some((token, at)) = entry.value() else { continue };
            let read = match entry.edm {
                Some(edm) => value::read(token, Some(edm), &mut scratch),
                None => self.type_of(&entry.name).and_then(|edm| value::read(token, edm, &mut scratch)),
            };
            let value = read.map_err(|why| refused(&entry.name, why, at))?;
            value.check(&entry.name).map_err(|error| checked(error, at))?;
            visit(place, &entry.name, value)?;
        }
        Ok(())
    }

    /// Returns the type that the layout gives a property.
    #[inline]
    fn type_of(self, name: &str) -> Result<Option<EdmType>, value::Why> {
        let Some(property) = self.layout.and_then(|layout| layout.named(name)) else { return Ok(None) };
        match &property.sealed {
            None => Ok(Some(property.edm)),
            Some(_) => Err(
                "is sealed: say its type, Edm.Binary for the sealed bytes, since they can't be told from a value",
            ),
        }
    }
}

/// Reads a text that is one object, and returns where it ends.
fn whole(text: &[u8]) -> Result<(Object<'_>, usize)> {
    let mut cursor = Cursor::new(text)?;
    let mut object = Object::default();
    object.read(&mut cursor)?;
    let end = cursor.at();
    cursor.end()?;
    Ok((object, end))
}

/// Returns the keys that an object has.
fn own_keys(object: &Object<'_>, end: usize) -> Result<[String; 2]> {
    let (Some(partition_key), Some(row_key)) = (object.partition_key, object.row_key) else {
        return Err(malformed(end, "the entity has no `PartitionKey` or no `RowKey`")
            .with_code("PropertiesNeedValue"));
    };
    let mut buffer = String::new();
    Ok([partition_key, row_key].map(|key| key.unescaped(&mut buffer).to_owned()))
}

/// Returns the keys that an entity is at, with which those agree that its object has.
fn keys_at(object: &Object<'_>, keys: [&str; 2], end: usize) -> Result<[String; 2]> {
    let mut buffer = String::new();
    let mut agrees = |own: Option<super::cursor::Text<'_>>, key: &str| {
        own.is_none_or(|own| own.unescaped(&mut buffer) == key)
    };
    let [partition_key, row_key] = keys;
    if !agrees(object.partition_key, partition_key) || !agrees(object.row_key, row_key) {
        return Err(malformed(end, "the entity's keys are others than those that it is written under"));
    }
    Ok(keys.map(str::to_owned))
}

/// Returns a name that entities share, and keeps it for the next one.
#[inline]
fn shared(names: &mut Vec<Name>, at: usize, name: &str) -> Name {
    match names.get_mut(at) {
        Some(known) if **known == *name => known.clone(),
        Some(other) => {
            *other = name.into();
            other.clone()
        }
        None => {
            let new = Name::from(name);
            names.push(new.clone());
            new
        }
    }
}

#[cold]
fn checked(error: Error, at: usize) -> Error {
    error.attempted("read OData JSON").at_position(at)
}
