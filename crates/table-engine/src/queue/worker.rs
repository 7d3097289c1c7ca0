//! Workers: threads that receive messages, have them dealt with, and complete them or give them back.
//!
//! One thread, the keeper, receives for all and keeps what is held hidden. The others deal with a message at a time.

use std::any::Any;
use std::collections::VecDeque;
use std::fmt;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::asking::{check_many, check_visibility};
use super::{Queue, Received};
use crate::error::{Error, ErrorKind, Result};
use crate::messages::{Answer, Release, Task};

/// How long a message is hidden at a time while it is dealt with.
pub(crate) const VISIBILITY: Duration = Duration::from_secs(30);
/// A message is kept hidden anew when so much of that time is left over: two tries may fail.
pub(crate) const BEATS: u32 = 3;
/// The longest that the keeper looks away: so soon it finds that it is to stop.
const LOOKS_AWAY: Duration = Duration::from_millis(20);
/// How long the keeper waits after an error of the store, at first and at most.
pub(crate) const PAUSES: [Duration; 2] = [Duration::from_millis(50), Duration::from_secs(2)];

/// Returns how long a message is given back for that was received so often: a second, then twice as long each time, five
/// minutes at most.
pub(crate) fn growing(count: u32) -> Duration {
    let longest = Duration::from_secs(300);
    Duration::from_secs(1)
        .checked_mul(1_u32 << count.clamp(1, 16).saturating_sub(1))
        .map_or(longest, |delay| delay.min(longest))
}

/// Workers that are to be; [`Queue::worker`] begins.
#[must_use = "workers do nothing until they run"]
pub struct Workers<T> {
    queue: Queue<T>,
    threads: usize,
    ahead: Option<usize>,
    visibility: Duration,
    delay: Arc<dyn Fn(u32) -> Duration + Send + Sync>,
}

impl<T> Queue<T> {
    /// Threads of this process that deal with the queue's messages.
    ///
    /// What deals with a message says by its result whether that is done. It is given a [`Received`], which a transaction
    /// may [complete](crate::typed::Egt::complete); if none does, the worker deletes it. After an error or a panic the
    /// message is given back with it, for a second at first, and for twice as long each time. While it is dealt with, the
    /// message is kept hidden, however long that takes.
    ///
    /// ```
    /// # use std::sync::atomic::{AtomicU32, Ordering};
    /// # use std::sync::Arc;
    /// # use table_core::queue::Queue;
    /// # use table_core::Store;
    /// # let dir = tempfile::tempdir()?;
    /// # let store = Store::open(dir.path().join("company.tables"))?;
    /// let numbers: Queue<u32> = store.queue("numbers")?;
    /// numbers.send_all(&[1, 2, 3, 4])?;
    ///
    /// let sum = Arc::new(AtomicU32::new(0));
    /// let all = sum.clone();
    /// let worker = numbers.worker().threads(2).run(move |number| {
    ///     all.fetch_add(**number, Ordering::Relaxed);
    ///     Ok::<(), std::convert::Infallible>(())
    /// })?;
    /// while numbers.stats()?.completed < 4 {
    ///     std::thread::sleep(std::time::Duration::from_millis(1));
    /// }
    /// worker.stop();
    /// assert_eq!(sum.load(Ordering::Relaxed), 10);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn worker(&self) -> Workers<T> {
        Workers {
            queue: self.clone(),
            threads: 1,
            ahead: None,
            visibility: VISIBILITY,
            delay: Arc::new(growing),
        }
    }
}

impl<T> Workers<T> {
    /// Sets how many messages are dealt with at a time; usually one.
    pub fn threads(self, threads: usize) -> Self {
        Self { threads: threads.max(1), ..self }
    }

    /// Sets how many messages are received ahead of the threads, so that none waits for the disk; usually as many as there are
    /// threads. They are hidden from other processes meanwhile, and given back when the worker stops.
    pub fn prefetch(self, messages: usize) -> Self {
        Self { ahead: Some(messages), ..self }
    }

