//! What is noted, as bytes: a kind, three numbers and two texts, each number little-endian.

/// What was done. The numbers are those of the log.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// A file was opened that may have been made, or cut, by that: its number; 1 if it was cut; its path.
    Open = 1,
    /// A file's number, an offset, 1 if it was durable on return, the bytes.
    Write = 2,
    /// A file's number and its new length.
    Truncate = 3,
    /// A file's number, 0; 1 if it failed, and with it what was to be flushed.
    Sync = 4,
    /// A directory's path; the third number is 1 if it failed.
    SyncDirectory = 5,
    /// Two paths.
    Link = 6,
    /// Two paths.
    Rename = 7,
    /// A path.
    Unlink = 8,
    /// A path.
    Mkdir = 9,
    /// A path.
    Rmdir = 10,
    /// What the program says that it has done.
    Ack = 11,
    /// A call was made to fail.
    Fault = 12,
}

/// A note's bytes.
pub(crate) fn encode(kind: Kind, numbers: [u64; 3], first: &[u8], second: &[u8]) -> Vec<u8> {
    let mut note = Vec::with_capacity(33 + first.len() + second.len());
    note.push(kind as u8);
    for number in numbers {
        note.extend(number.to_le_bytes());
    }
    for text in [first, second] {
        note.extend((text.len() as u32).to_le_bytes());
        note.extend(text);
    }
    note
}
