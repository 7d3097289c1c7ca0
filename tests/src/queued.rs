//! Numbers that are sent by a queue, and noted in a table when they are dealt with.

use table_core::queue::{Queue, Received};
use table_core::{Entity, Result, Store, Table};

/// A number that was dealt with (`done`), or sent with this change (`sent`).
#[derive(Entity, Clone, Debug, PartialEq, Eq)]
#[entity(table = "Numbers", kind = "number")]
#[key(partition = "{part}", row = "{number:012}")]
pub struct Done {
    /// `done` or `sent`.
    pub part: String,
    /// The number.
    pub number: u64,
}

/// The queue of the numbers. A process that dies is no reason to set one aside.
pub fn queue(store: &Store) -> Queue<u64> {
    store.queue("numbers").expect("the queue can be made").max_dequeues(u32::MAX)
}

/// Sends a number, and notes that: both, or neither.
pub fn send(store: &Store, queue: &Queue<u64>, number: u64) -> Result<()> {
    let sent = Done { part: "sent".into(), number };
    store.transaction().insert(&sent).send(queue, &number).commit().map(drop)
}

/// Notes the number and completes its message: both, or neither. An error if it was noted before.
pub fn dealt_with(done: &Table<Done>, number: &Received<u64>) -> Result<()> {
    let noted = Done { part: "done".into(), number: **number };
    done.egt(Done::partition("done")).insert(&noted).complete(number).commit().map(drop)
}
