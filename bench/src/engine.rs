//! What both engines can be asked to do. Every answer is a digest, compared between the engines.

use std::error::Error;

use crate::digest::Digest;
use crate::rows::{Key, Sample};

pub(crate) type Answer = Result<Digest, Box<dyn Error + Send + Sync>>;
pub(crate) type Done = Result<(), Box<dyn Error + Send + Sync>>;

pub(crate) trait Engine: Sync {
    /// One get for each key, each with a read transaction of its own, decoded whole into owned values.
    fn get(&self, keys: &[Key]) -> Answer;
    /// The whole table, decoded into owned keys and values.
    fn scan(&self) -> Answer;
    /// The rows from the first key up to, and without, the second, decoded into owned keys and values.
    fn range(&self, from: &Key, to: &str) -> Answer;
    /// One transaction for each row, which must not be there.
    fn insert(&self, rows: &[Sample]) -> Done;
    /// One transaction for each hundred rows, which are of one partition and must not be there. The rows may be
    /// taken.
    fn batch(&self, rows: &mut [Sample]) -> Done;
    /// One transaction for each row, which must be there.
    fn replace(&self, rows: &[Sample]) -> Done;
    /// Sets one property of each row, which must be there, in a transaction for each.
    fn merge(&self, keys: &[Key], age: i32) -> Done;
    /// Removes rows; not measured.
    fn delete(&self, keys: &[Key]) -> Done;
    /// One property of each row, by the quickest way that the engine has, within one snapshot.
    fn one_property(&self, keys: &[Key], name: &str) -> Answer;
}
