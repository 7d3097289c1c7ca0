//! Blobs whose bytes follow from their numbers: by name, in entities, sealed ones, and entries of a log.

use table_core::blob::{Blob, SealedBlob};
use table_core::crypt::Scope;
use table_core::{Entity, Result, Store};

/// An entity that holds a blob.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Pictures", kind = "picture")]
#[key(partition = "{album}", row = "{number:08}")]
#[index(by_size, row = "size_{bytes:08}_{number:08}")]
pub struct Picture {
    /// Which album it is in.
    pub album: String,
    /// Its number.
    pub number: u32,
    /// How many bytes it has.
    pub bytes: u32,
    /// It itself.
    pub picture: Blob,
}

/// An entity that holds a blob whose bytes are sealed, twice.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Scans", kind = "scan")]
#[key(partition = "{album}", row = "{number:08}")]
#[index(by_size, row = "size_{bytes:08}_{number:08}")]
pub struct Scan {
    /// Which album it is in.
    pub album: String,
    /// Its number.
    pub number: u32,
    /// How many bytes it has.
    pub bytes: u32,
    /// It itself.
    #[encrypt]
    pub scan: SealedBlob,
}

/// Uploads the bytes sealed, and puts the entity that holds them.
pub fn put_sealed(store: &Store, number: u32, bytes: &[u8]) -> Result<()> {
    let scan = store.upload_sealed("image/dicom", bytes)?;
    let bytes = u32::try_from(bytes.len()).unwrap_or_default();
    store.table::<Scan>()?.put(&Scan { album: "all".into(), number, bytes, scan }).map(drop)
}

/// Seals what refers to them anew under a new key, and destroys the old ones. No blob's bytes are touched.
pub fn rotate_sealed(store: &Store) -> Result<()> {
    let encryption = store.encryption()?;
    encryption.rotate(&Scope::store())?;
    store.table::<Scan>()?.reencrypt()?.run()?;
    encryption.destroy_unused().map(drop)
}

/// The bytes of a number: some hundred, some more than a segment, some more than a stage.
pub fn bytes(number: u32) -> Vec<u8> {
    let length = match number % 4 {
        0 => 300,
        1 => 70_000,
        2 => 200_000,
        _ => 1_200_000,
    };
    made(number, length)
}

/// As many that an upload of them takes three stages.
pub fn staged(number: u32) -> Vec<u8> {
    made(number, 2_200_000)
}

fn made(number: u32, length: usize) -> Vec<u8> {
    let mut state = u64::from(number) << 1 | 1;
    let mut bytes = Vec::with_capacity(length + 8);
    while bytes.len() < length {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        bytes.extend_from_slice(&state.to_le_bytes());
    }
    bytes.truncate(length);
    bytes
}
