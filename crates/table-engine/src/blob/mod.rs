//! Blobs: values of any size, by name in containers, in the store beside the tables.
//!
//! A [`Container`] holds blobs under names, which a slash may part as a path. A blob is put whole, appended to, read whole
//! or by a [`BlobReader`] in constant memory, listed by the beginning of its name, and deleted. Bytes lie in segments of
//! 64 KiB, each with a checksum that is compared whenever it is read.
//!
//! A [`Blob`] is the field of an entity whose value is too large for a property: [`Store::upload`](crate::Tables::upload)
//! brings the bytes, and they stay for as long as some entity holds the blob.
//!
//! With the feature `json` there are logs: entries in blobs that are named by time.
//!
//! The guide of `table-core` has a chapter on them.

mod field;
mod import;
mod list;
#[cfg(feature = "json")]
#[doc(hidden)]
pub mod log;
mod reader;
#[cfg(feature = "encrypt")]
mod sealed;
pub(crate) mod upload;

use std::fmt;
use std::io::Read;
use std::sync::Arc;

pub use self::field::Blob;
pub use self::list::Listing;
#[cfg(feature = "json")]
pub use self::log::{Entries, Entry, Log};
pub use self::reader::BlobReader;
#[cfg(feature = "encrypt")]
pub use self::sealed::SealedBlob;
pub use crate::contents::BlobInfo;
use crate::contents::{ANY_TYPE, BlobAnswer, BlobContent, BlobTask, ContainerId, name};
use crate::error::{Error, ErrorKind, Result};
use crate::executor::{BlobSnapshot, Blobs, telemetry};
use crate::handle::tables::Tables;
use crate::limits::BLOB_AT_ONCE;

/// A container of blobs; [`Store::container`](crate::Tables::container) gives it.
///
/// A handle is cheap to clone and may be shared between threads; several processes may use one container.
///
/// ```
/// use std::io::Read;
///
/// use table_core::Store;
///
/// # let dir = tempfile::tempdir()?;
/// # let store = Store::open(dir.path().join("company.tables"))?;
/// let photos = store.container("photos")?;
/// photos.put_as("sales/000007.jpg", "image/jpeg", &[0xff, 0xd8, 0xff])?;
///
/// let mut photo = photos.open("sales/000007.jpg")?;
/// assert_eq!((photo.len(), photo.content_type()), (3, "image/jpeg"));
/// let mut bytes = Vec::new();
/// photo.read_to_end(&mut bytes)?;
/// assert_eq!(bytes, [0xff, 0xd8, 0xff]);
///
/// let names: Vec<_> = photos.list("sales/")?.map(|blob| Ok(blob?.name)).collect::<table_core::Result<_>>()?;
/// assert_eq!(names, ["sales/000007.jpg"]);
///
/// assert!(photos.delete("sales/000007.jpg")?);
/// assert_eq!(photos.get("sales/000007.jpg")?, None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Container {
    store: Tables,
    name: Arc<str>,
    id: ContainerId,
}

impl Tables {
    /// Returns the container of this name, made if there is none.
    ///
    /// A name has 3 to 63 small letters, digits and hyphens, as the service has it.
    pub fn container(&self, name: &str) -> Result<Container> {
        let open = || {
            name::check_container(name)?;
            self.backend().clone().blobs()?.container(name)
        };
        let id = open().map_err(|error| error.attempted("open").container(name))?;
        Ok(Container { store: self.clone(), name: name.into(), id })
    }

    /// Returns the names of all containers, in alphabetical order.
    pub fn containers(&self) -> Result<Vec<String>> {
        let names = self.backend().clone().blobs().and_then(|blobs| blobs.containers());
        names.map_err(|error| error.attempted("list the containers"))
    }

    /// Drops a container with all its blobs. A handle of it that is still there gets
    /// [`ContainerNotFound`](ErrorKind::ContainerNotFound); readers that are open go on to their end.
    ///
    /// It is gone at once, in one small transaction. Its blobs go in steps before this returns, and others write in between;
    /// where a crash comes between, the next opening of the store removes them.
    pub fn drop_container(&self, name: &str) -> Result<()> {
        let drop = || {
            name::check_container(name)?;
            self.backend().clone().blobs()?.drop_container(name)
        };
        drop().map_err(|error| error.attempted("drop").container(name))
    }
}

