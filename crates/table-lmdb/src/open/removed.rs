//! Data files that were removed under a process that writes them.
//!
//! A file that has no name any more is there until it is closed: commits succeed, other processes that open the path make a
//! store anew, and everything is gone with the last process. The system doesn't notify the process. So it looks, by the clock, how
//! many names its file has. A directory that was moved has its file still.

use std::sync::atomic::Ordering;

use table_engine::error::{Error, ErrorKind, Result};

use super::{DATA, Environment, hard_links};

/// How long what was seen is believed, in ticks.
const BELIEVED: u64 = 10_000_000;

impl Environment {
    /// Refuses to write a file that was removed, for a second after that at the latest. The caller knows the time, and has
    /// found that no compaction has put another file in its place.
    #[inline]
    pub(crate) fn check_has_name(&self, ticks: u64) -> Result<()> {
        let looked = self.had_name_at.load(Ordering::Relaxed);
        if ticks.wrapping_sub(looked) < BELIEVED { Ok(()) } else { self.look_for_name(ticks) }
    }

    #[cold]
    fn look_for_name(&self, ticks: u64) -> Result<()> {
        let found = self.reader.file().metadata();
        // What can't be asked for says nothing.
        if found.is_ok_and(|found| hard_links::names(&found) == 0) {
            return Err(Error::new(ErrorKind::StoreRemoved).because(format!(
                "`{}` was removed, or another file was put in its place, while it was open: what is written now would be \
                 gone with this process; let go of the handles and open the store again, of a copy if need be",
                self.path.join(DATA).display()
            )));
        }
        self.had_name_at.store(ticks, Ordering::Relaxed);
        Ok(())
    }
}
