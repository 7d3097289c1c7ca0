//! A worker as a future: it receives messages, has them dealt with, and completes them or gives them back.
//!
//! It has as many lanes as messages are dealt with at a time, each a future that deals with one after another.

use std::convert::Infallible;
use std::fmt;
use std::future::{Future, pending, poll_fn};
use std::panic::{self, AssertUnwindSafe};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use super::{AsyncQueue, AsyncReceived};
use crate::asynchronous::Sleep;
use crate::error::{Error, ErrorKind, Result};
use crate::limits::MESSAGE_HIDDEN;
use crate::queue::asking::check_visibility;
use crate::queue::worker::{BEATS, PAUSES, VISIBILITY, describe, growing};

/// A worker that is to be; [`AsyncQueue::worker`] begins.
#[must_use = "a worker does nothing until it runs"]
pub struct AsyncWorker<T> {
    queue: AsyncQueue<T>,
    at_once: usize,
    visibility: Duration,
    delay: Box<dyn Fn(u32) -> Duration + Send + Sync>,
    on_error: Box<dyn Fn(&Error) + Send + Sync>,
}

impl<T> AsyncQueue<T> {
    /// Returns a worker that deals with the queue's messages in the task that awaits it.
    ///
    /// What deals with a message says by its result whether that is done. It is given an [`AsyncReceived`], which a transaction
    /// may [complete](crate::asynchronous::AsyncEgt::complete); if none does, the worker deletes it. After an error or a panic the
    /// message is given back with it, for a second at first, and for twice as long each time. While it is dealt with, the
    /// message is kept hidden, however long that takes.
    ///
    /// ```
    /// # use std::sync::atomic::{AtomicU32, Ordering};
    /// # use std::time::Duration;
    /// # use table_core::Store;
    /// # use table_core::asynchronous::{AsyncQueue, block_on};
    /// # block_on(async {
    /// # let store = Store::temporary()?.to_async();
    /// let numbers: AsyncQueue<u32> = store.queue("numbers").await?;
    /// let ends: AsyncQueue<u32> = store.queue("ends").await?;
    /// numbers.send_all(&[1, 2, 3, 4]).await?;
    ///
    /// let sum = AtomicU32::new(0);
    /// let all_are_done = async { drop(ends.receive(Duration::from_secs(30)).await) };
    /// let worker = numbers.worker().concurrency(2);
    /// worker
    ///     .run_until(all_are_done, async |number| {
    ///         let number: u32 = ***number;
    ///         if sum.fetch_add(number, Ordering::Relaxed) + number == 10 {
    ///             ends.send(&10).await?;
    ///         }
    ///         Ok::<(), table_core::Error>(())
    ///     })
    ///     .await?;
    /// assert_eq!(numbers.stats().await?.completed, 4);
    /// # Ok::<(), table_core::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn worker(&self) -> AsyncWorker<T> {
        AsyncWorker {
            queue: self.clone(),
            at_once: 1,
            visibility: VISIBILITY,
            delay: Box::new(growing),
            on_error: Box::new(|_| {}),
        }
    }
}

impl<T> AsyncWorker<T> {
    /// Sets how many messages are dealt with at a time; usually one. They are all polled by the task that awaits the worker: for
    /// several threads, spawn several workers, or what takes long.
    pub fn concurrency(self, messages: usize) -> Self {
        Self { at_once: messages.max(1), ..self }
    }

    /// Sets how long a message is hidden at a time; usually 30 seconds. It is hidden anew before that is over as long as it is
    /// dealt with: it is how soon the message shows again after the worker was dropped or its process has died.
    pub fn visibility(self, visibility: Duration) -> Self {
        Self { visibility, ..self }
    }

    /// Returns how long a message is given back for that was received so often.
    pub fn delays(self, delay: impl Fn(u32) -> Duration + Send + Sync + 'static) -> Self {
        Self { delay: Box::new(delay), ..self }
    }

    /// Has a function called with what goes wrong with the store, or with a message that is not of the queue's type. The worker
    /// tries again after each. What a handler fails with stays with its message instead.
    pub fn on_error(self, tell: impl Fn(&Error) + Send + Sync + 'static) -> Self {
        Self { on_error: Box::new(tell), ..self }
    }

