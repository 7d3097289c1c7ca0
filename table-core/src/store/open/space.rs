//! How the pages of the store's file are used.

use super::header::{Flaw, Header, LAYOUT_KNOWN};
use super::place::DATA;
use super::readers::{self, Reader};
use super::{Environment, walk};
use crate::error::Result;
use crate::store::lmdb::ReadTxn;

/// Looks at a file that is always another commit's than the snapshot, before that is called damage.
const ATTEMPTS: usize = 1_000;

/// The pages of a file, in bytes, by their use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Space {
    pub(crate) live: u64,
    /// What the next transactions can take.
    pub(crate) free: u64,
    /// What they could take if no snapshot were as old as the oldest.
    pub(crate) held_back: u64,
}

/// What a look at the file and at the table of readers gave.
#[derive(Debug)]
pub(crate) struct Usage {
    /// The length of the file.
    pub(crate) file: u64,
    /// `None` where the layout of pages is not known.
    pub(crate) space: Option<Space>,
    /// Those that see less than the last transaction; `None` where the table can't be read.
    pub(crate) behind: Option<Vec<Reader>>,
}

impl Environment {
    /// How the file is used now. `oldest` is the number of the oldest snapshot that the process knows of.
    pub(crate) fn usage(&self, oldest: Option<u64>) -> Result<Usage> {
        let of_file = |flaw: Flaw| flaw.of(&self.path.join(DATA));
        for _ in 0..ATTEMPTS {
            let txn = self.read_txn()?;
            let transaction = u64::try_from(txn.id()).unwrap_or(u64::MAX);
            let behind = self.behind(&txn, transaction)?;
            let file = &mut *self.file.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            if !LAYOUT_KNOWN {
                let file = file.metadata().map_err(|error| of_file(Flaw::Unread(error)))?.len();
                return Ok(Usage { file, space: None, behind });
            }
            // Read twice: the second time whoever was writing it has done so.
            let header = Header::read(file).map_err(of_file)?;
            if header.transaction != transaction || Header::read(file).map_err(of_file)? != header {
                continue;
            }
            let length = file.metadata().map_err(|error| of_file(Flaw::Unread(error)))?.len();
            let seen = behind.iter().flatten().map(|reader| reader.transaction);
            let oldest = seen.chain(oldest).fold(transaction, u64::min);
            let (mut free, mut held_back) = (0, 0);
            // The snapshot keeps the pages that are read here from being written.
            walk::each_freed(file, &header, |freed| {
                // What the last commit has freed waits for the next one, whoever reads.
                let held = (oldest..transaction).contains(&freed.transaction);
                *if held { &mut held_back } else { &mut free } += freed.count();
                Ok(())
            })
            .map_err(of_file)?;
            let bytes = |pages: u64| pages.saturating_mul(header.page_size);
            let live = (header.last_page + 1).saturating_sub(free + held_back);
            let space = Space { live: bytes(live), free: bytes(free), held_back: bytes(held_back) };
            return Ok(Usage { file: length, space: Some(space), behind });
        }
        Err(of_file(Flaw::corrupt("is damaged: what is mapped is not what the file holds")))
    }

    /// The readers that see less than the last transaction, those of processes that have died left out.
    fn behind(&self, txn: &ReadTxn<'_>, transaction: u64) -> Result<Option<Vec<Reader>>> {
        let list = || {
            let mut readers = readers::list(&self.path, txn.id())?;
            readers.retain(|reader| reader.transaction < transaction);
            Some(readers)
        };
        let found = list();
        let own = std::process::id();
        if found.iter().flatten().all(|reader| reader.process == own) {
            return Ok(found);
        }
        self.clear_stale_readers()?;
        Ok(list())
    }
}
