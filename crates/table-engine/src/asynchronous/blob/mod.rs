//! Blobs, awaited.

#[cfg(feature = "json")]
mod log;
mod reader;
mod writer;

use std::fmt;

use futures_io::AsyncRead;

#[cfg(feature = "json")]
pub use self::log::AsyncLog;
pub use self::reader::AsyncBlobReader;
pub use self::writer::AsyncBlobWriter;
use super::{AsyncTables, Reads, RowStream, WithoutPages, pool};
use crate::blob::{Blob, BlobInfo, Container, Listing};
use crate::error::Result;
use crate::handle::tables::Tables;

/// A container of blobs, whose calls are awaited; [`AsyncTables::container`] gives it.
///
/// It has the methods of [`Container`]. What is small is read by the task, unless [`Reads::Spawned`] says otherwise; what is
/// written goes on a thread of a pool. A future that is dropped has written the whole or nothing.
///
/// ```
/// use table_core::Store;
/// use table_core::asynchronous::block_on;
///
/// # block_on(async {
/// let store = Store::temporary()?.to_async();
/// let photos = store.container("photos").await?;
/// photos.put_as("sales/000007.jpg", "image/jpeg", [0xff, 0xd8, 0xff]).await?;
/// assert_eq!(photos.get("sales/000007.jpg").await?, Some(vec![0xff, 0xd8, 0xff]));
///
/// let mut blobs = photos.list("sales/");
/// while let Some(blob) = blobs.try_next().await? {
///     assert_eq!((&*blob.name, blob.length), ("sales/000007.jpg", 3));
/// }
/// assert!(photos.delete("sales/000007.jpg").await?);
/// # Ok::<(), table_core::Error>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct AsyncContainer {
    container: Container,
    reads: Reads,
}

impl Container {
    /// Returns the container with calls that are awaited.
    #[must_use]
    pub fn to_async(&self) -> AsyncContainer {
        AsyncContainer { container: self.clone(), reads: Reads::Inline }
    }
}

impl AsyncTables {
    /// Returns the container of this name, made if there is none; see [`Tables::container`].
    pub async fn container(&self, name: &str) -> Result<AsyncContainer> {
        let (name, reads) = (name.to_owned(), self.reading());
        let container = self.run(move |tables| tables.container(&name)).await?;
        Ok(AsyncContainer { container, reads })
    }

    /// Returns the names of all containers, in alphabetical order.
    pub async fn containers(&self) -> Result<Vec<String>> {
        self.run(Tables::containers).await
    }

    /// Drops a container with all its blobs; see [`Tables::drop_container`].
    pub async fn drop_container(&self, name: &str) -> Result<()> {
        let name = name.to_owned();
        self.run(move |tables| tables.drop_container(&name)).await
    }

    /// Uploads what a reader gives, however much it is, in constant memory, for an entity to hold; see [`Tables::upload`].
    pub async fn upload(&self, content_type: &str, reader: impl AsyncRead) -> Result<Blob> {
        let mut writer = AsyncBlobWriter::for_rows(self.blocking().clone(), content_type);
        writer.add_all(reader).await?;
        writer.finish_blob().await
    }

    /// Copies a blob of another store into this one, for an entity to hold here, on a thread of a pool; see
    /// [`Tables::import_blob`]. A sealed one is copied by [`run`](Self::run) and `import_sealed_blob`.
    pub async fn import_blob(&self, from: &AsyncTables, blob: &Blob) -> Result<Blob> {
        let (from, blob) = (from.blocking().clone(), *blob);
        self.run(move |tables| tables.import_blob(&from, &blob)).await
    }

    /// Returns a reader of a blob that an entity holds; see [`Blob::open`].
    ///
    /// A sealed blob has no awaited reader, since its key is opened where it is read. Upload and read it by
    /// [`run`](Self::run): `store.run(move |store| patient.scan.get(store)).await`.
    pub async fn open_blob(&self, blob: &Blob) -> Result<AsyncBlobReader> {
        let (blob, reads) = (*blob, self.reading());
        let reader = self.read(move |tables| blob.open(tables)).await?;
        Ok(AsyncBlobReader::new(reader, reads))
    }

    /// Reads all bytes of a blob that an entity holds. One that may be large is better [opened](Self::open_blob).
    ///
    /// ```
    /// # use table_core::{Entity, Store};
    /// # use table_core::asynchronous::block_on;
    /// use table_core::blob::Blob;
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
    /// # block_on(async {
    /// # let store = Store::temporary()?.to_async();
    /// let staff = store.table::<Employee>().await?;
    /// // A reader may be the body of a request.
    /// let photo = store.upload("image/jpeg", &[0xff, 0xd8, 0xff][..]).await?;
    /// staff.insert(&Employee { department: "Sales".into(), id: 7, photo }).await?;
    /// let jun = staff.get(Employee::key("Sales", 7)).await?.unwrap();
    /// assert_eq!(store.read_blob(&jun.photo).await?, [0xff, 0xd8, 0xff]);
    /// # Ok::<(), table_core::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn read_blob(&self, blob: &Blob) -> Result<Vec<u8>> {
        let blob = *blob;
        self.read(move |tables| blob.get(tables)).await
    }

    async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Tables) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        match self.reading() {
            Reads::Inline => read(self.blocking()),
            Reads::Spawned => self.run(read).await,
        }
    }
}

