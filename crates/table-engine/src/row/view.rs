//! A stored row as a reader sees it: decoded as far as asked.

mod fields;
pub(crate) mod selected;

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use super::dict::Dict;
use super::merge::Numbered;
use super::partition::{self, Partition};
use super::properties::{Entry, Packed};
use super::value::{self, Decoded};
use crate::error::Result;
use crate::model::{DynamicEntity, ETag, Name, Ticks, Value, ValueRef, words};
use crate::query::StoredRow;
use crate::row::key::StoredKey;
use crate::row::{Body, Damaged, INLINE, Row};
use crate::schema::Template;

/// An entity in place: its bytes lie in the store's memory map, and a property is decoded when it is asked for.
///
/// Reading one property of an entity of 200 costs about what reading one of six does. A view lives as long as the
/// [`Snapshot`](crate::Snapshot) it was read from.
///
/// ```
/// # use table_core::{DynamicEntity, Store};
/// # let dir = tempfile::tempdir()?;
/// # let store = Store::open(dir.path().join("company.tables"))?;
/// # let company = store.create_table("Company")?;
/// company.insert(&DynamicEntity::new("Sales", "empid_000001").with("Age", 34))?;
///
/// let snapshot = store.snapshot()?;
/// let view = snapshot.view(&company, "Sales", "empid_000001")?.unwrap();
/// assert_eq!(view.get("Age")?.and_then(|age| age.as_i32()), Some(34));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct RowView<'a> {
    key: Cow<'a, [u8]>,
    row: Row<'a>,
    dict: DictRef<'a>,
    /// What its reader knows of the keys.
    known: KnownKeys<'a>,
    /// Whether large values are compared with their checksums.
    verify: bool,
}

/// What the reader of a row knows of its keys, or of the rows beside it.
#[derive(Clone)]
enum KnownKeys<'a> {
    Nothing,
    /// It is the head of a wide entity, and these are its parts, as far as they were read.
    Parts(Arc<[Option<RowView<'a>>]>),
    /// What the partition key gives back.
    Partition(&'a Partition),
    /// The partition key's text, each byte of which is one that any key may hold, and where in the stored key the row key
    /// begins.
    Plain(&'a str, usize),
    /// Both, by which it was found.
    Texts(&'a str, &'a str),
}

/// The dictionary of a row's table.
#[derive(Clone)]
#[expect(missing_debug_implementations, reason = "no program sees it")]
pub enum DictRef<'a> {
    Own(Arc<Dict>),
    /// Borrowed, by a reader of many rows: counting references would cost as much as a field.
    Lent(&'a Dict),
}

impl From<Arc<Dict>> for DictRef<'_> {
    fn from(dict: Arc<Dict>) -> Self {
        Self::Own(dict)
    }
}

impl<'a> From<&'a Dict> for DictRef<'a> {
    fn from(dict: &'a Dict) -> Self {
        Self::Lent(dict)
    }
}

impl Deref for DictRef<'_> {
    type Target = Dict;

    #[inline]
    fn deref(&self) -> &Dict {
        match self {
            Self::Own(dict) => dict,
            Self::Lent(dict) => dict,
        }
    }
}

impl<'a> RowView<'a> {
    /// Makes a view of a row; with `verify`, its large values are compared with their checksums, else taken on trust.
    #[doc(hidden)]
    #[inline]
    pub fn new(
        key: impl Into<Cow<'a, [u8]>>,
        row: Row<'a>,
        dict: impl Into<DictRef<'a>>,
        verify: bool,
    ) -> Self {
        Self { key: key.into(), row, dict: dict.into(), known: KnownKeys::Nothing, verify }
    }

    /// Returns the row with its partition key, which the caller knows.
    #[inline]
    pub(crate) fn within(self, partition: &'a Partition) -> Self {
        Self { known: KnownKeys::Partition(partition), ..self }
    }

    /// Returns the row with its partition key, each byte of which is one that any key may hold, and where in the stored key its
    /// row key begins.
    #[doc(hidden)]
    #[inline]
    #[must_use]
    pub fn in_plain(self, partition: &'a str, row: usize) -> Self {
        Self { known: KnownKeys::Plain(partition, row), ..self }
    }

