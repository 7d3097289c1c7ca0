//! What has become of a write, asked apart from its future.

use std::future::{Future, poll_fn};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use super::answer::Answering;
use super::pool;
use crate::error::{Error, ErrorKind};
use crate::plan::{Committed, Refused};

/// Tells what has become of a write, also if its future was dropped.
///
/// A future that is dropped before the store has its write writes nothing. One that is dropped later changes nothing any more:
/// the store carries the write out, whole, or refuses it. The token says which. It is for one write at a time: the last one that
/// was begun with it counts.
///
/// ```
/// use table_core::asynchronous::{WriteOutcome, WriteToken};
/// use table_core::{DynamicEntity, Store};
///
/// # table_core::asynchronous::block_on(async {
/// # let store = Store::temporary()?;
/// let company = store.create_table("Company")?.to_async();
/// let token = WriteToken::new();
/// assert_eq!(token.outcome(), WriteOutcome::Nothing);
/// let etag = company.tracked(&token).insert(&DynamicEntity::new("Sales", "1")).await?;
/// // As a request handler would ask, whose client has gone away in between.
/// let WriteOutcome::Committed(committed) = token.decided().await else { panic!("it was carried out") };
/// assert_eq!(committed.etag(0), etag);
/// # Ok::<(), table_core::Error>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Debug, Default)]
pub struct WriteToken(Arc<Mutex<State>>);

/// What has become of a write.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WriteOutcome {
    /// Nothing was written: the store did not have the write yet, or has refused it.
    Nothing,
    /// The store has the write, or a thread of the pool is to carry it out, and there is no answer yet.
    Pending,
    /// It was carried out.
    Committed(Committed),
    /// The store failed while it was carried out: it is known when the store is opened anew.
    Unknown,
}

#[derive(Debug)]
struct State {
    outcome: WriteOutcome,
    waiting: Vec<Waker>,
}

impl Default for State {
    fn default() -> Self {
        Self { outcome: WriteOutcome::Nothing, waiting: Vec::new() }
    }
}

impl WriteToken {
    /// Makes a token of no write yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns what has become of the write by now. Of one whose future is still polled it may change once more.
    #[must_use]
    pub fn outcome(&self) -> WriteOutcome {
        self.state().outcome.clone()
    }

    /// Waits until the store has answered, and returns what has become of the write: not [`Pending`](WriteOutcome::Pending).
    pub async fn decided(&self) -> WriteOutcome {
        poll_fn(|context| {
            let mut state = self.state();
            if state.outcome != WriteOutcome::Pending {
                return Poll::Ready(state.outcome.clone());
            }
            if !state.waiting.iter().any(|known| known.will_wake(context.waker())) {
                state.waiting.push(context.waker().clone());
            }
            Poll::Pending
        })
        .await
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, outcome: WriteOutcome) {
        let waiting = {
            let mut state = self.state();
            state.outcome = outcome;
            if state.outcome == WriteOutcome::Pending {
                Vec::new()
            } else {
                std::mem::take(&mut state.waiting)
            }
        };
        waiting.into_iter().for_each(Waker::wake);
    }
}

/// What the store answers to: the future, and the token if there is one. Dropped without an answer, it says that none comes.
#[derive(Debug)]
pub(crate) struct Asking {
    answering: Option<Answering<Result<Committed, Refused>>>,
    token: Option<WriteToken>,
}

impl Asking {
    /// Notes that the store is given the write.
    pub(crate) fn begin(
        answering: Option<Answering<Result<Committed, Refused>>>,
        token: Option<&WriteToken>,
    ) -> Self {
        if let Some(token) = token {
            token.note(WriteOutcome::Pending);
        }
        Self { answering, token: token.cloned() }
    }

    /// Passes on what the store has answered.
    pub(crate) fn answer(mut self, answered: Result<Committed, Refused>) {
        let answering = self.answering.take();
        let answered = self.noted(answered);
        if let Some(answering) = answering {
            answering.give(answered);
        }
    }

    /// Notes what the store has answered.
    pub(crate) fn noted(mut self, answered: Result<Committed, Refused>) -> Result<Committed, Refused> {
        self.note(answered.as_ref().map_err(|refused| refused.error.kind()));
        answered
    }

    fn note(&mut self, answered: Result<&Committed, ErrorKind>) {
        if let Some(token) = self.token.take() {
            token.note(match answered {
                Ok(committed) => WriteOutcome::Committed(committed.clone()),
                Err(ErrorKind::OutcomeUnknown) => WriteOutcome::Unknown,
                Err(_) => WriteOutcome::Nothing,
            });
        }
    }

    /// Notes that the store has not taken the write.
    pub(crate) fn refused(token: Option<&WriteToken>) {
        if let Some(token) = token {
            token.note(WriteOutcome::Nothing);
        }
    }
}

/// A write that waits for a thread of the pool. Dropped before that has come to it, it has written nothing.
struct Waiting(Option<WriteToken>);

impl Waiting {
    /// Carries the write out, and notes what has become of it: that is unknown after a panic.
    fn carry_out(mut self, write: impl FnOnce() -> Result<Committed, Error>) -> Result<Committed, Error> {
        let mut asking = Asking { answering: None, token: self.0.take() };
        let answered = write();
        asking.note(answered.as_ref().map_err(Error::kind));
        answered
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some(token) = self.0.take() {
            token.note(WriteOutcome::Nothing);
        }
    }
}

/// Runs a write that blocks on a thread of the pool, and notes in the token what becomes of it. Dropped before the write has
/// begun, it does not begin; later, it runs to its end.
pub(super) fn carry_out(
    token: Option<&WriteToken>,
    write: impl FnOnce() -> Result<Committed, Error> + Send + 'static,
) -> impl Future<Output = Result<Committed, Error>> + Send {
    // From here on, since a token that says nothing is written must not say otherwise later.
    if let Some(token) = token {
        token.note(WriteOutcome::Pending);
    }
    let waiting = Waiting(token.cloned());
    pool::run(move || waiting.carry_out(write))
}

impl Drop for Asking {
    fn drop(&mut self) {
        if let Some(token) = self.token.take() {
            token.note(WriteOutcome::Unknown);
        }
    }
}
