//! The names of an environment's databases.

/// The names of the named databases that an environment may have, by how they are read and looked at.
///
/// The unnamed database holds LMDB's records of these, and may hold small records beside them, but none with one of these
/// names as its key.
#[derive(Clone, Copy, Debug)]
pub struct Names {
    /// The database that is read most: where its tree starts is remembered from one transaction to the next.
    pub largest: &'static str,
    /// Databases that are always there, and so small that all their pages are looked at before the first write, as those
    /// of the unnamed one are.
    pub small: &'static [&'static str],
    /// Databases that may be missing.
    pub others: &'static [&'static str],
}

impl Names {
    /// Returns whether a key of the unnamed database is the name of a database.
    pub(crate) fn have(&self, key: &[u8]) -> bool {
        let small_and_others = self.small.iter().chain(self.others);
        [self.largest].iter().chain(small_and_others).any(|name| name.as_bytes() == key)
    }
}
