//! Propagation: brings deferred copies up to date, in the background or when the caller asks for it.

mod dependents;
mod pass;
mod places;
mod propagator;
mod report;

use std::sync::Arc;
use std::time::Duration;

pub use self::report::{FailedPropagation, PendingPropagation, Propagation};

use self::pass::{Tries, background, pass};
use self::propagator::KindPropagator;
use crate::error::{Error, Result};
use crate::executor::Backend;
use crate::handle::tables::Tables;
use crate::model::Ticks;
use crate::outbox::OutboxEntry;
use crate::plan::{OutboxOp, Plan};
use crate::schema::Schema;
use crate::sealing::SealedAt;
use crate::sorting;
use crate::typed::encrypt::unopened;
use crate::typed::entity::Entity;
use crate::typed::set::{EntitySet, SetMember, Visitor};

/// How many entries are read at a time.
const AT_ONCE: usize = 512;

/// How often [`Store::propagate`](crate::Tables::propagate) goes over all that is to follow at most, while others write
/// what it propagates.
const PASSES: u32 = 64;
/// How often [`Store::propagate`](crate::Tables::propagate) goes on to what its own work has made to follow, at most:
/// dependents may have dependents.
const GENERATIONS: u32 = 16;
/// After how many rounds [`Store::propagate`](crate::Tables::propagate) takes a turn in each second one, which holds the
/// plans of others back: so it comes to its end beside writers that never stop.
const PASSES_BORNE: u32 = 8;
/// The longest that [`Store::propagate`](crate::Tables::propagate) waits for such a turn.
const LONGEST_WAIT: Duration = Duration::from_millis(100);

/// Has this process propagate the deferred copies of the entities of this type, once it has opened their table.
#[allow(
    clippy::inline_always,
    reason = "in the unit of who calls it: `typed::entity::codegen_units` says why"
)]
#[cfg_attr(debug_assertions, inline(always))]
pub(crate) fn register<E: Entity>(store: &Tables) {
    if const { E::SCHEMA.has_eventual() || !E::DEPENDENTS.is_empty() } {
        add(
            store,
            KindPropagator { schema: E::SCHEMA, read: unopened::read::<E>, dependents: E::DEPENDENTS },
        );
    }
}

/// Returns the backend that propagates: of a handle that is restricted the store itself, whose work it is.
fn propagating(backend: &Arc<dyn Backend>) -> &Arc<dyn Backend> {
    #[cfg(feature = "access")]
    let backend = backend.unrestricted().unwrap_or(backend);
    backend
}

/// Adds a propagator to those of the store, if its kind has deferred copies and was not added yet.
#[inline]
fn add(store: &Tables, propagator: KindPropagator) {
    if !propagator.schema.has_eventual() && !dependents::follows(propagator.dependents) {
        return;
    }
    let backend = propagating(store.backend());
    let Ok(outbox) = backend.outbox() else { return };
    let propagators = outbox.propagators();
    if propagators.knows(propagator.schema) {
        return;
    }
    propagators.add(backend, Arc::new(propagator), background);
    // What another process has left, or this one before it was opened anew.
    if outbox.count().is_ok_and(|count| count.entries > 0) {
        propagators.notify();
    }
}

/// Has this process propagate the deferred copies of every kind of a set, once it has opened the set.
pub(crate) fn register_set<Set: EntitySet>(store: &Tables) {
    let may_follow = |schema: &&&Schema| schema.has_eventual() || !schema.dependents.is_empty();
    for schema in Set::KINDS.iter().filter(may_follow) {
        // A kind of the set is visited by its name.
        let _: Option<()> = Set::visit(schema.entity_type, Register(store));
    }
}

struct Register<'s>(&'s Tables);

impl<Set> Visitor<Set> for Register<'_> {
    type Output = ();

    fn visit<E: SetMember>(self, _: fn(E) -> Set) {
        register::<E>(self.0);
    }
}

/// What propagation does, as it follows "cannot " in an error.
const ATTEMPTED: &str = "propagate what follows entities in";

