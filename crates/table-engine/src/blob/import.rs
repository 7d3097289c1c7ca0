//! Blobs copied from one store to another.

use std::error::Error as _;
use std::io;

use super::field::info_of;
use super::reader::BlobReader;
use super::{Blob, upload};
use crate::contents::BlobId;
use crate::error::{Error, ErrorKind, Result};
use crate::handle::tables::Tables;

impl Tables {
    /// Copies a blob of another store into this one, for an entity to hold here, in constant memory.
    ///
    /// A blob is the store's that it was uploaded to. An entity that was read from one store and holds a blob is refused by
    /// another with [`BlobGone`](crate::ErrorKind::BlobGone), until it holds the copy. As after an
    /// [`upload`](Self::upload), it is to be written within an hour. A blob that this store has already, as it does where
    /// both stores are copies of one, is not copied: the reference is the same then.
    ///
    /// `import_sealed_blob` does so with a sealed one, whose bytes stay sealed.
    ///
    /// ```
    /// use table_core::blob::Blob;
    /// use table_core::{Entity, ErrorKind, Store, Stored};
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
    /// # let (from, to) = (Store::temporary()?, Store::temporary()?);
    /// let (staff, copies) = (from.table::<Employee>()?, to.table::<Employee>()?);
    /// let photo = from.upload("image/jpeg", &b"jpeg"[..])?;
    /// staff.insert(&Employee { department: "Sales".into(), id: 7, photo })?;
    ///
    /// for employee in staff.all() {
    ///     let mut employee = Stored::into_inner(employee?);
    ///     assert_eq!(copies.insert(&employee).unwrap_err().kind(), ErrorKind::BlobGone);
    ///     employee.photo = to.import_blob(&from, &employee.photo)?;
    ///     copies.insert(&employee)?;
    /// }
    /// let jun = copies.get(Employee::key("Sales", 7))?.ok_or("there")?;
    /// assert_eq!(jun.photo.get(&to)?, b"jpeg");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn import_blob(&self, from: &Tables, blob: &Blob) -> Result<Blob> {
        let import = || match blob.0 {
            Some((id, length)) => bring(self, from, id, length).map(|copy| Blob(Some(copy))),
            None => Ok(*blob),
        };
        import().map_err(|error: Error| error.attempted(ATTEMPTED))
    }
}

/// The words that follow "cannot " in an error.
pub(super) const ATTEMPTED: &str = "import a blob";

/// Copies a blob of so many stored bytes; the identity and the length that it has here.
pub(super) fn bring(to: &Tables, from: &Tables, id: BlobId, length: u64) -> Result<(BlobId, u64)> {
    let (here, there) = (to.backend().clone().blobs()?, from.backend().clone().blobs()?);
    let has_already = here.clone().read_snapshot()?.blob(id)?.is_some_and(|info| info.length == length);
    if has_already {
        return Ok((id, length));
    }
    let snapshot = there.clone().read_snapshot()?;
    let info = info_of(&there.identity(), &*snapshot, id)?;
    if info.length != length {
        let because = format!("blob {id} is not as long as the reference to it says");
        return Err(Error::new(ErrorKind::Corrupt).because(because));
    }
    let content_type = info.content_type.clone();
    let mut reader = BlobReader::new(snapshot, info);
    upload::unnamed(&here, &content_type, &mut reader).map_err(of_source)
}

/// Returns the error of the store that a blob was read from, if that is what an upload failed for.
fn of_source(error: Error) -> Error {
    let reading = error.source().and_then(|source| source.downcast_ref::<io::Error>());
    let found = reading.and_then(|failed| failed.get_ref()?.downcast_ref::<Error>()).map(Error::again);
    found.unwrap_or(error)
}
