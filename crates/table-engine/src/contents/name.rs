//! Names of containers, by the service's rules, names of blobs, and content types.

use super::TYPE_BYTES;
use crate::error::{Error, ErrorKind, Result};
#[cfg(feature = "blob")]
use crate::limits::BLOB_NAME_BYTES;
use crate::messages::name;

/// Refuses a name that no container may have.
pub(crate) fn check_container(name: &str) -> Result<()> {
    let refused = |because: String| Error::new(ErrorKind::InvalidContainerName).because(because);
    name::check_of("container", name).map_err(refused)
}

/// Refuses a name that no log may have: its entries lie in a container of all logs, in blobs with its name.
#[cfg(all(feature = "blob", feature = "json"))]
pub(crate) fn check_log(name: &str) -> Result<()> {
    let refused = |because: String| {
        let shown: String = name.chars().take(100).collect();
        let because = format!("`{}` is no log's name: {because}", shown.escape_debug());
        Error::new(ErrorKind::InvalidLogName).because(because)
    };
    name::check_of("log", name).map_err(refused)
}

pub fn is_container(name: &str) -> bool {
    check_container(name).is_ok()
}

/// Refuses a name that no blob may have.
#[cfg(feature = "blob")]
pub(crate) fn check_blob(name: &str) -> Result<()> {
    if name.is_empty() {
        return refuse("a blob's name has one character at least".into());
    }
    check_prefix(name)
}

/// Refuses what no blob's name can begin with.
#[cfg(feature = "blob")]
pub(crate) fn check_prefix(name: &str) -> Result<()> {
    if name.len() > BLOB_NAME_BYTES {
        return refuse(format!("the blob's name has {} bytes, and may have {BLOB_NAME_BYTES}", name.len()));
    }
    if let Some(c) = name.chars().find(|c| c.is_control()) {
        let c = c.escape_debug();
        return refuse(format!("the blob's name has the control character `{c}`"));
    }
    Ok(())
}

/// Refuses a text that is no content type.
#[cfg(feature = "blob")]
pub(crate) fn check_type(text: &str) -> Result<()> {
    if is_type(text) {
        return Ok(());
    }
    let because =
        format!("a blob's content type has 1 to {TYPE_BYTES} visible ASCII characters, such as `image/jpeg`");
    Err(Error::new(ErrorKind::ValueOutOfRange).because(because))
}

pub(super) fn is_type(text: &str) -> bool {
    (1..=TYPE_BYTES).contains(&text.len()) && text.bytes().all(|b| b == b' ' || b.is_ascii_graphic())
}

#[cfg(feature = "blob")]
fn refuse(because: String) -> Result<()> {
    Err(Error::new(ErrorKind::InvalidBlobName).because(because))
}
