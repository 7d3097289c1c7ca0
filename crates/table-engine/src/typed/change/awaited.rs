//! The driver of changes that are awaited: it plans and hands over in one step each, and waits for the store in between.
//!
//! A step reads, runs the user's closures and encodes the plan; it waits for nothing, and nothing of it is held while the answer
//! is awaited but the attempts themselves and the plan's [outline](PlanOutline).

use std::future::{Future, poll_fn};
use std::marker::PhantomData;
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Instant;

use super::attempt::Attempt;
use super::driver::{self, Losses, Together};
#[cfg(feature = "access")]
use super::restricted;
use crate::asynchronous::{Answer, Asking, BoxFuture, Memo, Sleep, WriteToken, answer};
use crate::error::{Error, ErrorKind, Result};
#[cfg(feature = "access")]
use crate::executor::RestrictedTable;
use crate::executor::{
    AsyncBackend, ChangeId, LONGEST_WAIT, RetryFairness, Room, Turn, WaitForRoom, telemetry,
};
use crate::handle::table::DynamicTable;
use crate::handle::write;
use crate::plan::{Committed, Failure, Plan, PlanOutline, Refused};
use crate::sealing::SealedAt;
use crate::telemetry::Messages;

/// A change whose future can go from thread to thread.
pub(crate) type SendAttempt<'a> = dyn Attempt + Send + 'a;

/// A change of either form.
pub(super) trait AnyAttempt {
    fn lent(&mut self) -> &mut (dyn Attempt + '_);
}

impl AnyAttempt for SendAttempt<'_> {
    fn lent(&mut self) -> &mut (dyn Attempt + '_) {
        self
    }
}

#[cfg(feature = "async-testing")]
impl AnyAttempt for dyn Attempt + '_ {
    fn lent(&mut self) -> &mut (dyn Attempt + '_) {
        self
    }
}

/// How the attempts of a step are lent.
#[derive(Clone, Copy)]
pub(super) enum Lend<'l> {
    /// As they are.
    Plain(PhantomData<&'l ()>),
    /// Checked against accesses: of each of them that of its table.
    #[cfg(feature = "access")]
    Permitted(&'l [Option<&'l dyn RestrictedTable>]),
}

impl Lend<'_> {
    pub(super) const PLAIN: Self = Self::Plain(PhantomData);
}

