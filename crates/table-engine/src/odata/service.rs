//! What of a text names the service: addresses and types.

use super::text;

/// The parts of annotations that name the service, as they stand between quotes in JSON.
#[derive(Clone, Debug)]
pub(super) struct Service {
    /// The address of the table's metadata.
    pub(super) metadata: Vec<u8>,
    /// The type of the table's entities.
    pub(super) entity_type: Vec<u8>,
    /// The address of an entity, up to its keys.
    pub(super) id: Vec<u8>,
    /// The name of the table.
    pub(super) table: Vec<u8>,
}

impl Service {
    pub(super) fn new(root: &str, account: &str, table: &str) -> Self {
        let root = root.trim_end_matches('/');
        Self {
            metadata: quoted(&format!("{root}/$metadata#{table}")),
            entity_type: quoted(&format!("{account}.{table}")),
            id: quoted(&format!("{root}/{table}")),
            table: quoted(table),
        }
    }
}

/// Returns a text with JSON's escapes.
fn quoted(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    text::string(text, &mut out);
    out.get(1..out.len() - 1).unwrap_or_default().to_vec()
}

/// Appends the keys of an entity as addresses have them: `(PartitionKey='..',RowKey='..')`.
pub(super) fn address_of(keys: [&str; 2], out: &mut Vec<u8>) {
    for (key, before) in keys.into_iter().zip(["(PartitionKey='", "',RowKey='"]) {
        out.extend_from_slice(before.as_bytes());
        for byte in key.bytes() {
            match byte {
                // A quote within quotes is two.
                b'\'' => out.extend_from_slice(b"%27%27"),
                b'-' | b'.' | b'_' | b'~' => out.push(byte),
                byte if byte.is_ascii_alphanumeric() => out.push(byte),
                byte => {
                    let hex = |nibble: u8| if nibble < 10 { b'0' + nibble } else { b'A' + nibble - 10 };
                    out.extend_from_slice(&[b'%', hex(byte >> 4), hex(byte & 0xf)]);
                }
            }
        }
    }
    out.extend_from_slice(b"')");
}
