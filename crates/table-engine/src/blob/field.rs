//! Blobs that entities hold.

use std::io::Read;

use super::reader::{BlobReader, read_whole};
use super::{BlobInfo, upload};
use crate::contents::{BlobId, name, reference};
use crate::error::{Error, ErrorKind, Result};
use crate::executor::BlobSnapshot;
use crate::handle::tables::Tables;
use crate::model::{EdmType, Value, ValueRef};
use crate::schema::{Property, PropertyValue, ValueError};

/// A value of any size as the field of an entity: the row holds a reference, and the bytes lie apart, in segments.
///
/// [`Store::upload`](crate::Tables::upload) gives one. It stays in the store for as long as some row refers to it, the
/// entity's own or a whole copy in an index: each change counts, in its transaction, the references that rows come to have
/// and those that go. The last one takes the bytes along. An entity that comes to hold a blob which no row holds any more
/// is refused with [`BlobGone`](ErrorKind::BlobGone). So is one that holds a blob of another store:
/// [`Store::import_blob`](crate::Tables::import_blob) copies it.
///
/// It is cheap to clone, holds neither store nor bytes, and equals another that refers to the same upload. The default is
/// empty: no blob at all.
///
/// ```
/// use std::io::Read;
///
/// use table_core::blob::Blob;
/// use table_core::{Entity, Store};
///
/// #[derive(Entity)]
/// #[entity(table = "Company", kind = "employee")]
/// #[key(partition = "{department}", row = "empid_{id:06}")]
/// struct Employee {
///     department: String,
///     id: u32,
///     photo: Blob,
/// }
///
/// # let dir = tempfile::tempdir()?;
/// # let store = Store::open(dir.path().join("company.tables"))?;
/// let staff = store.table::<Employee>()?;
/// let photo = store.upload("image/jpeg", std::io::repeat(7).take(3_000_000))?;
/// staff.insert(&Employee { department: "Sales".into(), id: 7, photo })?;
///
/// let jun = staff.get(Employee::key("Sales", 7))?.unwrap();
/// assert_eq!(jun.photo.len(), 3_000_000);
/// let mut photo = jun.photo.open(&store)?;
/// assert_eq!(photo.content_type(), "image/jpeg");
/// let mut first = [0; 4];
/// photo.read_exact(&mut first)?;
///
/// // With the last row that refers to it goes the blob.
/// staff.delete(Employee::key("Sales", 7))?;
/// assert_eq!(jun.photo.get(&store).unwrap_err().kind(), table_core::ErrorKind::BlobGone);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Blob(pub(crate) Option<(BlobId, u64)>);

impl Tables {
    /// Uploads what a reader gives, however much it is, in constant memory, for an entity to hold.
    ///
    /// The bytes come into the store by stages of 1 MiB, and others write in between. An entity that holds the blob is to be
    /// written within an hour, or the blob is removed; so is what has come of an upload whose reader fails or whose process
    /// dies.
    ///
    /// The blob is this store's. Another store refuses an entity that holds it with [`BlobGone`](ErrorKind::BlobGone), until
    /// [`import_blob`](Self::import_blob) has copied it there.
    pub fn upload(&self, content_type: &str, mut reader: impl Read) -> Result<Blob> {
        let mut upload = || {
            name::check_type(content_type)?;
            upload::unnamed(&self.backend().clone().blobs()?, content_type, &mut reader)
        };
        let (id, length) = upload().map_err(|error: Error| error.attempted("upload a blob"))?;
        Ok(Blob(Some((id, length))))
    }
}