/// Carries out the changes as one, from the start again if one of the entities was written meanwhile.
pub(crate) async fn commit(
    together: Together<'_>,
    attempts: &mut [&mut SendAttempt<'_>],
    token: Option<&WriteToken>,
) -> Result<Committed> {
    #[cfg(feature = "access")]
    if restricted::are_restricted(together) {
        return restricted::commit_awaited(together, attempts, token).await;
    }
    carry_out_all(together, attempts, token, Lend::PLAIN).await
}

/// Carries out changes that are permitted.
pub(super) async fn carry_out_all<A: AnyAttempt + ?Sized>(
    together: Together<'_>,
    attempts: &mut [&mut A],
    token: Option<&WriteToken>,
    lend: Lend<'_>,
) -> Result<Committed> {
    let store = together.tables.first().ok_or_else(driver::no_table)?.exec().store();
    let fetched = store.async_backend().map(|backend| Fetched::of(backend, together.tables));
    let planning =
        fetched.as_ref().map_or(together, |fetched| Together { tables: &fetched.tables, ..together });
    let (mut losses, mut turn, mut place) = (Losses::default(), None, None);
    loop {
        if losses.want_a_turn() {
            turn = take_turn(store.retry_fairness()).await?;
            losses.had_turn = turn.is_some();
        }
        if turn.is_none() && fetched.is_some() {
            pass(store.retry_fairness()).await?;
        }
        // There is no wait after the first loss, so the first attempt is not timed.
        let begun = losses.has_any().then(Instant::now);
        let handed_over = {
            let _entered = turn.as_ref().map(Turn::enter);
            step(attempts, lend, |attempts| {
                driver::attempt(planning, attempts, |plan, sealed_at| {
                    if fetched.as_ref().is_some_and(Fetched::lacks_some) {
                        return Err(Failure { error: driver::no_table(), of: None, was_stale: false });
                    }
                    let handed_over = HandedOver::of(together.tables, plan, sealed_at, token);
                    handed_over.map_err(|refused| write::failure(together.tables, plan, sealed_at, refused))
                })
            })
        };
        if let Some(fetched) = fetched.as_ref().filter(|fetched| fetched.lacks_some()) {
            drop(handed_over);
            fetched.memo.fetch(fetched.backend).await;
            continue;
        }
        let made = match handed_over {
            Ok(Ok(handed_over)) => Ok(handed_over.failed_or(together.tables).await),
            Ok(Err(failure))
                if failure.error.kind() == ErrorKind::TooManyWrites && store.room().is_some() =>
            {
                place = wait_for_room(store.room(), place).await;
                continue;
            }
            Ok(Err(failure)) => Ok(Err(failure)),
            Err(error) => Err(error),
        };
        place = None;
        let done = step(attempts, lend, |attempts| losses.after(together, made, attempts));
        if let Some(done) = done {
            return done;
        }
        if let Some(fetched) = &fetched {
            fetched.memo.forget();
        }
        if let (None, Some(begun)) = (&turn, begun) {
            let wait = losses.wait(begun.elapsed());
            if !wait.is_zero() {
                Sleep::lasting(wait).await?;
            }
        }
    }
}

/// What a change has read of a store that answers later.
struct Fetched<'b> {
    backend: &'b dyn AsyncBackend,
    memo: Memo,
    /// The tables of the change, which have what was fetched.
    tables: Vec<DynamicTable>,
}

impl<'b> Fetched<'b> {
    fn of(backend: &'b dyn AsyncBackend, tables: &[DynamicTable]) -> Self {
        let memo = Memo::default();
        Self { backend, tables: tables.iter().map(|table| memo.over(table)).collect(), memo }
    }

    /// Returns whether something was asked for that is still to be fetched.
    fn lacks_some(&self) -> bool {
        self.memo.has_missed()
    }
}

