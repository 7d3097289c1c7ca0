//! Where the fields of a row come from, and how they are found.

use std::borrow::Cow;
use std::cell::Cell;

use super::key_fields::KeyFields;
use crate::model::{DynamicEntity, ValueRef};
use crate::plan::Values;
use crate::row::fast_path::FastRow;
use crate::row::numbers::PropertyNumber;
use crate::row::view::RowView;
use crate::schema::{Field, Schema};

/// How fields are found.
#[derive(Debug)]
pub(super) enum FieldAccess<'v> {
    /// By what is known of all rows of a path that have one shape, which [`Source`](super::Source) has beside it.
    Fast,
    /// By their properties' numbers or names, in any row. On the heap, so that most rows have nothing to drop.
    Slow(Box<SlowPath<'v>>),
    /// In the rows of a wide entity.
    Wide(Box<WideAccess<'v>>),
}

/// The rows of a wide entity, from its head on: by what is known of those that have one shape, and else by numbers and names.
#[derive(Debug)]
pub(super) struct WideAccess<'v> {
    rows: Vec<Option<FastRow<'v>>>,
    pub(super) long: SlowPath<'v>,
}

impl<'v> WideAccess<'v> {
    pub(super) fn of(
        head: &'v RowView<'v>,
        parts: &'v [Option<RowView<'v>>],
        schema: &'static Schema,
    ) -> Box<Self> {
        let rows = std::iter::once(Some(head)).chain(parts.iter().map(Option::as_ref));
        let rows = rows.map(|row| row?.own_quick(schema.fields)).collect();
        Box::new(Self { rows, long: SlowPath::of(Row::Stored(head), schema) })
    }

    fn row(&self, fields: &[Field], field: usize) -> Option<&FastRow<'v>> {
        self.rows.get(fields.get(field)?.part)?.as_ref()
    }

    /// Returns what the field holds, by a short way.
    #[inline(never)]
    pub(super) fn near(&self, fields: &[Field], field: usize) -> Option<ValueRef<'_>> {
        self.row(fields, field)?.get(field)
    }

    /// Returns whether the row that holds the field surely has no such property, nor do the keys give it back.
    pub(super) fn lacks(&self, fields: &[Field], field: usize) -> bool {
        self.long.from_keys.get(field).is_none()
            && self.row(fields, field).is_some_and(|row| row.lacks(field))
    }
}

impl<'v> FieldAccess<'v> {
    /// Returns what the longer way knows, if fields are found by it.
    pub(super) fn long(&mut self) -> Option<&mut SlowPath<'v>> {
        match self {
            Self::Fast => None,
            Self::Slow(long) => Some(long),
            Self::Wide(wide) => Some(&mut wide.long),
        }
    }
}

/// What is known of a row's fields where each is looked for.
#[derive(Debug)]
pub(super) struct SlowPath<'v> {
    /// Their numbers in a row that is stored.
    pub(super) numbers: &'v [PropertyNumber],
    pub(super) from_keys: KeyFields<'v>,
    /// Where the next field's property stands in the row, as far as fields and properties are in one order.
    pub(super) place: Cell<usize>,
}

impl<'v> SlowPath<'v> {
    pub(super) fn of(row: Row<'v>, schema: &'static Schema) -> Self {
        let numbers = match row {
            Row::Stored(view) | Row::Merged(view, _) => view.numbers(schema.fields),
            Row::Given(_) | Row::Planned(_) => &[],
        };
        // What a row says first is its kind.
        Self { numbers, from_keys: KeyFields::default(), place: Cell::new(1) }
    }

    /// Returns what the field holds, if its key gives it back, or it is next in the row, small, and not sealed.
    #[inline(never)]
    pub(super) fn near(&self, row: Row<'v>, field: usize) -> Option<ValueRef<'_>> {
        if self.from_keys.may_have(field) {
            return self.from_keys.get(field);
        }
        let (Row::Stored(view), Some(number)) = (row, self.numbers.get(field)) else { return None };
        let place = self.place.get();
        let value = view.small_at(place, number.unsealed?)?;
        self.place.set(place + 1);
        Some(value)
    }
}

/// Where fields come from.
#[derive(Clone, Copy, Debug)]
pub(super) enum Row<'v> {
    /// What is stored.
    Stored(&'v RowView<'v>),
    /// What is stored, with some properties set anew.
    Merged(&'v RowView<'v>, &'v DynamicEntity),
    /// The keys and properties that the caller gave.
    Given(&'v DynamicEntity),
    /// What is about to be stored.
    Planned(&'v Values<'v>),
}

impl<'v> Row<'v> {
    pub(super) fn keys(self) -> (Cow<'v, str>, Cow<'v, str>) {
        match self {
            Self::Stored(view) | Self::Merged(view, _) => view.keys(),
            Self::Given(entity) => (entity.partition_key().into(), entity.row_key().into()),
            // Every field is among the values.
            Self::Planned(_) => Default::default(),
        }
    }
}