    /// Returns the partition key, if each byte of it is known to be one that any key may hold.
    #[inline]
    pub(crate) fn plain_partition(&self) -> Option<&'a str> {
        match self.known {
            KnownKeys::Plain(partition, _) => Some(partition),
            _ => None,
        }
    }

    /// Returns the row with its keys, which the caller knows.
    #[doc(hidden)]
    #[must_use]
    #[inline]
    pub fn of_keys(self, partition: &'a str, row: &'a str) -> Self {
        Self { known: KnownKeys::Texts(partition, row), ..self }
    }

    /// Returns the head of a wide entity with its parts, as far as they were read.
    pub(crate) fn with_parts(self, parts: Vec<Option<RowView<'a>>>) -> Self {
        Self { known: KnownKeys::Parts(parts.into()), ..self }
    }

    /// Returns the parts that belong to the row, if it is the head of a wide entity whose parts were looked for.
    pub(crate) fn parts(&self) -> Option<&[Option<RowView<'a>>]> {
        match &self.known {
            KnownKeys::Parts(parts) => Some(parts),
            _ => None,
        }
    }

    /// Returns the partition key.
    pub fn partition_key(&self) -> Cow<'_, str> {
        self.stored_key().and_then(|key| key.partition()).unwrap_or_default()
    }

    /// Returns the row key.
    pub fn row_key(&self) -> Cow<'_, str> {
        self.stored_key().and_then(|key| key.row()).unwrap_or_default()
    }

    /// Returns the key as it is stored.
    #[doc(hidden)]
    #[inline]
    pub fn stored_key_bytes(&self) -> &[u8] {
        &self.key
    }

    /// Returns the number of the row's table.
    #[doc(hidden)]
    pub fn table(&self) -> u32 {
        self.stored_key().map_or(0, |key| key.table)
    }

    /// Returns the row with what it takes to read it.
    #[inline]
    fn packed(&self) -> Packed<'_> {
        Packed { key: &self.key, row: &self.row, dict: &self.dict, verify: self.verify }
    }

    #[doc(hidden)]
    pub fn row(&self) -> &Row<'a> {
        &self.row
    }

    pub(crate) fn dict(&self) -> &Dict {
        &self.dict
    }

    fn stored_key(&self) -> Option<StoredKey<'_>> {
        StoredKey::parse(&self.key)
    }

    /// Returns when the entity was last written.
    pub fn timestamp(&self) -> Ticks {
        self.row.timestamp()
    }

    /// Returns the entity's version.
    #[inline]
    pub fn etag(&self) -> ETag {
        ETag::from_timestamp(self.row.timestamp())
    }

    /// Returns the checksum of the row's bytes.
    pub(crate) fn checksum(&self) -> u64 {
        self.row.checksum()
    }

    /// Returns how many bytes are stored of it, with its key.
    pub(crate) fn stored_length(&self) -> usize {
        self.key.len() + self.row.bytes().len()
    }

    /// Returns whether its checksum has been compared.
    pub(crate) fn is_verified(&self) -> bool {
        self.verify
    }

    /// Returns how many properties the entity has.
    pub fn len(&self) -> usize {
        self.packed().len()
    }

    /// Returns whether the entity has no property besides its keys.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the value of a property, or `None` where the entity has none of this name.
    pub fn get(&self, name: &str) -> Result<Option<ValueRef<'_>>> {
        self.packed().get(name)
    }

    /// Returns the partition key and the row key.
    #[doc(hidden)]
    pub fn keys(&self) -> (Cow<'_, str>, Cow<'_, str>) {
        self.stored_key().and_then(|key| key.texts()).unwrap_or_default()
    }

    /// Returns what the partition key gives back, and the bytes of the row key's text, where another row of the partition was
    /// just read.
    #[inline]
    pub(crate) fn known_partition(&self, template: &'static Template) -> Option<(&partition::Fields, &[u8])> {
        match self.known {
            KnownKeys::Partition(partition) => partition.parsed(template, &self.key),
            _ => None,
        }
    }

    /// Returns the bytes of both keys' texts, where they are known or stand as they are.
    pub(crate) fn plain_keys(&self) -> Option<(&[u8], &[u8])> {
        match self.known {
            KnownKeys::Texts(partition, row) => Some((partition.as_bytes(), row.as_bytes())),
            KnownKeys::Plain(partition, row) => {
                let row = self.key.get(row..).filter(|row| words::are_ascii(row))?;
                Some((partition.as_bytes(), row))
            }
            _ => self.stored_key()?.plain(),
        }
    }

    /// Returns the value of the property that has this number.
    #[doc(hidden)]
    pub fn get_by_id(&self, id: u16) -> Result<Option<ValueRef<'_>>> {
        self.packed().find(id, usize::MAX)
    }

    /// Returns the text of `EntityType`: what the row is.
    #[doc(hidden)]
    #[inline]
    pub fn kind(&self) -> Result<Option<&str>> {
        self.packed().kind()
    }

    /// Returns whether the row has a shape of this kind.
    #[inline]
    pub(crate) fn is_shaped_as(&self, kind: &str) -> bool {
        let Body::Shaped(shaped) = self.row.body() else { return false };
        let symbol = self.dict.shape(shaped.shape()).and_then(|shape| self.dict.symbol(shape.symbol()));
        symbol.is_some_and(|symbol| **symbol == *kind)
    }

    /// Returns the properties, in the order in which the table first saw their names.
    pub fn properties(&self) -> impl Iterator<Item = Result<(&str, ValueRef<'_>)>> {
        let packed = self.packed();
        let (entries, error) = match packed.entries() {
            Ok(entries) => (Some(entries), None),
            Err(error) => (None, Some(Err(error))),
        };
        let read = move |entry| Ok((packed.name(&entry)?, packed.value(&entry)?));
        entries.into_iter().flatten().map(read).chain(error)
    }

    /// Returns the properties with their numbers; a property whose name stands in the row has [`INLINE`].
    #[doc(hidden)]
    pub fn numbered(&self) -> Result<impl Iterator<Item = Result<Numbered<'_>>>> {
        let packed = self.packed();
        let entries = packed.entries()?;
        Ok(entries.map(move |entry| Ok((entry.id(), packed.name(&entry)?, packed.value(&entry)?))))
    }

    /// Returns the whole entity, owned.
    pub fn to_entity(&self) -> Result<DynamicEntity> {
        let packed = self.packed();
        let mut properties = Vec::with_capacity(packed.len());
        for entry in packed.entries()? {
            properties.push(owned(&packed, &entry)?);
        }
        self.entity_of(properties)
    }

    /// Returns the entity with some of its properties: those of the numbers, which rise, and of the inline names.
    #[doc(hidden)]
    pub fn to_selected(&self, ids: &[u16], inline: &[Box<str>]) -> Result<DynamicEntity> {
        let packed = self.packed();
        let mut properties = Vec::with_capacity(ids.len());
        for id in ids {
            if let Some(entry) = packed.entry(*id, usize::MAX)? {
                properties.push(owned(&packed, &entry)?);
            }
        }
        for name in inline {
            if let Some(entry) = packed.entry_inline(name)? {
                properties.push(owned(&packed, &entry)?);
            }
        }
        self.entity_of(properties)
    }

    fn entity_of(&self, properties: Vec<(Name, Value)>) -> Result<DynamicEntity> {
        let keys = self.stored_key().and_then(|key| key.texts());
        let unreadable = || self.packed().damaged(Damaged("the row's key can't be read"));
        let (partition, row) = keys.ok_or_else(unreadable)?;
        Ok(DynamicEntity::stored(partition.into_owned(), row.into_owned(), self.etag(), properties))
    }
}

