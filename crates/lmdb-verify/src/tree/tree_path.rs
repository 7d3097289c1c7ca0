//! Ways to leaves: the pages that are passed, and the entries that are taken of them.

use super::{LEVELS, Page};

/// The steps from the root to a leaf.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TreeSteps {
    /// The branches and then the leaf.
    pages: [u64; LEVELS],
    /// Of each branch the entry that is taken.
    taken: [u16; LEVELS],
    /// How many branches there are.
    height: usize,
}

impl TreeSteps {
    pub(super) fn begin(&mut self) {
        self.height = 0;
    }

    /// Returns how many branches there are.
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

    /// Returns the pages, the leaf the last of them.
    #[inline]
    pub(super) fn pages(&self) -> &[u64] {
        self.pages.get(..=self.height).unwrap_or_default()
    }

    /// Returns the branches, each with the entry that is taken.
    #[inline]
    pub(super) fn branches(&self) -> impl Iterator<Item = (u64, usize)> {
        let taken = self.taken.iter().map(|at| usize::from(*at));
        self.pages.iter().copied().zip(taken).take(self.height)
    }

    /// Returns the branch above the leaf, with the entry that is taken.
    #[inline]
    pub(super) fn lowest(&self) -> Option<(u64, usize)> {
        let at = self.height.checked_sub(1)?;
        Some((*self.pages.get(at)?, usize::from(*self.taken.get(at)?)))
    }
}

/// The leaf on which a key stands, or would, and the way there.
pub(super) struct TreePath<'t, 's> {
    pub(super) leaf: Page<'t>,
    pub(super) number: u64,
    pub(super) steps: &'s TreeSteps,
}
