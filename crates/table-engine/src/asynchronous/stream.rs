//! Rows one after another, awaited: streams that own their snapshot.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

use blocking::Unblock;
use futures_core::Stream;

use super::timer::WakeAt;
use super::{BoxFuture, Reads};
use crate::error::{Error, ErrorKind, Result};
use crate::handle::page::Page;
use crate::query::Continuation;

/// How long a stream holds its snapshot unless it is told otherwise.
const HELD: Duration = Duration::from_secs(60);
/// After so many rows in a row that were there at once, a task lets others run.
const RUN: u32 = 1_024;

/// Rows that can be gone on with later.
pub trait Resumable: Iterator<Item = Result<Self::Row>> {
    /// What a row is read as.
    #[doc(hidden)]
    type Row;

    /// Returns the next row, and the place behind it if a page of the query can begin there.
    #[doc(hidden)]
    fn next_and_place(&mut self) -> (Option<Self::Item>, Option<Continuation>);
}

/// What a query finds, one after another, awaited.
///
/// It is a [`Stream`], and has the ends that most need of one itself: [`next`](Self::next), [`try_next`](Self::try_next),
/// [`try_collect`](Self::try_collect). The snapshot that it reads is taken when the first row is asked for, and is its own: it
/// may be held over an `await`, sent to another task and dropped at any time.
///
/// A snapshot that is held keeps the space of what is overwritten. So a stream holds it for a minute, or as long as
/// [`held_for`](Self::held_for) says, whether rows are asked for or not: then it gives it up, and what comes last is an error,
/// [`SnapshotExpired`](ErrorKind::SnapshotExpired), with the [`continuation`](Error::continuation) by which a page of the query
/// goes on, in a newer snapshot. After an error it ends.
///
/// ```
/// use table_core::asynchronous::block_on;
/// use table_core::{Entity, Store};
///
/// # #[derive(Entity)]
/// # #[entity(table = "Company", kind = "employee")]
/// # #[key(partition = "{department}", row = "empid_{id:06}")]
/// # struct Employee { department: String, id: u32, age: u8 }
/// # block_on(async {
/// # let store = Store::temporary()?.to_async();
/// let staff = store.table::<Employee>().await?;
/// for id in 1..=3 {
///     staff.insert(&Employee { department: "Sales".into(), id, age: 40 }).await?;
/// }
/// let mut rows = staff.rows().department("Sales").stream();
/// let mut ages = 0;
/// while let Some(employee) = rows.try_next().await? {
///     ages += u32::from(employee.age);
/// }
/// assert_eq!(ages, 120);
/// # Ok::<(), table_core::Error>(())
/// # }).unwrap();
/// ```
#[must_use = "a stream does nothing until it is polled"]
pub struct RowStream<I: Resumable> {
    rows: Rows<I>,
    held_for: Duration,
    /// How many rows have come since it last let others run.
    run: u32,
}

enum Rows<I: Resumable> {
    /// Not begun yet.
    Asked(Reads, Option<Box<dyn FnOnce() -> Result<I> + Send>>),
    /// Read by what polls it.
    Inline(Held<I>),
    /// Read on a thread of the pool, some rows ahead.
    Spawned(Unblock<Held<I>>),
    /// Of a store that answers later: page by page.
    Paged(Pages<I>),
    Ended,
}

/// Gives the page behind a continuation.
type PageOf<T> = Box<dyn FnMut(Option<Continuation>) -> BoxFuture<'static, Result<Page<T>>> + Send>;

/// Pages one after another.
struct Pages<I: Resumable> {
    page_of: PageOf<I::Row>,
    /// The page that is waited for.
    coming: Option<BoxFuture<'static, Result<Page<I::Row>>>>,
    rows: std::vec::IntoIter<I::Row>,
    next: NextPage,
}

/// Where the next page begins.
enum NextPage {
    First,
    Behind(Continuation),
    None,
}

