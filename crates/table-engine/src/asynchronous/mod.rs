//! Calls that are awaited, without a runtime.
//!
//! Every handle has an awaited form, by `to_async()`: [`AsyncTables`], [`AsyncTable`], [`AsyncDynamicTable`], [`AsyncSetTable`].
//! Methods and queries have the names that they have there; only the ends differ. Futures are `Send`, run on any executor, and
//! ask for none.
//!
//! - **Reads** are carried out by the task, where it is polled: what is asked of a memory map is there in a microsecond, less
//!   than it takes to hand it to another thread. A page that is not in memory is read from the disk then, and the executor's
//!   thread waits for it. [`Reads::Spawned`] has a handle read on threads of a pool.
//! - **Writes** are planned by the task, and given to the store: a thread of the store's own carries out many in one transaction,
//!   and wakes the tasks. A task that writes while too many wait, waits too.
//! - What has several steps, or goes over a table, such as to create a table or to load many entities, runs on a thread of the
//!   pool.
//!
//! A future that is dropped leaves nothing half done: see [`WriteToken`].

mod answer;
mod batch;
#[cfg(feature = "blob")]
mod blob;
mod dynamic;
mod egt;
#[cfg(feature = "encrypt")]
mod encrypting;
mod job;
mod list;
mod memo;
mod outcome;
mod period_egt;
mod periods;
mod pool;
mod propagate;
mod query;
#[cfg(feature = "queue")]
mod queue;
mod service_records;
mod set;
mod stream;
mod table;
mod tables;
mod timer;
mod transaction;
mod without_pages;

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

pub(crate) use answer::{Answer, answer};
pub use batch::AsyncBatch;
#[cfg(all(feature = "blob", feature = "json"))]
pub use blob::AsyncLog;
#[cfg(feature = "blob")]
pub use blob::{AsyncBlobReader, AsyncBlobWriter, AsyncContainer};
pub use dynamic::AsyncDynamicTable;
pub use egt::AsyncEgt;
#[cfg(feature = "encrypt")]
pub use encrypting::AsyncEncryptingTable;
pub use job::AsyncJob;
pub(crate) use memo::Memo;
#[cfg(feature = "async-testing")]
pub(crate) use memo::forced;
pub(crate) use outcome::Asking;
pub use outcome::{WriteOutcome, WriteToken};
pub use periods::AsyncPeriods;
#[cfg(feature = "queue")]
pub use queue::{AsyncMessage, AsyncQueue, AsyncReceived, AsyncWorker, MessageStream};
#[doc(hidden)]
pub use service_records::AsyncRecords;
pub use set::AsyncSetTable;
pub use stream::{Resumable, RowStream};
pub use table::AsyncTable;
pub use tables::AsyncTables;
pub(crate) use timer::Sleep;
pub use transaction::AsyncTransaction;
pub use without_pages::WithoutPages;

/// A future that can go from thread to thread, on the heap.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Where a handle reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reads {
    /// In the task, where it is polled.
    #[default]
    Inline,
    /// On a thread of a pool, while the task waits: for tables that are larger than memory, on executors whose threads must not
    /// wait for a disk.
    Spawned,
}

/// Runs a future on this thread, which waits for it: for tests, and for programs that have no runtime.
///
/// ```
/// assert_eq!(table_core::asynchronous::block_on(async { 6 * 7 }), 42);
/// ```
pub fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(Thread);

    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(done) = future.as_mut().poll(&mut context) {
            return done;
        }
        thread::park();
    }
}
