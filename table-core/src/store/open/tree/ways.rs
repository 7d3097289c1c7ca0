//! Ways to leaves: the pages that are passed, and the entries that are taken of them.

use std::sync::Mutex;

use super::super::Environment;
use super::explored::Rooms;
use super::{LEVELS, Page, Tree};
use crate::error::Result;
use crate::store::lmdb::pages::damaged;

/// The steps from the root to a leaf.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Steps {
    /// The branches and then the leaf.
    pages: [u64; LEVELS],
    /// Of each branch the entry that is taken.
    taken: [u16; LEVELS],
    /// How many branches there are.
    height: usize,
}

impl Steps {
    pub(super) fn begin(&mut self) {
        self.height = 0;
    }

    /// How many branches there are.
    pub(super) fn height(&self) -> usize {
        self.height
    }

    /// Adds a branch. `None` if there are as many as LMDB can follow.
    #[inline]
    pub(super) fn push(&mut self, branch: u64, at: usize) -> Option<()> {
        *self.pages.get_mut(self.height)? = branch;
        *self.taken.get_mut(self.height)? = u16::try_from(at).ok()?;
        self.height += 1;
        Some(())
    }

    /// Ends at a leaf.
    #[inline]
    pub(super) fn end(&mut self, leaf: u64) -> Option<()> {
        *self.pages.get_mut(self.height)? = leaf;
        Some(())
    }

    /// The pages, the leaf the last of them.
    #[inline]
    pub(super) fn pages(&self) -> &[u64] {
        self.pages.get(..=self.height).unwrap_or_default()
    }

    /// The leaf, once the way has [ended](Self::end).
    #[inline]
    pub(super) fn leaf(&self) -> Option<u64> {
        self.pages.get(self.height).copied()
    }

    /// The branches, each with the entry that is taken.
    #[inline]
    pub(super) fn branches(&self) -> impl Iterator<Item = (u64, usize)> {
        let taken = self.taken.iter().map(|at| usize::from(*at));
        self.pages.iter().copied().zip(taken).take(self.height)
    }

    /// The branch above the leaf, with the entry that is taken.
    #[inline]
    pub(super) fn lowest(&self) -> Option<(u64, usize)> {
        let at = self.height.checked_sub(1)?;
        Some((*self.pages.get(at)?, usize::from(*self.taken.get(at)?)))
    }

    /// Takes over another's steps.
    fn take(&mut self, other: &Self) {
        self.begin();
        for (branch, at) in other.branches() {
            let _ = self.push(branch, at);
        }
        let _ = other.leaf().and_then(|leaf| self.end(leaf));
    }
}

/// The leaf on which a key stands, or would, and the way there.
pub(super) struct Way<'t, 's> {
    pub(super) leaf: Page<'t>,
    pub(super) number: u64,
    pub(super) steps: &'s Steps,
}

/// The way to the row that this process read last in order to change it. If nobody has written meanwhile, the write that
/// follows goes the same way, and need not search for it.
#[derive(Debug, Default)]
pub(in crate::store::open) struct LastWay(Mutex<Noted>);

#[derive(Debug, Default)]
struct Noted {
    /// The state in which the row was read; 0 is none.
    state: usize,
    key: Vec<u8>,
    steps: Steps,
}

impl LastWay {
    /// Gives the way to the row of this key, if it was the last one and was read in this state.
    pub(super) fn recall(&self, state: usize, key: &[u8], steps: &mut Steps) -> bool {
        let Ok(noted) = self.0.try_lock() else { return false };
        let is_it = noted.state == state && noted.key == key;
        if is_it {
            steps.take(&noted.steps);
        }
        is_it
    }

    #[cfg(test)]
    pub(super) fn forget(&self) {
        self.0.lock().unwrap().state = 0;
    }
}

