//! Blobs whose bytes follow from their numbers: by name, in entities, and entries of a log.

use table_core::Entity;
use table_core::blob::Blob;

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