/// Runs a step that waits for nothing.
fn step<A: AnyAttempt + ?Sized, T>(
    attempts: &mut [&mut A],
    how: Lend<'_>,
    step: impl FnOnce(&mut [&mut (dyn Attempt + '_)]) -> T,
) -> T {
    let step = |attempts: &mut [&mut (dyn Attempt + '_)]| match how {
        Lend::Plain(_) => step(attempts),
        #[cfg(feature = "access")]
        Lend::Permitted(tables) => restricted::permitted(tables, attempts, step),
    };
    if let [one] = attempts {
        return step(&mut [one.lent()]);
    }
    let mut lent: Vec<&mut (dyn Attempt + '_)> = Vec::with_capacity(attempts.len());
    for attempt in attempts {
        lent.push(attempt.lent());
    }
    step(&mut lent)
}

/// A plan that the store has.
pub(crate) struct HandedOver<'b> {
    outline: PlanOutline,
    sealed_at: SealedAt,
    messages: Messages,
    answer: Answered<'b>,
}

/// How the answer comes.
enum Answered<'b> {
    /// From a thread of the store's.
    Submitted(Answer<Result<Committed, Refused>>),
    /// By a future of the store's.
    Begun(BoxFuture<'b, Result<Committed, Refused>>, Asking),
}

impl<'b> HandedOver<'b> {
    /// Hands a plan to the store.
    pub(crate) fn of(
        tables: &'b [DynamicTable],
        plan: &Plan<'_>,
        sealed_at: &SealedAt,
        token: Option<&WriteToken>,
    ) -> Result<Self, Refused> {
        let backend = tables.first().and_then(|table| table.exec().store().async_backend());
        let answer = if let Some(backend) = backend {
            let begun = write::begin(backend, tables, plan, sealed_at);
            begun.map(|begun| Answered::Begun(begun, Asking::begin(None, token)))
        } else {
            let (answering, answer) = answer();
            let asking = Asking::begin(Some(answering), token);
            let done = Box::new(|answered| asking.answer(answered));
            write::submit(tables, plan, sealed_at, done).map(|()| Answered::Submitted(answer))
        };
        match answer {
            Ok(answer) => {
                let messages = Messages::asked(&plan.queue_ops);
                Ok(Self { outline: PlanOutline::of(plan), sealed_at: sealed_at.clone(), messages, answer })
            }
            Err(refused) => {
                Asking::refused(token);
                Err(write::located(tables, plan, refused))
            }
        }
    }

    /// Waits for the answer. A refusal says of which row it is.
    pub(crate) async fn refused_or(self, tables: &[DynamicTable]) -> Result<Committed, Refused> {
        let Self { outline, answer, messages, .. } = self;
        answered(&outline, answer, messages, tables).await
    }

    /// Waits for the answer. A refusal is in the words of the entities.
    pub(crate) async fn failed_or(self, tables: &[DynamicTable]) -> Result<Committed, Failure> {
        let Self { outline, sealed_at, messages, answer } = self;
        answered(&outline, answer, messages, tables).await.map_err(|refused| {
            let failure = outline.explain_refusal(refused);
            Failure { was_stale: failure.was_stale || sealed_at.is_stale(), ..failure }
        })
    }
}

/// Waits for the answer to a plan of this outline.
async fn answered(
    outline: &PlanOutline,
    answer: Answered<'_>,
    messages: Messages,
    tables: &[DynamicTable],
) -> Result<Committed, Refused> {
    let answer = match answer {
        Answered::Submitted(answer) => {
            let answer = answer.await;
            answer.map(|answer| answer.map(|committed| outline.by_operations(committed)))
        }
        Answered::Begun(begun, asking) => {
            let answer = begun.await.map(|committed| outline.by_operations(committed));
            Some(asking.noted(answer))
        }
    };
    match answer {
        Some(Ok(committed)) => {
            if let Some(table) = tables.first() {
                telemetry::messages(table.exec().store(), || messages);
            }
            Ok(committed)
        }
        Some(Err(refused)) => Err(outline.with_plan(|plan| write::located(tables, plan, refused))),
        None => {
            let because = "the store went away before it answered; open it anew, and read what is there";
            Err(Refused::whole(Error::new(ErrorKind::OutcomeUnknown).because(because)))
        }
    }
}

/// Waits until there may be room for a plan that the store has not taken; `place` is that in the queue, of one that has been
/// refused before. What becomes free between a refusal and the wait is not missed: the plan is handed over once more in between.
pub(crate) async fn wait_for_room<'r>(
    room: Option<&'r Room>,
    place: Option<WaitForRoom<'r>>,
) -> Option<WaitForRoom<'r>> {
    if let Some(place) = place {
        place.await;
        return None;
    }
    let waker = poll_fn(|context| Poll::Ready(context.waker().clone())).await;
    Some(room?.listen(&waker))
}

/// Waits while plans are held for a change that has the turn. A store that plans are submitted to sees to that itself.
pub(crate) async fn pass(turns: &RetryFairness) -> Result<()> {
    let mut longest = None;
    poll_fn(|context| match turns.poll_pass(ChangeId::current(), context.waker()) {
        Ok(()) => Poll::Ready(Ok(())),
        Err(until) => Pin::new(longest.get_or_insert_with(|| Sleep::until(until))).poll(context),
    })
    .await
}

/// Returns the turn, if it comes within so long.
async fn take_turn(turns: &RetryFairness) -> Result<Option<Turn<'_>>> {
    let mut patience = pin!(Sleep::lasting(LONGEST_WAIT));
    poll_fn(|context| match turns.poll_take(context.waker()) {
        Some(turn) => Poll::Ready(Ok(Some(turn))),
        None => patience.as_mut().poll(context).map_ok(|()| None),
    })
    .await
}
