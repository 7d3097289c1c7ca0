//! How an opened store uses its file, and what keeps it from using space again.

use std::time::Duration;

use table_engine::error::{Error, ErrorKind, Result};

use super::StoreState;
use crate::open::Usage;

/// The snapshot that keeps most from being used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OldestSnapshot {
    /// The number of its process. One in another container has the number that it has there.
    pub process: u32,
    /// For how long it has lived. `None` if it is another process's, or one that this process took for itself, as for
    /// [`Store::check`](crate::Store::check) and [`Store::copy_to`](crate::Store::copy_to): LMDB notes no times.
    pub age: Option<Duration>,
    /// The number of the last transaction that it sees.
    pub transaction: u64,
}

impl StoreState {
    /// Returns how the file is used, and the oldest snapshot.
    pub(crate) fn usage(&self) -> Result<(Usage, Option<OldestSnapshot>)> {
        let number = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
        let own = self.live.oldest().map(|(taken, transaction)| OldestSnapshot {
            process: std::process::id(),
            age: Some(taken.elapsed()),
            transaction: number(transaction),
        });
        let usage = self.environment.usage(own.map(|own| own.transaction))?;
        let readers = usage.behind.iter().flatten().map(|reader| OldestSnapshot {
            process: reader.process,
            age: None,
            transaction: reader.transaction,
        });
        // Of snapshots that see the same transaction the first is taken: the one whose age is known.
        let oldest = own.into_iter().chain(readers).min_by_key(|snapshot| snapshot.transaction);
        Ok((usage, oldest))
    }

    /// Returns the error of a write that was refused for want of room.
    #[cold]
    pub(crate) fn refusal(&self, error: Error) -> Error {
        if error.kind() != ErrorKind::MapFull {
            return self.environment.refusal(error);
        }
        let size = self.environment.env.info().map_size;
        let held = self.usage().ok().and_then(|(usage, oldest)| {
            let bytes = usage.space.held_back;
            (bytes > 0).then_some((bytes, oldest?))
        });
        error.because(match held {
            None => format!(
                "the store has reached its map size of {size} bytes; open it with a larger `map_size`"
            ),
            Some((bytes, snapshot)) => {
                let age = snapshot.age.map(|age| format!(" that is {} s old", age.as_secs()));
                format!(
                    "the store has reached its map size of {size} bytes, of which {bytes} are free and held back by \
                     a snapshot{} in process {}; drop that, or open the store with a larger `map_size`",
                    age.unwrap_or_default(),
                    snapshot.process
                )
            }
        })
    }
}
