//! What a page has used of its budget.

use std::time::Instant;

use super::page_size;
use crate::error::Result;
use crate::limits;
use crate::query::PageBudget;

/// The clock is looked at after one row in so many.
const LOOK: u64 = 32;

/// What is left of a page's budget.
#[derive(Debug)]
pub struct PageMeter {
    rows: usize,
    reads: u64,
    read: u64,
    deadline: Option<Instant>,
    /// How many rows have been read when the clock is looked at next, and whether it was late then.
    next_look: u64,
    is_late: bool,
}

impl PageMeter {
    /// Begins a page; an error if none can have so many entities.
    pub fn begin(budget: &PageBudget) -> Result<Self> {
        let rows = budget.most_rows();
        if !(1..=limits::PAGE_ENTITIES).contains(&rows) {
            return Err(page_size(rows));
        }
        let (reads, time) = budget.most_reads();
        // A time that the clock can't reach is no limit.
        let deadline = time.and_then(|time| Instant::now().checked_add(time));
        let next_look = if deadline.is_some() { 1 } else { u64::MAX };
        Ok(Self { rows, reads, read: 0, deadline, next_look, is_late: false })
    }

    /// Returns whether no more than the number of entities is limited.
    pub fn counts_rows_alone(&self) -> bool {
        self.reads == u64::MAX && self.deadline.is_none()
    }

    /// Takes in a row that was read, and whether the page has it.
    #[inline]
    pub fn add(&mut self, is_taken: bool) {
        self.read += 1;
        if self.read >= self.next_look {
            self.look();
        }
        if is_taken {
            self.take();
        }
    }

    #[inline(never)]
    fn look(&mut self) {
        self.next_look = self.read.saturating_add(LOOK);
        self.is_late = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
    }

    /// Puts a row into the page that was taken in before.
    #[inline]
    pub fn take(&mut self) {
        self.rows = self.rows.saturating_sub(1);
    }

    /// Returns whether the page ends behind the row that was taken in last.
    #[inline]
    pub fn is_spent(&self) -> bool {
        self.rows == 0 || self.read >= self.reads || self.is_late
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::error::ErrorKind;

    fn rows_until_spent(budget: PageBudget, is_taken: impl Fn(u64) -> bool) -> u64 {
        let mut meter = PageMeter::begin(&budget).unwrap();
        loop {
            meter.add(is_taken(meter.read));
            if meter.is_spent() || meter.read == 5_000 {
                return meter.read;
            }
        }
    }

    #[test]
    fn a_page_ends_with_what_is_used_up_first() {
        let budget = PageBudget::new(10);
        assert_eq!(rows_until_spent(budget, |_| true), 10);
        assert_eq!(rows_until_spent(budget, |row| row % 7 == 0), 64);
        assert_eq!(rows_until_spent(budget.rows_read(30), |row| row % 7 == 0), 30);
        assert_eq!(rows_until_spent(budget.rows_read(300), |row| row % 7 == 0), 64);
        assert_eq!(rows_until_spent(budget, |_| false), 5_000);
        assert_eq!(rows_until_spent(PageBudget::SERVICE, |_| true), 1_000);
    }

    #[test]
    fn a_page_reads_a_row_whatever_its_budget() {
        assert_eq!(rows_until_spent(PageBudget::new(10).rows_read(0), |_| true), 1);
        assert_eq!(rows_until_spent(PageBudget::new(10).time(Duration::ZERO), |_| false), 1);
        // More than the clock can say is no limit.
        assert_eq!(rows_until_spent(PageBudget::new(10).time(Duration::MAX), |_| true), 10);
    }

    #[test]
    fn no_page_has_no_entities_or_more_than_a_thousand() {
        for rows in [0, 1_001, usize::MAX] {
            assert_eq!(PageMeter::begin(&PageBudget::new(rows)).unwrap_err().kind(), ErrorKind::InvalidQuery);
        }
    }
}