impl Container {
    /// Returns the store that it is of.
    #[cfg(feature = "async")]
    pub(crate) fn store(&self) -> &Tables {
        &self.store
    }

    /// Returns what identifies it in its store.
    #[cfg(feature = "async")]
    pub(crate) fn id(&self) -> ContainerId {
        self.id
    }

    /// Returns the container's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Puts a blob under a name, in the place of the one that is there. When this returns, it is on disk.
    ///
    /// A reader sees the old blob or this one, and nothing between. Up to [4 MiB](BLOB_AT_ONCE) go in one transaction, and
    /// more in stages, as an [upload](Self::upload) does.
    ///
    /// A name has 1 to 1,024 bytes, and no control character. It tells capital letters from small ones.
    pub fn put(&self, name: &str, bytes: &[u8]) -> Result<()> {
        self.put_as(name, ANY_TYPE, bytes)
    }

    /// Puts a blob with a content type, `image/jpeg` say, under a name, in the place of the one that is there.
    pub fn put_as(&self, name: &str, content_type: &str, bytes: &[u8]) -> Result<()> {
        self.put_bytes(name, content_type, bytes, false)
    }

    /// Puts a blob under a name that no other has, or it is
    /// [`BlobAlreadyExists`](ErrorKind::BlobAlreadyExists).
    pub fn put_new(&self, name: &str, content_type: &str, bytes: &[u8]) -> Result<()> {
        self.put_bytes(name, content_type, bytes, true)
    }

    fn put_bytes(&self, name: &str, content_type: &str, bytes: &[u8], is_new: bool) -> Result<()> {
        self.asked("put", Some(name), |blobs| {
            name::check_blob(name)?;
            name::check_type(content_type)?;
            if bytes.len() > BLOB_AT_ONCE {
                let naming = upload::Naming { container: self.id, name, is_new };
                return upload::named(&blobs, &naming, content_type, &mut &*bytes).map(drop);
            }
            let content = BlobContent::new(&blobs.identity(), content_type, bytes);
            let task = BlobTask::Put { container: self.id, name: name.into(), content, is_new };
            ask(&blobs, task).map(drop)
        })
    }

    /// Puts what a reader gives under a name, however much it is, in constant memory; returns how many bytes it was.
    ///
    /// The bytes come into the store by stages of 1 MiB, and others write in between. The name leads to them when all are
    /// there, and to what it led to before until then: a reader that fails, a crash or a lost process leave that as it is.
    /// What has come of such an upload is removed, by the next opening of the store at the latest that comes more than an
    /// hour later. So an upload that gets nothing for more than an hour is
    /// [`UploadExpired`](ErrorKind::UploadExpired).
    pub fn upload(&self, name: &str, content_type: &str, mut reader: impl Read) -> Result<u64> {
        self.asked("upload", Some(name), |blobs| {
            name::check_blob(name)?;
            name::check_type(content_type)?;
            let naming = upload::Naming { container: self.id, name, is_new: false };
            upload::named(&blobs, &naming, content_type, &mut reader)
        })
    }

    /// Puts bytes behind those of a blob, or makes a blob of them if there is none; returns how long it is then. 4 MiB at
    /// most, which come whole or not at all.
    ///
    /// A reader that is open does not see them. The last segment is written anew each time, so gather small pieces and
    /// append many at once.
    pub fn append(&self, name: &str, bytes: &[u8]) -> Result<u64> {
        self.asked("append to", Some(name), |blobs| {
            name::check_blob(name)?;
            if bytes.len() > BLOB_AT_ONCE {
                return Err(Error::new(ErrorKind::BlobTooLarge).because(format!(
                    "one append takes {BLOB_AT_ONCE} bytes, and not {}; append them in parts",
                    bytes.len()
                )));
            }
            let content = BlobContent::new(&blobs.identity(), ANY_TYPE, bytes);
            let task = BlobTask::Append { container: self.id, name: name.into(), content };
            match ask(&blobs, task)? {
                BlobAnswer::Length(length) => Ok(length),
                _ => Err(lost_answer()),
            }
        })
    }

