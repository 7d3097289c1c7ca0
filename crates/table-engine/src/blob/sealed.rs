//! Blobs whose bytes are sealed, and whose keys entities hold in encrypted fields.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::io::{self, Read};
use std::sync::Arc;

use zeroize::Zeroizing;

use super::field::{info_of, nothing};
use super::reader::{BlobReader, OpensSegments, read_whole};
use super::{import, upload};
use crate::contents::{BlobId, BlobInfo, SEGMENT, length_of, name, reference};
use crate::crypt::SecretKey;
use crate::crypt::segments::{OVERHEAD, PLAIN, SegmentCipher, plain_length};
use crate::error::{Error, ErrorKind, Result};
use crate::executor::{BlobSnapshot, telemetry};
use crate::handle::tables::Tables;
use crate::model::{EdmType, ValueRef};
use crate::schema::{Property, PropertyValue, ValueError};

/// A [`Blob`](super::Blob) whose bytes the store holds sealed: the type of an encrypted field.
///
/// [`Store::upload_sealed`](crate::Tables::upload_sealed) makes a key for it, at random, and seals the bytes as they come
/// in. The key lies with the reference in the entity's sealed field, so a reader that can open the field can read the blob,
/// and to To shred the field's key, by `Encryption::shred`, is to destroy the blob with it. To seal the field anew, under
/// another key, moves none of the blob's bytes.
///
/// The store counts the entities that hold it as it does for any blob: that a row refers to which blob stands beside what is
/// sealed, in the clear, and so do the blob's length and content type. They can't be changed unnoticed.
///
/// It is cheap to clone, wipes its key with the last clone, and shows nothing of it. It equals another that refers to the
/// same upload. The default is empty: no blob at all.
///
/// ```
/// use std::io::Read;
/// use std::sync::Arc;
///
/// use table_core::blob::SealedBlob;
/// use table_core::crypt::MemoryKeys;
/// use table_core::{Entity, Store};
///
/// #[derive(Entity)]
/// #[entity(table = "Patients", kind = "patient")]
/// #[key(partition = "{clinic}", row = "patient_{id:06}")]
/// struct Patient {
///     clinic: String,
///     id: u32,
///     #[encrypt]
///     scan: SealedBlob,
/// }
///
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("clinic.tables");
/// let store = Store::options().encryption(Arc::new(MemoryKeys::new()?)).open(&path)?;
/// let patients = store.table::<Patient>()?;
/// let scan = store.upload_sealed("image/dicom", std::io::repeat(7).take(3_000_000))?;
/// patients.insert(&Patient { clinic: "a".into(), id: 7, scan })?;
///
/// let found = patients.get(Patient::key("a", 7))?.unwrap();
/// assert_eq!(found.scan.len(), 3_000_000);
/// let mut scan = found.scan.open(&store)?;
/// let mut first = [0; 4];
/// scan.read_exact(&mut first)?;
/// assert_eq!((first, scan.content_type()), ([7; 4], "image/dicom"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default)]
pub struct SealedBlob(Option<Arc<Held>>);

/// Bytes of a blob's key.
const KEY: usize = reference::WITH_KEY - reference::BYTES;

/// A reference with its key.
struct Held {
    /// As the field seals it.
    bytes: Zeroizing<[u8; reference::WITH_KEY]>,
    id: BlobId,
    /// How long the blob is in the store.
    stored: u64,
    length: u64,
}

impl Held {
    fn decode(bytes: &[u8]) -> Option<Self> {
        let bytes: Zeroizing<[u8; reference::WITH_KEY]> = Zeroizing::new(bytes.try_into().ok()?);
        let (id, stored) = reference::decode(bytes.first_chunk::<{ reference::BYTES }>()?)?;
        Some(Self { id, stored, length: plain_length(stored)?, bytes })
    }

    /// Returns what there is of the blob, if it is as long as what was sealed.
    fn info(&self, store: &[u8; 16], snapshot: &dyn BlobSnapshot) -> Result<BlobInfo> {
        let info = info_of(store, snapshot, self.id)?;
        if info.length == self.stored {
            return Ok(info);
        }
        let because = "the blob is not as long as the one that was sealed: it was changed";
        Err(Error::new(ErrorKind::DecryptionFailed).because(because))
    }

    fn key(&self) -> Result<&[u8; KEY]> {
        self.bytes.last_chunk().ok_or_else(|| Error::new(ErrorKind::DecryptionFailed))
    }

    fn cipher(&self, content_type: &str) -> Result<SegmentCipher> {
        Ok(SegmentCipher::new(self.key()?, content_type))
    }
}

