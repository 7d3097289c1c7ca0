//! LMDB's table of readers: the snapshots of all processes.
//!
//! The table lies in the lock file, which this process must not open once more. So it is read where LMDB has mapped it,
//! through the system's own view of this process, in which an unmapped address is an error and no signal.
//! Only Linux has such a view that needs no `unsafe`; elsewhere a process knows its own snapshots alone.

use std::path::Path;

/// A reader that has a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reader {
    /// The process's number, as it is in its own namespace.
    pub(crate) process: u32,
    /// The last transaction that it sees.
    pub(crate) transaction: u64,
}

/// Returns the readers of the environment in a directory. `own` is the number of a snapshot that this process holds: a
/// place that lacks it is not the table. `None` where the table can't be found.
#[cfg(all(target_os = "linux", target_endian = "little", target_pointer_width = "64"))]
pub(super) fn list(dir: &Path, own: usize) -> Option<Vec<Reader>> {
    use std::fs::{self, File};

    let own = Reader { process: std::process::id(), transaction: u64::try_from(own).ok()? };
    let maps = fs::read("/proc/self/maps").ok()?;
    let memory = File::open("/proc/self/mem").ok()?;
    let path = dir.join(super::lockfile::LOCK);
    let mut places = maps.split(|byte| *byte == b'\n').filter_map(|line| table::place(line, &path));
    places.find_map(|place| table::read(&memory, place, own))
}

#[cfg(not(all(target_os = "linux", target_endian = "little", target_pointer_width = "64")))]
pub(super) fn list(_: &Path, _: usize) -> Option<Vec<Reader>> {
    None
}

#[cfg(all(target_os = "linux", target_endian = "little", target_pointer_width = "64"))]
mod table {
    use std::fs::File;
    use std::ops::Range;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::FileExt;
    use std::path::Path;

    use super::Reader;
    use table_engine::fields::Fields;

    const MAGIC: u32 = 0xbeef_c0de;
    /// The place of the number of slots in use: after the magic number, the format and the last transaction.
    const SLOTS: u64 = 4 + 4 + 8;
    /// Bytes of a slot, and of what all in the table is aligned to.
    const SLOT: u64 = 64;
    /// A slot that is taken, and whose owner has no snapshot.
    const IDLE: u64 = u64::MAX;
    /// The most slots that are read: the lock file may have room for more, but no program has more snapshots.
    const MOST: u64 = 1 << 20;

    /// Returns the addresses of a mapping of this file's start.
    pub(super) fn place(line: &[u8], path: &Path) -> Option<Range<u64>> {
        let mut fields = line.splitn(6, |byte| *byte == b' ');
        let (range, access, offset) = (fields.next()?, fields.next()?, fields.next()?);
        let name = fields.nth(2)?.trim_ascii_start();
        // A newline is the one byte that the list escapes.
        let path = path.as_os_str().as_bytes();
        let escaped: Vec<u8>;
        let path = if path.contains(&b'\n') {
            escaped = path.split(|byte| *byte == b'\n').collect::<Vec<_>>().join(&b"\\012"[..]);
            &escaped
        } else {
            path
        };
        if name != path || access != b"rw-s" || !offset.iter().all(|digit| *digit == b'0') {
            return None;
        }
        let (start, end) = std::str::from_utf8(range).ok()?.split_once('-')?;
        let address = |text| u64::from_str_radix(text, 16).ok();
        Some(address(start)?..address(end)?)
    }

    /// Returns the readers in a table that is mapped here; this one is among them.
    pub(super) fn read(memory: &File, place: Range<u64>, own: Reader) -> Option<Vec<Reader>> {
        let mut head = [0; 24];
        memory.read_exact_at(&mut head, place.start).ok()?;
        let mut fields = Fields(&head);
        let magic = fields.u32()?;
        fields.bytes(usize::try_from(SLOTS - 4).ok()?)?;
        let slots = u64::from(fields.u32()?);
        if magic != MAGIC || slots > MOST {
            return None;
        }
        // Before the slots stand two parts, each of which ends with a lock of the C library's own size.
        let parts = [2, 3, 4].into_iter().map(|units| place.start + units * SLOT);
        parts
            .filter(|start| start + slots * SLOT <= place.end)
            .find_map(|start| read_slots(memory, start, slots).filter(|readers| readers.contains(&own)))
    }

    fn read_slots(memory: &File, start: u64, slots: u64) -> Option<Vec<Reader>> {
        let mut bytes = vec![0; usize::try_from(slots * SLOT).ok()?];
        memory.read_exact_at(&mut bytes, start).ok()?;
        let (slots, _) = bytes.as_chunks::<64>();
        let mut readers = Vec::new();
        for slot in slots {
            let mut fields = Fields(slot);
            let (transaction, process) = (fields.u64()?, fields.u32()?);
            // The thread's number, and nothing behind it: what is no table mostly has something there.
            fields.u32()?;
            fields.u64()?;
            if fields.0.iter().any(|byte| *byte != 0) {
                return None;
            }
            if process != 0 && transaction != IDLE {
                readers.push(Reader { process, transaction });
            }
        }
        Some(readers)
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn only_the_shared_mapping_of_the_files_start_is_taken() {
            let path = Path::new("/data/my store/lock.mdb");
            let taken = |line: &str| place(line.as_bytes(), path);
            let line = "7f00a000-7f01b000 rw-s 00000000 fe:00 1234                   /data/my store/lock.mdb";
            assert_eq!(taken(line), Some(0x7f00_a000..0x7f01_b000));
            for other in [
                line.replace("rw-s", "r--p"),
                line.replace(" 00000000 ", " 00001000 "),
                line.replace("lock.mdb", "data.mdb"),
                line.replace("/data", "/other"),
                format!("{line} (deleted)"),
                "7f00a000-7f01b000 rw-s 00000000 fe:00 1234".to_owned(),
                String::new(),
            ] {
                assert_eq!(taken(&other), None, "{other}");
            }
            let escaped = line.replace("my store", "my\\012store");
            assert!(place(escaped.as_bytes(), Path::new("/data/my\nstore/lock.mdb")).is_some());
        }
    }
}