impl Tables {
    /// Brings the deferred copies of all `eventual` indexes up to date before it returns, as far as this process can: those
    /// that were to follow when it was called. It does not wait for what others write meanwhile.
    ///
    /// A store does this by itself in the background, unless it was opened with
    /// `Propagate::Manual`: each change of an entity leaves a note with which of its copies
    /// are to follow, and every process that has opened the kind propagates them. Afterwards the copies are what the entities
    /// say, however often it is done and by however many processes.
    ///
    /// What fails is tried again later, with growing delays, and set aside after 16 times; this call doesn't wait for the
    /// delay, and leaves what was set aside where it is. [`pending_propagation`](Self::pending_propagation) returns what is
    /// left.
    ///
    /// ```
    /// use table_core::store::Propagate;
    /// use table_core::typed::{Eventual, Propagation};
    /// use table_core::{Entity, Store};
    ///
    /// #[derive(Entity)]
    /// #[entity(table = "Company", kind = "employee")]
    /// #[key(partition = "{department}", row = "empid_{id:06}")]
    /// #[index(by_name, table = "Names", partition = "{last_name}", row = "{department}_{id:06}", eventual)]
    /// struct Employee {
    ///     department: String,
    ///     id: u32,
    ///     last_name: String,
    /// }
    ///
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("company.tables");
    /// let store = Store::options().propagate(Propagate::Manual).open(&path)?;
    /// let staff = store.table::<Employee>()?;
    /// let written = staff.insert(&Employee { department: "Sales".into(), id: 7, last_name: "Jones".into() })?;
    ///
    /// // The entity is there, and its copy follows.
    /// assert!(staff.get(Employee::by_name("Jones", "Sales", 7))?.is_none());
    /// assert_eq!(store.pending_propagation()?.entities, 1);
    /// assert_eq!(store.propagate()?, Propagation::Complete);
    /// let copy: Eventual<Employee> = staff.get(Employee::by_name("Jones", "Sales", 7))?.unwrap();
    /// assert_eq!((&*copy.last_name, Eventual::as_of(&copy)), ("Jones", written));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn propagate(&self) -> Result<Propagation> {
        self.propagate_all().map_err(|error| error.attempted(ATTEMPTED))
    }

    /// Propagates what was noted by this time, as far as this process can; returns whether more may follow what it has propagated:
    /// the copies of dependents that hold fields of an entity.
    #[inline]
    fn propagate_noted(&self, noted_by: Ticks) -> Result<bool> {
        let (mut passes, mut rounds, mut brings_more) = (0, 0_u32, false);
        while passes < PASSES {
            let is_turn = rounds >= PASSES_BORNE && rounds.is_multiple_of(2);
            let _turn = if is_turn { self.backend().retry_fairness().take(LONGEST_WAIT) } else { None };
            rounds = rounds.saturating_add(1);
            let done = pass(self.backend(), Tries::Now(noted_by))?;
            brings_more |= done.brings_more;
            if done.more > 0 {
                // It has come further.
                continue;
            }
            passes += 1;
            if done.again > 0 {
                continue;
            }
            match done.refused {
                Some(refused) => return Err(refused),
                None => break,
            }
        }
        Ok(brings_more)
    }

    #[inline]
    fn propagate_all(&self) -> Result<Propagation> {
        let outbox = self.backend().outbox()?;
        outbox.purge()?;
        let dependents =
            |entries: &[OutboxEntry]| entries.iter().filter(|entry| !entry.dependents.is_empty()).count();
        let mut left = Vec::new();
        for _ in 0..GENERATIONS {
            let noted = self.list()?;
            // What is noted from here on has a later time.
            let Some(noted_by) = noted.iter().map(|entry| entry.since).max() else {
                return Ok(Propagation::Complete);
            };
            let brings_more = self.propagate_noted(noted_by)?;
            left = self.list()?;
            left.retain(|entry| entry.since <= noted_by);
            // Another thread or process may have propagated them.
            if !brings_more && dependents(&left) >= dependents(&noted) {
                break;
            }
        }
        if left.is_empty() {
            return Ok(Propagation::Complete);
        }
        let propagators = outbox.propagators();
        let unknown = left.iter().filter(|entry| !propagators.propagates(&entry.kind));
        let mut kinds: Vec<_> = unknown.map(|entry| entry.kind.clone()).collect();
        sorting::sort(&mut kinds);
        kinds.dedup();
        Ok(Propagation::Incomplete { kinds })
    }

    /// Returns what is to follow and has not yet: how many entities there are whose copies are to, since when, and what fails.
    ///
    /// It reads every entry of the outbox, whichever process has written it.
    #[inline]
    pub fn pending_propagation(&self) -> Result<PendingPropagation> {
        let list = self.list().map_err(|error| error.attempted(ATTEMPTED))?;
        let propagators = self.backend().outbox().map_err(|error| error.attempted(ATTEMPTED))?.propagators();
        let failure = propagators.failure().map(|error| error.to_string());
        Ok(PendingPropagation::of(list, failure, |kind| propagators.propagates(kind)))
    }

    /// Has what was set aside, or waits to be tried again, tried at once, as if it had never failed; returns how many
    /// entities those are.
    ///
    /// Another change of such an entity does that for this entity, too.
    #[inline]
    pub fn retry_failed(&self) -> Result<u64> {
        self.retry_all_failed().map_err(|error| error.attempted(ATTEMPTED))
    }

    #[inline]
    fn retry_all_failed(&self) -> Result<u64> {
        let mut armed = 0;
        for entry in self.list()?.into_iter().filter(|entry| entry.tries > 0) {
            let outbox_ops = vec![OutboxOp::Arm(entry.source, entry.version)];
            let plan = Plan { outbox_ops, ..Plan::default() };
            match self.backend().commit(&[], &plan, &SealedAt::NOTHING) {
                Ok(_) => armed += 1,
                // It has changed meanwhile, or is propagated.
                Err(refused) if refused.error.kind() == crate::ErrorKind::ConditionNotMet => {}
                Err(refused) => return Err(refused.error),
            }
        }
        if armed > 0 {
            self.backend().outbox()?.propagators().notify();
        }
        Ok(armed)
    }

    /// Returns every entry whose table is there.
    #[inline]
    fn list(&self) -> Result<Vec<OutboxEntry>> {
        let outbox = self.backend().outbox()?;
        let (mut all, mut last) = (Vec::new(), None);
        loop {
            let some = outbox.after(last.as_ref(), AT_ONCE)?;
            last = some.last().cloned();
            all.extend(some.into_iter().filter(|entry| entry.table.is_some()));
            if last.is_none() {
                return Ok(all);
            }
        }
    }
}

/// Returns the error of an entry whose planning has panicked.
fn panicked() -> Error {
    Error::new(crate::ErrorKind::SchemaMismatch)
        .because("the code that reads the entity or its keys panicked")
}