    /// Sets how long a message is hidden at a time; usually 30 seconds. It is hidden anew before that is over as long as the
    /// worker lives: it is how soon the message shows again after the process has died.
    pub fn visibility(self, visibility: Duration) -> Self {
        Self { visibility, ..self }
    }

    /// Returns how long a message is given back for that was received so often.
    pub fn delays(self, delay: impl Fn(u32) -> Duration + Send + Sync + 'static) -> Self {
        Self { delay: Arc::new(delay), ..self }
    }

    /// Begins. The worker goes on until it is [stopped](Worker::stop) or dropped.
    ///
    /// Its threads may live longer than the function that begins it, so the closure owns what it uses: `move` it in, and clone
    /// tables and queues for it before, which is cheap.
    pub fn run<E, F>(self, handle: F) -> Result<Worker>
    where
        T: Send + Sync + 'static,
        F: Fn(&Received<T>) -> Result<(), E> + Send + Sync + 'static,
        E: fmt::Display,
    {
        const RUN: &str = "begin a worker of";
        let queue = self.queue.clone();
        let ahead = self.ahead.unwrap_or(self.threads);
        let checked =
            check_visibility(self.visibility).and_then(|()| check_many(self.threads.saturating_add(ahead)));
        checked.map_err(|error| queue.named(RUN, error))?;
        let crew = Arc::new(Crew {
            queue: self.queue,
            most: self.threads + ahead,
            visibility: self.visibility,
            delay: self.delay,
            in_flight: Mutex::default(),
            changed: Condvar::new(),
        });
        let handle =
            Arc::new(move |received: &Received<T>| handle(received).map_err(|error| error.to_string()));
        let stopped: Arc<dyn Stops> = crew.clone();
        // If a thread can't be had, those that run are stopped.
        let mut worker = Worker { crew: stopped, threads: Vec::with_capacity(self.threads + 1) };
        let began = |began: std::io::Result<JoinHandle<()>>| {
            began.map_err(|error| queue.named(RUN, Error::new(ErrorKind::Io).caused_by(error)))
        };
        for _ in 0..self.threads {
            let (crew, handle) = (crew.clone(), handle.clone());
            let name = format!("{} worker", queue.name());
            worker.threads.push(began(thread::Builder::new().name(name).spawn(move || crew.work(&*handle)))?);
        }
        let name = format!("{} keeper", queue.name());
        worker.threads.push(began(thread::Builder::new().name(name).spawn(move || crew.keep()))?);
        Ok(worker)
    }
}

impl<T> fmt::Debug for Workers<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Workers")
            .field("queue", &self.queue)
            .field("threads", &self.threads)
            .finish_non_exhaustive()
    }
}

/// Why a worker could not receive, complete or give back for the last time.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Failure {
    /// What is wrong, in words.
    pub what: String,
    /// The kind of error.
    pub kind: ErrorKind,
    /// How often in a row receiving has failed so; 0 once it has succeeded again.
    pub in_a_row: u64,
}

/// Threads that deal with the messages of a queue. Dropped, it [stops](Self::stop).
#[must_use = "a worker stops when it is dropped"]
pub struct Worker {
    crew: Arc<dyn Stops>,
    threads: Vec<JoinHandle<()>>,
}

impl Worker {
    /// Receives no more, gives back what no thread has begun with, and waits until all that was begun is dealt with.
    pub fn stop(mut self) {
        self.end();
    }

    /// Returns what went wrong with the store last, if anything has. What a handler fails with stays with its message instead.
    pub fn failure(&self) -> Option<Failure> {
        self.crew.failure()
    }

    fn end(&mut self) {
        self.crew.stop();
        for thread in self.threads.drain(..) {
            // A panic of a handler ends no thread.
            thread.join().unwrap_or_default();
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.end();
    }
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker").field("threads", &self.threads.len()).finish_non_exhaustive()
    }
}

/// What a worker's handle asks of its threads.
trait Stops: Send + Sync {
    fn stop(&self);
    fn failure(&self) -> Option<Failure>;
}