/// Returns a property's name and value, owned.
fn owned(packed: &Packed<'_>, entry: &Entry<'_>) -> Result<(Name, Value)> {
    Ok((packed.shared_name(entry)?, packed.value(entry)?.to_value()))
}

/// Returns whether this dictionary has every name and symbol of the row, or its shape: one that another process has written may
/// be new.
#[inline]
pub fn covers(dict: &Dict, row: &Row<'_>) -> bool {
    let Body::Slots(slots) = row.body() else { return covers_names(dict, row) };
    covers_names(dict, row)
        && dict.entity_type().and_then(|id| slots.find_near(0, id)).is_none_or(|slot| {
            match slots.payload(&slot, None).and_then(|payload| value::decode(slot.tag, payload)) {
                Ok(Decoded::Symbol(id)) => dict.symbol(id).is_some(),
                _ => true,
            }
        })
}

/// Returns whether the dictionary has every name of the row, or its shape.
#[inline]
pub fn covers_names(dict: &Dict, row: &Row<'_>) -> bool {
    let slots = match row.body() {
        // A shape is read with all that it names.
        Body::Shaped(shaped) => return dict.shape(shaped.shape()).is_some(),
        Body::Slots(slots) => slots,
    };
    // Numbers rise along the row, and those with inline names come when the dictionary is full.
    let last = slots.len().checked_sub(1).and_then(|last| slots.slot(last));
    last.is_none_or(|slot| if slot.id == INLINE { dict.names_full() } else { dict.name(slot.id).is_some() })
}

impl fmt::Debug for RowView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.to_entity() {
            Ok(entity) => entity.fmt(f),
            Err(error) => error.fmt(f),
        }
    }
}

impl StoredRow for RowView<'_> {
    fn keys(&self) -> (String, String) {
        let (partition, row) = Self::keys(self);
        (partition.into_owned(), row.into_owned())
    }

    fn stored(&self, property: &str) -> Result<Option<ValueRef<'_>>> {
        self.get(property)
    }
}
