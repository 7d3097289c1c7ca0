//! The progress of a job, which lies among the keys.

use table_engine::error::Result;
use table_engine::fields::Fields;
use table_engine::sealing::job::Progress;

use super::record::damaged;
use crate::records::meta::{self, sealed};

/// Returns a text of a job's record.
fn text(body: &mut Fields<'_>) -> Option<String> {
    let length = usize::from(body.u16()?);
    std::str::from_utf8(body.bytes(length)?).ok().map(str::to_owned)
}

/// Returns the record of a job's progress under this key.
pub(super) fn encode(progress: &Progress, key: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    body.extend_from_slice(&progress.seen.to_le_bytes());
    body.extend_from_slice(&progress.changed.to_le_bytes());
    body.extend_from_slice(&progress.generation.to_le_bytes());
    body.push(u8::from(progress.position.is_some()));
    for text in progress.position.iter().flat_map(|(partition, row)| [partition, row]) {
        // Keys from a table are far shorter than 64 KiB.
        body.extend_from_slice(&u16::try_from(text.len()).unwrap_or(u16::MAX).to_le_bytes());
        body.extend_from_slice(text.as_bytes());
    }
    sealed(key, body)
}

/// Reads the record of a job's progress under this key.
pub(super) fn decode(key: &[u8], record: &[u8]) -> Result<Progress> {
    let read = || {
        let mut body = Fields(meta::opened(key, record)?);
        let (seen, changed, generation) = (body.u64()?, body.u64()?, body.u64()?);
        let position = match body.take()? {
            [0] => None,
            [1] => Some((text(&mut body)?, text(&mut body)?)),
            _ => return None,
        };
        body.0.is_empty().then_some(Progress { position, seen, changed, generation })
    };
    read().ok_or_else(damaged)
}
