//! The properties of a row that a query selects, in place.

use std::borrow::Cow;

use super::{KnownKeys, RowView};
use crate::error::Result;
use crate::model::{ValueRef, key};
use crate::row::Damaged;
use crate::row::properties::{Entries, Entry, Packed};
use crate::row::selection::Selection;

/// The selected properties of a row, each decoded when it is asked for.
pub(crate) struct SelectedProperties<'r> {
    packed: Packed<'r>,
    rest: Rest<'r>,
}

/// What is still to come.
enum Rest<'r> {
    All(Entries<'r>),
    /// The numbers that are left, which rise, and behind them the names that may stand in the row.
    Few(&'r [u16], &'r [Box<str>]),
}

impl<'r> SelectedProperties<'r> {
    #[inline]
    pub(crate) fn of(view: &'r RowView<'r>, selection: &'r Selection) -> Result<Self> {
        let packed = view.packed();
        let rest = match selection.numbers() {
            None => Rest::All(packed.entries()?),
            Some((numbers, inline)) => Rest::Few(numbers, inline),
        };
        Ok(Self { packed, rest })
    }
}

impl<'r> Iterator for SelectedProperties<'r> {
    type Item = Result<(&'r str, ValueRef<'r>)>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let packed = &self.packed;
        let entry = match &mut self.rest {
            Rest::All(entries) => entries.next()?,
            Rest::Few(numbers, inline) => match next_of(packed, numbers, inline)? {
                Ok(entry) => entry,
                Err(error) => return Some(Err(error)),
            },
        };
        Some(packed.name(&entry).and_then(|name| Ok((name, packed.value(&entry)?))))
    }
}

/// Returns the next of these properties that the row has.
fn next_of<'r>(
    packed: &Packed<'r>,
    numbers: &mut &'r [u16],
    inline: &mut &'r [Box<str>],
) -> Option<Result<Entry<'r>>> {
    loop {
        let found = if let [number, rest @ ..] = *numbers {
            *numbers = rest;
            packed.entry(*number, usize::MAX)
        } else if let [name, rest @ ..] = *inline {
            *inline = rest;
            packed.entry_inline(name)
        } else {
            return None;
        };
        // A selected property that the row lacks is left out.
        if let Some(found) = found.transpose() {
            return Some(found);
        }
    }
}

impl RowView<'_> {
    /// Returns the value of a property, if it is selected and the row has it.
    pub(crate) fn get_selected(&self, selection: &Selection, name: &str) -> Result<Option<ValueRef<'_>>> {
        let packed = self.packed();
        let is_selected = |id| match (selection.numbers(), id) {
            (None, _) => true,
            (Some((numbers, _)), Some(id)) => numbers.contains(&id),
            (Some((_, inline)), None) => inline.iter().any(|selected| **selected == *name),
        };
        if is_selected(self.dict().id(name)) { packed.get(name) } else { Ok(None) }
    }

    /// Returns the texts of both keys, as far as they are known already.
    #[inline]
    pub(crate) fn key_texts(&self) -> Result<(Cow<'_, str>, Cow<'_, str>)> {
        let texts = match self.known {
            KnownKeys::Texts(partition, row) => Some((Cow::Borrowed(partition), Cow::Borrowed(row))),
            KnownKeys::Plain(partition, row) => {
                let row = self.key.get(row..).and_then(key::decode);
                row.map(|row| (Cow::Borrowed(partition), row))
            }
            _ => self.stored_key().and_then(|key| key.texts()),
        };
        texts.ok_or_else(|| self.packed().damaged(Damaged("the row's key can't be read")))
    }
}
