//! Rows that live as long as a snapshot.

use std::cell::{Cell, OnceCell};

use crate::row::named::PackedRow;

/// One bucket for each bit of a number: each has twice the room of the one before it. A bucket is never moved, so its rows
/// stay lent while others come.
const BUCKETS: usize = 48;

/// Rows that a snapshot has given out, which live as long as the snapshot: for an executor whose rows lie nowhere else.
#[derive(Debug)]
pub struct Kept {
    rows: [OnceCell<Box<[OnceCell<PackedRow>]>>; BUCKETS],
    len: Cell<usize>,
}

impl Default for Kept {
    fn default() -> Self {
        Self { rows: [const { OnceCell::new() }; BUCKETS], len: Cell::new(0) }
    }
}

impl Kept {
    /// Keeps the row; `None` if there is no more room.
    pub fn keep(&self, row: PackedRow) -> Option<&PackedRow> {
        let at = self.len.get().checked_add(1)?;
        let bucket = usize::try_from(at.ilog2()).ok()?;
        let room = 1_usize << bucket;
        let rows = self.rows.get(bucket)?.get_or_init(|| (0..room).map(|_| OnceCell::new()).collect());
        self.len.set(at);
        Some(rows.get(at - room)?.get_or_init(|| row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Ticks, ValueRef};
    use crate::row::named::Names;

    #[test]
    fn what_was_kept_first_is_there_after_much_else() {
        let (names, kept) = (Names::default(), Kept::default());
        let row = |number: i32| {
            names.pack(1, "p", "r", Ticks::MIN, &[("Number", ValueRef::Int32(number))]).unwrap()
        };
        let rows: Vec<_> = (0..1_000).map(|number| kept.keep(row(number)).unwrap()).collect();
        for (number, row) in (0..).zip(rows) {
            assert_eq!(row.view().unwrap().get("Number").unwrap(), Some(ValueRef::Int32(number)));
        }
    }
}