impl<I: Resumable> Pages<I> {
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<I::Row>>> {
        loop {
            if let Some(row) = self.rows.next() {
                return Poll::Ready(Some(Ok(row)));
            }
            if let Some(coming) = &mut self.coming {
                let Poll::Ready(page) = coming.as_mut().poll(context) else { return Poll::Pending };
                self.coming = None;
                match page {
                    Ok(page) => {
                        self.rows = page.entities.into_iter();
                        self.next = page.next.map_or(NextPage::None, NextPage::Behind);
                        continue;
                    }
                    Err(error) => return Poll::Ready(Some(Err(error))),
                }
            }
            let after = match std::mem::replace(&mut self.next, NextPage::None) {
                NextPage::First => None,
                NextPage::Behind(place) => Some(place),
                NextPage::None => return Poll::Ready(None),
            };
            self.coming = Some((self.page_of)(after));
        }
    }
}

impl<I, T> RowStream<I>
where
    I: Resumable<Row = T> + Send + 'static,
    T: Send + 'static,
{
    pub(crate) fn new(reads: Reads, begin: impl FnOnce() -> Result<I> + Send + 'static) -> Self {
        Self { rows: Rows::Asked(reads, Some(Box::new(begin))), held_for: HELD, run: 0 }
    }

    /// Makes a stream of pages, each read when the rows of the one before it are taken.
    pub(crate) fn paged(
        page_of: impl FnMut(Option<Continuation>) -> BoxFuture<'static, Result<Page<T>>> + Send + 'static,
    ) -> Self {
        let rows = Vec::new().into_iter();
        let pages = Pages { page_of: Box::new(page_of), coming: None, rows, next: NextPage::First };
        Self { rows: Rows::Paged(pages), held_for: HELD, run: 0 }
    }

    /// Says how long the stream holds its snapshot at most, from the first row on. A store that answers later has no snapshot to
    /// hold: each page is of the rows that are there when it is read.
    pub fn held_for(self, most: Duration) -> Self {
        Self { held_for: most, ..self }
    }

    /// Returns the next row.
    #[inline]
    #[expect(clippy::should_implement_trait, reason = "it is what streams have by that name")]
    pub fn next(&mut self) -> impl Future<Output = Option<Result<T>>> + Send + '_ {
        poll_fn(|context| self.poll_row(context))
    }

    /// Returns the next row; `None` behind the last.
    #[inline]
    pub fn try_next(&mut self) -> impl Future<Output = Result<Option<T>>> + Send + '_ {
        poll_fn(|context| self.poll_row(context).map(Option::transpose))
    }

    /// Returns all rows that are left.
    pub async fn try_collect(mut self) -> Result<Vec<T>> {
        let mut all = Vec::new();
        while let Some(row) = self.try_next().await? {
            all.push(row);
        }
        Ok(all)
    }

    #[inline]
    fn poll_row(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<T>>> {
        // Most rows are there at once.
        if let Rows::Inline(held) = &mut self.rows
            && self.run < RUN
        {
            self.run += 1;
            let next = held.next();
            if !matches!(next, Some(Ok(_))) {
                self.end_by(next.as_ref());
            }
            return Poll::Ready(next);
        }
        self.poll_other(context)
    }

    /// Ends the stream, unless rows may come behind one that can't be read.
    #[cold]
    fn end_by(&mut self, next: Option<&Result<T>>) {
        if !matches!(next, Some(Err(error)) if error.kind() == ErrorKind::NotConverted) {
            self.rows = Rows::Ended;
        }
    }

    #[inline(never)]
    fn poll_other(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<T>>> {
        if let Err(error) = self.begin() {
            self.rows = Rows::Ended;
            return Poll::Ready(Some(Err(error)));
        }
        let next = match &mut self.rows {
            Rows::Inline(_) if self.run == RUN => {
                self.run = 0;
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
            Rows::Inline(held) => Poll::Ready(held.next()),
            Rows::Spawned(held) => Pin::new(held).poll_next(context),
            Rows::Paged(pages) => pages.poll_next(context),
            Rows::Asked(..) | Rows::Ended => Poll::Ready(None),
        };
        if let Poll::Ready(next @ (None | Some(Err(_)))) = &next {
            self.end_by(next.as_ref());
        }
        next
    }

    fn begin(&mut self) -> Result<()> {
        if let Rows::Asked(reads, begin) = &mut self.rows {
            let (reads, begin) = (*reads, begin.take());
            let held = Held::begin(begin, self.held_for)?;
            self.rows = match reads {
                Reads::Inline => Rows::Inline(held),
                Reads::Spawned => Rows::Spawned(Unblock::new(held)),
            };
        }
        Ok(())
    }
}

impl<I, T> Stream for RowStream<I>
where
    I: Resumable<Row = T> + Send + 'static,
    T: Send + 'static,
{
    type Item = Result<T>;

    #[inline]
    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<T>>> {
        self.poll_row(context)
    }
}

impl<I: Resumable> Unpin for RowStream<I> {}

impl<I: Resumable> fmt::Debug for RowStream<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RowStream").field("held_for", &self.held_for).finish_non_exhaustive()
    }
}

