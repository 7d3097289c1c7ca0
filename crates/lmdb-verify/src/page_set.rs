//! Pages of a file, a bit for each.

#[derive(Debug, Default)]
pub(crate) struct PageSet(Vec<u64>);

impl PageSet {
    /// Returns a set of pages up to this one, none of which is in it.
    pub(crate) fn up_to(last: u64) -> Self {
        Self(vec![0; usize::try_from(last / 64 + 1).unwrap_or_default()])
    }

    /// Adds a page. Returns whether it was not in the set before; one beyond the last can't be added.
    pub(crate) fn add(&mut self, number: u64) -> bool {
        let word = usize::try_from(number / 64).ok().and_then(|word| self.0.get_mut(word));
        word.is_some_and(|word| {
            let (before, bit) = (*word, 1 << (number % 64));
            *word |= bit;
            before & bit == 0
        })
    }

    /// Returns whether a page up to the last one is not among them.
    #[inline]
    pub(crate) fn lacks(&self, number: u64) -> bool {
        let word = usize::try_from(number / 64).ok().and_then(|word| self.0.get(word));
        word.is_some_and(|word| word & 1 << (number % 64) == 0)
    }
}