/// What the threads of a worker share.
struct Crew<T> {
    queue: Queue<T>,
    /// The most messages that are held at a time.
    most: usize,
    visibility: Duration,
    delay: Arc<dyn Fn(u32) -> Duration + Send + Sync>,
    in_flight: Mutex<InFlight<T>>,
    /// A message has come to those in flight, or gone from them, or the worker is to stop.
    changed: Condvar,
}

/// The messages that a worker holds.
struct InFlight<T> {
    /// Those that no thread has begun with, and those that one has.
    waiting: VecDeque<Arc<Received<T>>>,
    begun: Vec<Arc<Received<T>>>,
    is_stopping: bool,
    failure: Option<Failure>,
}

impl<T> Default for InFlight<T> {
    fn default() -> Self {
        Self { waiting: VecDeque::new(), begun: Vec::new(), is_stopping: false, failure: None }
    }
}

impl<T: Send + Sync> Stops for Crew<T> {
    fn stop(&self) {
        self.in_flight().is_stopping = true;
        self.changed.notify_all();
    }

    fn failure(&self) -> Option<Failure> {
        self.in_flight().failure.clone()
    }
}

impl<T> Crew<T> {
    fn in_flight(&self) -> MutexGuard<'_, InFlight<T>> {
        self.in_flight.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, error: &Error) {
        let mut in_flight = self.in_flight();
        let in_a_row = in_flight.failure.as_ref().map_or(0, |failure| failure.in_a_row) + 1;
        in_flight.failure = Some(Failure { what: error.to_string(), kind: error.kind(), in_a_row });
    }

    /// Deals with one message after another.
    fn work(&self, handle: &(dyn Fn(&Received<T>) -> Result<(), String> + Sync)) {
        while let Some(received) = self.begin() {
            let done = panic::catch_unwind(AssertUnwindSafe(|| handle(&received)))
                .unwrap_or_else(|panicked| Err(describe(&*panicked)));
            let ended = match done {
                Ok(()) => received.delete(),
                Err(error) => {
                    // The user's function may panic as well.
                    let delay = panic::catch_unwind(AssertUnwindSafe(|| (self.delay)(received.count())));
                    let delay = delay.unwrap_or_else(|_| growing(received.count()));
                    received.fail(error, delay.min(crate::limits::MESSAGE_HIDDEN))
                }
            };
            self.in_flight().begun.retain(|begun| !Arc::ptr_eq(begun, &received));
            self.changed.notify_all();
            match ended {
                // A transaction of the handler has completed it; or it was held too long, and another receiver holds it.
                Err(error) if error.kind() == ErrorKind::StaleReceipt => {}
                Err(error) => self.note(&error),
                Ok(()) => {}
            }
        }
    }

    /// Returns the next message to be dealt with; `None` when the worker stops.
    fn begin(&self) -> Option<Arc<Received<T>>> {
        let mut in_flight = self.in_flight();
        loop {
            if in_flight.is_stopping {
                return None;
            }
            if let Some(next) = in_flight.waiting.pop_front() {
                in_flight.begun.push(next.clone());
                return Some(next);
            }
            in_flight = self.changed.wait(in_flight).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Hides anew what is held.
    fn beat(&self) -> Result<()> {
        let held: Vec<_> = {
            let in_flight = self.in_flight();
            in_flight.begun.iter().chain(&in_flight.waiting).cloned().collect()
        };
        if held.is_empty() {
            return Ok(());
        }
        let receipts = held.iter().map(|received| received.receipt()).collect();
        let Answer::Each(each) =
            self.queue.ask("extend messages of", Task::ExtendEach(receipts, self.visibility))?
        else {
            return Err(super::asking::damaged());
        };
        let mut lost = Vec::new();
        for (received, receipt) in held.iter().zip(each) {
            match receipt {
                Some(receipt) => received.hold_by(receipt),
                None => lost.push(received.id()),
            }
        }
        // What another receiver holds by now need not be begun with.
        self.in_flight().waiting.retain(|waiting| !lost.contains(&waiting.id()));
        Ok(())
    }

    /// Gives back what no thread has begun with.
    fn give_back(&self) {
        let waiting: Vec<_> = self.in_flight().waiting.drain(..).collect();
        if waiting.is_empty() {
            return;
        }
        for received in waiting {
            let release = Release { is_untried: true, dequeues: u32::MAX, ..Release::default() };
            match self.queue.ask("give messages back to", Task::Release(received.receipt(), release)) {
                Err(error) if error.kind() != ErrorKind::StaleReceipt => return self.note(&error),
                _ => {}
            }
        }
    }
}

impl<T> Crew<T> {
    /// Receives as much as there is room for, and keeps hidden what is held.
    fn keep(&self) {
        let mut beaten = Instant::now();
        let [mut pause, longest] = PAUSES;
        loop {
            let (room, is_stopping, holds_some) = {
                let in_flight = self.in_flight();
                let held = in_flight.waiting.len() + in_flight.begun.len();
                (self.most.saturating_sub(held), in_flight.is_stopping, held > 0)
            };
            if is_stopping {
                self.give_back();
                if self.in_flight().begun.is_empty() {
                    return;
                }
            }
            if !holds_some {
                beaten = Instant::now();
            } else if beaten.elapsed() >= self.visibility / BEATS {
                let begun = Instant::now();
                match self.beat() {
                    Ok(()) => beaten = begun,
                    Err(error) => self.note(&error),
                }
            }
            let until_beat = (self.visibility / BEATS).saturating_sub(beaten.elapsed());
            let looks_away = LOOKS_AWAY.min(until_beat.max(Duration::from_millis(1)));
            if is_stopping || room == 0 {
                self.rest(looks_away, room);
                continue;
            }
            let came_at = Instant::now();
            match self.queue.wait_for(room, looks_away, self.visibility) {
                Ok(received) => {
                    if !received.is_empty() && !holds_some {
                        beaten = came_at;
                    }
                    let mut in_flight = self.in_flight();
                    if let Some(failure) = &mut in_flight.failure {
                        failure.in_a_row = 0;
                    }
                    in_flight.waiting.extend(received.into_iter().map(Arc::new));
                    drop(in_flight);
                    self.changed.notify_all();
                    [pause, _] = PAUSES;
                }
                // Another message may be of the type.
                Err(error) if error.kind() == ErrorKind::SchemaMismatch => self.note(&error),
                Err(error) => {
                    self.note(&error);
                    self.rest(pause.min(until_beat.max(LOOKS_AWAY)), self.most);
                    pause = (pause * 2).min(longest);
                }
            }
        }
    }

    /// Waits for so long, or until there is more room or the worker is to stop.
    fn rest(&self, most: Duration, room: usize) {
        let in_flight = self.in_flight();
        let was_stopping = in_flight.is_stopping;
        let same = |in_flight: &mut InFlight<T>| {
            let held = in_flight.waiting.len() + in_flight.begun.len();
            self.most.saturating_sub(held) <= room && in_flight.is_stopping == was_stopping
        };
        drop(self.changed.wait_timeout_while(in_flight, most, same));
    }
}

/// Returns what a panic said.
pub(crate) fn describe(panicked: &(dyn Any + Send)) -> String {
    let text = panicked.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panicked.downcast_ref::<String>().map(String::as_str));
    format!("panicked: {}", text.unwrap_or("with something that is no text"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_double_up_to_five_minutes() {
        let seconds: Vec<_> = (0..12).map(|count| growing(count).as_secs()).collect();
        assert_eq!(seconds, [1, 1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
        assert_eq!(growing(u32::MAX).as_secs(), 300);
    }

    #[test]
    fn what_a_panic_said_is_told() {
        let said = |panic: Box<dyn Any + Send>| describe(&*panic);
        assert_eq!(said(Box::new("no room")), "panicked: no room");
        assert_eq!(said(Box::new("no room".to_owned())), "panicked: no room");
        assert!(said(Box::new(7)).contains("no text"));
    }
}
