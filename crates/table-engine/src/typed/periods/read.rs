//! Reads of one entity, in the table of its period.

use super::Periods;
use crate::error::Result;
use crate::typed::entity::InPeriods;
use crate::typed::query::HoldsAll;
use crate::typed::read::key::{Key, KeyOf, Lookup};
use crate::typed::read::projection::Projected;
use crate::typed::read::view::View;

#[allow(clippy::needless_pass_by_value, reason = "a key is made where it is used")]
impl<E: InPeriods> Periods<E> {
    /// Returns the entity of this key, or what an index's copy holds whose key says the period. Of a period without a table
    /// there is nothing.
    pub fn get<L: Lookup<E>>(&self, key: L) -> Result<Option<L::Output>> {
        self.reading(self.start_of(&key)?, |table| table.find(&key))
    }

    /// Returns whether there is an entity of this key.
    pub fn exists<L: Lookup<E>>(&self, key: L) -> Result<bool> {
        self.get(key).map(|found| found.is_some())
    }

    /// Returns some of the fields of the entity of this key.
    pub fn get_as<S: Projected<Of = E>>(
        &self,
        key: impl Lookup<E, Path: HoldsAll<<S as Projected>::Taken>>,
    ) -> Result<Option<S>> {
        self.reading(self.start_of(&key)?, |table| table.find_as(&key))
    }

    /// Returns what `read` makes of the entity in place.
    pub fn view<T>(
        &self,
        key: impl KeyOf<E>,
        mut read: impl FnMut(View<'_, E>) -> Result<T>,
    ) -> Result<Option<T>> {
        let key = key.into();
        let start = self.start_of(&key)?;
        let (partition, row) = key.as_strs()?;
        self.reading(start, |table| table.view(Key::verbatim(partition, row), &mut read))
    }
}
