//! Reading a blob, from end to end or in places.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, Read, Seek, SeekFrom};

use crate::contents::{BlobId, BlobInfo, SEGMENT, length_of, segments};
use crate::error::{Error, ErrorKind, Result};
use crate::executor::BlobSnapshot;

/// Reads a blob as it was when it was [opened](super::Container::open), from any place, in constant memory.
///
/// Each segment's checksum is compared when the reader comes to it: bytes that are not what was written are an error of the
/// kind [`InvalidData`](io::ErrorKind::InvalidData) with the store's [`Error`] in it, and never given out.
///
/// ```
/// use std::io::{Read, Seek, SeekFrom};
///
/// # use table_core::Store;
/// # let dir = tempfile::tempdir()?;
/// # let store = Store::open(dir.path().join("company.tables"))?;
/// let films = store.container("films")?;
/// films.upload("holiday.mp4", "video/mp4", std::io::repeat(7).take(1_000_000))?;
///
/// let mut film = films.open("holiday.mp4")?;
/// film.seek(SeekFrom::End(-10))?;
/// let mut end = Vec::new();
/// film.read_to_end(&mut end)?;
/// assert_eq!(end, [7; 10]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct BlobReader {
    snapshot: Box<dyn BlobSnapshot>,
    /// The blob as it is given out.
    info: BlobInfo,
    /// How many bytes the store has of it: more than are given out where they are sealed.
    stored: u64,
    opener: Option<Box<dyn OpensSegments>>,
    /// How many bytes are before the next one that is read; beyond the end there are none.
    at: u64,
    /// The segment whose bytes were found sound last.
    sound: Option<u32>,
    /// The last segment with its number, if the snapshot lends none.
    kept: Option<(u32, Vec<u8>)>,
}

/// What opens the segments of a blob that is sealed.
pub(super) trait OpensSegments: Send {
    /// Returns how many bytes a segment has less when it is opened.
    fn overhead(&self) -> usize;

    /// Returns the number of the segment that was opened last.
    fn number(&self) -> Option<u32>;

    /// Returns the bytes of the segment that was opened last.
    fn opened(&self) -> &[u8];

    /// Returns the bytes of a segment, of which the store has these.
    fn open(&mut self, number: u32, is_last: bool, sealed: &[u8]) -> Result<&[u8]>;
}

impl BlobReader {
    pub(super) fn new(snapshot: Box<dyn BlobSnapshot>, info: BlobInfo) -> Self {
        let stored = info.length;
        Self { snapshot, info, stored, opener: None, at: 0, sound: None, kept: None }
    }

    /// Makes a reader of a blob of so many bytes, which are sealed; `info` says how many the store has.
    #[cfg(feature = "encrypt")]
    pub(super) fn sealed(
        snapshot: Box<dyn BlobSnapshot>,
        info: BlobInfo,
        length: u64,
        opener: Box<dyn OpensSegments>,
    ) -> Self {
        let stored = info.length;
        let info = BlobInfo { length, ..info };
        Self { snapshot, info, stored, opener: Some(opener), at: 0, sound: None, kept: None }
    }

    /// Returns what is known of the blob.
    pub fn info(&self) -> &BlobInfo {
        &self.info
    }

    /// Returns how many bytes the blob has.
    pub fn len(&self) -> u64 {
        self.info.length
    }

    /// Returns whether it has none.
    pub fn is_empty(&self) -> bool {
        self.info.length == 0
    }

    /// Returns the blob's content type.
    pub fn content_type(&self) -> &str {
        &self.info.content_type
    }
}

/// Returns the bytes of a segment of a blob, which must be as many as the blob's length in the store says.
fn segment(
    snapshot: &dyn BlobSnapshot,
    id: BlobId,
    stored: u64,
    number: u32,
    was_sound: bool,
) -> Result<Cow<'_, [u8]>> {
    let bytes = snapshot.segment(id, number, was_sound)?;
    let before = u64::from(number) * length_of(SEGMENT);
    if length_of(bytes.len()) == stored.saturating_sub(before).min(length_of(SEGMENT)) {
        return Ok(bytes);
    }
    let because = format!("segment {number} of blob {id} is damaged");
    Err(Error::new(ErrorKind::Corrupt).because(because))
}

