//! Rows as the values of a key-value store: postcard, properties by their places.

use serde::{Deserialize, Serialize};

use super::values;
use crate::wide_struct;
use crate::{Digest, Result};

// Texts are not copied out: who wants one property doesn't pay for the others' memory.
wide_struct! { 6 #[derive(Serialize, Deserialize)] struct Six<'a>, texts &'a str, times u64; }
wide_struct! { 50 #[derive(Serialize, Deserialize)] struct Fifty<'a>, texts &'a str, times u64; }
wide_struct! { 200 #[derive(Serialize, Deserialize)] struct TwoHundred<'a>, texts &'a str, times u64; }

fn no_such(width: usize) -> Box<dyn std::error::Error + Send + Sync> {
    format!("there are no rows of {width} properties").into()
}

/// The bytes of a row.
///
/// # Errors
///
/// There is no such width.
pub fn encode(id: u32, width: usize) -> Result<Vec<u8>> {
    let values = values(id, width);
    Ok(match width {
        6 => postcard::to_allocvec(&Six::of(id, &values)?),
        50 => postcard::to_allocvec(&Fifty::of(id, &values)?),
        200 => postcard::to_allocvec(&TwoHundred::of(id, &values)?),
        _ => return Err(no_such(width)),
    }?)
}

/// Decodes a row and adds the property in its middle.
///
/// # Errors
///
/// There is no such width, or the bytes are no row of it.
pub fn add_middle(digest: &mut Digest, width: usize, bytes: &[u8]) -> Result<()> {
    use std::hint::black_box;
    digest.one(match width {
        6 => black_box(postcard::from_bytes::<Six<'_>>(bytes)?).p003.into(),
        50 => black_box(postcard::from_bytes::<Fifty<'_>>(bytes)?).p025.cast_unsigned(),
        200 => black_box(postcard::from_bytes::<TwoHundred<'_>>(bytes)?).p100,
        _ => return Err(no_such(width)),
    });
    Ok(())
}