impl Tables {
    /// Uploads what a reader gives, sealed under a key that is made for it, for an entity to hold in an encrypted field:
    /// as [`upload`](Self::upload) does, in constant memory. No byte reaches the store's files as it is.
    ///
    /// It takes no key of the store's: those seal the field.
    pub fn upload_sealed(&self, content_type: &str, reader: impl Read) -> Result<SealedBlob> {
        let upload = || {
            name::check_type(content_type)?;
            let key = SecretKey::generate()?;
            let cipher = SegmentCipher::new(key.expose(), content_type);
            let mut sealing = SealingReader::new(cipher, reader);
            let blobs = self.backend().clone().blobs()?;
            let (id, stored) = upload::unnamed(&blobs, content_type, &mut sealing)?;
            SealedBlob::of(id, stored, key.expose())
        };
        telemetry::in_container(&**self.backend(), "upload a blob", "", upload)
            .map_err(|error: Error| error.attempted("upload a blob"))
    }

    /// Copies a sealed blob of another store into this one, as [`import_blob`](Self::import_blob) does with one that lies
    /// in the clear. Its bytes stay sealed as they are, under the key that comes with its reference; the entity that holds
    /// the copy seals that under this store's keys.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use table_core::crypt::MemoryKeys;
    /// # use table_core::Store;
    ///
    /// # let dir = tempfile::tempdir()?;
    /// let open = |name| Store::options().encryption(Arc::new(MemoryKeys::new()?)).open(dir.path().join(name));
    /// let (north, south) = (open("north.tables")?, open("south.tables")?);
    /// let scan = north.upload_sealed("image/dicom", &b"two broken ribs"[..])?;
    ///
    /// let scan = south.import_sealed_blob(&north, &scan)?;
    /// assert_eq!(scan.get(&south)?, b"two broken ribs");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn import_sealed_blob(&self, from: &Tables, blob: &SealedBlob) -> Result<SealedBlob> {
        let import = || {
            let Some(held) = blob.0.as_deref() else { return Ok(blob.clone()) };
            let (id, stored) = import::bring(self, from, held.id, held.stored)?;
            SealedBlob::of(id, stored, held.key()?)
        };
        import().map_err(|error: Error| error.attempted(import::ATTEMPTED))
    }
}

impl SealedBlob {
    /// Returns the blob that has so many bytes in the store, sealed under this key.
    fn of(id: BlobId, stored: u64, key: &[u8; KEY]) -> Result<Self> {
        let mut bytes = Zeroizing::new([0; reference::WITH_KEY]);
        let parts = reference::encode(id, stored).into_iter().chain(key.iter().copied());
        bytes.iter_mut().zip(parts).for_each(|(byte, part)| *byte = part);
        let held = Held::decode(&*bytes).ok_or_else(|| {
            Error::new(ErrorKind::Corrupt).because("what was uploaded is not as long as what was sealed")
        })?;
        Ok(Self(Some(Arc::new(held))))
    }

    /// Returns how many bytes it has, before they are sealed.
    pub fn len(&self) -> u64 {
        self.0.as_ref().map_or(0, |held| held.length)
    }

    /// Returns whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns a reader of it, which opens one segment after another and holds a snapshot of the store. Each is compared with
    /// what was sealed when the reader comes to it: another one is an [`io::Error`] of the kind
    /// [`InvalidData`](io::ErrorKind::InvalidData), and never given out.
    ///
    /// The empty field has none: it is [`BlobNotFound`](ErrorKind::BlobNotFound).
    pub fn open(&self, store: &Tables) -> Result<BlobReader> {
        let open = || {
            let blobs = store.backend().clone().blobs()?;
            let snapshot = blobs.clone().read_snapshot()?;
            let held = self.0.as_deref().ok_or_else(nothing)?;
            let info = held.info(&blobs.identity(), &*snapshot)?;
            let opener = Opener::new(held.cipher(&info.content_type)?);
            Ok(BlobReader::sealed(snapshot, info, held.length, Box::new(opener)))
        };
        telemetry::in_container(&**store.backend(), "open a blob", "", open)
            .map_err(|error: Error| error.attempted("open a blob"))
    }

    /// Reads all bytes of the blob. One that may be large is better [opened](Self::open).
    pub fn get(&self, store: &Tables) -> Result<Vec<u8>> {
        let get = || {
            let Some(held) = self.0.as_deref() else { return Ok(Vec::new()) };
            let blobs = store.backend().clone().blobs()?;
            let snapshot = blobs.clone().read_snapshot()?;
            let info = held.info(&blobs.identity(), &*snapshot)?;
            let mut opener = Opener::new(held.cipher(&info.content_type)?);
            read_whole(&*snapshot, &info, Some(&mut opener))
        };
        telemetry::in_container(&**store.backend(), "read a blob", "", get)
            .map_err(|error: Error| error.attempted("read a blob"))
    }
}

/// Opens the segments of one blob.
struct Opener {
    cipher: SegmentCipher,
    /// The segment that was opened last. Its room is kept, and wiped in the end.
    opened: Zeroizing<Vec<u8>>,
    number: Option<u32>,
}

