//! Lists of the blobs of a container.

use std::fmt;

use super::Container;
use crate::contents::BlobInfo;
use crate::error::Result;
use crate::executor::BlobSnapshot;

/// How many are read ahead.
const AT_ONCE: usize = 256;

/// The blobs of a container as they were at one moment, by their names; [`Container::list`] gives it. It holds a snapshot of
/// the store as long as it lives.
pub struct Listing {
    snapshot: Box<dyn BlobSnapshot>,
    container: Container,
    prefix: Box<str>,
    /// What was read ahead, the last one first.
    ahead: Vec<BlobInfo>,
    after: Option<String>,
    is_end: bool,
}

impl Listing {
    pub(super) fn new(
        snapshot: Box<dyn BlobSnapshot>,
        container: Container,
        prefix: &str,
        after: Option<&str>,
    ) -> Result<Self> {
        let (prefix, after) = (prefix.into(), after.map(str::to_owned));
        let mut listing = Self { snapshot, container, prefix, ahead: Vec::new(), after, is_end: false };
        listing.fill()?;
        Ok(listing)
    }

    fn fill(&mut self) -> Result<()> {
        let after = self.after.as_deref();
        let (mut found, is_end) = self.snapshot.list(self.container.id, &self.prefix, after, AT_ONCE)?;
        self.is_end = is_end || found.is_empty();
        self.after = found.last().map(|last| last.name.clone());
        found.reverse();
        self.ahead = found;
        Ok(())
    }
}

impl Iterator for Listing {
    type Item = Result<BlobInfo>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ahead.is_empty()
            && !self.is_end
            && let Err(error) = self.fill()
        {
            // What comes behind is not known.
            self.is_end = true;
            return Some(Err(self.container.named("list the blobs of", None, error)));
        }
        self.ahead.pop().map(Ok)
    }
}

impl fmt::Debug for Listing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listing")
            .field("container", &self.container)
            .field("prefix", &self.prefix)
            .finish_non_exhaustive()
    }
}
