//! AES-256-GCM by AWS-LC.

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};

use super::{KEY, NONCE, Refused, TAG};

/// Encrypts in place and gives the tag.
pub(crate) fn seal(
    key: &[u8; KEY],
    nonce: &[u8; NONCE],
    aad: &[u8],
    text: &mut [u8],
) -> Result<[u8; TAG], Refused> {
    let nonce = Nonce::assume_unique_for_key(*nonce);
    let tag = cipher(key)?.seal_in_place_separate_tag(nonce, Aad::from(aad), text).map_err(|_| Refused)?;
    tag.as_ref().try_into().map_err(|_| Refused)
}

/// Decrypts in place what has this tag. If the tag is another, `text` holds nothing of use afterwards.
pub(crate) fn open(
    key: &[u8; KEY],
    nonce: &[u8; NONCE],
    aad: &[u8],
    text: &mut [u8],
    tag: &[u8; TAG],
) -> Result<(), Refused> {
    let nonce = Nonce::assume_unique_for_key(*nonce);
    let opened = cipher(key)?.open_in_place_separate_tag(nonce, Aad::from(aad), tag, text);
    opened.map(drop).map_err(|_| Refused)
}

fn cipher(key: &[u8; KEY]) -> Result<LessSafeKey, Refused> {
    UnboundKey::new(&AES_256_GCM, key).map(LessSafeKey::new).map_err(|_| Refused)
}
