//! The progress of a job, which lies among the keys.

use super::record::damaged;
use crate::error::Result;
use crate::fields::Fields;
use crate::sealing::job::Progress;
use crate::store::records::meta::{self, sealed};

/// Returns a text of a job's record.
fn text(body: &mut Fields<'_>) -> Option<String> {
    let length = usize::from(body.u16()?);
    std::str::from_utf8(body.bytes(length)?).ok().map(str::to_owned)
}

impl Progress {
    pub(super) fn encode(&self, key: &[u8]) -> Vec<u8> {
        let mut body = Vec::new();
        body.extend_from_slice(&self.seen.to_le_bytes());
        body.extend_from_slice(&self.changed.to_le_bytes());
        body.extend_from_slice(&self.generation.to_le_bytes());
        body.push(u8::from(self.position.is_some()));
        for text in self.position.iter().flat_map(|(partition, row)| [partition, row]) {
            // Keys from a table are far shorter than 64 KiB.
            body.extend_from_slice(&u16::try_from(text.len()).unwrap_or(u16::MAX).to_le_bytes());
            body.extend_from_slice(text.as_bytes());
        }
        sealed(key, body)
    }

    pub(super) fn decode(key: &[u8], record: &[u8]) -> Result<Self> {
        let read = || {
            let mut body = Fields(meta::opened(key, record)?);
            let (seen, changed, generation) = (body.u64()?, body.u64()?, body.u64()?);
            let position = match body.take()? {
                [0] => None,
                [1] => Some((text(&mut body)?, text(&mut body)?)),
                _ => return None,
            };
            body.0.is_empty().then_some(Self { position, seen, changed, generation })
        };
        read().ok_or_else(damaged)
    }
}
