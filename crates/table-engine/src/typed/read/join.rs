//! Joins in the program: each row of one answer with the entity of another table that it names.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::hash::Hash;
use std::sync::Arc;

use super::TableAt;
use super::key::Lookup;
use super::origin::{AnyOrigin, TableIn};
use crate::error::Result;
use crate::typed::entity::Entity;

impl<'s, E: Entity> TableAt<'s, E> {
    /// Returns each of these rows with the entity of this table that it names; `None` where there is none, or where it names
    /// none.
    ///
    /// Each key is asked for once, and what it finds is kept until the iterator is dropped: a small table that many rows
    /// refer to is read once. If the rows are of the same snapshot, what comes together belongs together. An error of one
    /// lookup is an item, and the rows after it come all the same.
    ///
    /// ```
    /// use table_core::{Entity, Store};
    ///
    /// #[derive(Entity)]
    /// #[entity(table = "Departments", kind = "department")]
    /// #[key(partition = "{region}", row = "{name}")]
    /// struct Department {
    ///     region: String,
    ///     name: String,
    ///     floor: i32,
    /// }
    ///
    /// #[derive(Entity)]
    /// #[entity(table = "Company", kind = "employee")]
    /// #[key(partition = "{region}", row = "empid_{id:06}")]
    /// struct Employee {
    ///     region: String,
    ///     id: u32,
    ///     department: Option<String>,
    /// }
    ///
    /// # let dir = tempfile::tempdir()?;
    /// # let store = Store::open(dir.path().join("company.tables"))?;
    /// let (departments, staff) = (store.table::<Department>()?, store.table::<Employee>()?);
    /// departments.insert(&Department { region: "west".into(), name: "Sales".into(), floor: 3 })?;
    /// for (id, department) in [(1, Some("Sales")), (2, None), (3, Some("Sales")), (4, Some("Legal"))] {
    ///     staff.insert(&Employee { region: "west".into(), id, department: department.map(Into::into) })?;
    /// }
    ///
    /// let snapshot = store.snapshot()?;
    /// let west = staff.at(&snapshot).rows().region("west");
    /// let joined = departments.at(&snapshot).join(west, |employee| {
    ///     employee.department.as_ref().map(|name| Department::key("west", name))
    /// });
    /// let mut floors = Vec::new();
    /// for pair in joined {
    ///     let (employee, department) = pair?;
    ///     floors.push((employee.id, department.map(|department| department.floor)));
    /// }
    /// assert_eq!(floors, [(1, Some(3)), (2, None), (3, Some(3)), (4, None)]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn join<R, Rows, L, Named>(
        &self,
        rows: Rows,
        key: Named,
    ) -> Joined<'s, Rows::IntoIter, L, Named, L::Output>
    where
        Rows: IntoIterator<Item = Result<R>>,
        L: Lookup<E> + Eq + Hash,
        Named: FnMut(&R) -> Option<L>,
    {
        let find =
            |table: &TableIn<'s>, key: &L| super::get::<E, L>(table.snapshot(), AnyOrigin::table(table), key);
        Joined { find, table: self.table.clone(), rows: rows.into_iter(), key, found: HashMap::new() }
    }
}

/// What a [join](TableAt::join) gives: each row with the entity that it names.
#[must_use = "an iterator does nothing until it is used"]
pub struct Joined<'s, Rows, L, Named, Found> {
    find: fn(&TableIn<'s>, &L) -> Result<Option<Found>>,
    table: TableIn<'s>,
    rows: Rows,
    key: Named,
    found: HashMap<L, Option<Arc<Found>>>,
}

impl<Rows, R, L, Named, Found> Iterator for Joined<'_, Rows, L, Named, Found>
where
    Rows: Iterator<Item = Result<R>>,
    L: Eq + Hash,
    Named: FnMut(&R) -> Option<L>,
{
    type Item = Result<(R, Option<Arc<Found>>)>;

    fn next(&mut self) -> Option<Self::Item> {
        let row = match self.rows.next()? {
            Ok(row) => row,
            Err(error) => return Some(Err(error)),
        };
        let Some(key) = (self.key)(&row) else { return Some(Ok((row, None))) };
        let found = match self.found.entry(key) {
            Entry::Occupied(entry) => entry.get().clone(),
            Entry::Vacant(entry) => match (self.find)(&self.table, entry.key()) {
                Ok(found) => entry.insert(found.map(Arc::new)).clone(),
                Err(error) => return Some(Err(error)),
            },
        };
        Some(Ok((row, found)))
    }
}

impl<Rows, L, Named, Found> fmt::Debug for Joined<'_, Rows, L, Named, Found> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Joined").field("table", &self.table).field("found", &self.found.len()).finish()
    }
}
