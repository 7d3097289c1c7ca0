//! The runtime that requests run on: one worker, made with the store.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use table_engine::asynchronous::block_on;
use table_engine::{Error, ErrorKind, Result};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

/// A runtime of the store's own. So calls may come from any thread, with a runtime or without, and a future of another executor
/// waits for what runs here.
#[derive(Debug)]
pub(crate) struct Runner {
    /// Taken when it is dropped.
    runtime: Option<Runtime>,
}

impl Runner {
    pub(crate) fn new() -> Result<Self> {
        let built =
            Builder::new_multi_thread().worker_threads(1).thread_name("table-azure").enable_all().build();
        let runtime = built.map_err(|why| {
            Error::new(ErrorKind::Io)
                .because(format!("the thread that sends requests can't be started: {why}"))
        })?;
        Ok(Self { runtime: Some(runtime) })
    }

    /// Runs a future to its end, also where nobody waits for it any more.
    pub(crate) fn spawn<T: Send + 'static>(
        &self,
        future: impl Future<Output = T> + Send + 'static,
    ) -> Running<T> {
        // What it does there is part of what the caller does.
        #[cfg(feature = "tracing")]
        let future = tracing::Instrument::in_current_span(future);
        Running { task: self.runtime.as_ref().map(|runtime| runtime.spawn(future)), is_given_up: false }
    }

    /// Runs a future that is given up where nobody waits for it any more.
    pub(crate) fn spawn_read<T: Send + 'static>(
        &self,
        future: impl Future<Output = T> + Send + 'static,
    ) -> Running<T> {
        let mut running = self.spawn(future);
        running.is_given_up = true;
        running
    }

    /// Runs a future while this thread waits.
    pub(crate) fn wait<T: Send + 'static>(
        &self,
        future: impl Future<Output = T> + Send + 'static,
    ) -> Result<T> {
        block_on(self.spawn(future))
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        // Without waiting: the last handle of a store may be dropped within a runtime, where nothing may block.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// What runs, and what will come of it.
#[derive(Debug)]
pub(crate) struct Running<T> {
    task: Option<JoinHandle<T>>,
    is_given_up: bool,
}

impl<T> Future for Running<T> {
    type Output = Result<T>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<T>> {
        let Some(task) = &mut self.task else { return Poll::Ready(Err(ended())) };
        Pin::new(task).poll(context).map(|done| done.map_err(|why| ended().caused_by(why)))
    }
}

impl<T> Drop for Running<T> {
    fn drop(&mut self) {
        if let (Some(task), true) = (&self.task, self.is_given_up) {
            task.abort();
        }
    }
}

#[cold]
fn ended() -> Error {
    Error::new(ErrorKind::WriterPanicked)
        .because("the task that sends the request has ended before its answer came")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_future_runs_wherever_it_is_waited_for() {
        let runner = Runner::new().unwrap();
        assert_eq!(runner.wait(async { 6 * 7 }).unwrap(), 42);
        // Within another runtime, too, which also drops it.
        let other = Builder::new_current_thread().build().unwrap();
        other.block_on(async move {
            assert_eq!(runner.wait(async { 1 }).unwrap(), 1);
            assert_eq!(runner.spawn(async { 2 }).await.unwrap(), 2);
            drop(runner);
        });
    }

    #[test]
    fn a_panic_is_an_error_of_who_waits() {
        let runner = Runner::new().unwrap();
        let error = runner.wait(async { panic!("on purpose") }).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::WriterPanicked);
        assert_eq!(runner.wait(async { 3 }).unwrap(), 3);
    }
}
