//! What of a row's properties is wanted.

use std::sync::{Arc, OnceLock};

use super::dict::Dict;
use super::view::RowView;
use crate::error::Result;
use crate::model::DynamicEntity;
use crate::sorting;

/// The properties that a query selects of the rows of a table, looked up in its dictionary: all, or some.
#[derive(Debug, Default)]
pub struct Selection(Option<Selected>);

#[derive(Debug, Default)]
struct Selected {
    /// Rising.
    numbers: Vec<u16>,
    /// The names that stand in rows themselves, where the dictionary is full.
    inline: Vec<Box<str>>,
}

impl Selection {
    /// The whole row.
    pub const ALL: Self = Self(None);

    /// Returns the selection of everything, shared: most queries select all.
    #[inline]
    pub fn whole() -> Arc<Self> {
        static WHOLE: OnceLock<Arc<Selection>> = OnceLock::new();
        Arc::clone(WHOLE.get_or_init(|| Arc::new(Self::ALL)))
    }

    /// Returns the properties of these names; without names, the whole row.
    pub fn new(names: Option<&[Box<str>]>, dict: &Dict) -> Self {
        Self(names.map(|names| {
            let mut selected = Selected::default();
            for name in names {
                match dict.id(name) {
                    Some(number) => selected.numbers.push(number),
                    None if dict.names_full() => selected.inline.push(name.clone()),
                    // No row of the table has it.
                    None => {}
                }
            }
            sorting::sort(&mut selected.numbers);
            selected
        }))
    }

    /// Returns the numbers of what is selected, which rise, and the names that may stand in rows themselves; `None` of the whole
    /// row.
    #[inline]
    pub(crate) fn numbers(&self) -> Option<(&[u16], &[Box<str>])> {
        self.0.as_ref().map(|selected| (&*selected.numbers, &*selected.inline))
    }

    /// Returns the entity of a row, with the properties that are selected.
    pub(crate) fn entity(&self, view: &RowView<'_>) -> Result<DynamicEntity> {
        match &self.0 {
            None => view.to_entity(),
            Some(selected) => view.to_selected(&selected.numbers, &selected.inline),
        }
    }
}
