//! Queues, awaited.

mod dropped;
mod receiving;
mod restricted;
mod worker;

use std::time::{Duration, Instant};

use table_core::asynchronous::{AsyncQueue, block_on};
use table_core::queue::QueueStats;
use table_core::{Result, Store};

/// Longer than any test takes.
const LONG: Duration = Duration::from_secs(3_600);
/// So long that a test may wait for it.
const SHORT: Duration = Duration::from_millis(50);

fn numbers(store: &Store) -> AsyncQueue<u32> {
    block_on(store.to_async().queue("numbers")).unwrap()
}

/// Waits without a thread.
async fn sleep(store: &Store, span: Duration) -> Result<()> {
    let silence: AsyncQueue<u32> = store.to_async().queue("silence").await?;
    assert!(silence.wait(span, LONG).await?.is_none());
    Ok(())
}

/// Waits until the queue's counts are these.
fn settled(queue: &AsyncQueue<u32>, are_right: impl Fn(&QueueStats) -> bool) -> QueueStats {
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        let stats = queue.blocking().stats().unwrap();
        if are_right(&stats) {
            return stats;
        }
        assert!(Instant::now() < until, "{stats:?}");
        std::thread::sleep(Duration::from_millis(1));
    }
}