/// Rows with the snapshot that they are read in, given up when its time is over.
struct Held<I: Resumable> {
    shared: Arc<Shared<I>>,
    /// Gives them up.
    _timer: Option<WakeAt>,
}

struct Shared<I: Resumable> {
    state: Mutex<State<I>>,
    held_for: Duration,
}

enum State<I: Resumable> {
    /// Not begun.
    Asked(Option<Box<dyn FnOnce() -> Result<I> + Send>>),
    Open(I),
    /// Given up: the row that was read last, and where to go on behind it.
    Expired(Option<I::Item>, Option<Continuation>),
    Ended,
}

impl<I, T> Held<I>
where
    I: Resumable<Row = T> + Send + 'static,
    T: Send + 'static,
{
    fn begin(begin: Option<Box<dyn FnOnce() -> Result<I> + Send>>, held_for: Duration) -> Result<Self> {
        let shared = Arc::new(Shared { state: Mutex::new(State::Asked(begin)), held_for });
        let timer = match Instant::now().checked_add(held_for) {
            Some(at) => Some(WakeAt::new(at, Waker::from(Arc::new(GiveUp(Arc::downgrade(&shared)))))?),
            None => None,
        };
        Ok(Self { shared, _timer: timer })
    }
}

impl<I, T> Iterator for Held<I>
where
    I: Resumable<Row = T>,
{
    type Item = Result<T>;

    #[inline]
    fn next(&mut self) -> Option<Result<T>> {
        let mut state = self.shared.state();
        if let State::Open(rows) = &mut *state {
            return rows.next();
        }
        self.next_of(state)
    }
}

impl<I, T> Held<I>
where
    I: Resumable<Row = T>,
{
    /// Returns the next row of one that was not begun, or was given up.
    #[inline(never)]
    fn next_of(&self, mut state: MutexGuard<'_, State<I>>) -> Option<Result<T>> {
        match std::mem::replace(&mut *state, State::Ended) {
            State::Asked(begin) => match begin?() {
                Ok(mut rows) => {
                    let next = rows.next();
                    *state = State::Open(rows);
                    next
                }
                Err(error) => Some(Err(error)),
            },
            State::Expired(Some(last), place) => {
                *state = State::Expired(None, place);
                Some(last)
            }
            State::Expired(None, place) => Some(Err(expired(self.shared.held_for, place))),
            State::Open(_) | State::Ended => None,
        }
    }
}

impl<I: Resumable> Shared<I> {
    fn state(&self) -> MutexGuard<'_, State<I>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives the snapshot up, and keeps one row more: behind it the caller may go on.
    fn give_up(&self) {
        let rows = {
            let mut state = self.state();
            let State::Open(rows) = &mut *state else { return };
            let (last, place) = rows.next_and_place();
            let given_up = match last {
                None => State::Ended,
                last => State::Expired(last, place),
            };
            std::mem::replace(&mut *state, given_up)
        };
        // Without the lock: what polls meanwhile finds what was kept.
        drop(rows);
    }
}

#[cold]
fn expired(held_for: Duration, place: Option<Continuation>) -> Error {
    let error = Error::new(ErrorKind::SnapshotExpired).attempted("read on").because(format!(
        "the stream has held its snapshot for {held_for:?}; go on by a page behind the continuation, or let the stream hold it \
         longer"
    ));
    match place {
        Some(place) => error.going_on_at(place),
        None => error,
    }
}

/// Woken when the time of a snapshot is over.
struct GiveUp<I: Resumable>(std::sync::Weak<Shared<I>>);

impl<I> Wake for GiveUp<I>
where
    I: Resumable<Row: Send> + Send + 'static,
{
    fn wake(self: Arc<Self>) {
        if let Some(shared) = self.0.upgrade() {
            shared.give_up();
        }
    }
}
