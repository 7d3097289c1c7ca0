//! What the tests of awaited calls share: two executors, and futures that are dropped half-way.
//!
//! `tests/examples` has every example program in awaited form. `tests/behaviour` has dropped futures, bounds, turns and
//! streams; `tests/messages` what does not compile.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use table_core::Store;
use tokio::runtime::{Builder, Handle};

/// A task's result, awaited.
pub type Task<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Runs a test as a task of tokio's, on two workers, and as one of smol's; each with a store of its own.
pub fn on_executors<F>(test: impl Fn(Store) -> F)
where
    F: Future<Output = table_core::Result<()>> + Send + 'static,
{
    on_tokio(test(Store::temporary().unwrap())).unwrap();
    on_smol(test(Store::temporary().unwrap())).unwrap();
}

/// Runs a task on tokio, with two workers.
pub fn on_tokio<T: Send + 'static>(task: impl Future<Output = T> + Send + 'static) -> T {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_time().build().unwrap();
    runtime.block_on(async { tokio::spawn(task).await.unwrap() })
}

/// Runs a task on smol.
pub fn on_smol<T: Send + 'static>(task: impl Future<Output = T> + Send + 'static) -> T {
    smol::block_on(smol::spawn(task))
}

/// Begins a task on the executor that runs the caller.
pub fn spawn<T: Send + 'static>(task: impl Future<Output = T> + Send + 'static) -> Task<T> {
    match Handle::try_current() {
        Ok(tokio) => {
            let task = tokio.spawn(task);
            Box::pin(async { task.await.unwrap() })
        }
        Err(_) => Box::pin(smol::spawn(task)),
    }
}

/// Begins tasks, and waits for all of them.
pub async fn all<T, F>(tasks: impl IntoIterator<Item = F>) -> Vec<T>
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let begun: Vec<_> = tasks.into_iter().map(spawn).collect();
    let mut done = Vec::with_capacity(begun.len());
    for task in begun {
        done.push(task.await);
    }
    done
}

/// Polls a future so many times, each time that it is woken, and drops it. Returns what it gives, if it comes so far.
pub async fn polled<T>(times: usize, future: impl Future<Output = T>) -> Option<T> {
    let (mut future, mut left) = (Box::pin(future), times);
    poll_fn(|context| {
        if left == 0 {
            return Poll::Ready(None);
        }
        left -= 1;
        match future.as_mut().poll(context) {
            Poll::Ready(done) => Poll::Ready(Some(done)),
            Poll::Pending if left == 0 => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }
    })
    .await
}

/// Waits until something holds that comes by itself, and fails if it takes too long.
pub async fn until(what: &str, holds: impl FnMut() -> bool) {
    assert!(comes_within(Duration::from_secs(20), holds).await, "{what}");
}

/// Waits until something holds; returns whether it did before the time was over.
pub async fn comes_within(limit: Duration, mut holds: impl FnMut() -> bool) -> bool {
    let begun = Instant::now();
    while !holds() {
        if begun.elapsed() >= limit {
            return false;
        }
        smol::Timer::after(Duration::from_millis(2)).await;
    }
    true
}

/// Futures that were dropped and not let go: a mistake, planted to see that a test finds what it keeps.
#[derive(Clone, Default)]
pub struct Kept(Arc<Mutex<Vec<Task<()>>>>);

impl Kept {
    /// Returns the future with the mistake: if it is dropped, what it holds stays, until [`let_go`](Self::let_go).
    pub fn planted_in(
        &self,
        future: impl Future<Output = ()> + Send + 'static,
    ) -> impl Future<Output = ()> + Send {
        Planted { future: Some(Box::pin(future)), kept: self.clone() }
    }

    /// Returns how many are kept.
    pub fn len(&self) -> usize {
        self.futures().len()
    }

    /// Returns whether none is kept.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Lets go what is kept.
    pub fn let_go(&self) {
        let futures = std::mem::take(&mut *self.futures());
        drop(futures);
    }

    fn futures(&self) -> MutexGuard<'_, Vec<Task<()>>> {
        self.0.lock().unwrap()
    }
}

struct Planted {
    future: Option<Task<()>>,
    kept: Kept,
}

impl Future for Planted {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        self.future.as_mut().map_or(Poll::Ready(()), |future| future.as_mut().poll(context))
    }
}

impl Drop for Planted {
    fn drop(&mut self) {
        self.kept.futures().extend(self.future.take());
    }
}