    /// Deletes the blob of a name; whether there was one. Readers that are open go on to their end.
    pub fn delete(&self, name: &str) -> Result<bool> {
        self.asked("delete", Some(name), |blobs| {
            name::check_blob(name)?;
            match ask(&blobs, BlobTask::Delete { container: self.id, name: name.into() })? {
                BlobAnswer::Removed(removed) => Ok(removed),
                _ => Err(lost_answer()),
            }
        })
    }

    /// Returns what is known of the blob of a name; `None` if there is none.
    pub fn find(&self, name: &str) -> Result<Option<BlobInfo>> {
        self.looked("look for", Some(name), |snapshot| {
            name::check_blob(name)?;
            snapshot.find(self.id, name)
        })
    }

    /// Returns the bytes of the blob of a name; `None` if there is none. For what may be large, [`open`](Self::open) it.
    pub fn get(&self, name: &str) -> Result<Option<Vec<u8>>> {
        self.looked("read", Some(name), |snapshot| {
            name::check_blob(name)?;
            let Some(info) = snapshot.find(self.id, name)? else { return Ok(None) };
            reader::read_whole(snapshot, &info, None).map(Some)
        })
    }

    /// Returns a reader of the blob of a name; [`BlobNotFound`](ErrorKind::BlobNotFound) if there is none.
    ///
    /// It reads the blob as it is now, whatever becomes of it: it holds a snapshot of the store, so while it lives no space is
    /// used again that has become free since.
    pub fn open(&self, name: &str) -> Result<BlobReader> {
        self.asked("open", Some(name), |blobs| {
            name::check_blob(name)?;
            let snapshot = blobs.read_snapshot()?;
            let info = snapshot.find(self.id, name)?.ok_or_else(|| Error::new(ErrorKind::BlobNotFound))?;
            Ok(BlobReader::new(snapshot, info))
        })
    }

    /// Returns the blobs whose names begin with this, as they are now, in the order of their names' bytes. An empty text lists
    /// all.
    pub fn list(&self, prefix: &str) -> Result<Listing> {
        self.asked("list the blobs of", None, |blobs| {
            name::check_prefix(prefix)?;
            Listing::new(blobs.read_snapshot()?, self.clone(), prefix, None)
        })
    }

    /// Returns the blobs whose names begin with this and come behind another name, as they are now. A long list goes on so without
    /// a snapshot that is held all the while; no blob need have the other name any more.
    pub fn list_after(&self, prefix: &str, after: &str) -> Result<Listing> {
        self.asked("list the blobs of", None, |blobs| {
            name::check_prefix(prefix)?;
            name::check_prefix(after)?;
            Listing::new(blobs.read_snapshot()?, self.clone(), prefix, Some(after))
        })
    }

    fn asked<R>(
        &self,
        attempted: &'static str,
        name: Option<&str>,
        ask: impl FnOnce(Arc<dyn Blobs>) -> Result<R>,
    ) -> Result<R> {
        let store = self.store.backend();
        let ask = || store.clone().blobs().and_then(ask);
        let asked = telemetry::in_container(&**store, attempted, &self.name, ask);
        asked.map_err(|error| self.named(attempted, name, error))
    }

    fn looked<R>(
        &self,
        attempted: &'static str,
        name: Option<&str>,
        look: impl FnOnce(&dyn BlobSnapshot) -> Result<R>,
    ) -> Result<R> {
        self.asked(attempted, name, |blobs| look(&*blobs.read_snapshot()?))
    }

    #[cold]
    pub(crate) fn named(&self, attempted: &'static str, name: Option<&str>, error: Error) -> Error {
        let error = error.attempted(attempted).container(&self.name);
        match name {
            Some(name) => error.blob(name),
            None => error,
        }
    }
}

/// Asks one thing.
fn ask(blobs: &Arc<dyn Blobs>, task: BlobTask) -> Result<BlobAnswer> {
    blobs.clone().carry_out(vec![task])?.pop().ok_or_else(lost_answer)
}

/// Returns an answer of another kind than was asked for.
#[cold]
fn lost_answer() -> Error {
    Error::new(ErrorKind::Corrupt).because("the store answered something else than it was asked")
}

impl fmt::Debug for Container {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Container").field("name", &self.name).finish_non_exhaustive()
    }
}
