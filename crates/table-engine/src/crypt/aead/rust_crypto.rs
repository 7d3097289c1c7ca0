//! AES-256-GCM by `RustCrypto`: pure Rust, with the processor's AES instructions where it has them.

#![cfg_attr(feature = "aws-lc-rs", allow(dead_code, reason = "compared with the other one in tests"))]

use aes_gcm::aead::AeadInOut;
use aes_gcm::{Aes256Gcm, KeyInit};

use super::{KEY, NONCE, Refused, TAG};

/// Encrypts in place and gives the tag.
pub(crate) fn seal(
    key: &[u8; KEY],
    nonce: &[u8; NONCE],
    aad: &[u8],
    text: &mut [u8],
) -> Result<[u8; TAG], Refused> {
    let cipher = Aes256Gcm::new(key.into());
    let tag = cipher.encrypt_inout_detached(nonce.into(), aad, text.into());
    tag.map(Into::into).map_err(|_| Refused)
}

/// Decrypts in place what has this tag. If the tag is another, `text` holds nothing of use afterwards.
pub(crate) fn open(
    key: &[u8; KEY],
    nonce: &[u8; NONCE],
    aad: &[u8],
    text: &mut [u8],
    tag: &[u8; TAG],
) -> Result<(), Refused> {
    let cipher = Aes256Gcm::new(key.into());
    cipher.decrypt_inout_detached(nonce.into(), aad, text.into(), tag.into()).map_err(|_| Refused)
}
