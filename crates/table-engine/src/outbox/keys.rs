//! The keys of the records of what is to follow. They lie in the database of the queues, behind theirs.

/// What the keys of entries begin with; the stored key of the entity's row follows.
const ENTRY: u8 = 7;

/// The key of what is counted of them.
pub const COUNTERS: [u8; 1] = [8];

/// Returns the key of the entry of the entity whose own row has this stored key; or, of a part of it, with what the keys of
/// several begin.
pub fn entry(stored: &[u8]) -> Vec<u8> {
    let mut key = Vec::with_capacity(1 + stored.len());
    key.push(ENTRY);
    key.extend_from_slice(stored);
    key
}

/// Returns the stored key of the row of the entity whose entry has this key; `None` if it is no entry's.
pub fn of_entry(key: &[u8]) -> Option<&[u8]> {
    key.split_first().filter(|(kind, _)| **kind == ENTRY).map(|(_, stored)| stored)
}