/// Returns whether a segment is the last one of a blob that has so many bytes in the store.
fn is_last(stored: u64, number: u32) -> bool {
    u64::from(number) + 1 == segments(stored)
}

/// Returns all bytes of a blob; `info` says how many the store has.
pub(super) fn read_whole(
    snapshot: &dyn BlobSnapshot,
    info: &BlobInfo,
    mut opener: Option<&mut dyn OpensSegments>,
) -> Result<Vec<u8>> {
    let mut whole = Vec::new();
    // A length is believed when its segments are there.
    let room = usize::try_from(info.length).ok().filter(|room| whole.try_reserve_exact(*room).is_ok());
    if room.is_none() {
        let because =
            format!("there is no memory for its {} bytes; open it and read it in parts", info.length);
        return Err(Error::new(ErrorKind::BlobTooLarge).because(because));
    }
    for number in 0..u32::try_from(segments(info.length)).unwrap_or(u32::MAX) {
        let bytes = segment(snapshot, info.id, info.length, number, false)?;
        whole.extend_from_slice(match &mut opener {
            Some(opener) => opener.open(number, is_last(info.length, number), &bytes)?,
            None => &bytes,
        });
    }
    Ok(whole)
}

impl Read for BlobReader {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let Self { snapshot, info, stored, opener, at, sound, kept } = self;
        if *at >= info.length || into.is_empty() {
            return Ok(0);
        }
        let overhead = opener.as_ref().map_or(0, |opener| opener.overhead());
        let full = length_of(SEGMENT - overhead);
        let number = u32::try_from(*at / full).unwrap_or(u32::MAX);
        let was_sound = *sound == Some(number);
        let stored_segment = || segment(&**snapshot, info.id, *stored, number, was_sound);
        let mut lent: &[u8] = &[];
        let bytes = match opener {
            None if kept.as_ref().is_some_and(|(of, _)| *of == number) => Ok(()),
            None => stored_segment().map(|bytes| match bytes {
                Cow::Borrowed(bytes) => (lent, *kept) = (bytes, None),
                Cow::Owned(bytes) => *kept = Some((number, bytes)),
            }),
            Some(opener) if opener.number() == Some(number) => Ok(()),
            Some(opener) => stored_segment()
                .and_then(|sealed| opener.open(number, is_last(*stored, number), &sealed).map(drop)),
        };
        let bytes = bytes.map(|()| match (opener, kept) {
            (Some(opener), _) => opener.opened(),
            (None, Some((_, bytes))) => bytes.as_slice(),
            (None, None) => lent,
        });
        let bytes = bytes.map_err(|error| {
            let is_changed = matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::DecryptionFailed);
            let kind = if is_changed { io::ErrorKind::InvalidData } else { io::ErrorKind::Other };
            io::Error::new(kind, error.attempted("read").blob(&info.name))
        })?;
        *sound = Some(number);
        let begun = usize::try_from(*at % full).unwrap_or_default();
        let rest = bytes.get(begun..).unwrap_or_default();
        let length = rest.len().min(into.len());
        if let (Some(into), Some(rest)) = (into.get_mut(..length), rest.get(..length)) {
            into.copy_from_slice(rest);
        }
        *at += length_of(length);
        Ok(length)
    }
}

impl Seek for BlobReader {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let place = match to {
            SeekFrom::Start(place) => Some(place),
            SeekFrom::End(by) => self.info.length.checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = place.ok_or_else(|| {
            io::Error::new(io::ErrorKind::InvalidInput, "the place is before the blob's beginning")
        })?;
        Ok(self.at)
    }
}

impl fmt::Debug for BlobReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlobReader").field("info", &self.info).field("at", &self.at).finish_non_exhaustive()
    }
}
