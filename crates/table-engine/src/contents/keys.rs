//! The keys of the records of blobs. Numbers are big-endian, so that records lie in their order.

use super::BlobId;

/// What a record is, as its key begins.
const DIRECTORY_KIND: u8 = 0;
const LEDGER_KIND: u8 = 1;
const NAME: u8 = 2;
const BLOB: u8 = 3;
const WAITING: u8 = 4;
const SEGMENT: u8 = 5;

/// The key of the directory of containers.
pub const DIRECTORY: [u8; 1] = [DIRECTORY_KIND];

/// The key of what is counted of all blobs.
pub const COUNTERS: [u8; 1] = [LEDGER_KIND];

/// What the keys of blobs that wait begin with.
pub const ALL_WAITING: [u8; 1] = [WAITING];

/// Returns the key of a name in a container; of no name, with what those of all its names begin.
pub fn name(container: u32, name: &str) -> Vec<u8> {
    [&[NAME][..], &container.to_be_bytes(), name.as_bytes()].concat()
}

/// Returns the key of a blob.
pub fn blob(id: BlobId) -> Vec<u8> {
    [&[BLOB][..], &id.0].concat()
}

/// Returns the key of the note that a blob waits.
pub fn waiting(id: BlobId) -> Vec<u8> {
    [&[WAITING][..], &id.0].concat()
}

/// Returns the key of a segment.
pub fn segment(id: BlobId, number: u32) -> Vec<u8> {
    [&[SEGMENT][..], &id.0, &number.to_be_bytes()].concat()
}

/// A key that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key<'k> {
    Directory,
    Counters,
    Name(u32, &'k str),
    Blob(BlobId),
    Waiting(BlobId),
    Segment(BlobId, u32),
}

impl<'k> Key<'k> {
    /// Takes a key apart; `None` for one that no record has.
    pub fn parse(key: &'k [u8]) -> Option<Self> {
        let (kind, rest) = key.split_first()?;
        match *kind {
            DIRECTORY_KIND => rest.is_empty().then_some(Self::Directory),
            LEDGER_KIND => rest.is_empty().then_some(Self::Counters),
            NAME => {
                let (container, name) = rest.split_first_chunk()?;
                Some(Self::Name(u32::from_be_bytes(*container), std::str::from_utf8(name).ok()?))
            }
            BLOB => Some(Self::Blob(BlobId(rest.try_into().ok()?))),
            WAITING => Some(Self::Waiting(BlobId(rest.try_into().ok()?))),
            SEGMENT => {
                let (id, number) = rest.split_first_chunk()?;
                Some(Self::Segment(BlobId(*id), u32::from_be_bytes(number.try_into().ok()?)))
            }
            _ => None,
        }
    }
}