impl Blob {
    /// Returns the blob that a property refers to, where there is no struct; `None` if the property is no reference.
    ///
    /// ```
    /// use table_core::blob::Blob;
    /// use table_core::{DynamicEntity, Store};
    ///
    /// let store = Store::temporary()?;
    /// let table = store.create_table("Albums")?;
    /// let photo = store.upload("image/jpeg", &b"jpeg"[..])?;
    /// table.insert(&DynamicEntity::new("2014", "07").with("Cover", photo))?;
    ///
    /// let album = table.get("2014", "07")?.ok_or("there")?;
    /// let cover = album.get("Cover").and_then(Blob::of).ok_or("a blob")?;
    /// assert_eq!(cover.get(&store)?, b"jpeg");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Binary(bytes) => reference::decode(bytes).map(|found| Self(Some(found))),
            _ => None,
        }
    }

    /// Returns how many bytes it has.
    pub fn len(&self) -> u64 {
        self.0.map_or(0, |(_, length)| length)
    }

    /// Returns whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns a reader of it, which holds a snapshot of the store. The empty one has none: it is
    /// [`BlobNotFound`](ErrorKind::BlobNotFound).
    pub fn open(&self, store: &Tables) -> Result<BlobReader> {
        let open = || {
            let blobs = store.backend().clone().blobs()?;
            let snapshot = blobs.clone().read_snapshot()?;
            let (id, _) = self.0.ok_or_else(nothing)?;
            let info = info_of(&blobs.identity(), &*snapshot, id)?;
            Ok(BlobReader::new(snapshot, info))
        };
        open().map_err(|error: Error| error.attempted("open a blob"))
    }

    /// Reads all bytes of the blob. One that may be large is better [opened](Self::open).
    pub fn get(&self, store: &Tables) -> Result<Vec<u8>> {
        let get = || {
            let Some((id, _)) = self.0 else { return Ok(Vec::new()) };
            let blobs = store.backend().clone().blobs()?;
            let snapshot = blobs.clone().read_snapshot()?;
            read_whole(&*snapshot, &info_of(&blobs.identity(), &*snapshot, id)?, None)
        };
        get().map_err(|error: Error| error.attempted("read a blob"))
    }
}

/// Makes the property that refers to it, where there is no struct.
impl From<Blob> for Value {
    fn from(blob: Blob) -> Self {
        Self::Binary(blob.0.map(|(id, length)| reference::encode(id, length)).unwrap_or_default())
    }
}

/// Returns what a snapshot has, of the store of this identity, of a blob that a field refers to.
pub(super) fn info_of(store: &[u8; 16], snapshot: &dyn BlobSnapshot, id: BlobId) -> Result<BlobInfo> {
    snapshot.blob(id)?.ok_or_else(|| {
        Error::new(ErrorKind::BlobGone).because(if id.is_made_in(store) {
            "no entity holds it any more: the one that it was read from was changed or deleted meanwhile, or \
             lies in a copy of this store; read that again, in the store that has it"
        } else {
            "it is another store's, and this one does not have it; open it in the store that the entity was read from"
        })
    })
}

/// Returns the error of opening a field that refers to nothing.
#[cold]
pub(super) fn nothing() -> Error {
    Error::new(ErrorKind::BlobNotFound).because("the field is empty: it refers to no blob")
}

#[diagnostic::do_not_recommend]
impl Property for Blob {
    const EDM: EdmType = EdmType::Binary;
    const EXACT: bool = true;
    const BLOB: bool = true;

    fn to_property(&self) -> Result<PropertyValue<'_>, ValueError> {
        Ok(PropertyValue::Owned((*self).into()))
    }

    fn from_property(value: Option<ValueRef<'_>>) -> Result<Self, ValueError> {
        match value {
            Some(ValueRef::Binary([])) => Ok(Self(None)),
            Some(ValueRef::Binary(bytes)) => {
                let because = "expected a reference to a blob, found other bytes";
                let found = reference::decode(bytes);
                found.map(|found| Self(Some(found))).ok_or_else(|| ValueError::invalid(Self::EDM, because))
            }
            found => Err(ValueError::mistyped(Self::EDM, found)),
        }
    }
}

impl Blob {
    /// Returns what a row holds, for the tests of stores.
    #[doc(hidden)]
    pub fn reference(&self) -> Vec<u8> {
        self.0.map(|(id, length)| reference::encode(id, length)).unwrap_or_default()
    }
}