    /// Deals with messages, without an end. A message that is dealt with when the future is dropped shows again when its time is
    /// over; to end sooner and in order, see [`run_until`](Self::run_until).
    ///
    /// It returns only if it can't begin: [`ValueOutOfRange`](ErrorKind::ValueOutOfRange) if messages are to be hidden for no time
    /// at all, or for too long.
    pub async fn run<F, Handling, E>(self, handle: F) -> Result<()>
    where
        F: Fn(Arc<AsyncReceived<T>>) -> Handling,
        Handling: Future<Output = Result<(), E>>,
        E: fmt::Display,
    {
        self.run_until(pending(), handle).await
    }

    /// Deals with messages until `stop` is ready. Then it receives no more, has all that was begun dealt with, and returns.
    pub async fn run_until<F, Handling, E>(self, stop: impl Future<Output = ()>, handle: F) -> Result<()>
    where
        F: Fn(Arc<AsyncReceived<T>>) -> Handling,
        Handling: Future<Output = Result<(), E>>,
        E: fmt::Display,
    {
        let checked = check_visibility(self.visibility);
        checked.map_err(|error| self.queue.named("begin a worker of", error))?;
        let (is_stopping, mut stop) = (AtomicBool::new(false), pin!(stop));
        let mut lanes = Lanes::new((0..self.at_once).map(|_| self.deal_with_all(&is_stopping, &handle)));
        poll_fn(|context| {
            let stops = !is_stopping.load(Ordering::Relaxed) && stop.as_mut().poll(context).is_ready();
            if stops {
                is_stopping.store(true, Ordering::Relaxed);
            }
            lanes.poll(context, stops)
        })
        .await;
        Ok(())
    }

    /// Deals with one message after another until the worker stops.
    async fn deal_with_all<F, Handling, E>(&self, is_stopping: &AtomicBool, handle: &F)
    where
        F: Fn(Arc<AsyncReceived<T>>) -> Handling,
        Handling: Future<Output = Result<(), E>>,
        E: fmt::Display,
    {
        let [first, longest] = PAUSES;
        let mut pause = first;
        while !is_stopping.load(Ordering::Relaxed) {
            match unless(is_stopping, self.queue.receive(self.visibility)).await {
                None => return,
                Some(Ok(received)) => {
                    pause = first;
                    self.deal_with(&Arc::new(received), handle).await;
                }
                Some(Err(error)) => {
                    self.tell(&error);
                    // Another message may be of the type.
                    if error.kind() != ErrorKind::SchemaMismatch {
                        drop(unless(is_stopping, Sleep::lasting(pause)).await);
                        pause = (pause * 2).min(longest);
                    }
                }
            }
        }
    }

    async fn deal_with<F, Handling, E>(&self, received: &Arc<AsyncReceived<T>>, handle: &F)
    where
        F: Fn(Arc<AsyncReceived<T>>) -> Handling,
        Handling: Future<Output = Result<(), E>>,
        E: fmt::Display,
    {
        let ended = match self.handled(received, handle).await {
            Ok(()) => received.delete().await,
            Err(error) => {
                // The user's function may panic as well.
                let delay = panic::catch_unwind(AssertUnwindSafe(|| (self.delay)(received.count())));
                let delay = delay.unwrap_or_else(|_| growing(received.count()));
                received.fail(error, delay.min(MESSAGE_HIDDEN)).await
            }
        };
        match ended {
            // A transaction of the handler has completed it; or it was held too long, and another receiver holds it.
            Err(error) if error.kind() == ErrorKind::StaleReceipt => {}
            Err(error) => self.tell(&error),
            Ok(()) => {}
        }
    }