impl AsyncContainer {
    /// Returns the container with calls that block.
    pub fn blocking(&self) -> &Container {
        &self.container
    }

    /// Says where the handle reads.
    #[must_use]
    pub fn reads(self, reads: Reads) -> Self {
        Self { reads, ..self }
    }

    /// Returns the container's name.
    pub fn name(&self) -> &str {
        self.container.name()
    }

    /// Puts a blob under a name, in the place of the one that is there; see [`Container::put`].
    pub async fn put(&self, name: &str, bytes: impl Into<Vec<u8>>) -> Result<()> {
        let (name, bytes) = (name.to_owned(), bytes.into());
        self.run(move |container| container.put(&name, &bytes)).await
    }

    /// Puts a blob with a content type, `image/jpeg` say, under a name, in the place of the one that is there.
    pub async fn put_as(&self, name: &str, content_type: &str, bytes: impl Into<Vec<u8>>) -> Result<()> {
        let (name, content_type, bytes) = (name.to_owned(), content_type.to_owned(), bytes.into());
        self.run(move |container| container.put_as(&name, &content_type, &bytes)).await
    }

    /// Puts a blob under a name that no other has, or it is
    /// [`BlobAlreadyExists`](crate::ErrorKind::BlobAlreadyExists).
    pub async fn put_new(&self, name: &str, content_type: &str, bytes: impl Into<Vec<u8>>) -> Result<()> {
        let (name, content_type, bytes) = (name.to_owned(), content_type.to_owned(), bytes.into());
        self.run(move |container| container.put_new(&name, &content_type, &bytes)).await
    }

    /// Puts bytes behind those of a blob, or makes a blob of them if there is none; see [`Container::append`].
    pub async fn append(&self, name: &str, bytes: impl Into<Vec<u8>>) -> Result<u64> {
        let (name, bytes) = (name.to_owned(), bytes.into());
        self.run(move |container| container.append(&name, &bytes)).await
    }

    /// Puts what a reader gives under a name, however much it is, in constant memory; returns how many bytes it was. See
    /// [`Container::upload`].
    ///
    /// The name leads to the bytes when all are there. If the reader fails or the future is dropped, the name leads to what it
    /// led to before, and what has come of the upload is removed.
    pub async fn upload(&self, name: &str, content_type: &str, reader: impl AsyncRead) -> Result<u64> {
        let mut writer = self.writer(name, content_type);
        writer.add_all(reader).await?;
        writer.finish().await
    }

    /// Returns a writer of a blob that is to have this name; see [`AsyncBlobWriter`].
    pub fn writer(&self, name: &str, content_type: &str) -> AsyncBlobWriter {
        AsyncBlobWriter::named(self.container.clone(), name, content_type)
    }

    /// Deletes the blob of a name; whether there was one. Readers that are open go on to their end.
    pub async fn delete(&self, name: &str) -> Result<bool> {
        let name = name.to_owned();
        self.run(move |container| container.delete(&name)).await
    }

    /// Returns what is known of the blob of a name; `None` if there is none.
    pub async fn find(&self, name: &str) -> Result<Option<BlobInfo>> {
        let name = name.to_owned();
        self.read(move |container| container.find(&name)).await
    }

    /// Returns the bytes of the blob of a name; `None` if there is none. For what may be large, [`open`](Self::open) it.
    pub async fn get(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let name = name.to_owned();
        self.read(move |container| container.get(&name)).await
    }

    /// Returns a reader of the blob of a name; [`BlobNotFound`](crate::ErrorKind::BlobNotFound) if there is none.
    pub async fn open(&self, name: &str) -> Result<AsyncBlobReader> {
        let name = name.to_owned();
        let reader = self.read(move |container| container.open(&name)).await?;
        Ok(AsyncBlobReader::new(reader, self.reads))
    }

    /// Returns the blobs whose names begin with this, as they are when the first is asked for, in the order of their names'
    /// bytes. An empty text lists all.
    pub fn list(&self, prefix: &str) -> RowStream<WithoutPages<Listing>> {
        let (container, prefix) = (self.container.clone(), prefix.to_owned());
        RowStream::new(self.reads, move || Ok(WithoutPages::new(container.list(&prefix)?)))
    }

    /// Runs a call that blocks on a thread of a pool.
    pub async fn run<T: Send + 'static>(
        &self,
        call: impl FnOnce(&Container) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let container = self.container.clone();
        pool::run(move || call(&container)).await
    }

    async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Container) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        match self.reads {
            Reads::Inline => read(&self.container),
            Reads::Spawned => self.run(read).await,
        }
    }
}

impl fmt::Debug for AsyncContainer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncContainer").field("name", &self.name()).finish_non_exhaustive()
    }
}