impl Tree {
    /// The bytes of the row of a key, as [`row`](Self::row) finds them, for who is going to change it: the way there is kept
    /// for the write.
    pub(crate) fn row_and_way<'t>(
        &self,
        environment: &Environment,
        txn: &'t heed::RoTxn<'_>,
        key: &[u8],
    ) -> Result<Option<&'t [u8]>> {
        // Whoever finds it locked goes without.
        let Ok(mut noted) = environment.last_way.0.try_lock() else {
            return self.row(environment, txn, key);
        };
        let noted = &mut *noted;
        noted.state = 0;
        noted.steps.begin();
        let steps = &mut noted.steps;
        let found =
            self.row_by(environment, txn, key, |branch, at| steps.push(branch, at).ok_or_else(damaged))?;
        let Some((leaf, row)) = found else { return Ok(None) };
        if noted.steps.end(leaf).is_some() {
            noted.key.clear();
            noted.key.extend_from_slice(key);
            noted.state = self.state;
        }
        Ok(Some(row))
    }

    /// The way to the leaf of a key, for a write: LMDB copies the pages on it.
    #[inline]
    pub(super) fn way<'t, 's>(
        &self,
        environment: &Environment,
        txn: &'t heed::RoTxn<'_>,
        key: &[u8],
        on_way: (&'s mut Steps, &mut Rooms),
    ) -> Result<Way<'t, 's>> {
        self.way_by(environment, txn, key, on_way, |_, _| true)
    }

    /// The same to a row that is to be changed. No entry that it takes is one that damage has made another's.
    pub(super) fn way_to_change<'t, 's>(
        &self,
        environment: &Environment,
        txn: &'t heed::RoTxn<'_>,
        key: &[u8],
        on_way: (&'s mut Steps, &mut Rooms),
    ) -> Result<Way<'t, 's>> {
        self.way_by(environment, txn, key, on_way, Page::rises_around)
    }

    /// The same, where each branch and the entry that is taken of it are as they are to be.
    #[inline]
    fn way_by<'t, 's>(
        &self,
        environment: &Environment,
        txn: &'t heed::RoTxn<'_>,
        key: &[u8],
        (steps, rooms): (&'s mut Steps, &mut Rooms),
        is_right: impl Fn(&Page<'t>, (usize, bool)) -> bool,
    ) -> Result<Way<'t, 's>> {
        let mut level = 0..;
        self.descend(environment, txn, key, steps, |branch, number, taken| {
            rooms.check(level.next().unwrap_or_default(), number, &branch)?;
            if is_right(&branch, taken) { Ok(()) } else { Err(damaged()) }
        })
    }

    /// The same, for a row that was read to be changed in the state that the transaction began with: then the way that was
    /// gone is proved to be sound, and not searched for.
    pub(super) fn way_again<'t, 's>(
        &self,
        environment: &Environment,
        txn: &'t heed::RoTxn<'_>,
        key: &[u8],
        (steps, rooms): (&'s mut Steps, &mut Rooms),
    ) -> Result<Way<'t, 's>> {
        if !environment.last_way.recall(self.state, key, steps) {
            return self.way_to_change(environment, txn, key, (steps, rooms));
        }
        environment.check_pages_in_use(txn, self.state, steps.pages())?;
        for (level, (number, at)) in steps.branches().enumerate() {
            let branch = self.page(environment, txn, number)?;
            rooms.check(level, number, &branch)?;
            // Whether the search has met the very key is not known any more.
            if !branch.rises_around((at, true)) {
                return Err(damaged());
            }
        }
        self.way_of(environment, txn, steps)
    }

    /// The way of these steps.
    pub(super) fn way_of<'t, 's>(
        &self,
        environment: &Environment,
        txn: &'t heed::RoTxn<'_>,
        steps: &'s Steps,
    ) -> Result<Way<'t, 's>> {
        let number = steps.leaf().ok_or_else(damaged)?;
        let leaf = self.page(environment, txn, number)?;
        Ok(Way { leaf, number, steps })
    }
}