    /// Has a message handled, and keeps it hidden meanwhile.
    async fn handled<F, Handling, E>(
        &self,
        received: &Arc<AsyncReceived<T>>,
        handle: &F,
    ) -> Result<(), String>
    where
        F: Fn(Arc<AsyncReceived<T>>) -> Handling,
        Handling: Future<Output = Result<(), E>>,
        E: fmt::Display,
    {
        let handling = panic::catch_unwind(AssertUnwindSafe(|| handle(received.clone())));
        let mut handling = pin!(handling.map_err(|panicked| describe(&*panicked))?);
        let mut beats = pin!(self.keep_hidden(received));
        poll_fn(|context| {
            let handled = || {
                let handled = handling.as_mut().poll(context);
                handled.map(|done| done.map_err(|error| error.to_string()))
            };
            let handled = panic::catch_unwind(AssertUnwindSafe(handled))
                .unwrap_or_else(|panicked| Poll::Ready(Err(describe(&*panicked))));
            if handled.is_pending() {
                // It has no end.
                let _: Poll<Infallible> = beats.as_mut().poll(context);
            }
            handled
        })
        .await
    }

    /// Hides a message anew, again and again.
    async fn keep_hidden(&self, received: &AsyncReceived<T>) -> Infallible {
        loop {
            let extended = match Sleep::lasting(self.visibility / BEATS).await {
                Ok(()) => received.extend(self.visibility).await,
                Err(error) => Err(error),
            };
            match extended {
                Ok(()) => {}
                // The handler has completed it, or another receiver holds it.
                Err(error) if error.kind() == ErrorKind::StaleReceipt => return pending().await,
                Err(error) => self.tell(&error),
            }
        }
    }

    fn tell(&self, error: &Error) {
        // A panic of the user's function ends no worker.
        drop(panic::catch_unwind(AssertUnwindSafe(|| (self.on_error)(error))));
    }
}

impl<T> fmt::Debug for AsyncWorker<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncWorker")
            .field("queue", &self.queue)
            .field("concurrency", &self.at_once)
            .finish_non_exhaustive()
    }
}

/// Waits for a future; `None` if it is not ready when the worker stops.
async fn unless<R>(is_stopping: &AtomicBool, future: impl Future<Output = R>) -> Option<R> {
    let mut future = pin!(future);
    poll_fn(|context| match future.as_mut().poll(context) {
        Poll::Pending if is_stopping.load(Ordering::Relaxed) => Poll::Ready(None),
        polled => polled.map(Some),
    })
    .await
}

/// Futures that are polled by one task, each when it was woken.
struct Lanes<Lane> {
    lanes: Vec<(Option<Pin<Box<Lane>>>, Arc<LaneWaker>)>,
    task: Arc<Mutex<Waker>>,
}

struct LaneWaker {
    is_woken: AtomicBool,
    task: Arc<Mutex<Waker>>,
}

impl<Lane: Future<Output = ()>> Lanes<Lane> {
    fn new(lanes: impl Iterator<Item = Lane>) -> Self {
        let task = Arc::new(Mutex::new(Waker::noop().clone()));
        let lane = |lane| {
            let waker = LaneWaker { is_woken: AtomicBool::new(true), task: task.clone() };
            (Some(Box::pin(lane)), Arc::new(waker))
        };
        Self { lanes: lanes.map(lane).collect(), task }
    }

    /// Polls the lanes that were woken, or all of them. Ready when all have ended.
    fn poll(&mut self, context: &mut Context<'_>, all: bool) -> Poll<()> {
        locked(&self.task).clone_from(context.waker());
        let mut is_over = true;
        for (lane, woken) in &mut self.lanes {
            let Some(running) = lane else { continue };
            let is_woken = woken.is_woken.swap(false, Ordering::AcqRel);
            let waker = Waker::from(woken.clone());
            if (is_woken || all) && running.as_mut().poll(&mut Context::from_waker(&waker)).is_ready() {
                *lane = None;
            } else {
                is_over = false;
            }
        }
        if is_over { Poll::Ready(()) } else { Poll::Pending }
    }
}

impl Wake for LaneWaker {
    fn wake(self: Arc<Self>) {
        self.is_woken.store(true, Ordering::Release);
        let task = locked(&self.task).clone();
        task.wake();
    }
}

fn locked(task: &Mutex<Waker>) -> MutexGuard<'_, Waker> {
    task.lock().unwrap_or_else(PoisonError::into_inner)
}
