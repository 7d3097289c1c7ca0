//! A stored row as a filter sees it.

use std::borrow::Cow;

use table_engine::error::Result;
use table_engine::executor;
use table_engine::model::{Ticks, Value, ValueRef};
use table_engine::query::{Fields, KeyProperties, SealedEq};
use table_engine::row::dict::Dict;
use table_engine::row::view::RowView;

/// A view with the numbers of the properties that a filter asks for.
pub(crate) struct Filtered<'v, 'a> {
    pub(crate) view: &'v RowView<'a>,
    pub(crate) slots: &'v [Column],
    pub(crate) keys: Option<&'static dyn KeyProperties>,
}

/// A property that a query asks for, by number or, where the dictionary is full, by name.
#[derive(Clone, Debug)]
pub(crate) enum Column {
    Id(u16),
    Inline(Box<str>),
    /// The row's keys give it back.
    Key(Box<str>),
    /// No row of the table has it.
    Absent,
    /// Rows have it under a name, or under the one that it had before.
    Renamed(Box<[Self; 2]>),
}

impl Column {
    /// Returns a property of rows whose keys may give it back.
    pub(crate) fn given(keys: Option<&'static dyn KeyProperties>, dict: &Dict, name: &str) -> Self {
        match keys {
            Some(keys) if keys.gives(name) => Self::Key(name.into()),
            Some(keys) => match keys.was(name) {
                Some(was) => Self::Renamed(Box::new([Self::of(dict, name), Self::of(dict, was)])),
                None => Self::of(dict, name),
            },
            None => Self::of(dict, name),
        }
    }

    pub(crate) fn of(dict: &Dict, name: &str) -> Self {
        match dict.id(name) {
            Some(id) => Self::Id(id),
            None if dict.names_full() => Self::Inline(name.into()),
            None => Self::Absent,
        }
    }
}

impl Filtered<'_, '_> {
    fn column(&self, column: &Column) -> Result<Option<ValueRef<'_>>> {
        match column {
            Column::Id(id) => self.view.get_by_id(*id),
            Column::Inline(name) => self.view.get(name),
            Column::Renamed(names) => {
                let [is, was] = &**names;
                let found = self.column(is)?;
                if found.is_some() { Ok(found) } else { self.column(was) }
            }
            // Made of the key when it is asked for, so there is nothing to lend; see below.
            Column::Key(_) | Column::Absent => Ok(None),
        }
    }
}

impl Fields for Filtered<'_, '_> {
    fn partition_key(&self) -> Cow<'_, str> {
        self.view.partition_key()
    }

    fn row_key(&self) -> Cow<'_, str> {
        self.view.row_key()
    }

    fn timestamp(&self) -> Ticks {
        self.view.timestamp()
    }

    fn property(&self, slot: usize) -> Result<Option<ValueRef<'_>>> {
        self.slots.get(slot).map_or(Ok(None), |column| self.column(column))
    }

    fn property_holds(&self, slot: usize, test: impl FnOnce(Option<ValueRef<'_>>) -> bool) -> Result<bool> {
        if let (Some(Column::Key(name)), Some(keys)) = (self.slots.get(slot), self.keys) {
            let value = keys.value(name, &self.view.partition_key(), &self.view.row_key());
            return Ok(test(value.as_ref().map(Value::as_value_ref)));
        }
        self.property(slot).map(test)
    }

    fn opens_as(&self, sealed: &SealedEq) -> Result<bool> {
        executor::opens_as(self.view, self.keys, sealed)
    }
}
