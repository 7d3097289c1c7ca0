//! The checks by their names, so that a test can take away one at a time and see itself fail.

/// A check of a restricted handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// The access holds now.
    Time,
    /// It has the permissions that the call takes.
    Rights,
    /// It is to the table.
    Tables,
    /// An entity that is written lies inside.
    WritesOutside,
    /// The entity to which one refers lies inside.
    Sources,
    /// The key of a point read lies inside.
    PointReads,
    /// A query reads no row outside.
    Queries,
    /// A row is shown only where the entities that it is of are inside.
    Owners,
    /// A row that is not shown reads like a missing one when it is written.
    HiddenWrites,
    /// An error of a change does not say what the change brings about outside.
    Errors,
    /// A change of an entity is permitted before it reads anything.
    Changes,
    /// A moved entity stays inside.
    Moves,
    /// No access lets tables be made, dropped or renamed.
    Administration,
    /// No access lets jobs be run or deferred copies be propagated.
    Jobs,
    /// A queue is one of those that are named.
    Queues,
    /// A container is one of those that are named.
    Containers,
}

#[cfg(feature = "access-testing")]
impl Check {
    /// Every check.
    pub const ALL: [Self; 16] = [
        Self::Time,
        Self::Rights,
        Self::Tables,
        Self::WritesOutside,
        Self::Sources,
        Self::PointReads,
        Self::Queries,
        Self::Owners,
        Self::HiddenWrites,
        Self::Errors,
        Self::Changes,
        Self::Moves,
        Self::Administration,
        Self::Jobs,
        Self::Queues,
        Self::Containers,
    ];
}

#[cfg(feature = "access-testing")]
thread_local! {
    static WITHOUT: std::cell::Cell<Option<Check>> = const { std::cell::Cell::new(None) };
}

/// Takes a check away in this thread; with none, all are made again.
#[cfg(feature = "access-testing")]
pub fn take_away(check: Option<Check>) {
    WITHOUT.set(check);
}

/// Returns whether a check is made: always, but for tests.
#[cfg(feature = "access-testing")]
pub(crate) fn is_on(check: Check) -> bool {
    WITHOUT.get() != Some(check)
}

#[cfg(not(feature = "access-testing"))]
pub(crate) const fn is_on(_: Check) -> bool {
    true
}