impl Opener {
    fn new(cipher: SegmentCipher) -> Self {
        // There is room for any segment: nothing is left behind by growing.
        Self { cipher, opened: Zeroizing::new(Vec::with_capacity(SEGMENT)), number: None }
    }
}

impl OpensSegments for Opener {
    fn overhead(&self) -> usize {
        OVERHEAD
    }

    fn number(&self) -> Option<u32> {
        self.number
    }

    fn opened(&self) -> &[u8] {
        &self.opened
    }

    fn open(&mut self, number: u32, is_last: bool, sealed: &[u8]) -> Result<&[u8]> {
        self.number = None;
        self.opened.clear();
        self.opened.extend_from_slice(sealed);
        self.cipher.open(number, is_last, &mut self.opened)?;
        self.number = Some(number);
        Ok(&self.opened)
    }
}

/// Reads the sealed segments of what another reader gives.
struct SealingReader<R> {
    cipher: SegmentCipher,
    reader: R,
    /// What has been read ahead: a segment and a byte, which tells that there is another one.
    ahead: Zeroizing<Vec<u8>>,
    /// The segment that is given out, and how much of it was.
    sealed: Vec<u8>,
    given: usize,
    /// The number of the next one; `None` after the last.
    next: Option<u32>,
}

impl<R: Read> SealingReader<R> {
    fn new(cipher: SegmentCipher, reader: R) -> Self {
        let ahead = Zeroizing::new(Vec::with_capacity(PLAIN + 1));
        Self { cipher, reader, ahead, sealed: Vec::new(), given: 0, next: Some(0) }
    }

    /// Seals the next segment.
    fn advance(&mut self, number: u32) -> io::Result<()> {
        let wanted = length_of(PLAIN + 1 - self.ahead.len());
        // There is room for all of it: nothing is left behind by growing.
        (&mut self.reader).take(wanted).read_to_end(&mut self.ahead)?;
        let is_last = self.ahead.len() <= PLAIN;
        self.sealed.clear();
        self.given = 0;
        // Nothing that is not sealed may lie in a buffer that is not wiped, if the cipher refuses.
        let mut segment = Zeroizing::new(Vec::with_capacity(PLAIN + 16));
        segment.extend(self.ahead.iter().take(PLAIN));
        let rest = self.ahead.get(PLAIN).copied();
        self.ahead.clear();
        self.ahead.extend(rest);
        self.cipher.seal(number, is_last, &mut segment).map_err(io::Error::other)?;
        self.sealed.extend_from_slice(&segment);
        self.next = if is_last { None } else { Some(number.checked_add(1).ok_or_else(too_long)?) };
        Ok(())
    }
}

fn too_long() -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, "a blob has 2^32 segments of 64 KiB at most")
}

impl<R: Read> Read for SealingReader<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.given == self.sealed.len() {
            match self.next {
                Some(number) => self.advance(number)?,
                None => return Ok(0),
            }
        }
        let rest = self.sealed.get(self.given..).unwrap_or_default();
        let length = rest.len().min(into.len());
        if let (Some(into), Some(rest)) = (into.get_mut(..length), rest.get(..length)) {
            into.copy_from_slice(rest);
        }
        self.given += length;
        Ok(length)
    }
}

impl PartialEq for SealedBlob {
    fn eq(&self, other: &Self) -> bool {
        self.identity() == other.identity()
    }
}

impl Eq for SealedBlob {}

impl Hash for SealedBlob {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.identity().hash(state);
    }
}

impl SealedBlob {
    fn identity(&self) -> Option<BlobId> {
        self.0.as_ref().map(|held| held.id)
    }
}

impl fmt::Debug for SealedBlob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(held) = &self.0 else { return f.write_str("SealedBlob(None)") };
        f.debug_struct("SealedBlob")
            .field("id", &held.id)
            .field("length", &held.length)
            .finish_non_exhaustive()
    }
}

#[diagnostic::do_not_recommend]
impl Property for SealedBlob {
    const EDM: EdmType = EdmType::Binary;
    const EXACT: bool = true;
    const SECRET: bool = true;
    const BLOB: bool = true;

    fn to_property(&self) -> Result<PropertyValue<'_>, ValueError> {
        let bytes = self.0.as_ref().map_or(&[][..], |held| &*held.bytes);
        Ok(PropertyValue::Borrowed(ValueRef::Binary(bytes)))
    }

    fn from_property(value: Option<ValueRef<'_>>) -> Result<Self, ValueError> {
        match value {
            Some(ValueRef::Binary([])) => Ok(Self(None)),
            Some(ValueRef::Binary(bytes)) => {
                let because = "expected a reference to a sealed blob, found other bytes";
                let held = Held::decode(bytes).ok_or_else(|| ValueError::invalid(Self::EDM, because))?;
                Ok(Self(Some(Arc::new(held))))
            }
            found => Err(ValueError::mistyped(Self::EDM, found)),
        }
    }
}

#[cfg(test)]
mod tests;
