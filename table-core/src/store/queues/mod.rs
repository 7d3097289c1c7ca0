//! Queues on LMDB: their records read with proofs, and the changes of a plan drafted before any is written.

mod books;
pub(in crate::store) mod check;
mod draft;
mod pending;
mod tasks;
#[cfg(test)]
mod tests;
mod view;

pub(in crate::store) use self::books::Books;
pub(in crate::store) use self::draft::{Draft, Drafted};
pub(in crate::store) use self::pending::{EntryWork, FoundEntry};
pub(in crate::store) use self::tasks::{Outcome, Work, delivery};
pub(in crate::store) use self::view::View;
