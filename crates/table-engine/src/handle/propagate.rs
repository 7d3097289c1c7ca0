//! Who has copies follow.

/// How the copies of `eventual` indexes are propagated, in the tables that a process has opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Propagate {
    /// By a thread in the background, which runs as long as there is something to do.
    #[default]
    Background,
    /// Only when [`Store::propagate`](crate::Tables::propagate) is called.
    Manual,
}
